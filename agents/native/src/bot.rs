//! What a bot is.

use arena_engine::{
    ActionId, AgentRng, Finished, Game, IllegalAction, Match, Question, Seat, Status,
};

/// A player of one game with its options.
pub trait Bot<G: Game>: Send {
    /// Chooses one of the legal actions. What a bot keeps between two
    /// decisions is for speed only and never changes a choice, also where a
    /// decision was stopped. One that is asked to stop returns at once, and what
    /// it returns is no choice.
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
    /// Tells a bot that thinks long to stop.
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

    /// Randomness for this choice.
    #[must_use]
    pub fn rng(&self) -> AgentRng {
        AgentRng::new(self.seed)
    }
}

/// Whether a bot is to stop thinking. Bots have no clock: whoever asks them
/// knows why and when.
#[derive(Clone, Copy)]
pub struct Stop<'a>(Option<&'a dyn Fn() -> bool>);

impl Stop<'_> {
    /// A bot may take as long as it wants.
    pub const NEVER: Self = Self(None);
}

impl<'a> Stop<'a> {
    /// A bot is to stop as soon as this is true; from then on it stays so.
    /// It is called once in about a thousand positions.
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

/// Plays a match to its end: `choose` asks the bot of the decision's seat, which
/// may take as long as it wants.
///
/// # Errors
/// [`IllegalAction`] where a choice is not legal.
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

/// Looks now and then whether a search is to stop, so that a position costs no
/// more than a count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace<'a> {
    stop: Stop<'a>,
    /// Positions until the next look.
    left: u32,
}

impl<'a> Pace<'a> {
    /// Positions from one look to the next.
    const EVERY: u32 = 1024;

    pub(crate) fn new(stop: Stop<'a>) -> Self {
        Self {
            stop,
            left: Self::EVERY,
        }
    }

    /// To be asked at each position: true where the search is to return at
    /// once, with whatever it has, and true again if it goes on nevertheless.
    #[inline]
    pub(crate) fn is_over(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        let over = self.stop.0.is_some_and(|over| over());
        if !over {
            self.left = Self::EVERY;
        }
        over
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

#[cfg(test)]
mod tests;
