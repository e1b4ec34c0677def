//! The papers' agents on threads of the worker.

mod brain;
mod games;
mod patience;
mod pool;

pub(crate) use brain::{NativeRunners, Player, Thought};
pub(crate) use games::{Players, Plies, PoolJob};
pub use pool::Job;
pub(crate) use pool::Pool;
