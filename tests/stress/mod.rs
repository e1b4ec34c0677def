//! Stress tests: each disturbs the real services and reports what it found.
//! `tests/stress/run list` names them.
//!
//! A stress test is a struct of its settings (a [`clap::Args`], whose defaults are
//! the long version) that implements `StressTest`, a file or folder here with its
//! `mod` line, and a line in `stress_tests!`. `tests/run` runs the quick version of each.

/// Stores in their own processes.
pub mod appender;

mod abuse;
mod agents;
mod audit;
mod baselines;
mod calibration;
mod chess;
mod clocks;
mod comparisons;
mod damage;
mod databases;
mod fleet;
mod full;
mod holder;
mod hostile;
mod kills;
mod luck;
mod network;
mod on_disk;
mod openspiel;
mod overload;
mod papers;
mod poison;
mod power;
mod simulate;
mod stuck;

use std::fmt;

use serde::Serialize;

/// A promise with its test.
pub trait StressTest: clap::Args {
    /// The promise in one sentence.
    const PROMISE: &'static str;

    /// Whether it compares rates, and therefore needs an idle machine.
    const MEASURES_RATES: bool = false;

    /// Settings for `tests/run`: at most about twenty seconds.
    fn quick() -> Self;

    /// Runs the test. Progress goes to stderr.
    ///
    /// # Errors
    /// [`Broken`] if the promise does not hold.
    fn run(&self) -> Result<Outcome, Broken>;
}

/// The result of a stress test that did not fail.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The promise holds, with measurements.
    Holds(Vec<Figure>),
    /// This machine cannot run the test, for a reason.
    Skipped(String),
    /// A setting names something that does not exist.
    Unknown(String),
}

impl Outcome {
    /// No item has this name; lists the known ones.
    fn unknown(wanted: &str, known: impl IntoIterator<Item = String>) -> Self {
        let known: String = known.into_iter().map(|name| format!("\n{name}")).collect();
        Self::Unknown(format!("unknown name \"{wanted}\"; known names:{known}"))
    }
}

/// A count or a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The name with its unit.
    pub name: String,
    /// The value.
    pub value: serde_json::Value,
}

impl Figure {
    /// Creates a figure.
    #[must_use]
    pub fn new(name: &str, value: impl Into<serde_json::Value>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

/// A promise that does not hold: what was observed, and the command that shows it again.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

impl Broken {
    /// Creates it from an observation.
    pub fn new(seen: impl fmt::Display) -> Self {
        Self(seen.to_string())
    }

    /// Puts the place or the time of the observation in front.
    #[must_use]
    pub fn of(self, case: &str) -> Self {
        Self(format!("{case}: {}", self.0))
    }
}

/// The list of stress tests: the name on the command line (the variant in kebab case) and the
/// settings.
macro_rules! stress_tests {
    ($($(#[doc = $doc:literal])+ $name:ident($module:ident::$settings:ident)),+ $(,)?) => {
        /// A stress test with its settings.
        #[derive(Debug, clap::Subcommand)]
        pub enum Command {
            $($(#[doc = $doc])+ $name($module::$settings)),+
        }

        impl Command {
            /// Every test in its quick or its long version.
            #[must_use]
            pub fn all(quick: bool) -> Vec<Self> {
                vec![$(Self::$name(settings(quick))),+]
            }

            /// The name on the command line.
            #[must_use]
            pub fn name(&self) -> String {
                match self { $(Self::$name(_) => kebab(stringify!($name))),+ }
            }

            /// The promise.
            #[must_use]
            pub fn promise(&self) -> &'static str {
                match self { $(Self::$name(_) => <$module::$settings as StressTest>::PROMISE),+ }
            }

            /// Whether it compares rates, and therefore needs an idle machine.
            #[must_use]
            pub fn measures_rates(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$module::$settings as StressTest>::MEASURES_RATES),+
                }
            }

            /// The same test in its quick version.
            #[must_use]
            pub fn quick(self) -> Self {
                match self { $(Self::$name(_) => Self::$name(StressTest::quick())),+ }
            }

            /// Runs the test.
            ///
            /// # Errors
            /// [`Broken`] if the promise does not hold.
            pub fn run(&self) -> Result<Outcome, Broken> {
                match self { $(Self::$name(test) => test.run()),+ }
            }
        }
    };
}

stress_tests! {
    /// Lease and report with increasing numbers of workers.
    Fleet(fleet::Scale),
    /// Play with agents that crash, hang, flood, fork and lie.
    Agents(agents::Agents),
    /// Send a coordinator far more requests than it can answer.
    Overload(overload::Overload),
    /// Attack a coordinator with stalled, flooding and unread connections.
    Abuse(abuse::Abuse),
    /// Send valid requests with hostile values, by every kind of caller.
    Hostile(hostile::Hostile),
    /// Start a second coordinator on a store.
    Holder(holder::Holder),
    /// Kill, end and stop coordinator, workers, guards and agents at random.
    Kills(kills::Kills),
    /// Kill and stop coordinators on one database, and its server.
    Databases(databases::Databases),
    /// Cut the power of the store's disk at random.
    Power(power::Power),
    /// Fill the store's disk, and make it read-only.
    Full(full::Full),
    /// Truncate the store's files, and flip bits in them.
    Damage(damage::Damage),
    /// Run the real services over a simulated network with random failures.
    Network(network::Network),
    /// Play a game that kills each of its workers.
    Poison(poison::Poison),
    /// Let workers keep leases without playing.
    Stuck(stuck::Stuck),
    /// Replay games of agents that are deterministic, and of one that is not.
    Audit(audit::Audit),
    /// Compare random games with OpenSpiel, step by step.
    Openspiel(openspiel::OpenSpiel),
    /// Compare random games of chess with the Python package `chess`, step by step.
    Chess(chess::Chess),
    /// Simulate millions of schedules with all kinds of failures.
    Simulate(simulate::Simulate),
    /// Compare luck-adjusted scores of thousands of tournaments.
    Luck(luck::Luck),
    /// Play the published tables again.
    Papers(papers::Papers),
    /// Play baselines against every agent of the papers.
    Baselines(baselines::Baselines),
    /// Simulate tournaments whose truth is known.
    Calibration(calibration::Calibration),
    /// Play under clocks on a busy machine, and with agents that overstep their time.
    Clocks(clocks::Clocks),
    /// Compare ratings with those of other programs.
    Comparisons(comparisons::Comparisons),
}

/// The quick settings, or the defaults of the flags.
fn settings<P: StressTest>(quick: bool) -> P {
    if quick {
        return P::quick();
    }
    let command = P::augment_args(clap::Command::new("test"));
    let matches = command.get_matches_from(["test"]);
    P::from_arg_matches(&matches).expect("every setting has a default")
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
