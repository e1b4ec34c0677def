//! Questions, encoded directly into the message in which they are sent.
//!
//! `ChooseMoveRequest` and `ChooseMovesRequest` use the same field numbers for context, decision
//! and time budget, so a batch of one decision without a batch number is a request for a single
//! decision.

use std::{
    collections::VecDeque,
    mem,
    time::{Duration, Instant},
};

use arena_engine::{AnyMatch, Question};
use arena_wire::v1;
use prost::{
    bytes::{BufMut, Bytes},
    encoding::{self, WireType},
};
use tonic::Status;

use super::Token;
use crate::clock::Allowance;

const CONTEXT: u32 = 1;
const DECISION: u32 = 2;
const TIME_BUDGET: u32 = 3;
const BATCH: u32 = 4;

/// Questions to one agent that are sent together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    body: Vec<u8>,
    /// End of each decision in `body`.
    ends: Vec<usize>,
    /// Start of the first decision in `body`.
    start: usize,
    /// The game of each slot; none if the question was answered.
    pub(crate) tokens: Vec<Option<Token>>,
    /// Time at which each question was added.
    pub(crate) wanted: Vec<Instant>,
    /// How long the answer to its last question may take.
    allowance: Option<Allowance>,
}

/// How a question is asked.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    /// While no other question is open.
    pub(crate) alone: bool,
    /// How long the answer may take if it is asked alone.
    pub(crate) allowance: Allowance,
    /// The clock of the seat.
    pub(crate) clock: Option<v1::Clock>,
    /// The game so far, for an agent that has to see all of its decisions.
    pub(crate) history: Option<History>,
}

/// A game, and its moves so far.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) game: Vec<u8>,
    pub(crate) moves: Vec<v1::PastMove>,
}

impl Batch {
    /// Empties the batch, keeps its capacity, and writes the context.
    fn begin(&mut self, context: &[u8]) {
        self.body.clear();
        self.ends.clear();
        self.tokens.clear();
        self.wanted.clear();
        self.body.extend_from_slice(context);
        self.start = self.body.len();
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// How long the answer to the question of a batch of one may take.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        self.allowance
    }

    /// Takes the message with all questions.
    pub(crate) fn take_message(&mut self, time_budget_us: u64, number: u64) -> Bytes {
        let mut body = mem::take(&mut self.body);
        encoding::uint64::encode(TIME_BUDGET, &time_budget_us, &mut body);
        encoding::uint64::encode(BATCH, &number, &mut body);
        body.into()
    }

    /// Takes the sent bytes back for reuse, if no other task uses them any more.
    pub(crate) fn return_message(&mut self, message: Bytes) {
        if message.is_unique() {
            self.body = message.into();
        }
    }

    /// A request for each question.
    pub(crate) fn into_single(self, time_budget_us: u64) -> impl Iterator<Item = Single> {
        let (body, start) = (self.body, self.start);
        let mut from = start;
        let tokens = self.tokens.into_iter().flatten().zip(self.wanted);
        tokens.zip(self.ends).map(move |((token, wanted), end)| {
            let mut message = Vec::with_capacity(start + (end - from) + 12);
            message.extend_from_slice(&body[..start]);
            message.extend_from_slice(&body[from..end]);
            encoding::uint64::encode(TIME_BUDGET, &time_budget_us, &mut message);
            from = end;
            Single {
                token,
                wanted,
                message: message.into(),
            }
        })
    }
}

/// A question that is sent alone.
#[derive(Debug)]
pub(crate) struct Single {
    pub(crate) token: Token,
    /// Time at which the question was added.
    pub(crate) wanted: Instant,
    pub(crate) message: Bytes,
}

/// Encodes questions into batches.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    /// The encoded common part of all questions.
    context: Vec<u8>,
    /// True if notations and details of moves are included.
    details: bool,
    notation: String,
}

impl Writer {
    pub(crate) fn new(context: &v1::GameContext, details: bool) -> Self {
        let mut encoded = Vec::new();
        encoding::message::encode(CONTEXT, context, &mut encoded);
        Self {
            context: encoded,
            details,
            notation: String::new(),
        }
    }

