//! The data of a report, gathered once.

use std::collections::BTreeMap;

use arena_engine::options::Options;
use arena_telemetry::LatencyHistogram;
use arena_tournament::Estimate;
use arena_wire::v1;

use crate::{
    board, faults::Fault, sample::Sample, sequential::SequentialTest, standings::audits::unsound,
    state::state_name, verdict::Verdict,
};

/// The data of a report of a tournament. Agents are numbered as in the standings, best
/// first.
pub struct Report {
    /// Id of the tournament.
    pub id: String,
    pub(crate) name: String,
    /// State of the tournament when the report was made.
    pub state: v1::TournamentState,
    /// Why the tournament paused itself.
    pub(crate) pause: Option<v1::Pause>,
    pub(crate) games: u64,
    pub(crate) games_total: u64,
    pub(crate) created_unix_us: u64,
    pub(crate) finished_unix_us: u64,
    pub(crate) format: &'static str,
    pub(crate) seed: String,
    pub(crate) ruleset: String,
    pub(crate) rules_version: u32,
    pub(crate) options: Options,
    pub(crate) seats: usize,
    pub(crate) spec_toml: String,
    /// True if chance outcomes and moves are not stored.
    pub(crate) hash_only: bool,
    pub(crate) agents: Vec<Agent>,
    /// By row and column: the results of the row's agent against the column's agent.
    pub(crate) pairs: Vec<Vec<Option<Pair>>>,
    /// Mean score of each seat over all agents.
    pub(crate) seat_scores: Vec<Option<Estimate>>,
    /// The quantity that the agents' courses show.
    pub(crate) measure: Measure,
    /// The course of the sequential test, if the tournament is one.
    pub(crate) test: Option<SequentialTest>,
    /// Number of games by game length in plies.
    pub(crate) lengths: BTreeMap<u32, u64>,
    pub(crate) terminations: BTreeMap<&'static str, u64>,
    /// Faults grouped by agent, kind and cause.
    pub(crate) faults: Vec<Fault>,
    /// Faults outside these groups.
    pub(crate) faults_unlisted: u64,
    /// Commands that register the agents that are not built-in bots, for another data
    /// folder.
    pub(crate) registrations: Vec<String>,
    pub(crate) samples: Vec<Sample>,
    /// The board of the samples.
    pub(crate) board: board::Board,
    /// SHA-256 of `arena export --records hash`.
    pub(crate) digest: String,
    /// The verdict of the tournament's format, with its description as `text`; `None` until
    /// the tournament is finished.
    pub(crate) verdict: Option<serde_json::Value>,
    /// True if agents meet different opponents, so that scores do not order the agents.
    pub(crate) opponents_differ: bool,
    /// True if ratings decide the order in that case and ratings exist.
    pub(crate) by_rating: bool,
    /// True if results decided which games were played or when the tournament ended. The
    /// intervals are anytime-valid in that case.
    pub(crate) adaptive: bool,
    /// The smallest lead of the first agent over each other agent, by the interval of their
    /// difference.
    pub(crate) ahead: Vec<Option<f64>>,
    /// True if the first player is drawn and need not be seat 0.
    pub(crate) starter_drawn: bool,
    /// The verdicts of the expectations.
    pub verdicts: Vec<Verdict>,
    pub(crate) pairing: Option<v1::Pairing>,
    pub(crate) ratings: Option<v1::Ratings>,
    pub(crate) notes: Vec<String>,
    pub(crate) audits: Option<v1::Audits>,
    /// Number of workers whose scores deviate from those of the others.
    pub(crate) workers_deviating: u32,
}

/// The quantity shown over the course of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Rating in Elo; the mean of all agents is 0.
    Rating,
    /// Mean score.
    Score,
}

/// An agent of a report.
pub(crate) struct Agent {
    pub(crate) standing: v1::AgentStanding,
    pub(crate) version: String,
    pub(crate) bot: String,
    pub(crate) options: Options,
    /// How the agent is reached.
    pub(crate) source: String,
    pub(crate) latencies: LatencyHistogram,
    /// By step of the tournament's index: the value over all games so far, see
    /// [`Report::measure`].
    pub(crate) course: Vec<Option<f64>>,
    /// The agent's score in each seat.
    pub(crate) seat_scores: Vec<Option<f64>>,
}

/// Two agents in the games that both played.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pair {
    pub(crate) games: u64,
    /// Number of blocks that count, and number of blocks played.
    pub(crate) blocks: [u64; 2],
    /// Number of distinct games, and whether it is a lower bound.
    pub(crate) distinct: (u64, bool),
    /// Games in which the first agent ranked before, level with and behind the second.
    pub(crate) results: [u64; 3],
    pub(crate) score: Estimate,
    /// Rating difference of the first agent over the second, as the Elo of the expected
    /// score.
    pub(crate) elo: Option<Estimate>,
    /// Likelihood that the first agent is the stronger one.
    pub(crate) superiority: Option<f64>,
}

impl Pair {
    /// The same from the side of the second agent.
    pub(crate) fn turned(self) -> Self {
        let [before, with, behind] = self.results;
        Self {
            results: [behind, with, before],
            score: self.score.turned(1.0),
            elo: self.elo.map(|elo| elo.turned(0.0)),
            superiority: self.superiority.map(|likely| 1.0 - likely),
            ..self
        }
    }
}

impl Report {
    /// True if the report contains all games of the tournament.
    pub fn is_whole(&self) -> bool {
        self.state == v1::TournamentState::Finished
    }

    /// Why some of the games may not count as they do; none if all records are sound.
    pub fn unsound(&self) -> Option<String> {
        unsound(self.audits.as_ref(), self.workers_deviating, &self.id)
    }

    /// The state of an ended tournament as text; a cancelled tournament is not finished.
    pub fn ended(&self) -> &'static str {
        state_name(self.state)
    }

    /// The files that the registration commands refer to, if there are any.
    pub fn on_registrations(&self) -> Option<&'static str> {
        let mut commands = self.registrations.iter();
        match commands.any(|command| command.contains(".tar")) {
            _ if self.registrations.is_empty() => None,
            true => Some(
                "Register what is not built in first, with the paths of its files; NAME.tar stands for \
                 the folder NAME or an archive of it.",
            ),
            false => Some("Register what is not built in first, with the paths of its files."),
        }
    }

    /// Commands that play the tournament again.
    pub fn commands(&self) -> String {
        let mut commands = self.registrations.clone();
        commands.push("arena run spec.toml --data again".to_owned());
        let (commands, id) = (commands.join("\n"), &self.id);
        format!("{commands}\narena export {id} --data again --records hash | sha256sum")
    }
}
