//! Chess, with the standard start position, any other one, or those of Chess960.
//!
//! The crate `cozy-chess` knows how pieces move. Draws are automatic, and are those of the Python
//! package `chess`: `is_insufficient_material`, `is_repetition(3)` and a half-move clock of 100.
//!
//! # Repetition
//!
//! No position before a capture or a move of a pawn can occur again, so a [`State`] has the position
//! after the last one of these, its *base*, and what was played from there. Positions are compared by
//! their 64-bit hashes; of the at most 100 positions since a base, two different ones have the same
//! hash with a probability below 10^-15.

mod end;
mod fen;
mod moves;
mod options;
mod san;
mod text;
mod value;
mod wire;

use std::fmt::Write;

use arena_engine::{
    ActionId, Ending, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError,
    options::{OptionError, Options},
    values,
};
use arena_wire::games::ChessPhase;
use cozy_chess::{Board, Color};

use crate::{
    placement,
    ruleset::{Ruleset, RulesetInfo},
};

/// Number of start positions of Chess960.
const STARTS: usize = 960;

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct Chess {
    /// True if castling is the king taking its own rook, in ids and in notations.
    chess960: bool,
    /// The start position; none if it is drawn from those of Chess960.
    start: Option<Board>,
    plies_max: u32,
}

/// A position with its history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The position. It has a file for en passant only if a capture there is legal.
    pub board: Board,
    /// The position after the last capture or move of a pawn, else the first one.
    base: Board,
    /// What was played since the base.
    since: Vec<Past>,
    plies: u32,
    phase: ChessPhase,
}

/// A position since the base and the move that was played in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Past {
    hash: u64,
    action: ActionId,
}

impl State {
    /// The first position of a game.
    fn new(board: Board, phase: ChessPhase) -> Self {
        Self {
            base: board.clone(),
            board,
            since: Vec::new(),
            plies: 0,
            phase,
        }
    }
}

/// The seat of a colour.
fn seat_of(color: Color) -> u8 {
    color as u8
}

impl Chess {
    /// True if the rules are those of Chess960.
    #[must_use]
    pub fn is_chess960(&self) -> bool {
        self.chess960
    }

    /// The position in FEN for other programs; none if it is the standard start position.
    #[must_use]
    pub fn setup(&self, state: &State) -> Option<String> {
        let is_standard = state.board == Board::startpos();
        (!is_standard).then(|| fen::text_for_others(&state.board, self.chess960))
    }

    /// Plays a move without checking whether it ends the game.
    #[inline]
    fn play(&self, state: &mut State, action: ActionId) {
        let hash = state.board.hash();
        let step = self.move_of(&state.board, action);
        state.board.play_unchecked(step);
        fen::drop_idle_en_passant(&mut state.board);
        state.plies += 1;
        if state.board.halfmove_clock() == 0 {
            state.base = state.board.clone();
            state.since.clear();
        } else {
            state.since.push(Past { hash, action });
        }
    }
}

impl Game for Chess {
    type State = State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    fn seats(&self) -> usize {
        2
    }

    fn has_chance(&self) -> bool {
        self.start.is_none()
    }

    fn initial(&self) -> State {
        match &self.start {
            Some(board) => State::new(board.clone(), ChessPhase::Move),
            None => State::new(Board::startpos(), ChessPhase::Start),
        }
    }

    fn start_option(&self) -> Option<&'static str> {
        Some(options::FEN)
    }

    fn with_start(&self, text: &str) -> Result<(Self, String), String> {
        let board = options::start_board(text, self.chess960)?;
        let text = fen::text(&board, self.chess960);
        let start = Some(board);
        let game = Self {
            start,
            ..self.clone()
        };
        Ok((game, text))
    }

    fn find_action(&self, state: &State, text: &str) -> Option<ActionId> {
        self.read_san(&state.board, text)
    }

    #[inline]
    fn node(&self, state: &State) -> Node {
        match state.phase {
            ChessPhase::Move => Node::Decision(seat_of(state.board.side_to_move())),
            ChessPhase::Start => Node::Chance(None),
            ChessPhase::Repetition => Node::Over(Ending::Repetition),
            ChessPhase::Cap => Node::Over(Ending::Cap),
            _ => Node::Over(Ending::Normal),
        }
    }

    fn weights(&self, _: &State) -> &[u32] {
        &[1; STARTS]
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        self.list_moves(&state.board, out);
    }

    #[inline]
    fn apply(&self, state: &mut State, action: ActionId) {
        self.play(state, action);
        state.phase = self.phase_of(state);
    }

    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        let board = Board::chess960_startpos(outcome.into());
        *state = State::new(board, ChessPhase::Move);
    }

    fn placement(&self, state: &State) -> PerSeat<u8> {
        let [white, black, ..] = self.scores(state);
        placement::of_two([white, black])
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        let mut scores = [0; MAX_SEATS];
        if state.phase == ChessPhase::Checkmate {
            scores[usize::from(seat_of(!state.board.side_to_move()))] = 1;
        }
        scores
    }

    #[inline]
    fn values(&self, state: &State) -> PerSeat<i64> {
        match self.node(state) {
            Node::Over(_) => values::of_placement(2, &self.placement(state)),
            _ => value::of_board(&state.board),
        }
    }

    fn chance_values(&self, _: &State, out: &mut Vec<i64>) {
        // Both seats have the same pieces, whichever position is drawn.
        let values = &value::of_board(&Board::startpos())[..2];
        out.extend(values.repeat(STARTS));
    }

    fn write_action(&self, state: &State, action: ActionId, out: &mut dyn Write) {
        // The error of a failed write belongs to the caller's buffer.
        let _ = self.write_san(&state.board, action, out);
    }

    fn write_outcome(&self, _: &State, outcome: OutcomeId, out: &mut dyn Write) {
        let _ = write!(out, "{outcome}");
    }

    fn encode(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        self.write_position(state, moves, out);
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, PositionError> {
        self.read_position(bytes)
            .map_err(|reason| PositionError::of(self, reason))
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        let _ = self.draw_board(state, out);
    }
}

impl Ruleset for Chess {
    const NAME: &'static str = "chess";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "chess and Chess960, for two players",
            seats: (2, 2),
            options: options::specs(),
            presets: Vec::new(),
            settle: options::settle,
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        options::read(options)
    }
}
