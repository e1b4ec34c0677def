//! The rulesets of Arena, one module each, and the list of them.

pub mod cowry;
pub mod kalah;
pub mod ludo;
pub mod oware;
mod placement;
mod proto;
mod read;
mod registry;

pub use cowry::Cowry;
pub use kalah::Kalah;
pub use ludo::ChineseLudo;
pub use oware::{Abapa, AnanAnan};
pub use registry::{
    EachRuleset, GamesError, Ruleset, RulesetInfo, Visitor, build, each_ruleset, resolve, ruleset,
    rulesets, visit,
};
