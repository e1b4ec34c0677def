//! The published tables, played again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use arena_model::TournamentSeed;
use serde::Deserialize;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, repository};

/// Known differences from the published tables.
const KNOWN: &str = include_str!("../data/papers.json");

/// Tables that take a few seconds in a debug build.
const QUICK: [&str; 6] = ["000-i", "001-i", "001-ii", "003-2", "003-3", "003-example"];

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Papers {
    /// Tables, as `arena paper list` names them; default: all
    #[arg(long, value_delimiter = ',', value_name = "ID,…")]
    tables: Vec<String>,
    /// Seed of the games; default: that of the command, whose counts tests/RESULTS.md shows
    #[arg(long)]
    seed: Option<TournamentSeed>,
    /// Games of each pairing; default: those of each table, which suffice to find the listed
    /// differences
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Number of seeds for each table: every verdict has to be the same
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
}

/// The data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    outside: Vec<Exception>,
}

/// A published figure that Arena does not reproduce, with the reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    table: String,
    row: String,
    column: String,
    reason: String,
}

/// The fields of `arena paper list --output json` that the test reads.
#[derive(Deserialize)]
struct Listed {
    id: String,
}

/// The fields of `arena paper run --output json` that the test reads.
#[derive(Deserialize)]
struct Document {
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    id: String,
    games_played: u64,
    within: u64,
    within_sampled: u64,
    within_exact: u64,
    within_ordinal: u64,
    within_dependent: u64,
    within_by_construction: u64,
    outside: u64,
    not_comparable: u64,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    table: String,
    row: String,
    column: String,
    published: Option<f64>,
    ours: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    z: Option<f64>,
    expected: String,
    verdict: String,
    timed: bool,
}

impl StressTest for Papers {
    const PROMISE: &'static str = "reproducible published figures are within their \
                                   bounds, except for a list of figures, each with its \
                                   reason";

    fn quick() -> Self {
        Self {
            tables: QUICK.map(str::to_owned).to_vec(),
            seed: None,
            games: None,
            seeds: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let known: Known = serde_json::from_str(KNOWN).map_err(Broken::new)?;
        let world = World::new();
        let listed = world.arena(&["paper", "list", "--output", "json"]).ok();
        let listed: Vec<Listed> = serde_json::from_str(&listed.stdout).map_err(Broken::new)?;
        let is_listed = |id: &String| listed.iter().any(|table| table.id == *id);
        if let Some(unknown) = self.tables.iter().find(|id| !is_listed(id)) {
            let ids = listed.into_iter().map(|table| table.id);
            return Ok(Outcome::unknown(unknown, ids));
        }
        let tables = if self.tables.is_empty() {
            self.play(&world, "all", self.seed)?
        } else {
            let each = self.tables.iter();
            let each = each.map(|id| self.play(&world, id, self.seed));
            let each: Vec<Vec<Table>> = each.collect::<Result<_, _>>()?;
            each.into_iter().flatten().collect()
        };
        let mut broken = unlike(&tables, &known, self.games.is_none());
        for number in 1..self.seeds {
            let seed = format!("0x{number:x}").parse().map_err(Broken::new)?;
            for table in &tables {
                let again = self.play(&world, &table.id, Some(seed))?;
                let again = again.iter().flat_map(|table| &table.findings);
                broken.extend(otherwise(&table.findings, again, number));
            }
        }
        let readme =
            fs::read_to_string(repository().join("tests/RESULTS.md")).map_err(Broken::new)?;
        let summary = Summary::read(&readme);
        broken.extend(summary.does_not_add_up(&readme));
        // With another number of games, counts may differ.
        if self.seed.is_none() && self.games.is_none() {
            broken.extend(summary.mismatches(&tables));
        }
        if !broken.is_empty() {
            return Err(Broken::new(broken.join("\n")));
        }
        let sum = |of: fn(&Table) -> u64| tables.iter().map(of).sum::<u64>();
        let mut figures = vec![
            Figure::new("tables", tables.len()),
            Figure::new("within: sampled", sum(|table| table.within_sampled)),
            Figure::new("within: exact", sum(|table| table.within_exact)),
            Figure::new("within: ordinal", sum(|table| table.within_ordinal)),
            Figure::new("within: dependent", sum(|table| table.within_dependent)),
            Figure::new(
                "within: true by construction",
                sum(|table| table.within_by_construction),
            ),
            Figure::new("not comparable", sum(|table| table.not_comparable)),
        ];
        let outside = tables.iter().flat_map(|table| &table.findings);
        for finding in outside.filter(|finding| finding.verdict == "outside") {
            let name = format!("outside: {}", finding.name());
            figures.push(Figure::new(&name, finding.shown()));
        }
        Ok(Outcome::Holds(figures))
    }
}

impl Papers {
    fn play(
        &self,
        world: &World,
        id: &str,
        seed: Option<TournamentSeed>,
    ) -> Result<Vec<Table>, Broken> {
        let mut arguments = vec!["paper", "run", id, "--output", "json"];
        let seed = seed.map(|seed| seed.to_string());
        let games = self.games.map(|games| games.to_string());
        for (flag, value) in [("--seed", &seed), ("--games", &games)] {
            if let Some(value) = value {
                arguments.extend([flag, value.as_str()]);
            }
        }
        let output = world.arena(&arguments);
        let document: Document = serde_json::from_str(&output.stdout)
            .map_err(|_| Broken::new(output.transcript()).of(id))?;
        let failed = { document.tables.iter().flat_map(|table| &table.findings) }
            .any(|finding| finding.verdict == "outside" && finding.expected == "R");
        let expected = if failed { 3 } else { 0 };
        if output.code != Some(expected) {
            let text = format!("exit code {expected} expected\n{}", output.transcript());
            return Err(Broken::new(text).of(id));
        }
        Ok(document.tables)
    }
}

impl Exception {
    fn name(&self) -> String {
        format!("{} ({}, {})", self.table, self.row, self.column)
    }
}

impl Finding {
    fn name(&self) -> String {
        format!("{} ({}, {})", self.table, self.row, self.column)
    }

