//! Compares the scores of games by worker, where a replay proves nothing: agents that are timed or
//! not deterministic may answer differently each time.
//!
//! A worker chooses its name, so owners are compared as well: all workers of one together.
//!
//! The unit is a block that one worker, or one owner, played as a whole. Within a group of agents, the scores of
//! blocks do not depend on the worker. So the blocks of a worker are a draw without replacement
//! from all blocks of the group, and their sum has a known mean and variance, as in the mean score
//! statistic of Cochran, Mantel and Haenszel: J. R. Landis, E. R. Heyman and G. G. Koch, "Average
//! partial association in three-way contingency tables", International Statistical Review 46,
//! 1978. Sums over groups give one statistic for each worker and agent.
//!
//! Probabilities are those of Bernstein's inequality or, for few blocks, of Serfling's, whichever is smaller, and not
//! of the normal distribution, which is far too small in its tails if an agent wins few games. For wins and losses this is a bound, because
//! a hypergeometric variable is a sum of independent ones: V. A. Vatutin and V. G. Mikhailov,
//! "Limit theorems for the number of empty cells", Theory of Probability and its Applications 27,
//! 1982. Serfling's inequality holds for all scores: R. J. Serfling, "Probability inequalities for the sum in
//! sampling without replacement", Annals of Statistics 2, 1974. Probabilities are multiplied by the number of
//! statistics (Bonferroni).

use std::collections::{BTreeMap, BTreeSet};

use arena_model::result::GameResult;
use serde::{Deserialize, Serialize};

/// Workers deviate if a deviation at least as large has a smaller probability.
pub const ALARM: f64 = 0.001;
/// Maximum number of workers that are compared; games of further ones count for their owner.
const WORKERS_MAX: usize = 64;
/// Maximum number of workers and owners; games of further ones do not count.
const ALL_MAX: usize = 2 * WORKERS_MAX;
/// Between an owner and the name of its worker. No name has it.
const SEPARATOR: char = '\u{1f}';
/// Maximum number of workers of an owner that are named.
const NAMED_MAX: usize = 3;
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
    /// If several workers of one owner played its games, the owner. None if workers of several did, or if one of
    /// the games is void.
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
    /// Workers after their owner and [`SEPARATOR`], or their names if the owner is unknown. Without a name, it is an
    /// owner.
    workers: Vec<String>,
    cells: Vec<Cell>,
    open: Vec<Open>,
}

/// A worker whose games give an agent another score than those of the other workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Name of the worker, or names of the workers of an owner.
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

    /// Adds a game that a worker played. The owner may be unknown, and is then empty.
    pub fn add(&mut self, owner: &str, worker: &str, result: &GameResult) {
        let void = result.placement.is_empty();
        let worker = self.worker(owner, worker).filter(|_| !void);
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
        let of = self.open[place].worker;
        let of = match of == worker {
            true => worker,
            false => of.zip(worker).and_then(|both| self.common_owner(both)),
        };
        let open = &mut self.open[place];
        open.games += 1;
        open.worker = of;
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

    /// The number of a worker, or of its owner if there are too many workers; none if there are too many owners,
    /// too.
    fn worker(&mut self, owner: &str, name: &str) -> Option<u16> {
        let is_it = |known: &String| split(known) == (owner, name);
        if let Some(known) = self.workers.iter().position(is_it) {
            return Some(known as u16);
        }
        if self.workers.len() >= ALL_MAX || self.workers.len() >= WORKERS_MAX && owner.is_empty() {
            return None;
        }
        if self.workers.len() >= WORKERS_MAX && !name.is_empty() {
            return self.worker(owner, "");
        }
        self.workers.push(match owner {
            "" => name.to_owned(),
            owner => format!("{owner}{SEPARATOR}{name}"),
        });
        Some(self.workers.len() as u16 - 1)
    }

    /// The number of the owner of both workers.
    fn common_owner(&mut self, (one, other): (u16, u16)) -> Option<u16> {
        let [one, other] = [one, other].map(|it| split(&self.workers[usize::from(it)]).0);
        let owner = (one == other && !one.is_empty()).then(|| one.to_owned())?;
        self.worker(&owner, "")
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

    /// The statistics of all workers and agents, and of all owners with several workers.
    fn statistics(&self, more: &Self) -> Vec<Deviation> {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (owner, name) in self.workers.iter().chain(&more.workers).map(|it| split(it)) {
            names.entry(owner).or_default().insert(name);
        }
        let mut totals: Vec<(String, u16, Total)> = Vec::new();
        let by_worker = self.totals(more, |worker| worker);
        // Blocks that several workers of an owner played are those of no worker.
        let by_worker = by_worker.into_iter().filter(|((worker, _), _)| {
            let (owner, name) = split(worker);
            owner.is_empty() || !name.is_empty()
        });
        totals.extend(
            by_worker.map(|((worker, agent), total)| (split(worker).1.to_owned(), agent, total)),
        );
        if names.len() > 1 && names.values().any(|names| names.len() > 1) {
            for ((owner, agent), total) in self.totals(more, |worker| split(worker).0) {
                let of_owner = &names[owner];
                if owner.is_empty() || of_owner.len() < 2 {
                    continue;
                }
                let shown = of_owner
                    .iter()
                    .filter(|name| !name.is_empty())
                    .take(NAMED_MAX);
                let mut shown = shown.copied().collect::<Vec<_>>().join(", ");
                if of_owner.len() > NAMED_MAX {
                    shown += ", …";
                }
                totals.push((format!("{shown} (of one owner)"), agent, total));
            }
        }
        let tests = totals.len() as f64;
        let deviation = |(worker, agent, total): (String, u16, Total)| Deviation {
            worker,
            agent,
            blocks: total.blocks,
            score: total.score / total.blocks as f64,
            expected: total.expected / total.blocks as f64,
            p: (total.p() * tests).min(1.0),
        };
        totals.into_iter().map(deviation).collect()
    }

    /// The sums of each part of the workers, of all workers in such a part together.
    fn totals<'a>(
        &'a self,
        more: &'a Self,
        part: impl Fn(&'a str) -> &'a str,
    ) -> BTreeMap<(&'a str, u16), Total> {
        // By group and agent: the sums of each part.
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
                let known = group.entry(part(worker)).or_default();
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
        totals
    }
}

/// The owner and the name of a worker.
fn split(worker: &str) -> (&str, &str) {
    worker.split_once(SEPARATOR).unwrap_or(("", worker))
}

/// Sums over groups, in games' scores.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    blocks: u64,
    score: f64,
    expected: f64,
    variance: f64,
    /// The number of blocks, as far as they are a draw and not all blocks of their group.
    drawn: f64,
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
            // The deviation of the other blocks is as large.
            let drawn = n.min(of - n);
            self.drawn += drawn * (1.0 - (drawn - 1.0) / of);
        }
    }

    /// Upper bound of the probability of a sum at least as far from its mean, for terms from 0 to 1: that of
    /// Bernstein's inequality or that of Serfling's.
    fn p(self) -> f64 {
        let far = (self.score - self.expected).abs();
        let bernstein = far * far / (2.0 * (self.variance + far / 3.0));
        let serfling = 2.0 * far * far / self.drawn;
        2.0 * libm::exp(-bernstein.max(serfling))
    }
}

#[cfg(test)]
mod tests;
