//! Oware, Abapa: a sowing ends with its last seed, and captures twos and threes in the opponent's
//! row.
//!
//! After the paper's section 2 (Ainooson), with the unified rules where it is silent, as OpenSpiel
//! plays them; options select other rules.
//!
//! # Repetition
//!
//! With `repetition = first`, a position that was there since the last capture ends the game, so a
//! position has a history: [`State`] is a [`Core`], which is `Copy`, and the boards since the last
//! capture. They are compared completely, so nothing is mistaken for a repetition, and they are
//! part of the encoded position: a reader continues exactly like the original. Two plies lie
//! between boards with the same player to move, so the turn need not be stored.
//!
//! A search copies [`State::core`] and calls [`Oware::play`], which knows the counters and no
//! repetition. Its lines are exact if no position is repeated; otherwise the length limits bound
//! them.

mod options;
mod sowing;
mod wire;

use std::fmt::Write;

use arena_engine::{
    ActionId, Ending, Game, Node, OutcomeId, PerSeat, PositionError,
    options::{OptionError, Options},
};

use self::options::{AbapaRules, GrandSlam};
use super::{
    Core, Oware, PITS, Phase, Sown,
    core::{ANY, REACHING, list, pits_with},
    value::Model,
};
use crate::ruleset::{Ruleset, RulesetInfo};

/// Model of the values of positions.
const MODEL: Model = Model {
    lead: 131,
    late: 2700,
    pits: [
        0, 270, 215, 280, 110, 130, 430, 290, 170, 220, 570, 670, 740, 740, 880, 930, 930,
    ],
    tempo: 0,
};

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct Abapa {
    rules: AbapaRules,
}

/// A position with its history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The position.
    pub core: Core,
    /// The boards before this one since the last capture, oldest first; empty with `repetition =
    /// off` and at the end of the game.
    pub seen: Vec<[u8; PITS]>,
}

/// Initial capacity for boards: most games never need more.
const ROOM: usize = 64;

impl Abapa {
    /// The pits that may be played, one bit for each offset; none if that ends the game.
    #[inline]
    fn moves(&self, core: &Core) -> u8 {
        let mover = usize::from(core.to_move);
        let starves = self.rules.must_feed && core.row_lanes(1 - mover) == 0;
        let moves = pits_with(core.row_lanes(mover), if starves { REACHING } else { ANY });
        match self.rules.grand_slam {
            GrandSlam::Illegal => self.without_slams(core, moves),
            _ => moves,
        }
    }

    /// Passes the turn and ends the game if the board requires it.
    #[inline]
    fn end_turn(&self, core: &mut Core, sown: Sown) {
        core.end_ply(sown.banks());
        if core.is_won() {
            core.phase = Phase::Over(Ending::Normal);
        } else if self.moves(core) == 0 {
            if self.rules.sweeps {
                core.sweep();
            }
            core.phase = Phase::Over(Ending::Normal);
        }
    }

    /// Ends a game that reached a length limit.
    #[inline]
    fn check_caps(&self, core: &mut Core) {
        let rules = &self.rules;
        if core.since_capture >= rules.quiet_max || core.plies >= rules.plies_max {
            core.sweep();
            core.phase = Phase::Over(Ending::Cap);
        }
    }

    /// Stores the board before a ply, and ends the game if the board after it is known.
    #[inline]
    fn check_repetition(state: &mut State, before: [u8; PITS], sown: Sown) {
        let State { core, seen } = state;
        if sown.banks() {
            // Captured seeds never return, so no earlier board can be repeated.
            seen.clear();
            return;
        }
        if seen.is_empty() {
            seen.reserve(ROOM);
        }
        seen.push(before);
        let same_mover = seen.iter().rev().skip(1).step_by(2);
        if same_mover.fold(false, |found, board| found | (*board == core.pits)) {
            core.sweep();
            core.phase = Phase::Over(Ending::Repetition);
        }
    }
}

impl Oware for Abapa {
    #[inline]
    fn core<'a>(&self, state: &'a State) -> &'a Core {
        &state.core
    }

    #[inline]
    fn legal_mask(&self, core: &Core) -> u8 {
        self.moves(core)
    }

    #[inline]
    fn sow(&self, core: &mut Core, offset: usize) -> Sown {
        self.sow_pit(core, offset)
    }

    #[inline]
    fn play(&self, core: &mut Core, action: ActionId) -> Sown {
        let sown = self.sow_pit(core, usize::from(action));
        self.end_turn(core, sown);
        if !core.is_over() {
            self.check_caps(core);
        }
        sown
    }
}

impl Game for Abapa {
    type State = State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    super::game_of_core!();

    fn initial(&self) -> State {
        State {
            core: Core::new(self.rules.random_starter),
            seen: Vec::new(),
        }
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        list(self.moves(&state.core), out);
    }

    #[inline]
    fn apply(&self, state: &mut State, action: ActionId) {
        let before = state.core.pits;
        let sown = self.sow_pit(&mut state.core, usize::from(action));
        self.end_turn(&mut state.core, sown);
        if self.rules.repetition && !state.core.is_over() {
            Self::check_repetition(state, before, sown);
        }
        if !state.core.is_over() {
            self.check_caps(&mut state.core);
        }
        if state.core.is_over() {
            state.seen.clear();
        }
    }

    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        super::start(&mut state.core, outcome);
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        // Writing fails only if the buffer does, which is the caller's.
        let _ = write!(out, "{action}");
    }
}

impl Ruleset for Abapa {
    const NAME: &'static str = "oware-abapa";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "sowing seeds and capturing twos and threes, for two players",
            seats: (2, 2),
            options: options::specs(),
            presets: options::presets(),
            settle: options::settle,
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        Ok(Self {
            rules: AbapaRules::new(options)?,
        })
    }
}
