//! The papers' agents on threads of the worker.

mod games;
mod pool;
mod runner;
mod time_limit;

pub(crate) use games::{NativeGames, PlyCounter, PoolJob};
pub use pool::Job;
pub(crate) use pool::Pool;
pub(crate) use runner::{NativeAnswer, NativeClient, NativeRunners};
