//! Tables of games, decisions and standings: columns, and the cells of rows.

use arena_model::GameRecord;
use arena_wire::v1;
use serde_json::{Map, Value, json};

use crate::{
    commands::standings,
    failure::{Failure, Outcome},
    model::Rules,
};

/// What the cells of a column are, where they are not null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Real,
    Text,
    Bool,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A cell is null, a whole number, a real number, text, or true or false.
pub(crate) type Cell = Value;

fn columns(named: &[(&str, Kind)]) -> Vec<Column> {
    named
        .iter()
        .map(|&(name, kind)| Column {
            name: name.to_owned(),
            kind,
        })
        .collect()
}

/// One column a seat.
fn by_seat(columns: &mut Vec<Column>, name: &str, kind: Kind, seats: usize) {
    columns.extend((0..seats).map(|seat| Column {
        name: format!("{name}_{seat}"),
        kind,
    }));
}

/// The columns of [`game`].
pub(crate) fn game_columns(seats: usize, with_timing: bool) -> Vec<Column> {
    let mut all = columns(&[
        ("game_id", Kind::Text),
        ("index", Kind::Int),
        ("block", Kind::Int),
        ("seed", Kind::Text),
    ]);
    for (name, kind) in [
        ("seat", Kind::Text),
        ("placement", Kind::Int),
        ("score", Kind::Int),
        ("luck", Kind::Real),
    ] {
        by_seat(&mut all, name, kind, seats);
    }
    all.extend(columns(&[
        ("plies", Kind::Int),
        ("termination", Kind::Text),
        ("faults", Kind::Text),
        ("hash", Kind::Text),
    ]));
    if with_timing {
        all.extend(columns(&[
            ("worker", Kind::Text),
            ("started_unix_us", Kind::Int),
            ("duration_us", Kind::Int),
        ]));
    }
    all
}

/// A game as a row; luck in shares of a game's score.
pub(crate) fn game(
    rules: &Rules,
    record: &GameRecord,
    timing: Option<&v1::GameTiming>,
    with_timing: bool,
) -> Vec<Cell> {
    let seats = record.seats.len();
    let mut cells = vec![
        json!(format!("{}/{}", rules.header.tournament_id, record.index)),
        json!(record.index),
        json!(record.block),
        json!(record.seed.to_string()),
    ];
    cells.extend(record.seats.iter().map(|&agent| json!(name(rules, agent))));
    cells.extend((0..seats).map(|seat| json!(record.placement.get(seat))));
    cells.extend((0..seats).map(|seat| json!(record.scores.get(seat))));
    let luck = |seat: usize| record.luck.get(seat).map(|&luck| f64::from(luck) / 1e6);
    cells.extend((0..seats).map(|seat| json!(luck(seat))));
    cells.extend([
        json!(record.plies),
        json!(record.termination.name()),
        json!(faults(record)),
        json!(hex::encode(record.hash)),
    ]);
    if with_timing {
        cells.extend([
            json!(timing.map(|timing| &timing.worker)),
            json!(timing.map(|timing| timing.started_unix_us)),
            json!(timing.map(|timing| timing.duration_us)),
        ]);
    }
    cells
}

/// Faults of a game as `seat:kind`, with spaces between.
pub(crate) fn faults(record: &GameRecord) -> String {
    let faults: Vec<String> = record
        .faults
        .iter()
        .map(|fault| format!("{}:{}", fault.seat, fault.kind.name()))
        .collect();
    faults.join(" ")
}

fn name(rules: &Rules, agent: u16) -> &str {
    &rules.header.agents[usize::from(agent)]
}

/// The columns of [`decisions`].
pub(crate) fn decision_columns() -> Vec<Column> {
    columns(&[
        ("game_id", Kind::Text),
        ("index", Kind::Int),
        ("ply", Kind::Int),
        ("seat", Kind::Int),
        ("agent", Kind::Text),
        ("action", Kind::Int),
        ("move", Kind::Text),
        ("drawn", Kind::Text),
        ("opening", Kind::Bool),
    ])
}

/// The decisions of a game as rows; `drawn` are the chance outcomes since the
/// one before.
pub(crate) fn decisions(
    rules: &Rules,
    record: &GameRecord,
    row: &mut dyn FnMut(Vec<Cell>) -> Outcome,
) -> Outcome {
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let mut drawn = String::new();
    let mut ply = 0;
    let mut outcome = Ok(());
    let replayed = rules.game.replay(&record.events, &mut |described| {
        if !described.event.is_action() {
            if !drawn.is_empty() {
                drawn.push(' ');
            }
            drawn.push_str(described.name);
            return;
        }
        let seat = described.seat;
        let agent = seat.and_then(|seat| record.seats.get(usize::from(seat)));
        let cells = vec![
            json!(id),
            json!(record.index),
            json!(ply),
            json!(seat),
            json!(agent.map(|&agent| name(rules, agent))),
            json!(described.event.id()),
            json!(described.name),
            json!(drawn),
            json!(ply < record.opening_plies),
        ];
        drawn.clear();
        ply += 1;
        if outcome.is_ok() {
            outcome = row(cells);
        }
    });
    replayed.map_err(|error| Failure::differs(format!("game {id} cannot be replayed: {error}")))?;
    outcome
}

/// The standings as columns and rows: every single number that `arena
/// standings --output json` has of an agent, by name.
pub(crate) fn standings(standings: &v1::Standings) -> (Vec<Column>, Vec<Vec<Cell>>) {
    let agents: Vec<Map<String, Value>> = standings
        .agents
        .iter()
        .filter_map(|agent| match standings::as_json(agent) {
            Value::Object(fields) => Some(fields),
            _ => None,
        })
        .collect();
    let mut all = columns(&[("rank", Kind::Int), ("agent", Kind::Text)]);
    let fields = agents.first().into_iter().flatten();
    for (name, first) in fields {
        let nested = first.is_array() || first.is_object();
        if !nested && name != "agent" {
            let cells = agents.iter().filter_map(|agent| agent.get(name));
            all.push(Column {
                name: name.clone(),
                kind: kind_of(cells),
            });
        }
    }
    let rows = (1..).zip(&agents);
    let rows = rows
        .map(|(rank, agent)| {
            let cells = all[1..].iter();
            let cells = cells.map(|column| agent.get(&column.name).cloned().unwrap_or_default());
            std::iter::once(json!(rank)).chain(cells).collect()
        })
        .collect();
    (all, rows)
}

/// What all of these are; real numbers where nothing is known.
fn kind_of<'a>(cells: impl Iterator<Item = &'a Value>) -> Kind {
    let mut kind = None;
    for cell in cells {
        let found = match cell {
            Value::Null => continue,
            Value::Bool(_) => Kind::Bool,
            Value::Number(number) if number.is_f64() => Kind::Real,
            Value::Number(_) => Kind::Int,
            _ => Kind::Text,
        };
        kind = match (kind, found) {
            (Some(Kind::Int), Kind::Real) | (Some(Kind::Real), Kind::Int) => Some(Kind::Real),
            (Some(known), _) => Some(known),
            (None, found) => Some(found),
        };
    }
    kind.unwrap_or(Kind::Real)
}
