//! The window: the number of decisions that an agent is asked at a time, adapted to its speed.
//!
//! If an agent takes 50 ms for each decision and hundreds of games share the agent, no game finishes
//! for minutes. If an agent answers a thousand decisions in the same time as one, single questions
//! waste its time. So the number grows while answers are quick, or while larger batches save time,
//! and shrinks otherwise.

use std::time::Duration;

/// If an answer takes less than this, the number may double.
const QUICK: Duration = Duration::from_millis(20);
/// If an answer takes longer than this, the number shrinks.
const LATE: Duration = Duration::from_secs(1);
/// If answers are slower, the number doubles only if each decision then takes at most this part of
/// its previous time.
const GAIN: f64 = 0.9;
/// Weight of the newest answer in the average of a size.
const SHARE: f64 = 0.5;
/// Number of sizes: 1, 2, 4 and so on.
const SIZES: usize = 13;
/// Number of answers after which larger sizes may be tried again.
const FORGET: u32 = 64;

/// Number of decisions that an agent is asked at a time.
#[derive(Debug)]
pub(crate) struct Window {
    size: usize,
    /// The largest size that an answer has confirmed.
    proven: usize,
    max: usize,
    /// Average seconds per decision, by size.
    each: [Option<f64>; SIZES],
    answers: u32,
    /// True if the last answer took longer than [`QUICK`].
    slow: bool,
}

impl Window {
    /// The window of an unknown agent.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            size: 1,
            proven: 1,
            max: max.max(1),
            each: [None; SIZES],
            answers: 0,
            slow: true,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// True if a game may start, given the number of the agent's games, of its open decisions, and
    /// of its replicas. A slow agent plays few games, so that these games finish. Other agents play
    /// enough games to always have a question.
    pub(crate) fn has_room(&self, active: usize, open: usize, replicas: usize) -> bool {
        let most = replicas * (2 * self.proven + self.proven.div_ceil(2));
        open < most && (!self.slow || active < most)
    }

    /// Records that `decisions` were asked together and answered after `took`.
    pub(crate) fn answered(&mut self, decisions: usize, took: Duration) {
        let Some(level) = decisions.checked_ilog2() else {
            return;
        };
        let level = (level as usize).min(SIZES - 1);
        let each = took.as_secs_f64() / decisions as f64;
        let known = self.each[level].unwrap_or(each);
        self.each[level] = Some(known + SHARE * (each - known));
        self.answers += 1;
        if self.answers.is_multiple_of(FORGET) {
            self.each[level + 1..].fill(None);
        }
        let asked = (1 << level).min(self.max);
        self.slow = took > QUICK;
        if !self.slow {
            self.proven = self.proven.max(asked).min(self.size);
            if 2 * decisions >= self.size {
                self.size = (2 * self.size).min(self.max);
            }
            return;
        }
        let level = if level > 0 && (took > LATE || !self.gains(level)) {
            level - 1
        } else if 2 * took <= LATE && level + 1 < SIZES && self.gains(level + 1) {
            level + 1
        } else {
            level
        };
        self.size = (1 << level).min(self.max);
        self.proven = asked.min(self.size);
    }

    /// True if two decisions at a time are known to take as long as one after the other.
    pub(crate) fn is_serial(&self) -> bool {
        self.each[1].is_some() && !self.gains(1)
    }

    /// True if each decision takes less time at this size than at half of it, or if one of these
    /// times is unknown.
    fn gains(&self, level: usize) -> bool {
        match (self.each[level - 1], self.each[level]) {
            (Some(few), Some(many)) => many <= GAIN * few,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of consecutive full batches.
    fn sizes(max: usize, batches: usize, millis: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut window = Window::new(max);
        let mut ask = || {
            let size = window.size();
            let took = Duration::from_secs_f64(millis(size) / 1e3);
            window.answered(size, took);
            size
        };
        std::iter::repeat_with(&mut ask).take(batches).collect()
    }

    #[test]
    fn quick_agents_get_full_batches_at_once() {
        let sizes = sizes(256, 12, |size| 0.5 + 0.01 * size as f64);
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256, 256]);
    }

    #[test]
    fn serial_agents_get_small_batches() {
        for each in [26.0, 51.0, 150.0, 3000.0] {
            let sizes = sizes(256, 300, |size| 0.2 + each * size as f64);
            assert!(sizes.iter().all(|&size| size <= 4), "{each}: {sizes:?}");
            let sum: usize = sizes.iter().sum();
            assert!(sum < 2 * sizes.len(), "{each}: {sizes:?}");
        }
    }

    #[test]
    fn batching_agents_get_large_batches() {
        let sizes = sizes(256, 300, |size| 150.0 + 0.1 * size as f64);
        assert!(sizes[9..].iter().all(|&size| size >= 128), "{sizes:?}");
        let cheap = self::sizes(256, 300, |size| 30.0 + size as f64);
        assert!(cheap[9..].iter().all(|&size| size >= 64), "{cheap:?}");
    }

    #[test]
    fn trial_size_starts_no_games() {
        let mut window = Window::new(256);
        for _ in 0..100 {
            window.answered(
                window.size(),
                Duration::from_millis(10) * window.size() as u32,
            );
            assert!(!window.has_room(0, 8, 1), "{window:?}");
        }
    }

    #[test]
    fn batches_take_about_a_second_at_most() {
        let sizes = sizes(4096, 300, |size| 400.0 + 10.0 * size as f64);
        assert!(sizes.iter().all(|&size| size <= 128), "{sizes:?}");
    }

    #[test]
    fn slow_first_answer_is_forgiven() {
        let mut window = Window::new(64);
        window.answered(1, Duration::from_secs(5));
        assert!(!window.has_room(3, 0, 1), "few games until it is known");
        for _ in 0..7 {
            window.answered(window.size(), Duration::from_millis(1));
        }
        assert_eq!(window.size(), 64);
        assert!(window.has_room(512, 159, 1) && !window.has_room(512, 160, 1));
    }

    #[test]
    fn batch_size_follows_speed() {
        let mut window = Window::new(256);
        let mut ask = |each: f64| {
            for _ in 0..200 {
                let size = window.size();
                window.answered(size, Duration::from_secs_f64(each * size as f64));
            }
            window.size()
        };
        assert_eq!(ask(1e-5), 256);
        assert!(ask(0.08) <= 2);
        assert_eq!(ask(1e-5), 256);
    }
}
