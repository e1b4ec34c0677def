//! Reports: their games are classified, made durable, and acknowledged.

use std::{collections::BTreeMap, sync::Arc};

use arena_model::{engine::Termination, result::GameResult};
use arena_store::{Positions, StoreError};
use arena_telemetry::{Outcome, ReportOutcome};
use arena_wire::v1;

use super::Core;
use crate::{
    divergence::host_faults,
    error::Error,
    info::Info,
    ledger::{self, Owner, ReportId, WorkerProcess},
    messages::{FailedGame, GamesReport, Reply, ReportedGame},
};

/// Games that are being written.
pub(super) struct Batch {
    info: Arc<Info>,
    pub(super) games: Vec<(GameResult, v1::GameReport)>,
}

impl Core {
    pub(crate) fn report(&mut self, report: GamesReport, reply: Reply<Vec<u64>>) {
        self.last_report = self.now();
        match self.take_report(report) {
            Ok((_, Some(compare))) => {
                let _ = reply.send(Ok(compare));
            }
            Ok((id, None)) => {
                self.replies.insert(id, reply);
            }
            Err(error) => {
                if let Error::Store(cause) = &error {
                    self.store_failed(cause);
                }
                let _ = reply.send(Err(error));
            }
        }
    }

    /// Passes new games to the store. Returns the number of the report and, if nothing has to be
    /// written, the games that had a record before.
    fn take_report(&mut self, report: GamesReport) -> Result<(ReportId, Option<Vec<u64>>), Error> {
        if self.ledger.is_quarantined(report.process) {
            return Err(Error::Quarantined);
        }
        let entry = self.entry(&report.info.id)?;
        let Some(tournament) = entry.number else {
            // The tournament was over before this start: all its games are durable or unwanted.
            let finished = entry.document.state() == v1::TournamentState::Finished;
            let indices = report.games.iter().map(|game| game.result.index);
            return Ok((0, Some(indices.filter(|_| finished).collect())));
        };
        let by = self.find_worker(&report.by);
        let lease = self.ledger.own(by, report.lease);
        if report.info.key != entry.info.key {
            return Err(Error::State(format!(
                "the games of tournament {} are being replayed: this report is of their earlier \
                 generation",
                report.info.id
            )));
        }
        // A ticket is valid after its lease, but not for games that another owner holds by then.
        let mut indices = report.games.iter().map(|game| game.result.index);
        let owner = &report.owner;
        if indices.any(|index| {
            self.ledger
                .is_held_by_other(tournament, index, lease, owner)
        }) {
            return Err(Error::NotLeased {
                tournament: report.info.id.to_string(),
            });
        }
        let hash = |game: &ReportedGame| (game.result.index, game.stored.hash);
        let games: Vec<(u64, [u8; 32])> = report.games.iter().map(hash).collect();
        let is_void = |game: &&ReportedGame| game.result.termination == Termination::Void;
        let voids = report.games.iter().filter(is_void);
        let voids: Vec<u64> = voids.map(|game| game.result.index).collect();
        let failed = report.failed.iter().map(|failed| ledger::Failed {
            index: failed.index,
            unready: failed.unready.as_ref().map(|unready| unready.agent as u16),
        });
        let failed: Vec<ledger::Failed> = failed.collect();
        let mut agents = who_played(&report.games);
        let is_played = |game: &ReportedGame| game.result.termination != Termination::Void;
        if report.info.package().is_some() && report.games.iter().any(is_played) {
            agents.push(report.info.rules_number());
        }
        let accounted = ledger::ReportedGames {
            tournament,
            by,
            process: report.process,
            lease: report.lease,
            games: &games,
            voids: &voids,
            failed: &failed,
            agents: &agents,
        };
        let own = report.games.iter();
        let own = own.filter(|game| self.ledger.is_in_lease(lease, game.result.index));
        let decisions: u64 = own.map(|game| game.decisions).sum();
        let sorted = self.reports.sort(&self.ledger, &accounted);
        let id = sorted.id;
        let mut batch = Batch {
            info: Arc::clone(&report.info),
            games: Vec::with_capacity(sorted.fresh.len()),
        };
        let mut to_store = Vec::with_capacity(sorted.fresh.len());
        let mut fresh = sorted.fresh.iter().copied().peekable();
        for (place, game) in report.games.into_iter().enumerate() {
            if fresh.next_if_eq(&place).is_some() {
                to_store.push(game.stored);
                batch.games.push((game.result, game.side));
            }
        }
        if !to_store.is_empty() {
            let (signals, positions) = (self.signals.clone(), self.positions.clone());
            // Nothing is changed here before the store has accepted the games.
            self.store.append(
                to_store,
                Box::new(move |result| {
                    let position = positions.as_ref().map(Positions::now);
                    // Without a receiver, no caller waits any more.
                    let _ = signals.send(Box::new(move |core| {
                        core.passed(position);
                        Box::pin(core.written(id, result))
                    }));
                }),
            )?;
        }
        let now = self.now();
        let taken = self.reports.take(&mut self.ledger, now, &accounted, sorted);
        if !report.failed.is_empty() {
            let owner = accounted.by.and_then(|by| self.ledger.owner(by));
            self.note_failed(
                &report.info,
                (&report.worker, report.process, owner),
                report.failed,
                &taken.failed,
            );
        }
        let worker = accounted
            .by
            .and_then(|worker| self.workers.get_mut(&worker));
        if let Some(present) = worker {
            present.games_reported += games.len() as u64;
            present.decisions.entry(tournament).or_default().reported += decisions;
        }
        self.metrics
            .reported(ReportOutcome::New, batch.games.len() as u64);
        let entry = self.tournaments.get_mut(&*batch.info.id);
        if let Some(entry) = entry.filter(|it| !batch.games.is_empty() && it.reported_by.len() < 2)
        {
            entry.reported_by.insert(report.owner);
        }
        if !batch.games.is_empty() {
            self.batches.insert(id, batch);
        }
        Ok((id, taken.answer))
    }

