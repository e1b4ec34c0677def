//! Replays games that an agent lost without ever answering, and games whose results are not sound.
//!
//! A new generation starts with copies of all other games. It has a key of its own in the store, so
//! the earlier generation stays as it is, and readers always read a whole generation. The records
//! decide which games were lost without an answer, and the ledger which games are not sound
//! ([`Ledger::unsound`](crate::ledger::Ledger::unsound)).

use std::{collections::BTreeSet, sync::Arc, thread, time::Duration};

use arena_store::{Store, StoreError, StoredGame};
use arena_tournament::WorkerScores;
use arena_wire::v1::{self, TournamentState};

use super::{
    Core,
    audits::{CLAIMED, PREFIX},
    bits,
    differences::Differing,
    entry::stored,
    unix_us,
};
use crate::{
    blocking::with_store,
    error::Error,
    info::Info,
    ledger::{Audited, Bitmap},
    loading::reload,
    principal::Principal,
    results::Results,
    stored_game,
};

/// Games passed to the store at a time.
const CHUNK: usize = 1024;
/// Pause after the store was full.
const WAIT: Duration = Duration::from_millis(20);

/// A new generation, whose copied games are durable.
struct Begun {
    info: Info,
    results: Results,
    done: Bitmap,
    /// Final state of the previous generation.
    before: v1::Generation,
}

impl Core {
    /// Starts a new generation of a tournament, in which lost and unsound games are played again.
    pub(crate) async fn retry(
        &mut self,
        request: v1::RetryTournamentRequest,
        by: &Principal,
    ) -> Result<v1::Tournament, Error> {
        const METHOD: &str = "RetryTournament";
        let id = &request.tournament_id;
        let known: Option<v1::RetryTournamentRequest> =
            self.answers
                .recall(&request.request_id, by, METHOD, &request)?;
        if known.is_some() {
            return self.tournament(id);
        }
        self.check_owner(id, by)?;
        let entry = self.entry(id)?;
        match entry.document.state() {
            TournamentState::Paused | TournamentState::Finished => {}
            TournamentState::Cancelled => {
                return Err(Error::State(format!("tournament {id} is cancelled")));
            }
            TournamentState::Running | TournamentState::Unspecified => {
                return Err(Error::State(format!(
                    "tournament {id} is running: pause it first with `arena tournament pause {id}`"
                )));
            }
        }
        self.check_running(by, entry.document.games_total)?;
        if self.writes(id) {
            return Err(Error::State(format!(
                "results of tournament {id} are still being written: try again in a moment"
            )));
        }
        self.kept().await;
        let (of, store) = (self.info(id)?, Arc::clone(&self.store));
        let number = self.entry(id)?.number;
        let unsound = number.map_or_else(BTreeSet::new, |number| self.ledger.unsound(number));
        // Of the games that are copied, another owner may still have to confirm faults.
        let claimed = number.map_or_else(Vec::new, |number| self.ledger.claimed(number));
        let begun = with_store(store, move |store| begin(&of, store, unsound)).await;
        let begun = begun.ok_or(Error::Draining)??;
        let Begun {
            info,
            mut results,
            done,
            before,
        } = begun;
        // The copies are behind the position up to which games are summed.
        results.kept = results.games();
        let claimed = claimed.into_iter().filter(|&index| done.contains(index));
        let claims = bits::only(CLAIMED, claimed);
        let entry = self.entry(id)?;
        let mut document = entry.document.clone();
        document.generation = info.generation;
        document.earlier.push(v1::Generation {
            verdict_json: std::mem::take(&mut document.verdict_json),
            ended_unix_us: unix_us(),
            ..before
        });
        document.pause = None;
        (document.accepted_games, document.accepted_unplayed) = (0, 0);
        document.finished_unix_us = 0;
        document.games_total = info.games_most;
        document.set_state(TournamentState::Running);
        let mut changes = vec![stored(&document)];
        let answers = &mut self.answers;
        changes.extend(answers.remember(&request.request_id, by, METHOD, &request, &request));
        let of_claims = claims.iter();
        changes
            .extend(of_claims.map(|(&it, bytes)| bits::put(PREFIX, &info.key, it, bytes.clone())));
        self.persist(changes).await?;
        tracing::info!(
            tournament = id,
            generation = info.generation,
            kept = done.count(),
            "replaying the games that an agent lost without an answer, and those of untrusted workers"
        );
        let entry = self.entry_mut(id)?;
        let old = entry.number.take();
        entry.differing = Differing::new(info.games_most);
        entry.second_plays = WorkerScores::new(info.schedule().rotations());
        entry.audit_status = entry.audit_state(Audited::default());
        entry.info = Arc::new(info);
        entry.document = document;
        entry.dormant = false;
        entry.unready.clear();
        entry.given_up.clear();
        entry.shown = None;
        let info = Arc::clone(&entry.info);
        self.directory.add(&info);
        if let Some(old) = old {
            self.numbers.remove(&old);
            let ended = self.ledger.remove(old);
            self.send_ended(&ended);
        }
        self.account(id, (done, results), false, &claims).await?;
        self.entry(id)?.touch();
        self.tournament(id)
    }
}

