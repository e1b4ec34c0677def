//! What the agent of a seat saw of a game.

use std::fmt::Write;

use arena_client::human;
use arena_engine::{AnyGame, Described, Outcome as Replayed, ReplayError};
use arena_model::{GameRecord, printable};
use arena_report::records::TournamentRecords;
use arena_wire::v1;
use serde_json::{Value, json};

use super::show::seat_name;
use crate::{
    failure::{Failure, Outcome},
    output::{self, Format},
};

/// A decision, as its agent saw it.
struct Seen {
    ply: u32,
    /// The board of a built-in ruleset, or the position of a package.
    shown: Shown,
    action: u16,
    notation: String,
}

enum Shown {
    Board(String),
    Position(Value),
}

/// Prints what a seat saw at each of its decisions, and what it chose. `package` are the rules, if
/// they are a package.
pub(super) fn print(
    rules: &TournamentRecords,
    setup: &v1::TournamentSetup,
    record: &GameRecord,
    seat: usize,
    format: Format,
    package: Option<&dyn AnyGame>,
) -> Outcome {
    let asks_forced = setup.play.is_some_and(|play| play.ask_forced);
    let (mut seen, mut ply) = (Vec::new(), 0);
    let mut add = |shown: &dyn Fn() -> Shown, described: Described<'_>| {
        let is_own = described.seat.map(usize::from) == Some(seat);
        let is_asked = described.choice.is_asked(asks_forced) == Some(true);
        if is_own && is_asked && ply >= record.opening_plies {
            seen.push(Seen {
                ply,
                shown: shown(),
                action: described.event.id(),
                notation: described.name.to_owned(),
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
    if let Err(error) = replayed {
        return Err(Failure::differs(format!(
            "cannot replay the record: {error}"
        )));
    }
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let name = seat_name(setup, record, seat);
    match format {
        Format::Json | Format::Jsonl => {
            let decisions: Vec<Value> = seen.iter().map(to_json).collect();
            let shown = json!({
                "game_id": id, "seat": seat, "agent": name, "decisions": decisions,
            });
            match format {
                Format::Json => output::json(&shown),
                _ => output::json_line(&shown),
            }
        }
        Format::Csv => Err(Failure::usage(
            "--seat: choose the output table, json or jsonl",
        )),
        Format::Table => {
            let mut text = format!(
                "{id}: {}, what seat {seat} ({name}) saw at its {} decisions\n",
                rules.header.ruleset,
                seen.len()
            );
            for Seen {
                ply,
                shown,
                notation,
                ..
            } in &seen
            {
                let shown = match shown {
                    Shown::Board(board) => printable(board.trim_end()).into_owned(),
                    Shown::Position(position) => human::fields(position),
                };
                let _ = writeln!(text, "\n{shown}\n{ply:>5}  {name:<20} {notation}");
            }
            output::write(&text)
        }
    }
}

/// Replays with the boards before the moves.
fn replay_boards(
    rules: &TournamentRecords,
    record: &GameRecord,
    visit: &mut dyn FnMut(&str, Described<'_>),
) -> Outcome<Result<Replayed, ReplayError>> {
    let game = rules.game_of(record).map_err(Failure::differs)?;
    Ok(game.replay_drawn(&record.events, &mut |board, described| {
        if let Some(described) = described.filter(|it| it.event.is_action()) {
            visit(board, described);
        }
    }))
}

fn to_json(seen: &Seen) -> Value {
    let (key, shown) = match &seen.shown {
        Shown::Board(board) => ("board", json!(board)),
        Shown::Position(position) => ("position", position.clone()),
    };
    json!({"ply": seen.ply, key: shown, "action": seen.action, "notation": seen.notation})
}
