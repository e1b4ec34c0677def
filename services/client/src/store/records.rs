//! The records of a store, each checked against rules and seed.

use std::collections::BTreeMap;

use arena_coordinator::WithoutRemoved;
use arena_report::records::{self, TournamentRecords};
use arena_store::{Collection, Examine, Selection, StoredGame};
use arena_wire::v1;
use prost::Message;
use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// Maximum number of records listed; further ones are counted.
const NAMED_MAX: usize = 20;

/// The result of the check.
#[derive(Debug, Default, Serialize)]
pub struct Checked {
    /// Records with correct hash, events, dice, luck and result.
    pub records: u64,
    /// Games of removed tournaments, whose space a compaction gives back.
    pub removed: u64,
    /// Records without stored moves, which only a replay with the agents can check.
    pub hashes_alone: u64,
    /// Number of games whose records cannot be checked, by reason, such as unsupported
    /// rules.
    pub unchecked: BTreeMap<String, u64>,
    /// Number of invalid records.
    pub unsound: u64,
    /// The first invalid records, with the reason.
    pub unsound_records: Vec<String>,
}

/// Checks records during the verification of a store.
#[derive(Default)]
pub struct Records {
    tournaments: BTreeMap<String, Result<TournamentRecords, String>>,
    hash_only: BTreeMap<String, bool>,
    removed: WithoutRemoved,
    /// Name of the document with the end of the audit trail, and the document.
    anchor_key: Option<String>,
    /// The document with the end of the audit trail.
    pub anchor: Option<Vec<u8>>,
    /// The result so far.
    pub checked: Checked,
}

impl Records {
    /// With the name of the document that has the end of the audit trail.
    #[must_use]
    pub fn with_anchor(key: Option<String>) -> Self {
        Self {
            anchor_key: key,
            ..Self::default()
        }
    }
}

impl Examine for Records {
    fn document(&mut self, collection: Collection, key: &str, value: &[u8]) {
        self.removed.document(collection, key);
        if collection == Collection::Meta && self.anchor_key.as_deref() == Some(key) {
            self.anchor = Some(value.to_vec());
        }
        if collection != Collection::Tournaments {
            return;
        }
        let document = v1::Tournament::decode(value).unwrap_or_default();
        let setup = document.setup.unwrap_or_default();
        self.hash_only.insert(key.to_owned(), setup.hash_only);
        let rules = TournamentRecords::new(&setup).map_err(|failure| failure.to_string());
        self.tournaments.insert(key.to_owned(), rules);
    }

    fn game(&mut self, game: &StoredGame) {
        let checked = &mut self.checked;
        if self.removed.is_removed(&game.tournament) {
            checked.removed += 1;
            return;
        }
        // Replayed games are stored as ID~GENERATION.
        let (id, _) = { game.tournament.split_once('~') }.unwrap_or((&game.tournament, ""));
        let absent = Err(format!("tournament {} is missing", game.tournament));
        let rules = match self.tournaments.get(id).unwrap_or(&absent) {
            Ok(rules) => rules,
            Err(why) => return *checked.unchecked.entry(why.clone()).or_default() += 1,
        };
        if self.hash_only.get(id) == Some(&true) {
            checked.hashes_alone += 1;
            return;
        }
        let Err(failure) = check(rules, game) else {
            checked.records += 1;
            return;
        };
        checked.unsound += 1;
        if checked.unsound_records.len() < NAMED_MAX {
            let name = format!("game {}/{}: {failure}", game.tournament, game.index);
            checked.unsound_records.push(name);
        }
    }
}

fn check(rules: &TournamentRecords, game: &StoredGame) -> Outcome {
    let mut message = v1::GameRecord::decode(game.record.as_slice())
        .map_err(|error| Failure::differs(format!("not a record: {error}")))?;
    if message.hash.is_empty() {
        message.hash = game.hash.to_vec();
    }
    Ok(rules.verify(&records::record(Some(&message))?)?)
}
