//! Replays of finished games from their events alone.

use crate::{
    game::{ActionId, Ending, Game, Node, Seat},
    r#match::Event,
};

/// One event of a game, with its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described<'a> {
    /// The event.
    pub event: Event,
    /// Its seat; none for chance of no seat.
    pub seat: Option<Seat>,
    /// Notation.
    pub name: &'a str,
}

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the rules ended the game; none if the events stop before.
    pub ending: Option<Ending>,
    /// Ranks by the rules; only meaningful at an ending.
    pub placement: Vec<u8>,
    /// Scores by the rules.
    pub scores: Vec<i64>,
    /// Actions played.
    pub plies: u32,
    /// Actions played by each seat.
    pub decisions: Vec<u32>,
    /// The seat to decide, if the events stop at a decision.
    pub to_move: Option<Seat>,
}

/// Why an event cannot follow those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// An action instead of a chance outcome, or the reverse.
    #[error("event {index}: the rules expect {expected} here")]
    Kind {
        /// Number of the event, from 0.
        index: usize,
        /// The kind of event that is expected.
        expected: &'static str,
    },
    /// An action that is not legal.
    #[error("event {index}: action {action} is not legal")]
    Illegal {
        /// Number of the event, from 0.
        index: usize,
        /// The action.
        action: u16,
    },
    /// An impossible chance outcome.
    #[error("event {index}: chance outcome {outcome} is not possible")]
    Impossible {
        /// Number of the event, from 0.
        index: usize,
        /// The outcome.
        outcome: u16,
    },
    /// There is no chance outcome of this name.
    #[error("event {index}: there is no chance outcome \"{name}\" here")]
    Unnamed {
        /// Number of the event, from 0.
        index: usize,
        /// The name.
        name: String,
    },
    /// The game was over before.
    #[error("event {index}: the game has already ended")]
    AfterEnd {
        /// Number of the event, from 0.
        index: usize,
    },
}

const OUTCOME: &str = "a chance outcome";
const ACTION: &str = "an action";

fn expected(index: usize, expected: &'static str) -> ReplayError {
    ReplayError::Kind { index, expected }
}

/// An event as a record names it: chance by its notation, an action by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A chance outcome's notation.
    Chance(String),
    /// An action's id.
    Action(ActionId),
}

/// Finds the events of these steps.
///
/// # Errors
/// [`ReplayError`] at the first impossible step.
pub fn resolve_steps<G: Game>(game: &G, steps: &[Step]) -> Result<Vec<Event>, ReplayError> {
    let mut state = game.initial();
    let mut legal = Vec::with_capacity(32);
    let mut name = String::with_capacity(16);
    let mut events = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        match (game.node(&state), step) {
            (Node::Over(_), _) => return Err(ReplayError::AfterEnd { index }),
            (Node::Chance(_), Step::Chance(wanted)) => {
                let found = (0..game.weights(&state).len() as u16).find(|&outcome| {
                    name.clear();
                    game.write_outcome(&state, outcome, &mut name);
                    name == *wanted
                });
                let Some(outcome) = found else {
                    return Err(ReplayError::Unnamed {
                        index,
                        name: wanted.clone(),
                    });
                };
                game.apply_outcome(&mut state, outcome);
                events.push(Event::chance(outcome));
            }
            (Node::Decision(_), Step::Action(action)) => {
                game.legal(&state, &mut legal);
                if legal.binary_search(action).is_err() {
                    return Err(ReplayError::Illegal {
                        index,
                        action: *action,
                    });
                }
                game.apply(&mut state, *action);
                events.push(Event::action(*action));
            }
            (Node::Chance(_), Step::Action(_)) => return Err(expected(index, OUTCOME)),
            (Node::Decision(_), Step::Chance(_)) => return Err(expected(index, ACTION)),
        }
    }
    Ok(events)
}

/// Applies the events from the initial position, checks each of them, and passes each to `visit`
/// with the position before it.
///
/// # Errors
/// [`ReplayError`] at the first impossible event.
pub fn replay<G: Game>(
    game: &G,
    events: &[Event],
    mut visit: impl FnMut(&G::State, Described<'_>),
) -> Result<Outcome, ReplayError> {
    let mut state = game.initial();
    let mut legal = Vec::with_capacity(32);
    let mut name = String::with_capacity(16);
    let mut plies = 0;
    let mut decisions = vec![0; game.seats()];
    for (index, &event) in events.iter().enumerate() {
        name.clear();
        let id = event.id();
        let seat = match (game.node(&state), event.is_action()) {
            (Node::Over(_), _) => return Err(ReplayError::AfterEnd { index }),
            (Node::Chance(_), true) => return Err(expected(index, OUTCOME)),
            (Node::Decision(_), false) => return Err(expected(index, ACTION)),
            (Node::Chance(seat), false) => {
                let weight = game.weights(&state).get(usize::from(id));
                if weight.is_none_or(|&weight| weight == 0) {
                    return Err(ReplayError::Impossible { index, outcome: id });
                }
                game.write_outcome(&state, id, &mut name);
                seat
            }
            (Node::Decision(seat), true) => {
                game.legal(&state, &mut legal);
                if legal.binary_search(&id).is_err() {
                    return Err(ReplayError::Illegal { index, action: id });
                }
                game.write_action(&state, id, &mut name);
                plies += 1;
                decisions[usize::from(seat)] += 1;
                Some(seat)
            }
        };
        let name = &name;
        visit(&state, Described { event, seat, name });
        match event.is_action() {
            true => game.apply(&mut state, id),
            false => game.apply_outcome(&mut state, id),
        }
    }
    let (ending, to_move) = match game.node(&state) {
        Node::Over(ending) => (Some(ending), None),
        Node::Decision(seat) => (None, Some(seat)),
        Node::Chance(_) => (None, None),
    };
    let seats = game.seats();
    Ok(Outcome {
        ending,
        placement: game.placement(&state)[..seats].to_vec(),
        scores: game.scores(&state)[..seats].to_vec(),
        plies,
        decisions,
        to_move,
    })
}
