//! Plays leased games and supervises agent processes.
//!
//! [`play_one`] plays a single game, [`play_games`] several, and [`describe`] asks
//! an agent for its description. They and the worker take [`AgentOptions`]: how agents run on
//! this machine. The program named there must run [`guard::main`] when it is started as the
//! guard.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod agent;
mod binaries;
mod clock;
mod context;
mod driver;
mod endpoint;
mod environment;
mod error;
pub mod guard;
mod lines;
pub mod machine;
mod meter;
mod native;
pub mod package;
mod player;
pub mod probe;
pub mod protocol;
mod record;
pub mod rules;
mod runtime;
mod service;
pub mod supervise;

pub use binaries::CoordinatorBinaries;
pub use context::SetupError;
pub use environment::{AgentOptions, BinaryError, BinaryProvider, Builtin, Provided};
pub use error::WorkerError;
pub use native::{Job, play_typed};
pub use player::{
    DescribeError, NoBinaries, PlayError, Played, describe, package_game, play_games, play_one,
    verify_record,
};
pub use service::{Options, Service};

/// Locks a mutex, also after a panic: the data in the worker's mutexes is always consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
