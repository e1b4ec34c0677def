//! The first difference between two records of one game.

use std::{collections::BTreeSet, sync::Arc};

use arena_model::{
    GameRecord,
    engine::{AnyGame, CheckError, FaultKind, SeatFault, Termination},
};

use crate::info::Info;

/// The first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    /// The first event that differs, from 0.
    pub(crate) event: u32,
    /// The agent whose choice differs, if one does.
    pub(crate) agent: Option<u16>,
    /// A chance event differs: a defect of Arena.
    pub(crate) chance: bool,
    /// Dice of a record do not follow from its seed: a defect of the worker, not of an agent.
    pub(crate) dice: Option<String>,
}

/// Finds the first difference of two records.
///
/// Packed events do not contain the seats of moves, so the rules are applied to the durable
/// record as far as needed. If events are not stored, no event can be named. If dice of a record
/// do not follow from its seed, that is the reason, and no agent is named.
pub(crate) fn first_divergence(
    info: &Info,
    durable: &GameRecord,
    other: &GameRecord,
) -> Divergence {
    let events = durable.events.iter().zip(&other.events);
    let same = match info.hash_only() {
        true => 0,
        false => events
            .take_while(|(durable, other)| durable == other)
            .count(),
    };
    let (chance, seat) = match (durable.events.get(same), other.events.get(same)) {
        _ if info.hash_only() => (false, faulty(durable, other)),
        (Some(ours), Some(theirs)) if ours.is_action() && theirs.is_action() => {
            (false, seat_at(info, durable, same))
        }
        (Some(_), Some(_)) => (true, None),
        // One record ended earlier, or both ended alike except for their faults.
        _ => (false, faulty(durable, other)),
    };
    let agent = seat.and_then(|seat| durable.seats.get(seat).copied());
    let dice = wrong_dice(info, durable, other);
    Divergence {
        event: same as u32,
        agent: agent.filter(|_| dice.is_none()),
        chance,
        dice,
    }
}

