//! The games of a tournament, each computed from its index.
//!
//! A tournament is a sequence of stages; a stage lists groups of agents that
//! meet, in as many blocks each. A round robin is one stage of all groups; other
//! formats tell the next stage when all games of the stages before have a result
//! ([`Stages`](crate::Stages)). Blocks are numbered on through all stages: within
//! a stage every group's k-th block comes before any next one. Games are numbered
//! block × rotations + rotation.
//!
//! A group has one number in whatever stage it meets: its place among all groups
//! of the spec's agents in lexicographic order, so that what it did can be added
//! up. Block k·G + g of a round robin is the k-th block of group g, G of them.
//!
//! A cyclic order of a group has its first agent in front and the others
//! permuted; there are (seats − 1)! of them, in lexicographic order. The base
//! order of a group's k-th block, counted through all stages, is number
//! k mod (seats − 1)!. In rotation r seat s holds the agent at place
//! (s + r) mod seats of the base order.
//!
//! Where two agents share more than two seats, an agent sits more than once; the
//! cyclic orders are the distinct necklaces then. Of a necklace that is itself
//! again after p < seats rotations, every p rotations have dice of their own:
//! with those of the first they would be the same games once more.
//!
//! A game without chance has N openings. A group's k-th block begins with opening
//! (a·k + b) mod N, the same in all rotations, with a and b drawn for each group and
//! a without a divisor in common with N. So a group has each opening once in N blocks,
//! and the openings of two groups are drawn apart from each other.
//!
//! In a round robin and a gauntlet a group plays each opening once where all its
//! agents say that they do not use their seeds: more blocks would be the same games.
//! The blocks beyond N are then those of the other groups alone.
//!
//! Without `rotate` a block is one game, and the base order of every block is
//! the group in the order of the spec.

mod groups;
mod openings;
mod orders;
mod segments;
pub(crate) mod stage;

use std::collections::HashMap;

use arena_model::{BlockSeed, Tournament, TournamentSeed, format::Format};

use crate::format::FormatError;
use groups::Groups;
use openings::OpeningOrder;
use segments::{Meeting, Meetings, Segment};
pub use stage::Stage;
use stage::Who;

/// A tournament that cannot be scheduled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A game of nobody against nobody.
    #[error("seats = {seats}: a tournament needs from 2 to {most} players in a game")]
    Seats {
        /// As given.
        seats: usize,
        /// The most that can be scheduled.
        most: usize,
    },
    /// Not enough agents for one game.
    #[error(
        "a game has {seats} seats but only {agents} {} listed: \
         list more agents, or the same bot again under a name of its own in an [[agent]] table",
        if *.agents == 1 { "agent is" } else { "agents are" }
    )]
    TooFewAgents {
        /// Agents of the spec.
        agents: usize,
        /// Seats of a game.
        seats: usize,
    },
    /// More agents than indices.
    #[error("{agents} agents are listed, the most is {}", u16::MAX)]
    TooManyAgents {
        /// Agents of the spec.
        agents: usize,
    },
    /// More games than can be counted.
    #[error(
        "{blocks} blocks for each group of {seats} of {agents} agents is more games \
         than can be counted: lower blocks"
    )]
    TooManyGames {
        /// Blocks of each group.
        blocks: u64,
        /// Seats of a game.
        seats: usize,
        /// Agents of the spec.
        agents: usize,
    },
    /// What a format cannot do.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Of more groups, none is left out.
const LISTED_MAX: u64 = 1_000_000;
/// So that (seats − 1)! fits 64 bits.
const SEATS_MAX: usize = 20;

/// One game to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledGame {
    /// Position in the schedule, from 0.
    pub index: u64,
    /// Number of its block, from 0.
    pub block: u64,
    /// Which rotation of the block's base order, from 0.
    pub rotation: u32,
    /// The block's seed; unpaired, the game's own.
    pub seed: BlockSeed,
    /// Indices into the tournament's agents, in seat order.
    pub seats: Vec<u16>,
    /// Which of the tournament's openings it begins with; none where the game has
    /// chance.
    pub opening: Option<u64>,
}

/// The games of a tournament as far as they are known. Its size does not depend
/// on how many there are, but on how many groups its stages list.
#[derive(Clone, Debug)]
pub struct Schedule {
    seed: TournamentSeed,
    agents: usize,
    groups: Groups,
    rotations: u32,
    rotate: bool,
    paired: bool,
    openings: Option<OpeningOrder>,
    /// Which agents repeat their games from an opening that they had; empty where
    /// every group plays all blocks.
    repeats: Vec<bool>,
    segments: Vec<Segment>,
    blocks: u64,
    /// Blocks that stages asked for and that would only repeat games.
    left_out: u64,
    /// Blocks of each group that a segment lists, in all of them.
    played: HashMap<u64, u64>,
}

