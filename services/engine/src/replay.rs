//! Replays of finished games from their events alone.

use crate::{
    event::Event,
    game::{Game, Node},
    seat::{ActionId, Ending, Seat},
};

/// How many actions were legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Not known without the rules, or the event is no action.
    #[default]
    Unknown,
    /// At least two.
    Several,
    /// One, which is no pass.
    One,
    /// Only a pass.
    Pass,
}

impl Choice {
    /// True if agents are asked; none if that is unknown. [`crate::Setup::ask_forced`] is
    /// `ask_forced`.
    #[must_use]
    pub fn is_asked(self, ask_forced: bool) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Several => Some(true),
            Self::One => Some(ask_forced),
            Self::Pass => Some(false),
        }
    }
}

/// One event of a game, with its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described<'a> {
    /// The event.
    pub event: Event,
    /// Its seat; none for chance of no seat.
    pub seat: Option<Seat>,
    /// Notation.
    pub name: &'a str,
    /// The alternatives of an action.
    pub choice: Choice,
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

/// An event that cannot follow those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {index}: {problem}")]
pub struct ReplayError {
    /// Number of the event, from 0.
    pub index: usize,
    /// Why it cannot.
    pub problem: ReplayProblem,
}

/// Why an event cannot follow those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayProblem {
    /// A chance outcome instead of an action.
    #[error("the rules expect an action here")]
    NoAction,
    /// An action instead of a chance outcome.
    #[error("the rules expect a chance outcome here")]
    NoOutcome,
    /// An action that is not legal.
    #[error("action {0} is not legal")]
    Illegal(u16),
    /// An impossible chance outcome.
    #[error("chance outcome {0} is not possible")]
    Impossible(u16),
    /// There is no chance outcome of this name.
    #[error("there is no chance outcome \"{0}\" here")]
    Unnamed(String),
    /// The rules failed.
    #[error("{0}")]
    Failed(String),
    /// The record does not describe this event, and the rules are not here.
    #[error("the record does not state this event's seat and notation")]
    Unstated,
    /// The record's start position is invalid.
    #[error("start position: {0}")]
    Start(String),
    /// The game was over before.
    #[error("the game has already ended")]
    AfterEnd,
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
        let fail = |problem| Err(ReplayError { index, problem });
        match (game.node(&state), step) {
            (Node::Over(_), _) => return fail(over(game, &state)),
            (Node::Chance(_), Step::Chance(wanted)) => {
                let found = (0..game.weights(&state).len() as u16).find(|&outcome| {
                    name.clear();
                    game.write_outcome(&state, outcome, &mut name);
                    name == *wanted
                });
                let Some(outcome) = found else {
                    return fail(ReplayProblem::Unnamed(wanted.clone()));
                };
                game.apply_outcome(&mut state, outcome);
                events.push(Event::chance(outcome));
            }
            (Node::Decision(_), Step::Action(action)) => {
                game.legal(&state, &mut legal);
                if legal.binary_search(action).is_err() {
                    return fail(ReplayProblem::Illegal(*action));
                }
                game.apply(&mut state, *action);
                events.push(Event::action(*action));
            }
            (Node::Chance(_), Step::Action(_)) => return fail(ReplayProblem::NoOutcome),
            (Node::Decision(_), Step::Chance(_)) => return fail(ReplayProblem::NoAction),
        }
    }
    Ok(events)
}

/// Why nothing can follow this position.
fn over<G: Game>(game: &G, state: &G::State) -> ReplayProblem {
    let failure = game.failure(state);
    failure.map_or(ReplayProblem::AfterEnd, ReplayProblem::Failed)
}

/// Applies the events of several games side by side, as far as the rules allow them, so that rules
/// which are not part of this program are asked about many positions together. They are then known to
/// the rules. It does nothing for others.
pub fn prepare<G: Game>(game: &G, games: &[&[Event]]) {
    if game.games_at_once() <= 1 {
        return;
    }
    let game = game.deferring();
    let mut legal = Vec::with_capacity(32);
    let mut open: Vec<_> = games.iter().map(|&it| (game.initial(), it)).collect();
    while !open.is_empty() {
        open.retain_mut(|(state, events)| {
            while game.is_known(state) {
                let [event, rest @ ..] = *events else {
                    return false;
                };
                if !is_possible(&game, state, *event, &mut legal) {
                    return false;
                }
                game.apply_later(state, *event);
                *events = rest;
            }
            true
        });
        game.find_pending();
    }
}

/// True if the rules allow an event.
fn is_possible<G: Game>(
    game: &G,
    state: &G::State,
    event: Event,
    legal: &mut Vec<ActionId>,
) -> bool {
    match (game.node(state), event.is_action()) {
        (Node::Chance(_), false) => {
            let weight = game.weights(state).get(usize::from(event.id()));
            weight.is_some_and(|&weight| weight > 0)
        }
        (Node::Decision(_), true) => {
            game.legal(state, legal);
            legal.binary_search(&event.id()).is_ok()
        }
        _ => false,
    }
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
        let fail = |problem| Err(ReplayError { index, problem });
        name.clear();
        let id = event.id();
        let mut choice = Choice::Unknown;
        let seat = match (game.node(&state), event.is_action()) {
            (Node::Over(_), _) => return fail(over(game, &state)),
            (Node::Chance(_), true) => return fail(ReplayProblem::NoOutcome),
            (Node::Decision(_), false) => return fail(ReplayProblem::NoAction),
            (Node::Chance(seat), false) => {
                let weight = game.weights(&state).get(usize::from(id));
                if weight.is_none_or(|&weight| weight == 0) {
                    return fail(ReplayProblem::Impossible(id));
                }
                game.write_outcome(&state, id, &mut name);
                seat
            }
            (Node::Decision(seat), true) => {
                game.legal(&state, &mut legal);
                if legal.binary_search(&id).is_err() {
                    return fail(ReplayProblem::Illegal(id));
                }
                game.write_action(&state, id, &mut name);
                choice = match legal[..] {
                    [only] if Some(only) == game.pass() => Choice::Pass,
                    [_] => Choice::One,
                    _ => Choice::Several,
                };
                plies += 1;
                decisions[usize::from(seat)] += 1;
                Some(seat)
            }
        };
        let name = &name;
        let described = Described {
            event,
            seat,
            name,
            choice,
        };
        visit(&state, described);
        match event.is_action() {
            true => game.apply(&mut state, id),
            false => game.apply_outcome(&mut state, id),
        }
    }
    if let Some(problem) = game.failure(&state) {
        let (index, problem) = (events.len(), ReplayProblem::Failed(problem));
        return Err(ReplayError { index, problem });
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
