//! The columns of the standings. Each is defined once, in `COLUMNS`: its key, its value in
//! data, and its heading, text and help for people. All writers derive from this list and
//! from the layouts below it.

mod column;

use arena_tournament::Estimate;
use arena_wire::v1;
use itertools::Itertools;

use super::datum::{
    Datum::{self, Bool, Both, Fixed, Int, Kinds, Ranks, Real, Text},
    Field, count,
};
use crate::{
    estimates::{self, NONE},
    units,
};
pub(crate) use column::{Column, Table};

/// All columns, in the order of the keys in JSON; columns that only tables show come last.
const COLUMNS: &[Column] = &[
    Column::new("agent", |it| Text(Some(&it.agent))).shown("agent", |it, _| it.agent.clone()),
    Column::new("version", |it| Text(Some(&it.version))),
    Column::new("content", |it| Text(filled(&it.content))),
    Column::new("registered_unix_us", |it| counted(it.registered_unix_us)),
    Column::new("place", |it| counted(it.place))
        .shown("#", |it, _| units::place(it.place))
        .help(
            "#",
            "place; equal agents share a place; in csv, the column rank numbers the lines",
        ),
    Column::new("games", |it| count(it.games))
        .shown("games", |it, _| units::count(it.games))
        .spare(|_| Some(2))
        .help(
            "games",
            "games that are not void, counted once for each seat of the agent",
        ),
    Column::new("wins", |it| count(it.wins)).shown("wins", |it, _| units::count(it.wins)),
    Column::new("draws", |it| count(it.draws)).shown("draws", |it, _| units::count(it.draws)),
    Column::new("losses", |it| count(it.losses)).shown("losses", |it, _| units::count(it.losses)),
    Column::new("voids", |it| count(it.voids))
        .shown("voids", |it, _| units::count(it.voids))
        .spare(in_wide)
        .help(
            "voids",
            "games that could not be played through no fault of an agent; they have no score",
        ),
    Column::new("faults", |it| count(it.faults))
        .shown("faults", |it, _| units::count(it.faults))
        // A column of zeros may be hidden; a column with faults must stay visible.
        .spare(|of| Some(if of.any(|it| it.faults > 0) { 0 } else { 8 }))
        .help(
            "faults",
            "errors of the agent in games, such as a crash, a timeout or an illegal move",
        ),
    Column::new("unplayed", |it| count(it.unplayed)),
    Column::new("points", |it| Real(Some(it.points))),
    Column::new("swiss_points", |it| Real(it.swiss_points))
        .shown("Swiss", |it, _| units::swiss(it.swiss_points))
        .in_reports("Swiss points", |it, _| units::swiss(it.swiss_points))
        .spare(|of| of.swiss.then_some(0))
        .help(
            "Swiss",
            "Swiss points: 1 for each opponent beaten, a half for each tie; byes included",
        ),
    Column::new("buchholz", |it| Real(it.buchholz))
        .shown("Buchholz", |it, _| units::swiss(it.buchholz))
        .spare(|of| of.swiss.then_some(0))
        .help(
            "Buchholz",
            "sum of the Swiss points of all opponents; it decides between equal points",
        ),
    Column::new("byes", |it| counted(it.byes))
        .shown("byes", |it, _| units::known(it.byes, units::count))
        .in_reports("byes", |it, _| units::count(it.byes.unwrap_or_default()))
        .spare(|of| of.swiss.then_some(2))
        .help("byes", "rounds in which the agent did not play"),
    Column::new("score", |it| Both(estimates::score(it)))
        .shown("score [95%]", |it, adaptive| {
            units::share(estimates::score(it), adaptive)
        })
        // The column that defines the order is hidden last: ratings if scores do not.
        .spare(|of| Some(usize::from(of.swiss || of.rated && !of.by_score)))
        .help(
            "score",
            "mean score of a game: (opponents beaten + half of those tied) / opponents",
        ),
    Column::new("return_mean", |it| Both(estimates::return_mean(it)))
        .shown("return [95%]", |it, adaptive| {
            units::mean_return(estimates::return_mean(it), adaptive)
        })
        .spare(|of| of.any(|it| it.return_mean.is_some()).then_some(0))
        .help(
            "return",
            "mean return of a game, such as chips won, if the spec has outcome = \"returns\"",
        ),
    Column::new("score_adjusted", |it| Both(estimates::score_adjusted(it)))
        .shown("adjusted [95%]", adjusted)
        .in_reports("luck-adjusted score [95%]", adjusted)
        .spare(|of| of.any(|it| it.score_adjusted.is_some()).then_some(4))
        .help(
            "adjusted",
            "luck-adjusted score, in games with dice: the score minus the estimated\n\
             effect of the dice (control variate, unbiased); * marks an unadjusted score",
        ),
    Column::new("score_adjusted_is_raw", |it| Bool(it.score_adjusted_is_raw)),
    Column::new("luck_mean", |it| Real(it.luck_mean))
        .shown("luck", |it, _| {
            units::known(it.luck_mean, units::signed_percent)
        })
        .help("luck", "mean effect of the dice on the score (in reports)"),
    Column::new("luck_share", |it| Fixed(luck_share(it))),
    Column::new("luck_games_saved", |it| Int(it.luck_games_saved))
        .shown("games saved [95%]", games_saved)
        .help(
            "games saved",
            "further games that an unadjusted score of the same precision would need\n\
             (in reports)",
        ),
    Column::new("luck_games_saved_low", |it| Int(it.luck_games_saved_low)),
    Column::new("luck_games_saved_high", |it| Int(it.luck_games_saved_high)),
    Column::new("rating", |it| Both(estimates::rating(it)))
        .shown("rating [95%]", |it, adaptive| {
            units::rating(estimates::rating(it), adaptive)
        })
        .in_reports("rating [95%]", |it, adaptive| {
            units::rating_ends(estimates::rating(it), adaptive)
        })
        .spare(|of| of.rated.then_some(usize::from(of.by_score || of.swiss)))
        .help(
            "rating",
            "maximum-likelihood rating on the Elo scale (Davidson's model for two\n\
             seats, Plackett-Luce for more); with draws, rating differences are larger\n\
             than elo_difference of a pair, which is computed from its score",
        ),
    Column::new("nash", |it| Real(it.nash))
        .shown("Nash", |it, _| {
            units::known(it.nash, |share| format!("{:.0}%", share * 100.0))
        })
        .spare(|of| {
            let mixed =
                |it: &v1::AgentStanding| (0.01..0.99).contains(&it.nash.unwrap_or_default());
            of.any(mixed).then_some(5)
        })
        .help(
            "Nash",
            "share of the agent in the equilibrium of choosing agents by their pair scores;\n\
             shown only if A beats B, B beats C, and C beats A",
        ),
    Column::new("plies_mean", |it| Real(it.plies_mean))
        .shown("plies", |it, _| units::mean(it.plies_mean))
        .spare(|_| Some(7))
        .help(
            "plies",
            "mean number of plies (moves and passes of all seats) of the agent's games",
        ),
    Column::new("win_rate", |it| Fixed(win_rate(it)))
        .head_of(|of| format!("win rate{}", if of.adaptive { "" } else { " [95%]" }))
        .shown("", |it, adaptive| units::share(win_rate(it), adaptive))
        .spare(in_wide)
        .help(
            "win rate",
            "share of the agent's seats that were the only first place of their game",
        ),
    Column::new("ranks", |it| Ranks(&it.ranks))
        .head_of(ranks_head)
        .shown("", ranks)
        .spare(|_| Some(3))
        .help(
            "W/D/L",
            "sole first places, shared first places, other games; with more than two seats\n\
             1st/2nd/…: how often the agent had each place",
        ),
    Column::new("blocks", |it| count(it.blocks))
        .shown("blocks", |it, _| units::count(it.blocks))
        .spare(in_wide)
        .help(
            "blocks",
            "complete blocks with the agent: games with the same dice and opening, one for\n\
             each rotation of the seats",
        ),
    Column::new("games_repeated", |it| count(it.games_repeated)),
    Column::new("latency_us_p50", |it| Real(it.latency_us_p50))
        .shown("move p50", |it, _| units::latency(it.latency_us_p50))
        .spare(|_| Some(9))
        .help(
            "move p50",
            "median thinking time of a move: what the agent reports, else the move's share\n\
             of the round trip (latency_us_p50); move p99: the 99th percentile",
        ),
    Column::new("latency_us_p99", |it| Real(it.latency_us_p99))
        .shown("move p99", |it, _| units::latency(it.latency_us_p99))
        .spare(|_| Some(6)),
    Column::new("waiting_us_p50", |it| Real(it.waiting_us_p50))
        .shown("wait p50", |it, _| units::latency(it.waiting_us_p50))
        .spare(in_wide)
        .help(
            "wait p50",
            "median waiting time of a move: from the moment it was needed to its answer,\n\
             without the move's share of the round trip; wait p99: the 99th percentile",
        ),
    Column::new("waiting_us_p99", |it| Real(it.waiting_us_p99))
        .shown("wait p99", |it, _| units::latency(it.waiting_us_p99))
        .spare(in_wide),
    Column::new("faults_by_kind", |it| Kinds(&it.faults_by_kind)),
    Column::new("last_fault", |it| Text(filled(&it.last_fault))),
    Column::new("non_deterministic", |it| Bool(it.non_deterministic)),
    Column::for_people("other return")
        .head_of(|of| format!("return [95%, {}]", other_interval(of)))
        .shown("", |it, adaptive| {
            units::mean_return(estimates::return_mean(it), !adaptive)
        })
        .spare(|of| {
            let has = of.any(|it| it.return_mean.is_some());
            (of.wide && has).then_some(0)
        }),
    Column::for_people("other rating")
        .head_of(|of| format!("rating [95%, {}]", other_interval(of)))
        .shown("", |it, adaptive| {
            units::rating(estimates::rating(it), !adaptive)
        })
        .spare(|of| (of.wide && of.rated).then_some(0)),
    Column::for_people("other score")
        .head_of(|of| format!("score [95%, {}]", other_interval(of)))
        .shown("", |it, adaptive| {
            units::share(estimates::score(it), !adaptive)
        })
        .spare(in_wide),
];

