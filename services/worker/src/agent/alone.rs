//! Asks one question while no other is open. The agent is charged for a fault in its answer.

use std::{
    mem,
    time::{Duration, Instant},
};

use arena_engine::FaultKind;
use arena_telemetry::MoveTiming;
use tokio::time;
use tonic::{Code, Status};

use super::{
    DecisionResult, Event, FaultReport, client::AgentTask, codec, connection::Down, question::Batch,
};
use crate::record::whole_micros;

impl AgentTask {
    /// Asks one question while no other is open. Earlier questions can have broken an old
    /// connection, so a broken connection is charged only if it was new.
    pub(super) async fn ask_alone(&mut self, batch: Batch) {
        let budget = whole_micros(self.setup.move_timeout);
        let Some(asked) = batch.into_single(budget).next() else {
            return;
        };
        let mut timing = None;
        let verdict = loop {
            let Some(connection) = &mut self.connection else {
                match self.ensure_connected().await {
                    Ok(()) => continue,
                    Err(Down::Agent(fault_report)) => {
                        self.unready = Some((fault_report.clone(), Instant::now()));
                        break DecisionResult::Unready(fault_report);
                    }
                    Err(Down::Worker(reason)) => break DecisionResult::Void(reason),
                }
            };
            let fresh = mem::take(&mut connection.fresh);
            let (grpc, message) = (connection.grpc.clone(), asked.message.clone());
            let limit = self.setup.move_timeout;
            let start = Instant::now();
            let answer = time::timeout(limit, codec::choose_move(grpc, message, limit)).await;
            let took = start.elapsed();
            // Only the last attempt is thinking time; time lost with broken connections is waiting.
            let measured = timing.insert(MoveTiming {
                waiting: start.saturating_duration_since(asked.wanted),
                round_trip: took,
                thinking: None,
            });
            let status = match answer {
                Ok(Ok(answer)) => {
                    break match codec::read_move(answer.into_inner()) {
                        Ok(choice) => {
                            let agent = choice.info.and_then(|info| info.thinking_us);
                            measured.thinking = agent.map(Duration::from_micros);
                            DecisionResult::Move(choice.move_id, took)
                        }
                        Err(problem) => self.fault_report(FaultKind::Garbled, problem, took),
                    };
                }
                Err(_) => Status::deadline_exceeded("no answer in time"),
                Ok(Err(status)) => status,
            };
            if took >= limit || status.code() == Code::DeadlineExceeded && took * 2 >= limit {
                let message = format!("no answer within {limit:?}");
                let verdict = self.fault_report(FaultKind::Timeout, message, took);
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
            break DecisionResult::Fault(fault_report, took);
        };
        if let Some(timing) = timing {
            self.setup.meter.moves.timed(timing, 1);
        }
        if let DecisionResult::Move(..) = verdict {
            self.errors = 0;
            if mem::take(&mut self.asks_alone) {
                self.set_room();
            }
        }
        self.send_event(Event::Answers(vec![(asked.token, verdict)]));
        self.flush_metrics(Duration::from_millis(100));
    }

    fn fault_report(&self, kind: FaultKind, message: String, took: Duration) -> DecisionResult {
        let fault_report = match &self.connection {
            Some(connection) => connection.fault(kind, message),
            None => FaultReport::new(kind, message),
        };
        DecisionResult::Fault(fault_report, took)
    }
}
