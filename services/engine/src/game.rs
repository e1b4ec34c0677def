//! The trait every ruleset implements.

use std::{
    fmt::{Debug, Write},
    hash::Hash,
};

use crate::values;

/// A place at the board, from 0; seat 0 moves first unless the ruleset draws
/// who begins.
pub type Seat = u8;

/// A ruleset's own number for an action. Below 32768.
pub type ActionId = u16;

/// A ruleset's own number for a chance outcome: an index into
/// [`Game::weights`]. Below 32768.
pub type OutcomeId = u16;

/// The most seats a game can have.
pub const MAX_SEATS: usize = 4;

/// One value for each seat; what lies beyond the game's seats is unused.
pub type PerSeat<T> = [T; MAX_SEATS];

/// What comes next in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// This seat chooses among [`Game::legal`].
    Decision(Seat),
    /// One of [`Game::weights`] is drawn, from the stream of this seat, or of
    /// the table where the chance belongs to nobody.
    Chance(Option<Seat>),
    /// The game is over.
    Over(Ending),
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Normal,
    /// Nobody can ever move again.
    Deadlock,
    /// A position came back.
    Repetition,
    /// The game grew too long.
    Cap,
}

/// Bytes that are not a position of this game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of {ruleset}: {reason}")]
pub struct PositionError {
    /// Name of the ruleset.
    pub ruleset: &'static str,
    /// What is wrong.
    pub reason: String,
}

/// Rules with their options chosen. A value is cheap to clone and never
/// changes; everything that does is in [`Game::State`].
///
/// Except for [`Game::decode`], no method checks its arguments: [`crate::Match`]
/// and [`crate::replay()`] are the checked ways to play.
pub trait Game: Clone + Send + Sync + 'static {
    /// A position, small and without heap where it can be.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// Name of the ruleset, such as `cowry`.
    const NAME: &'static str;
    /// Grows when the meaning of a position, an id or an option changes.
    const VERSION: u32;

    /// Number of players, 2 to [`MAX_SEATS`].
    fn seats(&self) -> usize;

    /// Whether any position of these rules, with these options, is a chance node.
    fn has_chance(&self) -> bool;

    /// True if the only chance event names the seat that starts, and the rest of the game is
    /// symmetric: whichever seat starts, the same actions lead to the same game with the
    /// seats exchanged. Such a game has an opening book, like one without chance.
    fn draws_only_starter(&self) -> bool {
        false
    }

    /// The position before anything happened.
    fn initial(&self) -> Self::State;

    /// What comes next.
    fn node(&self, state: &Self::State) -> Node;

    /// At a chance node: the weight of each outcome. The sum is above 0 and
    /// fits 32 bits.
    fn weights(&self, state: &Self::State) -> &[u32];

    /// At a decision: replaces `out` by the legal actions, ascending. Never
    /// empty: a seat that cannot move has a pass.
    fn legal(&self, state: &Self::State, out: &mut Vec<ActionId>);

    /// The action that is nobody's choice, if the ruleset has one. It is
    /// played without asking even where agents are asked for forced moves.
    fn pass(&self) -> Option<ActionId> {
        None
    }

    /// Plays a legal action.
    fn apply(&self, state: &mut Self::State, action: ActionId);

    /// Applies a chance outcome.
    fn apply_outcome(&self, state: &mut Self::State, outcome: OutcomeId);

    /// At the end: the 1-based rank of each seat; ties share it.
    fn placement(&self, state: &Self::State) -> PerSeat<u8>;

    /// The ruleset's own score of each seat, at any time.
    fn scores(&self, state: &Self::State) -> PerSeat<i64>;

    /// What each seat can expect of the game, at any time: its share of a
    /// game's score (seats beaten and half of those tied, of all others), in
    /// millionths.
    ///
    /// A game over has the scores of its placement, see
    /// [`values::of_placement`]. Before that it is an estimate that is cheap to
    /// make, from 0 to [`values::POINT`], the bounds only where the result is
    /// certain. The sum over the seats is half a point a seat: exactly with two
    /// seats, within a millionth with more.
    fn values(&self, state: &Self::State) -> PerSeat<i64> {
        if let Node::Over(_) = self.node(state) {
            values::of_placement(self.seats(), &self.placement(state))
        } else {
            values::of_scores(self.seats(), &self.scores(state))
        }
    }

    /// At a chance node: appends what each of [`Game::weights`] is worth to each
    /// seat, as [`Game::values`] counts, for [`crate::luck()`].
    ///
    /// It tells more where it knows what an outcome can be used for; what a
    /// position without its use is worth may be the same for all. It is asked
    /// at every chance node of every game and should cost as little as a move.
    /// Numbers are part of records: they change with [`Game::VERSION`] only.
    fn chance_values(&self, state: &Self::State, out: &mut Vec<PerSeat<i64>>) {
        for outcome in 0..self.weights(state).len() as OutcomeId {
            let mut after = state.clone();
            self.apply_outcome(&mut after, outcome);
            out.push(self.values(&after));
        }
    }

    /// Writes what people call an action, in ASCII without spaces.
    fn write_action(&self, state: &Self::State, action: ActionId, out: &mut dyn Write);

    /// Writes what people call a chance outcome, in ASCII without spaces.
    fn write_outcome(&self, state: &Self::State, outcome: OutcomeId, out: &mut dyn Write);

    /// Appends the position as the ruleset's own protobuf message, with the
    /// details of the legal moves where `moves` says so.
    fn encode(&self, state: &Self::State, moves: bool, out: &mut Vec<u8>);

    /// Reads what [`Game::encode`] wrote.
    ///
    /// # Errors
    /// [`PositionError`] where the bytes are no position of this game with
    /// these options.
    fn decode(&self, bytes: &[u8]) -> Result<Self::State, PositionError>;

    /// Draws the board in text, several lines, for people.
    fn draw(&self, state: &Self::State, out: &mut dyn Write);
}
