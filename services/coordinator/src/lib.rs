//! Schedules games, assigns them to workers, keeps their results and answers
//! questions about them. It never plays.
//!
//! [`Options::build`] loads what the store has and listens; [`Service::run`]
//! answers until it is asked to stop. Inside, one task owns all state and RPC
//! handlers send it messages over bounded channels; [`ledger`] is its
//! accounting, without IO or clock.

mod accept;
mod agents;
mod checkpoint;
mod compare;
mod core;
mod error;
mod handle;
pub mod ledger;
pub mod openings;
mod options;
mod places;
mod plan;
mod random;
mod results;
mod rpc;
mod service;
#[cfg(test)]
mod tests;

pub use accept::{Connection, Incoming};
pub use error::{RunError, StartError};
pub use options::{CONNECTIONS_MAX, CheckNative, Options};
pub use service::{Service, Summary};
