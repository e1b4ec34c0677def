//! One game, for readers: its heading, its moves with boards, and its result.

use std::fmt::Write;

use arena_engine::AnyGame;
use arena_model::GameRecord;
use arena_wire::v1;
use itertools::Itertools;

use crate::{
    error::{ReportError, Result},
    export::{sink, table},
    listing::or_dash,
    records::TournamentRecords,
};

/// One move: the board before it, the seat that moves, and its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The board, with a line feed at its end.
    pub board: String,
    /// `None` for the final board.
    pub seat: Option<u8>,
    /// The move with its ply, its seat's agent and its chance events.
    pub line: String,
}

/// The names of the agents, by seat.
#[must_use]
pub fn names<'a>(rules: &'a TournamentRecords, record: &GameRecord) -> Vec<&'a str> {
    let name = |&agent: &u16| rules.header.agents[usize::from(agent)].as_str();
    record.seats.iter().map(name).collect()
}

/// The game with its seed and its seats, a line each.
#[must_use]
pub fn heading(rules: &TournamentRecords, record: &GameRecord, names: &[&str]) -> String {
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
pub fn frames(game: &dyn AnyGame, record: &GameRecord, names: &[&str]) -> Result<Vec<Frame>> {
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
        .map_err(|error| ReportError::differs(format!("cannot replay the record: {error}")))
}

/// The end of a game: places, scores, luck, faults and hash.
#[must_use]
pub fn result(record: &GameRecord, names: &[&str]) -> String {
    let mut text = String::new();
    let termination = record.termination.name();
    let _ = writeln!(text, "\nended after {} plies: {termination}", record.plies);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&seat| record.placement.get(seat).copied());
    // Rules without scores leave them at 0.
    let has_scores = record.scores.iter().any(|&score| score != 0);
    for seat in order {
        let rank = or_dash(record.placement.get(seat));
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
    text
}

/// Describes the luck of a seat; empty if unknown.
#[must_use]
pub fn luck(record: &GameRecord, seat: usize) -> String {
    let luck = record.luck.get(seat).map(|&luck| f64::from(luck) / 1e6);
    luck.map_or_else(String::new, |luck| format!(", luck {luck:+.3}"))
}

/// The name of a seat's agent.
#[must_use]
pub fn seat_name<'a>(setup: &'a v1::TournamentSetup, record: &GameRecord, seat: usize) -> &'a str {
    let agent = record.seats.get(seat);
    let agent = agent.and_then(|&agent| setup.agents.get(usize::from(agent)));
    agent.map_or("?", |agent| agent.name.as_str())
}

/// Formats a game as comma-separated values with a header, as in an export.
#[must_use]
pub fn csv(rules: &TournamentRecords, record: &GameRecord) -> String {
    let seats = rules.game.seats();
    let columns = table::game_columns(seats, false, false);
    let mut games = v1::GameColumns::default();
    games.push(&record.into(), seats);
    let mut cells = Vec::new();
    table::game(rules, &games, 0, seats, None, &mut cells);
    sink::csv_header(&columns[..columns.len() - table::SOURCE.len()]) + &sink::csv_row(cells, false)
}
