//! Tournaments that are not over: adding them to the ledger, deciding the next stage, finishing
//! and resuming them.

use std::sync::Arc;

use arena_wire::v1::TournamentState;

use super::{Core, bits::Documents};
use crate::{
    error::Error,
    ledger::{AfterGame, Bitmap, LeaseId, State, WorkerProcess},
    results::Results,
};

/// Leases are numbered from 1.
const NO_LEASE: LeaseId = 0;

impl Core {
    /// Adds a running or paused tournament to the ledger, a new one or one of an earlier start
    /// with its audits so far.
    pub(super) async fn account(
        &mut self,
        id: &str,
        (done, results): (Bitmap, Results),
        goes_on: bool,
        audits: &Documents,
    ) -> Result<(), Error> {
        let entry = self.entry(id)?;
        let state = match entry.document.state() {
            TournamentState::Paused if entry.document.pause.is_some() => State::Held,
            TournamentState::Paused => State::Paused,
            _ => State::Running,
        };
        let info = Arc::clone(&entry.info);
        let (continuation, timeouts) = (results.continuation(), info.progress_timeouts());
        let number = self.ledger.add(done, state, continuation, timeouts);
        if goes_on {
            self.ledger.goes_on(number);
        }
        self.numbers.insert(number, id.to_owned());
        let labels = info.labels.iter().map(String::as_str);
        self.metrics.prepare(&info.tournament.ruleset, labels);
        let rates = results.host_faults();
        let entry = self.entry_mut(id)?;
        entry.number = Some(number);
        entry.results = Some(results);
        self.restore_audits(id, audits, &rates).await?;
        self.unpark = true;
        // Its last game may have become durable just before a crash.
        let progress = self.ledger.progress(number);
        let finished = progress.is_some_and(|progress| progress.state == State::Finished);
        if finished && !self.hold_unplayed(id).await? {
            self.finish(id).await?;
        }
        Ok(())
    }

    /// Continues a tournament after games became durable and were summed.
    pub(super) async fn came(&mut self, id: &str, came: AfterGame) -> Result<(), Error> {
        if self.hold_unplayed(id).await? {
            return Ok(());
        }
        let finished = match came {
            AfterGame::Nothing => false,
            AfterGame::Due => self.extend(id)?,
            AfterGame::Finished => true,
        };
        if finished {
            self.finish(id).await?;
        }
        Ok(())
    }

    /// Asks the format for the next stage if all known games are durable. Returns true if the
    /// tournament finished.
    fn extend(&mut self, id: &str) -> Result<bool, Error> {
        let now = self.now();
        let entry = self.entry_mut(id)?;
        let (Some(number), Some(results)) = (entry.number, &mut entry.results) else {
            return Ok(false);
        };
        let durable = results.go_on(&entry.info)?;
        let schedule = results.stages.schedule();
        let (games, continuation) = (schedule.games(), results.continuation());
        entry.info.follow(schedule);
        tracing::debug!(
            tournament = id,
            games,
            ?continuation,
            "the schedule has grown"
        );
        self.unpark = true;
        let mut finished = self.ledger.extend(number, games, continuation);
        for (index, hash) in durable {
            self.ledger.report(now, number, NO_LEASE, index, hash);
            let came = self.ledger.durable(number, index, WorkerProcess::Unknown);
            finished |= came == AfterGame::Finished;
        }
        Ok(finished)
    }

    /// Resumes a finished tournament whose store has lost games.
    pub(super) async fn reopen(&mut self, id: &str) -> Result<(), Error> {
        let there = self.store.count(&self.entry(id)?.info.key);
        let document = &mut self.entry_mut(id)?.document;
        tracing::warn!(
            tournament = id,
            lost = document.games_total.saturating_sub(there),
            "games of a finished tournament are missing from the store; replaying them"
        );
        document.finished_unix_us = 0;
        document.verdict_json.clear();
        let state = TournamentState::Running;
        self.set_state(id, state, Vec::new()).await.map(drop)
    }

    /// Marks a tournament as finished; all its games are durable.
    pub(super) async fn finish(&mut self, id: &str) -> Result<(), Error> {
        self.kept().await;
        let entry = self.entry_mut(id)?;
        entry.document.games_total = entry.info.games();
        let verdict = entry.results.as_ref().and_then(|it| it.stages.verdict());
        if let Some(verdict) = verdict {
            entry.document.verdict_json = verdict.to_json();
        }
        let mut changes = self.contradict_uneven(id);
        changes.extend(self.last_checkpoint(id));
        self.set_state(id, TournamentState::Finished, changes)
            .await?;
        tracing::info!(tournament = id, "tournament finished");
        Ok(())
    }
}
