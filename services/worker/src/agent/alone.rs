//! One question, asked while no other is: what comes of it is charged.

use std::time::{Duration, Instant};

use arena_engine::FaultKind;
use arena_telemetry::MoveTiming;
use tokio::time;
use tonic::{Code, Request, Status};

use super::{
    Blame, Event, Verdict, codec,
    line::Attendant,
    link::Down,
    question::{Batch, Single},
};

impl Attendant {
    /// Asks one question while no other is asked. A connection that breaks may
    /// have been broken by what was asked before: only a fresh one counts.
    pub(super) async fn ask_alone(&mut self, batch: Batch) {
        let budget = self.move_timeout.as_micros().try_into().unwrap_or(u64::MAX);
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
            let Some(link) = &mut self.link else {
                match self.ensure_link().await {
                    Ok(()) => continue,
                    Err(Down::Agent(blame)) => {
                        self.unready = Some((blame.clone(), Instant::now()));
                        break Verdict::Unready(blame);
                    }
                    Err(Down::Ours(reason)) => break Verdict::Void(reason),
                }
            };
            let fresh = std::mem::replace(&mut link.fresh, false);
            let mut grpc = link.grpc.clone();
            let mut request = Request::new(message.clone());
            request.set_timeout(self.move_timeout);
            let start = Instant::now();
            let answer = time::timeout(self.move_timeout, async {
                grpc.ready()
                    .await
                    .map_err(|error| Status::from_error(error.into()))?;
                grpc.unary(request, codec::CHOOSE_MOVE, codec::Raw).await
            })
            .await;
            let took = start.elapsed();
            // The last time counts: what a connection cost that broke is waiting.
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
                            Verdict::Move(choice.move_id, took)
                        }
                        Err(problem) => self.blame(FaultKind::Garbled, problem, took),
                    };
                }
                Err(_) => Status::deadline_exceeded("no answer in time"),
                Ok(Err(status)) => status,
            };
            if took >= self.move_timeout
                || status.code() == Code::DeadlineExceeded && took * 2 >= self.move_timeout
            {
                let verdict = self.blame(
                    FaultKind::Timeout,
                    format!("no answer within {:?}", self.move_timeout),
                    took,
                );
                self.drop_link().await;
                break verdict;
            }
            let Some(link) = &self.link else { continue };
            let blame = link.blame(&status).await;
            let broke = matches!(blame.kind, FaultKind::Disconnected | FaultKind::OutputLimit)
                || link.is_dead();
            if broke {
                let flooded = blame.kind == FaultKind::OutputLimit;
                self.drop_link().await;
                if fresh && flooded {
                    // It explains the ends before, which need not be repeated.
                    self.floods = 0;
                }
                let stands = fresh || flooded && self.flooded_again();
                if !stands {
                    continue;
                }
            } else {
                // An error may have left it unable to answer anything.
                self.errors += 1;
                if !fresh && self.errors > 1 && self.errors.is_power_of_two() {
                    self.drop_link().await;
                    continue;
                }
            }
            break Verdict::Fault(blame, took);
        };
        if let Some(timing) = timing {
            self.meter.timed(timing, 1);
        }
        if self.distrusted && matches!(verdict, Verdict::Move(..)) {
            self.distrusted = false;
            self.set_room();
        }
        self.tell(Event::Alone(token, verdict));
        self.show(Duration::from_millis(100));
    }

    fn blame(&self, kind: FaultKind, message: String, took: Duration) -> Verdict {
        let blame = match &self.link {
            Some(link) => link.fault(kind, message),
            None => Blame {
                kind,
                message,
                tail: String::new(),
            },
        };
        Verdict::Fault(blame, took)
    }
}
