//! A position of any ruleset, without its type.

use std::{any::Any, sync::Arc};

use arena_engine::{AgentRng, Game, Node, PerSeat};

use crate::{Info, Move, Outcome, hash::hash};

/// A game of any ruleset, without its type.
pub(crate) trait AnyRules: Send + Sync {
    fn info(&self) -> &Info;
    fn initial(self: Arc<Self>) -> Box<dyn AnyPosition>;
    fn decode(self: Arc<Self>, bytes: &[u8]) -> Result<Box<dyn AnyPosition>, crate::RulesError>;
}

/// A position of any ruleset, without its type. Moves are checked, other arguments are not.
pub(crate) trait AnyPosition: Send + Sync {
    fn info(&self) -> &Info;
    fn node(&self) -> Node;
    fn weights(&self) -> &[u32];
    fn legal(&self, out: &mut Vec<Move>);
    /// Plays a move if it is one of the legal ones, which `legal` then has. At decisions only.
    fn try_apply(&mut self, given: i64, legal: &mut Vec<Move>) -> bool;
    fn apply_outcome(&mut self, outcome: Outcome);
    fn values(&self) -> PerSeat<i64>;
    fn scores(&self) -> PerSeat<i64>;
    fn placement(&self) -> PerSeat<u8>;
    fn hash(&self) -> u64;
    fn equals(&self, other: &dyn AnyPosition) -> bool;
    fn write_move(&self, given: Move, out: &mut String);
    fn write_outcome(&self, outcome: Outcome, out: &mut String);
    fn encode(&self, moves: bool, out: &mut Vec<u8>);
    fn draw(&self, out: &mut String);
    fn playout(&self, rng: &mut AgentRng, legal: &mut Vec<Move>) -> PerSeat<i64>;
    fn boxed(&self) -> Box<dyn AnyPosition>;
    /// Becomes a copy of another position; false, and unchanged, if that is of another ruleset.
    fn copy_from(&mut self, other: &dyn AnyPosition) -> bool;
    fn as_any(&self) -> &dyn Any;
}

/// The rules of one ruleset, with what describes them.
pub(crate) struct TypedRules<G> {
    pub(crate) game: G,
    pub(crate) info: Info,
}

impl<G: Game> AnyRules for TypedRules<G> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn initial(self: Arc<Self>) -> Box<dyn AnyPosition> {
        let state = self.game.initial();
        Box::new(TypedPosition { rules: self, state })
    }

    fn decode(self: Arc<Self>, bytes: &[u8]) -> Result<Box<dyn AnyPosition>, crate::RulesError> {
        let state = self.game.decode(bytes)?;
        Ok(Box::new(TypedPosition { rules: self, state }))
    }
}

/// A position of one ruleset.
struct TypedPosition<G: Game> {
    rules: Arc<TypedRules<G>>,
    state: G::State,
}

impl<G: Game> AnyPosition for TypedPosition<G> {
    fn info(&self) -> &Info {
        &self.rules.info
    }

    fn node(&self) -> Node {
        self.rules.game.node(&self.state)
    }

    fn weights(&self) -> &[u32] {
        self.rules.game.weights(&self.state)
    }

    fn legal(&self, out: &mut Vec<Move>) {
        self.rules.game.legal(&self.state, out);
    }

    fn try_apply(&mut self, given: i64, legal: &mut Vec<Move>) -> bool {
        self.legal(legal);
        let action = legal.iter().find(|&&action| i64::from(action) == given);
        if let Some(&action) = action {
            self.rules.game.apply(&mut self.state, action);
        }
        action.is_some()
    }

    fn apply_outcome(&mut self, outcome: Outcome) {
        self.rules.game.apply_outcome(&mut self.state, outcome);
    }

    fn values(&self) -> PerSeat<i64> {
        self.rules.game.values(&self.state)
    }

    fn scores(&self) -> PerSeat<i64> {
        self.rules.game.scores(&self.state)
    }

    fn placement(&self) -> PerSeat<u8> {
        self.rules.game.placement(&self.state)
    }

    fn hash(&self) -> u64 {
        hash(&self.state)
    }

    fn equals(&self, other: &dyn AnyPosition) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| {
            self.state == other.state
                && (Arc::ptr_eq(&self.rules, &other.rules) || self.info() == other.info())
        })
    }

    fn write_move(&self, given: Move, out: &mut String) {
        self.rules.game.write_action(&self.state, given, out);
    }

    fn write_outcome(&self, outcome: Outcome, out: &mut String) {
        self.rules.game.write_outcome(&self.state, outcome, out);
    }

    fn encode(&self, moves: bool, out: &mut Vec<u8>) {
        self.rules.game.encode(&self.state, moves, out);
    }

    fn draw(&self, out: &mut String) {
        self.rules.game.draw(&self.state, out);
    }

    fn playout(&self, rng: &mut AgentRng, legal: &mut Vec<Move>) -> PerSeat<i64> {
        let game = &self.rules.game;
        let mut state = self.state.clone();
        loop {
            match game.node(&state) {
                Node::Decision(_) => {
                    game.legal(&state, legal);
                    game.apply(&mut state, rng.pick(legal));
                }
                Node::Chance(_) => {
                    let outcome = rng.weighted(game.weights(&state));
                    game.apply_outcome(&mut state, outcome as Outcome);
                }
                Node::Over(_) => return game.values(&state),
            }
        }
    }

    fn boxed(&self) -> Box<dyn AnyPosition> {
        Box::new(Self {
            rules: Arc::clone(&self.rules),
            state: self.state.clone(),
        })
    }

    fn copy_from(&mut self, other: &dyn AnyPosition) -> bool {
        let Some(other) = other.as_any().downcast_ref::<Self>() else {
            return false;
        };
        if !Arc::ptr_eq(&self.rules, &other.rules) {
            self.rules = Arc::clone(&other.rules);
        }
        self.state.clone_from(&other.state);
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
