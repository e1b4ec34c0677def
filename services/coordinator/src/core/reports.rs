//! Results on their way: classified, made durable, then acknowledged.

use std::{collections::BTreeSet, sync::Arc};

use arena_model::{engine::Termination, result::GameResult};
use arena_store::{Change, Collection, StoreError};
use arena_telemetry::{Finished, Outcome, ReportOutcome, Seated};
use arena_wire::v1;
use prost::Message;

use super::Core;
use crate::{
    error::Error,
    handle::{Reply, Report, Signal},
    ledger::{TournamentNo, Verdict, WorkerId},
    results::Info,
};

/// The most differences stored of a tournament.
const DIFFERENCES_MAX: u64 = 1000;

/// A report that waits for the disk.
pub(super) struct Waiting {
    /// Own batch, and games of other reports that are on the way.
    open: usize,
    compare: Vec<u64>,
    reply: Reply<Vec<u64>>,
}

/// Games on their way to the disk.
pub(super) struct Batch {
    number: TournamentNo,
    info: Arc<Info>,
    by: WorkerId,
    pub(super) games: Vec<(GameResult, v1::GameReport)>,
}

impl Core {
    pub(super) fn report(&mut self, report: Report, reply: Reply<Vec<u64>>) {
        self.last_report = self.now();
        match self.take_report(report) {
            Ok((_, 0, compare)) => {
                let _ = reply.send(Ok(compare));
            }
            Ok((id, open, compare)) => {
                let waiting = Waiting {
                    open,
                    compare,
                    reply,
                };
                self.waiting.insert(id, waiting);
            }
            Err(error) => {
                if let Error::Store(cause) = &error {
                    self.store_failed(cause);
                }
                let _ = reply.send(Err(error));
            }
        }
    }

    /// Hands what is new to the store. Tells the report's number, for how much
    /// it has to wait, and which games had a record before.
    fn take_report(&mut self, report: Report) -> Result<(u64, usize, Vec<u64>), Error> {
        let entry = self.entry(&report.info.id)?;
        let Some(number) = entry.number else {
            // It was over before this start: all is durable, or not wanted.
            let finished = entry.document.state() == v1::TournamentState::Finished;
            let indices = report.games.iter().map(|game| game.result.index);
            let compare = indices.filter(|_| finished).collect();
            return Ok((0, 0, compare));
        };
        let mut fresh = BTreeSet::new();
        let mut pending = BTreeSet::new();
        let mut compare = Vec::new();
        for game in &report.games {
            let index = game.result.index;
            match self.ledger.verdict(number, index) {
                Verdict::New if fresh.insert(index) => {}
                Verdict::New | Verdict::Done => compare.push(index),
                Verdict::Pending(_) => {
                    pending.insert(index);
                    compare.push(index);
                }
                Verdict::Unwanted | Verdict::Outside => {}
            }
        }
        self.reports_ever += 1;
        let id = self.reports_ever;
        let mut open = pending.len();
        let mut batch = Batch {
            number,
            info: Arc::clone(&report.info),
            by: 0,
            games: Vec::with_capacity(fresh.len()),
        };
        let mut to_store = Vec::with_capacity(fresh.len());
        let mut settled = Vec::with_capacity(report.games.len());
        for game in report.games {
            settled.push((game.result.index, game.stored.hash));
            if fresh.remove(&game.result.index) {
                to_store.push(game.stored);
                batch.games.push((game.result, game.side));
            }
        }
        if !to_store.is_empty() {
            let signals = self.signals.clone();
            // Nothing is changed here before the store has taken the games.
            self.store.append(
                to_store,
                Box::new(move |result| {
                    // Without a receiver nobody waits any more.
                    let _ = signals.send(Signal::Written(id, result));
                }),
            )?;
            open += 1;
        }
        let now = self.now();
        let worker = self.find_worker(&report.worker, report.boot_epoch);
        let lease = match worker {
            Some(_) => report.lease,
            None => 0,
        };
        batch.by = worker.unwrap_or(0);
        for &(index, hash) in &settled {
            self.ledger.report(now, number, lease, index, hash);
        }
        for (index, reason) in &report.failed {
            if let Some(attempts) = self.ledger.failed(now, number, lease, *index) {
                tracing::warn!(
                    game = %format_args!("{}/{index}", report.info.id),
                    attempts, reason, "a game could not be played"
                );
            }
        }
        if let Some(present) = worker.and_then(|worker| self.workers.get_mut(&worker)) {
            present.games_reported += settled.len() as u64;
        }
        for index in pending {
            self.awaited.entry((number, index)).or_default().push(id);
        }
        self.metrics
            .reported(ReportOutcome::New, batch.games.len() as u64);
        if !batch.games.is_empty() {
            self.batches.insert(id, batch);
        }
        Ok((id, open, compare))
    }

