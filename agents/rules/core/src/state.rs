//! A position of any ruleset, with all checks.

use std::fmt;

use arena_engine::{AgentRng, Node, Seat};

use crate::{Info, Move, Outcome, RulesError, json, position::AnyPosition};

/// A position in a game. Every call that is refused leaves it unchanged.
pub struct State {
    position: Box<dyn AnyPosition>,
    /// Reused by each move.
    legal: Vec<Move>,
}

/// One outcome of a chance event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The outcome.
    pub outcome: Outcome,
    /// Its weight, above 0.
    pub weight: u32,
    /// The sum of all weights of the event: the probability is `weight / sum`.
    pub sum: u32,
}

impl Chance {
    /// The probability of the outcome.
    #[expect(clippy::float_arithmetic, reason = "only for searches")]
    #[must_use]
    pub fn probability(self) -> f64 {
        f64::from(self.weight) / f64::from(self.sum)
    }
}

impl State {
    pub(crate) fn new(position: Box<dyn AnyPosition>) -> Self {
        Self {
            position,
            legal: Vec::new(),
        }
    }

    /// Describes the game.
    #[must_use]
    pub fn info(&self) -> &Info {
        self.position.info()
    }

    /// The next event.
    #[inline]
    #[must_use]
    pub fn node(&self) -> Node {
        self.position.node()
    }

    /// The seat that moves next; none at a chance node and at the end.
    #[must_use]
    pub fn to_move(&self) -> Option<Seat> {
        match self.node() {
            Node::Decision(seat) => Some(seat),
            Node::Chance(_) | Node::Over(_) => None,
        }
    }

    /// True if a chance outcome is drawn next.
    #[must_use]
    pub fn is_chance(&self) -> bool {
        matches!(self.node(), Node::Chance(_))
    }

