//! The line protocol of agents, `agents/PROTOCOL.md`: JSON on the standard input and output of a
//! process.
//!
//! The rest of the worker asks every agent with encoded gRPC messages. [`Lines`] translates them
//! to lines, and the answers back.

mod hello;
mod messages;
pub(crate) mod pipes;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use arena_wire::{batch::Questions, v1};
use prost::{Message, bytes::Bytes};
use tokio::sync::{mpsc, oneshot};
use tonic::Status;

use self::{
    hello::PROTOCOL,
    messages::{Answer, AskedDecision, Line, Request, Response},
};
use crate::lock;

/// A connection to a process that speaks lines.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Arc<Mutex<State>>);

/// Answers to the questions of a stream, as encoded `ChooseMovesResponse` messages.
pub(crate) type Answers = mpsc::UnboundedReceiver<Result<Bytes, Status>>;

#[derive(Debug)]
enum State {
    /// Which protocol the process speaks is not known.
    Starting(oneshot::Sender<Result<v1::DescribeResponse, String>>),
    /// It speaks gRPC: its standard output is part of its log.
    Silent,
    Speaking(Conversation),
    /// Nothing more can be asked, for this reason.
    Over(String),
}

/// What was said to a process, and not answered.
#[derive(Debug)]
struct Conversation {
    /// Lines that are to be written.
    input: mpsc::UnboundedSender<Vec<u8>>,
    /// The encoded contexts that the process knows, by number.
    contexts: Vec<(Bytes, String)>,
    open: BTreeMap<u64, Asked>,
    batches: u64,
    has_unknown_fields: bool,
}

/// A batch without all its answers.
#[derive(Debug)]
struct Asked {
    /// The slot of each unanswered decision, by its place in the batch.
    slots: Vec<Option<u32>>,
    left: usize,
    sink: Sink,
}

/// Where answers go.
#[derive(Debug)]
enum Sink {
    /// To a call of `ChooseMove`.
    Alone(oneshot::Sender<Result<Bytes, Status>>),
    /// To a stream, which knows the batch by this number.
    Stream(u64, mpsc::UnboundedSender<Result<Bytes, Status>>),
}

impl Lines {
    /// A process that has not said anything, and its `hello` once it does.
    fn starting() -> (
        Self,
        oneshot::Receiver<Result<v1::DescribeResponse, String>>,
    ) {
        let (hello, said) = oneshot::channel();
        let state = State::Starting(hello);
        (Self(Arc::new(Mutex::new(state))), said)
    }

    /// A process that speaks gRPC.
    fn silent() -> Self {
        Self(Arc::new(Mutex::new(State::Silent)))
    }

    /// From now on, lines can be asked; they go to `input`.
    fn speak(&self, input: mpsc::UnboundedSender<Vec<u8>>) {
        *lock(&self.0) = State::Speaking(Conversation {
            input,
            contexts: Vec::new(),
            open: BTreeMap::new(),
            batches: 0,
            has_unknown_fields: false,
        });
    }

    /// The process speaks gRPC.
    fn silence(&self) {
        *lock(&self.0) = State::Silent;
    }

    /// Adds fields and messages that no version has, for checks.
    pub(crate) fn add_unknown_fields(&self) {
        if let State::Speaking(conversation) = &mut *lock(&self.0) {
            conversation.has_unknown_fields = true;
        }
    }

    /// Fails all open questions, and all later ones.
    pub(crate) fn close(&self, reason: &str) {
        let state = &mut *lock(&self.0);
        if let State::Speaking(conversation) = state {
            conversation.fail_all(&unavailable(reason));
        }
        if !matches!(state, State::Over(_)) {
            *state = State::Over(reason.to_owned());
        }
    }

    /// Asks the question of an encoded `ChooseMoveRequest`, and returns the encoded response.
    pub(crate) async fn choose_move(&self, message: &[u8]) -> Result<Bytes, Status> {
        let (sink, answer) = oneshot::channel();
        self.ask(message, |_| Sink::Alone(sink))?;
        answer
            .await
            .unwrap_or_else(|_| Err(Status::internal("the question was lost")))
    }

