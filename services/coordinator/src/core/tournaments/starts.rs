//! Starts of tournaments: new ones, and those that continue.

use std::sync::Arc;

use arena_model::spec::Records;
use arena_store::{Change as Stored, StoreError, VALUE_BYTES_MAX};
use arena_wire::{
    limits,
    v1::{self, Role, TournamentState},
};

use super::weight;
use crate::{
    blocking::with_store,
    core::{
        Core,
        bits::Documents,
        entry::{TournamentEntry, stored},
        sealed::SEALED,
        unix_us,
    },
    error::Error,
    info::Info,
    ledger::Bitmap,
    plan::Plan,
    principal::Principal,
    results::Results,
};

/// Method of the stored answers to starts.
const START: &str = "StartTournament";

impl Core {
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

    /// The owner of a tournament, which may have been removed.
    fn owner_of(&self, id: &str) -> Option<&str> {
        let entry = self.tournaments.get(id);
        let owner = entry.map(|entry| &entry.document.owner);
        let owner = owner.or_else(|| Some(&self.removed.get(id)?.owner));
        owner.map(|owner| &**owner)
    }
}
