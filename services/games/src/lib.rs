//! The rulesets of Arena, one module each, and the list of them.

mod registry;

pub use registry::{
    GamesError, Ruleset, RulesetInfo, Visitor, build, resolve, ruleset, rulesets, visit,
};