    /// Asks the questions of an encoded `ChooseMovesRequest`. The answers arrive at `answers`.
    pub(crate) fn choose_moves(
        &self,
        message: &[u8],
        answers: &mpsc::UnboundedSender<Result<Bytes, Status>>,
    ) {
        let asked = self.ask(message, |batch| Sink::Stream(batch, answers.clone()));
        if let Err(status) = asked {
            let _ = answers.send(Err(status));
        }
    }

    /// `ChooseMoveRequest` has the same fields as `ChooseMovesRequest`, with one decision.
    fn ask(&self, message: &[u8], sink: impl FnOnce(u64) -> Sink) -> Result<(), Status> {
        let ours = |error: &dyn std::error::Error| Status::internal(error.to_string());
        let mut questions = Questions::default();
        questions.read(message).map_err(|error| ours(&error))?;
        let state = &mut *lock(&self.0);
        let conversation = match state {
            State::Speaking(conversation) => conversation,
            State::Over(reason) => return Err(unavailable(reason)),
            State::Starting(_) | State::Silent => {
                return Err(Status::internal("the agent does not speak lines"));
            }
        };
        let mut contexts = Vec::with_capacity(1);
        for range in questions.contexts() {
            let known = conversation.context(&message[range.clone()]);
            contexts.push(known.map_err(|error| ours(&error))?);
        }
        let mut slots = Vec::with_capacity(questions.decisions().len());
        let mut decisions = Vec::with_capacity(questions.decisions().len());
        for range in questions.decisions() {
            let decision = v1::Decision::decode(&message[range.clone()]);
            let decision = decision.map_err(|error| ours(&error))?;
            let context = contexts.get(decision.context as usize).copied();
            let context = context.ok_or_else(|| Status::internal("a decision has no context"))?;
            let ruleset = &conversation.contexts[context as usize].1;
            let place = slots.len();
            slots.push(Some(decision.slot));
            let asked = AskedDecision::new(place, context, ruleset, decision);
            decisions.push(asked.map_err(Status::internal)?);
        }
        conversation.batches += 1;
        let batch = conversation.batches;
        let request = Request::Ask {
            batch,
            time_budget_us: questions.time_budget_us,
            decisions,
        };
        let asked = Asked {
            left: slots.len(),
            slots,
            sink: sink(questions.batch),
        };
        conversation.open.insert(batch, asked);
        conversation.say(&request);
        Ok(())
    }

    /// Handles a line of the process. False if it belongs to the log.
    fn heard(&self, line: &[u8]) -> bool {
        let state = &mut *lock(&self.0);
        if matches!(state, State::Silent | State::Over(_)) {
            return false;
        }
        let said = Line::parse(line);
        match (&mut *state, said) {
            (_, Line::Log) => return false,
            (State::Starting(_), said) => {
                let hello = match said {
                    Line::Message(Response::Hello(hello)) => Ok(*hello),
                    Line::Garbled(_, problem) => Err(problem),
                    // Nothing was asked.
                    _ => return false,
                };
                if let State::Starting(sender) = std::mem::replace(state, State::Silent) {
                    let _ = sender.send(hello);
                }
            }
            (State::Speaking(conversation), said) => return conversation.heard(said),
            (State::Silent | State::Over(_), _) => return false,
        }
        true
    }

    /// A line was too long.
    fn heard_too_much(&self, limit: usize) {
        if let State::Speaking(conversation) = &mut *lock(&self.0) {
            conversation.fail_all(&garbled(&format!("a line exceeds {limit} bytes")));
        }
    }
}

impl Conversation {
    /// If the writing task is gone, the process has ended, or `close` follows.
    fn say(&self, request: &Request<'_>) {
        let line = match self.has_unknown_fields {
            true => request.to_line_with_unknown_fields(),
            false => request.to_line(),
        };
        let _ = self.input.send(line);
    }

    /// The number of an encoded context, which the process learns once.
    fn context(&mut self, bytes: &[u8]) -> Result<u32, prost::DecodeError> {
        if let Some(known) = self.contexts.iter().position(|(known, _)| known == bytes) {
            return Ok(known as u32);
        }
        let context = v1::GameContext::decode(bytes)?;
        let number = self.contexts.len() as u32;
        let request = Request::game(number, &context);
        self.say(&request);
        let bytes = Bytes::copy_from_slice(bytes);
        self.contexts.push((bytes, context.ruleset));
        Ok(number)
    }