    /// A batch is durable, or never will be.
    pub(super) async fn written(&mut self, id: u64, result: Result<(), StoreError>) {
        let Some(batch) = self.batches.remove(&id) else {
            return;
        };
        if let Err(error) = result {
            self.store_failed(&error);
            // Whatever the error is, these games can be claimed no more.
            self.failed.get_or_insert_with(|| error.clone());
            for (_, waiting) in self.waiting.drain() {
                let _ = waiting.reply.send(Err(Error::Store(error.clone())));
            }
            return;
        }
        let mut finished = false;
        let mut served = vec![id];
        let tournament = batch.info.id.to_string();
        for (result, side) in &batch.games {
            let index = result.index;
            finished |= self.ledger.durable(batch.number, index, batch.by);
            self.games_written += 1;
            count(&self.metrics, &batch.info, result);
            if let Some(entry) = self.tournaments.get_mut(&tournament)
                && let Some(results) = &mut entry.results
            {
                results.add(result, side, &batch.info);
            }
            served.extend(
                self.awaited
                    .remove(&(batch.number, index))
                    .unwrap_or_default(),
            );
        }
        if let Some(entry) = self.tournaments.get(&tournament) {
            entry.touch();
        }
        if finished && self.finish(&tournament).await.is_err() {
            tracing::error!(tournament, "the end of the tournament could not be stored");
        }
        for id in served {
            self.served(id);
        }
    }

    /// One of the things that a report waits for is durable.
    fn served(&mut self, id: u64) {
        let Some(waiting) = self.waiting.get_mut(&id) else {
            return;
        };
        waiting.open -= 1;
        if waiting.open == 0
            && let Some(waiting) = self.waiting.remove(&id)
        {
            let _ = waiting.reply.send(Ok(waiting.compare));
        }
    }

    /// Stores a difference and marks the agent it names.
    pub(super) async fn differs(&mut self, difference: v1::Difference) -> Result<(), Error> {
        let Some((id, index)) = difference.game_id.rsplit_once('/') else {
            return Ok(());
        };
        let key = format!("{id}/{index:0>20}/{}", difference.other_hash);
        let Some(entry) = self.tournaments.get_mut(id) else {
            return Ok(());
        };
        if let Some(agent) = entry
            .info
            .agents
            .iter()
            .position(|name| *name == difference.agent)
        {
            entry.flagged.insert(agent);
        }
        entry.touch();
        if entry.differences >= DIFFERENCES_MAX {
            return Ok(());
        }
        entry.differences += 1;
        self.persist(vec![Change {
            collection: Collection::Differences,
            key,
            value: Some(difference.encode_to_vec()),
        }])
        .await
    }
}

/// Counts a durable game.
fn count(metrics: &arena_telemetry::CoordinatorMetrics, info: &Info, result: &GameResult) {
    let name = |agent: u16| {
        info.agents
            .get(usize::from(agent))
            .map_or("", String::as_str)
    };
    let best = result.placement.iter().filter(|&&rank| rank == 1).count();
    let outcome = |seat: usize| match result.placement.get(seat) {
        None => Outcome::Void,
        Some(1) if best == 1 => Outcome::Win,
        Some(1) => Outcome::Draw,
        Some(_) => Outcome::Loss,
    };
    let seats: Vec<Seated<'_>> = result
        .seats
        .iter()
        .enumerate()
        .map(|(seat, &agent)| Seated {
            agent: name(agent),
            outcome: outcome(seat),
        })
        .collect();
    let faults: Vec<(&str, &str)> = result
        .faults
        .iter()
        .filter_map(|fault| {
            let agent = result.seats.get(usize::from(fault.seat))?;
            Some((name(*agent), fault.kind.name()))
        })
        .collect();
    metrics.game_finished(&Finished {
        ruleset: &info.tournament.ruleset,
        termination: result.termination.name(),
        plies: result.plies,
        seats: &seats,
        faults: &faults,
    });
    if result.termination == Termination::Void {
        tracing::warn!(
            game = %format_args!("{}/{}", info.id, result.index),
            "a game is void: it could not be played"
        );
    }
}
