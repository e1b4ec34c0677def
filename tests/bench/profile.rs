//! Time spent to make results durable, from the coordinator's metrics.

use serde::Serialize;

/// The metric of the whole time to answer a report.
const REPORT: (&str, &str) = ("report", "arena_report_duration_seconds");
/// The parts of a commit.
const COMMIT: &str = "arena_store_commit_phase_seconds";
const PHASES: [&str; 7] = [
    "wait", "gather", "pack", "apply", "write", "sync", "receipt",
];

/// The parts, in the order in which they happen.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Profile(Vec<Part>);

/// A histogram.
#[derive(Clone, Debug, Serialize)]
struct Part {
    name: &'static str,
    count: u64,
    sum_s: f64,
    /// Upper bounds in seconds with cumulative counts.
    buckets: Vec<(f64, u64)>,
}

impl Profile {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a histogram from a page of metrics.
    pub(crate) fn read(page: &str) -> Self {
        let (name, metric) = REPORT;
        let mut parts = vec![Part::read(page, name, metric, "")];
        for phase in PHASES {
            let label = format!("phase=\"{phase}\"");
            parts.push(Part::read(page, phase, COMMIT, &label));
        }
        Self(parts)
    }

    /// The difference to an earlier page.
    pub(crate) fn since(mut self, before: &Self) -> Self {
        self.each(before, |own, other| own.saturating_sub(other), -1.0);
        self
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.each(other, |own, other| own + other, 1.0);
    }

    fn each(&mut self, other: &Self, count: impl Fn(u64, u64) -> u64, sign: f64) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.count = count(own.count, other.count);
            own.sum_s += sign * other.sum_s;
            // A part has no buckets before its first measurement.
            if own.buckets.is_empty() {
                own.buckets = other.buckets.iter().map(|&(bound, _)| (bound, 0)).collect();
            }
            for (own, other) in own.buckets.iter_mut().zip(&other.buckets) {
                own.1 = count(own.1, other.1);
            }
        }
    }

    /// Each part as text.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().map(Part::line).collect()
    }
}

impl Part {
    fn read(page: &str, name: &'static str, metric: &str, label: &str) -> Self {
        let mut part = Self {
            name,
            count: 0,
            sum_s: 0.0,
            buckets: Vec::new(),
        };
        for line in page.lines().filter(|line| line.contains(label)) {
            let Some((series, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let Some(kind) = series.strip_prefix(metric) else {
                continue;
            };
            let value: f64 = value.parse().unwrap_or(0.0);
            match kind.split('{').next() {
                Some("_count") => part.count += value as u64,
                Some("_sum") => part.sum_s += value,
                Some("_bucket") => part.bucket(kind, value as u64),
                _ => {}
            }
        }
        part
    }

    fn bucket(&mut self, labels: &str, count: u64) {
        let bound = labels.split("le=\"").nth(1);
        let bound = bound.and_then(|rest| rest.split('"').next()?.parse().ok());
        // The last bucket has no bound and counts all measurements.
        let Some(bound) = bound.filter(|bound: &f64| bound.is_finite()) else {
            return;
        };
        match self.buckets.iter_mut().find(|(one, _)| *one == bound) {
            Some((_, sum)) => *sum += count,
            None => self.buckets.push((bound, count)),
        }
    }

    /// The bound of the bucket that has a share of all measurements, as text.
    fn within(&self, share: f64) -> String {
        let least = share * self.count as f64;
        let bucket = self.buckets.iter().find(|(_, sum)| *sum as f64 >= least);
        bucket.map_or_else(
            || "longer than any bound".to_owned(),
            |(bound, _)| format!("within {} ms", bound * 1e3),
        )
    }

    fn line(&self) -> String {
        format!(
            "{} {} times, {:.2} s together, {:.2} ms in the mean, half {}, 99 % {}, all {}",
            self.name,
            self.count,
            self.sum_s,
            self.sum_s * 1e3 / self.count.max(1) as f64,
            self.within(0.5),
            self.within(0.99),
            self.within(1.0),
        )
    }
}
