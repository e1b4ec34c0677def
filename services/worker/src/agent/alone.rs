//! Asks one question while no other is open. The agent is charged for a fault in its answer.

use std::{
    future::Future,
    mem,
    pin::pin,
    time::{Duration, Instant},
};

use arena_engine::FaultKind;
use arena_telemetry::MoveTiming;
use tokio::{sync::OwnedSemaphorePermit, time};
use tonic::{Code, Status};

use super::{
    Chosen, DecisionResult, Event, FaultReport, client::AgentTask, codec, connection::Down,
    question::Batch,
};
use crate::{
    clock::whole_micros,
    clock::{RunQueue, Spent, TICKS},
};

/// Under a clock, the call itself ends this much later than the agent's time: the agent may have
/// waited for a core.
const LATER: Duration = Duration::from_secs(2);

impl AgentTask {
    /// Asks one question while no other is open. Earlier questions can have broken an old
    /// connection, so a broken connection is charged only if it was new.
    pub(super) async fn ask_alone(&mut self, batch: Batch, cores: Vec<OwnedSemaphorePermit>) {
        let control = self.setup.time_control;
        let allowance = { batch.allowance() }.unwrap_or_else(|| control.allowance(None, 0));
        let budget = whole_micros(allowance.budget);
        let Some(asked) = batch.into_single(budget).next() else {
            return;
        };
        let mut timing = None;
        let mut cores = Some(cores);
        let verdict = loop {
            let Some(connection) = &mut self.connection else {
                // A new process may have other cores.
                drop(cores.take());
                match self.ensure_connected().await {
                    Ok(()) => continue,
                    Err(down) if self.client.replicas.has_other(self.replica) => {
                        self.rest(&down);
                        return self.send_event(Event::Unanswered(vec![asked.token]));
                    }
                    Err(Down::Agent(fault_report)) => {
                        let unready = (fault_report.clone(), Instant::now());
                        self.client.unready.replace(Some(unready));
                        break DecisionResult::Unready(fault_report);
                    }
                    Err(Down::Worker(reason)) => break DecisionResult::Void(reason),
                }
            };
            if cores.is_none() {
                cores = Some(connection.take_cores().await);
            }
            let fresh = mem::take(&mut connection.fresh);
            let (link, message) = (connection.link.clone(), asked.message.clone());
            let limit = allowance.limit();
            // Under a clock, the agent may have to wait for a core meanwhile.
            let core_count = connection.core_count(&self.environment);
            let run_queue =
                { control.is_timed() }.then(|| RunQueue::start(connection.processes(), core_count));
            let deadline = if control.is_timed() {
                limit + LATER
            } else {
                limit
            };
            let start = Instant::now();
            let call = link.choose_move(message, deadline);
            let (answer, spent) = within(limit, start, call, run_queue.as_ref()).await;
            let took = spent.took;
            // Only the last attempt is thinking time; time lost with broken connections is waiting.
            let measured = timing.insert(MoveTiming {
                waiting: start.saturating_duration_since(asked.wanted),
                round_trip: took,
                thinking: None,
            });
            // If this worker woke late because its timer was due, the answer came after that.
            let in_time = !control.is_timed() || spent.charged() < limit;
            let status = match answer {
                Some(Ok(answer)) if in_time => {
                    break match codec::read_move(answer) {
                        Ok(choice) => {
                            let info = choice.info.unwrap_or_default();
                            measured.thinking = info.thinking_us.map(Duration::from_micros);
                            DecisionResult::Move(Chosen::new(choice.move_id, &info), spent)
                        }
                        Err(problem) => self.fault_report(FaultKind::Garbled, problem, spent),
                    };
                }
                None | Some(Ok(_)) => Status::deadline_exceeded("no answer in time"),
                Some(Err(status)) => status,
            };
            if spent.charged() >= limit
                || status.code() == Code::DeadlineExceeded && took * 2 >= limit
            {
                let message = control.late(allowance);
                let verdict = self.fault_report(FaultKind::Timeout, message, spent);
                self.disconnect().await;
                break verdict;
            }
            let Some(connection) = &self.connection else {
                continue;
            };
            let fault_report = connection.fault_report(&status).await;
            let broke = matches!(
                fault_report.kind,
                FaultKind::Disconnected | FaultKind::OutputLimit
            ) || connection.is_dead();
            if broke {
                let flooded = fault_report.kind == FaultKind::OutputLimit;
                self.disconnect().await;
                if fresh && flooded {
                    // This question explains why earlier processes ended.
                    self.floods = 0;
                }
                let is_charged = fresh || flooded && self.flooded_again();
                if !is_charged {
                    continue;
                }
            } else {
                // After an error, the process may be unable to answer any question.
                self.errors += 1;
                if !fresh && self.errors > 1 && self.errors.is_power_of_two() {
                    self.disconnect().await;
                    continue;
                }
            }
            break DecisionResult::Fault(fault_report, spent);
        };
        if let Some(timing) = timing {
            self.setup.meter.moves.timed(timing, 1);
        }
        if let DecisionResult::Move(..) = verdict {
            self.errors = 0;
            self.measure_load(1, timing.map_or(Duration::ZERO, |timing| timing.round_trip));
            if self.client.asks_alone.take() {
                self.set_room();
            }
        }
        self.send_event(Event::Answers(vec![(asked.token, verdict)]));
        self.flush_metrics(Duration::from_millis(100));
    }

    fn fault_report(&self, kind: FaultKind, message: String, spent: Spent) -> DecisionResult {
        let fault_report = match &self.connection {
            Some(connection) => connection.fault(kind, message),
            None => FaultReport::new(kind, message),
        };
        DecisionResult::Fault(fault_report, spent)
    }
}

/// Waits for an answer until it took longer than `limit`, without the time in which the agent or
/// this worker waited for a core.
async fn within<T>(
    limit: Duration,
    start: Instant,
    answer: impl Future<Output = T>,
    run_queue: Option<&RunQueue>,
) -> (Option<T>, Spent) {
    let mut answer = pin!(answer);
    let mut queued = Duration::ZERO;
    let mut until = start + limit;
    let mut ready = None;
    loop {
        let answer = time::timeout_at(until.into(), &mut answer).await.ok();
        let before = queued;
        queued = run_queue.map_or(Duration::ZERO, RunQueue::waited);
        let waits = match (run_queue, ready.take()) {
            _ if queued > before => {
                until = start + limit + queued;
                true
            }
            (None, _) => false,
            // The agent may wait for a core now, which is counted when it gets one.
            (Some(run_queue), before) => {
                let is_first = before.is_none();
                let waits = before.is_some_and(|before| run_queue.still_waits(&before));
                ready = Some(run_queue.ready());
                until = Instant::now() + TICKS;
                is_first || waits
            }
        };
        if answer.is_some() || !waits {
            let took = start.elapsed();
            return (answer, Spent { took, queued });
        }
    }
}
