//! Seeds that the coordinator drew. They are sealed until the tournament is over: users see a
//! commitment, and games in whole blocks.

use arena_model::{canonical_json, spec::Spec};
use arena_wire::v1;

use super::{Core, entry::is_over};
use crate::error::Error;

/// The start of a seed in a request that is a commitment.
pub(crate) const SEALED: &str = "sealed:";

impl Core {
    /// True while the seed of a tournament is sealed.
    pub(crate) fn is_sealed(&self, id: &str) -> Result<bool, Error> {
        Ok(is_sealed(&self.entry(id)?.document))
    }

    /// The seed of the tournament with this commitment.
    pub(crate) fn seed_of(&self, commitment: &str) -> Result<String, Error> {
        let mut entries = self.tournaments.values();
        let entry = entries.find(|entry| entry.document.seed_commitment == commitment);
        let entry = entry.filter(|_| !commitment.is_empty());
        let seed = entry.map(|entry| entry.info.tournament.seed.to_string());
        seed.ok_or_else(|| {
            Error::Request(format!("no tournament has the seed {SEALED}{commitment}"))
        })
    }
}

fn is_sealed(document: &v1::Tournament) -> bool {
    !document.seed_commitment.is_empty() && !is_over(document.state())
}

/// A tournament as users see it: without its seed while that is sealed.
pub(super) fn shown(mut document: v1::Tournament) -> v1::Tournament {
    if !is_sealed(&document) {
        return document;
    }
    document.seed_nonce.clear();
    // What cannot be read is not shown.
    let spec = serde_json::from_str::<serde_json::Value>(&document.spec_json);
    document.spec_json = spec.map_or_else(
        |_| String::new(),
        |mut spec| {
            spec.as_object_mut().map(|fields| fields.remove("seed"));
            canonical_json(&spec)
        },
    );
    let spec = Spec::parse(&document.spec_toml);
    document.spec_toml = spec.map_or_else(
        |_| String::new(),
        |spec| Spec { seed: None, ..spec }.to_toml(),
    );
    document
}
