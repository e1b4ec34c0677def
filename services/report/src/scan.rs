//! One pass over the games of a tournament, in index order. Memory grows with the number of
//! agents, not of games.

use std::collections::BTreeMap;

use arena_engine::Termination;
use arena_model::GameRecord;
use arena_telemetry::LatencyHistogram;
use arena_tournament::game_score;
use arena_wire::v1;
use itertools::Itertools;
use sha2::{Digest, Sha256};

use crate::{
    faults::{Faults, Found},
    rated::Rated,
    report::Measure,
    sequential::SequentialTest,
};

/// Number of points of a course.
const STEPS: usize = 120;

/// Sums over the games of a tournament. Agents are numbered as in its spec.
#[derive(Default)]
pub(super) struct Scan {
    tournament: String,
    names: Vec<String>,
    games_total: u64,
    agents: Vec<Sums>,
    rated: Option<Rated>,
    digest: Sha256,
    pub(super) games: u64,
    pub(super) lengths: BTreeMap<u32, u64>,
    pub(super) terminations: BTreeMap<&'static str, u64>,
    pub(super) faults: Faults,
}

/// Sums of one agent.
#[derive(Clone)]
struct Sums {
    latencies: LatencyHistogram,
    /// By step of the index: share of the points, and number of games.
    steps: Vec<(f64, u64)>,
    /// The same by seat.
    seats: Vec<(f64, u64)>,
}

impl Scan {
    pub(super) fn new(
        tournament: &str,
        names: &[String],
        seats: usize,
        games_total: u64,
        rated: Option<Rated>,
    ) -> Self {
        let sums = Sums {
            latencies: LatencyHistogram::new(),
            steps: vec![(0.0, 0); STEPS],
            seats: vec![(0.0, 0); seats],
        };
        Self {
            tournament: tournament.to_owned(),
            games_total,
            agents: vec![sums; names.len()],
            names: names.to_vec(),
            rated,
            ..Self::default()
        }
    }

    /// Adds a game; `line` is its line in an export of hashes.
    pub(super) fn add(&mut self, record: &GameRecord, side: &v1::GameReport, line: &str) {
        self.digest.update(line.as_bytes());
        self.digest.update(b"\n");
        self.games += 1;
        let termination = record.termination.name();
        *self.terminations.entry(termination).or_default() += 1;
        self.add_latencies(side);
        self.add_faults(record, side);
        if let Some(rated) = &mut self.rated {
            rated.close(step(record.index, self.games_total));
            rated.add(record);
        }
        if record.termination == Termination::Void || record.placement.is_empty() {
            return;
        }
        *self.lengths.entry(record.plies).or_default() += 1;
        self.add_scores(record);
    }

    fn add_scores(&mut self, record: &GameRecord) {
        let step = step(record.index, self.games_total);
        let score = |own: &[usize]| game_score(own, &record.seats, &record.placement);
        for (seat, &agent) in record.seats.iter().enumerate() {
            let Some(sums) = self.agents.get_mut(usize::from(agent)) else {
                continue;
            };
            if let Some(sums) = sums.seats.get_mut(seat) {
                add(sums, score(&[seat]));
            }
            // A game counts once, however many of its seats an agent has.
            if record.seats[..seat].contains(&agent) {
                continue;
            }
            let own = record.seats.iter().positions(|&other| other == agent);
            add(&mut sums.steps[step], score(&own.collect_vec()));
        }
    }

    fn add_latencies(&mut self, side: &v1::GameReport) {
        for latency in side.timing.iter().flat_map(|timing| &timing.latency) {
            let buckets = latency.buckets.iter().copied();
            let buckets = buckets.zip(latency.counts.iter().copied());
            if let Some(sums) = self.agents.get_mut(latency.agent as usize)
                && let Ok(counted) = LatencyHistogram::from_buckets(buckets)
            {
                sums.latencies.merge(&counted);
            }
        }
    }

    fn add_faults(&mut self, record: &GameRecord, side: &v1::GameReport) {
        for fault in &record.faults {
            let agent = record.seats.get(usize::from(fault.seat));
            let name = agent.and_then(|&agent| self.names.get(usize::from(agent)));
            let Some(name) = name else { continue };
            let mut details = side.fault_details.iter();
            let detail = details.find(|detail| detail.seat == u32::from(fault.seat));
            self.faults.add(Found {
                agent: name,
                game: format!("{}/{}", self.tournament, record.index),
                ply: fault.ply,
                kind: fault.kind.name(),
                message: detail.map_or("", |detail| &detail.message),
                stderr: detail.map_or("", |detail| &detail.stderr_tail),
            });
        }
    }

    /// An agent's latencies.
    pub(super) fn latencies(&self, agent: usize) -> LatencyHistogram {
        self.agents[agent].latencies.clone()
    }

    /// Marks the end of the pass, after the last game.
    pub(super) fn end(&mut self) {
        if let Some(rated) = &mut self.rated {
            rated.close(step(self.games, self.games_total) + 1);
        }
    }

    /// The sequential test, if the tournament is one.
    pub(super) fn test(&self) -> Option<SequentialTest> {
        self.rated.as_ref()?.test.clone()
    }

    /// The quantity that courses show.
    pub(super) fn measure(&self) -> Measure {
        match self.rated {
            Some(_) => Measure::Rating,
            None => Measure::Score,
        }
    }

    /// An agent's rating after each step, from its first game on. If there are too many
    /// agents to rate, the mean score instead.
    pub(super) fn course(&self, agent: usize) -> Vec<Option<f64>> {
        let played = step(self.games, self.games_total);
        let mut ratings = self.rated.as_ref().map(|rated| rated.course(agent));
        let mut sum = (0.0, 0);
        let value = |(step, &(points, games)): (usize, &(f64, u64))| {
            sum.0 += points;
            sum.1 += games;
            let rating = ratings.as_mut().map(Iterator::next);
            if sum.1 == 0 || step > played {
                return None;
            }
            rating.map_or(Some(sum.0 / sum.1 as f64), Option::flatten)
        };
        let steps = self.agents[agent].steps.iter().enumerate();
        steps.map(value).collect()
    }

    /// An agent's score by seat.
    pub(super) fn by_seat(&self, agent: usize) -> Vec<Option<f64>> {
        let mean = |&(points, games): &(f64, u64)| (games > 0).then(|| points / games as f64);
        self.agents[agent].seats.iter().map(mean).collect()
    }

    /// SHA-256 of all added lines.
    pub(super) fn digest(&self) -> String {
        hex::encode(self.digest.clone().finalize())
    }
}

/// The step of a game in the course.
fn step(index: u64, games_total: u64) -> usize {
    (index * STEPS as u64 / games_total.max(1)).min(STEPS as u64 - 1) as usize
}

fn add(sums: &mut (f64, u64), share: f64) {
    sums.0 += share;
    sums.1 += 1;
}
