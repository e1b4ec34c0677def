//! Sequential test: one agent plays another until one of two hypotheses is accepted or
//! `blocks` blocks are played.
//!
//! The outcome of a block is the share of pairs of a seat of the first agent and a seat of
//! the second in which the first finished ahead; ties count half. With more than two seats,
//! each agent fills the same number of seats. An odd seat alternates, so that blocks AAB
//! and ABB alternate. The test computes the log-likelihood ratio every `step` blocks.
//! Without `step`, it looks after the first 16 blocks, and then whenever a thirty-second
//! more, or 16 more, are played. So a long test overshoots by at most 3 % after its ratio
//! passed a bound, and has no more looks than workers have time to wait for. (Tests from 0
//! to 5 Elo take 16,500 games so, 18,500 with an eighth, 15,100 with looks every 8 blocks:
//! `tests/stress/run calibration --only "sprt 0 to"`.)

use arena_model::format::{Settings, Sprt as Test};
use serde_json::json;

use super::{
    Field, FormatError, FormatProgress, Games, Next, StagePlanner, StageSums,
    verdict::{Verdict, counted},
};
use crate::{schedule::stage::Stage, sequential::gsprt};

/// Minimum number of blocks between two looks if `step` is not set.
const STEP_MIN: u64 = 16;
/// Expected overshoot of a walk beyond a bound at a look, in standard deviations between
/// two looks (D. Siegmund, "Sequential Analysis", 1985, section X.2).
const OVERSHOOT: f64 = 0.583;
/// The next look comes after this fraction of the blocks before it.
const PART: u64 = 32;

/// Number of blocks until the next look, after `played` of at most `cap` blocks; 0 at the
/// cap. All groups have equally many; if fewer blocks are left than groups, the first group
/// has one.
#[must_use]
pub fn blocks_to_look(test: &Test, groups: u64, cap: u64, played: u64) -> u64 {
    let usual = || (played / PART).max(STEP_MIN);
    let step = test.step.unwrap_or_else(usual);
    let whole = step.div_ceil(groups).saturating_mul(groups);
    let left = cap.saturating_sub(played);
    match whole.min(left) / groups * groups {
        0 => left,
        blocks => blocks,
    }
}

/// If a stage only repeats games, a test ends inconclusively after this many blocks: agents
/// that use their seeds occasionally have differed by then.
const REPEATS_MIN: u64 = 64;

/// Expected number of blocks of a test of at most `cap` if outcomes are distributed as in a
/// trial: `counts[u]` are the blocks in which the first agent got `u` units.
///
/// Wald's approximation for a walk with the trial's mean and variance (A. Wald, "Sequential
/// Analysis", 1947, sections 3.4 and 3.5), with the bounds moved outwards by the expected
/// overshoot at a look, rounded up to the next look. `None` if the trial has no block.
#[must_use]
pub fn expected_blocks(test: &Test, seats: usize, counts: &[u64], cap: u64) -> Option<u64> {
    let (mean, variance) = gsprt::of_block(counts, seats as u32, test)?;
    let groups = groups(seats).len() as u64;
    let first = blocks_to_look(test, groups, cap, 0);
    let over = OVERSHOOT * (variance * first as f64).sqrt();
    let (low, high) = gsprt::bounds(test);
    let (low, high) = (low - over, high + over);
    let slope = 2.0 * mean / variance;
    let blocks = if slope.abs() * (high - low) < 1e-6 {
        -low * high / variance
    } else {
        let [down, up] = [low, high].map(|end| (-slope * end).min(700.0).exp());
        let passes = (1.0 - down) / (up - down);
        (passes * high + (1.0 - passes) * low) / mean
    };
    let mut played = 0;
    while (played as f64) < blocks && played < cap {
        played += blocks_to_look(test, groups, cap, played);
    }
    Some(played)
}

/// The agents of the seats, 0 or 1, in alternating blocks.
#[must_use]
pub fn groups(seats: usize) -> Vec<Vec<u16>> {
    let seated = |first: usize| {
        let mut group = vec![0; first];
        group.resize(seats, 1);
        group
    };
    let half = seats / 2;
    if seats.is_multiple_of(2) {
        vec![seated(half)]
    } else {
        vec![seated(half + 1), seated(half)]
    }
}

