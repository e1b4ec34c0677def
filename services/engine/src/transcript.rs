//! What rules say of a game, for readers that do not have these rules.

use crate::seat::{Ending, Seat};

/// What the rules say of a game, as its record states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Notations, in the order of their first use.
    pub names: Vec<String>,
    /// The seat of each event, and the place of its notation in `names`.
    pub events: Vec<(Option<Seat>, u32)>,
    /// How the rules ended the game; none if they did not.
    pub ending: Option<Ending>,
    /// Ranks by the rules; only meaningful at an ending.
    pub placement: Vec<u8>,
    /// The seat to decide after the last event, if it is a decision.
    pub to_move: Option<Seat>,
}
