//! Plays leased games and looks after agent processes.

mod agent;
pub mod guard;
pub mod supervise;