impl Schedule {
    /// The schedule without a game.
    pub(crate) fn empty(tournament: &Tournament) -> Result<Self, ScheduleError> {
        let seats = tournament.seats;
        let agents = tournament.agents.len();
        if !(2..=SEATS_MAX).contains(&seats) {
            return Err(ScheduleError::Seats {
                seats,
                most: SEATS_MAX,
            });
        }
        // Two agents fill any number of seats.
        let repeats = tournament.format == Format::Sprt && seats > 2;
        if agents < if repeats { 2 } else { seats } {
            return Err(ScheduleError::TooFewAgents { agents, seats });
        }
        if agents > usize::from(u16::MAX) {
            return Err(ScheduleError::TooManyAgents { agents });
        }
        let groups = Groups::new(agents, seats, repeats).ok_or(ScheduleError::TooManyGames {
            blocks: tournament.blocks,
            seats,
            agents,
        })?;
        Ok(Self {
            seed: tournament.seed,
            agents,
            groups,
            rotations: if tournament.play.rotate {
                seats as u32
            } else {
                1
            },
            rotate: tournament.play.rotate,
            paired: tournament.play.paired,
            openings: tournament
                .openings
                .map(|openings| OpeningOrder::new(openings.size, tournament.seed)),
            repeats: match tournament.format {
                Format::RoundRobin | Format::Gauntlet => tournament
                    .agents
                    .iter()
                    .map(|agent| agent.uses_seed == Some(false))
                    .collect(),
                _ => Vec::new(),
            },
            segments: Vec::new(),
            blocks: 0,
            left_out: 0,
            played: HashMap::new(),
        })
    }

    /// Adds a stage behind those that are known.
    ///
    /// # Errors
    /// [`ScheduleError::TooManyGames`] where there are more games than 64 bits
    /// can count; nothing is added then.
    pub(crate) fn extend(&mut self, stage: Stage) -> Result<(), ScheduleError> {
        let listed = match &stage.who {
            Who::All => self.groups.count(),
            Who::Groups(groups) | Who::Seated(groups) => groups.len() as u64,
        };
        let blocks = listed.checked_mul(stage.blocks).filter(|blocks| {
            let all = self.blocks.checked_add(*blocks);
            all.and_then(|all| all.checked_mul(u64::from(self.rotations)))
                .is_some()
        });
        let Some(blocks) = blocks else {
            return Err(ScheduleError::TooManyGames {
                blocks: stage.blocks,
                seats: self.groups.seats(),
                agents: self.agents,
            });
        };
        let others = self.others(&stage, listed);
        let first = match (&others, self.openings) {
            (Some(_), Some(openings)) => openings.size,
            _ => stage.blocks,
        };
        let seated = matches!(stage.who, Who::Seated(_));
        let meetings = match stage.who {
            Who::All => Meetings::All,
            Who::Groups(groups) | Who::Seated(groups) => {
                self.meetings(groups.iter().zip(0..), first, seated)
            }
        };
        self.push(meetings, first);
        if let Some(others) = others {
            let rest = stage.blocks - first;
            if matches!(self.segments.last(), Some(last) if matches!(last.meetings, Meetings::All))
            {
                let numbers = others.iter().map(|(group, _)| self.groups.number(group));
                self.played = numbers.map(|number| (number, first)).collect();
            }
            let others = others.iter().map(|(group, place)| (group, *place));
            let meetings = self.meetings(others, rest, seated);
            self.left_out += blocks - listed * first - rest * meetings.len(&self.groups);
            self.push(meetings, rest);
        }
        Ok(())
    }

    /// The groups of a stage that play more blocks than there are openings, with
    /// their places; none where all do.
    fn others(&self, stage: &Stage, listed: u64) -> Option<Vec<(Vec<u16>, u64)>> {
        let size = self.openings?.size;
        if stage.blocks <= size || listed > LISTED_MAX || !self.repeats.contains(&true) {
            return None;
        }
        let all: Vec<Vec<u16>>;
        let groups = match &stage.who {
            Who::All => {
                all = (0..listed).map(|number| self.group(number)).collect();
                &all
            }
            Who::Groups(groups) | Who::Seated(groups) => groups,
        };
        let repeats = |group: &[u16]| group.iter().all(|&it| self.repeats[usize::from(it)]);
        let others = groups.iter().zip(0..).filter(|(group, _)| !repeats(group));
        let others: Vec<_> = others.map(|(group, at)| (group.clone(), at)).collect();
        (others.len() < groups.len()).then_some(others)
    }

    fn push(&mut self, meetings: Meetings, rounds: u64) {
        let listed = meetings.len(&self.groups);
        let blocks = listed * rounds;
        if blocks == 0 {
            return;
        }
        match self.segments.last_mut() {
            Some(last) if last.meetings.go_on(&meetings, last.blocks / listed) => {
                last.blocks += blocks;
            }
            _ => self.segments.push(Segment {
                first: self.blocks,
                blocks,
                meetings,
            }),
        }
        self.blocks += blocks;
    }

    fn meetings<'a>(
        &mut self,
        groups: impl Iterator<Item = (&'a Vec<u16>, u64)>,
        blocks: u64,
        seated: bool,
    ) -> Meetings {
        let meetings = groups.map(|(agents, place)| {
            let group = self.groups.number(agents);
            let played = self.played.entry(group).or_default();
            let before = *played;
            *played += blocks;
            Meeting {
                group,
                place,
                before,
                seated: seated.then(|| orders::permutation_number(agents)),
            }
        });
        Meetings::Listed(meetings.collect())
    }

