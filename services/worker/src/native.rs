//! The papers' agents on threads of the worker.

mod client;
mod games;
mod pool;
mod runner;
mod seated;
mod time_limit;

pub(crate) use client::NativeClient;
pub use pool::Job;
pub(crate) use pool::Pool;
pub(crate) use runner::{NativeRunner, PlyCounter, PoolJob};
pub use seated::play_typed;
