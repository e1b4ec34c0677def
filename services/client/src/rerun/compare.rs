//! Comparison of two games that should be equal.

use arena_model::GameRecord;
use arena_report::records::TournamentRecords;
use arena_wire::v1::{self, agent_setup::Source};
use itertools::Itertools;

/// The faults of a game as text.
fn faults(record: &GameRecord) -> String {
    if record.faults.is_empty() {
        return "without faults".to_owned();
    }
    let faults = record.faults.iter();
    let faults =
        faults.map(|it| format!("{} of seat {} at ply {}", it.kind.name(), it.seat, it.ply));
    format!("with {}", faults.format(", "))
}

/// Describes the first difference, the agent that caused it and the consequence. `stable`
/// is true if the agents repeated the new game exactly.
pub fn explain(
    rules: &TournamentRecords,
    setup: &v1::TournamentSetup,
    stored: &GameRecord,
    again: &GameRecord,
    stable: bool,
) -> String {
    let agent = |seat: usize| setup.agents.get(usize::from(stored.seats[seat]));
    let place = (0..stored.events.len().max(again.events.len()))
        .find(|&place| stored.events.get(place) != again.events.get(place));
    // Of two games with the same moves, only one may have ended by adjudication.
    let is_adjudicated = |record: &GameRecord| {
        !record.adjudication.is_empty() && place.is_none_or(|place| place == record.events.len())
    };
    let adjudicated = [stored, again].into_iter().find(|it| is_adjudicated(it));
    if let (Some(adjudicated), true) = (adjudicated, stored.adjudication != again.adjudication) {
        return format!(
            "the moves are the same up to ply {}, but the agents report other scores, by which a \
             game ends by adjudication",
            adjudicated.plies
        );
    }
    let Some(place) = place else {
        if (stored.termination, &stored.faults) == (again.termination, &again.faults) {
            return "the game is the same, but the record's hash is not: its options, agents or \
             settings differ"
                .to_owned();
        }
        return format!(
            "the events are the same, but the result is not: the record has {} {}, the rerun {} \
             {}",
            stored.termination.name(),
            faults(stored),
            again.termination.name(),
            faults(again)
        );
    };
    let earlier = stored.events[..place].iter();
    let ply = earlier.filter(|event| event.is_action()).count();
    let (expected_seat, expected) = describe(rules, stored, place);
    let (seat, came) = describe(rules, again, place);
    let mut text = format!("ply {ply} (event {place}) differs: expected {expected}, got {came}");
    let events = [&stored.events, &again.events].map(|events| events.get(place));
    let is_chance = events.into_iter().flatten().any(|event| !event.is_action());
    match expected_seat.or(seat).and_then(agent) {
        _ if is_chance => {
            text += "; a chance event differs, which is a bug in Arena: please report it";
        }
        Some(agent) => {
            let is_native = matches!(agent.source, Some(Source::Native(_)));
            let what = if is_native && setup.rules.is_some() {
                "is built in, and its moves follow from its seed and the rules: the package of the \
                 rules answers differently from before, or this is another version of Arena"
            } else if !agent.deterministic {
                "declares that it is not deterministic: its games can be replayed, but not rerun"
            } else if stable {
                "plays differently now, and always so: its program has changed"
            } else {
                "is not deterministic: a second rerun differed again"
            };
            text += &format!("; agent {} {what}", agent.name);
        }
        None => {}
    }
    text
}

/// As [`explain`] for a game whose events are unknown, for the reason `why`: the difference is
/// unknown, but not the agents that may have caused it.
pub fn explain_hashes(
    why: &str,
    setup: &v1::TournamentSetup,
    stored: &GameRecord,
    again: &GameRecord,
    stable: bool,
) -> String {
    let mut text = format!(
        "the hash of the rerun is {}, not {}; {why}, so the ply is unknown; the ranks by seat were \
         {} after {} plies and are now {} after {}",
        hex::encode(again.hash),
        hex::encode(stored.hash),
        stored.placement.iter().format(", "),
        stored.plies,
        again.placement.iter().format(", "),
        again.plies
    );
    let agents = stored.seats.iter();
    let agents = agents.filter_map(|&agent| setup.agents.get(usize::from(agent)));
    let mut random = agents
        .filter(|agent| !agent.deterministic)
        .map(|agent| &agent.name);
    let random = random.join(", ");
    if !random.is_empty() {
        text += &format!("; not deterministic by its own description: {random}");
    } else if stable {
        let changed = match setup.rules {
            None => "the program of an agent has changed",
            Some(_) => "the package of the rules or the program of an agent answers differently",
        };
        text += &format!("; a second rerun gave the same game: {changed}");
    } else {
        text += "; a second rerun gave yet another game";
    }
    text
}

/// The seat of one event of a game, and its description.
fn describe(
    rules: &TournamentRecords,
    record: &GameRecord,
    place: usize,
) -> (Option<usize>, String) {
    let mut found = (None, "the end of the game".to_owned());
    let mut number = 0;
    // The events of a written record can be replayed.
    let _ = rules.game_of(record).and_then(|game| {
        game.replay(&record.events, &mut |described| {
            number += 1;
            if number != place + 1 {
                return;
            }
            let what = match described.event.is_action() {
                true => "move",
                false => "chance",
            };
            let text = format!("{what} {} (id {})", described.name, described.event.id());
            found = (described.seat.map(usize::from), text);
        })
    });
    found
}
