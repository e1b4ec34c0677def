//! What the agent of a seat saw of a game.

use std::fmt::Write;

use arena_engine::{AnyGame, Described, Outcome as Replayed, ReplayError};
use arena_model::{GameRecord, printable};
use arena_report::{game::seat_name, records::TournamentRecords, units};
use arena_wire::v1;
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Outcome},
    human,
    output::{self, Format},
};

/// A decision, as its agent saw it.
struct Seen {
    ply: u32,
    /// The board of a built-in ruleset, or the position of a package.
    shown: Shown,
    /// The move that was played, with its notation; none if the game ended here.
    played: Option<(u16, String)>,
    /// The fault of the agent, which did not choose the move then.
    fault: Option<&'static str>,
}

enum Shown {
    Board(String),
    Position(Value),
}

/// Prints what a seat saw at each of its decisions, and what it chose. `package` are the rules, if
/// they are a package.
pub fn print(
    rules: &TournamentRecords,
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    seat: usize,
    format: Format,
    package: Option<&dyn AnyGame>,
) -> Outcome {
    let seen = decisions(rules, setup, record, seat, package)?;
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let name = seat_name(setup, record, seat);
    let as_json = || {
        let decisions: Vec<Value> = seen.iter().map(to_json).collect();
        json!({"game_id": id, "seat": seat, "agent": name, "decisions": decisions})
    };
    match format {
        Format::Json => output::json(&as_json()),
        Format::Jsonl => output::json_line(&as_json()),
        Format::Csv => Err(Failure::usage(
            "--seat: choose the output table, json or jsonl",
        )),
        Format::Table => {
            let count = units::plural(seen.len() as u64, "decision");
            let ruleset = &rules.header.ruleset;
            let mut text = format!("{id}: {ruleset}, what seat {seat} ({name}) saw at {count}\n");
            for decision in &seen {
                let shown = match &decision.shown {
                    Shown::Board(board) => printable(board.trim_end()).into_owned(),
                    Shown::Position(position) => human::fields(position),
                };
                let played = match (&decision.played, decision.fault) {
                    (Some((_, notation)), None) => notation.clone(),
                    (Some((_, notation)), Some(fault)) => {
                        format!("{notation}  (drawn after a fault: {fault})")
                    }
                    (None, fault) => format!("no move: {}", fault.unwrap_or("the game ended")),
                };
                let ply = decision.ply;
                let _ = writeln!(text, "\n{shown}\n{ply:>5}  {name:<20} {played}");
            }
            output::write(&text)
        }
    }
}

fn decisions(
    rules: &TournamentRecords,
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    seat: usize,
    package: Option<&dyn AnyGame>,
) -> Outcome<Vec<Seen>> {
    let asks_forced = setup.play.is_some_and(|play| play.ask_forced);
    let (mut seen, mut ply) = (Vec::new(), 0);
    let mut add = |shown: &dyn Fn() -> Shown, described: Option<Described<'_>>| {
        let mut faults = record.faults.iter();
        let fault = faults.find(|it| usize::from(it.seat) == seat && it.ply == ply);
        let fault = fault.map(|it| it.kind.name());
        let is_asked = match described {
            Some(described) => {
                described.seat.map(usize::from) == Some(seat)
                    && described.choice.is_asked(asks_forced) == Some(true)
                    && ply >= record.opening_plies
            }
            None => fault.is_some(),
        };
        if is_asked {
            seen.push(Seen {
                ply,
                shown: shown(),
                played: described.map(|it| (it.event.id(), it.name.to_owned())),
                fault,
            });
        }
        ply += 1;
    };
    let replayed = match package {
        Some(package) => package.replay_seen(&record.events, &mut |position, described| {
            let position = || serde_json::from_slice(position).unwrap_or_default();
            add(&|| Shown::Position(position()), described);
        }),
        None => replay_boards(rules, record, &mut |board, described| {
            add(&|| Shown::Board(board.to_owned()), described);
        })?,
    };
    match replayed {
        Ok(_) => Ok(seen),
        Err(error) => Err(Failure::differs(format!(
            "cannot replay the record: {error}"
        ))),
    }
}

/// Replays with the boards before the moves, and at the end.
fn replay_boards(
    rules: &TournamentRecords,
    record: &GameRecord,
    visit: &mut dyn FnMut(&str, Option<Described<'_>>),
) -> Outcome<Result<Replayed, ReplayError>> {
    let game = rules.game_of(record).map_err(Failure::differs)?;
    Ok(game.replay_drawn(&record.events, &mut |board, described| {
        if described.is_none_or(|it| it.event.is_action()) {
            visit(board, described);
        }
    }))
}

fn to_json(seen: &Seen) -> Value {
    let (key, shown) = match &seen.shown {
        Shown::Board(board) => ("board", json!(board)),
        Shown::Position(position) => ("position", position.clone()),
    };
    let (action, notation) = seen.played.clone().unzip();
    json!({
        "ply": seen.ply, key: shown, "action": action, "notation": notation, "fault": seen.fault,
    })
}
