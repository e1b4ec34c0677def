//! The message of cowry's position.

use arena_engine::Ending;
use arena_wire::{
    fields::{FieldError, Fields},
    games::CowryPhase,
};

use super::{
    Cowry,
    options::{Block, PIECES_MAX, SEATS_MAX, ThrowMode, VALUES},
    state::{Phase, State},
};
use crate::proto::{self, Few, expect};

/// The phases of the message.
const PHASES: [(CowryPhase, Phase); 6] = [
    (CowryPhase::Move, Phase::Move),
    (CowryPhase::Throw, Phase::Throw),
    (CowryPhase::Start, Phase::Start),
    (CowryPhase::Finished, Phase::Over(Ending::Normal)),
    (CowryPhase::Deadlock, Phase::Over(Ending::Deadlock)),
    (CowryPhase::Cap, Phase::Over(Ending::Cap)),
];

/// A parsed `CowryPosition`. Agents parse one for every decision, so nothing is allocated for it.
#[derive(Default)]
struct RawPosition<'a> {
    board: u32,
    seats: u32,
    to_move: u32,
    pieces: &'a [u8],
    hit_mask: u32,
    may_pass: Few<SEATS_MAX>,
    pool: Few<{ VALUES.len() }>,
    pending_throws: u32,
    throws: u32,
    finished: Few<SEATS_MAX>,
    phase: CowryPhase,
    blocked_now: u32,
}

impl<'a> RawPosition<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, FieldError> {
        let mut raw = Self::default();
        for field in Fields::of(bytes) {
            let (tag, value) = field?;
            // As in protobuf, larger numbers lose their upper half.
            let number = || value.number().map(|number| number as u32);
            match tag {
                1 => raw.board = number()?,
                2 => raw.seats = number()?,
                3 => raw.to_move = number()?,
                4 => raw.pieces = value.bytes()?,
                5 => raw.hit_mask = number()?,
                6 => value.numbers(|mask| raw.may_pass.add(mask as u32))?,
                7 => value.numbers(|count| raw.pool.add(count as u32))?,
                8 => raw.pending_throws = number()?,
                9 => raw.throws = number()?,
                10 => value.numbers(|seat| raw.finished.add(seat as u32))?,
                11 => raw.phase = CowryPhase::try_from(number()? as i32).unwrap_or_default(),
                12 => raw.blocked_now = number()?,
                _ => {}
            }
        }
        Ok(raw)
    }
}

impl Cowry {
    pub(super) fn write_position(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        let seats = self.seats;
        proto::number(1, u32::from(self.board.size), out);
        proto::number(2, seats as u32, out);
        proto::number(3, u32::from(state.to_move), out);
        let pieces = state.pieces[..seats].iter();
        proto::bytes(4, pieces.map(|row| &row[..self.rules.pieces]), out);
        proto::number(5, u32::from(state.hit_mask), out);
        if self.rules.doubles {
            proto::numbers(
                6,
                state.may_pass[..seats].iter().map(|&mask| mask.into()),
                out,
            );
        }
        proto::numbers(7, state.pool.iter().map(|&count| count.into()), out);
        proto::number(8, u32::from(state.pending_throws), out);
        proto::number(9, state.throws, out);
        let order = (1..=seats as u8)
            .filter_map(|rank| state.finished.iter().position(|&place| place == rank));
        proto::numbers(10, order.map(|seat| seat as u32), out);
        let phase = PHASES.iter().find(|(_, phase)| *phase == state.phase);
        proto::number(11, phase.map_or(0, |(number, _)| *number as u32), out);
        proto::number(12, u32::from(state.blocked_now), out);
        if moves && state.phase == Phase::Move {
            self.write_moves(state, out);
        }
    }

    fn write_moves(&self, state: &State, out: &mut Vec<u8>) {
        let mut any = false;
        self.each_move(state, |action| {
            any = true;
            let (Some(step), Some(landing)) = (self.parse(action), self.landing(state, action))
            else {
                return;
            };
            proto::message(15, out, |out| {
                proto::number(1, u32::from(action), out);
                proto::number(2, u32::from(step.value), out);
                proto::number(3, step.piece as u32, out);
                proto::number(4, u32::from(step.together), out);
                proto::number(5, u32::from(landing.from), out);
                proto::number(6, u32::from(landing.to), out);
                proto::number(7, u32::from(landing.hits), out);
            });
        });
        if !any {
            proto::message(15, out, |out| {
                proto::number(1, u32::from(self.pass_id()), out);
            });
        }
    }

