//! Checks of a game's events against the rules and against its seed.

use crate::{
    event::Event,
    game::Game,
    luck::Luck,
    random::{GameKeys, StreamOf, Streams},
    replay::{Described, Outcome, ReplayError, replay},
    seat::Seat,
};

/// A chance outcome that does not follow from the seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "ply {ply} (event {event}): the seed draws \"{drawn}\" for {}, the record has \"{stated}\"",
    seat.map_or_else(|| "the table".to_owned(), |seat| format!("seat {seat}"))
)]
pub struct DiceError {
    /// Actions played before.
    pub ply: u32,
    /// Number of the event, from 0.
    pub event: usize,
    /// The seat of the chance event; none if it has none.
    pub seat: Option<Seat>,
    /// Notation of the outcome that follows from the seed.
    pub drawn: String,
    /// Notation of the outcome in the events.
    pub stated: String,
}

/// Events that are no game of these rules and this seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The rules do not allow them.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The seed draws other chance outcomes.
    #[error(transparent)]
    Dice(#[from] DiceError),
}

/// Results of checked events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Result of the replay.
    pub outcome: Outcome,
    /// The luck of each seat, see [`crate::luck()`].
    pub luck: Vec<i32>,
}

/// Applies the events from the initial position, and checks each against the rules and each chance
/// outcome against its key. Only keys of chance are asked for. Each event that the rules allow is passed to `visit`.
///
/// # Errors
/// [`CheckError`] at the first event that is impossible or does not follow from the keys.
pub fn check<G: Game>(
    game: &G,
    events: &[Event],
    keys: &GameKeys,
    mut visit: impl FnMut(Described<'_>),
) -> Result<Checked, CheckError> {
    let mut luck = Luck::new();
    let mut streams = Streams::new();
    let mut differs = None;
    let (mut ply, mut place) = (0, 0);
    let outcome = replay(game, events, |state, described| {
        visit(described);
        let event = place;
        place += 1;
        if described.event.is_action() {
            ply += 1;
            return;
        }
        if differs.is_some() {
            return;
        }
        let stream = streams.get(StreamOf::of_chance(described.seat), keys);
        let drawn = stream.weighted(game.weights(state)) as u16;
        if drawn == described.event.id() {
            if game.has_luck() {
                luck.add(game, state, drawn);
            }
            return;
        }
        let mut name = String::new();
        game.write_outcome(state, drawn, &mut name);
        differs = Some(DiceError {
            ply,
            event,
            seat: described.seat,
            drawn: name,
            stated: described.name.to_owned(),
        });
    });
    // The different outcome comes before the illegal event.
    match (differs, outcome) {
        (Some(differs), _) => Err(differs.into()),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(outcome)) => Ok(Checked {
            outcome,
            luck: luck.finish(game.seats()),
        }),
    }
}
