//! Metrics of a worker.

use std::time::Duration;

use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry};

use crate::{
    MetricsError,
    catalogue::{self, register_common},
    labels::Labels,
    latency::LatencyHistogram,
    weighted::{LocalHistogram, WeightedHistogram, WeightedHistograms},
};

/// If timing costs more than deciding, one decision in this many is timed, and counts for those
/// before it.
const SAMPLED: u64 = 64;

/// A worker's metrics. Metrics without labels are set directly.
#[derive(Debug)]
pub struct WorkerMetrics {
    labels: Labels,
    /// Thinking, waiting, round trip, transport and duration.
    move_times: [WeightedHistograms; 5],
    move_overhead: WeightedHistograms,
    decisions: IntCounterVec,
    games: IntCounterVec,
    agent_processes: IntGaugeVec,
    agent_restarts: IntCounterVec,
    /// Games in play.
    pub games_in_flight: IntGauge,
    /// Decisions sent to an agent in one message.
    pub batch_size: Histogram,
    /// Repeated reports.
    pub report_retries: IntCounter,
}

impl WorkerMetrics {
    /// Registers them; `rulesets` are the names that may become labels.
    ///
    /// # Errors
    /// If the registry already has them.
    pub fn new<R: Into<String>>(
        registry: &Registry,
        rulesets: impl IntoIterator<Item = R>,
    ) -> Result<Self, MetricsError> {
        register_common(registry)?;
        let weighted = |names: &[_]| WeightedHistograms::new(registry, names);
        Ok(Self {
            labels: Labels::new(rulesets),
            move_times: [
                weighted(&[catalogue::MOVE_THINKING, catalogue::MOVE_AGENT])?,
                weighted(&[catalogue::MOVE_WAITING])?,
                weighted(&[catalogue::MOVE_ROUND_TRIP])?,
                weighted(&[catalogue::MOVE_TRANSPORT])?,
                weighted(&[catalogue::MOVE_DURATION])?,
            ],
            move_overhead: weighted(&[catalogue::MOVE_OVERHEAD])?,
            decisions: catalogue::DECISIONS.counters(registry)?,
            games: catalogue::WORKER_GAMES.counters(registry)?,
            agent_processes: catalogue::AGENT_PROCESSES.gauges(registry)?,
            agent_restarts: catalogue::AGENT_RESTARTS.counters(registry)?,
            games_in_flight: catalogue::WORKER_GAMES_IN_FLIGHT.gauge(registry)?,
            batch_size: catalogue::AGENT_BATCH_SIZE.histogram(registry)?,
            report_retries: catalogue::REPORT_RETRIES.counter(registry)?,
        })
    }

    /// A meter for the moves of an agent, for the code that plays its games: counting needs no
    /// lookup and no atomics until it flushes. The coordinator must have named the agent. It gets a
    /// label while there is room, else `other`.
    #[must_use]
    pub fn meter(&self, agent: &str, ruleset: &str) -> MoveMeter {
        let agent = self.labels.admit(agent);
        let ruleset = self.labels.ruleset(ruleset);
        let pair = [agent, ruleset];
        MoveMeter {
            decisions: self.decisions.with_label_values(&pair),
            decided: 0,
            untimed: 0,
            last: None,
            times: self.move_times.each_ref().map(|it| it.with(&pair).local()),
            latency: MoveLatency::default(),
        }
    }

    /// A meter for the seconds that a move costs outside of the agent: rules, chance, recording,
    /// the next question.
    #[must_use]
    pub fn overhead(&self, ruleset: &str) -> WeightedHistogram {
        self.move_overhead.with(&[self.labels.ruleset(ruleset)])
    }

    /// Counts games played to their end.
    pub fn games_played(&self, ruleset: &str, games: u64) {
        self.games
            .with_label_values(&[self.labels.ruleset(ruleset)])
            .inc_by(games);
    }

    /// This many more processes of an agent run, or fewer. The first call creates the series.
    pub fn add_agent_processes(&self, agent: &str, more: i64) {
        let agent = self.labels.admit(agent);
        self.agent_processes.with_label_values(&[agent]).add(more);
        self.agent_restarts.with_label_values(&[agent]);
    }

    /// Counts a restart of an agent's process.
    pub fn agent_restarted(&self, agent: &str) {
        let agent = self.labels.admit(agent);
        self.agent_restarts.with_label_values(&[agent]).inc();
    }
}

