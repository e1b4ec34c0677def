//! Identical games, and the blocks that count as evidence.
//!
//! If a game has chance, every block is an independent observation, whatever its moves.
//! Without chance, the moves of a block depend only on its opening and on how the agents use
//! their seeds. So a block that repeats an opening of its group counts only once two games of the
//! group with the same opening and seats have differed before any fault. Until then, nothing
//! shows that the agents use their seeds, and the block is held back.

use std::collections::BTreeMap;

use arena_model::{Beginning, result::GameResult};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{
    Few, PARTS, Partial, Tally,
    group::{CLUSTERS, UnitsBySeat},
    ranking::{Ranking, members},
    returns::ReturnsByMember,
};

/// Maximum number of distinct games counted per group, with chance and without chance.
const DISTINCT_MAX: [usize; 2] = [64, 1024];
/// Number of openings per group whose blocks are compared.
const COMPARED_MAX: u64 = 64;

/// Compares the blocks of a group for identical games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sameness {
    /// Games by opening, then by the members of the group in each seat.
    games: BTreeMap<u64, BTreeMap<u64, Course>>,
    /// True if two games with the same opening and seats differed.
    pub(crate) differs: bool,
}

impl Sameness {
    /// Compares the games of a block with others of the same opening.
    pub(crate) fn add(&mut self, opening: u64, block: BlockCourse) {
        if self.differs || opening >= COMPARED_MAX {
            return;
        }
        for (members, course) in block.0.into_iter().flatten() {
            let games = self.games.entry(opening).or_default();
            let known = games.entry(members).or_default();
            if known.differs(&course) {
                self.differs = true;
                self.games = BTreeMap::new();
                return;
            }
            known.extend(course);
        }
    }
}

/// Hashes of the moves of a game, or of several games that did not differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Course {
    /// Hash of the whole game; 0 if it is unknown, or if a fault may have changed the moves.
    whole: u64,
    /// The moves up to the first fault.
    beginning: Beginning,
}

impl Course {
    fn differs(&self, other: &Self) -> bool {
        let wholes = [self.whole, other.whole];
        !wholes.contains(&0) && self.whole != other.whole
            || self.beginning.differs(&other.beginning)
    }

    /// Adds the moves of a longer game that does not differ.
    fn extend(&mut self, other: Self) {
        self.whole = self.whole.max(other.whole);
        self.beginning = self.beginning.longer(other.beginning);
    }
}

/// The members and moves of a block's games, by rotation; `None` for a game without a
/// placement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockCourse(Few<Option<(u64, Course)>>);

impl BlockCourse {
    /// A block without games.
    pub(super) fn new(rotations: u32) -> Self {
        Self(smallvec![None; rotations as usize])
    }

    /// One game only.
    pub(crate) fn of(result: &GameResult, starter: usize) -> Self {
        let mut course = Self::new(1);
        course.add(0, result, starter);
        course
    }

    /// Adds the game of a rotation, by its seats from the starter on.
    pub(crate) fn add(&mut self, rotation: u32, result: &GameResult, starter: usize) {
        if let Some(game) = self.0.get_mut(rotation as usize) {
            let seats = result.seats.len();
            let members = members(&result.seats);
            let from_starter = members[..seats].iter().cycle().skip(starter).take(seats);
            let members = from_starter.fold(0, |key, &member| key << 4 | u64::from(member));
            let whole = if result.faults.is_empty() {
                result.course
            } else {
                0
            };
            let beginning = result.beginning;
            *game = Some((members, Course { whole, beginning }));
        }
    }
}

/// The data of a block that is held back: everything that the sums need.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) rankings: Few<Ranking>,
    pub(super) units: UnitsBySeat,
    pub(super) returns: ReturnsByMember,
    pub(super) cluster: u8,
}

impl Held {
    /// The block that has `before` earlier blocks in its group.
    pub(super) fn of(partial: Partial, group: u64, before: u64) -> Self {
        Self {
            cluster: (group.wrapping_add(before) % CLUSTERS) as u8,
            rankings: partial.rankings,
            units: partial.units,
            returns: partial.returns,
        }
    }
}

