//! Asks one question while no other is open. The agent is charged for a fault in its answer.

use std::time::{Duration, Instant};

use arena_engine::FaultKind;
use arena_telemetry::MoveTiming;
use tokio::time;
use tonic::{Code, Request, Status};

use super::{
    DecisionResult, Event, FaultReport,
    client::AgentTask,
    codec,
    connection::Down,
    question::{Batch, Single},
};
use crate::record::whole_micros;

impl AgentTask {
    /// Asks one question while no other is open. Earlier questions can have broken an old
    /// connection, so a broken connection is charged only if it was new.
    pub(super) async fn ask_alone(&mut self, batch: Batch) {
        let budget = whole_micros(self.setup.move_timeout);
        let asked = batch.into_single(budget).next();
        let Some(Single {
            token,
            wanted,
            message,
        }) = asked
        else {
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
            let fresh = std::mem::replace(&mut connection.fresh, false);
            let mut grpc = connection.grpc.clone();
            let mut request = Request::new(message.clone());
            request.set_timeout(self.setup.move_timeout);
            let start = Instant::now();
            let answer = time::timeout(self.setup.move_timeout, async {
                grpc.ready()
                    .await
                    .map_err(|error| Status::from_error(error.into()))?;
                grpc.unary(request, codec::CHOOSE_MOVE, codec::Raw).await
            })
            .await;
            let took = start.elapsed();
            // Only the last attempt is thinking time; time lost with broken connections is waiting.
            let measured = timing.insert(MoveTiming {
                waiting: start.saturating_duration_since(wanted),
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
            if took >= self.setup.move_timeout
                || status.code() == Code::DeadlineExceeded && took * 2 >= self.setup.move_timeout
            {
                let verdict = self.fault_report(
                    FaultKind::Timeout,
                    format!("no answer within {:?}", self.setup.move_timeout),
                    took,
                );
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
        if self.asks_alone && matches!(verdict, DecisionResult::Move(..)) {
            self.asks_alone = false;
            self.set_room();
        }
        if let DecisionResult::Move(..) = verdict {
            self.errors = 0;
        }
        self.send_event(Event::Answers(vec![(token, verdict)]));
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