    /// Games that the stages asked for and that would only repeat others.
    #[must_use]
    pub fn games_left_out(&self) -> u64 {
        self.left_out * u64::from(self.rotations)
    }

    /// Games known so far: blocks × rotations.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.blocks * u64::from(self.rotations)
    }

    /// Blocks known so far, of all groups.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Games of a block.
    #[must_use]
    pub fn rotations(&self) -> u32 {
        self.rotations
    }

    /// Groups that there can be: all numbers of groups are below.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups.count()
    }

    /// Players of a game.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.groups.seats()
    }

    /// The group that plays a block.
    ///
    /// # Panics
    /// Where there is no such block.
    #[must_use]
    pub fn group_of(&self, block: u64) -> u64 {
        self.place_of(block).group
    }

    /// How many blocks its group has before a block, through all stages.
    ///
    /// # Panics
    /// Where there is no such block.
    pub(crate) fn before(&self, block: u64) -> u64 {
        self.place_of(block).before
    }

    /// In which of its orders a group plays a block; equal numbers of a group
    /// are equal orders.
    ///
    /// # Panics
    /// Where there is no such block.
    #[must_use]
    pub fn order_of(&self, block: u64) -> u64 {
        let place = self.place_of(block);
        match place.seated {
            Some(order) => order,
            None if self.rotate => place.before % orders::cyclic_orders(&self.group(place.group)),
            None => 0,
        }
    }

    /// The group of a block, with the blocks that it had before this one.
    fn place_of(&self, block: u64) -> Meeting {
        let (segment, place, round) = self.find(block);
        match &segment.meetings {
            Meetings::All => Meeting {
                group: place,
                place,
                before: round,
                seated: None,
            },
            Meetings::Listed(meetings) => {
                let meeting = meetings[place as usize];
                Meeting {
                    before: meeting.before + round,
                    ..meeting
                }
            }
        }
    }

    /// The groups that the stages list with which a block is played, by their
    /// numbers; none where those are all groups.
    pub(crate) fn listed(&self, block: u64) -> Option<Vec<u64>> {
        let (segment, ..) = self.find(block);
        match &segment.meetings {
            Meetings::All => None,
            Meetings::Listed(meetings) => Some(meetings.iter().map(|it| it.group).collect()),
        }
    }

    /// How many groups the stages list with which a block is played; the blocks
    /// of those stages go through the list again and again.
    ///
    /// # Panics
    /// Where there is no such block.
    #[must_use]
    pub fn groups_listed(&self, block: u64) -> u64 {
        let (segment, ..) = self.find(block);
        segment.meetings.len(&self.groups)
    }

    /// How many runs of stages with the same groups there are.
    #[cfg(test)]
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// At which place of its stage's list of groups the group of a block is.
    pub(crate) fn meeting_of(&self, block: u64) -> u64 {
        self.place_of(block).place
    }

    /// The segment of a block, the block's place in its list and how many times
    /// the list was gone through before it.
    fn find(&self, block: u64) -> (&Segment, u64, u64) {
        assert!(block < self.blocks, "block {block} of {}", self.blocks);
        let after = self.segments.partition_point(|it| it.first <= block);
        let segment = &self.segments[after - 1];
        let listed = segment.meetings.len(&self.groups);
        let within = block - segment.first;
        (segment, within % listed, within / listed)
    }

    /// The agents of a group, ascending; one that sits twice is there twice.
    ///
    /// # Panics
    /// Where there is no such group.
    #[must_use]
    pub fn group(&self, group: u64) -> Vec<u16> {
        self.groups.members(group)
    }

    /// One game.
    ///
    /// # Panics
    /// Where the index is not below [`Schedule::games`].
    #[must_use]
    pub fn game(&self, index: u64) -> ScheduledGame {
        assert!(index < self.games(), "game {index} of {}", self.games());
        let block = index / u64::from(self.rotations);
        let rotation = (index % u64::from(self.rotations)) as u32;
        let place = self.place_of(block);
        let group = self.group(place.group);
        let mut seats = match place.seated {
            Some(order) => orders::permutation(group, order),
            None if self.rotate => {
                let order = place.before % orders::cyclic_orders(&group);
                orders::cyclic_order(group, order)
            }
            None => group,
        };
        let period = orders::period(&seats);
        seats.rotate_left(rotation as usize);
        let seed = self.seed.block(block);
        ScheduledGame {
            index,
            block,
            rotation,
            seed: match (self.paired, rotation / period) {
                (true, 0) => seed,
                (true, again) => seed.rotation(again),
                (false, _) => seed.rotation(rotation),
            },
            seats,
            opening: self
                .openings
                .map(|openings| openings.number(place.group, place.before)),
        }
    }

    /// All games known so far in index order, computed one by one.
    pub fn iter(&self) -> impl Iterator<Item = ScheduledGame> + '_ {
        (0..self.games()).map(|index| self.game(index))
    }
}

#[cfg(test)]
mod tests;
