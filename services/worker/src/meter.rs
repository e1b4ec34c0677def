//! Measurements of an agent's moves, for metrics and for the standings of its tournament.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arena_telemetry::{MoveLatency, MoveMeter, MoveTiming, WorkerMetrics};
use arena_wire::v1;

/// Latencies of a tournament's agents that were not reported yet.
#[derive(Debug)]
pub(crate) struct Latencies(Vec<Mutex<MoveLatency>>);

impl Latencies {
    pub(crate) fn new(agents: usize) -> Self {
        Self((0..agents).map(|_| Mutex::default()).collect())
    }

    fn of(&self, agent: u16) -> MutexGuard<'_, MoveLatency> {
        self.0[usize::from(agent)]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes them, as messages.
    pub(crate) fn take(&self) -> Vec<v1::AgentLatency> {
        (0..self.0.len() as u16)
            .filter_map(|agent| {
                let mut kept = self.of(agent);
                if kept.count() == 0 {
                    return None;
                }
                let taken = std::mem::take(&mut *kept);
                drop(kept);
                let (buckets, counts) = taken.thinking.buckets().unzip();
                let (waiting_buckets, waiting_counts) = taken.waiting.buckets().unzip();
                Some(v1::AgentLatency {
                    agent: agent.into(),
                    buckets,
                    counts,
                    waiting_buckets,
                    waiting_counts,
                })
            })
            .collect()
    }
}

/// Measures the moves of one agent of a tournament. Metrics and standings get the values on a
/// flush.
pub(crate) struct Meter {
    moves: MoveMeter,
    latencies: Arc<Latencies>,
    agent: u16,
}

impl Meter {
    pub(crate) fn new(
        metrics: &WorkerMetrics,
        latencies: Arc<Latencies>,
        agent: u16,
        name: &str,
        ruleset: &str,
    ) -> Self {
        Self {
            moves: metrics.meter(name, ruleset),
            latencies,
            agent,
        }
    }

    /// True if the next decision is timed for itself and others.
    #[inline]
    pub(crate) fn due(&self) -> bool {
        self.moves.due()
    }

    /// Number of decisions that a timed decision stands for.
    pub(crate) fn weight(&self) -> u64 {
        self.moves.weight()
    }

    /// A decision that is not timed.
    #[inline]
    pub(crate) fn untimed(&mut self) {
        self.moves.untimed();
    }

    /// A decision that is timed for itself and those before it.
    pub(crate) fn sampled(&mut self, timing: MoveTiming) {
        self.moves.sampled(timing);
    }

    /// Decisions that took the same time.
    pub(crate) fn timed(&mut self, timing: MoveTiming, decisions: u64) {
        self.moves.timed(timing, decisions);
    }

    pub(crate) fn flush(&mut self) {
        self.moves.flush();
        if self.moves.has_latency() {
            self.moves.drain(&mut self.latencies.of(self.agent));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn latencies_are_taken_once_and_by_agent() {
        let registry = arena_telemetry::Registry::new();
        let metrics = WorkerMetrics::new(&registry, ["kalah"]).expect("metrics");
        let latencies = Arc::new(Latencies::new(2));
        let mut meter = Meter::new(&metrics, latencies.clone(), 1, "slow", "kalah");
        let timing = MoveTiming::in_process(Duration::from_nanos(5), Duration::from_nanos(7));
        meter.timed(timing, 3);
        assert_eq!(latencies.take(), []);
        meter.flush();
        let taken = latencies.take();
        assert_eq!(taken.len(), 1);
        assert_eq!(
            (taken[0].agent, &taken[0].buckets[..], &taken[0].counts[..]),
            (1, &[7][..], &[3][..])
        );
        assert_eq!(
            (&taken[0].waiting_buckets[..], &taken[0].waiting_counts[..]),
            (&[5][..], &[3][..])
        );
        assert_eq!(latencies.take(), []);
    }
}
