//! Checks a game's events against the rules and against its seed.

use crate::{
    game::{Game, MAX_SEATS, PerSeat, Seat},
    luck::Luck,
    r#match::Event,
    random::{GameKeys, Key, Stream},
    replay::{Outcome, ReplayError, replay},
};

/// The keys of all chance of one game. They need its seed and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChanceKeys {
    /// Chance that belongs to a seat.
    pub dice: PerSeat<Key>,
    /// Chance that belongs to no seat.
    pub table: Key,
}

impl From<&GameKeys> for ChanceKeys {
    fn from(keys: &GameKeys) -> Self {
        Self {
            dice: keys.dice,
            table: keys.table,
        }
    }
}

/// A chance outcome that is not the one that the seed draws.
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
    /// Whose chance it is; none where it belongs to no seat.
    pub seat: Option<Seat>,
    /// Notation of what the seed draws.
    pub drawn: String,
    /// Notation of what the events have.
    pub stated: String,
}

/// Events that are not a game of these rules and this seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The rules do not allow them.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The seed draws other chance outcomes.
    #[error(transparent)]
    Dice(#[from] DiceError),
}

/// What the rules give for checked events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What the replay ends with.
    pub outcome: Outcome,
    /// The luck of each seat, see [`crate::luck()`].
    pub luck: Vec<i32>,
}

/// Applies the events from the initial position, checks each against the rules,
/// and each chance outcome against the keys it is drawn from.
///
/// # Errors
/// [`CheckError`] at the first event that cannot be, or that the keys do not
/// draw.
pub fn check<G: Game>(
    game: &G,
    events: &[Event],
    keys: &ChanceKeys,
) -> Result<Checked, CheckError> {
    let mut luck = Luck::new();
    let mut dice: PerSeat<Option<Stream>> = [const { None }; MAX_SEATS];
    let mut table = None;
    let mut differs = None;
    let (mut ply, mut place) = (0, 0);
    let outcome = replay(game, events, |state, described| {
        let event = place;
        place += 1;
        if described.event.is_action() {
            ply += 1;
            return;
        }
        if differs.is_some() {
            return;
        }
        let (stream, key) = match described.seat.map(usize::from) {
            Some(seat) => (&mut dice[seat], &keys.dice[seat]),
            None => (&mut table, &keys.table),
        };
        let stream = stream.get_or_insert_with(|| Stream::new(key));
        let drawn = stream.weighted(game.weights(state)) as u16;
        if drawn == described.event.id() {
            luck.add(game, state, drawn);
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
    // What differs precedes an event that the rules refuse.
    match (differs, outcome) {
        (Some(differs), _) => Err(differs.into()),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(outcome)) => Ok(Checked {
            outcome,
            luck: luck.finish(game.seats()),
        }),
    }
}