    pub(super) fn read_position(&self, bytes: &[u8]) -> Result<State, String> {
        let message = RawPosition::read(bytes).map_err(|error| error.to_string())?;
        let (seats, pieces) = (self.seats, self.rules.pieces);
        expect(
            message.board == u32::from(self.board.size),
            "board has another size",
        )?;
        expect(message.seats == seats as u32, "another number of seats")?;
        expect(message.to_move < message.seats, "to_move is not a seat")?;
        expect(
            message.pieces.len() == seats * pieces,
            "another number of pieces",
        )?;
        expect(
            message.pieces.iter().all(|&piece| piece <= self.board.goal),
            "a piece is beyond the centre",
        )?;
        expect(
            message.hit_mask >> seats == 0,
            "hit_mask has a bit that is not a seat",
        )?;
        let masks = if self.rules.doubles { seats } else { 0 };
        expect(
            message.may_pass.count() == masks,
            "may_pass has another length",
        )?;
        let mut all_masks = message.may_pass.iter().chain([&message.blocked_now]);
        expect(
            all_masks.all(|mask| mask >> pieces == 0),
            "a mask has a bit that is not a piece",
        )?;
        expect(
            message.blocked_now == 0
                || self.rules.doubles && self.rules.block == Block::IllegalOnce,
            "blocked_now where nothing is blocked for a turn",
        )?;
        expect(
            message.pool.count() == VALUES.len() && message.pool.iter().all(|&count| count <= 255),
            "pool is not five counts up to 255",
        )?;
        expect(
            message.pending_throws <= 255,
            "pending_throws is beyond 255",
        )?;
        expect(
            message.throws <= self.rules.throws_max,
            "throws exceeds max_throws",
        )?;
        let mut finished = [0; SEATS_MAX];
        expect(
            message.finished.count() <= seats,
            "finished names a seat twice",
        )?;
        for (place, &seat) in message.finished.iter().enumerate() {
            let rank = usize::try_from(seat)
                .ok()
                .filter(|&seat| seat < seats)
                .map(|seat| &mut finished[seat])
                .filter(|rank| **rank == 0);
            *rank.ok_or("finished has a number that is not a seat, or one seat twice")? =
                place as u8 + 1;
        }
        let phase = PHASES.iter().find(|(number, _)| *number == message.phase);
        let mut state = State {
            pieces: [[0; PIECES_MAX]; SEATS_MAX],
            may_pass: [0; SEATS_MAX],
            blocked_now: message.blocked_now as u16,
            hit_mask: message.hit_mask as u8,
            pool: [0; VALUES.len()],
            pending_throws: message.pending_throws as u8,
            to_move: message.to_move as u8,
            phase: phase.ok_or("phase is not raw")?.1,
            finished,
            throws: message.throws,
        };
        for (seat, row) in message.pieces.chunks_exact(pieces).enumerate() {
            state.pieces[seat][..pieces].copy_from_slice(row);
        }
        for (mine, &theirs) in state.may_pass.iter_mut().zip(message.may_pass.iter()) {
            *mine = theirs as u16;
        }
        for (mine, &theirs) in state.pool.iter_mut().zip(message.pool.iter()) {
            *mine = theirs as u8;
        }
        self.check_phase(&state)?;
        self.check_pieces(&state)?;
        Ok(state)
    }

    /// Checks the phase against the pool, the throws and the finished seats.
    fn check_phase(&self, state: &State) -> Result<(), String> {
        let mover_is_home = state.finished[usize::from(state.to_move)] > 0;
        let finished = state.finished.iter().filter(|&&rank| rank > 0).count();
        let decided = self.is_decided(finished);
        let empty = state.pool_size() == 0;
        let quiet = empty && state.pending_throws == 0 && state.blocked_now == 0;
        let only_rethrows = state.pool[..3] == [0; 3]
            && (empty || self.rules.throw_mode == ThrowMode::Accumulate && self.rules.extra_on_4_8);
        let holds = match state.phase {
            Phase::Start => self.rules.random_starter && *state == Self::start(Phase::Start),
            Phase::Throw => {
                !mover_is_home
                    && !decided
                    && only_rethrows
                    && state.throws < self.rules.throws_max
                    && state.throws >= state.pool_size()
            }
            Phase::Move => {
                !mover_is_home && !decided && !empty && state.throws >= state.pool_size()
            }
            Phase::Over(Ending::Normal) => decided && quiet,
            Phase::Over(Ending::Deadlock) => !decided && quiet && self.is_deadlocked(state),
            Phase::Over(Ending::Cap) => !decided && quiet && state.throws == self.rules.throws_max,
            Phase::Over(Ending::Repetition) => false,
        };
        expect(holds, "phase contradicts the other fields")
    }

    /// Checks that the pieces are where pieces can be.
    fn check_pieces(&self, state: &State) -> Result<(), String> {
        let pieces = self.rules.pieces;
        for seat in 0..self.seats {
            let own = &state.pieces[seat][..pieces];
            let home = own.iter().all(|&piece| piece == self.board.goal);
            if home != (state.finished[seat] > 0) {
                return Err(format!("seat {seat}: finished contradicts its pieces"));
            }
            let gated = self.rules.gate && !state.has_hit(seat);
            if gated && own.iter().any(|&piece| piece >= self.board.outer) {
                return Err(format!(
                    "seat {seat}: a piece on an inner ring without a capture"
                ));
            }
            for (piece, &index) in own.iter().enumerate() {
                if self.board.is_safe(index) {
                    continue;
                }
                if !self.rules.doubles && own[..piece].contains(&index) {
                    return Err(format!("seat {seat}: two pieces on one square"));
                }
                let shared = (0..self.seats).any(|other| {
                    let there = self.board.cross(seat, other, index);
                    other != seat && state.pieces[other][..pieces].contains(&there)
                });
                if shared && self.hits_at(index) {
                    return Err(format!(
                        "seat {seat}: a piece on the square of an opponent's piece"
                    ));
                }
            }
        }
        Ok(())
    }
}