    /// Adds the open question of a game, encoded in place.
    pub(crate) fn write(
        &mut self,
        batch: &mut Batch,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
        how: &Asking,
    ) {
        let slot = batch.tokens.len() as u64;
        nested(&mut batch.body, DECISION, |out| {
            let legal = game.legal();
            number(out, 1, slot);
            number(out, 3, question.seat.into());
            number(out, 4, question.number.into());
            encoding::encode_key(5, WireType::SixtyFourBit, out);
            out.put_u64_le(question.seed);
            nested(out, 6, |out| game.encode(self.details, out));
            nested(out, 7, |out| {
                for &action in legal {
                    encoding::encode_varint(action.into(), out);
                }
            });
            if self.details {
                for &action in legal {
                    self.notation.clear();
                    game.write_action(action, &mut self.notation);
                    nested(out, 8, |out| {
                        out.extend_from_slice(self.notation.as_bytes());
                    });
                }
            }
            if let Some(clock) = &how.clock {
                encoding::message::encode(9, clock, out);
            }
            if let Some(History { game, moves }) = &how.history {
                encoding::bytes::encode(10, game, out);
                encoding::message::encode_repeated(11, moves, out);
            }
        });
        batch.ends.push(batch.body.len());
        batch.tokens.push(Some(token));
    }
}

fn number(out: &mut Vec<u8>, tag: u32, value: u64) {
    if value != 0 {
        encoding::encode_key(tag, WireType::Varint, out);
        encoding::encode_varint(value, out);
    }
}

/// Writes a field whose length is known only after its content is written.
fn nested(out: &mut Vec<u8>, tag: u32, write: impl FnOnce(&mut Vec<u8>)) {
    encoding::encode_key(tag, WireType::LengthDelimited, out);
    // Most lengths take one byte. If a length takes more, the content is moved.
    out.push(0);
    let start = out.len();
    write(out);
    let length = out.len() - start;
    let more = encoding::encoded_len_varint(length as u64) - 1;
    if more > 0 {
        out.resize(start + length + more, 0);
        out.copy_within(start..start + length, start + more);
    }
    encoding::encode_varint(length as u64, &mut &mut out[start - 1..start + more]);
}

/// Number of batches kept for reuse: those in flight and one more.
const SPARE: usize = 4;
/// Maximum capacity of a batch that is kept for reuse.
const SPARE_BYTES: usize = 1 << 18;

/// Waiting questions of an agent.
#[derive(Debug)]
pub(crate) struct Inbox {
    writer: Writer,
    batches: VecDeque<Batch>,
    alone: VecDeque<Batch>,
    spare: Vec<Batch>,
    /// Current maximum number of decisions of a batch.
    room: usize,
    /// True if all questions are currently asked alone.
    all_alone: bool,
    /// Time of all questions since the last flush, so that the clock is read once for all of them.
    now: Option<Instant>,
}

impl Inbox {
    pub(crate) fn new(writer: Writer, room: usize) -> Self {
        Self {
            writer,
            batches: VecDeque::new(),
            alone: VecDeque::new(),
            spare: Vec::new(),
            room,
            all_alone: false,
            now: None,
        }
    }

    /// Keeps a finished batch for reuse.
    pub(crate) fn keep(&mut self, batch: Batch) {
        if self.spare.len() < SPARE && batch.body.capacity() <= SPARE_BYTES {
            self.spare.push(batch);
        }
    }

    /// Ends a group of questions that share one time.
    pub(crate) fn flush(&mut self) {
        self.now = None;
    }

    pub(crate) fn set_room(&mut self, room: usize, all_alone: bool) {
        (self.room, self.all_alone) = (room, all_alone);
    }

    /// Adds a question to a batch, or to the questions asked alone.
    pub(crate) fn push(
        &mut self,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
        how: Asking,
    ) {
        let alone = how.alone || self.all_alone;
        let queue = match alone {
            true => &mut self.alone,
            false => &mut self.batches,
        };
        if alone || queue.back().is_none_or(|last| last.len() >= self.room) {
            let mut batch = self.spare.pop().unwrap_or_default();
            batch.begin(&self.writer.context);
            queue.push_back(batch);
        }
        let now = *self.now.get_or_insert_with(Instant::now);
        if let Some(batch) = queue.back_mut() {
            self.writer.write(batch, token, game, question, &how);
            batch.wanted.push(now);
            batch.allowance = Some(how.allowance);
        }
    }

    pub(crate) fn has_alone(&self) -> bool {
        !self.alone.is_empty()
    }

