//! Tournaments: what is shown of them, and how much an owner may start.

mod starts;
mod states;

use std::sync::Arc;

use arena_store::TableState;
use arena_wire::{
    limits,
    v1::{self, TournamentState},
};

use super::{Core, entry::TournamentEntry, sealed};
use crate::{error::Error, info::Info, principal::Principal, tables::table_state};

/// A tournament with so many more agents counts as another one.
const AGENTS_PER_TOURNAMENT: usize = 16;

/// How many tournaments one with so many agents counts for: it needs as much memory.
pub(super) fn weight(agents: usize) -> u64 {
    1 + (agents / AGENTS_PER_TOURNAMENT) as u64
}

impl Core {
    pub(super) fn entry(&self, id: &str) -> Result<&TournamentEntry, Error> {
        self.tournaments.get(id).ok_or_else(|| self.unknown(id))
    }

    pub(super) fn entry_mut(&mut self, id: &str) -> Result<&mut TournamentEntry, Error> {
        // These ids were found before, so they are not misspelt.
        self.tournaments
            .get_mut(id)
            .ok_or_else(|| Error::UnknownTournament {
                id: id.to_owned(),
                nearest: None,
            })
    }

    /// Number of durable games.
    pub(super) fn games_done(&self, entry: &TournamentEntry) -> u64 {
        let progress = entry.number.and_then(|number| self.ledger.progress(number));
        progress.map_or_else(|| self.store.count(&entry.info.key), |it| it.done)
    }

    fn message(&self, entry: &TournamentEntry) -> v1::Tournament {
        v1::Tournament {
            games_done: self.games_done(entry),
            audits: self.audits(entry),
            ruleset: entry.info.tournament.ruleset.clone(),
            format: entry.info.tournament.format.name().to_owned(),
            ..sealed::shown(entry)
        }
    }

    pub(crate) fn info(&self, id: &str) -> Result<Arc<Info>, Error> {
        Ok(Arc::clone(&self.entry(id)?.info))
    }

    pub(crate) fn tournament(&self, id: &str) -> Result<v1::Tournament, Error> {
        Ok(self.message(self.entry(id)?))
    }

    /// The state of each tournament for the tables, in the order of their ids.
    pub(crate) fn table_states(&self) -> Vec<(String, TableState)> {
        let state = |entry: &TournamentEntry| {
            let (state, done) = (entry.document.state(), self.games_done(entry));
            table_state(state, entry.info.generation, done)
        };
        let all = self.tournaments.iter();
        all.map(|(id, entry)| (id.clone(), state(entry))).collect()
    }

    /// Tournaments without setups and specs, in order of creation: at most so many after this
    /// time of creation and id. Only these are copied.
    pub(crate) fn list_tournaments(
        &self,
        after: Option<&(u64, String)>,
        most: usize,
    ) -> Vec<v1::Tournament> {
        fn key(entry: &TournamentEntry) -> (u64, &str) {
            (
                entry.document.created_unix_us,
                &entry.document.tournament_id,
            )
        }
        let after = after.map(|(created, id)| (*created, &**id));
        let entries = self.tournaments.values();
        let mut entries: Vec<&TournamentEntry> = entries
            .filter(|entry| after.is_none_or(|after| key(entry) > after))
            .collect();
        let order = |one: &&TournamentEntry, other: &&TournamentEntry| key(one).cmp(&key(other));
        // Only what is returned is sorted.
        if entries.len() > most {
            entries.select_nth_unstable_by(most, order);
            entries.truncate(most);
        }
        entries.sort_unstable_by(order);
        entries
            .into_iter()
            .map(|entry| {
                let document = &entry.document;
                v1::Tournament {
                    tournament_id: document.tournament_id.clone(),
                    name: document.name.clone(),
                    state: document.state,
                    games_total: document.games_total,
                    games_done: self.games_done(entry),
                    audits: self.audits(entry),
                    created_unix_us: document.created_unix_us,
                    finished_unix_us: document.finished_unix_us,
                    owner: document.owner.clone(),
                    pause: document.pause.clone(),
                    generation: document.generation,
                    earlier: document.earlier.clone(),
                    ruleset: entry.info.tournament.ruleset.clone(),
                    format: entry.info.tournament.format.name().to_owned(),
                    seed_commitment: document.seed_commitment.clone(),
                    ..v1::Tournament::default()
                }
            })
            .collect()
    }

    /// Fails if someone else started a tournament.
    pub(super) fn check_owner(&self, tournament: &str, by: &Principal) -> Result<(), Error> {
        let owner = &self.entry(tournament)?.document.owner;
        by.check_owner(owner, &format!("tournament {tournament}"))
    }

    /// Fails if someone may not run another tournament with this number of games.
    pub(super) fn check_running(&self, by: &Principal, games: u64) -> Result<(), Error> {
        let documents = self.tournaments.values().map(|entry| &entry.document);
        let (mut number, mut running) = (0, 0_u64);
        for document in documents {
            if document.owner == *by.owner && document.state() == TournamentState::Running {
                number += 1;
                running = running.saturating_add(document.games_total);
            }
        }
        by.check_limit(&limits::TOURNAMENTS, number, 1)?;
        by.check_limit(&limits::GAMES, running, games)
    }

    /// How many stored tournaments those of an owner count for.
    pub(super) fn stored_of(&self, owner: &str) -> u64 {
        let entries = self.tournaments.values();
        let own = entries.filter(|entry| entry.document.owner == owner);
        let own: u64 = own.map(|entry| weight(entry.info.agents.len())).sum();
        own + self.removed_of(owner)
    }
}
