//! Plays leased games and looks after agent processes.
//!
//! [`play_one`] plays a single game, [`play_games`] several, [`describe`] asks an agent what it
//! offers. Both, and the worker, take [`AgentOptions`]: how agents are run on
//! this machine. Whatever program these name must run [`guard::main`] when it
//! is started as the guard.

mod agent;
mod binaries;
mod driver;
mod environment;
pub mod guard;
mod meter;
mod native;
pub mod package;
mod player;
pub mod protocol;
mod report;
mod runtime;
mod service;
pub mod supervise;
mod table;

pub use binaries::CoordinatorBinaries;
pub use environment::{AgentOptions, BinaryError, BinaryProvider, Builtin, Provided};
pub use native::Job;
pub use player::{DescribeError, NoBinaries, PlayError, Played, describe, play_games, play_one};
pub use service::{Options, Service, WorkerError};
pub use table::SetupError;
