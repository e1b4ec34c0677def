//! Compares acknowledged games with the durable ones.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{World, fleet::Measured};

/// The part of an export line that is read, because there are millions.
#[derive(Deserialize)]
struct Exported<'a> {
    index: u64,
    hash: &'a str,
}

/// Acknowledged games and their hashes, by tournament.
#[derive(Default)]
pub(super) struct Acknowledged(BTreeMap<String, BTreeMap<u64, [u8; 32]>>);

impl Acknowledged {
    pub(super) fn add(&mut self, fleet: &Measured) {
        for (tournament, games) in &fleet.acknowledged {
            self.0.entry(tournament.clone()).or_default().extend(games);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().map(|games| games.len() as u64).sum()
    }

    /// Acknowledged games that an export does not have, or has with another hash, by tournament.
    pub(super) fn missing(&self, world: &World, data: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for (tournament, acknowledged) in &self.0 {
            let mut found = 0;
            let export = ["export", tournament, "--format", "jsonl", "--data", data];
            world.lines(&export, |line| {
                let game: Exported<'_> = serde_json::from_str(line).expect("a record");
                let known = acknowledged.get(&game.index).map(hex::encode);
                found += usize::from(known.as_deref() == Some(game.hash));
            });
            let lost = acknowledged.len() - found;
            if lost > 0 {
                wrong.push(format!(
                    "{tournament}: {lost} of {} acknowledged games are not in its export",
                    acknowledged.len()
                ));
            }
        }
        wrong
    }
}
