//! `tests/bench/run`: measures Arena on this machine, together with what the machine itself can do
//! and with its peers. `README.md` in this folder explains each section and its limits.

mod arena;
mod machine;
mod print;
mod profile;
mod report;
mod sections;
mod usage;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{Parser, ValueEnum};

use crate::{report::Report, sections::Section};

/// Exit code if a bar is missed.
const MISSED: u8 = 3;

/// Measure Arena on this machine, beside its floors and its peers.
///
/// CPU is user and system time of all processes together. Floors are always
/// measured in the same run as what is compared with them.
#[derive(Parser)]
#[command(
    name = "tests/bench/run",
    after_help = "Exit codes:\n  0  every figure was measured, and every bar of these figures is met\n  \
                  1  a figure could not be measured\n  2  wrong arguments\n  \
                  3  every figure was measured, and a bar is missed\n\n\
                  Examples:\n  tests/bench/run\n  tests/bench/run path --quick\n  \
                  tests/bench/run large --games 10000000 --records hash"
)]
struct Cli {
    /// Sections to measure [default: all]
    #[arg(value_enum)]
    sections: Vec<Section>,

    #[command(flatten)]
    settings: Settings,

    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    output: Format,

    /// Also write the figures into a Markdown file, between its lines `<!-- results -->` and `<!--
    /// end of results -->`
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// The server process of a floor
    #[arg(long, hide = true)]
    serve_floor: Option<String>,

    /// The agent of `cores`, which uses this many milliseconds of CPU for a move
    #[arg(long, hide = true, value_name = "MS")]
    burn: Option<u64>,
}

#[derive(clap::Args)]
struct Settings {
    /// Measure once for a third of a second, instead of the median of three runs
    #[arg(long)]
    quick: bool,

    /// Games of the tournament of `large`
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    games: u64,

    /// `records` of the tournament of `large`
    #[arg(long, value_enum, default_value = "full")]
    records: Records,

    /// Folder in which `tests/bench/run` installs peers
    #[arg(long, default_value = "target/tools", value_name = "DIR")]
    tools: PathBuf,
}

/// `records` of a spec.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Records {
    Full,
    Hash,
}

impl Records {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Hash => "hash",
        }
    }
}

impl Settings {
    /// How long one measurement takes.
    fn seconds(&self) -> f64 {
        if self.quick { 1.0 } else { 3.0 }
    }

    /// How often each figure is measured; the median counts.
    fn runs(&self) -> usize {
        if self.quick { 1 } else { 3 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text
    Table,
    /// One JSON value.
    Json,
    /// For a page such as tests/RESULTS.md.
    Markdown,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            note(format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    if let Some(kind) = &cli.serve_floor {
        sections::floors::serve(kind)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(time) = cli.burn {
        sections::cores::serve(Duration::from_millis(time))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(page) = &cli.write {
        // Checks the page before any measurement.
        print::replace(page, "")?;
    }
    let mut wanted = cli.sections;
    if wanted.is_empty() {
        wanted = Section::value_variants().to_vec();
    }
    // Other figures are multiples of these.
    wanted.push(Section::Floors);
    wanted.sort_unstable();
    wanted.dedup();
    let mut report = Report::new(cli.settings.quick);
    for section in wanted {
        note(section.name());
        report.add(section.measure(&cli.settings));
    }
    report.finish();
    print::print(&report, cli.output)?;
    if let Some(page) = &cli.write {
        std::fs::write(page, print::replace(page, &print::markdown(&report))?)?;
    }
    let failed = report.sections.iter().any(|section| section.failed());
    Ok(match (failed, report.misses_a_bar()) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(MISSED),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Prints a line to stderr.
#[expect(clippy::print_stderr, reason = "progress of a program for people")]
fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}
