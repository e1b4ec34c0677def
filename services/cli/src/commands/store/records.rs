//! The records of a store, each checked against rules and seed.

use arena_report::records::{self, TournamentRecords};
use std::collections::BTreeMap;

use arena_store::{Collection, Examine, StoredGame};
use arena_wire::v1;
use prost::Message;
use serde::Serialize;

use crate::failure::Outcome;

/// Records that are named; further ones are counted.
const NAMED_MAX: usize = 20;

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Checked {
    /// Records whose hash, events, dice, luck and result are right.
    pub(super) records: u64,
    /// Records whose moves are not kept: they can only be played again.
    pub(super) hashes_alone: u64,
    /// Games by why their records cannot be checked, such as rules that this
    /// program does not have.
    pub(super) unchecked: BTreeMap<String, u64>,
    /// How many records are wrong.
    pub(super) unsound: u64,
    /// The first of them, and why.
    pub(super) unsound_records: Vec<String>,
}

/// Checks records while a store is verified.
#[derive(Default)]
pub(super) struct Records {
    tournaments: BTreeMap<String, Result<TournamentRecords, String>>,
    hash_only: BTreeMap<String, bool>,
    pub(super) checked: Checked,
}

impl Examine for Records {
    fn document(&mut self, collection: Collection, key: &str, value: &[u8]) {
        if collection != Collection::Tournaments {
            return;
        }
        let setup = v1::Tournament::decode(value)
            .ok()
            .and_then(|document| document.setup)
            .unwrap_or_default();
        self.hash_only.insert(key.to_owned(), setup.hash_only);
        let rules = TournamentRecords::new(&setup).map_err(|failure| failure.to_string());
        self.tournaments.insert(key.to_owned(), rules);
    }

    fn game(&mut self, game: &StoredGame) {
        let checked = &mut self.checked;
        // Games that were played again are kept as ID~GENERATION.
        let (id, _) = game
            .tournament
            .split_once('~')
            .unwrap_or((&game.tournament, ""));
        let rules = match self.tournaments.get(id) {
            Some(Ok(rules)) => rules,
            Some(Err(why)) => return *checked.unchecked.entry(why.clone()).or_default() += 1,
            None => {
                let why = format!("tournament {} is not there", game.tournament);
                return *checked.unchecked.entry(why).or_default() += 1;
            }
        };
        if self.hash_only.get(id) == Some(&true) {
            checked.hashes_alone += 1;
            return;
        }
        match check(rules, game) {
            Ok(()) => checked.records += 1,
            Err(failure) => {
                checked.unsound += 1;
                if checked.unsound_records.len() < NAMED_MAX {
                    let name = format!("game {}/{}: {failure}", game.tournament, game.index);
                    checked.unsound_records.push(name);
                }
            }
        }
    }
}

fn check(rules: &TournamentRecords, game: &StoredGame) -> Outcome {
    let mut message = v1::GameRecord::decode(game.record.as_slice())
        .map_err(|error| crate::failure::Failure::differs(format!("not a record: {error}")))?;
    if message.hash.is_empty() {
        message.hash = game.hash.to_vec();
    }
    Ok(rules.verify(&records::record(Some(&message))?)?)
}
