//! A share of the questions is asked again of another process.

use std::sync::atomic::Ordering;

use super::RulesHost;
use crate::rules::{
    OpenGame, RulesCause, RulesFailure,
    messages::{Answer, Ask},
    question::excuse,
};

impl RulesHost {
    /// Counts calls. Returns the places of those that are asked of another process as well.
    pub(super) fn count_calls(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.calls.fetch_add(count as u64, Ordering::Relaxed);
        let compared = self.compared.load(Ordering::Relaxed);
        let is_compared = move |place: &usize| (first + *place as u64).is_multiple_of(compared);
        (0..count).filter(is_compared)
    }

    /// Asks another process the same. The process that answered is not idle meanwhile.
    pub(super) fn compare(
        &self,
        game: &OpenGame,
        ask: &Ask<'_>,
        answer: &Answer,
    ) -> Result<(), RulesFailure> {
        excuse(|| self.compare_now(game, ask, answer))
    }

    fn compare_now(
        &self,
        game: &OpenGame,
        ask: &Ask<'_>,
        answer: &Answer,
    ) -> Result<(), RulesFailure> {
        let comparison = 1 + self.comparisons.fetch_add(1, Ordering::Relaxed);
        let other = match comparison.is_power_of_two() {
            true => self.fresh(),
            false => self.take(true),
        };
        let (again, mut other) = self.ask_one(other?, game, ask)?;
        let mut repeated = None;
        if again == *answer && self.is_check() {
            // Rules that remember their questions answer another time differently. So the processes
            // are not asked equally often.
            let (third, process) = self.ask_one(other, game, ask)?;
            (repeated, other) = (Some(third), process);
        }
        self.put_back(other);
        if repeated.is_some_and(|repeated| repeated != *answer) {
            let problem = "the same question is answered differently when it is asked again";
            return Err(impure(problem, ask));
        }
        if again != *answer {
            let problem = "two processes answer the same question differently";
            return Err(impure(problem, ask));
        }
        Ok(())
    }
}

pub(super) fn impure(problem: &str, ask: &Ask<'_>) -> RulesFailure {
    RulesFailure::new(RulesCause::Purity, format!("{problem}: {ask}")).asked(ask)
}
