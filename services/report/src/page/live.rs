//! The parts of a tournament's web page that change while it is played. They have the look of a
//! report, and are made of standings alone.

use std::collections::BTreeMap;

use arena_model::printable;
use arena_wire::v1;
use askama::Template;

use super::{CSS, JS, Numbers, date, kinds, rounds, source_hash};
use crate::{
    chart,
    error::{ReportError, Result},
    gather::crosstable,
    rounds::Rounds,
    standings::{
        columns::{self, IN_TERMINAL, Table},
        table,
    },
    state::{format_pause, state_name},
    units,
};

/// The style of reports, for pages that look like them.
pub const STYLE: &str = CSS;

/// Columns of a terminal that the page shows elsewhere, or not at all.
const ELSEWHERE: &[&str] = &["rating", "score"];

/// The content security policy of a report's page, as the header of an answer. It names the page's
/// own style and script by their hashes.
#[must_use]
pub fn report_policy() -> String {
    format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        source_hash(CSS),
        source_hash(JS)
    )
}

#[derive(Template)]
#[template(path = "live.html")]
struct Live<'a> {
    /// What the template of rounds needs.
    report: Facts<'a>,
    state: &'static str,
    games: String,
    games_total: String,
    is_over: bool,
    ruleset: &'a str,
    format: &'a str,
    started: Option<String>,
    finished: Option<String>,
    /// Lines of the reason for a pause.
    pause: Vec<String>,
    adaptive: bool,
    opponents_differ: bool,
    ratings: Option<String>,
    scores: String,
    numbers: Numbers,
    swiss: Option<rounds::SwissRounds>,
    bracket: Option<rounds::Bracket>,
    heat: Option<String>,
    notes: Vec<String>,
    agents: &'a [v1::AgentStanding],
}

struct Facts<'a> {
    id: &'a str,
    seats: usize,
}

/// Renders the standings of a tournament as HTML. Text of strangers is escaped, and its hidden
/// characters are shown.
///
/// # Errors
/// [`ReportError::Failed`] if the template fails, which does not depend on the data.
pub fn live(tournament: &v1::Tournament, standings: &v1::Standings) -> Result<String> {
    let agents: Vec<&v1::AgentStanding> = standings.agents.iter().collect();
    let names: Vec<&str> = agents.iter().map(|it| it.agent.as_str()).collect();
    let adaptive = standings.adaptive;
    let verdict: Option<serde_json::Value> = serde_json::from_str(&standings.verdict_json).ok();
    let rounds = verdict.as_ref().and_then(Rounds::of);
    let seats = standings.seats.len();
    let pause = standings.pause.as_ref().map(format_pause);
    let page = Live {
        report: Facts {
            id: &standings.tournament_id,
            seats,
        },
        state: state_name(standings.state()),
        games: units::count(standings.games),
        games_total: units::count(standings.games_total),
        is_over: matches!(
            standings.state(),
            v1::TournamentState::Finished | v1::TournamentState::Cancelled
        ),
        ruleset: &tournament.ruleset,
        format: &tournament.format,
        started: date(tournament.created_unix_us),
        finished: date(tournament.finished_unix_us),
        pause: pause
            .iter()
            .flat_map(|text| text.lines().map(str::to_owned))
            .collect(),
        adaptive,
        opponents_differ: standings.opponents_differ,
        ratings: standings
            .ratings
            .as_ref()
            .map(|_| chart::ratings(agents.iter().copied(), adaptive)),
        scores: chart::scores(agents.iter().copied(), adaptive),
        numbers: numbers(standings, &agents),
        swiss: rounds.as_ref().and_then(|of| rounds::swiss(&names, of)),
        bracket: rounds.as_ref().and_then(rounds::bracket),
        heat: (!standings.pairs.is_empty())
            .then(|| chart::heat(&names, &crosstable(standings), adaptive)),
        notes: notes(standings, verdict.as_ref()),
        agents: &standings.agents,
    };
    let page = page.render().map_err(ReportError::failed)?;
    Ok(printable(&page).into_owned())
}

/// The columns that a terminal shows, without those that are drawn.
fn numbers(standings: &v1::Standings, agents: &[&v1::AgentStanding]) -> Numbers {
    let scores = agents.iter().map(|agent| agent.score);
    let of = Table {
        standings,
        wide: false,
        swiss: agents.iter().any(|agent| agent.swiss_points.is_some()),
        rated: false,
        by_score: scores.is_sorted_by(|one, next| one >= next),
    };
    let shown = columns::named(IN_TERMINAL)
        .filter(|column| !ELSEWHERE.contains(&column.key) && (column.spare)(&of).is_some());
    Numbers::of(agents, standings.adaptive, shown.collect())
}

/// The result, the progress of the format, and remarks, each a sentence.
fn notes(standings: &v1::Standings, verdict: Option<&serde_json::Value>) -> Vec<String> {
    let verdict = verdict.and_then(|it| it["text"].as_str());
    let course = standings.course.as_ref().map(|it| it.text.as_str());
    let text = [verdict, course].into_iter().flatten().map(str::to_owned);
    let notes = text.chain(standings.notes.iter().cloned());
    let remarks = table::remarks(standings);
    // The text next to the drawings explains the intervals.
    let remarks = remarks.lines().filter(|it| !it.starts_with("intervals: "));
    let remarks = remarks.map(str::to_owned);
    notes.chain(remarks).filter(|it| !it.is_empty()).collect()
}

/// What an agent is, besides its version.
fn identity(agent: &v1::AgentStanding) -> String {
    match agent.registered_unix_us {
        Some(at) => format!("endpoint, registered {}", units::utc(at)),
        None if agent.content.is_empty() => "built in".to_owned(),
        None => format!("content {}", units::digest(&agent.content)),
    }
}

/// The faults of an agent by kind.
fn faults(agent: &v1::AgentStanding) -> String {
    let kinds_of: BTreeMap<String, u64> = agent.faults_by_kind.clone().into_iter().collect();
    match agent.faults {
        0 => "–".to_owned(),
        _ if kinds_of.is_empty() => units::count(agent.faults),
        _ => kinds(&kinds_of),
    }
}
