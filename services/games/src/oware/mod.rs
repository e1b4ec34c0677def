//! Oware: sowing and capturing seeds around two rows of six pits, for two players, in the two forms
//! of Ainooson's paper.
//!
//! - [`Abapa`] sows once per ply and captures twos and threes;
//! - [`AnanAnan`] sows in relays and banks fours.
//!
//! Both play on a [`Core`], which is `Copy` and has no history, and both are an [`Oware`], which is
//! what a search needs. [`AnanAnan`]'s state is a core; [`Abapa`]'s is a core and the positions
//! since the last capture, because a repeated position ends the game ([`abapa::State`]).

pub mod abapa;
pub mod anan_anan;
mod core;
mod text;
mod value;
mod wire;

use arena_engine::{ActionId, OutcomeId};

use crate::ruleset::Ruleset;

pub use self::{
    abapa::Abapa,
    anan_anan::AnanAnan,
    core::{Core, PITS, Phase, ROW, SEEDS, Sown},
};

/// Either form, for searches: no method uses the history, so they work on a copy of the [`Core`].
///
/// As with [`arena_engine::Game`], nothing is checked.
pub trait Oware: Ruleset {
    /// The part of a position without its history.
    fn core<'a>(&self, state: &'a Self::State) -> &'a Core;

    /// The legal actions: bit k for action k, offsets of pits in the mover's row and after them the
    /// pass. Never 0 if a player has to move.
    fn legal_mask(&self, core: &Core) -> u8;

    /// Sows a pit of the mover's row and banks; does not change the turn or the counters. The game
    /// may be over afterwards, if the rules end it in the middle of a sowing.
    fn sow(&self, core: &mut Core, offset: usize) -> Sown;

    /// Plays a legal action completely: turn, counters and the end of the game, except for a
    /// repeated position, which only [`apply`](arena_engine::Game::apply) detects.
    fn play(&self, core: &mut Core, action: ActionId) -> Sown;
}

/// The methods of [`Game`] that are the same for both forms, because they need only the [`Core`].
macro_rules! game_of_core {
    () => {
        fn seats(&self) -> usize {
            2
        }

        fn has_chance(&self) -> bool {
            self.rules.random_starter
        }

        fn draws_only_starter(&self) -> bool {
            self.rules.random_starter
        }

        #[inline]
        fn node(&self, state: &Self::State) -> Node {
            self.core(state).node()
        }

        fn weights(&self, _: &Self::State) -> &[u32] {
            &super::STARTERS
        }

        fn placement(&self, state: &Self::State) -> PerSeat<u8> {
            self.core(state).placement()
        }

        fn scores(&self, state: &Self::State) -> PerSeat<i64> {
            self.core(state).scores()
        }

        #[inline]
        fn values(&self, state: &Self::State) -> PerSeat<i64> {
            self.core(state).values(&MODEL)
        }

        fn write_outcome(&self, _: &Self::State, outcome: OutcomeId, out: &mut dyn Write) {
            super::text::name_starter(outcome, out);
        }

        fn encode(&self, state: &Self::State, moves: bool, out: &mut Vec<u8>) {
            self.write_position(state, moves, out);
        }

        fn decode(&self, bytes: &[u8]) -> Result<Self::State, PositionError> {
            self.read_position(bytes)
                .map_err(|reason| PositionError::of(self, reason))
        }

        fn draw(&self, state: &Self::State, out: &mut dyn Write) {
            // Writing fails only if the buffer does, which is the caller's.
            let _ = super::text::draw(self.core(state), out);
        }
    };
}
use game_of_core;

/// Either seat is equally likely to start.
const STARTERS: [u32; 2] = [1; 2];

/// Sets the starter.
fn start(core: &mut Core, outcome: OutcomeId) {
    core.to_move = outcome as u8;
    core.phase = Phase::Move;
}
