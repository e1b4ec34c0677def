//! Which games went the same way, and which blocks count as evidence.
//!
//! Where a game has chance, every block is an observation of its own, whatever its
//! course. Without chance the course of a block follows from its opening and from
//! what the agents draw from their seeds. So a block whose opening its group had
//! before counts only once two games of the group with the same opening and seats
//! differed, before a fault of either: until then nothing shows that its agents use
//! their seeds, and it is held back.

use std::collections::BTreeMap;

use arena_model::{Beginning, engine::MAX_SEATS, result::GameResult};
use serde::{Deserialize, Serialize};

use super::{
    PARTS, Partial, Tally,
    group::{CLUSTERS, UnitsBySeat},
    ranking::Ranking,
};

/// Different games of a group are counted up to so many where there is chance, and
/// where there is none.
const DISTINCT_MAX: [usize; 2] = [64, 1024];
/// Blocks are compared for the first so many openings of each group.
const COMPARED_MAX: u64 = 64;

/// Which blocks of a group went the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sameness {
    /// What games were, by opening and then by seats.
    games: BTreeMap<u64, BTreeMap<u64, Course>>,
    /// Two games with the same opening and seats differed.
    pub(crate) differs: bool,
}

impl Sameness {
    /// Compares the games of a block with others of the same opening.
    pub(crate) fn add(&mut self, opening: u64, block: BlockCourse) {
        if self.differs || opening >= COMPARED_MAX {
            return;
        }
        for (seats, course) in block.0.into_iter().flatten() {
            let games = self.games.entry(opening).or_default();
            let known = games.entry(seats).or_default();
            if known.differs(&course) {
                self.differs = true;
                self.games = BTreeMap::new();
                return;
            }
            known.extend(course);
        }
    }
}

/// How a game went, or all of several that did not differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Course {
    /// Of the whole game; 0 where it is not known, or a fault may have changed it.
    whole: u64,
    /// Up to the first fault.
    beginning: Beginning,
}

impl Course {
    fn differs(&self, other: &Self) -> bool {
        let wholes = [self.whole, other.whole];
        !wholes.contains(&0) && self.whole != other.whole
            || self.beginning.differs(&other.beginning)
    }

    /// Takes in what goes further.
    fn extend(&mut self, other: Self) {
        self.whole = self.whole.max(other.whole);
        self.beginning = self.beginning.longer(other.beginning);
    }
}

/// The seats and courses of a block's games, by rotation; none of those without a
/// placement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockCourse([Option<(u64, Course)>; MAX_SEATS]);

impl BlockCourse {
    /// Of the game of one rotation alone.
    pub(crate) fn of(rotation: u32, result: &GameResult) -> Self {
        let mut course = Self::default();
        course.add(rotation, result);
        course
    }

    /// Adds the game of a rotation.
    pub(crate) fn add(&mut self, rotation: u32, result: &GameResult) {
        if let Some(game) = self.0.get_mut(rotation as usize) {
            let seats = result.seats.iter();
            let seats = seats.fold(0, |key, &agent| key << 16 | u64::from(agent));
            let whole = if result.faults.is_empty() {
                result.course
            } else {
                0
            };
            let beginning = result.beginning;
            *game = Some((seats, Course { whole, beginning }));
        }
    }
}

/// A block that is held back: all that is summed of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) rankings: [Ranking; 4],
    pub(super) units: UnitsBySeat,
    pub(super) cluster: u8,
}

impl Held {
    /// The `before`-th block of a group, from 0.
    pub(super) fn of(partial: &Partial, group: u64, before: u64) -> Self {
        Self {
            cluster: (group.wrapping_add(before) % CLUSTERS) as u8,
            rankings: partial.rankings,
            units: partial.units,
        }
    }
}

/// The games of one group, by how they went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Courses {
    /// Complete blocks, those held back included.
    pub(super) blocks: u64,
    sameness: Sameness,
    /// Ascending; empty where there are more than are counted.
    distinct: Vec<u64>,
    more: bool,
    /// Blocks held back, ascending, with how many of each there are.
    pub(super) held: Vec<(Held, u64)>,
}

