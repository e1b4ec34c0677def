//! Passes questions to players, for one thread.

use std::{
    any::Any,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_wire::{
    batch::{Questions, write_batch, write_choice, write_end},
    v1::{ChooseMoveResponse, Decision, GameContext},
};
use prost::{
    Message,
    bytes::{Bytes, BytesMut},
};
use tonic::Status;

use crate::agent::{Choice, Player, Process, Question};

/// Maximum number of players kept for later questions; with more contexts, all players are
/// created again.
const PLAYERS_MAX: usize = 1024;
/// Bytes of the answer to one decision without search statistics, and the overhead of every
/// message.
const ANSWER_BYTES: usize = 10;
const MORE_BYTES: usize = 32;

/// The reason why there is no choice.
#[derive(Clone, Debug)]
enum Failure {
    Refused(String),
    Panicked(String),
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(reason) => Self::invalid_argument(reason),
            Failure::Panicked(reason) => Self::internal(format!("the agent panicked: {reason}")),
        }
    }
}

/// A player, and its context.
struct Seated {
    context: GameContext,
    player: Box<dyn Player>,
}

/// The players of a process, created on the first request.
///
/// Questions and answers are encoded bytes, and the buffers for decoding are reused: a
/// single decision allocates nothing here.
pub(crate) struct Chooser<P> {
    process: Arc<P>,
    seated: Vec<Seated>,
    /// Index into `seated` by encoded context.
    known: HashMap<Vec<u8>, usize>,
    questions: Questions,
    /// The player for each context of the current message.
    places: Vec<Result<usize, Failure>>,
    decision: Decision,
    out: BytesMut,
}

/// The answers to a batch, and the status that ends the stream if some are missing.
pub(crate) type Answered = (Bytes, Option<Status>);

impl<P: Process> Chooser<P> {
    pub(crate) fn new(process: Arc<P>) -> Self {
        Self {
            process,
            seated: Vec::new(),
            known: HashMap::new(),
            questions: Questions::default(),
            places: Vec::new(),
            decision: Decision::default(),
            out: BytesMut::new(),
        }
    }

    /// Answers a `ChooseMoveRequest`; `None` if its player thinks long and `quick` is set.
    pub(crate) fn answer(&mut self, request: &[u8], quick: bool) -> Option<Result<Bytes, Status>> {
        self.prepare(request, quick, |this, started| {
            this.answer_one(request, started)
        })
    }

    /// Answers the valid questions of a `ChooseMovesRequest`; `None` as in
    /// [`Chooser::answer`].
    pub(crate) fn answer_batch(
        &mut self,
        request: &[u8],
        quick: bool,
    ) -> Option<Result<Answered, Status>> {
        self.prepare(request, quick, |this, started| {
            Ok(this.answer_all(request, started))
        })
    }

    /// Splits a message and finds its players.
    fn prepare<T>(
        &mut self,
        request: &[u8],
        quick: bool,
        answer: impl FnOnce(&mut Self, Instant) -> Result<T, Status>,
    ) -> Option<Result<T, Status>> {
        // Bounds the memory for players, between two messages.
        if self.seated.len() > PLAYERS_MAX {
            self.forget();
        }
        let started = Instant::now();
        let mut questions = std::mem::take(&mut self.questions);
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        let read = questions.read(request).map_err(unreadable);
        if read.is_ok() {
            let contexts = questions.contexts().iter();
            places.extend(contexts.map(|range| self.seat(&request[range.clone()])));
        }
        self.questions = questions;
        self.places = places;
        if let Err(status) = read {
            return Some(Err(status));
        }
        let mut seats = self.places.iter().flatten();
        if quick && seats.any(|&place| self.seated[place].player.thinks_long()) {
            return None;
        }
        Some(answer(self, started))
    }

