//! The interface of a bot.

use arena_engine::{
    ActionId, AgentRng, Finished, Game, IllegalAction, Match, Question, Seat, Status,
};

/// A player of one game with its options.
pub trait Bot<G: Game>: Send {
    /// Chooses one of the legal actions. State that a bot keeps between two decisions is
    /// for speed only and never changes a choice, even if a decision was stopped. A bot
    /// that is asked to stop returns at once, and its return value is not used.
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen;
}

/// One decision to make.
#[derive(Debug)]
pub struct Decision<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The position.
    pub state: &'a G::State,
    /// The seat to choose for.
    pub seat: Seat,
    /// Number of earlier decision nodes of the seat in this game.
    pub number: u32,
    /// Seed of all randomness of this choice.
    pub seed: u64,
    /// The legal actions, ascending, never empty.
    pub legal: &'a [ActionId],
    /// Signals a long search to stop.
    pub stop: Stop<'a>,
}

impl<'a, G: Game> Decision<'a, G> {
    /// The open question of a match.
    #[must_use]
    pub fn of(play: &'a Match<G>, question: Question, stop: Stop<'a>) -> Self {
        Self {
            game: play.game(),
            state: play.state(),
            seat: question.seat,
            number: question.number,
            seed: question.seed,
            legal: play.legal(),
            stop,
        }
    }

    /// Random numbers for this choice.
    #[must_use]
    pub fn rng(&self) -> AgentRng {
        AgentRng::new(self.seed)
    }
}

/// Signals a bot to stop searching. Bots have no clock: their caller decides when to stop.
#[derive(Clone, Copy)]
pub struct Stop<'a>(Option<&'a dyn Fn() -> bool>);

impl Stop<'_> {
    /// No stop: the bot may take as long as it needs.
    pub const NEVER: Self = Self(None);
}

impl<'a> Stop<'a> {
    /// The bot stops as soon as `over` is true; it must stay true from then on. A bot calls
    /// it about once in a thousand positions.
    #[must_use]
    pub fn when(over: &'a dyn Fn() -> bool) -> Self {
        Self(Some(over))
    }
}

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.0.is_some() { "When" } else { "Never" };
        f.write_str(word)
    }
}

/// Plays a match to its end. `choose` asks the bot of the decision's seat, which may take
/// as long as it needs.
///
/// # Errors [`IllegalAction`] if a choice is not legal.
pub fn play_out<G: Game>(
    mut play: Match<G>,
    mut choose: impl FnMut(&Decision<'_, G>) -> Chosen,
) -> Result<Finished, IllegalAction> {
    while let Status::Asks(question) = play.status() {
        let chosen = choose(&Decision::of(&play, question, Stop::NEVER));
        play.answer(chosen.action.into())?;
    }
    Ok(play.finish())
}

/// Checks from time to time whether a search must stop, so that a position costs only a
/// counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace<'a> {
    stop: Stop<'a>,
    /// Positions until the next check.
    left: u32,
}

impl<'a> Pace<'a> {
    /// Positions between two checks.
    const EVERY: u32 = 1024;

    pub(crate) fn new(stop: Stop<'a>) -> Self {
        Self {
            stop,
            left: Self::EVERY,
        }
    }

    /// Counts a position: true if the search must return at once with any result. It
    /// stays true if the search continues.
    #[inline]
    pub(crate) fn count(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.look()
    }

    /// As [`Self::count`], for positions that take long: checks at once.
    #[cold]
    pub(crate) fn look(&mut self) -> bool {
        let over = self.stop.0.is_some_and(|over| over());
        if !over {
            self.left = Self::EVERY;
        }
        over
    }
}

/// The chosen action, and statistics of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// One of the legal actions.
    pub action: ActionId,
    /// Score for the seat that chooses, in the bot's own unit.
    pub score: Option<f64>,
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Number of searched positions.
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

#[cfg(test)]
mod tests;
