//! Readable display of one game.

use arena_report::records::TournamentRecords;
use std::fmt::Write;

use arena_engine::AnyGame;
use arena_model::GameRecord;
use arena_wire::v1;
use itertools::Itertools;

use super::watch::{Frame, WatchArgs};
use crate::{
    commands::export,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Prints a game: its record, or a description of its events. If its rules are a package, `package`
/// draws its boards; without it, there are none.
pub(crate) fn print_record(
    rules: &TournamentRecords,
    record: &GameRecord,
    format: Format,
    watch: &WatchArgs,
    package: Option<&dyn AnyGame>,
) -> Outcome {
    match format {
        Format::Table => {}
        Format::Csv => return output::write(&export::csv(rules, record)),
        Format::Json | Format::Jsonl => {
            return output::document(&rules.line(record)?);
        }
    }
    let names = names(rules, record);
    let mut text = heading(rules, record, &names);
    let own = rules.game_of(record).map_err(Failure::differs)?;
    let frames = match package.map(|package| frames(package, record, &names)) {
        Some(Ok(frames)) => frames,
        drawn => {
            if let Some(Err(failure)) = drawn {
                note(format!("no boards: {failure}"));
            }
            frames(&*own, record, &names)?
        }
    };
    if watch.in_place() {
        watch.follow(&text, &frames)?;
        text.clear();
    } else {
        text.push('\n');
        for frame in &frames {
            if watch.watch || frame.seat.is_none() {
                let _ = write!(text, "\n{}", frame.board);
            }
            if !frame.line.is_empty() {
                let _ = writeln!(text, "{}", frame.line);
            }
        }
    }
    result(record, &names, &mut text);
    output::write(&text)
}

/// Prints a game without stored events.
pub(super) fn print_short(
    rules: &TournamentRecords,
    record: &GameRecord,
    format: Format,
) -> Outcome {
    match format {
        Format::Csv => output::write(&export::csv(rules, record)),
        Format::Json | Format::Jsonl => output::document(&rules.short_line(record)?),
        Format::Table => {
            let names = names(rules, record);
            let mut text = heading(rules, record, &names);
            result(record, &names, &mut text);
            output::write(&text)
        }
    }
}

pub(super) fn names<'a>(rules: &'a TournamentRecords, record: &GameRecord) -> Vec<&'a str> {
    let name = |&agent: &u16| rules.header.agents[usize::from(agent)].as_str();
    record.seats.iter().map(name).collect()
}

fn heading(rules: &TournamentRecords, record: &GameRecord, names: &[&str]) -> String {
    let mut text = format!(
        "{}/{}: {}, seed {}\n",
        rules.header.tournament_id, record.index, rules.header.ruleset, record.seed
    );
    for (seat, name) in names.iter().enumerate() {
        let _ = writeln!(text, "  seat {seat}: {name}");
    }
    if let Some(start) = &record.start {
        let _ = writeln!(text, "  start: {start}");
    }
    text
}

/// The moves of a game with the board before each, and the final board.
fn frames(game: &dyn AnyGame, record: &GameRecord, names: &[&str]) -> Outcome<Vec<Frame>> {
    let mut frames = Vec::new();
    let mut ply = 0;
    // Chance outcomes go on the line of the move that follows them.
    let mut rolled: Vec<String> = Vec::new();
    let replayed = game.replay_drawn(&record.events, &mut |board, described| {
        let Some(described) = described else {
            frames.push(Frame {
                board: board.to_string(),
                seat: None,
                line: String::new(),
            });
            return;
        };
        if !described.event.is_action() {
            rolled.push(described.name.to_owned());
            return;
        }
        let seat = described.seat.map(usize::from);
        let who = seat.map_or("table", |seat| names[seat]);
        let chance = match rolled.drain(..).join(", ").as_str() {
            "" => String::new(),
            rolled => format!("  (drew {rolled})"),
        };
        let is_opening = ply < record.opening_plies;
        let opening = if is_opening { "  opening" } else { "" };
        frames.push(Frame {
            board: board.to_string(),
            seat: Some(described.seat.unwrap_or(0)),
            line: format!("{ply:>5}  {who:<20} {}{chance}{opening}", described.name),
        });
        ply += 1;
    });
    replayed
        .map(|_| frames)
        .map_err(|error| Failure::differs(format!("cannot replay the record: {error}")))
}

fn result(record: &GameRecord, names: &[&str], text: &mut String) {
    let termination = record.termination.name();
    let _ = writeln!(text, "\nended after {} plies: {termination}", record.plies);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&seat| record.placement.get(seat).copied());
    // Rules without scores leave them at 0.
    let has_scores = record.scores.iter().any(|&score| score != 0);
    for seat in order {
        let rank = output::or_dash(record.placement.get(seat));
        let score = record.scores.get(seat).filter(|_| has_scores);
        let score = score.map_or_else(String::new, |score| format!(", score {score}"));
        let (name, luck) = (names[seat], luck(record, seat));
        let _ = writeln!(text, "  {rank}. {name} (seat {seat}){score}{luck}");
    }
    for fault in &record.faults {
        let (name, kind) = (names[usize::from(fault.seat)], fault.kind.name());
        let _ = writeln!(text, "  fault: {name} ({kind}) at ply {}", fault.ply);
    }
    let _ = writeln!(text, "  hash {}", hex::encode(record.hash));
}

/// Describes the luck of a seat; empty if unknown.
pub(super) fn luck(record: &GameRecord, seat: usize) -> String {
    let luck = record.luck.get(seat).map(|&luck| f64::from(luck) / 1e6);
    luck.map_or_else(String::new, |luck| format!(", luck {luck:+.3}"))
}

/// The name of a seat's agent.
pub(super) fn seat_name<'a>(
    setup: &'a v1::TournamentSetup,
    record: &GameRecord,
    seat: usize,
) -> &'a str {
    let agent = record.seats.get(seat);
    let agent = agent.and_then(|&agent| setup.agents.get(usize::from(agent)));
    agent.map_or("?", |agent| agent.name.as_str())
}

/// Prints details of faults that are not in the record, on stderr.
pub(crate) fn print_details(
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    details: &[v1::FaultDetail],
) {
    for detail in details {
        let name = seat_name(setup, record, detail.seat as usize);
        note(format!("{name}: {}", detail.message));
        if !detail.stderr_tail.is_empty() {
            note("  last output of its process, from any of its games:");
        }
        for line in detail.stderr_tail.lines() {
            note(format!("    {line}"));
        }
    }
}
