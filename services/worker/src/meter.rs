//! Measures of an agent's moves: for the worker's metrics, and for the
//! standings of its tournament.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arena_telemetry::{LatencyHistogram, MoveMeter, MoveTiming, WorkerMetrics};
use arena_wire::v1;

/// Latencies of a tournament's agents that were not reported yet.
#[derive(Debug)]
pub(crate) struct Latencies(Vec<Mutex<LatencyHistogram>>);

impl Latencies {
    pub(crate) fn new(agents: usize) -> Self {
        Self((0..agents).map(|_| Mutex::default()).collect())
    }

    fn of(&self, agent: u16) -> MutexGuard<'_, LatencyHistogram> {
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
                let (buckets, counts) = taken.buckets().unzip();
                Some(v1::AgentLatency {
                    agent: agent.into(),
                    buckets,
                    counts,
                })
            })
            .collect()
    }
}

/// Measures the moves of one agent of a tournament; others see what was
/// measured when it flushes.
pub(crate) struct Meter {
    moves: MoveMeter,
    latency: LatencyHistogram,
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
            latency: LatencyHistogram::new(),
            latencies,
            agent,
        }
    }

    /// Decisions that are not timed.
    #[inline]
    pub(crate) fn decided(&mut self, decisions: u64) {
        self.moves.decided(decisions);
    }

    /// A decision of a process.
    pub(crate) fn timed(&mut self, timing: MoveTiming) {
        self.latency.record(timing.total);
        self.moves.timed(timing);
    }

    /// A decision of a bot in process.
    pub(crate) fn timed_in_process(&mut self, took: Duration) {
        self.latency.record(took);
        self.moves.timed_in_process(took);
    }

    pub(crate) fn flush(&mut self) {
        self.moves.flush();
        if self.latency.count() > 0 {
            let taken = std::mem::take(&mut self.latency);
            self.latencies.of(self.agent).merge(&taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_taken_once_and_by_agent() {
        let registry = arena_telemetry::Registry::new();
        let metrics = WorkerMetrics::new(&registry, ["kalah"]).expect("metrics");
        let latencies = Arc::new(Latencies::new(2));
        let mut meter = Meter::new(&metrics, latencies.clone(), 1, "slow", "kalah");
        for _ in 0..3 {
            meter.timed_in_process(Duration::from_nanos(7));
        }
        assert_eq!(latencies.take(), []);
        meter.flush();
        let taken = latencies.take();
        assert_eq!(taken.len(), 1);
        assert_eq!(
            (taken[0].agent, &taken[0].buckets[..], &taken[0].counts[..]),
            (1, &[7][..], &[3][..])
        );
        assert_eq!(latencies.take(), []);
    }
}
