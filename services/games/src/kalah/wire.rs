//! Encodes and decodes positions of Kalah as messages.

use arena_wire::games::KalahPosition;
use prost::Message;

use super::{CELLS_MAX, Kalah, State};
use crate::proto::{self, expect};

impl Kalah {
    pub(super) fn write_position(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        let cells = 2 * self.rules.pits + 2;
        proto::number(1, self.rules.pits as u32, out);
        let stones = state.board[..cells].iter().map(|&stones| stones.into());
        proto::numbers(2, stones, out);
        proto::number(3, u32::from(state.to_move), out);
        proto::number(4, state.plies, out);
        if moves && !state.over {
            self.write_moves(state, out);
        }
    }

    fn write_moves(&self, state: &State, out: &mut Vec<u8>) {
        let row = self.row(state, usize::from(state.to_move));
        for (offset, &stones) in row.iter().enumerate() {
            if stones == 0 {
                continue;
            }
            let sowing = self.sow(&mut state.clone(), offset);
            proto::message(15, out, |out| {
                proto::number(1, offset as u32, out);
                proto::number(2, offset as u32, out);
                proto::number(3, u32::from(stones), out);
                proto::number(4, u32::from(sowing.again), out);
                proto::number(5, u32::from(sowing.banked), out);
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<State, String> {
        let message = KalahPosition::decode(bytes).map_err(|error| error.to_string())?;
        let cells = 2 * self.rules.pits + 2;
        let total = 2 * self.rules.pits as u32 * u32::from(self.rules.stones);
        expect(
            message.pits == self.rules.pits as u32,
            "another number of pits",
        )?;
        expect(message.board.len() == cells, "board has another length")?;
        expect(
            message.board.iter().all(|&stones| stones <= total)
                && message.board.iter().sum::<u32>() == total,
            "another number of stones",
        )?;
        expect(message.to_move < 2, "to_move is not a seat")?;
        expect(
            message.plies <= self.rules.plies_max,
            "plies exceeds max_plies",
        )?;
        let mut state = State {
            board: [0; CELLS_MAX],
            to_move: message.to_move as u8,
            over: false,
            plies: message.plies,
        };
        for (mine, &theirs) in state.board.iter_mut().zip(&message.board) {
            *mine = theirs as u8;
        }
        let swept = state;
        self.check_end(&mut state);
        expect(
            state.board == swept.board,
            "a row is empty, but the other one has not been swept",
        )?;
        Ok(state)
    }
}
