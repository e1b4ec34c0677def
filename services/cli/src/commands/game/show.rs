//! Readable display of one game.

use arena_report::records::TournamentRecords;
use std::fmt::Write;

use arena_client::rerun::Played;
use arena_model::GameRecord;
use arena_wire::v1;

use super::watch::{Frame, WatchArgs};
use crate::{
    commands::export,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// Prints a game: its record, or a description of its events.
pub(crate) fn print_record(
    rules: &TournamentRecords,
    record: &GameRecord,
    format: Format,
    watch: &WatchArgs,
) -> Outcome {
    match format {
        Format::Table => {}
        Format::Csv => {
            return print_csv(rules, record);
        }
        Format::Json | Format::Jsonl => {
            return output::write(&format!("{}\n", rules.line(record)?));
        }
    }
    let names = names(rules, record);
    let mut text = heading(rules, record, &names);
    let frames = frames(rules, record, &names)?;
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

fn print_csv(rules: &TournamentRecords, record: &GameRecord) -> Outcome {
    output::write(&export::csv(rules, record))
}

/// Prints a game without stored events.
pub(super) fn print_short(
    rules: &TournamentRecords,
    record: &GameRecord,
    format: Format,
) -> Outcome {
    match format {
        Format::Csv => print_csv(rules, record),
        Format::Json | Format::Jsonl => output::write(&format!("{}\n", rules.short_line(record)?)),
        Format::Table => {
            let names = names(rules, record);
            let mut text = heading(rules, record, &names);
            result(record, &names, &mut text);
            output::write(&text)
        }
    }
}

fn names<'a>(rules: &'a TournamentRecords, record: &GameRecord) -> Vec<&'a str> {
    record
        .seats
        .iter()
        .map(|&agent| rules.header.agents[usize::from(agent)].as_str())
        .collect()
}

fn heading(rules: &TournamentRecords, record: &GameRecord, names: &[&str]) -> String {
    let mut text = format!(
        "{}/{}: {}, seed {}\n",
        rules.header.tournament_id, record.index, rules.header.ruleset, record.seed
    );
    for (seat, name) in names.iter().enumerate() {
        let _ = writeln!(text, "  seat {seat}: {name}");
    }
    text
}

/// The moves of a game with the board before each, and the final board.
fn frames(rules: &TournamentRecords, record: &GameRecord, names: &[&str]) -> Outcome<Vec<Frame>> {
    let mut frames = Vec::new();
    let mut ply = 0;
    // Chance outcomes go on the line of the move that follows them.
    let mut rolled = Vec::new();
    let replayed = rules
        .game
        .replay_drawn(&record.events, &mut |board, described| {
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
            let who = described
                .seat
                .map_or("table", |seat| names[usize::from(seat)]);
            let chance = if rolled.is_empty() {
                String::new()
            } else {
                format!("  (drew {})", rolled.join(", "))
            };
            rolled.clear();
            let opening = if ply < record.opening_plies {
                "  opening"
            } else {
                ""
            };
            frames.push(Frame {
                board: board.to_string(),
                seat: Some(described.seat.unwrap_or(0)),
                line: format!("{ply:>5}  {who:<20} {}{chance}{opening}", described.name),
            });
            ply += 1;
        });
    replayed
        .map(|_| frames)
        .map_err(|error| Failure::differs(format!("the record cannot be replayed: {error}")))
}

fn result(record: &GameRecord, names: &[&str], text: &mut String) {
    let _ = writeln!(
        text,
        "\nended after {} plies: {}",
        record.plies,
        record.termination.name()
    );
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&seat| record.placement.get(seat).copied());
    for seat in order {
        let rank = record
            .placement
            .get(seat)
            .map_or_else(|| "–".to_owned(), ToString::to_string);
        let _ = writeln!(
            text,
            "  {rank}. {} (seat {seat}), score {}{}",
            names[seat],
            record
                .scores
                .get(seat)
                .map_or_else(|| "–".to_owned(), ToString::to_string),
            luck(record, seat)
        );
    }
    for fault in &record.faults {
        let _ = writeln!(
            text,
            "  fault: {} ({}) at ply {}",
            names[usize::from(fault.seat)],
            fault.kind.name(),
            fault.ply
        );
    }
    let _ = writeln!(text, "  hash {}", hex::encode(record.hash));
}

/// Describes the luck of a seat; empty if unknown.
pub(super) fn luck(record: &GameRecord, seat: usize) -> String {
    let luck = record.luck.get(seat);
    luck.map_or_else(String::new, |&luck| {
        format!(", luck {:+.3}", f64::from(luck) / 1e6)
    })
}

/// Prints details of faults that are not in the record, on stderr.
pub(crate) fn print_details(
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    details: &[v1::FaultDetail],
) {
    for detail in details {
        let name = record
            .seats
            .get(detail.seat as usize)
            .and_then(|&agent| setup.agents.get(usize::from(agent)))
            .map_or("?", |agent| agent.name.as_str());
        note(format!("{name}: {}", detail.message));
        if !detail.stderr_tail.is_empty() {
            note("  the last that its process printed, whichever games it played:");
        }
        for line in detail.stderr_tail.lines() {
            note(format!("    {line}"));
        }
    }
}

/// As [`print_details`], for a game that was just played.
pub(crate) fn print_faults(setup: &v1::TournamentSetup, played: &Played) {
    print_details(setup, &played.record, &played.fault_details);
}
