//! A report as one self-contained page: it embeds styles, script, charts and games, and its
//! content security policy blocks every load.

pub mod live;
mod rounds;

use std::{
    collections::BTreeMap,
    time::{Duration, UNIX_EPOCH},
};

use arena_model::{printable, printable_json};
use arena_tournament::ratings::expected_score;
use arena_wire::v1;
use askama::Template;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use itertools::Itertools;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    chart,
    error::{ReportError, Result},
    report::{Agent, Measure, Pair, Report},
    rounds::Rounds,
    sequential::SequentialTest,
    standings::{
        columns::{self, Column, ON_PAGE, ON_PAGE_LUCK},
        table::swiss_tiebreaks,
    },
    units, words,
};

pub(crate) const CSS: &str = include_str!("report.css");
const JS: &str = include_str!("report.js");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum number of pairs in the table; larger tables belong in a spreadsheet.
const PAIRS_MAX: usize = 500;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    report: &'a Report,
    headline: String,
    summary: Vec<String>,
    /// Sentences of the summary that are collapsed.
    more: Vec<String>,
    parts: Vec<(&'static str, &'static str)>,
    games: String,
    standings: Numbers,
    /// Luck-adjusted scores, if luck is known for at least one agent.
    luck: Option<Numbers>,
    /// Rounds of a finished Swiss tournament.
    swiss: Option<rounds::SwissRounds>,
    /// Rounds of a finished knockout.
    bracket: Option<rounds::Bracket>,
    scores: String,
    ratings: Option<String>,
    heat: String,
    /// The expected share of points of an agent rated one hundred points higher.
    hundred: String,
    /// True if ties had a weight in that share.
    drawn: bool,
    /// Two agents and their games.
    pairs: Vec<(&'a str, &'a str, &'a Pair)>,
    /// Number of pairs that are not listed.
    pairs_unlisted: u64,
    /// The sequential test, if the tournament is one.
    test: Option<TestPart<'a>>,
}

/// A table of columns of the standings.
#[derive(Template)]
#[template(path = "numbers.html")]
struct Numbers {
    heads: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

struct Cell {
    text: String,
    /// True in the column of names.
    is_name: bool,
    /// True if the number is marked as bad.
    is_bad: bool,
}

impl Numbers {
    fn new<'a>(report: &Report, keys: impl IntoIterator<Item = &'a &'static str>) -> Self {
        Self::of(
            &standing(report).collect::<Vec<_>>(),
            report.adaptive,
            columns::named(keys).collect(),
        )
    }

    /// A table of these columns of the agents.
    fn of(agents: &[&v1::AgentStanding], adaptive: bool, columns: Vec<&Column>) -> Self {
        let cell = |column: &Column, text: String, faults: u64| Cell {
            text,
            is_name: column.key == "agent",
            is_bad: column.key == "faults" && faults > 0,
        };
        let head = |column: &&Column| cell(column, column.report_head(adaptive), 0);
        let row = |agent: &&v1::AgentStanding| {
            let cells = columns.iter().map(|column| {
                let text = column.report_text(agent, adaptive);
                cell(column, text, agent.faults)
            });
            cells.collect()
        };
        Self {
            heads: columns.iter().map(head).collect(),
            rows: agents.iter().map(row).collect(),
        }
    }
}

/// A sequential test after at least one look.
struct TestPart<'a> {
    chart: String,
    of: &'a SequentialTest,
    /// Score of a block, number of blocks with that score, and their share of all blocks.
    outcomes: Vec<(String, String, String)>,
    /// True if a block is two games of two players, so that it has five outcomes.
    pentanomial: bool,
}

/// Renders the page of a report.
pub fn html(report: &Report) -> Result<String> {
    let mut standings = report.agents.iter().map(|agent| &agent.standing);
    let lucky = standings.any(|standing| standing.score_adjusted.is_some());
    let agents = report.agents.iter();
    let names: Vec<&str> = agents.map(|it| it.standing.agent.as_str()).collect();
    let rounds = report.verdict.as_ref().and_then(Rounds::of);
    let swiss = rounds.as_ref().and_then(|of| rounds::swiss(&names, of));
    let bracket = rounds.as_ref().and_then(rounds::bracket);
    let test = report.test.as_ref().and_then(test_part);
    let mut parts = vec![("summary", "Summary")];
    if !report.verdicts.is_empty() {
        parts.push(("expected", "Expected"));
    }
    if report.games > 0 {
        parts.push(("standings", "Standings"));
        if swiss.is_some() {
            parts.push(("rounds", "Rounds"));
        } else if bracket.is_some() {
            parts.push(("rounds", "Bracket"));
        }
        if test.is_some() {
            parts.push(("test", "Test"));
        }
        if lucky {
            parts.push(("luck", "Luck"));
        }
        parts.extend([
            ("pairs", "Head to head"),
            ("course", "Progress"),
            ("seats", "First move"),
            ("lengths", "Lengths"),
            ("latencies", "Thinking"),
            ("faults", "Faults"),
            ("samples", "Games"),
        ]);
    }
    parts.push(("again", "Reproduce"));
    let mut pairs = pairs(report);
    let unlisted = pairs.len().saturating_sub(PAIRS_MAX) as u64;
    pairs.truncate(PAIRS_MAX);
    let ties = report.ratings.iter().flat_map(|of| &of.ties);
    let tie = ties.copied().next().unwrap_or_default();
    let summary = words::summary(report);
    let mut summary: Vec<String> = summary.iter().map(|it| units::unbroken(it)).collect();
    let more = summary.split_off(summary.len().min(words::SHOWN));
    let deciding = columns::deciding(standing(report));
    let keys = ["place", "agent"].iter().chain(deciding);
    let page = Page {
        report,
        headline: words::headline(report),
        summary,
        more,
        parts,
        games: units::count(report.games),
        standings: Numbers::new(report, keys.chain(ON_PAGE)),
        luck: lucky.then(|| Numbers::new(report, ON_PAGE_LUCK)),
        swiss,
        bracket,
        scores: chart::scores(standing(report), report.adaptive),
        ratings: report
            .ratings
            .as_ref()
            .map(|_| chart::ratings(standing(report), report.adaptive)),
        heat: chart::heat(&names, &report.pairs, report.adaptive),
        hundred: format!("{:.0}%", 100.0 * expected_score(100.0, tie)),
        drawn: tie > 0.0,
        pairs,
        pairs_unlisted: unlisted,
        test,
    };
    let page = page.render().map_err(ReportError::failed)?;
    Ok(printable(&page).into_owned())
}

