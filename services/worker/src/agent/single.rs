//! Concurrent single questions, for an agent without batches.

use std::{
    collections::VecDeque,
    mem,
    time::{Duration, Instant},
};

use arena_telemetry::MoveTiming;
use prost::bytes::Bytes;
use tokio::{
    task::{JoinError, JoinSet},
    time,
};
use tonic::{Code, Status};

use super::{
    Chosen, Event, Token,
    client::AgentTask,
    codec,
    connection::may_be_dead,
    question::{BatchFailure, Single},
};
use crate::clock::whole_micros;

/// Maximum questions in flight. The worker enforces this limit itself, because a client can exceed
/// a server's limit before the server announces it.
const IN_FLIGHT: usize = 64;

type Answer = (Token, Result<Bytes, Status>);

/// A question in flight.
struct Open {
    token: Token,
    wanted: Instant,
    since: Instant,
    /// Timeout of the question. It assumes that the agent uses its whole time for each open question
    /// and answers this one last.
    limit: Duration,
}

/// Answers since the maximum number in flight was last set, or since no question was in flight.
struct Round {
    since: Instant,
    answers: u32,
    /// Sum of the numbers in flight.
    at_once: usize,
}

impl Round {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            answers: 0,
            at_once: 0,
        }
    }

    fn add(&mut self, at_once: usize) {
        self.answers += 1;
        self.at_once += at_once;
    }

    /// Once there are `answers`: the average number of questions in flight, and the average time in
    /// which this number of answers arrived. The time of a single question would be misleading,
    /// because other questions were in flight.
    fn take(&mut self, answers: usize) -> Option<(usize, Duration)> {
        if self.answers == 0 || (self.answers as usize) < answers {
            return None;
        }
        let round = mem::replace(self, Self::new());
        let at_once = round.at_once.div_ceil(round.answers as usize);
        let took = round.since.elapsed().mul_f64(at_once as f64);
        Some((at_once, took / round.answers))
    }
}

impl AgentTask {
    /// Does the same as [`AgentTask::ask_batches`], with one question per call.
    pub(super) async fn ask_single(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        connection.fresh = false;
        let link = connection.link.clone();
        let batches_again = self.batches_again.filter(|_| !connection.single);
        let budget = whole_micros(self.setup.time_control.longest_move());
        let call_limit = self.batch_timeout(IN_FLIGHT);
        let mut waiting: VecDeque<Single> = VecDeque::new();
        let mut calls: JoinSet<Answer> = JoinSet::new();
        let mut open: Vec<Open> = Vec::with_capacity(IN_FLIGHT);
        let mut moves = Vec::with_capacity(IN_FLIGHT);
        let mut refused = Vec::new();
        let mut arrived = Vec::with_capacity(IN_FLIGHT);
        let mut progress = Instant::now();
        let mut round = Round::new();
        let why = loop {
            let before = open.len();
            let at_once = self.client.window.borrow().size().min(IN_FLIGHT);
            while calls.len() < at_once {
                let Some(single) = waiting.pop_front() else {
                    if batches_again.is_some_and(|again| again <= Instant::now()) {
                        break;
                    }
                    let mut inbox = self.client.inbox.borrow_mut();
                    if inbox.has_alone() {
                        break;
                    }
                    let Some(batch) = inbox.take_batch(1) else {
                        break;
                    };
                    drop(inbox);
                    self.count_batch(1);
                    waiting.extend(batch.into_single(budget));
                    continue;
                };
                if calls.is_empty() {
                    progress = Instant::now();
                }
                open.push(Open {
                    token: single.token,
                    wanted: single.wanted,
                    since: Instant::now(),
                    limit: call_limit,
                });
                let call = link.clone().choose_move(single.message, call_limit);
                calls.spawn_local(async move { (single.token, call.await) });
            }
            if calls.is_empty() {
                if let Some((at_once, took)) = round.take(1) {
                    self.answered(at_once, took);
                }
                self.flush_metrics(Duration::ZERO);
                return;
            }
            let limit = self.batch_timeout(calls.len());
            for asked in &mut open[before..] {
                asked.limit = limit;
            }
            // The agent may work on the open questions one after another.
            let all = open.iter().map(|it| (it.since + it.limit, it.limit));
            let (due, limit) = all.fold((progress + limit, limit), Ord::min);
            let first = tokio::select! {
                answer = calls.join_next() => answer,
                () = self.client.woken(self.replica) => continue,
                () = time::sleep_until(due.into()) => break BatchFailure::Late(limit),
            };
            progress = Instant::now();
            let mut next = first;
            while let Some(answer) = next {
                round.add(calls.len() + 1);
                arrived.push(answer);
                next = calls.try_join_next();
            }
            let taken = self.take_singles(&mut arrived, &mut open, &mut moves, &mut refused);
            if !moves.is_empty() {
                self.send_event(Event::Moves(mem::take(&mut moves)));
            }
            if !refused.is_empty() {
                self.send_event(Event::Unanswered(mem::take(&mut refused)));
            }
            if let Err(status) = taken {
                break BatchFailure::Failed(status);
            }
            if let Some((at_once, took)) = round.take(at_once) {
                self.answered(at_once, took);
            }
            self.flush_metrics(Duration::from_millis(100));
        };
        calls.abort_all();
        let unanswered = open.into_iter().map(|it| it.token);
        let unasked = waiting.into_iter().map(|single| single.token);
        self.ask_again(unanswered.chain(unasked).collect(), why)
            .await;
    }

    /// Handles answers that arrived together. The agent worked on these since the previous answers,
    /// or since the questions were sent. `refused` receives the games whose question was answered
    /// with an error.
    fn take_singles(
        &mut self,
        arrived: &mut Vec<Result<Answer, JoinError>>,
        open: &mut Vec<Open>,
        moves: &mut Vec<(Token, Chosen)>,
        refused: &mut Vec<Token>,
    ) -> Result<(), Status> {
        let now = Instant::now();
        let before = mem::replace(&mut self.last_answer, now);
        let together = u32::try_from(arrived.len().max(1)).unwrap_or(u32::MAX);
        for answer in arrived.drain(..) {
            let (token, answer) = answer.map_err(|error| Status::internal(error.to_string()))?;
            let answer = match answer {
                Err(status) if is_question_error(&status) => {
                    open.retain(|it| it.token != token);
                    refused.push(token);
                    continue;
                }
                answer => answer?,
            };
            let choice = codec::read_move(answer).map_err(Status::data_loss)?;
            if let Some(place) = open.iter().position(|it| it.token == token) {
                let asked = open.swap_remove(place);
                let own = { choice.info.as_ref() }.and_then(|info| info.thinking_us);
                let own = own.map(Duration::from_micros);
                let own = own.map(|own| own.min(now - asked.since));
                let busy = (now - asked.since.max(before)) / together;
                let round_trip = busy.max(own.unwrap_or_default());
                let total = now.saturating_duration_since(asked.wanted);
                let timing = MoveTiming {
                    waiting: total.saturating_sub(round_trip),
                    round_trip,
                    thinking: own,
                };
                self.setup.meter.moves.timed(timing, 1);
            }
            let info = choice.info.unwrap_or_default();
            moves.push((token, Chosen::new(choice.move_id, &info)));
        }
        Ok(())
    }
}

/// True if a call failed because of its question: the connection works, and the call did not time
/// out.
fn is_question_error(status: &Status) -> bool {
    !may_be_dead(status) && status.code() != Code::DeadlineExceeded
}
