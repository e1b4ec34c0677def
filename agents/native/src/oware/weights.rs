//! Weights by name, and as an option.

use arena_engine::options::{Kind, Spec};

use super::features::{Features, Weights};

/// Maximum absolute value of a weight. With it, no position is worth as much as a win, for
/// any number of features.
const WEIGHT_MAX: f64 = 1000.0;

/// The option for one game.
pub(super) fn spec<G: Features>() -> Spec {
    let names = G::NAMED.iter().map(|(name, _)| (*name).to_owned());
    let kind = Kind::Numbers {
        min: -WEIGHT_MAX,
        max: WEIGHT_MAX,
        length: G::Weights::COUNT,
        names: names.collect(),
    };
    let (default, _) = G::NAMED[0];
    let summary = "weights of the features, a1 first: published weights by name, score for the \
     scores alone, or a list";
    Spec::new("weights", kind, default, summary).only_for(G::NAME)
}

/// The weights with a name of the option.
pub(super) fn named<G: Features>(name: &str) -> &'static [f64] {
    find::<G>(name)
        .unwrap_or_else(|| unreachable!("option weights was resolved by its spec, but is {name}"))
}

/// The weights with a name; `None` for an unknown name.
pub(super) fn find<G: Features>(name: &str) -> Option<&'static [f64]> {
    let found = G::NAMED.iter().find(|(known, _)| *known == name);
    found.map(|(_, weights)| weights.as_ref())
}
