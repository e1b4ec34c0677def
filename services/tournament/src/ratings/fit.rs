//! Maximum likelihood strengths and their derivatives.

use arena_model::engine::MAX_SEATS;

use super::{
    matrix::Matrix,
    model::{Expected, FEATURES, Features, Strengths, TIES, features, steps},
};
use crate::tally::{Evidence, GroupSums, Ranking};

/// Maximum number of Newton steps; the method converges long before.
const STEPS_MAX: usize = 100;
/// A smaller step, in log strengths, is the last: each error is about the square of the
/// previous one.
const STEP_LAST: f64 = 1e-6;
/// Relative rounding error of a sum over many games.
const ROUNDING: f64 = 1e-12;

/// Log strengths of all agents, then ln of the weights of ties.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) values: Vec<f64>,
    /// Index of the weight of a tie of two to four; `None` if no such tie occurred.
    pub(super) ties: [Option<usize>; TIES],
    /// Negative second derivatives of the log posterior.
    pub(super) information: Matrix,
}

/// A function's value and derivatives at a point.
struct Point {
    value: f64,
    gradient: Vec<f64>,
    information: Matrix,
}

impl Fit {
    /// Finds the maximum of the likelihood of all games, times a normal prior with mean 0
    /// and this precision for each log.
    pub(super) fn new(evidence: &Evidence, precision: f64) -> Self {
        let agents = evidence.names.len();
        let mut ties = [None; TIES];
        let mut size = agents;
        for (count, place) in (2_u32..).zip(&mut ties) {
            if evidence.groups.iter().any(|group| has_tie(group, count)) {
                *place = Some(size);
                size += 1;
            }
        }
        let mut fit = Self {
            values: vec![0.0; size],
            ties,
            information: Matrix::zero(size),
        };
        let mut point = fit.point(evidence, precision);
        for _ in 0..STEPS_MAX {
            let step = point.information.solve(&point.gradient);
            let before = fit.values.clone();
            let mut factor = 1.0;
            let next = loop {
                for ((value, before), step) in fit.values.iter_mut().zip(&before).zip(&step) {
                    *value = before + factor * step;
                }
                let next = fit.point(evidence, precision);
                // The function is concave: a sufficiently short step goes up.
                let enough = point.value - ROUNDING * point.value.abs();
                if next.value >= enough || factor < 1e-6 {
                    break next;
                }
                factor /= 2.0;
            };
            point = next;
            if step.iter().all(|step| step.abs() < STEP_LAST) {
                break;
            }
        }
        fit.information = point.information;
        fit
    }

    /// Indexes of the group's features among the parameters.
    pub(super) fn places(&self, group: &GroupSums) -> [Option<usize>; FEATURES] {
        let mut places = [None; FEATURES];
        for (place, &agent) in places.iter_mut().zip(group.agents()) {
            *place = Some(usize::from(agent));
        }
        places[MAX_SEATS..].copy_from_slice(&self.ties);
        places
    }

    fn strengths(&self, group: &GroupSums) -> Strengths {
        let mut logs = [0.0; MAX_SEATS];
        for (log, &agent) in logs.iter_mut().zip(group.agents()) {
            *log = self.values[usize::from(agent)];
        }
        Strengths {
            size: group.agents().len(),
            logs,
            ties: self.ties.map(|place| place.map(|place| self.values[place])),
        }
    }

    /// The gradient of each ranking's log likelihood.
    pub(super) fn scores(&self, group: &GroupSums) -> impl Fn(Ranking) -> Features + use<> {
        let strengths = self.strengths(group);
        let mut means = [[0.0; FEATURES]; 1 << MAX_SEATS];
        for (from, mean) in means.iter_mut().enumerate().take(1 << strengths.size) {
            if from.count_ones() > 1 {
                *mean = strengths.expected(from as u8).mean;
            }
        }
        move |ranking| {
            let mut score = [0.0; FEATURES];
            for step in steps(ranking, strengths.size) {
                let came = features(step.first);
                let mean = &means[usize::from(step.from)];
                for ((score, came), mean) in score.iter_mut().zip(came).zip(mean) {
                    *score += came - mean;
                }
            }
            score
        }
    }

    /// The model's variance of the gradient of all games' log likelihood.
    pub(super) fn variance(&self, group: &GroupSums) -> [Features; FEATURES] {
        let strengths = self.strengths(group);
        let mut cells = [[0.0; FEATURES]; FEATURES];
        for (ranking, count) in group.games() {
            for step in steps(ranking, strengths.size) {
                let expected = strengths.expected(step.from);
                for (cells, row) in cells.iter_mut().zip(expected.covariance) {
                    for (cell, value) in cells.iter_mut().zip(row) {
                        *cell += count as f64 * value;
                    }
                }
            }
        }
        cells
    }

    fn point(&self, evidence: &Evidence, precision: f64) -> Point {
        let mut point = Point {
            value: 0.0,
            gradient: vec![0.0; self.values.len()],
            information: Matrix::zero(self.values.len()),
        };
        for (place, value) in self.values.iter().enumerate() {
            point.value -= precision * value * value / 2.0;
            point.gradient[place] -= precision * value;
            point.information.add(place, place, precision);
        }
        for group in &evidence.groups {
            point.add(group, self);
        }
        point
    }
}

impl Point {
    fn add(&mut self, group: &GroupSums, fit: &Fit) {
        let strengths = fit.strengths(group);
        let places = fit.places(group);
        // Sets that steps were taken from; with two members there is only one.
        let mut known: Vec<(u8, Expected, u64)> = Vec::with_capacity(1);
        let mut gradient = [0.0; FEATURES];
        for (ranking, count) in group.games() {
            for step in steps(ranking, strengths.size) {
                let place = known.iter().position(|(from, ..)| *from == step.from);
                let place = place.unwrap_or_else(|| {
                    known.push((step.from, strengths.expected(step.from), 0));
                    known.len() - 1
                });
                let (_, expected, taken) = &mut known[place];
                *taken += count;
                let odds = strengths.log_odds(step.first).unwrap_or(0.0);
                self.value += count as f64 * (odds - expected.log_sum);
                let came = features(step.first);
                for ((sum, came), mean) in gradient.iter_mut().zip(came).zip(expected.mean) {
                    *sum += count as f64 * (came - mean);
                }
            }
        }
        let reported = || {
            places
                .iter()
                .enumerate()
                .filter_map(|(i, place)| Some((i, (*place)?)))
        };
        for (i, place) in reported() {
            self.gradient[place] += gradient[i];
        }
        for (_, expected, count) in &known {
            for (i, row) in reported() {
                for (j, column) in reported() {
                    let value = expected.covariance[i][j];
                    if value != 0.0 {
                        self.information.add(row, column, *count as f64 * value);
                    }
                }
            }
        }
    }
}

/// True if `count` members tied in some game for the first of the remaining ranks.
fn has_tie(group: &GroupSums, count: u32) -> bool {
    let size = group.agents().len();
    let of = |ranking| steps(ranking, size).any(|step| step.first.count_ones() == count);
    group.games().iter().any(|&(ranking, _)| of(ranking))
}