#[derive(Debug)]
struct Sprt {
    field: Field,
    test: Test,
    /// The agents of the seats, in alternating blocks.
    groups: Vec<Vec<u16>>,
    /// Maximum number of blocks.
    cap: u64,
    /// Blocks scheduled so far.
    asked: u64,
    looks: u64,
    /// Number of blocks by the first agent's units.
    outcomes: Vec<u64>,
    llr: Option<f64>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let test = match &field.settings {
        Some(Settings::Sprt(test)) => test.clone(),
        _ => Test::default(),
    };
    if field.agents() != 2 {
        return Err(field.error(format!(
            "it compares two agents, but {} are listed; use a gauntlet to compare one agent with \
             several",
            field.agents()
        )));
    }
    if field.rotations == 1 {
        return Err(field.error(format!(
            "with rotate = false, {} has the first seat in every game, so the test would measure \
             the seat as well; remove rotate = false from [play]",
            field.name(0)
        )));
    }
    Ok(Box::new(Sprt {
        cap: field.blocks,
        groups: groups(field.seats),
        field,
        test,
        asked: 0,
        looks: 0,
        outcomes: Vec::new(),
        llr: None,
    }))
}

impl Sprt {
    fn step(&self, played: u64) -> u64 {
        blocks_to_look(&self.test, self.groups.len() as u64, self.cap, played)
    }

    /// Adds the sums of a stage; false if no block of it counts.
    fn settle(&mut self, sums: &StageSums) -> bool {
        let before: u64 = self.outcomes.iter().sum();
        for meeting in &sums.meetings {
            if self.outcomes.len() < meeting.outcomes.len() {
                self.outcomes.resize(meeting.outcomes.len(), 0);
            }
            for (sum, count) in self.outcomes.iter_mut().zip(&meeting.outcomes) {
                *sum += count;
            }
        }
        self.looks += 1;
        let after: u64 = self.outcomes.iter().sum();
        self.llr = gsprt::llr(&self.outcomes, self.field.rotations as u32, &self.test);
        after > before
    }

    /// Mean score of the first agent over complete blocks.
    fn score(&self) -> Option<f64> {
        let blocks: u64 = self.outcomes.iter().sum();
        let units = self.outcomes.iter().zip(0_u64..);
        let units: u64 = units.map(|(count, units)| count * units).sum();
        let whole = blocks * (self.outcomes.len() as u64).saturating_sub(1);
        (whole > 0).then(|| units as f64 / whole as f64)
    }

    fn verdict(&self, kind: &str) -> Verdict {
        let (low, high) = gsprt::bounds(&self.test);
        let [one, other] = [0, 1].map(|agent| self.field.name(agent));
        let Test { elo0, elo1, .. } = self.test;
        let blocks: u64 = self.outcomes.iter().sum();
        let reported = self.llr.map_or_else(
            || "no block was played".to_owned(),
            |llr| {
                let blocks = counted(blocks, "block");
                format!("LLR {llr:.2} of {low:.2} to {high:.2} after {blocks}")
            },
        );
        let text = match kind {
            "h1" => format!(
                "H1 accepted: {one} is {elo1:+} Elo over {other} rather than {elo0:+} \
                 ({reported})."
            ),
            "h0" => format!(
                "H0 accepted: {one} is {elo0:+} Elo over {other} rather than {elo1:+} \
                 ({reported})."
            ),
            _ => format!(
                "Inconclusive: {one} is {elo0:+} or {elo1:+} Elo over {other} ({reported})."
            ),
        };
        Verdict::new(kind, &self.field, text)
            .with("llr", json!(self.llr))
            .with("llr_low", json!(low))
            .with("llr_high", json!(high))
            .with("elo0", json!(elo0))
            .with("elo1", json!(elo1))
            .with("alpha", json!(self.test.alpha))
            .with("beta", json!(self.test.beta))
            .with("model", json!(self.test.model))
            .with("agents", json!([one, other]))
            .with("blocks", json!(blocks))
            .with("blocks_cap", json!(self.cap))
            .with("looks", json!(self.looks))
            .with("outcomes", json!(self.outcomes))
            .with("score", json!(self.score()))
    }

    /// Expected number of blocks if the truth is half-way between the hypotheses, after
    /// Wald, for outcomes with the variance of independent decisive games.
    fn expected(&self) -> f64 {
        let (low, high) = gsprt::bounds(&self.test);
        let games = self.field.rotations as f64;
        let apart = match self.test.model {
            arena_model::format::EloModel::Logistic => {
                gsprt::score(self.test.elo1) - gsprt::score(self.test.elo0)
            }
            arena_model::format::EloModel::Normalized => {
                (self.test.elo1 - self.test.elo0) * std::f64::consts::LN_10 / 800.0 * 0.5
            }
        };
        -low * high * (0.25 / games) / (apart * apart)
    }
}

