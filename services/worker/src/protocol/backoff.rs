//! Waiting longer after each failure, and never together with everybody else.

use std::time::Duration;

use super::Refusal;

/// The longest wait after something that merely failed.
const LAST: Duration = Duration::from_secs(1);
/// The longest wait for a coordinator that has too much to do.
const LAST_BUSY: Duration = Duration::from_secs(8);
/// The longest that a coordinator may ask to be left alone.
const HINT_MAX: Duration = Duration::from_secs(30);

/// Draws for the jitter: the same seed gives the same waits.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A time between half of `whole` and all of it.
    fn of(&mut self, whole: Duration) -> Duration {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let half = whole / 2;
        half + half.mul_f64((z ^ (z >> 31)) as f64 / u64::MAX as f64)
    }
}

/// The next wait of something that is tried again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    first: Duration,
    wait: Duration,
}

impl Backoff {
    pub(super) fn new(first: Duration) -> Self {
        Self { first, wait: first }
    }

    pub(super) fn reset(&mut self) {
        self.wait = self.first;
    }

    /// How long to wait now: twice as long as before, and not less than the
    /// coordinator asked for.
    pub(super) fn next(&mut self, jitter: &mut Jitter, refusal: Refusal) -> Duration {
        let (last, hint) = match refusal {
            Refusal::Busy { after } => (LAST_BUSY, after.unwrap_or_default().min(HINT_MAX)),
            _ => (LAST, Duration::ZERO),
        };
        let wait = self.wait.min(last);
        self.wait = wait * 2;
        hint + jitter.of(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_honour_what_the_coordinator_asks_for() {
        let first = Duration::from_millis(10);
        let mut jitter = Jitter::new(1);
        let mut backoff = Backoff::new(first);
        let mut expected = first;
        for _ in 0..20 {
            let wait = backoff.next(&mut jitter, Refusal::Failed);
            assert!(wait >= expected / 2 && wait <= expected, "{wait:?}");
            expected = (expected * 2).min(LAST);
        }
        let after = Some(Duration::from_secs(3));
        let wait = backoff.next(&mut jitter, Refusal::Busy { after });
        assert!(wait >= Duration::from_secs(3) + LAST / 2, "{wait:?}");
        backoff.reset();
        assert!(backoff.next(&mut jitter, Refusal::Failed) <= first);
    }

    #[test]
    fn two_workers_do_not_wait_alike() {
        let waits = |seed| {
            let (mut jitter, mut backoff) = (Jitter::new(seed), Backoff::new(LAST));
            [(); 4].map(|()| backoff.next(&mut jitter, Refusal::Failed))
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }
}
