//! What a worker counts.

use std::time::Duration;

use prometheus::{
    Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry,
    local::LocalHistogram,
};

use crate::{
    MetricsError,
    catalogue::{self, register_common},
    labels::Labels,
};

/// A worker's metrics. What has no labels is set directly.
#[derive(Debug)]
pub struct WorkerMetrics {
    labels: Labels,
    move_duration: HistogramVec,
    move_agent: HistogramVec,
    move_transport: HistogramVec,
    move_manager: HistogramVec,
    decisions: IntCounterVec,
    games: IntCounterVec,
    agent_processes: IntGaugeVec,
    agent_restarts: IntCounterVec,
    /// Games played at the moment.
    pub games_in_flight: IntGauge,
    /// Decisions sent to an agent in one message.
    pub batch_size: Histogram,
    /// Reports sent again.
    pub report_retries: IntCounter,
}

impl WorkerMetrics {
    /// Registers them; `rulesets` are the names that may become labels.
    ///
    /// # Errors
    /// Where the registry has them already.
    pub fn new<R: Into<String>>(
        registry: &Registry,
        rulesets: impl IntoIterator<Item = R>,
    ) -> Result<Self, MetricsError> {
        register_common(registry)?;
        Ok(Self {
            labels: Labels::new(rulesets),
            move_duration: catalogue::MOVE_DURATION.histograms(registry)?,
            move_agent: catalogue::MOVE_AGENT.histograms(registry)?,
            move_transport: catalogue::MOVE_TRANSPORT.histograms(registry)?,
            move_manager: catalogue::MOVE_MANAGER.histograms(registry)?,
            decisions: catalogue::DECISIONS.counters(registry)?,
            games: catalogue::WORKER_GAMES.counters(registry)?,
            agent_processes: catalogue::AGENT_PROCESSES.gauges(registry)?,
            agent_restarts: catalogue::AGENT_RESTARTS.counters(registry)?,
            games_in_flight: catalogue::WORKER_GAMES_IN_FLIGHT.gauge(registry)?,
            batch_size: catalogue::AGENT_BATCH_SIZE.histogram(registry)?,
            report_retries: catalogue::REPORT_RETRIES.counter(registry)?,
        })
    }

    /// A meter for the moves of an agent, to be kept by whoever plays its
    /// games: counting costs no look-up and no atomics until it flushes. The
    /// agent must be one that the coordinator named; it gets a label as long
    /// as there is room, else `other`.
    #[must_use]
    pub fn meter(&self, agent: &str, ruleset: &str) -> MoveMeter {
        let agent = self.labels.admit(agent);
        let ruleset = self.labels.ruleset(ruleset);
        let pair = [agent, ruleset];
        MoveMeter {
            decisions: self.decisions.with_label_values(&pair),
            decided: 0,
            duration: self.move_duration.with_label_values(&pair).local(),
            agent: self.move_agent.with_label_values(&pair).local(),
            transport: self.move_transport.with_label_values(&pair).local(),
        }
    }

    /// For the time, in seconds, that a move costs outside of the agent: rules,
    /// chance, recording, the next question. Observe one of many.
    #[must_use]
    pub fn manager(&self, ruleset: &str) -> Histogram {
        let ruleset = self.labels.ruleset(ruleset);
        self.move_manager.with_label_values(&[ruleset])
    }

    /// Counts games played to their end.
    pub fn games_played(&self, ruleset: &str, games: u64) {
        self.games
            .with_label_values(&[self.labels.ruleset(ruleset)])
            .inc_by(games);
    }

    /// So many more processes of an agent are running, or fewer. The series
    /// exist from the first call on.
    pub fn add_agent_processes(&self, agent: &str, more: i64) {
        let agent = self.labels.admit(agent);
        self.agent_processes.with_label_values(&[agent]).add(more);
        self.agent_restarts.with_label_values(&[agent]);
    }

    /// Counts a start of an agent's process that was not its first.
    pub fn agent_restarted(&self, agent: &str) {
        let agent = self.labels.admit(agent);
        self.agent_restarts.with_label_values(&[agent]).inc();
    }
}

/// How long a move took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveTiming {
    /// From the moment it was wanted to the moment it was known.
    pub total: Duration,
    /// The agent's own thinking, where it is known.
    pub agent: Option<Duration>,
}

/// Counts the moves of one agent in one ruleset; shows them when it flushes.
///
/// Flush about ten times a second, or at the end of each batch of games: until
/// then nobody sees them. Dropping flushes.
#[derive(Debug)]
pub struct MoveMeter {
    decisions: IntCounter,
    decided: u64,
    duration: LocalHistogram,
    agent: LocalHistogram,
    transport: LocalHistogram,
}

impl MoveMeter {
    /// Counts decisions that are not timed: where timing costs more than
    /// deciding, time one of many.
    #[inline]
    pub fn decided(&mut self, decisions: u64) {
        self.decided += decisions;
    }

    /// Counts a decision of a process and splits its time: what the agent did
    /// not think, the transport took.
    pub fn timed(&mut self, timing: MoveTiming) {
        self.decided += 1;
        self.duration.observe(timing.total.as_secs_f64());
        if let Some(agent) = timing.agent {
            // An agent may say anything; it cannot have thought for longer.
            let agent = agent.min(timing.total);
            self.agent.observe(agent.as_secs_f64());
            self.transport.observe((timing.total - agent).as_secs_f64());
        }
    }

    /// Counts a decision of a bot in process: all of it is thinking.
    pub fn timed_in_process(&mut self, took: Duration) {
        self.decided += 1;
        self.duration.observe(took.as_secs_f64());
        self.agent.observe(took.as_secs_f64());
    }

    /// Shows everything counted so far.
    pub fn flush(&mut self) {
        if self.decided > 0 {
            self.decisions.inc_by(std::mem::take(&mut self.decided));
        }
        for histogram in [&self.duration, &self.agent, &self.transport] {
            histogram.flush();
        }
    }
}

impl Drop for MoveMeter {
    fn drop(&mut self) {
        self.flush();
    }
}