/// The standings of a report's agents.
fn standing(report: &Report) -> impl Iterator<Item = &v1::AgentStanding> {
    report.agents.iter().map(|agent| &agent.standing)
}

/// Formats the options of an agent's bot.
fn options(agent: &Agent) -> String {
    let options = agent.options.iter();
    options
        .map(|(name, value)| format!("{name} = {value}"))
        .join(", ")
}

/// Formats the score of an agent in a seat.
fn share(score: Option<f64>) -> String {
    units::known(score, |score| units::interval(score, None))
}

/// Formats how often each rank was reached, with the share of all games.
fn ranks(ranks: &[u64]) -> Vec<String> {
    let all: u64 = ranks.iter().sum();
    let cell = |&count: &u64| match all {
        0 => "–".to_owned(),
        all => format!(
            "{} ({:.1}%)",
            units::count(count),
            100.0 * count as f64 / all as f64
        ),
    };
    ranks.iter().map(cell).collect()
}

/// The sequential test; `None` before the first look.
fn test_part(test: &SequentialTest) -> Option<TestPart<'_>> {
    /// Number of outcomes of a block of two two-player games: 0, ½, 1, 1½ and 2 points.
    const PENTANOMIAL: usize = 5;
    let chart = chart::sequential_test(test)?;
    let pentanomial = test.outcomes.len() == PENTANOMIAL;
    let most = test.outcomes.len().saturating_sub(1).max(1) as f64;
    let all = test.outcomes.iter().sum::<u64>().max(1) as f64;
    let outcomes = test.outcomes.iter().enumerate();
    let outcomes = outcomes.filter(|(_, count)| pentanomial || **count > 0);
    let row = |(got, &count): (usize, &u64)| {
        let score = if pentanomial {
            format!("{} of 2 points", units::points(got as f64 / 2.0))
        } else {
            format!("{:.1}%", 100.0 * got as f64 / most)
        };
        let share = format!("{:.1}%", 100.0 * count as f64 / all);
        (score, units::count(count), share)
    };
    Some(TestPart {
        chart,
        of: test,
        outcomes: outcomes.map(row).collect(),
        pentanomial,
    })
}

/// Each pair once, from the side of the agent with the better place.
fn pairs(report: &Report) -> Vec<(&str, &str, &Pair)> {
    let name = |place: usize| report.agents[place].standing.agent.as_str();
    let pairs = report.pairs.iter().enumerate().flat_map(|(row, pairs)| {
        let later = pairs.iter().enumerate().skip(row + 1);
        later.filter_map(move |(column, pair)| Some((name(row), name(column), pair.as_ref()?)))
    });
    pairs.collect()
}

/// Formats the number of distinct games, and marks a lower bound.
fn different((games, more): (u64, bool)) -> String {
    let above = if more { ">" } else { "" };
    format!("{above}{}", units::count(games))
}

/// Formats the blocks that count, and the total if other blocks repeat games.
fn counting([counted, played]: [u64; 2]) -> String {
    if counted == played {
        units::count(counted)
    } else {
        format!("{} of {}", units::count(counted), units::count(played))
    }
}

/// Formats a likelihood as a percentage that is never 0 or 100.
fn likely(share: Option<f64>) -> String {
    units::known(share, |share| match share {
        0.9995.. => ">99.9%".to_owned(),
        share if share < 0.0005 => "<0.1%".to_owned(),
        share => units::interval(share, None),
    })
}

fn kinds(counts: &BTreeMap<String, u64>) -> String {
    let kinds = counts.iter();
    kinds
        .map(|(kind, &count)| format!("{} {kind}", units::count(count)))
        .sorted_unstable()
        .join(", ")
}

/// Formats how games ended.
fn endings(report: &Report) -> String {
    let ended = report.terminations.iter();
    let ended = ended.map(|(how, &count)| format!("{how} {}", units::count(count)));
    format!("How games ended: {}.", ended.format(", "))
}

/// Formats a date and time in UTC; `None` if the time is not set.
pub(crate) fn date(unix_us: u64) -> Option<String> {
    (unix_us > 0).then(|| {
        let time = UNIX_EPOCH + Duration::from_micros(unix_us);
        let text = humantime::format_rfc3339_seconds(time).to_string();
        text.replace('T', " ").replace('Z', " UTC")
    })
}

/// The board and the sample games as JSON in which nothing closes a script element.
fn games_json(report: &Report) -> String {
    let games = json!({ "board": report.board, "samples": report.samples });
    printable_json(&games.to_string()).replace('<', "\\u003c")
}

/// Formats the hash of a source for the content security policy.
fn source_hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text)))
}
