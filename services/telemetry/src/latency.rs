//! A small histogram of latencies, which can be merged and sent.

use std::time::Duration;

/// Buckets per doubling; the middle of a bucket is at most 1/32 off.
const PER_OCTAVE: u64 = 16;
const OCTAVE_BITS: u32 = 4;
/// Values are limited to below 2^38 ns (275 s).
const MAX_BITS: u32 = 38;
const BUCKETS: usize = ((MAX_BITS - OCTAVE_BITS + 1) as usize) << OCTAVE_BITS;

/// Durations, counted in fixed logarithmic buckets from 1 ns to 275 s; quantiles are within
/// 3.2 %.
///
/// Histograms merge by addition, in any order; [`Self::buckets`] and [`Self::from_buckets`] are
/// their form in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyHistogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
}

/// A bucket that does not exist: the histogram is of another version or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("latency bucket {0} does not exist: they are numbered 0 to {max}", max = BUCKETS - 1)]
pub struct LatencyBucketError(pub u32);

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self {
            counts: Box::new([0; BUCKETS]),
            count: 0,
        }
    }
}

impl LatencyHistogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    pub fn record(&mut self, latency: Duration) {
        self.record_many(latency, 1);
    }

    /// Counts several equal values.
    pub fn record_many(&mut self, latency: Duration, count: u64) {
        let slot = &mut self.counts[bucket(latency)];
        *slot = slot.saturating_add(count);
        self.count = self.count.saturating_add(count);
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.count = 0;
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latency that a share `q` (0 to 1) of all values does not exceed; none without values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        // Nearest rank; a share of a count needs no exactness above 2^53.
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen = u64::saturating_add(seen, count);
            if count > 0 && seen >= rank {
                return Some(middle(index));
            }
        }
        None
    }

    /// The buckets that are not empty, ascending: number and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0u32..)
            .zip(self.counts.iter().copied())
            .filter(|&(_, count)| count > 0)
    }

    /// The inverse of [`Self::buckets`], in any order.
    ///
    /// # Errors
    /// [`LatencyBucketError`] if a number is out of range.
    pub fn from_buckets(
        buckets: impl IntoIterator<Item = (u32, u64)>,
    ) -> Result<Self, LatencyBucketError> {
        let mut made = Self::new();
        for (index, count) in buckets {
            let slot = usize::try_from(index)
                .ok()
                .and_then(|index| made.counts.get_mut(index))
                .ok_or(LatencyBucketError(index))?;
            *slot = slot.saturating_add(count);
            made.count = made.count.saturating_add(count);
        }
        Ok(made)
    }
}

fn bucket(latency: Duration) -> usize {
    let nanos = u64::try_from(latency.as_nanos())
        .unwrap_or(u64::MAX)
        .min((1 << MAX_BITS) - 1);
    if nanos < PER_OCTAVE {
        return nanos as usize;
    }
    let octave = nanos.ilog2() - OCTAVE_BITS;
    ((u64::from(octave) << OCTAVE_BITS) + (nanos >> octave)) as usize
}

fn middle(bucket: usize) -> Duration {
    let bucket = bucket as u64;
    if bucket < PER_OCTAVE {
        return Duration::from_nanos(bucket);
    }
    let octave = (bucket >> OCTAVE_BITS) - 1;
    let low = (bucket - (octave << OCTAVE_BITS)) << octave;
    Duration::from_nanos(low + (1 << octave) / 2)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn latency_error_is_below_a_thirtieth() {
        let mut nanos = 1u64;
        while nanos < 1 << MAX_BITS {
            for value in [nanos, nanos + nanos / 3, nanos * 2 - 1] {
                let mut one = LatencyHistogram::new();
                one.record(Duration::from_nanos(value));
                let reported = one.quantile(0.5).unwrap().as_nanos() as f64;
                let off = (reported - value as f64).abs() / value as f64;
                assert!(off <= 1.0 / 30.0, "{value} ns reported as {reported} ns");
            }
            nanos *= 2;
        }
    }

    #[test]
    fn buckets_are_contiguous() {
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
        for index in 1..BUCKETS {
            assert_eq!(bucket(middle(index)), index);
            assert!(middle(index) > middle(index - 1));
        }
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut hundred = LatencyHistogram::new();
        assert_eq!(hundred.quantile(0.5), None);
        for micros in 1..=100 {
            hundred.record(Duration::from_micros(micros));
        }
        let reported = |q| hundred.quantile(q).unwrap().as_nanos() as f64 / 1e3;
        for (q, micros) in [(0.0, 1.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            assert!(
                (reported(q) - micros).abs() / micros <= 1.0 / 30.0,
                "{q}: {}",
                reported(q)
            );
        }
    }

    #[test]
    fn merged_histograms_equal_one_histogram() {
        let (mut first, mut second, mut all) = <(LatencyHistogram, _, LatencyHistogram)>::default();
        for (n, to) in [(3u64, &mut first), (5, &mut second)] {
            let to: &mut LatencyHistogram = to;
            for k in 1..50 {
                to.record(Duration::from_nanos(k * k * n));
                all.record(Duration::from_nanos(k * k * n));
            }
        }
        first.merge(&second);
        assert_eq!(first, all);
    }

    #[test]
    fn histogram_round_trips() {
        let mut sent = LatencyHistogram::new();
        for k in 0..40 {
            sent.record(Duration::from_nanos(1 << k));
        }
        let got = LatencyHistogram::from_buckets(sent.buckets()).unwrap();
        assert_eq!(got, sent);
        assert_eq!(
            LatencyHistogram::from_buckets([(BUCKETS as u32, 1)]),
            Err(LatencyBucketError(BUCKETS as u32))
        );
    }
}
