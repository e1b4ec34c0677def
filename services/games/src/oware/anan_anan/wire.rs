//! The message of Anan-anan's position.

use arena_engine::Ending;
use arena_wire::fields::Fields;

use super::{
    super::{
        core::HALF,
        wire::{self, RawPosition},
    },
    AnanAnan, Core, PASS, Phase, ROW,
};
use crate::proto::{self, expect};

impl AnanAnan {
    pub(super) fn write_position(&self, core: &Core, moves: bool, out: &mut Vec<u8>) {
        wire::write(core, out);
        proto::number(7, u32::from(core.passed), out);
        if moves && core.phase == Phase::Move {
            self.write_moves(core, out);
        }
    }

    fn write_moves(&self, core: &Core, out: &mut Vec<u8>) {
        let mover = usize::from(core.to_move);
        let legal = self.moves(core);
        if legal == 0 {
            proto::message(15, out, |out| {
                proto::number(1, u32::from(PASS), out);
                proto::number(2, u32::from(PASS), out);
            });
        }
        for offset in (0..ROW).filter(|offset| legal >> offset & 1 == 1) {
            let sown = self.sow_pit(&mut core.clone(), offset);
            proto::message(15, out, |out| {
                proto::number(1, offset as u32, out);
                proto::number(2, offset as u32, out);
                proto::number(3, u32::from(core.row(mover)[offset]), out);
                proto::number(4, u32::from(sown.banked[mover]), out);
                proto::number(5, u32::from(sown.last), out);
                proto::number(6, u32::from(sown.banked[1 - mover]), out);
                proto::number(7, u32::from(sown.lifts), out);
                proto::number(8, u32::from(sown.endless), out);
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<Core, String> {
        let (mut raw, mut passed) = (RawPosition::default(), false);
        for field in Fields::of(bytes) {
            let (tag, value) = field.map_err(|error| error.to_string())?;
            let taken = match tag {
                7 => value.number().map(|number| passed = number != 0),
                _ => raw.take(tag, value),
            };
            taken.map_err(|error| error.to_string())?;
        }
        let mut core = raw.core(self.rules.random_starter, self.rules.plies_max)?;
        core.passed = passed;
        expect(
            !passed || core.since_capture > 0,
            "passed where nothing was played since a capture",
        )?;
        self.check_phase(&core)?;
        Ok(core)
    }

    /// Checks the phase against the rest.
    fn check_phase(&self, core: &Core) -> Result<(), String> {
        let capped =
            core.plies >= self.rules.plies_max || core.since_capture >= self.rules.quiet_max;
        let holds = match core.phase {
            Phase::Move => {
                let stuck = self.rules.empty_row_ends && self.moves(core) == 0;
                core.score.iter().all(|&score| score <= HALF)
                    && !self.runs_out(core)
                    && !capped
                    && !stuck
            }
            Phase::Over(Ending::Repetition | Ending::Deadlock) => false,
            Phase::Over(Ending::Cap) => capped,
            Phase::Start => !core.passed,
            Phase::Over(Ending::Normal) => true,
        };
        expect(holds, "phase contradicts the other fields")
    }
}