/// Dice of these records that do not follow from their seed; none if events are not stored.
fn wrong_dice(info: &Info, durable: &GameRecord, other: &GameRecord) -> Option<String> {
    let records = [("durable record", durable), ("other record", other)];
    let wrong = records.into_iter().filter_map(|(which, record)| {
        let keys = record.seed.chance_keys();
        let game = rules(info, record)?;
        match game.check(&record.events, &keys, &mut |_| {}) {
            Err(CheckError::Dice(error)) => Some(format!("{which}: {error}")),
            Err(CheckError::Replay(_)) | Ok(_) => None,
        }
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

/// The rules of a record.
fn rules(info: &Info, record: &GameRecord) -> Option<Arc<dyn AnyGame>> {
    let tournament = &info.tournament;
    let game = arena_games::build_version(
        &tournament.ruleset,
        tournament.rules_version,
        &tournament.options,
        tournament.seats,
    );
    let game = game.ok()?;
    let own = record.own_game(&*game).ok()?;
    Some(own.map_or(game, Arc::from))
}

/// The seat that made an event.
fn seat_at(info: &Info, record: &GameRecord, event: usize) -> Option<usize> {
    if let Some(transcript) = &record.transcript {
        let (seat, _) = transcript.events.get(event)?;
        return seat.map(usize::from);
    }
    let game = rules(info, record)?;
    let mut seats = Vec::with_capacity(record.events.len());
    // An illegal event ends the list early.
    let _ = game.replay(&record.events, &mut |described| seats.push(described.seat));
    seats.get(event).copied().flatten().map(usize::from)
}

/// True if a difference shows something about the agents. It shows nothing if a record is
/// void, or if the records first differ at a fault that depends on time or on the host.
pub(crate) fn is_evidence(durable: &GameRecord, other: &GameRecord) -> bool {
    let void = |record: &GameRecord| record.termination == Termination::Void;
    if void(durable) || void(other) {
        return false;
    }
    let Some(fault) = first_fault(durable, other) else {
        return true;
    };
    let events = durable.events.iter().zip(&other.events);
    let same = events.take_while(|(durable, other)| durable == other);
    let plies = same.filter(|(event, _)| event.is_action()).count() as u64;
    // A fault does not excuse differences before it. If events are not stored, the fault is the
    // first known difference.
    let has_moves = |record: &GameRecord| !record.events.is_empty() && record.is_whole();
    let kept = has_moves(durable) && has_moves(other);
    if kept && u64::from(fault.ply) > plies {
        return true;
    }
    !may_be_of_host(fault.kind)
}

/// True for faults that can happen on one host and not on another.
pub(crate) fn may_be_of_host(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::Timeout | FaultKind::Disconnected | FaultKind::NotReady | FaultKind::Crash
    )
}

/// The agents with such faults.
pub(crate) fn host_faults(faults: &[SeatFault], seats: &[u16]) -> Vec<u16> {
    let of_host = faults.iter().filter(|fault| may_be_of_host(fault.kind));
    let agents = of_host.filter_map(|fault| seats.get(usize::from(fault.seat)).copied());
    BTreeSet::from_iter(agents).into_iter().collect()
}

/// Which of two records of a game has faults that may be those of a host, with the agents that have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostFaults {
    /// Neither.
    None,
    /// Both have equally many, for each seat.
    Both(Vec<u16>),
    /// The durable one has more of them.
    Durable(Vec<u16>),
    /// The other one has more of them.
    Other(Vec<u16>),
}

impl HostFaults {
    pub(crate) fn of(durable: &GameRecord, other: &GameRecord) -> Self {
        let of_host = |record: &GameRecord, seat: usize| {
            let faults = record.faults.iter();
            let own = faults.filter(|it| usize::from(it.seat) == seat);
            own.filter(|it| may_be_of_host(it.kind)).count()
        };
        let first = |record: &GameRecord, seat: usize, of_host: bool| {
            let faults = record.faults.iter();
            let own = faults.filter(|it| usize::from(it.seat) == seat);
            own.filter(|it| !of_host || may_be_of_host(it.kind))
                .map(|it| it.ply)
                .min()
        };
        // If the seat had another fault before, in the other record, this one could perhaps not happen any more.
        let more = |one: &GameRecord, another: &GameRecord, seat: usize| {
            let (own, others) = (of_host(one, seat), of_host(another, seat));
            let is_first = || {
                let other = first(another, seat, false);
                other.is_none_or(|other| first(one, seat, true).is_some_and(|it| it <= other))
            };
            own > others && (others > 0 || is_first())
        };
        let seats = 0..durable.seats.len();
        let agents = |record: &GameRecord| host_faults(&record.faults, &record.seats);
        if seats.clone().any(|seat| more(durable, other, seat)) {
            Self::Durable(agents(durable))
        } else if seats.clone().any(|seat| more(other, durable, seat)) {
            Self::Other(agents(other))
        } else if agents(durable).is_empty() {
            Self::None
        } else {
            Self::Both(agents(durable))
        }
    }
}

/// The first fault that only one of the records has.
fn first_fault<'a>(durable: &'a GameRecord, other: &'a GameRecord) -> Option<&'a SeatFault> {
    let faults = durable.faults.iter().zip(&other.faults);
    let same = faults
        .take_while(|(durable, other)| durable == other)
        .count();
    let differing = [durable.faults.get(same), other.faults.get(same)];
    differing
        .into_iter()
        .flatten()
        .min_by_key(|fault| fault.ply)
}

/// The seat of the first fault that only one of the records has, or else of the first score that
/// differs. If only one record ended by adjudication, it is unknown whose score differs.
fn faulty(durable: &GameRecord, other: &GameRecord) -> Option<usize> {
    let fault = first_fault(durable, other).map(|fault| fault.seat);
    let scores = durable.adjudication.iter().zip(&other.adjudication);
    let differing = scores.filter(|(durable, other)| durable.ply == other.ply);
    let rescored = || { differing.into_iter() }.find(|(durable, other)| durable != other);
    let seat = fault.or_else(|| rescored().map(|(durable, _)| durable.seat));
    seat.map(usize::from)
}

#[cfg(test)]
mod tests {
    use arena_model::engine::{Event, Score, ScoredMove};

    use super::*;

    fn record(moves: &[u16], fault: Option<(u32, FaultKind)>) -> GameRecord {
        let mut record = GameRecord::new(
            0,
            0,
            arena_model::BlockSeed(1),
            vec![0, 1],
            arena_model::engine::Finished {
                events: moves.iter().copied().map(Event::action).collect(),
                opening_plies: 0,
                placement: vec![1, 2],
                scores: Vec::new(),
                luck: Vec::new(),
                plies: moves.len() as u32,
                decisions: Vec::new(),
                termination: Termination::Normal,
                faults: Vec::new(),
                adjudication: Vec::new(),
                transcript: None,
            },
        );
        let fault = fault.map(|(ply, kind)| SeatFault { ply, seat: 0, kind });
        record.faults.extend(fault);
        record
    }

    #[test]
    fn fault_of_a_host_is_no_evidence_where_moves_are_not_stored() {
        let whole = record(&[1, 2, 3], None);
        let crashed = record(&[1, 2], Some((2, FaultKind::Crash)));
        let mut short = crashed.clone();
        short.forget_moves();
        for (durable, other) in [(&crashed, &whole), (&short, &whole), (&whole, &crashed)] {
            assert!(!is_evidence(durable, other));
        }
        let wrong = record(&[1, 9], Some((2, FaultKind::Crash)));
        assert!(is_evidence(&wrong, &whole), "the moves before differ");
    }

    #[test]
    fn faults_of_hosts_are_counted_by_seat() {
        use HostFaults::{Both, Durable, None, Other};
        let record = |faults: &[(u8, FaultKind)]| {
            let mut record = record(&[1, 2, 3], Option::None);
            let faults = faults.iter();
            record.faults = faults
                .map(|&(seat, kind)| SeatFault { ply: 1, seat, kind })
                .collect();
            record
        };
        use FaultKind::{Crash, IllegalMove, Timeout};
        for (durable, other, expected) in [
            (&[][..], &[][..], None),
            (&[(0, IllegalMove)], &[], None),
            (&[(0, Crash)], &[(0, Timeout)], Both(vec![0])),
            (&[(0, Crash)], &[], Durable(vec![0])),
            (&[], &[(1, Crash)], Other(vec![1])),
            (&[(0, Crash), (0, Crash)], &[(0, Crash)], Durable(vec![0])),
            // The seat did something else at the same decision.
            (&[(0, Crash)], &[(0, IllegalMove)], Durable(vec![0])),
            (&[(0, Crash)], &[(1, Crash)], Durable(vec![0])),
        ] {
            let found = HostFaults::of(&record(durable), &record(other));
            assert_eq!(found, expected, "{durable:?} {other:?}");
        }
        let [crashed, mut other] =
            [&[(0, Crash)], &[(0, IllegalMove)]].map(|faults| record(faults));
        // It ended before it could crash.
        other.faults[0].ply = 0;
        assert_eq!(HostFaults::of(&crashed, &other), Both(vec![0]));
        // It went on where the other one crashed.
        other.faults[0].ply = 2;
        assert_eq!(HostFaults::of(&crashed, &other), Durable(vec![0]));
    }

    #[test]
    fn other_score_of_an_adjudication_names_its_seat() {
        let scored = |last: Option<i64>| {
            let scores = [Some(5), last].map(|score| score.map(Score::from_thousandths));
            let moves = (0..).zip(scores);
            GameRecord {
                termination: Termination::Adjudication,
                adjudication: moves
                    .map(|(ply, score)| ScoredMove {
                        ply,
                        seat: ply as u8,
                        score,
                    })
                    .collect(),
                ..record(&[1, 2], None)
            }
        };
        assert_eq!(faulty(&scored(Some(1)), &scored(Some(2))), Some(1));
        assert_eq!(faulty(&scored(Some(1)), &scored(None)), Some(1));
        assert_eq!(faulty(&scored(None), &scored(None)), None);
        assert_eq!(faulty(&scored(None), &record(&[1, 2, 3], None)), None);
    }

    #[test]
    fn time_dependent_faults_are_no_evidence() {
        let whole = record(&[1, 2, 3, 4], None);
        for kind in [
            FaultKind::Timeout,
            FaultKind::Disconnected,
            FaultKind::NotReady,
            FaultKind::Crash,
        ] {
            let ended = record(&[1, 2], Some((2, kind)));
            assert!(!is_evidence(&whole, &ended), "{kind:?}");
            assert!(!is_evidence(&ended, &whole), "{kind:?}");
            let went_on = record(&[1, 2, 9, 4], Some((2, kind)));
            assert!(!is_evidence(&whole, &went_on), "a random move in its place");
            let before = record(&[1, 9], Some((2, kind)));
            assert!(
                is_evidence(&whole, &before),
                "another move before the fault"
            );
        }
        let void = GameRecord {
            termination: Termination::Void,
            ..record(&[], None)
        };
        assert!(!is_evidence(&whole, &void) && !is_evidence(&void, &whole));
        let illegal = record(&[1, 2], Some((2, FaultKind::IllegalMove)));
        assert!(is_evidence(&whole, &illegal));
        assert!(is_evidence(&whole, &record(&[1, 2, 3, 5], None)));
    }
}
