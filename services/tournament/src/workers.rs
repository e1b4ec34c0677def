//! Compares the scores of games by worker, where a replay proves nothing: agents that are timed or
//! not deterministic may answer differently each time.
//!
//! The unit is a block that one worker played as a whole. Within a group of agents, the scores of
//! blocks do not depend on the worker. So the blocks of a worker are a draw without replacement
//! from all blocks of the group, and their sum has a known mean and variance, as in the mean score
//! statistic of Cochran, Mantel and Haenszel: J. R. Landis, E. R. Heyman and G. G. Koch, "Average
//! partial association in three-way contingency tables", International Statistical Review 46,
//! 1978. Sums over groups give one statistic for each worker and agent.
//!
//! Probabilities are those of Bernstein's inequality, not of the normal distribution, which is far
//! too small in its tails if an agent wins few games. For wins and losses this is a bound, because
//! a hypergeometric variable is a sum of independent ones: V. A. Vatutin and V. G. Mikhailov,
//! "Limit theorems for the number of empty cells", Theory of Probability and its Applications 27,
//! 1982. They are multiplied by the number of statistics (Bonferroni).

use std::collections::BTreeMap;

use arena_model::result::GameResult;
use serde::{Deserialize, Serialize};

/// Workers deviate if a deviation at least as large has a smaller probability.
pub const ALARM: f64 = 0.001;
/// Maximum number of workers that are compared; games of further ones do not count.
const WORKERS_MAX: usize = 64;
/// Maximum number of pairs of a group and a worker; further ones do not count.
const CELLS_MAX: usize = 1 << 16;
/// Maximum number of blocks of which some games are missing.
const OPEN_MAX: usize = 1 << 14;

/// Sums of the blocks of one worker and one agent, in halves of an opponent beaten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sums {
    blocks: u64,
    units: u64,
    squares: u64,
}

impl Sums {
    fn add(&mut self, units: u64) {
        self.blocks += 1;
        self.units += units;
        self.squares += units * units;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            units: self.units + other.units,
            squares: self.squares + other.squares,
        }
    }
}

/// A block of which some games are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    block: u64,
    /// None if several workers played its games, or if one of them is void.
    worker: Option<u16>,
    games: u32,
    /// By agent.
    units: BTreeMap<u16, u64>,
}

/// The sums of a worker within a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    /// In ascending order.
    agents: Vec<u16>,
    worker: u16,
    /// Of each agent.
    sums: Vec<Sums>,
}

/// Scores of blocks by worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerScores {
    /// Games of a block.
    rotations: u32,
    workers: Vec<String>,
    cells: Vec<Cell>,
    open: Vec<Open>,
}

/// A worker whose games give an agent another score than those of the other workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Name of the worker.
    pub worker: String,
    /// The agent, by number.
    pub agent: u16,
    /// Blocks of the worker.
    pub blocks: u64,
    /// The mean score of the agent in these blocks.
    pub score: f64,
    /// The mean that the blocks of all workers lead to expect.
    pub expected: f64,
    /// Upper bound of the probability of such a deviation, corrected for the number of
    /// statistics.
    pub p: f64,
}

impl WorkerScores {
    /// No games of blocks with so many games.
    #[must_use]
    pub fn new(rotations: u32) -> Self {
        Self {
            rotations,
            ..Self::default()
        }
    }

    /// Adds a game that a worker played.
    pub fn add(&mut self, worker: &str, result: &GameResult) {
        let void = result.placement.is_empty();
        let worker = self.worker(worker).filter(|_| !void);
        let place = self.open.binary_search_by_key(&result.block, |it| it.block);
        let place = place.unwrap_or_else(|place| {
            let open = Open {
                block: result.block,
                worker,
                games: 0,
                units: BTreeMap::new(),
            };
            self.open.insert(place, open);
            place
        });
        let open = &mut self.open[place];
        open.games += 1;
        open.worker = open.worker.filter(|of| Some(*of) == worker);
        for (&agent, &rank) in result.seats.iter().zip(&result.placement) {
            let others = result.placement.iter();
            let units = others.map(|&other| match rank.cmp(&other) {
                std::cmp::Ordering::Less => 2,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Greater => 0,
            });
            // An agent shares its own rank.
            *open.units.entry(agent).or_default() += units.sum::<u64>() - 1;
        }
        if open.games >= self.rotations {
            let whole = self.open.remove(place);
            self.close(whole);
        } else if self.open.len() > OPEN_MAX {
            self.open.remove(0);
        }
    }

