//! The worker with real processes.

mod common;
mod coordinator;
mod fleet;
mod latency;
mod play;
mod supervise;
