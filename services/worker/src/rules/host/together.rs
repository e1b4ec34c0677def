//! Questions of several games in one message.

use std::{
    mem,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{RulesHost, compare::impure};
use crate::{
    lock,
    rules::{
        OpenGame, RulesFailure, RulesService,
        messages::{Answer, Ask},
        question::excuse_error,
    },
};

/// First and last number of questions in a message.
const FIRST: usize = 4;
const MOST: usize = 128;
/// Time in which a message should be answered.
const USUAL: Duration = Duration::from_millis(20);

/// Messages with several questions that may fail before each question is asked alone for good.
const FAILED: usize = 3;
/// Number of questions that a check keeps, to ask them together.
const KEPT: usize = 128;

/// Questions in one message.
pub(super) struct Together {
    /// How many a message has. Slow rules get short messages, which they answer in time.
    most: AtomicUsize,
    failed: AtomicUsize,
    kept: Mutex<Kept>,
}

/// Some of the questions of a check, with their answers.
#[derive(Default)]
struct Kept {
    count: usize,
    questions: Vec<Question>,
}

struct Question {
    game: OpenGame,
    state: String,
    event: u32,
    answer: Answer,
}

impl Default for Together {
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(FIRST),
            failed: AtomicUsize::new(0),
            kept: Mutex::default(),
        }
    }
}

impl Together {
    pub(super) fn most(&self) -> usize {
        match self.failed.load(Ordering::Relaxed) {
            FAILED.. => 1,
            _ => self.most.load(Ordering::Relaxed),
        }
    }

    /// As many as are answered in the usual time, but at most twice and at least half as many as
    /// before: a single message may have waited for a core.
    fn learn(&self, asked: usize, took: Duration) {
        let most = self.most();
        let answered = USUAL.as_secs_f64() / took.as_secs_f64() * asked as f64;
        let next = (answered as usize).clamp(most / 2, most * 2);
        self.most.store(next.clamp(1, MOST), Ordering::Relaxed);
    }

    /// Keeps one of the newest questions.
    pub(super) fn keep(&self, game: &OpenGame, ask: &Ask<'_>, answer: &Answer) {
        let &Ask::Apply { state, event } = ask else {
            return;
        };
        let question = Question {
            game: game.clone(),
            state: state.to_owned(),
            event,
            answer: answer.clone(),
        };
        let mut kept = lock(&self.kept);
        let place = kept.count % KEPT;
        kept.count += 1;
        match kept.questions.get_mut(place) {
            Some(older) => *older = question,
            None => kept.questions.push(question),
        }
    }
}

impl RulesHost {
    /// The nodes after these events. If the process fails, each question is asked alone, so that the
    /// failure names one.
    pub(super) fn ask_together(
        &self,
        game: &OpenGame,
        events: &[(&str, u32)],
    ) -> Vec<Result<Answer, RulesFailure>> {
        let ask = |&(state, event)| Ask::Apply { state, event };
        let alone = || {
            let answer = |event| self.ask(game, &ask(event));
            events.iter().map(answer).collect()
        };
        if self.failure().is_some() {
            return alone();
        }
        if events.len() == 1 {
            let start = Instant::now();
            let answer = alone();
            self.together.learn(1, start.elapsed());
            return answer;
        }
        let Ok(mut process) = self.take(false) else {
            return alone();
        };
        let start = Instant::now();
        let answers = match excuse_error(|| process.apply_all(game, events)) {
            Ok(answers) => answers,
            Err(error) => {
                let was_killed = process.was_killed();
                let failure = self.failure_of(&error, &process);
                let then = format!("asking each of {} questions alone", events.len());
                self.log_retry(&failure, &then);
                self.end(process);
                let failed = usize::from(!was_killed);
                self.together.failed.fetch_add(failed, Ordering::Relaxed);
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

    /// Asks questions of the check again: those of each game together, the newest first.
    ///
    /// # Errors
    /// If an answer differs.
    pub fn check_together(&self) -> Result<(), RulesFailure> {
        let mut questions = mem::take(&mut lock(&self.together.kept).questions);
        questions.reverse();
        questions.sort_by_key(|question| question.game.number);
        for questions in questions.chunk_by(|one, next| one.game.number == next.game.number) {
            let (mut left, mut most) = (questions, FIRST);
            while !left.is_empty() {
                let (message, later) = left.split_at(most.min(left.len()));
                left = later;
                let start = Instant::now();
                self.check_message(message)
                    .map_err(|failure| self.fail(failure))?;
                if start.elapsed() < USUAL {
                    most *= 2;
                }
            }
        }
        Ok(())
    }

    fn check_message(&self, questions: &[Question]) -> Result<(), RulesFailure> {
        let events = questions.iter().map(|it| (&*it.state, it.event));
        let events: Vec<(&str, u32)> = events.collect();
        let mut process = self.take(false)?;
        let answers = match process.apply_all(&questions[0].game, &events) {
            Ok(answers) => answers,
            Err(error) => {
                let failure = self.failure_of(&error, &process);
                self.end(process);
                let count = questions.len();
                let message = format!("{count} states in one message: {}", failure.message);
                return Err(RulesFailure { message, ..failure });
            }
        };
        self.put_back(process);
        let mut asked = questions.iter().zip(answers);
        match asked.find(|(question, answer)| question.answer != *answer) {
            None => Ok(()),
            Some((Question { state, event, .. }, _)) => Err(impure(
                "a question is answered differently in a message with others",
                &Ask::Apply {
                    state,
                    event: *event,
                },
            )),
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
        together.learn(1, Duration::from_millis(50));
        assert_eq!(together.most(), MOST / 2);
        // Games that share positions ask fewer questions than they could.
        together.learn(1, Duration::from_micros(100));
        assert_eq!(together.most(), MOST);
        for _ in 0..20 {
            together.learn(together.most(), Duration::from_secs(1));
        }
        assert_eq!(together.most(), 1);
    }

    #[test]
    fn messages_that_fail_are_not_sent_for_ever() {
        let together = Together::default();
        together.failed.store(FAILED, Ordering::Relaxed);
        together.learn(1, Duration::from_micros(1));
        assert_eq!(together.most(), 1);
    }
}
