//! What `arena paper run` prints.

use arena_report::{text::csv_line, units};
use itertools::Itertools;
use serde::Serialize;

use arena_papers::{Agreement, Finding, FindingCounts, Reproducibility, TableResult, TableRunner};

use super::list::TableSummary;
use crate::{
    failure::Outcome,
    output::{self, Format},
};

/// Results of a run, for programs. Except for timed cells, they depend neither on the time
/// taken nor on the number of workers.
#[derive(Serialize)]
struct Document<'a> {
    seed: String,
    tables: Vec<TableView<'a>>,
}

/// Results of one table, for programs.
#[derive(Serialize)]
struct TableView<'a> {
    #[serde(flatten)]
    table: TableSummary<'a>,
    games_played: u64,
    #[serde(flatten)]
    sums: CountsView,
    plays: Vec<MatchupView>,
    findings: Vec<FindingView<'a>>,
}

/// Counts, with the former names of three of them. The next release removes these.
#[derive(Serialize)]
struct CountsView {
    #[serde(flatten)]
    counts: FindingCounts,
    within_order: usize,
    within_repeated: usize,
    within_given: usize,
}

impl From<FindingCounts> for CountsView {
    fn from(counts: FindingCounts) -> Self {
        Self {
            counts,
            within_order: counts.within_ordinal,
            within_repeated: counts.within_dependent,
            within_given: counts.within_by_construction,
        }
    }
}

/// A finding, with the former names of two keys. The next release removes these.
#[derive(Serialize)]
struct FindingView<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    given: bool,
    repeats: bool,
}

impl<'a> FindingView<'a> {
    fn of(finding: &'a Finding) -> Self {
        Self {
            finding,
            given: finding.by_construction,
            repeats: finding.dependent,
        }
    }
}

/// A matchup, with a spec that `arena run` accepts.
#[derive(Serialize)]
struct MatchupView {
    games: u64,
    spec: String,
}

/// Counts as text.
fn format_counts(counts: &FindingCounts) -> String {
    let parts = [
        (counts.within_sampled, "sampled"),
        (counts.within_exact, "exact"),
        (counts.within_ordinal, "ordinal"),
        (counts.within_dependent, "dependent"),
        (counts.within_by_construction, "by construction"),
    ];
    let parts = { parts.iter() }
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .join(", ");
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(" ({parts})"),
    };
    format!(
        "{} within{parts}, {} outside, {} not comparable",
        counts.within, counts.outside, counts.not_comparable
    )
}

/// One line when a table is done.
pub(super) fn progress(ran: &TableResult) -> String {
    let sums = FindingCounts::of(&ran.findings);
    format!(
        "{} ({}): {} games in {}, {}",
        ran.table.id,
        ran.table.title,
        units::count(ran.games),
        units::duration(ran.seconds),
        format_counts(&sums)
    )
}

pub(super) fn print(
    ran: &[TableResult],
    runner: &TableRunner,
    all: bool,
    format: Format,
) -> Outcome {
    match format {
        Format::Json => output::json(&document(ran, runner)),
        Format::Jsonl => findings(ran)
            .map(FindingView::of)
            .try_for_each(|view| output::json_line(&view)),
        Format::Csv => output::write(&csv(ran)),
        Format::Table if all => output::write(&summary(ran)),
        Format::Table => ran
            .iter()
            .try_for_each(|one| output::write(&cells(one, runner))),
    }
}

fn findings(ran: &[TableResult]) -> impl Iterator<Item = &Finding> {
    ran.iter().flat_map(|one| &one.findings)
}

fn document<'a>(ran: &'a [TableResult], runner: &TableRunner) -> Document<'a> {
    let view = |one: &'a TableResult| TableView {
        table: TableSummary::of(one.table),
        games_played: one.games,
        sums: FindingCounts::of(&one.findings).into(),
        plays: { one.table.plays.iter().enumerate() }
            .filter(|(_, play)| !play.spec.agents.is_empty())
            .map(|(place, play)| MatchupView {
                games: one.table.games_of(place, runner.games),
                spec: play.spec(&runner.seed, runner.games).to_toml(),
            })
            .collect(),
        findings: one.findings.iter().map(FindingView::of).collect(),
    };
    Document {
        seed: runner.seed.to_string(),
        tables: ran.iter().map(view).collect(),
    }
}

const CSV_HEADER: [&str; 20] = [
    "table",
    "row",
    "column",
    "published",
    "published_of",
    "ours",
    "low",
    "high",
    "ours_of",
    "z",
    "expected",
    "rule",
    "verdict",
    "reason",
    "exact",
    "given",
    "repeats",
    "timed",
    "by_construction",
    "dependent",
];