    /// Logs games that could not be played, and stores the details of agents that did not start.
    fn note_failed(
        &mut self,
        info: &Info,
        (worker, process, owner): (&str, WorkerProcess, Option<Owner>),
        failed: Vec<FailedGame>,
        taken: &[(u64, u32)],
    ) {
        let attempts: BTreeMap<u64, u32> = taken.iter().copied().collect();
        // Each reason is logged once, with the number of its games.
        let mut reported: BTreeMap<String, (u64, u32, u64)> = BTreeMap::new();
        for failed in failed {
            let Some(&attempts) = attempts.get(&failed.index) else {
                continue;
            };
            let reason = failed.reason.clone();
            let (_, most, games) =
                reported
                    .entry(failed.reason)
                    .or_insert((failed.index, attempts, 0));
            *most = attempts.max(*most);
            *games += 1;
            if failed.rules_failed {
                if let Some(entry) = self.tournaments.get_mut(&*info.id.to_string()) {
                    entry.rules_failed_for.insert(owner.clone());
                }
                let broken = self.broken.entry(info.id.to_string());
                broken.or_insert_with(|| (reason.clone(), worker.to_owned()));
            }
            if let Some(unready) = failed.unready
                && let Some(entry) = self.tournaments.get_mut(&*info.id.to_string())
            {
                let agent = unready.agent as u16;
                if agent == info.rules_number() {
                    if entry.lacks_rules.insert(process) {
                        tracing::warn!(
                            tournament = %info.id,
                            worker,
                            error = unready.message,
                            "the rules do not start on one worker, which gets no games; others go on"
                        );
                    }
                    entry.rules_unready.add(unready, worker);
                } else {
                    entry.unready.entry(agent).or_default().add(unready, worker);
                }
                self.failing.insert(info.id.to_string());
            }
        }
        for (reason, (first, attempts, games)) in reported {
            tracing::warn!(
                game = %format_args!("{}/{first}", info.id),
                games,
                attempts,
                reason,
                worker,
                "games could not be played"
            );
        }
    }

    /// A batch is durable, or failed.
    pub(super) async fn written(&mut self, id: ReportId, result: Result<(), StoreError>) {
        if let Err(error) = result {
            self.store_failed(&error);
            // After any error, these games cannot be acknowledged any more.
            self.failed.get_or_insert_with(|| error.clone());
            for (_, reply) in self.replies.drain() {
                let _ = reply.send(Err(Error::Store(error.clone())));
            }
            return;
        }
        let (Some(batch), Some(written)) = (
            self.batches.remove(&id),
            self.reports.written(&mut self.ledger, id),
        ) else {
            return;
        };
        let tournament = batch.info.id.to_string();
        let mut claims = Vec::new();
        for (result, side) in &batch.games {
            self.games_written += 1;
            count(&self.metrics, &batch.info, result);
            let Some(entry) = self.tournaments.get_mut(&tournament) else {
                continue;
            };
            if let Some(results) = &mut entry.results {
                results.add(result, side, &batch.info);
            }
            let is_void = result.termination == Termination::Void;
            if let Some(number) = entry.number.filter(|_| !is_void) {
                let failed = host_faults(&result.faults, &result.seats);
                let (index, unplayed) = (result.index, !side.unplayed.is_empty());
                let changed =
                    self.ledger
                        .count_faults(number, index, &result.seats, &failed, unplayed);
                claims.extend(changed);
            }
        }
        self.store_claims(&tournament, claims);
        if let Some(entry) = self.tournaments.get(&tournament) {
            entry.touch();
        }
        if let Err(error) = self.came(&tournament, written.came).await {
            tracing::error!(tournament, %error, "cannot store the end of the tournament");
            // The next start continues with it.
            if let Error::Store(cause) = error {
                self.store_failed(&cause);
            }
        }
        for (id, compare) in written.acknowledged {
            if let Some(reply) = self.replies.remove(&id) {
                let _ = reply.send(Ok(compare));
            }
        }
        for (id, reply) in std::mem::take(&mut self.cancels) {
            let answer = self.tournament(&id);
            self.answer_change(id, answer, reply);
        }
    }

