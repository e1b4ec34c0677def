//! Cowry, also known as Chowka Bhara: a race on a square board, with shells as dice, for two to
//! four players.
//!
//! Nagabhushan and Davoudian describe it without doubles and for four players,
//! the Chowka Bhara paper with doubles and for two; both are options here.

mod board;
mod chance;
mod fitted;
mod moves;
mod options;
mod state;
mod text;
mod turn;
mod value;
mod wire;

use std::{fmt::Write, sync::Arc};

use arena_engine::{
    ActionId, Ending, Game, Node, OutcomeId, PerSeat, PositionError, Seat,
    options::{OptionError, Options},
    per_seat,
};

use self::{
    board::Board,
    chance::Chances,
    options::{CowryRules, Deadlock, SEATS_MAX},
    value::Worth,
};
pub use self::{
    board::Square,
    moves::{Landing, Move},
    options::{DoubleMove, PIECES_MAX, ThrowMode, VALUES},
    state::{Phase, State},
};
use crate::ruleset::{Ruleset, RulesetInfo};

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct Cowry {
    rules: Arc<CowryRules>,
    board: Arc<Board>,
    seats: usize,
    /// Notations of the actions.
    notations: Arc<[String]>,
    worth: Arc<Worth>,
    chances: Arc<Chances>,
}

/// Each seat is equally likely to start.
const STARTERS: [u32; SEATS_MAX] = [1; SEATS_MAX];

impl Cowry {
    /// Squares along a side of the board.
    #[must_use]
    pub fn size(&self) -> u8 {
        self.board.size
    }

    /// Pieces of each player.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.rules.pieces
    }

    /// Path index of the centre, the same for every seat.
    #[must_use]
    pub fn goal(&self) -> u8 {
        self.board.goal
    }

    /// Length of the outer ring: indices below it lie there.
    #[must_use]
    pub fn outer(&self) -> u8 {
        self.board.outer
    }

    /// True for starts, the centre and, with some options, corners; a square has the same safety on
    /// every seat's path.
    #[must_use]
    pub fn is_safe(&self, index: u8) -> bool {
        self.board.is_safe(index)
    }

    /// The index on `other`'s path of the square with `index` on `seat`'s.
    #[must_use]
    pub fn cross(&self, seat: usize, other: usize, index: u8) -> u8 {
        self.board.cross(seat, other, index)
    }

    /// The square of an index on a seat's path.
    #[must_use]
    pub fn square(&self, seat: usize, index: u8) -> Square {
        self.board.square(seat, index)
    }

    /// Weights of the values of a throw.
    #[must_use]
    pub fn dice(&self) -> &[u32; VALUES.len()] {
        &self.rules.dice
    }

    /// True if own pieces share squares and form doubles.
    #[must_use]
    pub fn has_doubles(&self) -> bool {
        self.rules.doubles
    }

    /// True if doubles on safe squares block as well.
    #[must_use]
    pub fn blocks_on_safe(&self) -> bool {
        self.rules.block_on_safe
    }

    /// True if a piece that was blocked once may always pass doubles.
    #[must_use]
    pub fn blocks_once_for_all(&self) -> bool {
        self.rules.block_forever
    }

    /// True if a player enters the inner rings only after a hit.
    #[must_use]
    pub fn has_gate(&self) -> bool {
        self.rules.gate
    }

    fn start(phase: Phase) -> State {
        State {
            pieces: [[0; PIECES_MAX]; SEATS_MAX],
            may_pass: [0; SEATS_MAX],
            blocked_now: 0,
            hit_mask: 0,
            pool: [0; VALUES.len()],
            pending_throws: 0,
            to_move: 0,
            phase,
            finished: [0; SEATS_MAX],
            throws: 0,
        }
    }

    /// Ranks: players who finished in their order, then the others, by progress or together.
    fn ranks(&self, state: &State, together: bool) -> PerSeat<u8> {
        let mut ranks = PerSeat::default();
        let scores = self.scores(state);
        let finished = state.finished.iter().filter(|&&rank| rank > 0).count() as u8;
        for seat in 0..self.seats {
            ranks[seat] = if state.finished[seat] > 0 {
                state.finished[seat]
            } else {
                let ahead = (0..self.seats).filter(|&other| {
                    state.finished[other] == 0 && !together && scores[other] > scores[seat]
                });
                finished + ahead.count() as u8 + 1
            };
        }
        ranks
    }
}

