//! Tournament formats and statistics: pure functions of a spec and of results.
//!
//! - [`Schedule`] lists the games of a tournament without storing them. Any game is
//!   computed from its index, so recovery is schedule minus results.
//! - [`mod@format`] has the tournament formats, each a pure function of a spec and of the
//!   results of earlier stages; [`Stages`] takes a tournament through them.
//! - [`Tally`] takes results in any order and gives [`Standings`]. Its sums are integers,
//!   so the same results give byte-identical standings in whatever order they arrive. On
//!   another platform, ends of intervals may differ in their last digits (see
//!   [`interval`]).
//! - [`interval`] has the confidence interval of a mean over blocks, the unit of
//!   statistics: games of a block share their dice and are not independent.
//! - [`sequential`] has tests that may end early.
//! - [`ratings`] has strengths by maximum likelihood, on the Elo scale.
//! - [`places`] has the order of agents in standings.
//! - [`WorkerScores`] compares the games of workers.
//! - [`Rate`] compares how often something happens in two places.
//! - [`published`] has estimates for figures in papers, and the rules by which a published
//!   figure agrees with one of ours.

// Used by statrs; see the Cargo.toml of the workspace.
use num_traits as _;

mod comparison;
mod elo;
mod estimate;
pub mod format;
pub mod interval;
mod nash;
mod pairs;
pub mod places;
pub mod published;
mod rate;
pub mod ratings;
mod schedule;
pub mod sequential;
mod stages;
mod tally;
#[cfg(test)]
mod tests;
mod workers;

pub use comparison::{Compared, Comparison, Wanted};
pub use estimate::{Estimate, Interval};
pub use pairs::PairStanding;
pub use rate::Rate;
pub use schedule::{Schedule, ScheduleError, ScheduledGame, Stage};
pub use stages::{Stages, StagesState};
pub use tally::{
    AgentStanding, Evidence, GamesSaved, OpeningsStanding, Pairing, SeatStanding, Standings, Tally,
    TallyState, game_score,
};
pub use workers::{ALARM, Deviation, WorkerScores};
