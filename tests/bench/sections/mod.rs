//! The sections, in the order in which they are measured.

mod access;
pub(crate) mod cores;
mod fleet;
pub(crate) mod floors;
mod large;
mod packages;
mod path;
mod peers;
mod sandbox;
mod scale;
mod store;

use clap::ValueEnum;

use crate::{Settings, report::Measured};

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Section {
    /// What the machine itself can do: a bare pipe, bare gRPC.
    Floors,
    /// The path of a decision: rules, tournament, agents in Rust and Python.
    Path,
    /// Agents that think: cores at work, and the first finished game.
    Cores,
    /// Levels of the sandbox: the start of an agent, and its decisions.
    Sandbox,
    /// Worker processes, games in flight, agents in a tournament.
    Scale,
    /// Durable results per second, and the time to acknowledge them.
    Store,
    /// What TLS and tokens cost.
    Access,
    /// 10, 100 and 1,000 simulated workers with one coordinator.
    Fleet,
    /// A large tournament: memory, standings and export as it grows.
    Large,
    /// Rules of one's own, in Rust and as a package.
    Packages,
    /// Other systems, in the same run.
    Peers,
}

impl Section {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floors => "floors",
            Self::Path => "path",
            Self::Cores => "cores",
            Self::Sandbox => "sandbox",
            Self::Scale => "scale",
            Self::Store => "store",
            Self::Access => "access",
            Self::Fleet => "fleet",
            Self::Large => "large",
            Self::Packages => "packages",
            Self::Peers => "peers",
        }
    }

    pub(crate) fn measure(self, settings: &Settings) -> Measured {
        let mut measured = Measured::new(self.name());
        match self {
            Self::Floors => floors::measure(settings, &mut measured),
            Self::Path => path::measure(settings, &mut measured),
            Self::Cores => cores::measure(settings, &mut measured),
            Self::Sandbox => sandbox::measure(settings, &mut measured),
            Self::Scale => scale::measure(settings, &mut measured),
            Self::Store => store::measure(settings, &mut measured),
            Self::Access => access::measure(settings, &mut measured),
            Self::Fleet => fleet::measure(settings, &mut measured),
            Self::Large => large::measure(settings, &mut measured),
            Self::Packages => packages::measure(settings, &mut measured),
            Self::Peers => peers::measure(settings, &mut measured),
        }
        measured
    }
}
