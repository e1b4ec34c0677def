//! Questions of several games in one message.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use super::RulesHost;
use crate::rules::{
    GameLine, RulesFailure, RulesService,
    messages::{Answer, Ask},
};

/// First and last number of questions in a message.
const FIRST: usize = 4;
const MOST: usize = 256;
/// A message that is answered faster than the first may be twice as long; slower than the second,
/// half as long. A process has 4 s for a message.
const FAST: Duration = Duration::from_millis(20);
const SLOW: Duration = Duration::from_millis(100);

/// How many questions a message has. Slow rules get short messages, which they answer in time.
pub(super) struct Together(AtomicUsize);

impl Default for Together {
    fn default() -> Self {
        Self(AtomicUsize::new(FIRST))
    }
}

impl Together {
    pub(super) fn most(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn learn(&self, asked: usize, took: Duration) {
        let most = self.most();
        let next = match took {
            took if took > SLOW => asked / 2,
            took if took < FAST && asked == most => most * 2,
            _ => return,
        };
        self.0.store(next.clamp(1, MOST), Ordering::Relaxed);
    }
}

impl RulesHost {
    /// The nodes after these events. If the process fails, each question is asked alone, so that the
    /// failure names one.
    pub(super) fn ask_together(
        &self,
        game: &GameLine,
        events: &[(&str, u16)],
    ) -> Vec<Result<Answer, RulesFailure>> {
        let ask = |&(state, event)| Ask::Apply { state, event };
        let alone = || {
            let answer = |event| self.ask(game, &ask(event));
            events.iter().map(answer).collect()
        };
        if events.len() < 2 || self.failure().is_some() {
            return alone();
        }
        let Ok(mut process) = self.take(false) else {
            return alone();
        };
        let start = Instant::now();
        let answers = match process.apply_all(game, events) {
            Ok(answers) => answers,
            Err(error) => {
                let (ruleset, questions) = (&self.name, events.len());
                tracing::debug!(ruleset, questions, %error, "asking each alone");
                self.end(process);
                self.together.learn(events.len(), SLOW * 2);
                return alone();
            }
        };
        self.together.learn(events.len(), start.elapsed());
        let compared = self
            .count_calls(events.len())
            .try_for_each(|place| self.compare(game, &ask(&events[place]), &answers[place]));
        self.put_back(process);
        match compared {
            Ok(()) => answers.into_iter().map(Ok).collect(),
            Err(failure) => {
                let failure = self.fail(failure);
                events.iter().map(|_| Err(failure.clone())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rules_get_short_messages() {
        let together = Together::default();
        for _ in 0..20 {
            together.learn(together.most(), Duration::from_millis(1));
        }
        assert_eq!(together.most(), MOST);
        // Shorter messages than allowed say nothing about longer ones.
        together.learn(2, Duration::from_millis(1));
        together.learn(MOST, Duration::from_millis(50));
        assert_eq!(together.most(), MOST);
        for _ in 0..20 {
            together.learn(together.most(), Duration::from_secs(1));
        }
        assert_eq!(together.most(), 1);
    }
}
