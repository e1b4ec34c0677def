//! A game with other values of its chance outcomes.

use std::{
    fmt::Write,
    hash::{DefaultHasher, Hash, Hasher},
};

use arena_engine::{ActionId, Event, Game, Node, OutcomeId, PerSeat, PositionError, values::POINT};

/// Values of outcomes.
#[derive(Clone, Copy)]
pub(super) enum Values {
    /// The outcome's number, for the seat that draws it.
    Pips,
    /// A hash of position, outcome and seat.
    Nonsense,
}

/// The rules of another game with these values.
#[derive(Clone)]
pub(super) struct Other<G>(pub(super) G, pub(super) Values);

/// Luck of each seat by these values.
pub(super) fn luck<G: Game>(game: &G, values: Values, events: &[Event]) -> Vec<i32> {
    let game = Other(game.clone(), values);
    arena_engine::luck(&game, events).unwrap_or_default()
}

impl<G: Game> Game for Other<G> {
    type State = G::State;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version()
    }

    fn seats(&self) -> usize {
        self.0.seats()
    }

    fn has_chance(&self) -> bool {
        Game::has_chance(&self.0)
    }

    fn initial(&self) -> G::State {
        self.0.initial()
    }

    fn node(&self, state: &G::State) -> Node {
        self.0.node(state)
    }

    fn weights<'a>(&'a self, state: &'a G::State) -> &'a [u32] {
        self.0.weights(state)
    }

    fn legal(&self, state: &G::State, out: &mut Vec<ActionId>) {
        self.0.legal(state, out);
    }

    fn pass(&self) -> Option<ActionId> {
        self.0.pass()
    }

    fn apply(&self, state: &mut G::State, action: ActionId) {
        self.0.apply(state, action);
    }

    fn apply_outcome(&self, state: &mut G::State, outcome: OutcomeId) {
        self.0.apply_outcome(state, outcome);
    }

    fn placement(&self, state: &G::State) -> PerSeat<u8> {
        self.0.placement(state)
    }

    fn scores(&self, state: &G::State) -> PerSeat<i64> {
        self.0.scores(state)
    }

    fn chance_values(&self, state: &G::State, out: &mut Vec<i64>) {
        let owner = match self.0.node(state) {
            Node::Chance(owner) => owner.map(usize::from),
            _ => None,
        };
        for outcome in 0..self.0.weights(state).len() {
            let mut reported = vec![0; self.seats()];
            for (seat, reported) in reported.iter_mut().enumerate() {
                *reported = match self.1 {
                    Values::Pips if Some(seat) == owner => POINT / 10 * outcome as i64,
                    Values::Pips => 0,
                    Values::Nonsense => {
                        let mut hasher = DefaultHasher::new();
                        (state, outcome, seat).hash(&mut hasher);
                        (hasher.finish() % POINT as u64) as i64
                    }
                };
            }
            out.extend(reported);
        }
    }

    fn write_action(&self, state: &G::State, action: ActionId, out: &mut dyn Write) {
        self.0.write_action(state, action, out);
    }

    fn write_outcome(&self, state: &G::State, outcome: OutcomeId, out: &mut dyn Write) {
        self.0.write_outcome(state, outcome, out);
    }

    fn encode(&self, state: &G::State, moves: bool, out: &mut Vec<u8>) {
        self.0.encode(state, moves, out);
    }

    fn decode(&self, bytes: &[u8]) -> Result<G::State, PositionError> {
        self.0.decode(bytes)
    }

    fn draw(&self, state: &G::State, out: &mut dyn Write) {
        self.0.draw(state, out);
    }
}
