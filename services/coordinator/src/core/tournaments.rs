//! Starting, pausing, resuming, cancelling and showing tournaments.

use std::sync::Arc;

use arena_model::spec::Records;
use arena_store::{Change as Stored, StoreError, TableState, VALUE_BYTES_MAX};
use arena_wire::{
    limits,
    v1::{self, Role, TournamentState},
};

use super::{
    Core,
    bits::Documents,
    entry::{TournamentEntry, state_name, stored},
    sealed::{self, SEALED},
    unix_us,
};
use crate::{
    blocking::with_store,
    error::Error,
    info::Info,
    ledger::{AfterGame, Bitmap, Ended},
    messages::Reply,
    plan::Plan,
    principal::Principal,
    results::Results,
    tables::table_state,
};

/// Method of the stored answers to starts.
const START: &str = "StartTournament";
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

    /// Starts a planned tournament, or resumes it.
    pub(crate) async fn start(
        &mut self,
        request: v1::StartTournamentRequest,
        plan: Plan,
        by: &Principal,
    ) -> Result<v1::StartTournamentResponse, Error> {
        let id = &request.request_id;
        let known: Option<v1::StartTournamentResponse> =
            self.answers.recall(id, by, START, &request)?;
        if let Some(known) = known {
            let before = known.tournament.unwrap_or_default();
            return self.started(&before.tournament_id, known.created);
        }
        if self.draining() {
            return Err(Error::Draining);
        }
        let mut newest = 1;
        while self.has_id(&plan.id(newest + 1)) {
            newest += 1;
        }
        // Those of others do not stand between an owner and its own tournament.
        let is_own = |attempt: &u32| self.owner_of(&plan.id(*attempt)) == Some(&*by.owner);
        let own = (1..=newest).rev().find(is_own);
        let attempt = own.filter(|_| by.role != Role::Admin).unwrap_or(newest);
        let latest = self.tournaments.get(&plan.id(attempt));
        let of_sealed = request.seed.starts_with(SEALED);
        if of_sealed
            && latest.is_none_or(|entry| request.again || entry.document.seed_nonce.is_empty())
        {
            return Err(Error::Request(
                "a sealed seed only continues its tournament: use the same spec and agents, \
                 without --again"
                    .to_owned(),
            ));
        }
        let attempt = match latest.map(|entry| entry.document.state()) {
            None if !self.has_id(&plan.id(attempt)) => attempt,
            None if request.again => newest + 1,
            None => return Err(self.removed_before(&plan.id(attempt))),
            Some(TournamentState::Finished | TournamentState::Cancelled) if request.again => {
                newest + 1
            }
            Some(state) => {
                let tournament = plan.id(attempt);
                if self.check_owner(&tournament, by).is_err() {
                    if !request.again {
                        return Err(Error::StartedByOther { id: tournament });
                    }
                    return self.create(plan, newest + 1, &request, by).await;
                }
                self.check_records(&tournament, plan.setup.hash_only)?;
                let entry = self.entry(&tournament)?;
                if state == TournamentState::Paused && !entry.is_to_be_accepted() {
                    self.check_running(by, entry.document.games_total)?;
                }
                let document = &mut self.entry_mut(&tournament)?.document;
                document.unplayed_limit = Some(plan.unplayed_limit);
                // It counts from the next start.
                document.audit_share = plan.audit_share;
                if let (Some(play), Some(wanted)) = (
                    document.setup.as_mut().and_then(|it| it.play.as_mut()),
                    plan.setup.play,
                ) {
                    play.replicas = wanted.replicas;
                }
                document.sandbox = plan
                    .sandbox
                    .map_or_else(String::new, |level| level.to_string());
                return self.go_on(&tournament, state, &request, by).await;
            }
        };
        self.create(plan, attempt, &request, by).await
    }

    /// The owner of a tournament, which may have been removed.
    fn owner_of(&self, id: &str) -> Option<&str> {
        let entry = self.tournaments.get(id);
        let owner = entry.map(|entry| &entry.document.owner);
        let owner = owner.or_else(|| Some(&self.removed.get(id)?.owner));
        owner.map(|owner| &**owner)
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

    /// Fails if an existing tournament does not store what is now requested of its games, because
    /// that cannot be added later.
    fn check_records(&self, tournament: &str, hash_only: bool) -> Result<(), Error> {
        let kept = self.entry(tournament)?.info.hash_only();
        if kept == hash_only {
            return Ok(());
        }
        let records = if kept { Records::Hash } else { Records::Full };
        Err(Error::RecordsFixed {
            tournament: tournament.to_owned(),
            records: records.name(),
        })
    }

    /// Starts an existing tournament.
    async fn go_on(
        &mut self,
        tournament: &str,
        state: TournamentState,
        request: &v1::StartTournamentRequest,
        by: &Principal,
    ) -> Result<v1::StartTournamentResponse, Error> {
        match state {
            TournamentState::Cancelled => {
                return Err(Error::State(format!(
                    "tournament {tournament} was cancelled: start it anew with --again"
                )));
            }
            TournamentState::Paused if self.entry(tournament)?.is_to_be_accepted() => {
                // The user gets the reason with the answer, and decides.
            }
            TournamentState::Paused => self.resume(tournament, Vec::new()).await?,
            TournamentState::Running | TournamentState::Finished | TournamentState::Unspecified => {
            }
        }
        self.wake(tournament)?;
        let answer = self.started(tournament, false)?;
        let mut changes = self.remember_start(request, by, tournament, false);
        changes.push(stored(&self.entry(tournament)?.document));
        self.persist(changes).await?;
        Ok(answer)
    }

    async fn resume(&mut self, id: &str, changes: Vec<Stored>) -> Result<(), Error> {
        let came = self
            .set_state(id, TournamentState::Running, changes)
            .await?;
        self.came(id, came).await
    }

    /// Leases games of a tournament of an earlier start.
    fn wake(&mut self, tournament: &str) -> Result<(), Error> {
        self.entry_mut(tournament)?.dormant = false;
        self.unpark = true;
        Ok(())
    }

    async fn create(
        &mut self,
        plan: Plan,
        attempt: u32,
        request: &v1::StartTournamentRequest,
        by: &Principal,
    ) -> Result<v1::StartTournamentResponse, Error> {
        let mut document = plan.message(attempt);
        self.check_running(by, document.games_total)?;
        let own = self.stored_of(&by.owner);
        let more = weight(plan.tournament.agents.len());
        by.check_limit(&limits::STORED_TOURNAMENTS, own, more)?;
        document.owner = by.owner.to_string();
        document.set_state(TournamentState::Running);
        document.created_unix_us = unix_us();
        let id = document.tournament_id.clone();
        let setup = document.setup.clone().unwrap_or_default();
        let (tournament, stages) = (plan.tournament, plan.stages);
        let mut info = Info::planned(id.as_str().into(), 1, tournament, setup, &stages);
        info.is_sealable = !document.seed_commitment.is_empty();
        info.book = plan.book;
        let results = Results::before(plan.tally, stages, &info);
        let change = stored(&document);
        let bytes = change.value.as_ref().map_or(0, Vec::len);
        if bytes > VALUE_BYTES_MAX {
            // It grows by its rounds and its end.
            return Err(Error::Store(StoreError::TooLarge {
                what: format!("the tournament {id} with its spec and agents"),
                bytes,
                limit: VALUE_BYTES_MAX,
            }));
        }
        let mut changes = vec![change];
        changes.extend(self.remember_start(request, by, &id, true));
        self.persist(changes).await?;
        tracing::info!(
            tournament = id,
            games = document.games_total,
            "tournament started"
        );
        let entry = TournamentEntry::new(info, document);
        let (results, done) = self.stored_results(&entry.info, results).await?;
        self.directory.add(&entry.info);
        self.tournaments.insert(id.clone(), entry);
        self.account(&id, (done, results), false, &Documents::new())
            .await?;
        self.started(&id, true)
    }

    fn started(&self, id: &str, created: bool) -> Result<v1::StartTournamentResponse, Error> {
        Ok(v1::StartTournamentResponse {
            tournament: Some(self.tournament(id)?),
            created,
            notes: Vec::new(),
        })
    }

    /// Games that the store has of a new tournament: none, unless damage removed its document.
    async fn stored_results(
        &self,
        info: &Arc<Info>,
        none: Results,
    ) -> Result<(Results, Bitmap), Error> {
        if self.store.count(&info.key) == 0 {
            return Ok((none, Bitmap::new(info.games())));
        }
        let (of, store) = (Arc::clone(info), Arc::clone(&self.store));
        let loaded = with_store(store, move |store| Results::load(&of, store)).await;
        let what = || format!("the rest of tournament {}", info.id);
        let loaded = loaded.ok_or(Error::Draining)?;
        loaded.map_err(|error| Error::damaged(what(), error))
    }

    fn remember_start(
        &mut self,
        request: &v1::StartTournamentRequest,
        by: &Principal,
        tournament: &str,
        created: bool,
    ) -> Vec<Stored> {
        let answer = v1::StartTournamentResponse {
            tournament: Some(v1::Tournament {
                tournament_id: tournament.to_owned(),
                ..v1::Tournament::default()
            }),
            created,
            notes: Vec::new(),
        };
        self.answers
            .remember(&request.request_id, by, START, request, &answer)
    }

    /// Pauses, resumes or cancels a tournament, by the state that follows. A cancelled tournament
    /// counts no game after the answer, so games that are being written become durable first.
    pub(crate) async fn change(
        &mut self,
        after: TournamentState,
        request_id: String,
        tournament: String,
        by: Principal,
        reply: Reply<v1::Tournament>,
    ) {
        let changed = self.change_state(after, &request_id, &tournament, &by);
        let answer = changed.await;
        self.answer_change(tournament, answer, reply);
    }

    async fn change_state(
        &mut self,
        after: TournamentState,
        request_id: &str,
        tournament: &str,
        by: &Principal,
    ) -> Result<v1::Tournament, Error> {
        let method = match after {
            TournamentState::Paused => "PauseTournament",
            TournamentState::Cancelled => "CancelTournament",
            _ => "ResumeTournament",
        };
        let request = v1::GetTournamentRequest {
            tournament_id: tournament.to_owned(),
        };
        let known: Option<v1::GetTournamentRequest> =
            self.answers.recall(request_id, by, method, &request)?;
        if known.is_some() {
            return self.tournament(tournament);
        }
        self.check_owner(tournament, by)?;
        let before = self.entry(tournament)?.document.state();
        let is_open = matches!(before, TournamentState::Running | TournamentState::Paused);
        if !is_open && before != after {
            let state = state_name(before).unwrap_or("in an unknown state");
            return Err(Error::State(format!("tournament {tournament} is {state}")));
        }
        if before == TournamentState::Paused && after == TournamentState::Running {
            self.check_running(by, self.entry(tournament)?.document.games_total)?;
        }
        let answers = self
            .answers
            .remember(request_id, by, method, &request, &request);
        if after == TournamentState::Running {
            self.wake(tournament)?;
        }
        if before != after {
            if after == TournamentState::Running {
                self.entry_mut(tournament)?.accept_unplayed();
                self.resume(tournament, answers).await?;
            } else {
                self.set_state(tournament, after, answers).await?;
            }
            tracing::info!(tournament, ?after, "tournament changed");
        } else if !answers.is_empty() {
            self.persist(answers).await?;
        }
        self.tournament(tournament)
    }

    /// Stores a new state, then applies it. Returns the consequence of a resume.
    pub(super) async fn set_state(
        &mut self,
        id: &str,
        state: TournamentState,
        mut changes: Vec<Stored>,
    ) -> Result<AfterGame, Error> {
        let (document, change) = self.entry(id)?.stored_as(state);
        changes.push(change);
        self.persist(changes).await?;
        let entry = self.entry_mut(id)?;
        let held = document.pause.is_some();
        entry.document = document;
        let number = entry.number;
        let mut came = AfterGame::Nothing;
        if let Some(number) = number {
            let ended = match state {
                TournamentState::Paused if held => self.ledger.hold(number),
                TournamentState::Paused => self.ledger.pause(number),
                TournamentState::Cancelled => self.ledger.cancel(number),
                TournamentState::Running => {
                    came = self.ledger.resume(number);
                    self.unpark = true;
                    Vec::new()
                }
                TournamentState::Finished | TournamentState::Unspecified => Vec::new(),
            };
            self.send_ended(&ended);
        }
        let entry = self.entry(id)?;
        if state != TournamentState::Running {
            self.books.forget(&entry.info);
        }
        entry.touch();
        Ok(came)
    }

    /// Notifies workers of leases that ended.
    pub(super) fn send_ended(&self, ended: &[Ended]) {
        for Ended { worker, lease } in ended {
            if let Some(worker) = self.workers.get(worker) {
                worker.notify(v1::join_response::Notice::LeasesEnded(v1::LeasesEnded {
                    lease_ids: vec![*lease],
                }));
            }
        }
    }
}
