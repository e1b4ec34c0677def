//! Questions, encoded straight into the message that carries them.
//!
//! `ChooseMoveRequest` and `ChooseMovesRequest` number context, decision and
//! time budget alike, so that a batch of one decision without a batch number
//! is a solitary request.

use std::mem;

use arena_engine::{AnyMatch, Question};
use arena_wire::v1;
use prost::{
    bytes::{BufMut, Bytes},
    encoding::{self, WireType},
};

use super::Token;

const CONTEXT: u32 = 1;
const DECISION: u32 = 2;
const TIME_BUDGET: u32 = 3;
const BATCH: u32 = 4;

/// The common part of all questions to one agent, encoded.
pub(crate) fn encode_context(context: &v1::GameContext) -> Vec<u8> {
    let mut out = Vec::new();
    encoding::message::encode(CONTEXT, context, &mut out);
    out
}

/// Questions to one agent that travel together.
#[derive(Debug)]
pub(crate) struct Batch {
    body: Vec<u8>,
    /// Where the decisions end in `body`.
    ends: Vec<usize>,
    start: usize,
    pub(crate) tokens: Vec<Token>,
}

impl Batch {
    fn new(context: &[u8], room: usize) -> Self {
        let mut body = Vec::with_capacity(context.len() + room * 96);
        body.extend_from_slice(context);
        Self {
            start: body.len(),
            body,
            ends: Vec::with_capacity(room),
            tokens: Vec::with_capacity(room),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The message of all of it.
    pub(crate) fn into_message(self, time_budget_us: u64, number: u64) -> (Bytes, Vec<Token>) {
        let mut body = self.body;
        encoding::uint64::encode(TIME_BUDGET, &time_budget_us, &mut body);
        encoding::uint64::encode(BATCH, &number, &mut body);
        (body.into(), self.tokens)
    }

    /// A request for each question.
    pub(crate) fn into_single(self, time_budget_us: u64) -> impl Iterator<Item = (Token, Bytes)> {
        let Self {
            body,
            ends,
            start,
            tokens,
        } = self;
        let mut from = start;
        tokens.into_iter().zip(ends).map(move |(token, end)| {
            let mut message = Vec::with_capacity(start + (end - from) + 12);
            message.extend_from_slice(&body[..start]);
            message.extend_from_slice(&body[from..end]);
            encoding::uint64::encode(TIME_BUDGET, &time_budget_us, &mut message);
            from = end;
            (token, message.into())
        })
    }
}

/// Writes questions into batches.
#[derive(Debug)]
pub(crate) struct Writer {
    context: Vec<u8>,
    /// With notations, and with the moves' details in the position.
    details: bool,
    decision: Vec<u8>,
    position: Vec<u8>,
    notation: String,
}

impl Writer {
    pub(crate) fn new(context: &v1::GameContext, details: bool) -> Self {
        Self {
            context: encode_context(context),
            details,
            decision: Vec::with_capacity(256),
            position: Vec::with_capacity(256),
            notation: String::new(),
        }
    }

    /// An empty batch with room for so many.
    pub(crate) fn batch(&self, room: usize) -> Batch {
        Batch::new(&self.context, room)
    }

    /// Adds the open question of a game.
    pub(crate) fn write(
        &mut self,
        batch: &mut Batch,
        token: Token,
        game: &dyn AnyMatch,
        question: Question,
    ) {
        let out = &mut self.decision;
        out.clear();
        let legal = game.legal();
        number(out, 1, batch.tokens.len() as u64);
        number(out, 3, question.seat.into());
        number(out, 4, question.number.into());
        encoding::encode_key(5, WireType::SixtyFourBit, out);
        out.put_u64_le(question.seed);
        self.position.clear();
        game.encode(self.details, &mut self.position);
        bytes(out, 6, &self.position);
        let packed: usize = legal
            .iter()
            .map(|&action| encoding::encoded_len_varint(action.into()))
            .sum();
        encoding::encode_key(7, WireType::LengthDelimited, out);
        encoding::encode_varint(packed as u64, out);
        for &action in legal {
            encoding::encode_varint(action.into(), out);
        }
        if self.details {
            for &action in legal {
                self.notation.clear();
                game.write_action(action, &mut self.notation);
                bytes(out, 8, self.notation.as_bytes());
            }
        }
        bytes(&mut batch.body, DECISION, &self.decision);
        batch.ends.push(batch.body.len());
        batch.tokens.push(token);
    }
}

fn number(out: &mut Vec<u8>, tag: u32, value: u64) {
    if value != 0 {
        encoding::encode_key(tag, WireType::Varint, out);
        encoding::encode_varint(value, out);
    }
}

fn bytes(out: &mut Vec<u8>, tag: u32, value: &[u8]) {
    encoding::encode_key(tag, WireType::LengthDelimited, out);
    encoding::encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// What waits for an agent.
#[derive(Debug)]
pub(crate) struct Inbox {
    writer: Writer,
    batches: std::collections::VecDeque<Batch>,
    alone: std::collections::VecDeque<Batch>,
    /// The most decisions of a batch at present.
    room: usize,
}

impl Inbox {
    pub(crate) fn new(writer: Writer, room: usize) -> Self {
        Self {
            writer,
            batches: Default::default(),
            alone: Default::default(),
            room,
        }
    }

    pub(crate) fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    /// Adds a question to be asked with others; alone, while there is room
    /// for no other.
    pub(crate) fn push(&mut self, token: Token, game: &dyn AnyMatch, question: Question) {
        if self.room <= 1 {
            return self.push_alone(token, game, question);
        }
        if self
            .batches
            .back()
            .is_none_or(|last| last.len() >= self.room)
        {
            self.batches.push_back(self.writer.batch(self.room));
        }
        if let Some(batch) = self.batches.back_mut() {
            self.writer.write(batch, token, game, question);
        }
    }

    /// Adds a question to be asked alone.
    pub(crate) fn push_alone(&mut self, token: Token, game: &dyn AnyMatch, question: Question) {
        let mut batch = self.writer.batch(1);
        self.writer.write(&mut batch, token, game, question);
        self.alone.push_back(batch);
    }

    pub(crate) fn has_alone(&self) -> bool {
        !self.alone.is_empty()
    }

    pub(crate) fn has_batch(&self) -> bool {
        !self.batches.is_empty()
    }

    /// The first batch if it has so many, or all that it may have.
    pub(crate) fn take_batch(&mut self, at_least: usize) -> Option<Batch> {
        let full = self.batches.front()?.len() >= at_least.min(self.room);
        if full { self.batches.pop_front() } else { None }
    }

    pub(crate) fn take_alone(&mut self) -> Option<Batch> {
        self.alone.pop_front()
    }

    /// Every game that waits to be asked with others.
    pub(crate) fn take_batched(&mut self) -> Vec<Token> {
        let batches = mem::take(&mut self.batches);
        batches.into_iter().flat_map(|batch| batch.tokens).collect()
    }

    /// Every game that waits, in whatever way.
    pub(crate) fn take_all(&mut self) -> Vec<Token> {
        let mut tokens: Vec<Token> = mem::take(&mut self.alone)
            .into_iter()
            .flat_map(|batch| batch.tokens)
            .collect();
        tokens.extend(self.take_batched());
        tokens
    }
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
    }
}

#[cfg(test)]
mod tests {
    use arena_engine::Status;
    use prost::Message;

    use super::*;

    fn game() -> Box<dyn AnyMatch> {
        let (options, seats) =
            arena_games::resolve("kalah", &Default::default(), None).expect("kalah");
        let game = arena_games::build("kalah", &options, seats).expect("kalah");
        game.start(arena_engine::Setup {
            keys: arena_model::BlockSeed(7).keys(&["a", "b"]),
            opening_plies: 0,
            on_fault: Default::default(),
            ask_forced: false,
        })
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
        let token = |place| Token { place, turn: 0 };
        for place in 0..3 {
            inbox.push(token(place), &*game, question);
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
        };
        let full = inbox.take_batch(2).expect("a full batch");
        assert!(inbox.take_batch(2).is_none(), "the second has one question");
        let (bytes, tokens) = full.into_message(9, 4);
        assert_eq!(tokens, [token(0), token(1)]);
        let message = v1::ChooseMovesRequest::decode(bytes).expect("a batch");
        let wanted = v1::ChooseMovesRequest {
            contexts: vec![context.clone()],
            decisions: vec![decision(0), decision(1)],
            time_budget_us: 9,
            batch: 4,
        };
        assert_eq!(message, wanted);

        inbox.push(token(3), &*game, question);
        let rest = inbox.take_batch(1).expect("the rest");
        let single: Vec<_> = rest.into_single(5).collect();
        assert_eq!(single.len(), 2);
        for (slot, (token, bytes)) in single.into_iter().enumerate() {
            assert_eq!(token.place as usize, slot + 2);
            let message = v1::ChooseMoveRequest::decode(bytes).expect("a request");
            let wanted = v1::ChooseMoveRequest {
                context: Some(context.clone()),
                decision: Some(decision(slot as u32)),
                time_budget_us: 5,
            };
            assert_eq!(message, wanted);
        }
    }

    #[test]
    fn questions_are_what_the_protocol_says() {
        check(false);
        check(true);
    }
}