/// The columns in a terminal, from the left.
pub(crate) const IN_TERMINAL: &[&str] = &[
    "place",
    "agent",
    "swiss_points",
    "buchholz",
    "byes",
    "return_mean",
    "rating",
    "score",
    "score_adjusted",
    "ranks",
    "games",
    "nash",
    "plies_mean",
    "latency_us_p50",
    "latency_us_p99",
    "waiting_us_p50",
    "waiting_us_p99",
    "faults",
    "win_rate",
    "other return",
    "other rating",
    "other score",
    "blocks",
    "voids",
];
/// Columns that only Swiss tournaments have.
const SWISS: &[&str] = &["swiss_points", "buchholz", "byes"];
/// Columns of tournaments in which returns decide the places.
const RETURNS: &[&str] = &["return_mean"];

/// The columns of what decides the places, if that is neither score nor rating.
pub(crate) fn deciding<'a>(
    mut agents: impl Iterator<Item = &'a v1::AgentStanding>,
) -> &'static [&'static str] {
    let first = agents.find(|it| it.swiss_points.is_some() || it.return_mean.is_some());
    match first {
        Some(agent) if agent.swiss_points.is_some() => SWISS,
        Some(_) => RETURNS,
        None => &[],
    }
}
/// The columns of a Markdown report after the agent and the columns of [`SWISS`].
pub(crate) const IN_MARKDOWN: &[&str] = &["score", "games", "wins", "draws", "losses", "faults"];
/// The columns of a page after the same.
pub(crate) const ON_PAGE: &[&str] = &[
    "games",
    "wins",
    "draws",
    "losses",
    "win_rate",
    "plies_mean",
    "faults",
];
/// The columns of a page's table on luck.
pub(crate) const ON_PAGE_LUCK: &[&str] = &[
    "agent",
    "luck_mean",
    "score",
    "score_adjusted",
    "luck_games_saved",
];
/// The columns that the help describes.
const IN_HELP: &[&str] = &[
    "place",
    "swiss_points",
    "buchholz",
    "byes",
    "return_mean",
    "rating",
    "score",
    "score_adjusted",
    "ranks",
    "games",
    "nash",
    "plies_mean",
    "latency_us_p50",
    "waiting_us_p50",
    "faults",
    "win_rate",
    "blocks",
    "voids",
    "luck_mean",
    "luck_games_saved",
];

