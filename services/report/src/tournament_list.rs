//! Lists of tournaments.

use arena_wire::v1;
use itertools::Itertools;
use serde_json::Value;

use crate::{
    listing::Listing,
    tournaments::{CSV_COLUMNS, Column, describe, shown_state},
    units,
};

/// The columns of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListColumns {
    /// Whole numbers and times, for programs.
    Csv,
    /// For a reader.
    Table,
}

/// The columns of the table.
const LIST_COLUMNS: [Column; 7] = [
    ("tournament", |it| it.tournament_id.clone()),
    ("state", |it| shown_state(it).to_owned()),
    ("games", |it| units::count(it.games_done)),
    ("of", |it| units::count(it.games_total)),
    ("ruleset", |it| it.ruleset.clone()),
    ("format", |it| it.format.clone()),
    ("created (UTC)", |it| units::minute(it.created_unix_us)),
];

/// A list of tournaments; `empty` is the message if there are none. If they are together, all generations
/// of an evolution are one row.
#[must_use]
pub fn listing(
    tournaments: &[v1::Tournament],
    columns: ListColumns,
    together: bool,
    empty: &'static str,
) -> Listing<Value> {
    let columns = match columns {
        ListColumns::Csv => &CSV_COLUMNS[..],
        ListColumns::Table => &LIST_COLUMNS,
    };
    let cells = |one: &v1::Tournament| columns.iter().map(|(_, cell)| cell(one)).collect();
    let listed = |group: &[v1::Tournament]| match group {
        [first, second, ..] => (evolution_line(first, second, group), describe(first)),
        [one] => (cells(one), describe(one)),
        [] => Default::default(),
    };
    let groups = tournaments.chunk_by(|one, next| together && is_next(one, next));
    Listing {
        header: columns.iter().map(|&(head, _)| head).collect(),
        rows: groups.map(listed).collect(),
        empty,
    }
}

/// The evolution of which the tournament is a generation, and its number, by the names that
/// `arena evolve` assigns.
fn evolution(tournament: &v1::Tournament) -> Option<(&str, u32)> {
    let (evolution, number) = tournament.name.rsplit_once("-g")?;
    let digits = number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(())?;
    Some((evolution, number.parse().ok()?))
}

/// True if the next tournament is the next generation of the same evolution; another
/// evolution of the same name begins anew.
fn is_next(one: &v1::Tournament, next: &v1::Tournament) -> bool {
    match (evolution(one), evolution(next)) {
        (Some((one, number)), Some((next, after))) => one == next && after == number + 1,
        _ => false,
    }
}

/// One line for many generations: their names, states and games.
fn evolution_line(
    first: &v1::Tournament,
    second: &v1::Tournament,
    group: &[v1::Tournament],
) -> Vec<String> {
    let last = group.last().unwrap_or(second);
    let number = last.name.rsplit_once('-').map_or("", |(_, number)| number);
    let states = group.iter().map(shown_state);
    let counts = states.clone().counts();
    let state = |state| match counts.len() {
        1 => String::from(state),
        _ => format!("{} {state}", counts[state]),
    };
    let states = states.unique().map(state).join(", ");
    let sum = |of: fn(&v1::Tournament) -> u64| units::count(group.iter().map(of).sum());
    vec![
        format!("{} … {number} ({} generations)", first.name, group.len()),
        states,
        sum(|tournament| tournament.games_done),
        sum(|tournament| tournament.games_total),
        first.ruleset.clone(),
        first.format.clone(),
        units::minute(first.created_unix_us),
    ]
}

#[cfg(test)]
mod tests {
    use arena_wire::v1::TournamentState;

    use super::*;

    fn tournament(name: &str, state: TournamentState) -> v1::Tournament {
        v1::Tournament {
            tournament_id: format!("{name}-0123456789"),
            name: name.to_owned(),
            state: state.into(),
            games_total: 380,
            games_done: 190,
            ruleset: "oware-abapa".to_owned(),
            format: "round-robin".to_owned(),
            created_unix_us: 1_790_000_000_000_000,
            ..Default::default()
        }
    }

    #[test]
    fn evolution_is_listed_in_one_line() {
        let finished = |name| tournament(name, TournamentState::Finished);
        let all = [
            finished("abapa"),
            finished("abapa-g000"),
            finished("abapa-g001"),
            tournament("abapa-g002", TournamentState::Running),
            finished("abapa-g000"),
            finished("abapa-g001"),
            finished("other-g000"),
            finished("other-g2"),
            finished("other-gold"),
        ];
        let sizes: Vec<usize> = all.chunk_by(is_next).map(<[_]>::len).collect();
        assert_eq!(sizes, [1, 3, 2, 1, 1, 1]);
        assert_eq!(
            evolution_line(&all[1], &all[2], &all[1..4]),
            [
                "abapa-g000 … g002 (3 generations)",
                "2 finished, 1 running",
                "570",
                "1,140",
                "oware-abapa",
                "round-robin",
                "2026-09-21 14:13"
            ]
        );
        assert_eq!(evolution_line(&all[1], &all[2], &all[1..3])[1], "finished");
    }
}
