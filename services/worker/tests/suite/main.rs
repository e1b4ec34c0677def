//! The worker with real processes.

mod clocks;
mod common;
mod coordinator;
mod cores;
mod fleet;
mod foretelling;
mod latency;
mod play;
mod supervise;