/// The columns of a layout.
pub(crate) fn named<'a>(
    keys: impl IntoIterator<Item = &'a &'static str>,
) -> impl Iterator<Item = &'static Column> {
    keys.into_iter()
        .filter_map(|key| COLUMNS.iter().find(|column| column.key == *key))
}

/// The description of the columns for the help of `arena standings`.
#[must_use]
pub fn help() -> String {
    let mut text = "Columns:\n".to_owned();
    for (label, lines) in named(IN_HELP).filter_map(|column| column.help) {
        let lines = lines.replace('\n', "\n               ");
        text += &format!("  {label:<13}{lines}\n");
    }
    text
}

/// The fields of an agent in JSON, in their order.
pub(crate) fn fields(agent: &v1::AgentStanding) -> Vec<Field> {
    let columns = COLUMNS.iter();
    columns
        .filter_map(|column| Some(column.read?(agent).fields(column.key)))
        .flatten()
        .collect()
}

fn in_wide(table: &Table<'_>) -> Option<usize> {
    table.wide.then_some(0)
}

fn counted(number: Option<u64>) -> Datum<'static> {
    number.map_or(Int(None), count)
}

fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn luck_share(it: &v1::AgentStanding) -> Option<Estimate> {
    let fixed = (it.luck_share_low, it.luck_share_high);
    estimates::of(it.luck_share, fixed, NONE)
}