    fn heard(&mut self, said: Line) -> bool {
        match said {
            Line::Log => return false,
            Line::Message(Response::Hello(_)) => {
                self.fail_all(&garbled("a second hello"));
            }
            // It was answered or has failed, and is not asked again under this number.
            Line::Message(
                Response::Answer(Answer { batch, .. }) | Response::Error { batch, .. },
            ) if self.is_over(batch) => {
                return false;
            }
            Line::Message(Response::Answer(answer)) => {
                let batch = answer.batch;
                if let Err(problem) = self.answered(answer) {
                    self.fail(Some(batch), &garbled(&problem));
                }
            }
            Line::Message(Response::Error { batch, message }) => {
                self.fail(Some(batch), &Status::unknown(message));
            }
            Line::Garbled(batch, problem) => self.fail(batch, &garbled(&problem)),
        }
        true
    }

    fn answered(&mut self, answer: Answer) -> Result<(), String> {
        let batch = answer.batch;
        let not_open = || format!("answer to batch {batch}, which is not open");
        let asked = self.open.get_mut(&batch).ok_or_else(not_open)?;
        let count = asked.slots.len();
        let all = 0..count as u32;
        let places: Vec<u32> = answer.slots.unwrap_or_else(|| all.collect());
        if places.len() != answer.moves.len() {
            let moves = answer.moves.len();
            return Err(format!("{moves} moves for {} slots", places.len()));
        }
        let mut info = answer.info.into_iter().map(v1::SearchInfo::from);
        let mut choices = Vec::with_capacity(count);
        for (place, &move_id) in places.into_iter().zip(&answer.moves) {
            let slot = asked.slots.get_mut(place as usize).and_then(Option::take);
            let Some(slot) = slot else {
                return Err(format!("answer to slot {place}, which is not open"));
            };
            asked.left -= 1;
            choices.push(v1::Choice {
                slot,
                move_id,
                info: info.next(),
            });
        }
        let is_complete = asked.left == 0;
        if let Sink::Stream(number, sink) = &asked.sink {
            let response = v1::ChooseMovesResponse {
                batch: *number,
                choices,
                thinking_us: answer.thinking_us,
                last: false,
            };
            let _ = sink.send(Ok(response.encode_to_vec().into()));
            if is_complete {
                self.open.remove(&batch);
            }
        } else if let Some(choice) = choices.pop()
            && let Some(asked) = self.open.remove(&batch)
        {
            let mut info = choice.info.unwrap_or_default();
            info.thinking_us = info.thinking_us.or(answer.thinking_us);
            let response = v1::ChooseMoveResponse {
                move_id: choice.move_id,
                info: Some(info),
            };
            asked.sink.finish(Ok(response.encode_to_vec().into()));
        }
        Ok(())
    }

    /// True if a batch was asked and is not open any more.
    fn is_over(&self, batch: u64) -> bool {
        (1..=self.batches).contains(&batch) && !self.open.contains_key(&batch)
    }

    /// Fails a batch, or all batches if it is not known which one.
    fn fail(&mut self, batch: Option<u64>, status: &Status) {
        match batch.and_then(|batch| self.open.remove(&batch)) {
            Some(asked) => asked.sink.finish(Err(status.clone())),
            None => self.fail_all(status),
        }
    }

    fn fail_all(&mut self, status: &Status) {
        for asked in std::mem::take(&mut self.open).into_values() {
            asked.sink.finish(Err(status.clone()));
        }
    }
}

impl Sink {
    /// Passes on a last result, for which no caller may wait any more.
    fn finish(self, result: Result<Bytes, Status>) {
        match self {
            Self::Alone(sink) => drop(sink.send(result)),
            Self::Stream(_, sink) => drop(sink.send(result)),
        }
    }
}

/// The first line to a process.
fn first_line() -> Vec<u8> {
    let hello = Request::Hello {
        protocol: PROTOCOL,
        arena: env!("CARGO_PKG_VERSION"),
    };
    hello.to_line()
}

/// As tonic reports an answer that cannot be decoded.
fn garbled(problem: &str) -> Status {
    Status::internal(format!("protocol error: {problem}"))
}

fn unavailable(reason: &str) -> Status {
    Status::unavailable(reason)
}
