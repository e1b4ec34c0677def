//! Tables of papers, and the results of their reproduction, as text and for programs.

use std::slice;

use arena_papers::{
    Agreement, Finding, FindingCounts, Paper, PublishedTable, Reproducibility, TableResult,
    TableRunner, tables,
};
use arena_report::{listing::Listing, text::csv_line, units};
use itertools::Itertools;
use serde::Serialize;

use crate::{
    failure::Outcome,
    output::{self, Format},
};

/// A table, for programs.
#[derive(Serialize)]
pub struct TableSummary<'a> {
    id: &'a str,
    paper: &'a Paper,
    table: &'a str,
    title: &'a str,
    protocol: &'a str,
    /// What the published figures are, if they are not as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    published_is: Option<&'a str>,
    cells: usize,
    games: u64,
}

impl<'a> TableSummary<'a> {
    fn of(table: &'a PublishedTable) -> Self {
        Self {
            id: table.id,
            paper: &table.paper,
            table: &table.name,
            title: &table.title,
            protocol: &table.protocol,
            published_is: table.published.as_deref(),
            cells: table.cells.len(),
            games: table.games(None),
        }
    }
}

/// The tables that can be reproduced.
pub fn listing(format: Format) -> Outcome<Listing<TableSummary<'static>>> {
    let row = |table: &'static PublishedTable| {
        let cells = vec![
            table.id.to_owned(),
            table.paper.short.clone(),
            table.name.clone(),
            table.title.clone(),
            table.cells.len().to_string(),
            match format {
                Format::Table => units::count(table.games(None)),
                _ => table.games(None).to_string(),
            },
        ];
        (cells, TableSummary::of(table))
    };
    Ok(Listing {
        header: vec!["id", "paper", "table", "what", "cells", "games"],
        rows: tables()?.iter().map(row).collect(),
        empty: "there are no tables",
    })
}

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
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts = parts
        .map(|(count, what)| format!("{count} {what}"))
        .join(", ");
    let parts = match parts.as_str() {
        "" => String::new(),
        parts => format!(" ({parts})"),
    };
    format!(
        "{} within{parts}, {} outside, {} not comparable",
        counts.within, counts.outside, counts.not_comparable
    )
}

/// One line when a table is done.
pub fn progress(ran: &TableResult) -> String {
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

/// Prints the results of tables; of `all` tables, a summary.
pub fn print(ran: &[TableResult], runner: &TableRunner, all: bool, format: Format) -> Outcome {
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

/// Name of a column, and the text of a row in it.
type Column = (&'static str, fn(&Finding) -> String);

/// The columns of CSV, with the former names of two of them.
const CSV_COLUMNS: [Column; 20] = [
    ("table", |it| it.table.to_owned()),
    ("row", |it| it.row.clone()),
    ("column", |it| it.column.clone()),
    ("published", |it| known(it.published)),
    ("published_of", |it| known(it.published_of)),
    ("ours", |it| known(it.ours)),
    ("low", |it| known(it.low)),
    ("high", |it| known(it.high)),
    ("ours_of", |it| known(it.ours_of)),
    ("z", |it| known(it.z)),
    ("expected", |it| it.expected.to_owned()),
    ("rule", |it| known(it.rule.as_ref())),
    ("verdict", |it| it.verdict.name().to_owned()),
    ("reason", |it| known(it.reason.as_ref())),
    ("exact", |it| it.exact.to_string()),
    ("given", |it| it.by_construction.to_string()),
    ("repeats", |it| it.dependent.to_string()),
    ("timed", |it| it.timed.to_string()),
    ("by_construction", |it| it.by_construction.to_string()),
    ("dependent", |it| it.dependent.to_string()),
];

fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn csv(ran: &[TableResult]) -> String {
    let row = |finding| csv_line(CSV_COLUMNS.map(|(_, cell)| cell(finding)));
    let header = csv_line(CSV_COLUMNS.map(|(name, _)| name));
    header + &findings(ran).map(row).collect::<String>()
}

/// The cells of a table, with reasons below.
fn cells(ran: &TableResult, runner: &TableRunner) -> String {
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
    let rows = ran.findings.iter().map(row).collect_vec();
    let table = ran.table;
    let shown = table.published.as_deref().unwrap_or("published");
    let header = ["row", "column", shown, "ours", "95 %", "z", "verdict"];
    let cited = wrapped(&table.paper.cited(), "");
    let protocol = wrapped(&table.protocol, "");
    let mut text = format!(
        "{}: {}, {}\n{cited}\n{protocol}\n\n",
        table.id, table.name, table.title
    );
    text += &output::table(&header, &rows);
    if !reasons.is_empty() {
        text.push('\n');
    }
    for (number, reason) in (1..).zip(reasons) {
        let mark = format!("[{number}] ");
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
fn summary(ran: &[TableResult]) -> String {
    let line = |id: &str, of: &[TableResult]| {
        let sums = FindingCounts::of(findings(of));
        [
            ("table", id.to_owned()),
            ("games", units::count(of.iter().map(|one| one.games).sum())),
            ("sampled", sums.within_sampled.to_string()),
            ("exact", sums.within_exact.to_string()),
            ("ordinal", sums.within_ordinal.to_string()),
            ("dependent", sums.within_dependent.to_string()),
            ("by constr.", sums.within_by_construction.to_string()),
            ("outside", sums.outside.to_string()),
            ("not comp.", sums.not_comparable.to_string()),
            (
                "time",
                units::duration(of.iter().map(|one| one.seconds).sum()),
            ),
        ]
    };
    let all = line("all", ran);
    let of_tables = ran
        .iter()
        .map(|one| line(one.table.id, slice::from_ref(one)));
    let rows = of_tables.chain([all.clone()]);
    let rows = rows
        .map(|line| line.map(|(_, cell)| cell).to_vec())
        .collect_vec();
    let mut text = output::table(&all.map(|(head, _)| head), &rows) + "\n" + SUMMARY_NOTE;
    let outside = findings(ran).filter(|finding| finding.verdict == Agreement::Outside);
    for (place, finding) in outside.enumerate() {
        if place == 0 {
            text += "\noutside:\n";
        }
        let Finding {
            table, row, column, ..
        } = finding;
        let published = output::or_dash(finding.published);
        let (ours, interval) = (ours(finding), interval(finding));
        let mut line =
            format!("{table} {row}, {column}: published {published}, ours {ours} {interval}");
        line.extend(finding.reason.iter().flat_map(|reason| ["; ", reason]));
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
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, columns)) => columns.push(&finding.column),
            None => rules.push((rule, vec![&finding.column])),
        }
    }
    for (_, columns) in &mut rules {
        *columns = columns.drain(..).unique().collect();
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
    arena_report::text::wrapped(&text.split_whitespace().join(" "), 96, indent)
}

#[cfg(test)]
mod tests;
