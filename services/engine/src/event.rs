//! What happens in a game.

use crate::seat::{ActionId, OutcomeId};

/// A chance outcome or an action, packed into 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(u16);

impl Event {
    /// A chance outcome.
    #[must_use]
    pub fn chance(outcome: OutcomeId) -> Self {
        Self(outcome << 1)
    }

    /// An action.
    #[must_use]
    pub fn action(action: ActionId) -> Self {
        Self(action << 1 | 1)
    }

    /// True for an action.
    #[must_use]
    pub fn is_action(self) -> bool {
        self.0 & 1 == 1
    }

    /// The id of the outcome or action.
    #[must_use]
    pub fn id(self) -> u16 {
        self.0 >> 1
    }

    /// The bits of the event, as in `arena.v1.GameRecord.events`.
    #[must_use]
    pub fn to_bits(self) -> u16 {
        self.0
    }

    /// The inverse of [`Event::to_bits`].
    #[must_use]
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
}
