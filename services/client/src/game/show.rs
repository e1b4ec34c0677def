//! Readable display of one game.

use std::fmt::Write;

use arena_engine::AnyGame;
use arena_model::GameRecord;
use arena_report::{
    game::{self, frames, heading, names, result, seat_name},
    records::TournamentRecords,
};
use arena_wire::v1;

use crate::{
    failure::{Failure, Outcome},
    game::watch::Watch,
    output::{self, Format, note},
};

/// Prints a game: its record, or a description of its events. If its rules are a package, `package`
/// draws its boards; without it, there are none.
pub fn print_record(
    rules: &TournamentRecords,
    record: &GameRecord,
    format: Format,
    watch: Watch,
    package: Option<&dyn AnyGame>,
) -> Outcome {
    match format {
        Format::Table => {}
        Format::Csv => return output::write(&game::csv(rules, record)),
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
    output::write(&(text + &result(record, &names)))
}

/// Prints a game without stored events.
pub fn print_short(rules: &TournamentRecords, record: &GameRecord, format: Format) -> Outcome {
    match format {
        Format::Csv => output::write(&game::csv(rules, record)),
        Format::Json | Format::Jsonl => output::document(&rules.short_line(record)?),
        Format::Table => {
            let names = names(rules, record);
            let text = heading(rules, record, &names) + &result(record, &names);
            output::write(&text)
        }
    }
}

/// Prints details of faults that are not in the record, on stderr.
pub fn print_details(
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