fn csv(ran: &[TableResult]) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut text = csv_line(&CSV_HEADER);
    for finding in findings(ran) {
        text += &csv_line(&[
            finding.table.to_owned(),
            finding.row.clone(),
            finding.column.clone(),
            number(finding.published),
            count(finding.published_of),
            number(finding.ours),
            number(finding.low),
            number(finding.high),
            count(finding.ours_of),
            number(finding.z),
            finding.expected.to_owned(),
            finding.rule.clone().unwrap_or_default(),
            finding.verdict.name().to_owned(),
            finding.reason.clone().unwrap_or_default(),
            finding.exact.to_string(),
            finding.by_construction.to_string(),
            finding.dependent.to_string(),
            finding.timed.to_string(),
            finding.by_construction.to_string(),
            finding.dependent.to_string(),
        ]);
    }
    text
}

/// The cells of a table, with reasons below.
pub(super) fn cells(ran: &TableResult, runner: &TableRunner) -> String {
    let reasons = ran.findings.iter().filter_map(|it| it.reason.as_ref());
    let reasons: Vec<&String> = reasons.unique().collect();
    let row = |finding: &Finding| {
        let mut verdict = short_verdict(finding);
        let reason = finding.reason.as_ref();
        if let Some(place) = reasons.iter().position(|known| Some(*known) == reason) {
            verdict += &format!(" [{}]", place + 1);
        }
        vec![
            finding.row.clone(),
            finding.column.clone(),
            output::or_dash(finding.published),
            ours(finding),
            interval(finding),
            output::or_dash(finding.z.map(|z| format!("{z:+.1}"))),
            verdict,
        ]
    };
    let rows: Vec<Vec<String>> = ran.findings.iter().map(row).collect();
    let shown = ran.table.published.as_deref().unwrap_or("published");
    let header = ["row", "column", shown, "ours", "95 %", "z", "verdict"];
    let mut text = format!(
        "{}: {}, {}\n{}\n{}\n\n",
        ran.table.id,
        ran.table.name,
        ran.table.title,
        wrapped(&ran.table.paper.cited(), ""),
        wrapped(&ran.table.protocol, "")
    );
    text += &output::table(&header, &rows);
    if !reasons.is_empty() {
        text.push('\n');
    }
    for (place, reason) in reasons.into_iter().enumerate() {
        let mark = format!("[{}] ", place + 1);
        let indent = " ".repeat(mark.len());
        text += &format!("{}\n", wrapped(&format!("{mark}{reason}"), &indent));
    }
    let rules = rules(&ran.findings);
    if !rules.is_empty() {
        text.push('\n');
    }
    for (rule, columns) in rules {
        let line = format!("R within: {rule} ({})", columns.join(", "));
        text += &format!("{}\n", wrapped(&line, "  "));
    }
    if ran.findings.iter().any(Finding::is_dependent) {
        text += &format!("\n{DEPENDENT_NOTE}\n");
    }
    if ran.findings.iter().any(Finding::is_by_construction) {
        text += &format!("\n{BY_CONSTRUCTION_NOTE}\n");
    }
    let sums = FindingCounts::of(&ran.findings);
    text += &format!(
        "\n{} games, seed {}: {}\n",
        units::count(ran.games),
        runner.seed,
        format_counts(&sums)
    );
    text
}

/// One line for each table, then the cells outside their bounds.
pub(super) fn summary(ran: &[TableResult]) -> String {
    let line = |id: &str, games: u64, seconds: f64, sums: FindingCounts| {
        vec![
            id.to_owned(),
            units::count(games),
            sums.within_sampled.to_string(),
            sums.within_exact.to_string(),
            sums.within_ordinal.to_string(),
            sums.within_dependent.to_string(),
            sums.within_by_construction.to_string(),
            sums.outside.to_string(),
            sums.not_comparable.to_string(),
            units::duration(seconds),
        ]
    };
    let of_table = |one: &TableResult| {
        let counts = FindingCounts::of(&one.findings);
        line(one.table.id, one.games, one.seconds, counts)
    };
    let mut rows: Vec<Vec<String>> = ran.iter().map(of_table).collect();
    let games = ran.iter().map(|one| one.games).sum();
    let seconds = ran.iter().map(|one| one.seconds).sum();
    rows.push(line(
        "all",
        games,
        seconds,
        FindingCounts::of(findings(ran)),
    ));
    let header = [
        "table",
        "games",
        "sampled",
        "exact",
        "ordinal",
        "dependent",
        "by constr.",
        "outside",
        "not comp.",
        "time",
    ];
    let mut text = output::table(&header, &rows) + "\n" + SUMMARY_NOTE;
    let outside = findings(ran).filter(|finding| finding.verdict == Agreement::Outside);
    for (place, finding) in outside.enumerate() {
        if place == 0 {
            text += "\noutside:\n";
        }
        let reason = finding.reason.as_ref().map(|reason| format!("; {reason}"));
        let line = format!(
            "{} {}, {}: published {}, ours {} {}{}",
            finding.table,
            finding.row,
            finding.column,
            output::or_dash(finding.published),
            ours(finding),
            interval(finding),
            reason.unwrap_or_default()
        );
        text += &format!("  {}\n", wrapped(&line, "    "));
    }
    text
}

