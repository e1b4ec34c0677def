//! The values of `--ratings`.

use arena_tournament::ratings::running::System;
use clap::ValueEnum;

/// Ways to rate.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Ratings {
    /// Elo, K = 32, starting at 1000; two seats only
    Elo,
    /// Glicko-2, starting at 1500 ± 350, one rating period per game; two seats only
    #[value(name = "glicko2")]
    Glicko2,
    /// TrueSkill, starting at 25 ± 8.3
    #[value(name = "trueskill")]
    TrueSkill,
    /// Weng and Lin's Bradley-Terry model, starting at 25 ± 8.3
    WengLin,
}

impl From<Ratings> for System {
    fn from(ratings: Ratings) -> Self {
        match ratings {
            Ratings::Elo => Self::Elo,
            Ratings::Glicko2 => Self::Glicko2,
            Ratings::TrueSkill => Self::TrueSkill,
            Ratings::WengLin => Self::WengLin,
        }
    }
}
