//! The trait that every ruleset implements.

use std::{
    fmt::{Debug, Write},
    hash::Hash,
};

use crate::{
    event::Event,
    seat::{ActionId, Ending, OutcomeId, PerSeat, Seat},
    transcript::Transcript,
    values,
};

/// The next event of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// This seat chooses among [`Game::legal`].
    Decision(Seat),
    /// One of [`Game::weights`] is drawn, from the stream of this seat, or from the table's stream
    /// if the chance belongs to no seat.
    Chance(Option<Seat>),
    /// The game is over.
    Over(Ending),
}

/// Bytes that are no position of this game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of {ruleset}: {reason}")]
pub struct PositionError {
    /// Name of the ruleset.
    pub ruleset: &'static str,
    /// The problem.
    pub reason: String,
}

impl PositionError {
    /// The error of this game's rules.
    pub fn of<G: Game>(game: &G, reason: impl Into<String>) -> Self {
        Self {
            ruleset: game.name(),
            reason: reason.into(),
        }
    }
}

/// The rules with their options. A value is cheap to clone and never changes; the state of a
/// game is in [`Game::State`].
///
/// Except for [`Game::decode`], methods do not check their arguments: [`crate::Match`] and
/// [`crate::replay()`] are the checked ways to play.
pub trait Game: Clone + Send + Sync + 'static {
    /// A position: small, and without heap memory if possible.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// Name of the ruleset, such as `cowry`.
    fn name(&self) -> &'static str;

    /// Version of the rules. It grows when the meaning of a position, an id or an option changes.
    fn version(&self) -> u32;

    /// Number of players, 2 to [`MAX_SEATS`](crate::MAX_SEATS).
    fn seats(&self) -> usize;

    /// True if some position of these rules, with these options, is a chance node.
    fn has_chance(&self) -> bool;

    /// True if the only chance event names the seat that starts, and the rest of the game is
    /// symmetric: whichever seat starts, the same actions lead to the same game with the
    /// seats exchanged. Such a game has an opening book, like one without chance.
    fn draws_only_starter(&self) -> bool {
        false
    }

    /// The initial position.
    fn initial(&self) -> Self::State;

    /// Name of the option that is the initial position as text, if there is one.
    fn start_option(&self) -> Option<&'static str> {
        None
    }

    /// The same rules from another initial position, which is not a chance node and in which the game
    /// is not over. The text is a value of [`Game::start_option`]; it is returned as resolved options
    /// have it.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn with_start(&self, _text: &str) -> Result<(Self, String), String> {
        Err(format!("{} has no start positions as text", self.name()))
    }

    /// The next event.
    fn node(&self, state: &Self::State) -> Node;

    /// At a chance node: the weight of each outcome. The sum is above 0 and fits 32 bits.
    fn weights<'a>(&'a self, state: &'a Self::State) -> &'a [u32];

    /// At a decision: replaces `out` by the legal actions in ascending order. There is always one:
    /// a seat that cannot move has a pass.
    fn legal(&self, state: &Self::State, out: &mut Vec<ActionId>);

    /// The pass, if the ruleset has one. It is played without asking, even if agents are asked for
    /// forced moves.
    fn pass(&self) -> Option<ActionId> {
        None
    }

    /// Plays a legal action.
    fn apply(&self, state: &mut Self::State, action: ActionId);

    /// Applies a chance outcome.
    fn apply_outcome(&self, state: &mut Self::State, outcome: OutcomeId);

    /// The same rules, for a thread that plays many games at once: after [`Game::apply_later`],
    /// positions can be pending until [`Game::find_pending`], so that rules which are not part of this
    /// program are asked about many positions together.
    fn deferring(&self) -> Self {
        self.clone()
    }

    /// Plays a legal action or applies a chance outcome. The position is perhaps pending afterwards.
    fn apply_later(&self, state: &mut Self::State, event: Event) {
        match event.is_action() {
            true => self.apply(state, event.id()),
            false => self.apply_outcome(state, event.id()),
        }
    }

    /// True if positions can be pending after [`Game::deferring`].
    fn can_defer(&self) -> bool {
        false
    }

    /// False if the position is pending. Only then do other methods not know it.
    fn is_known(&self, _state: &mut Self::State) -> bool {
        true
    }

    /// Waits until all pending positions of this value and its clones are known.
    fn find_pending(&self) {}

    /// As [`Game::find_pending`], until `is_over` is true. It is called between two messages to the rules.
    /// Positions are left pending then, for good.
    fn find_pending_until(&self, _is_over: &mut dyn FnMut() -> bool) {
        self.find_pending();
    }

    /// Number of games that are best played at once with [`Game::deferring`]. It changes with time.
    fn games_at_once(&self) -> usize {
        1
    }

    /// At the end: the 1-based rank of each seat; tied seats share it.
    fn placement(&self, state: &Self::State) -> PerSeat<u8>;

    /// The ruleset's own score of each seat, in any position.
    fn scores(&self, state: &Self::State) -> PerSeat<i64>;

    /// The expected score of each seat in any position, in millionths: the share of other seats
    /// that it beats, ties counting half.
    ///
    /// At the end, these are the scores of the placement, see [`values::of_placement`]. Before,
    /// they are a cheap estimate from 0 to [`values::POINT`], and the bounds only if the result is
    /// certain. The sum over the seats is half a point per seat, see [`values::add_up`].
    fn values(&self, state: &Self::State) -> PerSeat<i64> {
        if let Node::Over(_) = self.node(state) {
            values::of_placement(self.seats(), &self.placement(state))
        } else {
            values::of_scores(self.seats(), &self.scores(state))
        }
    }

    /// At a chance node: appends the value of each seat, in the unit of [`Game::values`], for the first
    /// outcome of [`Game::weights`], then for the second, and so on, for [`crate::luck()`].
    ///
    /// The values are better if they consider what an outcome can be used for; the value of the
    /// position alone may be the same for all outcomes. They are computed at every chance node of
    /// every game, so they should cost no more than a move. Numbers are part of records: they
    /// change only with [`Game::version`].
    fn chance_values(&self, state: &Self::State, out: &mut Vec<i64>) {
        for outcome in 0..self.weights(state).len() as OutcomeId {
            let mut after = state.clone();
            self.apply_outcome(&mut after, outcome);
            out.extend(&self.values(&after)[..self.seats()]);
        }
    }

    /// Writes the notation of an action, in ASCII without spaces.
    fn write_action(&self, state: &Self::State, action: ActionId, out: &mut dyn Write);

    /// The legal action of a notation, which may be shorter or longer than that of
    /// [`Game::write_action`] if it is not ambiguous; none if there is no such action.
    fn find_action(&self, state: &Self::State, text: &str) -> Option<ActionId> {
        let mut legal = Vec::new();
        self.legal(state, &mut legal);
        let mut notation = String::new();
        legal.into_iter().find(|&action| {
            notation.clear();
            self.write_action(state, action, &mut notation);
            notation == text
        })
    }

    /// Writes the notation of a chance outcome, in ASCII without spaces.
    fn write_outcome(&self, state: &Self::State, outcome: OutcomeId, out: &mut dyn Write);

    /// Appends the position as the ruleset's own protobuf message, with details of the legal moves
    /// if `moves` is true.
    fn encode(&self, state: &Self::State, moves: bool, out: &mut Vec<u8>);

    /// Decodes the output of [`Game::encode`].
    ///
    /// # Errors
    /// [`PositionError`] if the bytes are no position of this game with these options.
    fn decode(&self, bytes: &[u8]) -> Result<Self::State, PositionError>;

    /// Appends what [`Game::load`] reads: the position, for bots of this program.
    fn save(&self, state: &Self::State, out: &mut Vec<u8>) {
        self.encode(state, false, out);
    }

    /// Reads the output of [`Game::save`].
    ///
    /// # Errors
    /// [`PositionError`] if the bytes are no position of this game with these options.
    fn load(&self, bytes: &[u8]) -> Result<Self::State, PositionError> {
        self.decode(bytes)
    }

    /// True if records have the luck of each seat, see [`crate::luck()`].
    fn has_luck(&self) -> bool {
        true
    }

    /// Why a position is unknown, for rules that are not part of this program and can fail. Such a
    /// position is [`Node::Over`], and its game has no result.
    fn failure(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// How a game reached this position, for rules that not every reader of records has.
    fn transcript(&self, _state: &Self::State) -> Option<Transcript> {
        None
    }

    /// Draws the board as text of several lines.
    fn draw(&self, state: &Self::State, out: &mut dyn Write);
}
