//! Chinese Ludo, also known as Aeroplane chess: a race of two players around a ring, with jumps and
//! flights.
//!
//! After Han and Zhou, "Threat Matrix" (Electronics 2022, 11, 1699), with the usual rules where it
//! is silent.

mod board;
mod chance;
mod fitted;
mod options;
mod state;
mod text;
mod values;
mod wire;

use std::{fmt::Write, sync::Arc};

use arena_engine::{
    ActionId, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError, Seat,
    options::{OptionError, Options},
    values::{of_placement, pairwise},
};

use self::{
    board::Board,
    chance::Chances,
    options::{LudoRules, ThreeSixes},
};
pub use self::{
    board::{HANGAR, HOME, Landing, PAD, PLANES, RING_LAST, across, is_own_colour},
    state::{Phase, State},
};
use crate::{
    placement,
    ruleset::{Ruleset, RulesetInfo},
};

/// The id of the pass.
pub const PASS: ActionId = PLANES as ActionId;

/// The roll that gives another roll.
const SIX: u8 = 6;

/// Each seat is equally likely to start, and each face of the die to appear.
const EVEN: [u32; 6] = [1; 6];

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct ChineseLudo {
    rules: LudoRules,
    board: Arc<Board>,
    chances: Arc<Chances>,
}

impl ChineseLudo {
    /// Effect of a roll of 1 to 6 on a plane; none if it cannot be played.
    #[must_use]
    #[inline]
    pub fn landing(&self, from: i8, die: u8) -> Option<&Landing> {
        self.board
            .is_playable(from, die)
            .then(|| self.board.landing(from, die))
    }

    /// True if the third six in a row is not played.
    #[must_use]
    pub fn punishes_third_six(&self) -> bool {
        self.rules.three_sixes != ThreeSixes::None
    }

    /// A position with a roll to be played, after as few rolls as possible.
    #[must_use]
    pub fn position(&self, r: [[i8; PLANES]; 2], to_move: Seat, die: u8) -> State {
        State {
            r,
            to_move,
            die,
            rolls: 1,
            sixes: u8::from(die == SIX && self.punishes_third_six()),
            phase: Phase::Move,
        }
    }

    /// A mask of the planes that can play the roll; of interchangeable planes with the same
    /// progress, the lowest.
    #[must_use]
    #[inline]
    pub fn movable(&self, state: &State) -> u8 {
        if self.is_third_six(state) {
            return 0;
        }
        let (mut planes, mut seen) = (0, 0u64);
        for (plane, &progress) in state.r[usize::from(state.to_move)].iter().enumerate() {
            let bit = progress_bit(progress);
            let moves = seen & bit == 0 && self.board.is_playable(progress, state.die);
            planes |= u8::from(moves) << plane;
            seen |= bit;
        }
        planes
    }

    #[inline]
    fn is_third_six(&self, state: &State) -> bool {
        state.sixes == 3
    }

    /// Moves a plane and sends back what it hits.
    #[inline]
    fn fly(&self, state: &mut State, plane: usize) {
        let seat = usize::from(state.to_move & 1);
        let own = &mut state.r[seat];
        let landing = self.board.landing(own[plane], state.die);
        own[plane] = landing.to;
        let is_home = *own == [HOME; PLANES];
        if landing.hits != 0 {
            for other in &mut state.r[1 - seat] {
                if landing.hits & progress_bit(*other) != 0 {
                    *other = HANGAR;
                }
            }
        }
        if is_home {
            end(state, Phase::Finished);
        } else {
            self.end_roll(state);
        }
    }

    fn pass(&self, state: &mut State) {
        if self.is_third_six(state) && self.rules.three_sixes == ThreeSixes::Hangar {
            for plane in &mut state.r[usize::from(state.to_move)] {
                if *plane != HOME {
                    *plane = HANGAR;
                }
            }
        }
        self.end_roll(state);
    }

