//! `tests/run`: runs all checks and tests, and reports what failed.

mod context;
mod log;
mod schedule;
mod steps;
#[cfg(test)]
mod tests;

use std::{
    env, fs,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use context::Context;
use log::{Counts, failures};
use schedule::{Outcome, Report, run};
use steps::{STEPS, Step};

const USAGE: &str = "\
tests/run [--quick] [--only STEP,…] [--list] [FILTER]

Installs what is missing (below target/tools; Prometheus as a Debian package),
then runs all steps, also after a failure. Steps that do not disturb each other
run at the same time; the output of a step is printed when the step ends. The
last line is `N passed, N failed, N skipped`: it counts tests, or 1 for a step
without tests. Exit code 0 if nothing failed.

  FILTER         only tests whose name contains FILTER, and no checks
  --quick        without slow tests: tests across processes, doc tests
  --long         the stress tests at full length (about an hour), as release build,
                 what other steps sample at full length (another hour), and the step
                 guards; --only guards FILTER removes only these checks
  --only STEP,…  only these steps
  --list         list the steps
  --help         this text

The tests get ARENA_BIN (the built `arena`) and ARENA_PYTHON (a Python with the
SDK, also the first `python3` in PATH). Logs are kept below target/test-logs.
";

/// Prints to standard output. A reader that has gone, such as `head`, is no error.
macro_rules! show {
    ($($text:tt)*) => {{
        let mut stdout = io::stdout().lock();
        let _ = write!(stdout, $($text)*).and_then(|()| stdout.flush());
    }};
}
pub(crate) use show;

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Arguments {
    quick: bool,
    long: bool,
    only: Vec<String>,
    filter: Option<String>,
}

/// What to do instead of running steps.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Help,
    List,
    Wrong(String),
}

impl Arguments {
    fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Answer> {
        let mut parsed = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            match name {
                "--quick" => parsed.quick = true,
                "--long" => parsed.long = true,
                "--only" => {
                    let steps = value
                        .or_else(|| arguments.next())
                        .ok_or_else(|| Answer::Wrong(USAGE.to_owned()))?;
                    parsed.only = steps.split(',').map(str::to_owned).collect();
                }
                "--list" => return Err(Answer::List),
                "-h" | "--help" => return Err(Answer::Help),
                _ if name.starts_with('-') => return Err(Answer::Wrong(USAGE.to_owned())),
                _ => parsed.filter = Some(argument),
            }
        }
        for name in &parsed.only {
            if !STEPS.iter().any(|step| step.name == name) {
                let steps: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                let steps = steps.join(" ");
                return Err(Answer::Wrong(format!(
                    "tests/run: no step '{name}'; there are: {steps}\n"
                )));
            }
        }
        Ok(parsed)
    }

    /// Whether a step has to run.
    fn wants(&self, step: &Step) -> bool {
        if step.name == "setup" {
            true
        } else if self.only.is_empty() {
            self.filter.is_none() || step.can_filter
        } else {
            self.only.iter().any(|name| name == step.name)
        }
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(Answer::Help) => {
            show!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(Answer::List) => {
            for step in STEPS {
                show!("{}\n", step.name);
            }
            return ExitCode::SUCCESS;
        }
        Err(Answer::Wrong(text)) => {
            let _ = write!(io::stderr(), "{text}");
            return ExitCode::from(2);
        }
    };
    let steps: Vec<&Step> = STEPS.iter().filter(|step| arguments.wants(step)).collect();
    match run_steps(&steps, arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "tests/run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs steps and prints their outcomes. Returns whether nothing failed.
fn run_steps(steps: &[&'static Step], arguments: Arguments) -> io::Result<bool> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = std::path::absolute(target)?;
    let logs = target.join("test-logs");
    fs::create_dir_all(&logs)?;
    let filtered = arguments.filter.is_some();
    let context = Context::new(arguments, target, logs);
    let reports = run(steps, context, &|report| {
        let step = report.step.name;
        show!(
            "\n== {step}: {} in {} s\n{}",
            report.outcome,
            report.seconds,
            report.log
        );
    })?;

    let mut table = String::new();
    let mut sum = Counts::default();
    for step in steps {
        let report = reports
            .iter()
            .find(|report| report.step.name == step.name)
            .expect("every step has a report");
        if report.outcome == Outcome::Failed {
            let path = report.path.display();
            show!("\n== what failed in {} ({path})\n", step.name);
            for line in failures(&report.log) {
                show!("{line}\n");
            }
        }
        let counts = count(report, filtered);
        sum += counts;
        table += &format!(
            "{:<10} {:<8} {:>6}s {:>8} {:>8} {:>8}\n",
            step.name,
            report.outcome.to_string(),
            report.seconds,
            counts.passed,
            counts.failed,
            counts.skipped,
        );
    }
    show!("\nstep       outcome  seconds   passed   failed  skipped\n{table}");
    show!(
        "\n{} passed, {} failed, {} skipped\n",
        sum.passed,
        sum.failed,
        sum.skipped
    );
    Ok(sum.failed == 0)
}

/// The numbers of tests of a step; a step without tests is counted itself.
fn count(report: &Report, filtered: bool) -> Counts {
    let mut counts = match report.step.has_tests {
        true => Counts::of(&report.log),
        false => Counts::default(),
    };
    // Tests that the filter excludes are not skipped tests.
    if filtered {
        counts.skipped = 0;
    }
    match report.outcome {
        Outcome::Skipped => counts.skipped = 1,
        Outcome::Failed => counts.failed = counts.failed.max(1),
        Outcome::Passed if !report.step.has_tests => counts.passed = 1,
        Outcome::Passed => {}
    }
    counts
}
