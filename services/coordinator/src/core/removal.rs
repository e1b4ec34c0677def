//! Removal of tournaments that have ended. A small document, the tombstone, keeps the identity of a
//! tournament. Its games stay in the store's chain until the store is compacted, but no request gets
//! them.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use arena_model::engine::options::nearest;
use arena_store::{Change as Stored, Collection, Store, StoreError};
use arena_wire::v1;
use prost::Message;
use sha2::{Digest, Sha256};

use super::{
    Core, audits, change, differences, disputes,
    entry::{is_over, state_name},
    unix_us,
};
use crate::{blocking::with_store, checkpoint, error::Error, info::Info, principal::Principal};

/// Prefix of the keys of tombstones.
pub(crate) const PREFIX: &str = "removed/";
/// Maximum length of a verdict that a tombstone keeps, in bytes.
const VERDICT_BYTES_MAX: usize = 1024;
/// So many tombstones without games in the store count like one tournament.
const SMALL: u64 = 16;
/// Length of a SHA-256 as hexadecimal digits.
const DIGEST_DIGITS: usize = 64;

/// What is left of removed tournaments, by id.
pub(super) type Removed = BTreeMap<String, v1::Tournament>;

/// Reads the tombstones. A tournament that exists counts as not removed: an earlier release, which
/// ignores tombstones, has started it again.
pub(super) fn read(meta: &[(String, Vec<u8>)], exists: impl Fn(&str) -> bool) -> Removed {
    let removed = meta.iter().filter_map(|(key, bytes)| {
        let id = key.strip_prefix(PREFIX).filter(|id| !exists(id))?;
        // Even an unreadable one keeps the id.
        Some((
            id.to_owned(),
            v1::Tournament::decode(&**bytes).unwrap_or_default(),
        ))
    });
    removed.collect()
}

impl Core {
    /// True if a tournament of this id exists, or was removed.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.tournaments.contains_key(id) || self.removed.contains_key(id)
    }

    /// The error for an id of no tournament.
    pub(super) fn unknown(&self, id: &str) -> Error {
        match self.removed.get(id) {
            Some(tombstone) => Error::RemovedTournament {
                id: id.to_owned(),
                removal: tombstone.removal.clone().unwrap_or_default(),
            },
            None => Error::UnknownTournament {
                id: id.to_owned(),
                nearest: nearest(id, self.tournaments.keys().map(String::as_str)),
            },
        }
    }

    /// The error for a start of a tournament that was removed.
    pub(super) fn removed_before(&self, id: &str) -> Error {
        let removed = self.unknown(id);
        Error::State(format!("{removed}; play it under a new id with --again"))
    }

    /// Number of removed tournaments that count towards the limit of an owner: those whose games still take
    /// space, and a small part of the others.
    pub(super) fn removed_of(&self, owner: &str) -> u64 {
        let own = self.removed.iter().filter(|(_, it)| it.owner == owner);
        let (large, small): (Vec<_>, Vec<_>) = own.partition(|(id, _)| self.store.count(id) > 0);
        large.len() as u64 + small.len() as u64 / SMALL
    }

    /// The first tournament in the order of ids, after this one, that ended before this time.
    pub(crate) fn ended_before(&self, unix_us: u64, after: Option<&str>) -> Option<String> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut entries = self.tournaments.range::<str, _>((from, Bound::Unbounded));
        let ended = entries.find(|(_, entry)| {
            let document = &entry.document;
            is_over(document.state()) && document.finished_unix_us < unix_us
        });
        ended.map(|(id, _)| id.clone())
    }

    /// Tombstones in the order of creation: at most so many after this time of creation and id.
    pub(crate) fn list_removed(
        &self,
        after: Option<&(u64, String)>,
        most: usize,
    ) -> Vec<v1::Tournament> {
        fn key(it: &v1::Tournament) -> (u64, &str) {
            (it.created_unix_us, &it.tournament_id)
        }
        let after = after.map(|(created, id)| (*created, &**id));
        let rest = self.removed.values();
        let rest = rest.filter(|it| after.is_none_or(|after| key(it) > after));
        let mut rest: Vec<&v1::Tournament> = rest.collect();
        if rest.len() > most {
            // In linear time.
            rest.select_nth_unstable_by(most, |one, other| key(one).cmp(&key(other)));
            rest.truncate(most);
        }
        rest.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
        rest.into_iter().cloned().collect()
    }

    /// Removes a tournament that has ended.
    pub(crate) async fn remove_tournament(
        &mut self,
        request: v1::RemoveTournamentRequest,
        by: &Principal,
    ) -> Result<v1::Tournament, Error> {
        const METHOD: &str = "RemoveTournament";
        let id = &*request.tournament_id;
        let known: Option<v1::GetTournamentRequest> =
            self.answers
                .recall(&request.request_id, by, METHOD, &request)?;
        if known.is_some()
            && let Some(tombstone) = self.removed.get(id)
        {
            return Ok(tombstone.clone());
        }
        self.check_owner(id, by)?;
        self.check_removable(&request)?;
        // Their documents must not follow the removal.
        self.kept().await;
        self.writer.written().await?;
        let entry = self.entry(id)?;
        let info = Arc::clone(&entry.info);
        let tombstone = v1::Tournament {
            games_done: self.games_done(entry),
            ruleset: info.tournament.ruleset.clone(),
            format: info.tournament.format.name().to_owned(),
            removal: Some(v1::Removal {
                by: by.owner.to_string(),
                unix_us: unix_us(),
                spec_sha256: hex::encode(Sha256::digest(&entry.document.spec_json)),
                archive_sha256: request.archive_sha256.clone(),
            }),
            ..remains(&entry.document)
        };
        let store = Arc::clone(&self.store);
        let belongings = with_store(store, move |store| belongings(&info, store)).await;
        let mut changes = belongings.ok_or(Error::Draining)??;
        let key = format!("{PREFIX}{id}");
        changes.push(change(
            Collection::Meta,
            key,
            Some(tombstone.encode_to_vec()),
        ));
        changes.push(change(Collection::Tournaments, id, None));
        let answer = v1::GetTournamentRequest::default();
        let answers = &mut self.answers;
        changes.extend(answers.remember(&request.request_id, by, METHOD, &request, &answer));
        self.persist(changes).await?;
        self.forget_tournament(id);
        tracing::info!(tournament = id, by = &*by.owner, "tournament removed");
        self.removed.insert(id.to_owned(), tombstone.clone());
        Ok(tombstone)
    }

    fn check_removable(&self, request: &v1::RemoveTournamentRequest) -> Result<(), Error> {
        let (id, archive) = (&*request.tournament_id, &request.archive_sha256);
        let is_digest = archive.len() == DIGEST_DIGITS && hex::decode(archive).is_ok();
        if !(archive.is_empty() || is_digest) {
            return Err(Error::Request(format!(
                "archive_sha256 must be {DIGEST_DIGITS} hexadecimal digits, or empty"
            )));
        }
        let state = self.entry(id)?.document.state();
        if !is_over(state) {
            let state = state_name(state).unwrap_or("in an unknown state");
            return Err(Error::State(format!(
                "tournament {id} is {state}, and only one that has ended can be removed: wait for \
                 its end, or cancel it first with `arena tournament cancel {id}`"
            )));
        }
        if self.writes(id) {
            return Err(Error::State(format!(
                "results of tournament {id} are still being written: try again in a moment"
            )));
        }
        Ok(())
    }

    /// Forgets a tournament that the store does not have any more. Its audits end.
    fn forget_tournament(&mut self, id: &str) {
        let Some(entry) = self.tournaments.remove(id) else {
            return;
        };
        self.directory.remove(id);
        self.books.forget(&entry.info);
        self.failing.remove(id);
        self.broken.remove(id);
        self.disputed.remove(id);
        self.confirmed.remove(id);
        if let Some(number) = entry.number {
            self.numbers.remove(&number);
            let ended = self.ledger.remove(number);
            self.send_ended(&ended);
        }
    }
}

