//! Records of the same game that differ. The first thousand differences of a tournament are
//! stored completely; for further games, one bit each.

use std::{collections::BTreeSet, sync::Arc};

use arena_store::{Change, Collection};
use arena_wire::v1;
use prost::Message;

use super::{Core, bits, change};
use crate::ledger::Bitmap;

/// Prefix of the keys of games that differ and are not listed.
pub(super) const PREFIX: &str = "unlisted/";
/// Maximum number of completely stored differences of a tournament.
const KEPT_MAX: usize = 1000;

/// The differences of a tournament.
pub(super) struct Differing {
    /// Keys of completely stored differences.
    pub(super) kept: BTreeSet<String>,
    /// Games that differ without a stored difference.
    pub(super) unlisted: Bitmap,
    /// Agents that differences name, by number, each with a game; of further games only if the
    /// agent is not named yet.
    named: BTreeSet<(usize, u64)>,
}

impl Differing {
    pub(super) fn new(games: u64) -> Self {
        Self {
            kept: BTreeSet::new(),
            unlisted: Bitmap::new(games),
            named: BTreeSet::new(),
        }
    }

    /// Agents that differences name, by number.
    pub(super) fn named(&self) -> BTreeSet<usize> {
        self.named.iter().map(|(agent, _)| *agent).collect()
    }

    /// Names an agent.
    pub(super) fn name(&mut self, agent: usize, index: u64) {
        let mut of_agent = self.named.range((agent, 0)..=(agent, u64::MAX));
        if self.named.len() < KEPT_MAX || of_agent.next().is_none() {
            self.named.insert((agent, index));
        }
    }

    /// Names no agent for the difference of a game any more, because a worker is charged.
    pub(super) fn acquit(&mut self, index: u64) {
        self.named.retain(|(_, of)| *of != index);
    }

    /// True if a difference of this game is stored completely.
    pub(super) fn lists(&self, tournament: &str, index: u64) -> bool {
        let game = format!("{tournament}/{index:0>20}/");
        let mut listed = self.kept.range(game.clone()..);
        listed.next().is_some_and(|key| key.starts_with(&game))
    }

    /// Adds a difference. Returns the changes to store if it is new.
    fn add(&mut self, tournament: &str, index: u64, difference: &v1::Difference) -> Option<Change> {
        let game = format!("{tournament}/{index:0>20}/");
        let key = format!("{game}{}", difference.other_hash);
        if self.kept.contains(&key) {
            return None;
        }
        if self.kept.len() < KEPT_MAX {
            self.kept.insert(key.clone());
            let value = Some(difference.encode_to_vec());
            return Some(change(Collection::Differences, key, value));
        }
        if self.lists(tournament, index) || !self.unlisted.insert(index) {
            return None;
        }
        let document = bits::document_of(index);
        let is_in = |index| [self.unlisted.contains(index)];
        Some(bits::store(PREFIX, tournament, document, is_in))
    }
}

impl Core {
    /// Adds a difference and, if `names` is true, marks the agent that it names; else it names none.
    /// Returns the changes to store if it is new.
    pub(super) fn differs(&mut self, difference: &v1::Difference, names: bool) -> Option<Change> {
        let (id, index) = difference.game_id.rsplit_once('/')?;
        let entry = self.tournaments.get_mut(id)?;
        let mut agents = entry.info.agents.iter();
        let named = agents.position(|name| names && *name == difference.agent);
        let index = index.parse().ok()?;
        let key = Arc::clone(&entry.info.key);
        let mut difference = difference.clone();
        if !names {
            difference.agent.clear();
        }
        // A report that comes twice does not name an agent again that a third play acquitted.
        let added = entry.differing.add(&key, index, &difference)?;
        if let Some(agent) = named {
            entry.differing.name(agent, index);
        }
        Some(added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(hash: &str) -> v1::Difference {
        v1::Difference {
            other_hash: hash.to_owned(),
            ..Default::default()
        }
    }

    #[test]
    fn unlisted_differences_count_once_per_game() {
        let most = KEPT_MAX as u64;
        let mut differing = Differing::new(2 * most);
        let mut add = |index, hash| differing.add("cup-1", index, &difference(hash));
        for index in 0..most {
            assert!(add(index, "a").is_some());
            assert!(add(index, "a").is_none(), "a report that comes twice");
        }
        assert!(add(3, "b").is_none(), "its game is listed");
        let unlisted = add(most, "a").expect("new");
        assert!(unlisted.key.starts_with(PREFIX));
        assert!(add(most, "a").is_none(), "a report that comes twice");
        assert!(add(most, "b").is_none(), "the same game");
        assert!(add(most + 1, "a").is_some());
        assert_eq!(differing.unlisted.count(), 2);
    }
}