    fn shown(&self) -> String {
        let number =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
        format!(
            "published {}, ours {} [{}, {}], z {}",
            number(self.published),
            number(self.ours),
            number(self.low),
            number(self.high),
            number(self.z),
        )
    }
}

/// Verdicts that differ with another seed.
fn otherwise<'a>(
    findings: &'a [Finding],
    again: impl Iterator<Item = &'a Finding> + 'a,
    seed: u64,
) -> impl Iterator<Item = String> + 'a {
    let pairs = findings.iter().zip(again);
    let differ = pairs.filter(|(one, other)| !one.timed && one.verdict != other.verdict);
    differ.map(move |(one, other)| {
        let (name, verdict) = (one.name(), &one.verdict);
        let (now, shown) = (&other.verdict, other.shown());
        format!("{name} is {verdict}, but {now} with seed {seed:#x}: {shown}")
    })
}

/// Figures that are outside but not listed, and listed figures that are not outside although all
/// games were played.
fn unlike(tables: &[Table], known: &Known, all_games: bool) -> Vec<String> {
    let mut broken = Vec::new();
    let mut listed = BTreeSet::new();
    for exception in &known.outside {
        let name = exception.name();
        if exception.reason.is_empty() {
            broken.push(format!("{name} is listed without a reason"));
        }
        listed.insert(name);
    }
    let mut seen = BTreeSet::new();
    for finding in tables.iter().flat_map(|table| &table.findings) {
        let name = finding.name();
        match (finding.verdict == "outside", listed.contains(&name)) {
            // Times on a busy machine show nothing.
            (true, false) if !finding.timed => broken.push(format!(
                "{name} is outside, but not in tests/data/papers.json: {}",
                finding.shown()
            )),
            (false, true) if all_games => broken.push(format!(
                "{name} is in tests/data/papers.json, but not outside: {}",
                finding.shown()
            )),
            _ => {}
        }
        seen.insert(name);
    }
    // Only for tables that were played.
    let played: BTreeSet<&str> = tables.iter().map(|table| &*table.id).collect();
    for exception in &known.outside {
        let name = exception.name();
        if played.contains(&*exception.table) && !seen.contains(&name) {
            broken.push(format!(
                "{name} is in tests/data/papers.json, but in no table"
            ));
        }
    }
    broken
}

/// Counts of a row of tests/RESULTS.md: games, then cells that are sampled, exact, ordinal,
/// dependent, by construction, outside and not comparable.
type Counts = [u64; 8];

/// The table of all tables in tests/RESULTS.md.
struct Summary {
    /// By table, and for `all`.
    lines: BTreeMap<String, Counts>,
}

impl Summary {
    fn read(page: &str) -> Self {
        let rows = page
            .lines()
            .skip_while(|line| !line.starts_with("| Table |"));
        let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
        let counts = |line: &str| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            // Empty, id, title, the counts, time, empty.
            let [_, id, _, counts @ .., _, _] = &cells[..] else {
                return None;
            };
            let counts = counts.iter().map(|cell| cell.replace(',', "").parse().ok());
            let counts: Option<Vec<u64>> = counts.collect();
            Some(((*id).to_owned(), counts?.try_into().ok()?))
        };
        Self {
            lines: rows.filter_map(counts).collect(),
        }
    }

    /// If the last row is not the sum of the others, or the text around it has other numbers.
    fn does_not_add_up(&self, readme: &str) -> Vec<String> {
        let mut sum = Counts::default();
        let tables = || self.lines.iter().filter(|(id, _)| *id != "all");
        for (_, counts) in tables() {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        let mut broken = Vec::new();
        let all = self.lines.get("all");
        if all != Some(&sum) {
            broken.push(format!(
                "tests/RESULTS.md has the sum {all:?}, expected {sum:?}"
            ));
        }
        let [_, sampled, exact, ordinal, ..] = sum;
        let agree = sampled + exact + ordinal;
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = words(readme);
        for said in [
            format!("`arena paper list` names {} tables", tables().count()),
            format!(
                "So {agree} figures agree that could have differed, {ordinal} of them in order only."
            ),
        ] {
            if !text.contains(&said) {
                broken.push(format!("tests/RESULTS.md does not say \"{said}\""));
            }
        }
        broken
    }

    /// If the row of a table differs from the measurement.
    fn mismatches(&self, tables: &[Table]) -> Vec<String> {
        let mut broken = Vec::new();
        for table in tables {
            let parts = [
                table.within_sampled,
                table.within_exact,
                table.within_ordinal,
                table.within_dependent,
                table.within_by_construction,
            ];
            if parts.iter().sum::<u64>() != table.within {
                broken.push(format!("{}: {parts:?} are not all within", table.id));
            }
            let [sampled, exact, ordinal, dependent, by_construction] = parts;
            let (games, outside, rest) = (table.games_played, table.outside, table.not_comparable);
            let measured = [
                games,
                sampled,
                exact,
                ordinal,
                dependent,
                by_construction,
                outside,
                rest,
            ];
            let reported = self.lines.get(&table.id);
            let timed = table.findings.iter().any(|finding| finding.timed);
            if reported != Some(&measured) && !timed {
                broken.push(format!(
                    "tests/RESULTS.md has {reported:?} of {}, measured: {measured:?}",
                    table.id
                ));
            }
        }
        broken
    }
}
