//! Tests of the service over real gRPC. Fake workers report invented records and play no
//! game.

mod agents;
mod audits;
mod books;
mod bounds;
mod checkpoints;
mod claims;
mod crowd;
mod crowded;
mod damage;
mod door;
mod failing;
mod figures;
pub(crate) mod fixture;
mod fleet;
mod hashes;
mod liars;
mod limits;
mod overdue;
mod owners;
mod pauses;
mod planning;
mod questions;
mod removal;
mod replays;
mod reports;
mod restart;
mod retry;
mod scaler;
mod sealed;
mod season;
mod space;
mod stages;
mod strangers;
mod tournaments;
mod trail;
