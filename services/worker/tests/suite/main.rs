//! The worker on real processes.

mod common;
mod coordinator;
mod fleet;
mod play;
mod supervise;