/// Times of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveTiming {
    /// From the moment it was wanted until the agent worked on it.
    pub waiting: Duration,
    /// Its share of the time in which the agent worked on it, as measured here.
    pub round_trip: Duration,
    /// The agent's thinking time if it states one; else the whole round trip.
    pub thinking: Option<Duration>,
}

impl MoveTiming {
    /// For a bot in process, all of it is thinking.
    #[must_use]
    pub fn in_process(waiting: Duration, took: Duration) -> Self {
        Self {
            waiting,
            round_trip: took,
            thinking: None,
        }
    }
}

/// Thinking and waiting times of moves, in fine buckets, to be merged with those of others.
#[derive(Clone, Debug, Default)]
pub struct MoveLatency {
    /// Thinking times.
    pub thinking: LatencyHistogram,
    /// Waiting times of the same moves.
    pub waiting: LatencyHistogram,
}

impl MoveLatency {
    /// Number of moves.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.thinking.count()
    }

    /// Adds the moves of another one.
    pub fn merge(&mut self, other: &Self) {
        self.thinking.merge(&other.thinking);
        self.waiting.merge(&other.waiting);
    }

    fn clear(&mut self) {
        self.thinking.clear();
        self.waiting.clear();
    }
}

/// Counts the moves of one agent in one ruleset; they appear with a flush.
///
/// Flush about ten times a second, or at the end of each batch of games; dropping flushes, too.
/// Every counted move has a time: its own, or that of the timed move that stands for it.
#[derive(Debug)]
pub struct MoveMeter {
    decisions: IntCounter,
    decided: u64,
    /// Number of decisions that the next timed one stands for.
    untimed: u64,
    /// The last one that was timed for others.
    last: Option<MoveTiming>,
    /// Thinking, waiting, round trip, transport and duration.
    times: [LocalHistogram; 5],
    latency: MoveLatency,
}

impl MoveMeter {
    /// True if the next decision has to be timed, when timing costs more than deciding.
    #[inline]
    #[must_use]
    pub fn due(&self) -> bool {
        self.untimed + 1 >= SAMPLED || self.last.is_none()
    }

    /// Number of decisions that the next timed one stands for.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.untimed + 1
    }

    /// Counts a decision that is not timed.
    #[inline]
    pub fn untimed(&mut self) {
        self.untimed += 1;
    }

    /// Counts a decision that is timed for those before it, too.
    pub fn sampled(&mut self, timing: MoveTiming) {
        let weight = self.weight();
        self.untimed = 0;
        self.last = Some(timing);
        self.timed(timing, weight);
    }

    /// Counts decisions with the same time.
    pub fn timed(&mut self, timing: MoveTiming, decisions: u64) {
        let MoveTiming {
            waiting,
            round_trip,
            thinking: reported,
        } = timing;
        // The agent may state anything; it cannot have thought longer than this.
        let thinking = reported.unwrap_or(round_trip).min(round_trip);
        self.decided += decisions;
        let observe = |histogram: &mut LocalHistogram, time: Duration| {
            histogram.observe(time.as_secs_f64(), decisions);
        };
        let [thought, waited, trip, transport, duration] = &mut self.times;
        observe(thought, thinking);
        observe(waited, waiting);
        observe(trip, round_trip);
        observe(duration, waiting + round_trip);
        if reported.is_some() {
            observe(transport, round_trip - thinking);
        }
        self.latency.thinking.record_many(thinking, decisions);
        self.latency.waiting.record_many(waiting, decisions);
    }

    /// Publishes all counts.
    pub fn flush(&mut self) {
        let rest = std::mem::take(&mut self.untimed);
        if let Some(last) = self.last.filter(|_| rest > 0) {
            self.timed(last, rest);
        } else {
            self.decided += rest;
        }
        if self.decided > 0 {
            self.decisions.inc_by(std::mem::take(&mut self.decided));
        }
        self.times.iter_mut().for_each(LocalHistogram::flush);
    }

    /// Adds the counts between the last call and the last flush to those of others.
    pub fn drain(&mut self, into: &mut MoveLatency) {
        if self.latency.count() > 0 {
            into.merge(&self.latency);
            self.latency.clear();
        }
    }

    /// True if any decision was timed since the last [`Self::drain`].
    #[must_use]
    pub fn has_latency(&self) -> bool {
        self.latency.count() > 0
    }
}

impl Drop for MoveMeter {
    fn drop(&mut self) {
        self.flush();
    }
}
