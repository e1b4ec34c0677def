//! Rates of healthy calls before and after all attacks.

use std::{thread, time::Duration};

use super::target::{Target, User};
use crate::stress::{Broken, Figure};

/// Rounds before the attacks, of which the median counts.
const ROUNDS_BEFORE: usize = 3;
/// Maximum number of rounds after the attacks, of which the best counts.
const ROUNDS_AFTER: usize = 5;
/// Calls to one coordinator before it is the turn of the other.
const TURN: usize = 10;
/// Time between two rounds after the attacks.
const PAUSE: Duration = Duration::from_secs(1);
/// Minimum of the rate after the attacks, relative to before.
///
/// Each round compares the attacked coordinator with one that is never attacked, in turn: a busy machine
/// slows both. A round can still be unlucky, so the best one counts: a coordinator that does not recover is
/// slow in all of them.
const RECOVERED_MIN: f64 = 0.9;

/// Calls a second in one round.
#[derive(Clone, Copy)]
struct Round {
    attacked: f64,
    control: f64,
}

impl Round {
    /// Measures both in turn, a few calls at a time, so that other programs slow both alike.
    fn measure(attacked: &mut User, control: &mut User, calls: usize) -> Result<Self, Broken> {
        let mut seconds = [0.0; 2];
        let turns = calls.div_ceil(TURN).max(1);
        for _ in 0..turns {
            for (user, seconds) in [&mut *attacked, &mut *control]
                .into_iter()
                .zip(&mut seconds)
            {
                *seconds += user.seconds(TURN)?;
            }
        }
        let [attacked, control] = seconds.map(|seconds| (turns * TURN) as f64 / seconds);
        Ok(Self { attacked, control })
    }

    fn ratio(self) -> f64 {
        self.attacked / self.control
    }
}

/// The rates of a coordinator before its attacks.
pub(super) struct Rates {
    calls: usize,
    before: Round,
}

impl Rates {
    /// Measures a coordinator, and one that is never attacked.
    pub(super) fn before(target: &Target, control: &Target, calls: usize) -> Result<Self, Broken> {
        let (mut attacked, mut control) = (target.user()?, control.user()?);
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS_BEFORE {
            rounds.push(Round::measure(&mut attacked, &mut control, calls)?);
        }
        rounds.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
        Ok(Self {
            calls,
            before: rounds[ROUNDS_BEFORE / 2],
        })
    }

    /// Measures both again after the attacks, and fails if the attacked one did not recover.
    pub(super) fn after(
        &self,
        target: &Target,
        control: &Target,
        figures: &mut Vec<Figure>,
        wrong: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let (mut attacked, mut control) = (target.user()?, control.user()?);
        let mut rounds = Vec::new();
        for number in 0..ROUNDS_AFTER {
            if number > 0 {
                thread::sleep(PAUSE);
            }
            let round = Round::measure(&mut attacked, &mut control, self.calls)?;
            rounds.push(round);
            if self.recovered(round) >= RECOVERED_MIN {
                break;
            }
        }
        let best = rounds
            .iter()
            .copied()
            .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
            .unwrap_or(self.before);
        let name = target.name;
        let recovered = self.recovered(best);
        // A rate that is no number is below every bound.
        if recovered.is_nan() || recovered < RECOVERED_MIN {
            let shown: Vec<_> = rounds
                .iter()
                .map(|round| format!("{:.2}", self.recovered(*round)))
                .collect();
            wrong.push(format!(
                "{name}: the rate of calls does not recover: {} of the rate before in {} rounds, \
                 less than {RECOVERED_MIN} in each",
                shown.join(", "),
                rounds.len()
            ));
        }
        for (when, round) in [("before", self.before), ("after", best)] {
            figures.extend([
                Figure::new(&format!("{name}: calls/s {when}"), round.attacked.round()),
                Figure::new(
                    &format!("{name}: calls/s {when}, coordinator without attacks"),
                    round.control.round(),
                ),
            ]);
        }
        figures.push(Figure::new(
            &format!("{name}: relative rate after in that before"),
            format!("{recovered:.2}"),
        ));
        Ok(())
    }

    fn recovered(&self, after: Round) -> f64 {
        after.ratio() / self.before.ratio()
    }
}