    /// Answers a change, after a cancelled tournament's games that are being written.
    pub(super) fn answer_change(
        &mut self,
        id: String,
        answer: Result<v1::Tournament, Error>,
        reply: Reply<v1::Tournament>,
    ) {
        let cancelled = answer
            .as_ref()
            .is_ok_and(|now| now.state() == v1::TournamentState::Cancelled);
        if cancelled && self.writes(&id) {
            self.cancels.push((id, reply));
        } else {
            let _ = reply.send(answer);
        }
    }

    pub(super) fn writes(&self, id: &str) -> bool {
        let number = self.tournaments.get(id).and_then(|entry| entry.number);
        number.is_some_and(|number| self.reports.writes(number))
    }
}

/// The agents that answered in one of these games, which shows that they started. The end of a
/// game shows nothing: an agent without a choice is not asked, and an agent can be charged with
/// a fault without being asked.
fn who_played(games: &[ReportedGame]) -> Vec<u16> {
    let mut agents = Vec::new();
    for game in games {
        let result = &game.result;
        let void = result.termination == Termination::Void;
        let answered = |seat: usize| !void && game.answered.contains(&(seat as u32));
        let seats = result.seats.iter().enumerate();
        let started = seats.filter(|(seat, _)| answered(*seat));
        agents.extend(started.map(|(_, &agent)| agent));
    }
    agents.sort_unstable();
    agents.dedup();
    agents
}

/// Counts a durable game.
fn count(metrics: &arena_telemetry::CoordinatorMetrics, info: &Info, result: &GameResult) {
    let name = |agent: u16| info.labels.get(usize::from(agent)).map_or("", |it| &**it);
    let best = result.placement.iter().filter(|&&rank| rank == 1).count();
    let outcome = |seat: usize| match result.placement.get(seat) {
        None => Outcome::Void,
        Some(1) if best == 1 => Outcome::Win,
        Some(1) => Outcome::Draw,
        Some(_) => Outcome::Loss,
    };
    let ruleset = &info.tournament.ruleset;
    metrics.game_finished(ruleset, result.termination.name(), result.plies);
    for (seat, &agent) in result.seats.iter().enumerate() {
        metrics.agent_finished(name(agent), ruleset, outcome(seat));
        for kind in result.faults_of(seat) {
            metrics.agent_failed(name(agent), kind.name());
        }
    }
    if result.termination == Termination::Void {
        tracing::warn!(
            game = %format_args!("{}/{}", info.id, result.index),
            "a game is void: it could not be played"
        );
    }
}

#[cfg(test)]
mod tests {
    use arena_model::engine::{FaultKind, SeatFault};
    use arena_store::StoredGame;

    use super::*;

    /// A game of agents 4 and 7. The first agent makes the fault, if there is one.
    fn game(termination: Termination, answered: &[u32], fault: Option<FaultKind>) -> ReportedGame {
        let fault = fault.map(|kind| SeatFault {
            seat: 0,
            kind,
            ply: 0,
        });
        ReportedGame {
            result: GameResult {
                index: 0,
                block: 0,
                seats: vec![4, 7],
                placement: vec![2, 1],
                scores: Vec::new(),
                luck: Vec::new(),
                plies: 1,
                termination,
                faults: fault.into_iter().collect(),
                course: 0,
                beginning: arena_model::Beginning::default(),
            },
            stored: StoredGame {
                tournament: "cup".into(),
                index: 0,
                hash: [0; 32],
                record: Vec::new(),
                side: Vec::new(),
            },
            side: v1::GameReport::default(),
            answered: answered.to_vec(),
            decisions: 0,
        }
    }

    #[test]
    fn answering_agents_count_as_started() {
        use FaultKind::{Crash, Disconnected, NotReady};
        use Termination::{Forfeit, Normal, Void};
        let cases: [(_, &[u32], _, &[u16]); 10] = [
            (Normal, &[0, 1], None, &[4, 7]),
            // Every move of the other agent was forced.
            (Normal, &[0], None, &[4]),
            (Forfeit, &[], Some(NotReady), &[]),
            (Forfeit, &[1], Some(NotReady), &[7]),
            // An endpoint that cannot be reached is charged without being asked.
            (Forfeit, &[], Some(Disconnected), &[]),
            (Normal, &[1], Some(Disconnected), &[7]),
            (Forfeit, &[0, 1], Some(Crash), &[4, 7]),
            (Normal, &[0], Some(Crash), &[4]),
            (Void, &[], None, &[]),
            (Void, &[1], Some(NotReady), &[]),
        ];
        for (termination, answered, kind, expected) in cases {
            let who = who_played(&[game(termination, answered, kind)]);
            assert_eq!(who, expected, "{termination:?} {answered:?} {kind:?}");
        }
    }
}
