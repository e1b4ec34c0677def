//! The service over real gRPC, with workers that play nothing: a record is
//! whatever they say.

mod agents;
mod checkpoints;
mod crowd;
mod damage;
mod failing;
mod figures;
pub(crate) mod fixture;
mod fleet;
mod hashes;
mod pauses;
mod questions;
mod reports;
mod restart;
mod retry;
mod stages;
mod strangers;
mod tournaments;