    /// True if the game is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.node(), Node::Over(_))
    }

    /// The legal moves, in ascending order: at least one.
    ///
    /// # Errors
    /// [`RulesError::ChanceNext`] and [`RulesError::Over`] if no seat moves next.
    pub fn legal(&self) -> Result<Vec<Move>, RulesError> {
        let mut legal = Vec::with_capacity(16);
        self.legal_into(&mut legal)?;
        Ok(legal)
    }

    /// Replaces `out` by the legal moves.
    ///
    /// # Errors
    /// As [`State::legal`].
    pub fn legal_into(&self, out: &mut Vec<Move>) -> Result<(), RulesError> {
        self.expect_decision()?;
        self.position.legal(out);
        Ok(())
    }

    /// Plays a move.
    ///
    /// # Errors
    /// [`RulesError::IllegalMove`], [`RulesError::ChanceNext`] and [`RulesError::Over`].
    #[inline]
    pub fn apply(&mut self, given: i64) -> Result<(), RulesError> {
        self.expect_decision()?;
        if self.position.try_apply(given, &mut self.legal) {
            return Ok(());
        }
        Err(RulesError::IllegalMove {
            given,
            legal: self.legal.clone(),
        })
    }

    /// The possible outcomes of the chance event that is next, in ascending order.
    ///
    /// # Errors
    /// [`RulesError::MoveNext`] and [`RulesError::Over`] if no outcome is drawn next.
    pub fn chance(&self) -> Result<Vec<Chance>, RulesError> {
        let weights = self.weights()?;
        let sum = weights.iter().sum();
        let weights = weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0);
        Ok(weights
            .map(|(outcome, &weight)| Chance {
                outcome: outcome as Outcome,
                weight,
                sum,
            })
            .collect())
    }

    /// The weight of each outcome of the chance event that is next; 0 for an impossible one.
    ///
    /// # Errors
    /// As [`State::chance`].
    pub fn weights(&self) -> Result<&[u32], RulesError> {
        match self.node() {
            Node::Chance(_) => Ok(self.position.weights()),
            Node::Decision(seat) => Err(RulesError::MoveNext(seat)),
            Node::Over(_) => Err(RulesError::Over),
        }
    }

    /// Applies a chance outcome.
    ///
    /// # Errors
    /// [`RulesError::ImpossibleOutcome`], [`RulesError::MoveNext`] and [`RulesError::Over`].
    #[inline]
    pub fn apply_outcome(&mut self, given: i64) -> Result<(), RulesError> {
        let weights = self.weights()?;
        let index = usize::try_from(given).ok();
        if index.is_some_and(|index| weights.get(index).is_some_and(|&weight| weight > 0)) {
            self.position.apply_outcome(given as Outcome);
            return Ok(());
        }
        let possible = self.chance()?.iter().map(|chance| chance.outcome).collect();
        Err(RulesError::ImpossibleOutcome { given, possible })
    }

    /// The expected score of each seat, in millionths of a game's score ([`crate::POINT`]): the
    /// share of other seats that it beats, ties counting half. Exact at the end, before that an
    /// estimate.
    #[must_use]
    pub fn values(&self) -> Vec<i64> {
        self.position.values()[..self.info().seats].to_vec()
    }

    /// The ruleset's own score of each seat, such as stones or pieces.
    #[must_use]
    pub fn scores(&self) -> Vec<i64> {
        self.position.scores()[..self.info().seats].to_vec()
    }

    /// The rank of each seat at the end, from 1; tied seats share it.
    ///
    /// # Errors
    /// [`RulesError::ChanceNext`] and [`RulesError::MoveNext`] before the end.
    pub fn placement(&self) -> Result<Vec<u8>, RulesError> {
        match self.node() {
            Node::Over(_) => Ok(self.position.placement()[..self.info().seats].to_vec()),
            Node::Decision(seat) => Err(RulesError::MoveNext(seat)),
            Node::Chance(_) => Err(RulesError::ChanceNext),
        }
    }

    /// A hash of the position: equal for equal states of a game, in every process and language.
    /// It may change with the version of Arena.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.position.hash()
    }

    /// The notation of a legal move.
    ///
    /// # Errors
    /// As [`State::apply`].
    pub fn notation(&self, given: i64) -> Result<String, RulesError> {
        let legal = self.legal()?;
        let Some(&action) = legal.iter().find(|&&action| i64::from(action) == given) else {
            return Err(RulesError::IllegalMove { given, legal });
        };
        let mut text = String::new();
        self.position.write_move(action, &mut text);
        Ok(text)
    }

    /// The notation of a possible chance outcome.
    ///
    /// # Errors
    /// As [`State::apply_outcome`].
    pub fn outcome_notation(&self, given: i64) -> Result<String, RulesError> {
        let chances = self.chance()?;
        let known = chances.iter().find(|one| i64::from(one.outcome) == given);
        let Some(chance) = known else {
            let possible = chances.iter().map(|chance| chance.outcome).collect();
            return Err(RulesError::ImpossibleOutcome { given, possible });
        };
        let mut text = String::new();
        self.position.write_outcome(chance.outcome, &mut text);
        Ok(text)
    }

    /// Plays random moves and outcomes to the end, and returns the values there. Moves are drawn
    /// uniformly, outcomes by their weights, with SplitMix64 from the seed: one number for each.
    #[must_use]
    pub fn playout(&self, seed: u64) -> Vec<i64> {
        let mut legal = Vec::with_capacity(128);
        let values = self.position.playout(&mut AgentRng::new(seed), &mut legal);
        values[..self.info().seats].to_vec()
    }

    /// The position as the ruleset's protobuf message, with details of the legal moves if `moves`
    /// is true.
    #[must_use]
    pub fn encode(&self, moves: bool) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        self.position.encode(moves, &mut bytes);
        bytes
    }

    /// The position as JSON, as in an `ask` message, with details of the legal moves if `moves` is
    /// true.
    #[must_use]
    pub fn to_json(&self, moves: bool) -> String {
        json::of_message(self.info().ruleset, &self.encode(moves))
    }

    /// The board as text of several lines.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut text = String::new();
        self.position.draw(&mut text);
        text
    }

    /// Becomes a copy of another state, without new memory if both are of one ruleset.
    pub fn copy_from(&mut self, other: &Self) {
        if !self.position.copy_from(&*other.position) {
            self.position = other.position.boxed();
        }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self::new(self.position.boxed())
    }

    fn clone_from(&mut self, other: &Self) {
        self.copy_from(other);
    }
}

/// Equal positions of equal games.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.position.equals(&*other.position)
    }
}

impl Eq for State {}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Info { ruleset, seats, .. } = self.info();
        write!(
            f,
            "{ruleset} for {seats}, {:?}:\n{}",
            self.node(),
            self.draw()
        )
    }
}

impl State {
    #[inline]
    fn expect_decision(&self) -> Result<(), RulesError> {
        match self.node() {
            Node::Decision(_) => Ok(()),
            Node::Chance(_) => Err(RulesError::ChanceNext),
            Node::Over(_) => Err(RulesError::Over),
        }
    }
}
