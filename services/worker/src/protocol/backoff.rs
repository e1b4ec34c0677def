//! Pauses that grow with each failure, with jitter so that workers do not retry together.

use std::time::Duration;

use arena_engine::AgentRng;

use super::Refusal;

/// Maximum pause after an ordinary failure.
const LAST: Duration = Duration::from_secs(1);
/// Maximum pause for an overloaded coordinator.
const LAST_BUSY: Duration = Duration::from_secs(8);
/// Maximum pause that a coordinator may request.
const HINT_MAX: Duration = Duration::from_secs(30);

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
    pub(super) fn next(&mut self, jitter: &mut AgentRng, refusal: Refusal) -> Duration {
        let (last, hint) = match refusal {
            Refusal::Busy { after } => (LAST_BUSY, after.unwrap_or_default().min(HINT_MAX)),
            _ => (LAST, Duration::ZERO),
        };
        let wait = self.wait.min(last);
        self.wait = wait * 2;
        // Between half of the pause and all of it.
        let half = wait / 2;
        hint + half + half.mul_f64(jitter.word() as f64 / u64::MAX as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_and_honours_retry_info() {
        let first = Duration::from_millis(10);
        let mut jitter = AgentRng::new(1);
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
    fn workers_back_off_differently() {
        let waits = |seed| {
            let (mut jitter, mut backoff) = (AgentRng::new(seed), Backoff::new(LAST));
            [(); 4].map(|()| backoff.next(&mut jitter, Refusal::Failed))
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }
}
