//! Tables of games, decisions and standings: columns and rows.

use std::{fmt, sync::Arc};

use arena_engine::Termination;
use arena_model::{BlockSeed, GameRecord, Returns};
use arena_wire::v1;
use itertools::Itertools;
use serde_json::Value;

use crate::{
    error::{ReportError, Result},
    records::TournamentRecords,
    standings::{columns, datum::Field},
};

pub use crate::standings::datum::ColumnType;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportColumn {
    /// Its name: the key in JSON, and the head in CSV.
    pub name: String,
    /// The type of its cells.
    pub kind: ColumnType,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Real(f64),
    /// `true` or `false`.
    Bool(bool),
    /// Text of one row.
    Text(String),
    /// Text of many rows.
    Shared(Arc<str>),
    /// Text of a fixed list, such as the name of a fault.
    Name(&'static str),
}

impl Cell {
    /// True without a value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Its text, if it is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Shared(text) => Some(text),
            Self::Name(text) => Some(text),
            Self::Null | Self::Int(_) | Self::Real(_) | Self::Bool(_) => None,
        }
    }
}

/// As JSON.
impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Int(number) => number.fmt(formatter),
            Self::Real(number) => Value::from(*number).fmt(formatter),
            Self::Bool(value) => value.fmt(formatter),
            Self::Text(_) | Self::Shared(_) | Self::Name(_) => {
                Value::from(self.text().unwrap_or_default()).fmt(formatter)
            }
        }
    }
}

macro_rules! cell_of {
    ($($of:ty => |$value:ident| $cell:expr;)*) => {
        $(impl From<$of> for Cell {
            fn from($value: $of) -> Self {
                $cell
            }
        })*
    };
}

cell_of! {
    i32 => |number| Self::Int(number.into());
    i64 => |number| Self::Int(number);
    u16 => |number| Self::Int(number.into());
    u8 => |number| Self::Int(number.into());
    u32 => |number| Self::Int(number.into());
    u64 => |number| Self::Int(i64::try_from(number).unwrap_or(i64::MAX));
    f64 => |number| Self::Real(number);
    bool => |value| Self::Bool(value);
    String => |text| Self::Text(text);
    Arc<str> => |text| Self::Shared(text);
    &'static str => |text| Self::Name(text);
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), ..) => Self::Int(number),
                (_, Some(number), _) => number.into(),
                (.., number) => number.into(),
            },
            Value::String(text) => text.into(),
            other @ (Value::Array(_) | Value::Object(_)) => other.to_string().into(),
        }
    }
}

fn typed(named: &[(&str, ColumnType)]) -> Vec<ExportColumn> {
    let column = |&(name, kind): &(&str, ColumnType)| ExportColumn {
        name: name.to_owned(),
        kind,
    };
    named.iter().map(column).collect()
}

/// The last columns of every table: the tournament of a row. Standings have `SPEC` after
/// them.
pub const SOURCE: [(&str, ColumnType); 4] = [
    ("tournament_id", ColumnType::Text),
    ("generation", ColumnType::Int),
    ("tournament_seed", ColumnType::Text),
    ("spec_sha256", ColumnType::Text),
];
const SPEC: (&str, ColumnType) = ("spec_json", ColumnType::Text);

/// One column for each of these seats or ranks.
fn numbered(
    name: &str,
    kind: ColumnType,
    numbers: impl Iterator<Item = usize>,
) -> impl Iterator<Item = ExportColumn> {
    let name = move |number| format!("{name}_{number}");
    numbers.map(move |number| ExportColumn {
        name: name(number),
        kind,
    })
}

/// The columns of [`game`]; those of returns if some tournament has them.
pub fn game_columns(seats: usize, with_returns: bool, with_timing: bool) -> Vec<ExportColumn> {
    let mut all = typed(&[
        ("game_id", ColumnType::Key),
        ("index", ColumnType::Int),
        ("block", ColumnType::Int),
        ("seed", ColumnType::Key),
    ]);
    for (name, kind) in [
        ("seat", ColumnType::Text),
        ("placement", ColumnType::Int),
        ("score", ColumnType::Int),
        ("return", ColumnType::Real),
        ("luck", ColumnType::Real),
    ] {
        if name != "return" || with_returns {
            all.extend(numbered(name, kind, 0..seats));
        }
    }
    all.extend(typed(&[
        ("plies", ColumnType::Int),
        ("termination", ColumnType::Text),
        ("faults", ColumnType::Text),
        ("hash", ColumnType::Key),
    ]));
    if with_timing {
        all.extend(typed(&[
            ("worker", ColumnType::Text),
            ("started_unix_us", ColumnType::Int),
            ("duration_us", ColumnType::Int),
        ]));
    }
    all.extend(typed(&SOURCE));
    all
}

