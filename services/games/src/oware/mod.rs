//! Oware: sowing and capturing seeds round two rows of six pits, for two
//! players, in the two forms that Ainooson's paper plays.
//!
//! - [`Abapa`] sows once a ply and captures twos and threes;
//! - [`AnanAnan`] sows in relays and banks fours.
//!
//! Both play on a [`Core`], which is `Copy` and knows nothing of the past, and
//! both are an [`Oware`]: what a search needs. [`AnanAnan`]'s state is a core;
//! [`Abapa`]'s is a core and the positions since the last capture, because a
//! position that comes back ends the game ([`abapa::State`]).

pub mod abapa;
pub mod anan_anan;
mod core;
mod text;
mod value;
mod wire;

use arena_engine::{ActionId, Game, OutcomeId};

pub use self::{
    abapa::Abapa,
    anan_anan::AnanAnan,
    core::{Core, Finish, PITS, Phase, ROW, SEEDS, Sown},
};

/// Either form, for those who search it: no method looks at the past, so that
/// what they do to a position may be done to a copy of its [`Core`].
///
/// As with [`Game`], nothing is checked.
pub trait Oware: Game {
    /// The part of a position that has no past.
    fn core<'a>(&self, state: &'a Self::State) -> &'a Core;

    /// The legal actions: bit k for action k, offsets of pits in the mover's
    /// row and after them the pass. Never 0 where somebody is to move.
    fn legal_mask(&self, core: &Core) -> u8;

    /// Sows a pit of the mover's row and banks what comes of it; leaves whose
    /// turn it is and the counters alone. The game may be over by it, where the
    /// rules end it in the middle of a sowing.
    fn sow(&self, core: &mut Core, offset: usize) -> Sown;

    /// Plays a legal action to its end: turn, counters and the end of the game,
    /// but for a position that came back, which only [`Game::apply`] can tell.
    fn play(&self, core: &mut Core, action: ActionId) -> Sown;
}

/// Either seat is as likely to start.
const STARTERS: [u32; 2] = [1; 2];

/// Draws who begins.
fn start(core: &mut Core, outcome: OutcomeId) {
    core.to_move = outcome as u8;
    core.phase = Phase::Move;
}
