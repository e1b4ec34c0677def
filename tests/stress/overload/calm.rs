//! Performance of a coordinator under normal load.

use super::Bounds;
use crate::fleet::Measured;

/// The number of periods before and after the overload: one that another program disturbs does not
/// decide.
pub(super) const SPELLS: usize = 3;

/// Consecutive periods of normal load.
pub(super) struct Calm {
    name: &'static str,
    spells: Vec<Measured>,
}

impl Calm {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            spells: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, spell: Measured) {
        self.spells.push(spell);
    }

    /// Games per second of each period, until its last acknowledgement.
    fn rates(&self) -> impl Iterator<Item = f64> {
        self.spells
            .iter()
            .map(|spell| spell.games as f64 / spell.seconds_busy)
    }

    /// The median games per second.
    pub(super) fn rate(&self) -> f64 {
        let mut rates: Vec<f64> = self.rates().collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    pub(super) fn transcript(&self) -> String {
        let rates: Vec<String> = self.rates().map(|rate| format!("{rate:.0}")).collect();
        rates.join(", ")
    }

    /// The coordinator's CPU time in µs per game. `None` if it is below the resolution of CPU time,
    /// a hundredth of a second.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        let games: u64 = self.spells.iter().map(|spell| spell.games).sum();
        let spent = self.spells.iter().map(|spell| spell.cpu_us_per(1));
        let spent: f64 = spent.sum::<Option<f64>>()?;
        (spent > 0.0).then(|| spent / games.max(1) as f64)
    }

    /// Compares the periods after the overload, of a number of games each, with these before it.
    pub(super) fn judge(&self, after: &Self, games: u64, bounds: &Bounds, wrong: &mut Vec<String>) {
        for calm in [self, after] {
            let refusals: u64 = calm.spells.iter().map(|spell| spell.refusals).sum();
            if refusals > 0 {
                wrong.push(format!("{}: {refusals} calls were refused", calm.name));
            }
        }
        let steady = games >= bounds.steady_games;
        let (most, least) = match steady {
            true => (
                bounds.steady_cpu_per_game_ratio_max,
                bounds.steady_rate_ratio_min,
            ),
            false => (bounds.cpu_per_game_ratio_max, bounds.rate_ratio_min),
        };
        match (self.cpu_us(), after.cpu_us()) {
            (Some(before), Some(after)) if after / before <= most => {}
            // A few games may take less than one tick.
            (None, _) | (_, None) if !steady => {}
            (before, after) => wrong.push(format!(
                "CPU µs a game before the overload {before:?}, after it {after:?}: more than {most} \
                 times"
            )),
        }
        let rate = after.rate() / self.rate();
        if rate.is_nan() || rate < least {
            wrong.push(format!(
                "games a second before the overload {}, after it {}: {rate:.2} of the rate, less \
                 than {least}",
                self.transcript(),
                after.transcript()
            ));
        }
    }
}
