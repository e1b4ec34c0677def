//! Schedules games, leases them to workers, stores their results and answers requests about
//! them. The coordinator never plays.
//!
//! [`Options::build`] loads the store and listens; [`Service::run`] answers until it is asked to
//! stop. One task owns all state, and RPC handlers send it messages over bounded channels.
//! [`ledger`] is its accounting, without IO or clock.

mod accept;
mod agents;
mod binaries;
mod blocking;
mod checkpoint;
mod compaction;
mod computations;
mod core;
mod demands;
mod directory;
mod divergence;
mod door;
mod error;
mod handle;
mod info;
pub mod ledger;
mod limits;
mod loading;
mod messages;
pub mod openings;
mod options;
mod places;
mod plan;
mod principal;
mod random;
mod results;
mod retention;
mod rpc;
mod rulesets;
mod season;
mod service;
mod shares;
mod stored_game;
mod tables;
#[cfg(test)]
mod tests;
mod tickets;
mod trail;
mod usage;
mod viewing;

pub use accept::{Connection, Incoming, Peer};
pub use agents::CheckNative;
pub use compaction::WithoutRemoved;
pub use door::Access;
pub use error::{RunError, StartError};
pub use limits::RoleLimits;
pub use messages::RunSummary;
pub use options::{CONNECTIONS_MAX, Options};
pub use plan::plan;
pub use service::Service;
pub use trail::{WholeTrail, anchor_key, verify_events};
pub use viewing::Viewing;
