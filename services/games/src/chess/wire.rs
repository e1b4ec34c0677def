//! Encodes and decodes positions of chess as messages.

use std::io::Write;

use arena_wire::games::{ChessPhase, ChessPosition};
use cozy_chess::util::display_san_move;
use prost::Message;

use super::{Chess, State, end::QUIET_MAX, fen, moves, seat_of};
use crate::proto::{self, expect};

/// Appends a text of fewer than 128 bytes.
macro_rules! text {
    ($tag:expr, $out:expr, $($text:tt)*) => {
        proto::message($tag, $out, |out| {
            write!(out, $($text)*).expect("a vector takes all bytes");
        })
    };
}

impl Chess {
    pub(super) fn write_position(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        let (chess960, phase) = (self.chess960, state.phase);
        if phase == ChessPhase::Start {
            proto::number(4, phase as u32, out);
            return;
        }
        proto::message(1, out, |out| fen::write(&state.board, chess960, out));
        proto::number(2, seat_of(state.board.side_to_move()).into(), out);
        proto::number(3, state.plies, out);
        proto::number(4, phase as u32, out);
        proto::message(5, out, |out| fen::write(&state.base, chess960, out));
        for past in &state.since {
            text!(6, out, "{}", moves::display_uci(past.action));
        }
        if moves && phase == ChessPhase::Move {
            self.write_moves(state, out);
        }
    }

    fn write_moves(&self, state: &State, out: &mut Vec<u8>) {
        let mut legal = Vec::with_capacity(64);
        self.list_moves(&state.board, &mut legal);
        for action in legal {
            let step = self.move_of(&state.board, action);
            proto::message(15, out, |out| {
                proto::number(1, action.into(), out);
                text!(2, out, "{}", moves::display_uci(action));
                text!(3, out, "{}", display_san_move(&state.board, step));
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<State, String> {
        let message = ChessPosition::decode(bytes).map_err(|error| error.to_string())?;
        if message.phase() == ChessPhase::Start {
            expect(self.start.is_none(), "the start position is not drawn")?;
            let start = ChessPosition {
                phase: ChessPhase::Start.into(),
                ..ChessPosition::default()
            };
            expect(message == start, "a position before the start is drawn")?;
            return Ok(State::new(cozy_chess::Board::startpos(), ChessPhase::Start));
        }
        let base = fen::read(&message.base_fen, self.chess960)?;
        let played = message.played.len() as u32;
        expect(
            played <= QUIET_MAX.into(),
            "more moves than a game can have",
        )?;
        expect(message.plies >= played, "fewer plies than moves")?;
        expect(message.plies <= self.plies_max, "plies exceeds max_plies")?;
        let mut state = State::new(base, ChessPhase::Move);
        state.plies = message.plies - played;
        for uci in &message.played {
            let action = self.action_of(&state.board, uci);
            let action = action.ok_or_else(|| format!("{uci} is not a legal move"))?;
            self.play(&mut state, action);
            expect(
                state.board.halfmove_clock() > 0,
                "a capture or a move of a pawn after base_fen",
            )?;
        }
        state.phase = self.phase_of(&state);
        expect(
            fen::text(&state.board, self.chess960) == message.fen,
            "fen is not the position after the moves",
        )?;
        let to_move = seat_of(state.board.side_to_move());
        expect(
            message.to_move == u32::from(to_move),
            "to_move is another seat",
        )?;
        expect(
            message.phase == state.phase as i32,
            "phase does not follow from the position",
        )?;
        Ok(state)
    }
}
