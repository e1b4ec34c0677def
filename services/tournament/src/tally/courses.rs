//! Which games went the same way, and which blocks count as evidence.
//!
//! Where a game has chance, every block is an observation of its own, whatever its
//! course. Without chance the course of a block follows from its opening and from
//! what the agents draw from their seeds. So a block whose opening its group had
//! before counts only once two blocks of the group with the same opening differed:
//! until then nothing shows that its agents use their seeds, and it is held back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Partial,
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
    /// What the block of an opening was, by opening.
    blocks: BTreeMap<u64, u64>,
    /// Two blocks with the same opening differed.
    pub(crate) differs: bool,
}

impl Sameness {
    /// Compares a block with others of its opening; `course` is none where the block
    /// cannot be compared.
    pub(crate) fn add(&mut self, opening: u64, course: Option<u64>) {
        let Some(course) = course else { return };
        if self.differs || opening >= COMPARED_MAX {
            return;
        }
        if *self.blocks.entry(opening).or_insert(course) != course {
            self.differs = true;
            self.blocks = BTreeMap::new();
        }
    }
}

/// One number for the courses of a block's games; none where a game has a fault or
/// no known course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockCourse {
    sum: u64,
    unknown: bool,
}

impl BlockCourse {
    /// Adds the game of a rotation.
    pub(crate) fn add(&mut self, rotation: u32, result: &arena_model::result::GameResult) {
        self.unknown |= result.course == 0 || !result.faults.is_empty();
        // Odd, so that no course is lost in the product.
        let of_rotation = 0x9e37_79b9_7f4a_7c15_u64.wrapping_add(2 * u64::from(rotation));
        self.sum = self
            .sum
            .wrapping_add(result.course.wrapping_mul(of_rotation));
    }

    pub(crate) fn known(self) -> Option<u64> {
        (!self.unknown).then_some(self.sum)
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
        self.sameness.add(number % openings, course.known());
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
