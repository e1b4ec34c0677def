//! All that a report shows of a tournament, gathered once.

use std::collections::BTreeMap;

use arena_engine::options::Options;
use arena_telemetry::LatencyHistogram;
use arena_wire::v1;

use crate::{
    board, faults::Fault, sample::Sample, sequential::SequentialTest, state::state_name,
    verdict::Verdict,
};

/// A share from 0 to 1 with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// Absent where nothing can be said of how far off it may be.
    pub(crate) interval: Option<(f64, f64)>,
}

/// All that a report shows of a tournament. Agents are numbered as in the
/// standings, best first.
pub struct Report {
    pub id: String,
    pub(crate) name: String,
    pub state: v1::TournamentState,
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
    /// Chance outcomes and moves are not kept.
    pub(crate) hash_only: bool,
    pub(crate) agents: Vec<Agent>,
    /// By row and column: how the row's agent did against the column's.
    pub(crate) pairs: Vec<Vec<Option<Pair>>>,
    /// By seat: what it scores, whoever sits there.
    pub(crate) seat_scores: Vec<Option<Estimate>>,
    /// What the agents' courses are of.
    pub(crate) measure: Measure,
    /// How the test went on, where the tournament is one.
    pub(crate) test: Option<SequentialTest>,
    /// Plies of a game, and how many games had them.
    pub(crate) lengths: BTreeMap<u32, u64>,
    pub(crate) terminations: BTreeMap<&'static str, u64>,
    /// Those of one agent, kind and cause together.
    pub(crate) faults: Vec<Fault>,
    /// Faults of none of these groups.
    pub(crate) faults_unlisted: u64,
    /// Commands that register the agents that are no bots of ours, for a data
    /// folder of their own.
    pub(crate) registrations: Vec<String>,
    pub(crate) samples: Vec<Sample>,
    /// Which board the samples are played on.
    pub(crate) board: board::Board,
    /// SHA-256 of `arena export --records hash`.
    pub(crate) digest: String,
    /// What the tournament came to by its format, with what it is in words as
    /// its `text`; none until it is finished.
    pub(crate) verdict: Option<serde_json::Value>,
    /// Agents meet different opponents, so that scores do not say who is better.
    pub(crate) opponents_differ: bool,
    /// Ratings say it there, where there are any.
    pub(crate) by_rating: bool,
    /// Whether results decided what was played or when it ended: intervals are those
    /// that hold however often one looks.
    pub(crate) adaptive: bool,
    /// The least by which the first agent is ahead of each other one, by the
    /// interval of their difference.
    pub(crate) ahead: Vec<Option<f64>>,
    /// Who begins is drawn, and need not sit at seat 0.
    pub(crate) starter_drawn: bool,
    /// What came of what is expected.
    pub verdicts: Vec<Verdict>,
    pub(crate) pairing: Option<v1::Pairing>,
    pub(crate) ratings: Option<v1::Ratings>,
    pub(crate) notes: Vec<String>,
    pub(crate) audits: Option<v1::Audits>,
}

/// What is followed over a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// In Elo, the mean of all agents at 0.
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
    /// How it was reached.
    pub(crate) source: String,
    pub(crate) latencies: LatencyHistogram,
    /// By step of the tournament's index: what came of all games so far, see
    /// [`Report::measure`].
    pub(crate) course: Vec<Option<f64>>,
    /// By seat: its score where it sits there.
    pub(crate) seat_scores: Vec<Option<f64>>,
}

/// Two agents in the games that both played.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pair {
    pub(crate) games: u64,
    /// Blocks that count, and blocks that were played.
    pub(crate) blocks: [u64; 2],
    /// Different games, and whether there were more than are counted.
    pub(crate) distinct: (u64, bool),
    /// Games in which the first was placed before, with, and behind the second.
    pub(crate) results: [u64; 3],
    pub(crate) score: Estimate,
    /// By how much the first is rated higher, as the Elo of the score to expect.
    pub(crate) elo: Option<Estimate>,
    /// How likely the first is the stronger one.
    pub(crate) superiority: Option<f64>,
}

impl Report {
    /// True where all games that there will be are in it.
    pub fn is_whole(&self) -> bool {
        self.state == v1::TournamentState::Finished
    }

    /// What it is when it has ended; a cancelled one is not finished.
    pub fn ended(&self) -> &'static str {
        state_name(self.state)
    }

    /// Which files the commands mean that register agents, if there are any.
    pub fn on_registrations(&self) -> Option<&'static str> {
        let are_packages = |command: &String| command.contains(".tar");
        if self.registrations.is_empty() {
            return None;
        }
        Some(if self.registrations.iter().any(are_packages) {
            "Register agents that are not built in first, with the paths of their files; NAME.tar stands for \
             the folder NAME or an archive of it."
        } else {
            "Register agents that are not built in first, with the paths of their files."
        })
    }

    /// What plays the tournament once more.
    pub fn commands(&self) -> String {
        let mut commands = self.registrations.clone();
        commands.push("arena run spec.toml --data again".to_owned());
        let id = &self.id;
        commands.push(format!(
            "arena export {id} --data again --records hash | sha256sum"
        ));
        commands.join("\n")
    }
}
