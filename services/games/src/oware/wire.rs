//! The common part of both messages: fields 1 to 6.

use arena_engine::Ending;
use arena_wire::fields::{FieldError, Value};

use super::core::{Core, PITS, Phase, SEEDS};
use crate::proto::{self, Few, expect};

/// Parsed fields of a position.
#[derive(Default)]
pub(super) struct RawPosition {
    pits: Few<PITS>,
    score: Few<2>,
    to_move: u32,
    since_capture: u32,
    plies: u32,
    phase: u32,
}

/// Numbers of the phases, the same in both messages.
const PHASES: [(u32, Phase); 5] = [
    (1, Phase::Move),
    (2, Phase::Start),
    (3, Phase::Over(Ending::Normal)),
    (4, Phase::Over(Ending::Repetition)),
    (5, Phase::Over(Ending::Cap)),
];

/// Writes the common fields.
pub(super) fn write(core: &Core, out: &mut Vec<u8>) {
    proto::numbers(1, core.pits.iter().map(|&pit| pit.into()), out);
    proto::numbers(2, core.score.iter().map(|&score| score.into()), out);
    proto::number(3, u32::from(core.to_move), out);
    proto::number(4, u32::from(core.since_capture), out);
    proto::number(5, u32::from(core.plies), out);
    let phase = PHASES.iter().find(|(_, phase)| *phase == core.phase);
    proto::number(6, phase.map_or(0, |(number, _)| *number), out);
}

impl RawPosition {
    /// Handles a field, if it is a common one.
    pub(super) fn take(&mut self, tag: u32, value: Value<'_>) -> Result<(), FieldError> {
        // As in protobuf, larger numbers lose their upper half.
        let number = || value.number().map(|number| number as u32);
        match tag {
            1 => value.numbers(|pit| self.pits.add(pit as u32))?,
            2 => value.numbers(|score| self.score.add(score as u32))?,
            3 => self.to_move = number()?,
            4 => self.since_capture = number()?,
            5 => self.plies = number()?,
            6 => self.phase = number()?,
            _ => {}
        }
        Ok(())
    }

    /// The position, if the common fields are valid.
    pub(super) fn core(&self, random_starter: bool, plies_max: u16) -> Result<Core, String> {
        expect(self.pits.count() == PITS, "pits are not twelve")?;
        expect(self.score.count() == 2, "scores are not two")?;
        let all = u32::from(SEEDS);
        let numbers = || self.pits.iter().chain(self.score.iter());
        expect(
            numbers().all(|&seeds| seeds <= all) && numbers().sum::<u32>() == all,
            "pits and scores are not 48 seeds together",
        )?;
        expect(self.to_move < 2, "to_move is not a seat")?;
        expect(self.plies <= plies_max.into(), "plies exceeds max_plies")?;
        expect(
            self.since_capture <= self.plies,
            "since_capture exceeds plies",
        )?;
        let phase = PHASES.iter().find(|(number, _)| *number == self.phase);
        let (_, phase) = *phase.ok_or("phase is not raw")?;
        let mut core = Core {
            pits: [0; PITS],
            score: [0; 2],
            to_move: self.to_move as u8,
            phase,
            passed: false,
            since_capture: self.since_capture as u16,
            plies: self.plies as u16,
        };
        for (mine, &theirs) in core.pits.iter_mut().zip(self.pits.iter()) {
            *mine = theirs as u8;
        }
        for (mine, &theirs) in core.score.iter_mut().zip(self.score.iter()) {
            *mine = theirs as u8;
        }
        expect(
            phase != Phase::Start || random_starter && core == Core::new(true),
            "the starter is not drawn in these rules",
        )?;
        Ok(core)
    }
}
