//! What a bot is.

use arena_engine::{ActionId, AgentRng, Game, Seat};

/// A player of one game with its options.
pub trait Bot<G: Game>: Send {
    /// Chooses one of the legal actions. What a bot keeps between two
    /// decisions is for speed only and never changes a choice.
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen;
}

/// One choice to be made.
#[derive(Debug)]
pub struct Decision<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The position.
    pub state: &'a G::State,
    /// The seat to choose for.
    pub seat: Seat,
    /// How many decision nodes the seat had before in this game.
    pub number: u32,
    /// Where all randomness of this choice comes from.
    pub seed: u64,
    /// The legal actions, ascending, never empty.
    pub legal: &'a [ActionId],
}

impl<G: Game> Decision<'_, G> {
    /// Randomness for this choice.
    #[must_use]
    pub fn rng(&self) -> AgentRng {
        AgentRng::new(self.seed)
    }
}

/// A chosen action, and what the search tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// One of the legal actions.
    pub action: ActionId,
    /// From the view of the seat that chooses, in the bot's own unit.
    pub score: Option<f64>,
    /// Plies looked ahead.
    pub depth: Option<u32>,
    /// Positions looked at.
    pub nodes: Option<u64>,
}

impl From<ActionId> for Chosen {
    fn from(action: ActionId) -> Self {
        Self {
            action,
            score: None,
            depth: None,
            nodes: None,
        }
    }
}
