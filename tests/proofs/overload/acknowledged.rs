//! What fleets were told is durable, held against what is there.

use std::collections::BTreeMap;

use crate::{World, fleet::Measured};

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

    /// Acknowledged games that an export of the data does not have, or has with
    /// another hash; told by tournament.
    pub(super) fn missing(&self, world: &World, data: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for (tournament, acknowledged) in &self.0 {
            let export = world.export(tournament, ["--data", data]);
            let found: BTreeMap<u64, &str> = export
                .games
                .iter()
                .filter_map(|game| Some((game["index"].as_u64()?, game["hash"].as_str()?)))
                .collect();
            let lost = acknowledged
                .iter()
                .filter(|(index, hash)| found.get(index) != Some(&hex::encode(hash).as_str()))
                .count();
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
