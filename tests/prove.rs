//! `tests/prove`: runs the proofs and tells what they found.

use std::{
    any::Any,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::Instant,
};

use arena_tests::proofs::{Broken, Command, Outcome, appender::Appender};
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::json;

/// Prints a line; who reads may have gone, as `head` does.
macro_rules! say {
    ($($line:tt)*) => {
        let _ = writeln!(io::stdout(), $($line)*);
    };
}

/// Shows what Arena promises: each proof disturbs the real thing and says
/// what it found.
///
/// Exit code 0 where every promise held, 2 where a flag names what there is not, 3
/// where a promise did not hold.
#[derive(Parser)]
#[command(
    name = "tests/prove",
    after_help = "Examples:\n  tests/prove list\n  tests/prove all --quick\n  \
                  tests/prove kills --kills 50 --seed 7 --output json"
)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// The short version, as tests/run has it, whatever the other flags say.
    #[arg(long, global = true)]
    quick: bool,
    /// How the figures are printed.
    #[arg(long, global = true, default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object a proof.
    Json,
}

#[derive(Subcommand)]
enum What {
    /// Name the proofs and what they show.
    List,
    /// Run every proof.
    All,
    /// What some proofs start as a process of its own.
    #[command(subcommand, hide = true)]
    StoreProcess(Appender),
    #[command(flatten)]
    One(Command),
}

#[expect(clippy::print_stderr, reason = "what failed is reported there")]
fn main() -> ExitCode {
    let cli = Cli::parse();
    let proofs = match cli.what {
        What::List => {
            for proof in Command::all(true) {
                say!("{:<12} {}", proof.name(), proof.promise());
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
        What::All => Command::all(cli.quick),
        What::One(proof) if cli.quick => vec![proof.quick()],
        What::One(proof) => vec![proof],
    };
    let (mut held, mut broken, mut skipped, mut unknown) = (0, 0, 0, 0);
    for proof in &proofs {
        let started = Instant::now();
        // What a proof starts may fail by a panic, as it does in tests.
        let outcome = catch_unwind(AssertUnwindSafe(|| proof.run()))
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
                eprintln!("{}: {reason}", proof.name());
                continue;
            }
            Err(error) => {
                broken += 1;
                ("broken", error.to_string(), Vec::new())
            }
        };
        if cli.output == Format::Json {
            let line = json!({
                "proof": proof.name(), "promise": proof.promise(), "outcome": word,
                "result": reported, "seconds": seconds, "figures": figures,
            });
            say!("{line}");
            continue;
        }
        say!(
            "{}: {word} ({seconds:.1} s): {}",
            proof.name(),
            proof.promise()
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
    if cli.output == Format::Text && proofs.len() > 1 {
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