    #[inline]
    fn end_roll(&self, state: &mut State) {
        if state.die != SIX || self.is_third_six(state) {
            state.to_move = 1 - state.to_move;
            state.sixes = 0;
        }
        if state.rolls >= self.rules.rolls_max {
            end(state, Phase::Cap);
        } else {
            state.die = 0;
            state.phase = Phase::Roll;
        }
    }

    #[inline]
    fn roll(&self, state: &mut State, die: u8) {
        state.die = die;
        state.rolls += 1;
        state.sixes += u8::from(die == SIX && self.punishes_third_six());
        state.phase = Phase::Move;
    }
}

/// One bit for each progress; the hangar's is above all others.
#[inline]
fn progress_bit(progress: i8) -> u64 {
    1 << (progress as u8 & 63)
}

/// Ends the game, with nothing left to play.
fn end(state: &mut State, phase: Phase) {
    state.phase = phase;
    state.die = 0;
    state.sixes = 0;
}

impl Game for ChineseLudo {
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
        true
    }

    fn initial(&self) -> State {
        State::start(if self.rules.random_starter {
            Phase::Start
        } else {
            Phase::Roll
        })
    }

    #[inline]
    fn node(&self, state: &State) -> Node {
        match state.phase.ending() {
            Some(ending) => Node::Over(ending),
            None if state.phase == Phase::Move => Node::Decision(state.to_move),
            None => Node::Chance((state.phase == Phase::Roll).then_some(state.to_move)),
        }
    }

    #[inline]
    fn weights(&self, state: &State) -> &[u32] {
        if state.phase == Phase::Start {
            &EVEN[..2]
        } else {
            &EVEN
        }
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        out.clear();
        let planes = self.movable(state);
        if planes == 0 {
            out.push(PASS);
        }
        out.extend((0..PASS).filter(|plane| planes >> plane & 1 == 1));
    }

    #[inline]
    fn pass(&self) -> Option<ActionId> {
        Some(PASS)
    }

    #[inline]
    fn apply(&self, state: &mut State, action: ActionId) {
        if action < PASS {
            self.fly(state, usize::from(action));
        } else {
            self.pass(state);
        }
    }

    #[inline]
    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        if state.phase == Phase::Start {
            state.to_move = outcome as Seat;
            state.phase = Phase::Roll;
        } else {
            self.roll(state, outcome as u8 + 1);
        }
    }

    /// A seat that is home has the maximum progress, so progress ranks the seats at every end.
    fn placement(&self, state: &State) -> PerSeat<u8> {
        placement::of_two([0, 1].map(|seat| state.progress(seat)))
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        let mut scores = [0; MAX_SEATS];
        for (score, planes) in scores.iter_mut().zip(&state.r) {
            *score = planes.iter().filter(|&&plane| plane == HOME).count() as i64;
        }
        scores
    }

    #[inline]
    fn values(&self, state: &State) -> PerSeat<i64> {
        if state.phase.ending().is_some() {
            return of_placement(2, &self.placement(state));
        }
        pairwise(2, |_, _| values::first_seat(state))
    }

    fn chance_values(&self, state: &State, out: &mut Vec<i64>) {
        self.list_chances(state, out);
    }

    fn write_action(&self, state: &State, action: ActionId, out: &mut dyn Write) {
        // Writing fails only if the buffer does, which is the caller's.
        let _ = self.name_action(state, action, out);
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

impl Ruleset for ChineseLudo {
    const NAME: &'static str = "chinese-ludo";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "race of two players on a ring with jumps and flights (Aeroplane chess)",
            seats: (2, 2),
            options: options::specs(),
            presets: options::presets(),
            settle: |_, _| {},
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        let rules = LudoRules::new(options)?;
        let board = Board::new(&rules);
        Ok(Self {
            chances: Arc::new(Chances::new(&board)),
            board: Arc::new(board),
            rules,
        })
    }
}
