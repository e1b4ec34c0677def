//! Seeds that the coordinator drew. They are sealed until the tournament is over: users see a
//! commitment, and games in whole blocks.

use std::sync::PoisonError;

use arena_wire::v1;

use super::{
    Core,
    entry::{TournamentEntry, is_over},
    sealed_spec::SealedSpec,
};
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

/// A tournament as users see it: without its seed while that is sealed. Its spec, which may be large,
/// is read once.
pub(super) fn shown(entry: &TournamentEntry) -> v1::Tournament {
    let document = &entry.document;
    if !is_sealed(document) {
        return document.clone();
    }
    let mut kept = { entry.sealed_spec.lock() }.unwrap_or_else(PoisonError::into_inner);
    let known = kept.take_if(|spec| spec.commitment == document.seed_commitment);
    let spec = kept.insert(known.unwrap_or_else(|| SealedSpec::of(document)));
    v1::Tournament {
        seed_nonce: String::new(),
        spec_json: spec.json.clone(),
        spec_toml: spec.toml.clone(),
        ..document.clone()
    }
}