/// The small part of a tournament that its tombstone keeps.
fn remains(document: &v1::Tournament) -> v1::Tournament {
    let verdict = &document.verdict_json;
    let without_verdict = |it: &v1::Generation| v1::Generation {
        verdict_json: String::new(),
        ..it.clone()
    };
    v1::Tournament {
        tournament_id: document.tournament_id.clone(),
        name: document.name.clone(),
        state: document.state,
        games_total: document.games_total,
        created_unix_us: document.created_unix_us,
        finished_unix_us: document.finished_unix_us,
        verdict_json: match verdict.len() <= VERDICT_BYTES_MAX {
            true => verdict.clone(),
            false => String::new(),
        },
        generation: document.generation,
        earlier: document.earlier.iter().map(without_verdict).collect(),
        owner: document.owner.clone(),
        seed_commitment: document.seed_commitment.clone(),
        seed_nonce: document.seed_nonce.clone(),
        ..v1::Tournament::default()
    }
}

/// Changes that remove all other documents of a tournament, in all its generations.
fn belongings(info: &Info, store: &dyn Store) -> Result<Vec<Stored>, StoreError> {
    let mut changes = Vec::new();
    for generation in 1..=info.generation {
        let of = info.key_of(generation);
        let mut remove = |collection, prefix: &str| {
            let found = store.list_with(collection, prefix)?.into_iter();
            changes.extend(found.map(|(key, _)| change(collection, key, None)));
            Ok::<_, StoreError>(())
        };
        remove(Collection::Differences, &format!("{of}/"))?;
        for prefix in [audits::PREFIX, differences::PREFIX, disputes::PREFIX] {
            remove(Collection::Meta, &format!("{prefix}{of}/"))?;
        }
        changes.push(change(Collection::Meta, checkpoint::key(&of), None));
    }
    Ok(changes)
}