impl Courses {
    /// Whether two blocks with the same opening differed.
    pub(super) fn differs(&self) -> bool {
        self.sameness.differs
    }

    /// Counts a game that is not void.
    pub(super) fn add_game(&mut self, course: u64, chance: bool) {
        if course == 0 || self.more {
            return;
        }
        if let Err(place) = self.distinct.binary_search(&course) {
            self.distinct.insert(place, course);
        }
        if self.distinct.len() > DISTINCT_MAX[usize::from(!chance)] {
            self.more = true;
            self.distinct = Vec::new();
        }
    }

    /// How many different games there were, and whether there were more.
    pub(super) fn distinct(&self, chance: bool) -> (u64, bool) {
        if self.more {
            (DISTINCT_MAX[usize::from(!chance)] as u64, true)
        } else {
            (self.distinct.len() as u64, false)
        }
    }

    /// Takes the `number`-th block of a group, from 0, where there are so many
    /// openings. Returns the blocks that count from now on, with how many of each
    /// there are.
    pub(super) fn add_block(
        &mut self,
        number: u64,
        openings: u64,
        block: Held,
        course: BlockCourse,
    ) -> Vec<(Held, u64)> {
        self.sameness.add(number % openings, course);
        if self.sameness.differs {
            let mut counted = std::mem::take(&mut self.held);
            counted.push((block, 1));
            return counted;
        }
        if number < openings {
            return vec![(block, 1)];
        }
        match self.held.binary_search_by_key(&block, |(known, _)| *known) {
            Ok(place) => self.held[place].1 += 1,
            Err(place) => self.held.insert(place, (block, 1)),
        }
        Vec::new()
    }
}

/// Games of one agent that do not count as evidence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldSums {
    /// Seats of them.
    pub(super) games: u64,
    /// As in [`super::Sums`].
    pub(super) sat: u64,
    pub(super) score: u64,
    pub(super) won: u64,
}

impl Tally {
    /// Whether a block has an opening that its group had before, and nothing shows
    /// that the agents play another game then.
    pub(super) fn is_repeated(&self, block: u64) -> bool {
        let Some(openings) = self.openings else {
            return false;
        };
        let courses = self.courses.get(&self.schedule.group_of(block));
        self.schedule.before(block) >= openings.size && !courses.is_some_and(Courses::differs)
    }

    /// What each agent has in blocks that are held back.
    pub(super) fn held(&self) -> Vec<HeldSums> {
        let mut sums = vec![HeldSums::default(); self.agents.len()];
        let (size, rotations) = (self.seats.len(), self.schedule.rotations() as usize);
        for (&group, courses) in self.courses.iter().filter(|(_, it)| !it.held.is_empty()) {
            let agents = self.schedule.group(group);
            for (block, times) in &courses.held {
                for (member, &agent) in agents.iter().enumerate() {
                    let sums = &mut sums[usize::from(agent)];
                    let is_own = |&other: &usize| agents[other] == agent;
                    let own = (0..size).filter(is_own).count() as u64;
                    let others = size as u64 - own;
                    for ranking in &block.rankings[..rotations] {
                        let others_units = (0..size).filter(|other| !is_own(other));
                        let units: u64 = others_units
                            .map(|other| ranking.units_against(member, other))
                            .sum();
                        sums.games += times;
                        sums.sat += times * u64::from(!agents[..member].contains(&agent));
                        sums.score +=
                            times * (units * PARTS / 2).checked_div(own * others).unwrap_or(0);
                        sums.won += times * u64::from(ranking.wins(member, size)) * PARTS / own;
                    }
                }
            }
        }
        sums
    }

    /// Games and units of each seat in blocks that are held back.
    pub(super) fn held_by_seat(&self) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0); self.seats.len()];
        let rotations = u64::from(self.schedule.rotations());
        for (block, times) in self.courses.values().flat_map(|courses| &courses.held) {
            for (seat, (games, units)) in sums.iter_mut().enumerate() {
                let of_block: u64 = block.units.iter().map(|units| u64::from(units[seat])).sum();
                *games += times * rotations;
                *units += times * of_block;
            }
        }
        sums
    }
}