/// Adds the cells of one of several games to a row of a table for `seats` seats, without the columns
/// of [`SOURCE`]. Luck is a share of the game's score. With returns, there are cells for them, which
/// are empty if the tournament has none. The columns have been checked.
pub fn game(
    rules: &TournamentRecords,
    games: &v1::GameColumns,
    at: usize,
    seats: usize,
    returns: Option<Option<&Returns>>,
    cells: &mut Vec<Cell>,
) {
    let index = games.index[at];
    cells.extend([
        format!("{}/{index}", rules.header.tournament_id).into(),
        index.into(),
        games.block[at].into(),
        BlockSeed(games.seed[at]).to_string().into(),
    ]);
    let own = rules.game.seats();
    // Tournaments with fewer seats leave the columns of the other seats empty.
    let mut by_seat = |cell: &dyn Fn(usize) -> Cell| {
        cells.extend((0..seats).map(|seat| match seat < own {
            true => cell(at * own + seat),
            false => Cell::Null,
        }));
    };
    by_seat(&|place| rules.agent(games.agent[place] as u16).into());
    by_seat(&|place| Some(games.placement[place]).filter(|&rank| rank > 0).into());
    by_seat(&|place| games.score[place].into());
    if let Some(returns) = returns {
        let scores = &games.score[at * own..][..own];
        let is_forfeit = games.termination_of(at) == Termination::Forfeit.name();
        let has_fault = |seat| {
            games
                .faults_of(at)
                .any(|(faulty, _)| faulty as usize == seat)
        };
        let is_void = games.placement[at * own..][..own].contains(&0);
        let values = returns.filter(|_| !is_void);
        let values = values.map(|it| it.values(scores, is_forfeit, &has_fault));
        by_seat(&|place| values.as_ref().map(|it| it[place - at * own]).into());
    }
    let luck = |place: usize| f64::from(games.luck[place]) / 1e6;
    by_seat(&|place| games.has_luck[at].then(|| luck(place)).into());
    let faults = games.faults_of(at);
    let faults = faults
        .map(|(seat, kind)| format!("{seat}:{kind}"))
        .join(" ");
    cells.extend([
        games.plies[at].into(),
        games.termination_of(at).into(),
        faults.into(),
        hexadecimal(&games.hash[at * 32..][..32]).into(),
    ]);
    if let Some(timing) = games.timing.get(at) {
        let is_known = !timing.worker.is_empty();
        cells.extend([
            is_known.then(|| timing.worker.clone()).into(),
            is_known.then_some(timing.started_unix_us).into(),
            is_known.then_some(timing.duration_us).into(),
        ]);
    }
}

/// A hash as text, in one step.
fn hexadecimal(hash: &[u8]) -> String {
    let mut digits = vec![0; 2 * hash.len()];
    // There is room for all of them, and all of them are ASCII.
    let _ = hex::encode_to_slice(hash, &mut digits);
    String::from_utf8(digits).unwrap_or_default()
}

/// The columns of [`decisions`].
pub fn decision_columns() -> Vec<ExportColumn> {
    let mut all = typed(&[
        ("game_id", ColumnType::Text),
        ("index", ColumnType::Int),
        ("ply", ColumnType::Int),
        ("seat", ColumnType::Int),
        ("agent", ColumnType::Text),
        ("action", ColumnType::Int),
        ("move", ColumnType::Text),
        ("drawn", ColumnType::Text),
        ("opening", ColumnType::Bool),
    ]);
    all.extend(typed(&SOURCE));
    all
}

/// Converts the decisions of a game to rows. `drawn` holds the chance outcomes since the
/// previous decision.
pub fn decisions(
    rules: &TournamentRecords,
    record: &GameRecord,
    row: &mut dyn FnMut(&mut Vec<Cell>) -> Result,
) -> Result {
    let id: Arc<str> = format!("{}/{}", rules.header.tournament_id, record.index).into();
    let mut drawn = String::new();
    let mut ply = 0;
    let mut outcome = Ok(());
    let replayed = rules.game_of(record).and_then(|game| {
        game.replay(&record.events, &mut |described| {
            if !described.event.is_action() {
                if !drawn.is_empty() {
                    drawn.push(' ');
                }
                drawn.push_str(described.name);
                return;
            }
            let seat = described.seat;
            let agent = seat.and_then(|seat| record.seats.get(usize::from(seat)));
            let mut cells = vec![
                Arc::clone(&id).into(),
                record.index.into(),
                ply.into(),
                seat.into(),
                agent.map(|&agent| rules.agent(agent)).into(),
                described.event.id().into(),
                described.name.to_owned().into(),
                std::mem::take(&mut drawn).into(),
                (ply < record.opening_plies).into(),
            ];
            ply += 1;
            if outcome.is_ok() {
                outcome = row(&mut cells);
            }
        })
    });
    replayed
        .map_err(|error| ReportError::differs(format!("game {id} cannot be replayed: {error}")))?;
    outcome
}

