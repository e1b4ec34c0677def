//! The message of Abapa's position.

use std::{borrow::Cow, iter};

use arena_engine::Ending;
use arena_wire::fields::Fields;

use super::{
    super::{
        core::{HALF, ROW},
        wire::{self, RawPosition},
    },
    Abapa, PITS, Phase, State,
};
use crate::proto::{self, expect};

impl Abapa {
    pub(super) fn write_position(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        wire::write(&state.core, out);
        // No pit reaches 128, so that each packed number is its byte.
        proto::bytes(7, iter::once(state.seen.as_flattened()), out);
        if moves && state.core.phase == Phase::Move {
            self.write_moves(state, out);
        }
    }

    fn write_moves(&self, state: &State, out: &mut Vec<u8>) {
        let (core, mover) = (&state.core, usize::from(state.core.to_move));
        let legal = self.moves(core);
        for offset in (0..ROW).filter(|offset| legal >> offset & 1 == 1) {
            let sown = self.sow_pit(&mut core.clone(), offset);
            proto::message(15, out, |out| {
                proto::number(1, offset as u32, out);
                proto::number(2, offset as u32, out);
                proto::number(3, u32::from(core.row(mover)[offset]), out);
                proto::number(4, u32::from(sown.banked[mover]), out);
                proto::number(5, u32::from(sown.last), out);
                proto::number(6, u32::from(sown.banked[1 - mover]), out);
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<State, String> {
        let (mut raw, mut seen) = (RawPosition::default(), Cow::from(&[]));
        for field in Fields::of(bytes) {
            let (tag, value) = field.map_err(|error| error.to_string())?;
            let taken = match tag {
                7 => value.bytes().map(|bytes| {
                    if seen.is_empty() {
                        seen = Cow::from(bytes);
                    } else {
                        // As in protobuf, a list may come in pieces.
                        seen.to_mut().extend_from_slice(bytes);
                    }
                }),
                _ => raw.take(tag, value),
            };
            taken.map_err(|error| error.to_string())?;
        }
        let core = raw.core(self.rules.random_starter, self.rules.plies_max)?;
        let (boards, rest) = seen.as_chunks::<PITS>();
        expect(rest.is_empty(), "seen is not made of boards")?;
        expect(
            boards.is_empty() || self.rules.repetition && core.phase == Phase::Move,
            "seen is raw where nothing can come back",
        )?;
        expect(
            boards.len() <= usize::from(core.since_capture),
            "seen goes back beyond the last capture",
        )?;
        let seeds = |board: &[u8; PITS]| board.iter().map(|&pit| u32::from(pit)).sum::<u32>();
        let on_board = seeds(&core.pits);
        expect(
            boards.iter().all(|board| seeds(board) == on_board),
            "a board in seen has another number of seeds",
        )?;
        let state = State {
            core,
            seen: boards.to_vec(),
        };
        self.check_phase(&state)?;
        Ok(state)
    }

    /// Checks the phase against the rest.
    fn check_phase(&self, state: &State) -> Result<(), String> {
        let State { core, seen } = state;
        let capped =
            core.plies >= self.rules.plies_max || core.since_capture >= self.rules.quiet_max;
        let holds = match core.phase {
            Phase::Move => {
                let back = seen.iter().rev().skip(1).step_by(2);
                core.score.iter().all(|&score| score <= HALF)
                    && self.moves(core) != 0
                    && !capped
                    && !back.into_iter().any(|board| *board == core.pits)
            }
            Phase::Over(Ending::Repetition) => self.rules.repetition,
            Phase::Over(Ending::Cap) => capped,
            Phase::Over(Ending::Deadlock) => false,
            Phase::Start | Phase::Over(Ending::Normal) => true,
        };
        expect(holds, "phase contradicts the other fields")
    }
}