    fn answer_one(&mut self, request: &[u8], started: Instant) -> Result<Bytes, Status> {
        let (Some(place), Some(range)) = (self.places.first(), self.questions.decisions().first())
        else {
            return Err(Status::invalid_argument(
                "a question needs a context and a decision",
            ));
        };
        let (place, range) = (place.clone()?, range.clone());
        read_decision(&mut self.decision, &request[range])?;
        let budget = share(self.questions.time_budget_us, 1);
        let choice = self.ask(place, budget)?;
        let mut info = choice.info.unwrap_or_default();
        info.thinking_us.get_or_insert(micros(started));
        let response = ChooseMoveResponse {
            move_id: choice.move_id,
            info: Some(info),
        };
        self.out.reserve(response.encoded_len());
        response.encode_raw(&mut self.out);
        Ok(self.out.split().freeze())
    }

    fn answer_all(&mut self, request: &[u8], started: Instant) -> Answered {
        let count = self.questions.decisions().len();
        let budget = share(self.questions.time_budget_us, count);
        let mut failed: Option<Status> = None;
        self.out.reserve(ANSWER_BYTES * count + MORE_BYTES);
        write_batch(&mut self.out, self.questions.batch);
        for index in 0..count {
            let range = self.questions.decisions()[index].clone();
            if let Err(status) = read_decision(&mut self.decision, &request[range]) {
                failed.get_or_insert(status);
                continue;
            }
            let context = self.decision.context as usize;
            let choice = match self.places.get(context) {
                Some(Ok(place)) => self.ask(*place, budget),
                Some(Err(failure)) => Err(failure.clone()),
                None => Err(Failure::Refused(format!(
                    "decision {} refers to context {context}, but there are {}",
                    self.decision.slot,
                    self.places.len(),
                ))),
            };
            match choice {
                Ok(Choice { move_id, info }) => {
                    write_choice(&mut self.out, self.decision.slot, move_id, info.as_ref());
                }
                Err(failure) => {
                    let ends = matches!(failure, Failure::Panicked(_));
                    failed.get_or_insert_with(|| failure.into());
                    if ends {
                        break;
                    }
                }
            }
        }
        write_end(&mut self.out, micros(started));
        (self.out.split().freeze(), failed)
    }

    /// The index of an encoded context's player.
    fn seat(&mut self, encoded: &[u8]) -> Result<usize, Failure> {
        if let Some(&index) = self.known.get(encoded) {
            return Ok(index);
        }
        let context = GameContext::decode(encoded)
            .map_err(|error| Failure::Refused(format!("cannot read a context: {error}")))?;
        let made = catch_unwind(AssertUnwindSafe(|| self.process.player(&context)));
        let player = made
            .map_err(|panic| Failure::Panicked(panic_text(&*panic)))?
            .map_err(|refusal| Failure::Refused(refusal.to_string()))?;
        let index = self.seated.len();
        self.seated.push(Seated { context, player });
        self.known.insert(encoded.to_vec(), index);
        Ok(index)
    }

    /// Asks a player about the decoded decision.
    fn ask(&mut self, place: usize, time_budget: Option<Duration>) -> Result<Choice, Failure> {
        let decision = &self.decision;
        if decision.legal_moves.is_empty() {
            return Err(Failure::Refused(format!(
                "decision {} has no legal moves",
                decision.slot
            )));
        }
        let Seated { context, player } = &mut self.seated[place];
        let question = Question {
            context,
            decision,
            time_budget,
        };
        match catch_unwind(AssertUnwindSafe(|| player.choose(&question))) {
            Ok(choice) => choice.map_err(|refusal| Failure::Refused(refusal.to_string())),
            Err(panic) => {
                // After a panic, players may be in an inconsistent state.
                self.forget();
                Err(Failure::Panicked(panic_text(&*panic)))
            }
        }
    }

    fn forget(&mut self) {
        self.seated.clear();
        self.known.clear();
    }
}

/// Decodes a decision into the buffers of another.
fn read_decision(decision: &mut Decision, encoded: &[u8]) -> Result<(), Status> {
    decision.clear();
    decision.merge(encoded).map_err(unreadable)
}

fn unreadable(problem: impl std::fmt::Display) -> Status {
    Status::internal(format!("cannot read the message: {problem}"))
}

fn share(time_budget_us: u64, decisions: usize) -> Option<Duration> {
    (time_budget_us > 0).then(|| Duration::from_micros(time_budget_us / (decisions.max(1) as u64)))
}

/// Microseconds since `started`, rounded up, so that every decision takes some time.
fn micros(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
