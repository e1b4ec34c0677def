//! Oware, Anan-anan ("four-four"): sowing continues from the pit of the last seed, and pits of four
//! are banked.
//!
//! After the paper's section 2 (Ainooson) and the same author's page of rules and early framework.
//! A position has no relevant history: [`Core`] is all of it.
//!
//! # Sowings without end
//!
//! A relay that banks nothing depends only on the board and the pit, so it stops or repeats. Relays
//! of ordinary length are only counted; a longer one is searched once for a cycle by Brent's
//! method, which is exact whatever the count. Positions are compared when seeds are about to be
//! lifted: all seeds are on the board then.

mod options;
mod relay;
mod wire;

use std::fmt::Write;

use arena_engine::{
    ActionId, Ending, Game, Node, OutcomeId, PerSeat, PositionError,
    options::{OptionError, Options},
};

use self::options::{AnanAnanRules, Infinite, Remaining};
use super::{
    Core, Oware, Phase, ROW, Sown,
    core::{ANY, list, pits_with},
    value::Model,
};
use crate::ruleset::{Ruleset, RulesetInfo};

/// The id of the pass, the highest one.
pub const PASS: ActionId = ROW as ActionId;

/// Seeds on the board at which the game stops with `remaining = stop-at-four`.
const LAST_FOUR: u8 = 4;

/// Seeds on the board that go to the player who banked last with `remaining = last-eight`.
const LAST_EIGHT: u8 = 8;

/// Model of the values of positions.
const MODEL: Model = Model {
    lead: 30,
    late: 0,
    pits: [0, 260, 570, 510, 210, 210, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    tempo: 90,
};

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct AnanAnan {
    rules: AnanAnanRules,
}

impl AnanAnan {
    /// The pits that may be played, one bit for each offset; without one, the player has to pass.
    #[inline]
    fn moves(&self, core: &Core) -> u8 {
        let moves = pits_with(core.row_lanes(usize::from(core.to_move)), ANY);
        if self.rules.infinite == Infinite::Illegal {
            self.without_endless(core, moves)
        } else {
            moves
        }
    }

    fn without_endless(&self, core: &Core, moves: u8) -> u8 {
        (0..ROW)
            .filter(|&offset| {
                moves >> offset & 1 == 1 && !self.sow_pit(&mut core.clone(), offset).endless
            })
            .map(|offset| 1 << offset)
            .sum()
    }

    /// True if so few seeds are left that the rules end the game.
    #[inline]
    fn runs_out(&self, core: &Core) -> bool {
        match self.rules.remaining {
            Remaining::LastEight => core.left() <= LAST_EIGHT,
            Remaining::StopAtFour => core.left() <= LAST_FOUR,
            Remaining::None => false,
        }
    }

    /// Ends the game if the rules say so at the end of a ply that did not end it by its banks.
    #[inline]
    fn check_end(&self, core: &mut Core) {
        let rules = &self.rules;
        if core.is_won() || rules.empty_row_ends && self.moves(core) == 0 {
            core.phase = Phase::Over(Ending::Normal);
        } else if core.since_capture >= rules.quiet_max || core.plies >= rules.plies_max {
            core.phase = Phase::Over(Ending::Cap);
        }
    }

    fn pass_turn(&self, core: &mut Core) -> Sown {
        core.end_ply(false);
        if core.passed {
            core.phase = Phase::Over(Ending::Normal);
        } else {
            core.passed = true;
            self.check_end(core);
        }
        Sown::default()
    }
}

impl Oware for AnanAnan {
    #[inline]
    fn core<'a>(&self, state: &'a Core) -> &'a Core {
        state
    }

    #[inline]
    fn legal_mask(&self, core: &Core) -> u8 {
        match self.moves(core) {
            0 => 1 << PASS,
            moves => moves,
        }
    }

    #[inline]
    fn sow(&self, core: &mut Core, offset: usize) -> Sown {
        self.sow_pit(core, offset)
    }

    #[inline]
    fn play(&self, core: &mut Core, action: ActionId) -> Sown {
        if action == PASS {
            return self.pass_turn(core);
        }
        let sown = self.sow_pit(core, usize::from(action));
        core.end_ply(sown.banks());
        core.passed = false;
        if !core.is_over() {
            self.check_end(core);
        }
        sown
    }
}

impl Game for AnanAnan {
    type State = Core;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    super::game_of_core!();

    fn initial(&self) -> Core {
        Core::new(self.rules.random_starter)
    }

    #[inline]
    fn legal(&self, state: &Core, out: &mut Vec<ActionId>) {
        let moves = self.moves(state);
        list(moves, out);
        if moves == 0 {
            out.push(PASS);
        }
    }

    #[inline]
    fn pass(&self) -> Option<ActionId> {
        Some(PASS)
    }

    #[inline]
    fn apply(&self, state: &mut Core, action: ActionId) {
        self.play(state, action);
    }

    fn apply_outcome(&self, state: &mut Core, outcome: OutcomeId) {
        super::start(state, outcome);
    }

    fn write_action(&self, _: &Core, action: ActionId, out: &mut dyn Write) {
        // Writing fails only if the buffer does, which is the caller's.
        let _ = if action == PASS {
            out.write_str("pass")
        } else {
            write!(out, "{action}")
        };
    }
}

impl Ruleset for AnanAnan {
    const NAME: &'static str = "oware-anan-anan";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "sowing seeds in relays and banking fours, for two players",
            seats: (2, 2),
            options: options::specs(),
            presets: options::presets(),
            settle: options::settle,
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        Ok(Self {
            rules: AnanAnanRules::new(options)?,
        })
    }
}