    pub(crate) fn has_batch(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Takes the first batch if it has at least this many questions, or is full.
    pub(crate) fn take_batch(&mut self, at_least: usize) -> Option<Batch> {
        let full = self.batches.front()?.len() >= at_least.min(self.room);
        if full { self.batches.pop_front() } else { None }
    }

    pub(crate) fn take_alone(&mut self) -> Option<Batch> {
        self.alone.pop_front()
    }

    /// Removes all questions that wait for a batch, and returns their games.
    pub(crate) fn take_batched(&mut self) -> Vec<Token> {
        let batches = mem::take(&mut self.batches);
        tokens(batches).collect()
    }

    /// Removes all questions, and returns their games.
    pub(crate) fn take_all(&mut self) -> Vec<Token> {
        let mut all: Vec<Token> = tokens(mem::take(&mut self.alone)).collect();
        all.extend(self.take_batched());
        all
    }
}

fn tokens(batches: VecDeque<Batch>) -> impl Iterator<Item = Token> {
    let batches = batches.into_iter();
    batches.flat_map(|batch| batch.tokens.into_iter().flatten())
}

/// The context of an agent's questions in a tournament.
pub(crate) fn context(setup: &v1::TournamentSetup, agent: &v1::AgentSetup) -> v1::GameContext {
    v1::GameContext {
        ruleset: setup.ruleset.clone(),
        rules_version: setup.rules_version,
        options: setup.options.clone(),
        seats: setup.seats,
        bot: agent.bot.clone(),
        bot_options: agent.options.clone(),
        nodes: setup.play.as_ref().map_or(0, |play| play.nodes),
    }
}

/// Why the worker no longer waits for a batch.
#[derive(Debug)]
pub(super) enum BatchFailure {
    /// The agent has no `ChooseMoves`.
    Single,
    /// The call failed, or its answer was invalid.
    Failed(Status),
    /// There was no answer within this time.
    Late(Duration),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arena_engine::Status;
    use prost::Message;

    use super::*;

    fn game() -> Box<dyn AnyMatch> {
        let (options, seats) =
            arena_games::resolve("kalah", &Default::default(), None).expect("kalah");
        let game = arena_games::build("kalah", &options, seats).expect("kalah");
        let keys = arena_model::BlockSeed(7).keys(&["a", "b"]);
        game.open(arena_engine::Setup::new(keys, arena_engine::Opening::NONE))
            .expect("no opening")
    }

    fn check(details: bool) {
        let context = v1::GameContext {
            ruleset: "kalah".into(),
            seats: 2,
            ..Default::default()
        };
        let mut inbox = Inbox::new(Writer::new(&context, details), 2);
        let game = game();
        let Status::Asks(question) = game.status() else {
            panic!("a question");
        };
        let token = |place| Token { place, number: 0 };
        let clock = v1::Clock {
            left_us: 9_000_000,
            increment_us: 5,
            moves_to_go: 3,
            seats_left_us: vec![9_000_000, 4],
        };
        let history = History {
            game: vec![1, 2],
            moves: vec![
                v1::PastMove {
                    seat: 1,
                    move_id: 300,
                },
                v1::PastMove::default(),
            ],
        };
        let how = Asking {
            alone: false,
            allowance: Allowance {
                budget: Duration::from_secs(9),
                margin: Duration::ZERO,
            },
            clock: Some(clock.clone()),
            history: Some(history.clone()),
        };
        for place in 0..3 {
            inbox.push(token(place), &*game, question, how.clone());
        }
        let mut position = Vec::new();
        game.encode(details, &mut position);
        let decision = |slot| v1::Decision {
            slot,
            context: 0,
            seat: question.seat.into(),
            number: question.number,
            seed: question.seed,
            position: position.clone(),
            legal_moves: game.legal().iter().map(|&id| id.into()).collect(),
            notations: game
                .legal()
                .iter()
                .filter(|_| details)
                .map(|&id| {
                    let mut text = String::new();
                    game.write_action(id, &mut text);
                    text
                })
                .collect(),
            clock: Some(clock.clone()),
            game: history.game.clone(),
            moves: history.moves.clone(),
        };
        let mut full = inbox.take_batch(2).expect("a full batch");
        assert!(inbox.take_batch(2).is_none(), "the second has one question");
        let bytes = full.take_message(9, 4);
        assert_eq!(full.tokens, [Some(token(0)), Some(token(1))]);
        let message = v1::ChooseMovesRequest::decode(bytes).expect("a batch");
        let wanted = v1::ChooseMovesRequest {
            contexts: vec![context.clone()],
            decisions: vec![decision(0), decision(1)],
            time_budget_us: 9,
            batch: 4,
        };
        assert_eq!(message, wanted);

        inbox.push(token(3), &*game, question, how.clone());
        let rest = inbox.take_batch(1).expect("the rest");
        let single: Vec<_> = rest.into_single(5).collect();
        assert_eq!(single.len(), 2);
        for (slot, one) in single.into_iter().enumerate() {
            assert_eq!(one.token.place as usize, slot + 2);
            let message = v1::ChooseMoveRequest::decode(one.message).expect("a request");
            let wanted = v1::ChooseMoveRequest {
                context: Some(context.clone()),
                decision: Some(decision(slot as u32)),
                time_budget_us: 5,
            };
            assert_eq!(message, wanted);
        }
    }

    #[test]
    fn questions_follow_the_protocol() {
        check(false);
        check(true);
    }
}