impl StagePlanner for Sprt {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        if let Some(sums) = ended {
            let grown = self.settle(sums);
            let (low, high) = gsprt::bounds(&self.test);
            match self.llr {
                Some(llr) if llr >= high => return Next::Over(self.verdict("h1")),
                Some(llr) if llr <= low => return Next::Over(self.verdict("h0")),
                // Further games would only repeat games that were played.
                _ if !grown && sums.voids == 0 && self.asked >= REPEATS_MIN => {
                    return Next::Over(self.verdict("inconclusive"));
                }
                _ => {}
            }
        }
        let blocks = self.step(self.asked);
        if blocks == 0 {
            return Next::Over(self.verdict("inconclusive"));
        }
        self.asked += blocks;
        let each = self.groups.len() as u64;
        Next::Stage(if blocks < each {
            Stage::of(vec![self.groups[0].clone()], blocks)
        } else {
            Stage::of(self.groups.clone(), blocks / each)
        })
    }

    fn games(&self) -> Games {
        // The cast saturates.
        let expected = (self.expected().ceil() as u64).min(self.cap);
        let mut blocks = self.step(0);
        let least = blocks;
        if let Some(step) = self.test.step {
            // Skip the looks before the expected number of blocks at once.
            blocks += expected.saturating_sub(blocks) / step * step;
        }
        while blocks < expected {
            blocks += self.step(blocks);
        }
        Games {
            least: self.field.games(least),
            most: self.field.games(self.cap),
            expected: self.field.games(blocks),
        }
    }

    fn progress(&self) -> FormatProgress {
        let (low, high) = gsprt::bounds(&self.test);
        let llr = self.llr.map_or_else(
            || "not checked yet".to_owned(),
            |llr| format!("LLR {llr:.2} of {low:.2} to {high:.2}"),
        );
        FormatProgress {
            round: self.looks + 1,
            rounds: None,
            llr: self.llr,
            llr_low: Some(low),
            llr_high: Some(high),
            outcomes: self.outcomes.clone(),
            text: llr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Draws;

    /// Mean number of blocks of simulated tests, with blocks drawn from these counts.
    fn simulated(test: &Test, seats: usize, counts: &[u64], cap: u64) -> f64 {
        const RUNS: u64 = 200;
        let all: u64 = counts.iter().sum();
        let (low, high) = gsprt::bounds(test);
        let mut draws = Draws(0x5eed);
        let mut blocks = 0;
        for _ in 0..RUNS {
            let mut seen = vec![0; counts.len()];
            let mut played = 0;
            loop {
                let more = blocks_to_look(test, groups(seats).len() as u64, cap, played);
                for _ in 0..more {
                    let mut at = draws.below(all);
                    let units = counts.iter().position(|&count| {
                        let here = at < count;
                        at = at.saturating_sub(count);
                        here
                    });
                    seen[units.expect("below all")] += 1;
                }
                played += more;
                let llr = gsprt::llr(&seen, seats as u32, test).expect("blocks");
                if more == 0 || llr <= low || llr >= high {
                    break;
                }
            }
            blocks += played;
        }
        blocks as f64 / RUNS as f64
    }

    #[test]
    fn expected_blocks_match_simulation() {
        let wide = Test {
            elo0: -20.0,
            elo1: 20.0,
            ..Test::default()
        };
        let normal = Test {
            model: arena_model::format::EloModel::Normalized,
            ..wide.clone()
        };
        // Far from both hypotheses, near either of them, and half-way; also with three
        // seats.
        for (test, seats, counts) in [
            (&Test::default(), 2, &[1, 2, 10, 40, 200][..]),
            (&wide, 2, &[20, 40, 100, 60, 30]),
            (&wide, 2, &[30, 60, 100, 40, 20]),
            (&wide, 2, &[20, 40, 100, 40, 20]),
            (&normal, 2, &[20, 40, 100, 60, 30]),
            (&wide, 3, &[1, 2, 3, 5, 8, 10, 12, 11, 9, 6, 4, 3, 2]),
        ] {
            let found = expected_blocks(test, seats, counts, 20_000).expect("a trial") as f64;
            let mean = simulated(test, seats, counts, 20_000);
            assert!(
                (0.8..1.25).contains(&(found / mean)),
                "{counts:?}: {found} {mean}"
            );
        }
        assert_eq!(expected_blocks(&wide, 2, &[0; 5], 100), None);
        assert_eq!(
            expected_blocks(&Test::default(), 2, &[20, 40, 100, 40, 20], 50),
            Some(50)
        );
    }
}
