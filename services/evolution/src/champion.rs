//! The result of an evolution.

use std::collections::BTreeMap;

use arena_model::{TournamentSeed, spec::Variant};

/// The best player of the last generation.
#[derive(serde::Serialize)]
pub struct Champion {
    /// The player as an agent.
    #[serde(rename = "champion")]
    pub variant: Variant,
    /// Its points.
    pub points: u64,
    /// Maximum of points.
    pub points_max: u64,
    /// Number of generations.
    pub generations: u32,
    /// Id of the last tournament.
    #[serde(rename = "tournament_id")]
    pub tournament: String,
    /// Seed of the evolution.
    pub seed: TournamentSeed,
    /// Name of the ruleset.
    pub ruleset: String,
}

impl Champion {
    /// An `[[agent]]` table, with its origin in a comment.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let fragment = BTreeMap::from([("agent", [&self.variant])]);
        let table = toml::to_string(&fragment).unwrap_or_default();
        let (points, most, number) = (self.points, self.points_max, self.generations);
        let (ruleset, seed, tournament) = (&self.ruleset, self.seed, &self.tournament);
        format!(
            "# {points} of {most} points in generation {number} of an evolution on {ruleset}, seed \
             {seed}\n# tournament {tournament}\n{table}"
        )
    }
}
