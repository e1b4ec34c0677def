//! `tests/stress/run`: runs the stress tests and reports what they found.

use std::{
    any::Any,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::Instant,
};

use arena_tests::stress::{Broken, Command, Outcome, appender::Appender};
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::json;

/// Prints a line. A reader that has gone, such as `head`, is no error.
macro_rules! say {
    ($($line:tt)*) => {
        let _ = writeln!(io::stdout(), $($line)*);
    };
}

/// Tests the promises of Arena under faults, and its statistics with known truth.
///
/// Exit code 0 if every promise holds, 2 for a wrong setting or name, 3 if a promise does not
/// hold.
#[derive(Parser)]
#[command(
    name = "tests/stress/run",
    after_help = "Examples:\n  tests/stress/run list\n  tests/stress/run all --quick\n  \
                  tests/stress/run kills --kills 50 --seed 7 --output json"
)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// Run the short version, as tests/run does; other flags are ignored
    #[arg(long, global = true)]
    quick: bool,
    /// Output format
    #[arg(long, global = true, default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text
    Text,
    /// One JSON object for each test
    Json,
}

/// A part of the stress tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Every test
    All,
    /// Tests that compare rates, and need an idle machine
    Rates,
    /// All other tests
    Others,
}

#[derive(Subcommand)]
enum What {
    /// List the stress tests with their promises
    List,
    /// Run every stress test
    All {
        /// Which of the tests
        #[arg(long, default_value = "all")]
        part: Part,
    },
    /// A process that some stress tests start
    #[command(subcommand, hide = true)]
    StoreProcess(Appender),
    #[command(flatten)]
    One(Command),
}

#[expect(clippy::print_stderr, reason = "what failed is reported there")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    let tests = match cli.what {
        What::List => {
            for test in Command::all(true) {
                say!("{:<12} {}", test.name(), test.promise());
            }
            return ExitCode::SUCCESS;
        }
        What::StoreProcess(process) => {
            return match process.run() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            };
        }
        What::All { part } => {
            let mut tests = Command::all(cli.quick);
            tests
                .retain(|test| part == Part::All || test.measures_rates() == (part == Part::Rates));
            tests
        }
        What::One(test) if cli.quick => vec![test.quick()],
        What::One(test) => vec![test],
    };
    let (mut held, mut broken, mut skipped, mut unknown) = (0, 0, 0, 0);
    for test in &tests {
        let started = Instant::now();
        // A test fails by a panic if a process that it starts does.
        let outcome = catch_unwind(AssertUnwindSafe(|| test.run()))
            .unwrap_or_else(|panic| Err(Broken::new(said(&*panic))));
        let seconds = started.elapsed().as_secs_f64();
        let (word, reported, figures) = match outcome {
            Ok(Outcome::Holds(figures)) => {
                held += 1;
                ("holds", String::new(), figures)
            }
            Ok(Outcome::Skipped(reason)) => {
                skipped += 1;
                ("skipped", reason, Vec::new())
            }
            Ok(Outcome::Unknown(reason)) => {
                unknown += 1;
                eprintln!("{}: {reason}", test.name());
                continue;
            }
            Err(error) => {
                broken += 1;
                ("broken", error.to_string(), Vec::new())
            }
        };
        if cli.output == Format::Json {
            let line = json!({
                "test": test.name(), "promise": test.promise(), "outcome": word,
                "result": reported, "seconds": seconds, "figures": figures,
            });
            say!("{line}");
            continue;
        }
        say!(
            "{}: {word} ({seconds:.1} s): {}",
            test.name(),
            test.promise()
        );
        if !reported.is_empty() {
            say!("  {}", reported.replace('\n', "\n  "));
        }
        for figure in figures {
            let value = match figure.value {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            say!("  {:<52} {value}", figure.name);
        }
    }
    if cli.output == Format::Text && tests.len() > 1 {
        say!("{held} passed, {broken} failed, {skipped} skipped");
    }
    ExitCode::from(match (broken, unknown) {
        (0, 0) => 0,
        (0, _) => 2,
        _ => 3,
    })
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