/// The games of one group by their moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Courses {
    /// Complete blocks, including those held back.
    pub(super) blocks: u64,
    sameness: Sameness,
    /// Hashes of distinct games, in ascending order; empty above the limit.
    distinct: Vec<u64>,
    /// True if there are more distinct games than the limit.
    more: bool,
    /// Blocks that are held back, in ascending order, with their multiplicity.
    pub(super) held: Vec<(Held, u64)>,
}

impl Courses {
    /// True if two games with the same opening and seats differed.
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

    /// Number of distinct games, and whether it is a lower bound.
    pub(super) fn distinct(&self, chance: bool) -> (u64, bool) {
        if self.more {
            (DISTINCT_MAX[usize::from(!chance)] as u64, true)
        } else {
            (self.distinct.len() as u64, false)
        }
    }

    /// Adds block `number` of a group, counted from 0. Returns the blocks that count from now on,
    /// with their multiplicity.
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
        match self.held.binary_search_by(|(known, _)| known.cmp(&block)) {
            Ok(place) => self.held[place].1 += 1,
            Err(place) => self.held.insert(place, (block, 1)),
        }
        Vec::new()
    }
}

/// Sums over the games of one agent that do not count as evidence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldSums {
    /// Number of the agent's seats in these games.
    pub(super) games: u64,
    /// Number of games of the agent, as in [`super::Sums`].
    pub(super) sat: u64,
    pub(super) score: u64,
    pub(super) won: u64,
}

impl Tally {
    /// True if scores cannot rank the agents: because agents meet different opponents, or because
    /// some groups have fewer blocks that count, since further blocks would repeat games.
    #[must_use]
    pub fn opponents_differ(&self) -> bool {
        let counted = |courses: &Courses| {
            let held: u64 = courses.held.iter().map(|(_, times)| times).sum();
            courses.blocks - held
        };
        let mut groups = self.sums.courses.values();
        let repeat = self.schedule.games_left_out() > 0
            || self
                .sums
                .courses
                .values()
                .any(|courses| !courses.held.is_empty());
        let first = groups.next().map(counted);
        self.opponents_differ || repeat && groups.any(|courses| Some(counted(courses)) != first)
    }

    /// True if a block repeats an opening of its group, and no two games of the group with the
    /// same opening have differed.
    pub(super) fn is_repeated(&self, block: u64) -> bool {
        let Some(openings) = self.openings else {
            return false;
        };
        let courses = self.sums.courses.get(&self.schedule.group_of(block));
        self.schedule.before(block) >= openings.size && !courses.is_some_and(Courses::differs)
    }

    /// Sums of each agent in blocks that are held back.
    pub(super) fn held(&self) -> Vec<HeldSums> {
        let mut sums = vec![HeldSums::default(); self.sums.agents.len()];
        let size = self.sums.seats.len();
        for (&group, courses) in self
            .sums
            .courses
            .iter()
            .filter(|(_, it)| !it.held.is_empty())
        {
            let agents = self.schedule.group(group);
            for (block, times) in &courses.held {
                for (member, &agent) in agents.iter().enumerate() {
                    let sums = &mut sums[usize::from(agent)];
                    let is_own = |&other: &usize| agents[other] == agent;
                    let own = (0..size).filter(is_own).count() as u64;
                    let others = size as u64 - own;
                    for ranking in &block.rankings {
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
        let mut sums = vec![(0, 0); self.sums.seats.len()];
        let rotations = u64::from(self.schedule.rotations());
        for (block, times) in self.sums.courses.values().flat_map(|courses| &courses.held) {
            for (seat, (games, units)) in sums.iter_mut().enumerate() {
                let of_block: u64 = block.units.rows().map(|units| u64::from(units[seat])).sum();
                *games += times * rotations;
                *units += times * of_block;
            }
        }
        sums
    }
}
