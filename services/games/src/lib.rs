//! The rulesets of Arena, one module each, and the list of them.

pub mod cowry;
pub mod kalah;
mod proto;
mod read;
mod registry;

pub use cowry::Cowry;
pub use kalah::Kalah;
pub use registry::{
    GamesError, Ruleset, RulesetInfo, Visitor, build, resolve, ruleset, rulesets, visit,
};
