//! The worker on real processes.

mod common;
mod play;
mod supervise;
