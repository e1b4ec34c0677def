//! Two records of one game that should be the same.

use arena_model::{
    GameRecord,
    engine::{FaultKind, Termination},
};

use crate::results::Info;

/// Where two records part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parting {
    /// First event that differs, from 0.
    pub(crate) event: u32,
    /// The agent whose choice differs, where one does.
    pub(crate) agent: Option<u16>,
    /// A chance event differs: a defect of ours.
    pub(crate) chance: bool,
}

/// Finds where two records of a game part.
///
/// Which seat made a move is not in the packed events: the rules say it, so
/// they are applied to the durable record, as far as needed. Where events are
/// not kept, no event can be named.
pub(crate) fn parting(info: &Info, durable: &GameRecord, other: &GameRecord) -> Parting {
    let same = durable
        .events
        .iter()
        .zip(&other.events)
        .take_while(|(durable, other)| durable == other)
        .count();
    let event = same as u32;
    let nobody = Parting {
        event,
        agent: None,
        chance: false,
    };
    if durable.termination == Termination::Void || other.termination == Termination::Void {
        return nobody;
    }
    if info.hash_only() {
        return Parting {
            event: 0,
            agent: faulty(durable, other).and_then(|seat| durable.seats.get(seat).copied()),
            chance: false,
        };
    }
    match (durable.events.get(same), other.events.get(same)) {
        (Some(ours), Some(theirs)) if ours.is_action() && theirs.is_action() => Parting {
            agent: seat_at(info, durable, same).and_then(|seat| durable.seats.get(seat).copied()),
            ..nobody
        },
        (Some(_), Some(_)) => Parting {
            chance: true,
            ..nobody
        },
        // One ended sooner, or both ended alike but for their faults.
        _ => Parting {
            agent: faulty(durable, other).and_then(|seat| durable.seats.get(seat).copied()),
            ..nobody
        },
    }
}

/// The seat that made an event.
fn seat_at(info: &Info, record: &GameRecord, event: usize) -> Option<usize> {
    let tournament = &info.tournament;
    let game =
        arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats).ok()?;
    let mut seats = Vec::with_capacity(record.events.len());
    // An event that the rules refuse ends the list, which is then short.
    let _ = game.replay(&record.events, &mut |described| seats.push(described.seat));
    seats.get(event).copied().flatten().map(usize::from)
}

/// The seat of the first fault that only one of them has, unless time decided.
fn faulty(durable: &GameRecord, other: &GameRecord) -> Option<usize> {
    let same = durable
        .faults
        .iter()
        .zip(&other.faults)
        .take_while(|(durable, other)| durable == other)
        .count();
    let differing = [durable.faults.get(same), other.faults.get(same)];
    let first = differing
        .into_iter()
        .flatten()
        .min_by_key(|fault| fault.ply)?;
    let timed = matches!(first.kind, FaultKind::Timeout | FaultKind::Disconnected);
    (!timed).then_some(usize::from(first.seat))
}
