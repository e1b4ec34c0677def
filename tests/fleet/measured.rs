//! What a fleet measured.

use std::{collections::BTreeMap, io, time::Duration};

use super::Usage;

/// Times from question to answer.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Ascending.
    micros: Vec<u32>,
}

impl Latencies {
    pub(super) fn new(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        Self { micros }
    }

    /// Those of several runs as if of one.
    #[must_use]
    pub fn together<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::new(all.into_iter().flat_map(|one| one.micros.clone()).collect())
    }

    /// How many were measured.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.micros.len() as u64
    }

    /// The least time that this share (0 to 1) did not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (share * self.micros.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.micros.len().max(1)) - 1;
        Duration::from_micros(self.micros.get(at).copied().unwrap_or_default().into())
    }

    /// The median.
    #[must_use]
    pub fn p50(&self) -> Duration {
        self.quantile(0.5)
    }

    /// What one in a hundred exceeded.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// The longest.
    #[must_use]
    pub fn max(&self) -> Duration {
        self.quantile(1.0)
    }
}

/// What a fleet measured, from when all its workers had joined.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Workers.
    pub workers: usize,
    /// Until all had joined.
    pub joining: Duration,
    /// How long was measured, seconds.
    pub seconds: f64,
    /// Until the last report was acknowledged, seconds: an end is noticed later.
    pub seconds_busy: f64,
    /// CPU time of the fleet's own thread meanwhile.
    pub own_cpu: Duration,
    /// Requests that were answered with a lease; each waited for its answer.
    pub lease: Latencies,
    /// Requests for games that were answered without one.
    pub leases_empty: u64,
    /// Reports that were acknowledged, each timed from its last sending. Where a
    /// pace is kept, from when it was due, and those that were due and not
    /// acknowledged at the end are in it with the time until then.
    pub report: Latencies,
    /// How many of these were not acknowledged.
    pub overdue: u64,
    /// How long after they were due reports were sent first, where a pace is
    /// kept.
    pub late: Latencies,
    /// Games of acknowledged reports.
    pub games: u64,
    /// Games that were leased.
    pub games_leased: u64,
    /// Heartbeats that were answered.
    pub heartbeat: Latencies,
    /// Leases that were taken back while their worker was there.
    pub leases_ended: u64,
    /// Answers RESOURCE_EXHAUSTED.
    pub refusals: u64,
    /// Refusals that reported how long to wait.
    pub refusals_with_hint: u64,
    /// Calls that failed otherwise and were repeated.
    pub retries: u64,
    /// Reports that were refused for good, and how.
    pub rejected: BTreeMap<String, u64>,
    /// Times that a worker lost its stream and joined again.
    pub rejoins: u64,
    /// The coordinator's process, where it was asked for.
    pub process: Option<Process>,
    /// Acknowledged games and their hashes by tournament, where they were to
    /// be remembered.
    pub acknowledged: BTreeMap<String, BTreeMap<u64, [u8; 32]>>,
}

impl Measured {
    /// Games acknowledged a second.
    #[must_use]
    pub fn games_per_s(&self) -> f64 {
        self.games as f64 / self.seconds
    }

    /// Reports acknowledged a second.
    #[must_use]
    pub fn reports_per_s(&self) -> f64 {
        (self.report.count() - self.overdue) as f64 / self.seconds
    }

    /// Leases given a second.
    #[must_use]
    pub fn leases_per_s(&self) -> f64 {
        self.lease.count() as f64 / self.seconds
    }

    /// The coordinator's CPU time in µs for each of so many things.
    #[must_use]
    pub fn cpu_us_per(&self, things: u64) -> Option<f64> {
        let cpu = self.process.as_ref()?.cpu();
        Some(cpu.as_secs_f64() * 1e6 / things.max(1) as f64)
    }
}

/// The coordinator's process while a fleet worked.
#[derive(Clone, Debug)]
pub struct Process {
    id: u32,
    joined: Usage,
    end: Usage,
    rss_bytes_max: u64,
}

impl Process {
    pub(super) fn joined(id: u32) -> io::Result<Self> {
        let joined = Usage::of(id)?;
        Ok(Self {
            id,
            joined,
            end: joined,
            rss_bytes_max: joined.rss_bytes,
        })
    }

    pub(super) fn sample(&mut self) {
        // It may be down for a while.
        if let Ok(usage) = Usage::of(self.id) {
            self.rss_bytes_max = self.rss_bytes_max.max(usage.rss_bytes);
        }
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.sample();
        self.end = Usage::of(self.id)?;
        Ok(())
    }

    /// CPU time it used meanwhile.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.end.cpu.saturating_sub(self.joined.cpu)
    }

    /// Memory when all had joined and nothing was asked yet, bytes.
    #[must_use]
    pub fn rss_bytes_joined(&self) -> u64 {
        self.joined.rss_bytes
    }

    /// The most memory of all samples, bytes.
    #[must_use]
    pub fn rss_bytes_max(&self) -> u64 {
        self.rss_bytes_max
    }
}
