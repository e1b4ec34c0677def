//! The sections, in the order they are measured.

pub(crate) mod floors;
mod path;
mod scale;

use clap::ValueEnum;

use crate::{Settings, report::Measured};

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Section {
    /// What the machine itself can do: a bare pipe, bare gRPC.
    Floors,
    /// The way of a decision: rules, tournament, agents in Rust and Python.
    Path,
    /// Worker processes, games in flight, agents in a tournament.
    Scale,
}

impl Section {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floors => "floors",
            Self::Path => "path",
            Self::Scale => "scale",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Floors => "what the machine itself can do",
            Self::Path => "the way of a decision",
            Self::Scale => "workers, games in flight, agents",
        }
    }

    pub(crate) fn measure(self, settings: &Settings) -> Measured {
        let mut measured = Measured::new(self.name());
        match self {
            Self::Floors => floors::measure(settings, &mut measured),
            Self::Path => path::measure(settings, &mut measured),
            Self::Scale => scale::measure(settings, &mut measured),
        }
        measured
    }
}
