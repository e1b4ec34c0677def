//! The rulesets of Arena, with one module for each, and the list of all rulesets.

#![deny(clippy::float_arithmetic)]

mod added;
pub mod chess;
pub mod cowry;
pub mod kalah;
pub mod ludo;
pub mod oware;
mod placement;
mod proto;
mod read;
mod registry;
mod ruleset;
#[cfg(feature = "trial")]
#[path = "tests/trial.rs"]
pub mod testing;

pub use added::{AddError, AddedGame, AddedRuleset, Typed, add_rulesets, is_ruleset_name};
pub use chess::Chess;
pub use cowry::Cowry;
pub use kalah::Kalah;
pub use ludo::ChineseLudo;
pub use oware::{Abapa, AnanAnan};
pub use read::Reader;
pub use registry::{
    EachGame, GamesError, Visitor, build, build_version, each_game, page, resolve, resolve_version,
    ruleset, ruleset_version, rulesets, unlisted_rulesets, unmet, visit, visit_version,
};
pub use ruleset::{Ruleset, RulesetInfo};
