//! Stress tests: each disturbs the real services and reports what it found.
//! `tests/stress/run list` names them.
//!
//! A stress test is a struct of its settings (a [`clap::Args`], whose defaults are
//! the long version) that implements `StressTest`, a file or folder here with its
//! `mod` line, and a line in `stress_tests!`. `tests/run` runs the quick version of each.

/// Stores as processes of their own.
pub mod appender;

mod agents;
mod audit;
mod baselines;
mod calibration;
mod comparisons;
mod damage;
mod fleet;
mod full;
mod holder;
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

/// A promise, and how it is tried.
pub trait StressTest: clap::Args {
    /// What is promised, in one sentence.
    const PROMISE: &'static str;

    /// Whether it compares rates, and therefore needs an idle machine.
    const MEASURES_RATES: bool = false;

    /// Settings for every run of the tests: at most about twenty seconds.
    fn quick() -> Self;

    /// Tries it. Progress goes to stderr.
    ///
    /// # Errors
    /// [`Broken`] where the promise did not hold.
    fn run(&self) -> Result<Outcome, Broken>;
}

/// The result of a stress test that did not fail.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The promise held; what was measured.
    Holds(Vec<Figure>),
    /// This machine cannot run it, and why.
    Skipped(String),
    /// It was asked for something that it has not.
    Unknown(String),
}

impl Outcome {
    /// Nothing has this in its name; and what there is.
    fn unknown(wanted: &str, known: impl IntoIterator<Item = String>) -> Self {
        let known: String = known.into_iter().map(|name| format!("\n{name}")).collect();
        Self::Unknown(format!(
            "nothing here is named by \"{wanted}\"; there are{known}"
        ))
    }
}

/// Something counted or measured.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What it is, with its unit.
    pub name: String,
    /// How much.
    pub value: serde_json::Value,
}

impl Figure {
    /// A figure.
    #[must_use]
    pub fn new(name: &str, value: impl Into<serde_json::Value>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

/// A promise that did not hold: what was seen, and the command that shows it
/// again.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

impl Broken {
    /// From what was seen.
    pub fn new(seen: impl fmt::Display) -> Self {
        Self(seen.to_string())
    }

    /// The same, with when or where it was seen in front.
    #[must_use]
    pub fn of(self, case: &str) -> Self {
        Self(format!("{case}: {}", self.0))
    }
}

/// The list of stress tests: the name on the command line (that of the variant, in
/// kebab case) and the settings.
macro_rules! stress_tests {
    ($($(#[doc = $doc:literal])+ $name:ident($module:ident::$settings:ident)),+ $(,)?) => {
        /// A proof with its settings.
        #[derive(Debug, clap::Subcommand)]
        pub enum Command {
            $($(#[doc = $doc])+ $name($module::$settings)),+
        }

        impl Command {
            /// Every proof in its quick or its long version.
            #[must_use]
            pub fn all(quick: bool) -> Vec<Self> {
                vec![$(Self::$name(settings(quick))),+]
            }

            /// The name on the command line.
            #[must_use]
            pub fn name(&self) -> String {
                match self { $(Self::$name(_) => kebab(stringify!($name))),+ }
            }

            /// What it shows.
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

            /// The same proof in its quick version.
            #[must_use]
            pub fn quick(self) -> Self {
                match self { $(Self::$name(_) => Self::$name(StressTest::quick())),+ }
            }

            /// Tries it.
            ///
            /// # Errors
            /// [`Broken`] where the promise did not hold.
            pub fn run(&self) -> Result<Outcome, Broken> {
                match self { $(Self::$name(test) => test.run()),+ }
            }
        }
    };
}

stress_tests! {
    /// Let ever more workers lease and report.
    Fleet(fleet::Scale),
    /// Play with agents that crash, hang, flood, fork and lie.
    Agents(agents::Agents),
    /// Ask far more of a coordinator than it can take.
    Overload(overload::Overload),
    /// Start a second coordinator on a store.
    Holder(holder::Holder),
    /// Kill, end and stop coordinator, workers, guards and agents at random.
    Kills(kills::Kills),
    /// Cut the power of the store's disk at random.
    Power(power::Power),
    /// Fill the store's disk up, and make it read-only.
    Full(full::Full),
    /// Cut the store's files short, and turn bits in them.
    Damage(damage::Damage),
    /// Run the real services over a simulated network that breaks at random.
    Network(network::Network),
    /// Have a game kill each worker that plays it.
    Poison(poison::Poison),
    /// Have workers hold games and play none.
    Stuck(stuck::Stuck),
    /// Play games again, of agents that are deterministic and of one that is not.
    Audit(audit::Audit),
    /// Play random games with OpenSpiel stepping beside them.
    Openspiel(openspiel::OpenSpiel),
    /// Simulate schedules of everything that can go wrong, by the million.
    Simulate(simulate::Simulate),
    /// Take luck out of thousands of tournaments.
    Luck(luck::Luck),
    /// Play the published tables again.
    Papers(papers::Papers),
    /// Play baselines against every agent of the papers.
    Baselines(baselines::Baselines),
    /// Simulate tournaments whose truth is known.
    Calibration(calibration::Calibration),
    /// Rate the same games by other people's programs.
    Comparisons(comparisons::Comparisons),
}

/// The quick settings, or those that the flags have as defaults.
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
