//! Games of a tournament: lists, boards, replays, and what their agents saw and printed.

pub mod boards;
pub mod fetch;
pub mod list;
pub mod printed;
pub mod replay;
pub mod seen;
pub mod show;
pub mod watch;
