//! What a compaction of a store keeps.

use std::collections::BTreeSet;

use arena_store::{Collection, Selection};

use crate::{checkpoint, core::removal};

/// Keeps everything but the games of removed tournaments, and checkpoints: these contain positions
/// in the chain of results, which a compaction changes. The next start computes the sums again.
#[derive(Debug, Default)]
pub struct WithoutRemoved {
    removed: BTreeSet<String>,
    existing: BTreeSet<String>,
}

impl WithoutRemoved {
    /// True if a tournament was removed, by the id or the key of one of its generations.
    #[must_use]
    pub fn is_removed(&self, tournament: &str) -> bool {
        let id = tournament.split('~').next().unwrap_or_default();
        self.removed.contains(id) && !self.existing.contains(id)
    }
}

impl Selection for WithoutRemoved {
    fn document(&mut self, collection: Collection, key: &str) {
        if collection == Collection::Tournaments {
            self.existing.insert(key.to_owned());
        } else if collection == Collection::Meta {
            let id = key.strip_prefix(removal::PREFIX);
            self.removed.extend(id.map(str::to_owned));
        }
    }

    fn keeps_document(&self, collection: Collection, key: &str) -> bool {
        collection != Collection::Meta || !key.starts_with(checkpoint::PREFIX)
    }

    fn keeps_games_of(&self, tournament: &str) -> bool {
        !self.is_removed(tournament)
    }
}
