//! The rulesets of Arena, one module each, and the list of them.

pub mod cowry;
pub mod kalah;
mod proto;
mod read;
mod registry;

pub use cowry::Cowry;
pub use kalah::Kalah;
pub use registry::{
    EachRuleset, GamesError, Ruleset, RulesetInfo, Visitor, build, each_ruleset, resolve, ruleset,
    rulesets, visit,
};
