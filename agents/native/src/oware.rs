//! The search of the Oware paper: full-depth minimax over weighted features.
//!
//! After J. Ainooson, *An Evolved Oware Player for owarega.me*, section Methodology (paper
//! 002). The search prunes irrelevant lines, which changes neither the value nor the
//! choice: the first of the best pits.
//!
//! A search does not know the earlier positions: it does not see that a repeated position
//! would end a game of Abapa.

mod abapa;
mod anan_anan;
mod features;
mod search;
mod weights;

use arena_engine::options::{Kind, Options, Spec, Value};
use arena_games::oware::{Abapa, AnanAnan};

use self::{
    features::Features,
    search::{Searcher, Terminal},
};
use crate::{make::BotResult, read};

/// The weights with a name, such as `ainooson-abapa-d3`, a1 first; `None` for an unknown
/// name.
#[must_use]
pub fn named_weights(name: &str) -> Option<&'static [f64]> {
    weights::find::<Abapa>(name).or_else(|| weights::find::<AnanAnan>(name))
}

/// The options of the search, for both games.
pub(crate) fn specs() -> Vec<Spec> {
    vec![
        Spec::new(
            "depth",
            Kind::Int { min: 1, max: 15 },
            3i64,
            "depth of the search in plies; each ply up to doubles the time",
        ),
        weights::spec::<Abapa>(),
        weights::spec::<AnanAnan>(),
        Spec::new(
            "terminal",
            Kind::choice(&["win-inf", "eval"]),
            "win-inf",
            "value of a finished game: win or loss first, then the margin; or its features, as \
             for other positions",
        ),
    ]
}

/// Makes the search for one of the games.
pub(crate) fn searcher<G: Features>(options: &Options, _: &G) -> BotResult<G> {
    let weights = match options.get("weights") {
        Some(Value::Numbers(weights)) => weights.clone(),
        _ => weights::named::<G>(read::text(options, "weights")).to_vec(),
    };
    let terminal = match read::text(options, "terminal") {
        "eval" => Terminal::Eval,
        _ => Terminal::WinInf,
    };
    let depth = read::int(options, "depth") as u32;
    Ok(Box::new(Searcher::<G>::new(depth, &weights, terminal)))
}

#[cfg(test)]
mod tests;
