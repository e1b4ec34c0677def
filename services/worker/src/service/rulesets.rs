//! The rulesets that a worker plays: those of this program, and packages.

use std::collections::BTreeMap;

use arena_model::{
    engine::MAX_SEATS,
    rules::{Information, PACKAGE_SEARCH_VERSION, RULES_PROTOCOL, WIDE_IDS_VERSION},
    spec::ADJUDICATION_VERSION,
};

/// The rulesets as a request to join names them.
pub(super) fn rulesets() -> BTreeMap<String, u32> {
    let listed = arena_games::rulesets().iter();
    listed
        .map(|info| (info.name.to_owned(), info.version))
        .chain(older_rules())
        .chain([("@package".to_owned(), RULES_PROTOCOL)])
        .chain([("@adjudication".to_owned(), ADJUDICATION_VERSION)])
        .chain([("@hidden".to_owned(), Information::VERSION)])
        .chain([("@package-search".to_owned(), PACKAGE_SEARCH_VERSION)])
        .chain([("@seats".to_owned(), MAX_SEATS as u32)])
        .chain([("@wide-ids".to_owned(), WIDE_IDS_VERSION)])
        .collect()
}

/// Rulesets that are not listed, as a request to join names them: a version other than the newest
/// has its number in the name.
fn older_rules() -> impl Iterator<Item = (String, u32)> {
    arena_games::unlisted_rulesets().iter().map(|info| {
        let newest = arena_games::ruleset(info.name).is_ok_and(|it| it.version == info.version);
        let name = match newest {
            true => info.name.to_owned(),
            false => format!("{}@{}", info.name, info.version),
        };
        (name, info.version)
    })
}
