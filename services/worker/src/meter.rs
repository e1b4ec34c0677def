//! Measurements of an agent's moves, for metrics and for the standings of its tournament.

use std::sync::{Arc, Mutex};

use arena_telemetry::{MoveLatency, MoveMeter, WorkerMetrics};
use arena_wire::v1;

use crate::lock;

/// Latencies of a tournament's agents that were not reported yet.
#[derive(Debug)]
pub(crate) struct Latencies(Vec<Mutex<MoveLatency>>);

impl Latencies {
    pub(crate) fn new(agents: usize) -> Self {
        Self((0..agents).map(|_| Mutex::default()).collect())
    }

    /// Takes them, as messages.
    pub(crate) fn take(&self) -> Vec<v1::AgentLatency> {
        let message = |(agent, kept): (u32, &Mutex<MoveLatency>)| {
            let taken = std::mem::take(&mut *lock(kept));
            if taken.count() == 0 {
                return None;
            }
            let (buckets, counts) = taken.thinking.buckets().unzip();
            let (waiting_buckets, waiting_counts) = taken.waiting.buckets().unzip();
            Some(v1::AgentLatency {
                agent,
                buckets,
                counts,
                waiting_buckets,
                waiting_counts,
            })
        };
        (0..).zip(&self.0).filter_map(message).collect()
    }
}

/// Measures the moves of one agent of a tournament. Metrics and standings get the values on a
/// flush.
pub(crate) struct Meter {
    pub(crate) moves: MoveMeter,
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

    /// Passes the measurements on.
    pub(crate) fn flush(&mut self) {
        self.moves.flush();
        if self.moves.has_latency() {
            let latency = &self.latencies.0[usize::from(self.agent)];
            self.moves.drain(&mut lock(latency));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arena_telemetry::MoveTiming;

    use super::*;

    #[test]
    fn latencies_are_taken_once_per_agent() {
        let registry = arena_telemetry::Registry::new();
        let metrics = WorkerMetrics::new(&registry, ["kalah"]).expect("metrics");
        let latencies = Arc::new(Latencies::new(2));
        let mut meter = Meter::new(&metrics, latencies.clone(), 1, "slow", "kalah");
        let timing = MoveTiming::in_process(Duration::from_nanos(5), Duration::from_nanos(7));
        meter.moves.timed(timing, 3);
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
