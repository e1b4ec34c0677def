//! The measurements of a fleet.

use std::{collections::BTreeMap, io, time::Duration};

use super::Usage;

/// Times from request to answer.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// In ascending order.
    micros: Vec<u32>,
}

impl Latencies {
    pub(super) fn new(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        Self { micros }
    }

    /// The times of several runs as one set.
    #[must_use]
    pub fn together<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::new(all.into_iter().flat_map(|one| one.micros.clone()).collect())
    }

    /// The number of measurements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.micros.len() as u64
    }

    /// The smallest time that a share (0 to 1) of the times does not exceed.
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

    /// The 99th percentile.
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

/// The measurements of a fleet, which start when all its workers have joined.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Workers.
    pub workers: usize,
    /// Time until all workers had joined.
    pub joining: Duration,
    /// Length of the measurement, in seconds.
    pub seconds: f64,
    /// Seconds until the last report was acknowledged, which is before the end of the measurement.
    pub seconds_busy: f64,
    /// CPU time of the fleet's thread during the measurement.
    pub own_cpu: Duration,
    /// Times of requests that were answered with a lease.
    pub lease: Latencies,
    /// Requests for games that were answered without a lease.
    pub leases_empty: u64,
    /// Times of acknowledged reports, from the last attempt to send them. With a pace, times count
    /// from when the report was due, and include reports that were due but not acknowledged at the
    /// end.
    pub report: Latencies,
    /// How many reports of these times were not acknowledged.
    pub overdue: u64,
    /// With a pace: how long after they were due reports were first sent.
    pub late: Latencies,
    /// Games of acknowledged reports.
    pub games: u64,
    /// Games that were leased.
    pub games_leased: u64,
    /// Heartbeats that were answered.
    pub heartbeat: Latencies,
    /// Leases that were revoked while their worker was connected.
    pub leases_ended: u64,
    /// Answers with RESOURCE_EXHAUSTED.
    pub refusals: u64,
    /// Refusals with a time to wait.
    pub refusals_with_hint: u64,
    /// Calls that failed with another status and were repeated.
    pub retries: u64,
    /// Reports that were refused permanently, with the reason.
    pub rejected: BTreeMap<String, u64>,
    /// How often a worker lost its stream and joined again.
    pub rejoins: u64,
    /// The coordinator's process, if the fleet measures it.
    pub process: Option<Process>,
    /// Acknowledged games and their hashes by tournament, if the fleet remembers them.
    pub acknowledged: BTreeMap<String, BTreeMap<u64, [u8; 32]>>,
}

impl Measured {
    /// Acknowledged games per second.
    #[must_use]
    pub fn games_per_s(&self) -> f64 {
        self.games as f64 / self.seconds
    }

    /// Acknowledged reports per second.
    #[must_use]
    pub fn reports_per_s(&self) -> f64 {
        (self.report.count() - self.overdue) as f64 / self.seconds
    }

    /// Granted leases per second.
    #[must_use]
    pub fn leases_per_s(&self) -> f64 {
        self.lease.count() as f64 / self.seconds
    }

    /// The coordinator's CPU time in µs divided by a count.
    #[must_use]
    pub fn cpu_us_per(&self, things: u64) -> Option<f64> {
        let cpu = self.process.as_ref()?.cpu();
        Some(cpu.as_secs_f64() * 1e6 / things.max(1) as f64)
    }
}

/// The coordinator's process during a measurement.
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
        // The coordinator may be down for some time.
        if let Ok(usage) = Usage::of(self.id) {
            self.rss_bytes_max = self.rss_bytes_max.max(usage.rss_bytes);
        }
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.sample();
        self.end = Usage::of(self.id)?;
        Ok(())
    }

    /// CPU time used during the measurement.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.end.cpu.saturating_sub(self.joined.cpu)
    }

    /// Memory in bytes when all workers had joined, before the first request.
    #[must_use]
    pub fn rss_bytes_joined(&self) -> u64 {
        self.joined.rss_bytes
    }

    /// The largest memory of all samples, in bytes.
    #[must_use]
    pub fn rss_bytes_max(&self) -> u64 {
        self.rss_bytes_max
    }
}
