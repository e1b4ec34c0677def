//! The message of Chinese Ludo's position.

use arena_wire::{
    fields::{FieldError, Fields},
    games::ChineseLudoPhase,
};

use super::{
    ChineseLudo, PASS, SIX,
    board::{HANGAR, HOME, PAD, PLANES, across},
    progress_bit,
    state::{Phase, State},
};
use crate::proto::{self, Few, expect};

/// The phases of the message.
const PHASES: [(ChineseLudoPhase, Phase); 5] = [
    (ChineseLudoPhase::Move, Phase::Move),
    (ChineseLudoPhase::Roll, Phase::Roll),
    (ChineseLudoPhase::Start, Phase::Start),
    (ChineseLudoPhase::Finished, Phase::Finished),
    (ChineseLudoPhase::Cap, Phase::Cap),
];

/// A parsed `ChineseLudoPosition`. Agents parse one for every decision, so nothing is allocated for
/// it.
#[derive(Default)]
struct RawPosition {
    to_move: u32,
    die: u32,
    planes: Few<{ 2 * PLANES }>,
    rolls: u32,
    sixes: u32,
    phase: ChineseLudoPhase,
}

impl RawPosition {
    fn read(bytes: &[u8]) -> Result<Self, FieldError> {
        let mut raw = Self::default();
        for field in Fields::of(bytes) {
            let (tag, value) = field?;
            // As in protobuf, larger numbers lose their upper half.
            let number = || value.number().map(|number| number as u32);
            match tag {
                1 => raw.to_move = number()?,
                2 => raw.die = number()?,
                3 => value.numbers(|plane| raw.planes.add(plane as u32))?,
                4 => raw.rolls = number()?,
                5 => raw.sixes = number()?,
                6 => raw.phase = ChineseLudoPhase::try_from(number()? as i32).unwrap_or_default(),
                _ => {}
            }
        }
        Ok(raw)
    }
}

/// Protobuf's `sint32`: small numbers of either sign stay short.
fn zigzag(progress: i8) -> u32 {
    let wide = i32::from(progress);
    (wide << 1 ^ wide >> 31) as u32
}

/// The progress of a `sint32`, if it is valid.
fn progress(raw: u32) -> Option<i8> {
    let wide = (raw >> 1) as i32 ^ -((raw & 1) as i32);
    let progress = i8::try_from(wide).ok()?;
    (HANGAR..=HOME).contains(&progress).then_some(progress)
}

impl ChineseLudo {
    pub(super) fn write_position(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        proto::number(1, u32::from(state.to_move), out);
        proto::number(2, u32::from(state.die), out);
        let planes = state.r.iter().flatten();
        proto::numbers(3, planes.map(|&plane| zigzag(plane)), out);
        proto::number(4, u32::from(state.rolls), out);
        proto::number(5, u32::from(state.sixes), out);
        let phase = PHASES.iter().find(|(_, phase)| *phase == state.phase);
        proto::number(6, phase.map_or(0, |(number, _)| *number as u32), out);
        if moves && state.phase == Phase::Move {
            self.write_moves(state, out);
        }
    }

    fn write_moves(&self, state: &State, out: &mut Vec<u8>) {
        let movable = self.movable(state);
        if movable == 0 {
            proto::message(15, out, |out| proto::number(1, u32::from(PASS), out));
        }
        let seat = usize::from(state.to_move);
        for (plane, &from) in state.r[seat].iter().enumerate() {
            if movable >> plane & 1 == 0 {
                continue;
            }
            let landing = self.board.landing(from, state.die);
            let others = state.r[1 - seat].iter();
            let hit = others.filter(|&&other| landing.hits & progress_bit(other) != 0);
            let (hits, lost) = hit.fold((0, 0), |(hits, lost), &other| {
                (hits + 1, lost + other as u32)
            });
            proto::message(15, out, |out| {
                proto::number(1, plane as u32, out);
                proto::number(2, plane as u32, out);
                proto::number(3, zigzag(from), out);
                proto::number(4, zigzag(landing.to), out);
                proto::number(5, hits, out);
                proto::number(6, lost, out);
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<State, String> {
        let message = RawPosition::read(bytes).map_err(|error| error.to_string())?;
        expect(message.to_move < 2, "to_move is not a seat")?;
        expect(message.die <= u32::from(SIX), "die exceeds 6")?;
        expect(
            message.planes.count() == 2 * PLANES,
            "planes are not four for each of two seats",
        )?;
        expect(
            message.rolls <= u32::from(self.rules.rolls_max),
            "rolls exceeds max_rolls",
        )?;
        expect(message.sixes <= 3, "sixes exceeds 3")?;
        let phase = PHASES.iter().find(|(number, _)| *number == message.phase);
        let mut state = State {
            r: [[HANGAR; PLANES]; 2],
            to_move: message.to_move as u8,
            die: message.die as u8,
            rolls: message.rolls as u16,
            sixes: message.sixes as u8,
            phase: phase.ok_or("phase is not raw")?.1,
        };
        let planes = state.r.iter_mut().flatten();
        for (mine, &theirs) in planes.zip(message.planes.iter()) {
            *mine = progress(theirs).ok_or("a plane has an impossible progress")?;
        }
        self.check_phase(&state)?;
        self.check_planes(&state)?;
        Ok(state)
    }

    /// Checks the phase against the die, the rolls and the planes at home.
    fn check_phase(&self, state: &State) -> Result<(), String> {
        let home = state.r.map(|planes| planes == [HOME; PLANES]);
        let over = home.contains(&true);
        let quiet = state.die == 0 && state.sixes == 0;
        let sixes = u16::from(state.sixes) <= state.rolls
            && (state.sixes == 0 || self.punishes_third_six())
            && match (self.punishes_third_six(), state.die == SIX) {
                (true, true) => state.sixes > 0,
                _ => state.sixes < 3,
            };
        let holds = match state.phase {
            Phase::Start => self.rules.random_starter && *state == State::start(Phase::Start),
            Phase::Roll => !over && state.die == 0 && state.rolls < self.rules.rolls_max && sixes,
            Phase::Move => !over && state.die > 0 && state.rolls > 0 && sixes,
            Phase::Finished => quiet && state.rolls > 0 && home[usize::from(state.to_move)],
            Phase::Cap => !over && quiet && state.rolls == self.rules.rolls_max,
        };
        let holds = holds && home != [true; 2];
        expect(holds, "phase contradicts the other fields")
    }

    /// Checks that the planes are where planes can be together.
    fn check_planes(&self, state: &State) -> Result<(), String> {
        let [red, blue] = &state.r;
        let on_pad = state.r.iter().flatten().any(|&plane| plane == PAD);
        expect(
            !(self.rules.launches_onto_ring && on_pad),
            "a plane is on a pad, but planes start on the ring",
        )?;
        let shared = |&plane: &i8| across(plane).is_some_and(|there| blue.contains(&there));
        expect(
            !red.iter().any(shared),
            "planes of both seats share a square",
        )
    }
}