fn win_rate(it: &v1::AgentStanding) -> Option<Estimate> {
    let fixed = (it.win_rate_low, it.win_rate_high);
    estimates::of(it.win_rate, fixed, NONE)
}

/// The interval that a table does not show otherwise.
fn other_interval(standings: &v1::Standings) -> &'static str {
    match standings.adaptive {
        true => "fixed n",
        false => "anytime",
    }
}

fn adjusted(it: &v1::AgentStanding, adaptive: bool) -> String {
    units::share(estimates::score_adjusted(it), adaptive) + units::raw(it.score_adjusted_is_raw)
}

/// The extra games that the luck adjustment is worth, with their interval.
fn games_saved(it: &v1::AgentStanding, _: bool) -> String {
    let ends = it.luck_games_saved_low.map(|low| {
        let high = it.luck_games_saved_high;
        let high = high.map_or_else(|| "∞".to_owned(), units::signed_count);
        format!(" [{}, {high}]", units::signed_count(low))
    });
    units::known(it.luck_games_saved, |saved| {
        units::signed_count(saved) + &ends.unwrap_or_default()
    })
}

/// With two seats, a first place is a win or a draw.
fn ranks_head(standings: &v1::Standings) -> String {
    match standings.agents.iter().map(|agent| agent.ranks.len()).max() {
        Some(ranks @ 3..=4) => (1..=ranks).map(units::ordinal).join("/"),
        Some(ranks @ 5..) => format!("1st/2nd/…/{}", units::ordinal(ranks)),
        _ => "W/D/L".to_owned(),
    }
}

fn ranks(it: &v1::AgentStanding, _: bool) -> String {
    let counts = if it.ranks.len() > 2 {
        &it.ranks[..]
    } else {
        &[it.wins, it.draws, it.losses]
    };
    counts.iter().copied().map(units::count).join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_name_existing_columns() {
        for layout in [
            IN_TERMINAL,
            SWISS,
            RETURNS,
            IN_MARKDOWN,
            ON_PAGE,
            ON_PAGE_LUCK,
            IN_HELP,
        ] {
            assert_eq!(named(layout).count(), layout.len(), "{layout:?}");
        }
        let helped = COLUMNS.iter().filter(|column| column.help.is_some());
        assert_eq!(helped.count(), IN_HELP.len());
    }
}