/// The columns of [`standings()`]: the columns of `arena standings --output csv`, then the
/// tournament.
pub fn standing_columns(seats: usize) -> Vec<ExportColumn> {
    let mut all = typed(&[("rank", ColumnType::Int)]);
    for (name, kind, _) in sorted_fields(&v1::AgentStanding::default()) {
        if name == RANKS {
            all.extend(numbered(&name, kind, 1..=seats));
        } else {
            all.push(ExportColumn { name, kind });
        }
    }
    all.extend(typed(&SOURCE));
    all.extend(typed(&[SPEC]));
    all
}

/// Converts the standings to rows with every field that `arena standings --output json` has
/// for an agent, by name.
pub fn standings(standings: &v1::Standings, seats: usize) -> Vec<Vec<Cell>> {
    let agents = (1..).zip(&standings.agents);
    let row = |(rank, agent): (u64, &v1::AgentStanding)| {
        let mut cells = vec![Cell::from(rank)];
        for (name, _, value) in sorted_fields(agent) {
            match value {
                Value::Object(kinds) => {
                    let mut kinds = kinds.iter().map(|(kind, count)| format!("{kind}={count}"));
                    cells.push(kinds.join(" ").into());
                }
                ranks if name == RANKS => {
                    cells.extend((0..seats).map(|rank| ranks.get(rank).cloned().into()));
                }
                cell => cells.push(cell.into()),
            }
        }
        cells
    };
    agents.map(row).collect()
}

/// The fields of an agent, by name.
fn sorted_fields(agent: &v1::AgentStanding) -> Vec<Field> {
    let mut fields = columns::fields(agent);
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    fields
}

/// Column prefix of the frequency of each rank, from rank 1.
const RANKS: &str = "ranks";

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent with every field set.
    fn known() -> v1::AgentStanding {
        v1::AgentStanding {
            agent: "one".to_owned(),
            place: Some(1),
            swiss_points: Some(13.5),
            buchholz: Some(24.0),
            byes: Some(1),
            ranks: vec![3, 1],
            score: Some(0.75),
            score_low: Some(0.5),
            score_high: Some(1.0),
            score_anytime_low: Some(0.25),
            score_anytime_high: Some(1.0),
            score_adjusted: Some(0.7),
            score_adjusted_low: Some(0.5),
            score_adjusted_high: Some(0.9),
            score_adjusted_anytime_low: Some(0.4),
            score_adjusted_anytime_high: Some(1.0),
            luck_mean: Some(0.0),
            luck_share: Some(0.5),
            luck_share_low: Some(0.25),
            luck_share_high: Some(0.75),
            luck_games_saved: Some(-3),
            luck_games_saved_low: Some(-5),
            luck_games_saved_high: Some(2),
            rating: Some(10.0),
            rating_low: Some(-10.0),
            rating_high: Some(30.0),
            rating_anytime_low: Some(-20.0),
            rating_anytime_high: Some(40.0),
            nash: Some(1.0),
            plies_mean: Some(12.0),
            win_rate: Some(0.75),
            win_rate_low: Some(0.5),
            win_rate_high: Some(1.0),
            return_mean: Some(0.5),
            return_mean_low: Some(-1.0),
            return_mean_high: Some(2.0),
            return_mean_anytime_low: Some(-2.0),
            return_mean_anytime_high: Some(2.0),
            latency_us_p50: Some(1.0),
            latency_us_p99: Some(2.0),
            waiting_us_p50: Some(3.0),
            waiting_us_p99: Some(4.0),
            faults_by_kind: [("crash".to_owned(), 2), ("timeout".to_owned(), 1)].into(),
            last_fault: "it died".to_owned(),
            version: "1.0.0".to_owned(),
            content: "5eed".to_owned(),
            registered_unix_us: Some(1),
            ..v1::AgentStanding::default()
        }
    }

    /// True if a cell has the type of a column.
    fn fits(kind: ColumnType, cell: &Cell) -> bool {
        match kind {
            ColumnType::Int => matches!(cell, Cell::Int(_)),
            ColumnType::Real => matches!(cell, Cell::Real(_)),
            ColumnType::Text | ColumnType::Key => cell.text().is_some(),
            ColumnType::Bool => matches!(cell, Cell::Bool(_)),
        }
    }

    #[test]
    fn standings_columns_match_json() {
        let all = v1::Standings {
            agents: vec![known(), v1::AgentStanding::default()],
            ..v1::Standings::default()
        };
        // The tournament's columns come last.
        let columns = standing_columns(2);
        let columns = &columns[..columns.len() - SOURCE.len() - 1];
        let rows = standings(&all, 2);
        for (place, column) in columns.iter().enumerate() {
            let [first, second] = [0, 1].map(|row: usize| &rows[row][place]);
            assert!(fits(column.kind, first), "{}: {first}", column.name);
            let nothing = second.is_null() || fits(column.kind, second);
            assert!(nothing, "{}: {second}", column.name);
        }
        assert_eq!(rows[0].len(), columns.len());
        let csv = crate::standings::csv::agents(&all, false).expect("csv");
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(csv.lines().next(), Some(names.join(",").as_str()));
    }
}
