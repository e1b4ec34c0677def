//! The papers' agents on threads of the worker.

mod brain;
mod games;
mod patience;
mod pool;

pub(crate) use brain::{Brains, Player, Thought};
pub(crate) use games::{Errand, Players, Plies};
pub use pool::Job;
pub(crate) use pool::Pool;