/// The rules that judged the reproducible figures, each with its columns. The rules of
/// ordinal figures are shown beside their verdicts.
fn rules(findings: &[Finding]) -> Vec<(&str, Vec<&str>)> {
    let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
    let judged = findings.iter().filter(|finding| {
        finding.expected == Reproducibility::Reproducible.letter()
            && finding.verdict != Agreement::NotComparable
            && !finding.by_construction
    });
    for finding in judged {
        let Some(rule) = finding.rule.as_deref() else {
            continue;
        };
        let column = finding.column.as_str();
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, columns)) if columns.contains(&column) => {}
            Some((_, columns)) => columns.push(column),
            None => rules.push((rule, vec![column])),
        }
    }
    rules
}

/// Footnote of tables with dependent cells.
const DEPENDENT_NOTE: &str =
    "dependent: within, but implied by earlier cells of this or an earlier table";

/// Footnote of tables with cells that are true by construction.
const BY_CONSTRUCTION_NOTE: &str = "by construction: cannot be outside, so it confirms nothing";

/// Footnote of the summary, which explains its columns.
const SUMMARY_NOTE: &str = "\
Figures within their bounds:
  sampled     from games, compared by the rule of acceptance
  exact       our figure involves no chance
  ordinal     compared in sign or order only, by the bound that the table shows
  dependent   follows from earlier figures, so it confirms nothing more
  by constr.  by construction: cannot be outside, so it confirms nothing
not comp.: not comparable, with a reason in the table
";

/// The verdict of a finding in a few words.
fn short_verdict(finding: &Finding) -> String {
    match finding.verdict {
        Agreement::NotComparable => "not comp.".to_owned(),
        Agreement::Within if finding.is_by_construction() => {
            format!("{} by construction", finding.expected)
        }
        Agreement::Within if finding.is_dependent() => format!("{} dependent", finding.expected),
        // The bound shows which sign or order is compared.
        other if finding.expected == Reproducibility::Qualitative.letter() => format!(
            "Q {}, {}",
            other.name(),
            finding.rule.as_deref().unwrap_or_default()
        ),
        other => format!("{} {}", finding.expected, other.name()),
    }
}

/// Our figure. An exact figure that equals the published one has all of its digits.
fn ours(finding: &Finding) -> String {
    match finding.ours {
        Some(ours) if finding.exact && finding.published == Some(ours) => ours.to_string(),
        other => output::or_dash(other.map(figure)),
    }
}

fn interval(finding: &Finding) -> String {
    match (finding.low, finding.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", figure(low), figure(high)),
        _ if finding.exact && finding.ours.is_some() => "exact".to_owned(),
        _ if finding.timed && finding.ours.is_some() => "timed".to_owned(),
        _ => output::or_dash(None::<f64>),
    }
}

/// A number with its significant digits.
fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.3}"),
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.6}"),
    }
}

/// Text in lines of at most 96 columns, all but the first indented.
fn wrapped(text: &str, indent: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    arena_report::text::wrapped(&words.join(" "), 96, indent)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn runner(games: u64) -> TableRunner {
        TableRunner {
            seed: "0x5eed".parse().expect("a seed"),
            games: Some(games),
            threads: 2,
            stop: Arc::default(),
        }
    }

    fn run(id: &str, games: u64) -> TableResult {
        let table = arena_papers::table(id).expect("a table");
        runner(games).run(table, &|| ()).expect("it can be run")
    }

    #[test]
    fn tables_fit_a_terminal() {
        // A little more than 100, since intervals of a few games are wide.
        let fits = |text: &str| {
            for line in text.lines() {
                let width = line.trim_end().chars().count();
                assert!(width <= 108, "{width}: {line}");
            }
        };
        let all: Vec<TableResult> = arena_papers::tables()
            .expect("tables")
            .iter()
            .map(|table| run(table.id, 6))
            .collect();
        for ran in &all {
            fits(&cells(ran, &runner(6)));
        }
        fits(&summary(&all));
    }

    #[test]
    fn table_shows_its_rules() {
        let ran = run("001-i", 2000);
        let text = cells(&ran, &runner(2000));
        assert!(
            text.contains("R within: |z| <= 2.7, n = 50 (intelligent, random)"),
            "{text}"
        );
        assert!(
            text.contains("R within: published ±16 (average moves)"),
            "{text}"
        );
    }

    #[test]
    fn ordinal_verdict_shows_its_bound() {
        let ran = run("003-example", 6);
        let text = cells(&ran, &runner(6));
        assert!(text.contains("Q within, 0.12 to 0.75"), "{text}");
    }
}