/// Copies the games that stay valid into the next generation.
fn begin(info: &Info, store: &dyn Store, unsound: BTreeSet<u64>) -> Result<Begun, Error> {
    let next = info.of_generation(info.generation + 1)?;
    let unsound_games = unsound.len() as u64;
    let (replaced, unplayed, bound) = replaced(info, store, unsound)?;
    if replaced.is_empty() {
        return Err(Error::State(format!(
            "in tournament {}, every lost game has an answer, and no record is refuted: nothing to \
             replay",
            info.id
        )));
    }
    let stands = |index: u64| index < bound && !replaced.contains(&index);
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut kept = 0;
    let mut failed = None;
    store.scan(&info.key, &mut |mut game| {
        if failed.is_some() || !stands(game.index) {
            return;
        }
        kept += 1;
        game.tournament = Arc::clone(&next.key);
        chunk.push(game);
        if chunk.len() == CHUNK {
            failed = append(store, std::mem::take(&mut chunk)).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    append(store, chunk)?;
    let (results, done) = reload(&next, store)?;
    let games = store.count(&info.key);
    let before = v1::Generation {
        number: info.generation,
        games,
        unplayed,
        unsound: unsound_games,
        replaced: games - kept,
        ..v1::Generation::default()
    };
    Ok(Begun {
        info: next,
        results,
        done,
        before,
    })
}

/// Finds the games to replay: those that an agent lost without ever answering, and unsound ones. Returns
/// them, the number of the former, and the end of the first stage that has a game to replay. All games
/// behind that end are replayed as well, because the results of that stage decided them.
fn replaced(
    info: &Info,
    store: &dyn Store,
    unsound: BTreeSet<u64>,
) -> Result<(BTreeSet<u64>, u64, u64), Error> {
    let of = info.of_generation(info.generation)?;
    let mut results = Results::new(&of)?;
    let mut lost = BTreeSet::new();
    let mut bounds = BTreeSet::from([of.games()]);
    let mut failed = None;
    store.scan(&info.key, &mut |game| {
        let side = stored_game::read_side(&game);
        if !side.unplayed.is_empty() {
            lost.insert(game.index);
        }
        let added = stored_game::read_record(&game).and_then(|it| results.take(it, side, &of));
        if let Err(error) = added {
            failed.get_or_insert(error);
        }
        bounds.insert(results.stages.schedule().games());
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let unplayed = lost.len() as u64;
    lost.extend(unsound);
    let first = lost.first().copied().unwrap_or(0);
    let bound = bounds.into_iter().find(|&bound| first < bound);
    Ok((lost, unplayed, bound.unwrap_or(u64::MAX)))
}

/// Appends games and waits until they are durable, even if the store is full at first. If an earlier
/// attempt to start this generation was interrupted, its games are kept.
fn append(store: &dyn Store, games: Vec<StoredGame>) -> Result<(), StoreError> {
    if games.is_empty() {
        return Ok(());
    }
    loop {
        match store.append_and_wait(games.clone()) {
            Err(StoreError::Busy { .. }) => thread::sleep(WAIT),
            appended => return appended,
        }
    }
}
