//! Maximum likelihood strengths and their derivatives.

use smallvec::{SmallVec, smallvec};

use super::{
    matrix::Matrix,
    model::{Expected, Features, Members, Strengths, add_features, feature_count, steps},
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
    /// Indexes of the weights of ties of two, of three, and so on; `None` if no such tie occurred.
    pub(super) ties: Vec<Option<usize>>,
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
        let mut ties = vec![None; evidence.seats - 1];
        let mut size = agents;
        let mut sizes = vec![false; evidence.seats + 1];
        for group in &evidence.groups {
            note_ties(group, &mut sizes);
        }
        for (place, occurred) in ties.iter_mut().zip(&sizes[2..]) {
            if *occurred {
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
    pub(super) fn places(&self, group: &GroupSums) -> SmallVec<[Option<usize>; 7]> {
        let agents = group.agents().iter();
        let agents = agents.map(|&agent| Some(usize::from(agent)));
        agents.chain(self.ties.iter().copied()).collect()
    }

    fn strengths(&self, group: &GroupSums) -> Strengths {
        let agents = group.agents().iter();
        let ties = self.ties.iter();
        Strengths {
            logs: agents
                .map(|&agent| self.values[usize::from(agent)])
                .collect(),
            ties: ties
                .map(|place| place.map(|place| self.values[place]))
                .collect(),
        }
    }

    /// The gradient of the log likelihood of each ranking that occurred in the group.
    pub(super) fn scores(&self, group: &GroupSums) -> Vec<(Ranking, Features)> {
        let strengths = self.strengths(group);
        let size = strengths.size();
        let mut known = Known::new(&strengths);
        let games = group.games().into_iter();
        let score = |(ranking, _)| {
            let mut score: Features = smallvec![0.0; feature_count(size)];
            for step in steps(ranking, size) {
                add_features(&mut score, step.first, size, 1.0);
                let (expected, _) = known.step(step.from);
                for (score, mean) in score.iter_mut().zip(&expected.mean) {
                    *score -= mean;
                }
            }
            (ranking, score)
        };
        games.map(score).collect()
    }

    /// The model's variance of the gradient of all games' log likelihood.
    pub(super) fn variance(&self, group: &GroupSums) -> Matrix {
        let strengths = self.strengths(group);
        let size = feature_count(strengths.size());
        let mut known = Known::new(&strengths);
        for (ranking, count) in group.games() {
            for step in steps(ranking, strengths.size()) {
                known.step(step.from).1 += count;
            }
        }
        let mut cells = Matrix::zero(size);
        for (expected, count) in &known.steps {
            for i in 0..size {
                for (j, value) in expected.covariance.row(i).iter().enumerate() {
                    cells.add(i, j, *count as f64 * value);
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
        let size = strengths.size();
        let mut known = Known::new(&strengths);
        let mut gradient: Features = smallvec![0.0; feature_count(size)];
        for (ranking, count) in group.games() {
            for step in steps(ranking, size) {
                let (expected, taken) = known.step(step.from);
                *taken += count;
                let odds = strengths.log_odds(step.first).unwrap_or(0.0);
                self.value += count as f64 * (odds - expected.log_sum);
                add_features(&mut gradient, step.first, size, count as f64);
            }
        }
        for (expected, taken) in &known.steps {
            for (sum, mean) in gradient.iter_mut().zip(&expected.mean) {
                *sum -= *taken as f64 * mean;
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
        for (expected, count) in &known.steps {
            for (i, row) in reported() {
                for (j, column) in reported() {
                    let value = expected.covariance.at(i, j);
                    if value != 0.0 {
                        self.information.add(row, column, *count as f64 * value);
                    }
                }
            }
        }
    }
}

/// Expectations of the steps from each set that occurred, and how often they were taken.
struct Known<'a> {
    strengths: &'a Strengths,
    /// By set: one plus its place in `steps`; 0 if it has not occurred.
    places: SmallVec<[u16; 16]>,
    steps: SmallVec<[(Expected, u64); 1]>,
}

impl<'a> Known<'a> {
    fn new(strengths: &'a Strengths) -> Self {
        Self {
            strengths,
            places: smallvec![0; 1 << strengths.size()],
            steps: SmallVec::new(),
        }
    }

    fn step(&mut self, from: Members) -> &mut (Expected, u64) {
        let place = &mut self.places[usize::from(from)];
        if *place == 0 {
            self.steps.push((self.strengths.expected(from), 0));
            *place = self.steps.len() as u16;
        }
        &mut self.steps[usize::from(*place) - 1]
    }
}

/// Notes how many members tied in some game for the first of the remaining ranks.
fn note_ties(group: &GroupSums, sizes: &mut [bool]) {
    let size = group.agents().len();
    for (ranking, _) in group.games() {
        for step in steps(ranking, size) {
            sizes[step.first.count_ones() as usize] = true;
        }
    }
}