impl Game for Cowry {
    type State = State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn has_chance(&self) -> bool {
        true
    }

    fn initial(&self) -> State {
        Self::start(if self.rules.random_starter {
            Phase::Start
        } else {
            Phase::Throw
        })
    }

    #[inline]
    fn node(&self, state: &State) -> Node {
        match state.phase {
            Phase::Move => Node::Decision(state.to_move),
            Phase::Throw => Node::Chance(Some(state.to_move)),
            Phase::Start => Node::Chance(None),
            Phase::Over(ending) => Node::Over(ending),
        }
    }

    #[inline]
    fn weights(&self, state: &State) -> &[u32] {
        if state.phase == Phase::Start {
            &STARTERS[..self.seats]
        } else {
            &self.rules.dice
        }
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        self.list_moves(state, out);
    }

    #[inline]
    fn pass(&self) -> Option<ActionId> {
        Some(self.pass_id())
    }

    #[inline]
    fn apply(&self, state: &mut State, action: ActionId) {
        self.play(state, action);
    }

    #[inline]
    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        if state.phase == Phase::Start {
            state.to_move = outcome as Seat;
            state.phase = Phase::Throw;
        } else {
            self.throw(state, outcome);
        }
    }

    fn placement(&self, state: &State) -> PerSeat<u8> {
        let together = match state.phase {
            Phase::Over(Ending::Normal) => self.rules.rest_ties,
            Phase::Over(Ending::Deadlock) => self.rules.deadlock == Deadlock::Draw,
            _ => false,
        };
        self.ranks(state, together)
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        let sum = |pieces: [u8; PIECES_MAX]| pieces.iter().map(|&piece| i64::from(piece)).sum();
        per_seat(state.pieces.map(sum))
    }

    fn values(&self, state: &State) -> PerSeat<i64> {
        self.value(state)
    }

    fn chance_values(&self, state: &State, out: &mut Vec<i64>) {
        self.list_chances(state, out);
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        self.name_action(action, out);
    }

    fn write_outcome(&self, state: &State, outcome: OutcomeId, out: &mut dyn Write) {
        self.name_outcome(state, outcome, out);
    }

    fn encode(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        self.write_position(state, moves, out);
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, PositionError> {
        self.read_position(bytes)
            .map_err(|reason| PositionError::of(self, reason))
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        // Writing fails only if the buffer does, which is the caller's.
        let _ = self.draw_board(state, out);
    }
}

impl Ruleset for Cowry {
    const NAME: &'static str = "cowry";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "race of two to four players on a square board, with shells for dice \
                      (Chowka Bhara)",
            seats: (2, SEATS_MAX),
            options: options::specs(),
            presets: options::presets(),
            settle: options::settle,
        }
    }

    fn with_options(options: &Options, seats: usize) -> Result<Self, OptionError> {
        let rules = CowryRules::new(options)?;
        let board = Board::new(rules.board, rules.inner, rules.safe_corners, seats)
            .ok_or_else(|| OptionError::Together("the rings cannot be joined".to_owned()))?;
        Ok(Self {
            notations: text::notations(rules.pieces),
            worth: Arc::new(Worth::new(&rules, &board)),
            chances: Arc::new(Chances::new(&rules, &board, seats)),
            rules: Arc::new(rules),
            board: Arc::new(board),
            seats,
        })
    }
}
