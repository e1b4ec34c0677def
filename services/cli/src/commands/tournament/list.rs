//! `arena tournament list`

use arena_report::units;
use arena_wire::v1;
use clap::Args;
use itertools::Itertools;

use super::shown::{CSV_COLUMNS, describe, shown_state};
use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    ids,
    output::{Format, Listing, note},
};

/// Name of a column, and the text of a row in it.
type Column = (&'static str, fn(&v1::Tournament) -> String);

/// The columns of the table.
const COLUMNS: [Column; 7] = [
    ("tournament", |it| it.tournament_id.clone()),
    ("state", |it| shown_state(it).to_owned()),
    ("games", |it| units::count(it.games_done)),
    ("of", |it| units::count(it.games_total)),
    ("ruleset", |it| it.ruleset.clone()),
    ("format", |it| it.format.clone()),
    ("created (UTC)", |it| units::minute(it.created_unix_us)),
];

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only tournaments whose name starts with this text
    #[arg(value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    pub(super) access: AccessArgs,

    /// List each generation of an evolution on its own line (the default with NAME, json,
    /// jsonl and csv)
    #[arg(long)]
    all: bool,

    /// List removed tournaments instead of the others
    #[arg(long)]
    removed: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

pub(super) async fn list(client: &mut Client, args: &ListArgs) -> Outcome {
    let mut tournaments = ids::listed(client, args.removed).await?;
    if let Some(name) = &args.name {
        tournaments.retain(|tournament| tournament.name.starts_with(name.as_str()));
    }
    let together = args.output == Format::Table && !args.all && args.name.is_none();
    let columns = match args.output {
        Format::Csv => &CSV_COLUMNS[..],
        _ => &COLUMNS,
    };
    let cells = |one: &v1::Tournament| columns.iter().map(|(_, cell)| cell(one)).collect();
    let listed = |group: &[v1::Tournament]| match group {
        [first, second, ..] => (generations(first, second, group), describe(first)),
        [one] => (cells(one), describe(one)),
        [] => Default::default(),
    };
    let groups = tournaments.chunk_by(|one, next| together && is_next(one, next));
    let listing = Listing {
        header: columns.iter().map(|&(head, _)| head).collect(),
        rows: groups.map(listed).collect(),
        empty: match args.name {
            None if args.removed => "no tournament was removed",
            Some(_) => "no tournament has this name: `arena tournament list` shows all",
            None => "no tournaments yet: start one with `arena tournament start SPEC`",
        },
    };
    listing.print(args.output)?;
    if args.output == Format::Table {
        for tournament in &tournaments {
            if let Some(pause) = &tournament.pause {
                let id = &tournament.tournament_id;
                let v1::Pause { reason, error, .. } = pause;
                let colon = if error.is_empty() { "" } else { ": " };
                note(format!(
                    "{id} is paused: {reason}{colon}{error}; `arena tournament show {id}` explains \
                     what to do"
                ));
            }
        }
    }
    Ok(())
}

/// The evolution of which the tournament is a generation, and its number, by the names that
/// `arena evolve` assigns.
fn generation(tournament: &v1::Tournament) -> Option<(&str, u32)> {
    let (evolution, number) = tournament.name.rsplit_once("-g")?;
    let digits = number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(())?;
    Some((evolution, number.parse().ok()?))
}

/// True if the next tournament is the next generation of the same evolution; another
/// evolution of the same name begins anew.
fn is_next(one: &v1::Tournament, next: &v1::Tournament) -> bool {
    match (generation(one), generation(next)) {
        (Some((one, number)), Some((next, after))) => one == next && after == number + 1,
        _ => false,
    }
}

/// One line for many generations: their names, states and games.
fn generations(
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
            generations(&all[1], &all[2], &all[1..4]),
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
        assert_eq!(generations(&all[1], &all[2], &all[1..3])[1], "finished");
    }
}
