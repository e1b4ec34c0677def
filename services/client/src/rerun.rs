//! Replays of games with their agents, and what differs.

mod again;
pub mod compare;
mod programs;
mod resolved;
mod texts;

pub use again::Rerun;
pub use programs::Programs;
pub use resolved::{Played, Resolved, again_failed, play, play_again};
pub use texts::{Text, texts};
