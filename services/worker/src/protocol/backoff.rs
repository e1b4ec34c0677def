//! Pauses that grow with each failure, with jitter so that workers do not retry together.

use std::time::Duration;

use super::Refusal;

/// Maximum pause after an ordinary failure.
const LAST: Duration = Duration::from_secs(1);
/// Maximum pause for an overloaded coordinator.
const LAST_BUSY: Duration = Duration::from_secs(8);
/// Maximum pause that a coordinator may request.
const HINT_MAX: Duration = Duration::from_secs(30);

/// Source of the jitter: the same seed gives the same pauses.
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

/// The next pause before a retry.
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

    /// The next pause: twice the previous one, and at least what the coordinator requested.
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