    /// The number of a worker; none if there are too many.
    fn worker(&mut self, name: &str) -> Option<u16> {
        let known = self.workers.iter().position(|it| it == name);
        let place = known.unwrap_or(self.workers.len());
        if place == self.workers.len() {
            if place >= WORKERS_MAX {
                return None;
            }
            self.workers.push(name.to_owned());
        }
        Some(place as u16)
    }

    fn close(&mut self, block: Open) {
        let Some(worker) = block.worker else {
            return;
        };
        let agents: Vec<u16> = block.units.keys().copied().collect();
        let key = |cell: &Cell| (&*cell.agents, cell.worker).cmp(&(&*agents, worker));
        let place = match self.cells.binary_search_by(key) {
            Ok(place) => place,
            Err(_) if self.cells.len() >= CELLS_MAX => return,
            Err(place) => {
                let sums = vec![Sums::default(); agents.len()];
                let cell = Cell {
                    agents,
                    worker,
                    sums,
                };
                self.cells.insert(place, cell);
                place
            }
        };
        let sums = self.cells[place].sums.iter_mut();
        sums.zip(block.units.values())
            .for_each(|(it, &units)| it.add(units));
    }

    /// The workers whose games deviate, least probable first. `more` are second plays of games by
    /// other workers.
    #[must_use]
    pub fn deviations(&self, more: &Self) -> Vec<Deviation> {
        let mut found = self.statistics(more);
        found.retain(|it| it.p < ALARM);
        found.sort_by(|a, b| a.p.total_cmp(&b.p));
        found
    }

    /// The statistics of all workers and agents.
    fn statistics(&self, more: &Self) -> Vec<Deviation> {
        // By group and agent: the sums of each worker.
        let mut groups: BTreeMap<(&[u16], u16), BTreeMap<&str, Sums>> = BTreeMap::new();
        for (of, cell) in [self, more]
            .iter()
            .flat_map(|of| of.cells.iter().map(move |cell| (of, cell)))
        {
            let Some(worker) = of.workers.get(usize::from(cell.worker)) else {
                continue;
            };
            for (&agent, &sums) in cell.agents.iter().zip(&cell.sums) {
                let group = groups.entry((&cell.agents, agent)).or_default();
                let known = group.entry(worker).or_default();
                *known = known.plus(sums);
            }
        }
        let mut totals: BTreeMap<(&str, u16), Total> = BTreeMap::new();
        for ((agents, agent), group) in groups {
            let all = group.values().copied().fold(Sums::default(), Sums::plus);
            let most = 2 * (agents.len() as u64 - 1) * u64::from(self.rotations);
            for (worker, own) in group {
                let total = totals.entry((worker, agent)).or_default();
                total.add(own, all, most.max(1) as f64);
            }
        }
        totals.retain(|_, total| total.variance > 0.0);
        let tests = totals.len() as f64;
        totals
            .into_iter()
            .map(|((worker, agent), total)| Deviation {
                worker: worker.to_owned(),
                agent,
                blocks: total.blocks,
                score: total.score / total.blocks as f64,
                expected: total.expected / total.blocks as f64,
                p: (total.p() * tests).min(1.0),
            })
            .collect()
    }
}

/// Sums over groups, in games' scores.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    blocks: u64,
    score: f64,
    expected: f64,
    variance: f64,
}

impl Total {
    fn add(&mut self, own: Sums, all: Sums, most: f64) {
        let (n, of) = (own.blocks as f64, all.blocks as f64);
        self.blocks += own.blocks;
        self.score += own.units as f64 / most;
        self.expected += n * all.units as f64 / of / most;
        if all.blocks > own.blocks {
            let mean = all.units as f64 / of;
            let squares = (all.squares as f64 - of * mean * mean).max(0.0);
            self.variance += n * (of - n) / (of * (of - 1.0)) * squares / (most * most);
        }
    }

    /// Upper bound of the probability of a sum at least as far from its mean: Bernstein's
    /// inequality for terms that differ by at most 1 from their mean.
    fn p(self) -> f64 {
        let far = (self.score - self.expected).abs();
        let exponent = far * far / (2.0 * (self.variance + far / 3.0));
        2.0 * libm::exp(-exponent)
    }
}

#[cfg(test)]
mod tests;
