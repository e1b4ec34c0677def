//! The games of a tournament, each computed from its index.
//!
//! A tournament is a sequence of stages. A stage lists groups of agents that meet, each in
//! the same number of blocks. A round robin is one stage of all groups. Other formats
//! return the next stage when all games of the earlier stages have a result
//! ([`Stages`](crate::Stages)). Blocks are numbered through all stages: within a stage
//! every group's k-th block comes before any next block. Games are numbered block ×
//! rotations + rotation.
//!
//! A group has the same number in every stage: its position among all groups of the spec's
//! agents in lexicographic order; in an open ladder, among all groups of as many agents as it may get. So
//! its results can be summed over stages. Block k·G + g
//! of a round robin is the k-th block of group g, with G groups.
//!
//! A cyclic order of a group has its first agent in front and permutes the others; there
//! are (seats − 1)! of them, in lexicographic order. The base order of a group's k-th
//! block, counted through all stages, is number k mod (seats − 1)!. In rotation r, seat s
//! has the agent at position (s + r) mod seats of the base order.
//!
//! If two agents share more than two seats, an agent sits more than once; the cyclic orders
//! are then the distinct necklaces. If a necklace repeats after p < seats rotations, every
//! p rotations have dice of their own: with the dice of the first they would be the same
//! games again.
//!
//! A game without chance has N openings. A group's k-th block begins with opening (a·k + b)
//! mod N, the same in all rotations, with a and b drawn for each group and a coprime to N.
//! So a group has each opening once in N blocks, and the openings of two groups are drawn
//! independently. With `book_order = "sequential"`, every group's k-th block begins with opening k mod N
//! of the book.
//!
//! In a round robin and a gauntlet, a group plays each opening once if all its agents
//! declare that they do not use their seeds: more blocks would be the same games. The
//! blocks beyond N then belong to the other groups only.
//!
//! Without `rotate` a block is one game, and the base order of every block is the group in
//! the order of the spec.

mod groups;
mod openings;
mod orders;
mod segments;
pub(crate) mod stage;

use std::collections::HashMap;

use arena_model::{
    BlockSeed, ENTRIES_MAX, Tournament, TournamentSeed, engine::StreamOf, format::Format,
};

use crate::format::FormatError;
use groups::Groups;
use openings::OpeningOrder;
use segments::{Meeting, Meetings, Segment};
pub use stage::Stage;
use stage::Who;

/// A tournament that cannot be scheduled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A game with fewer than two seats or too many.
    #[error("seats = {seats}: must be from 2 to {most}")]
    Seats {
        /// Requested number of seats.
        seats: usize,
        /// Maximum number of seats.
        most: usize,
    },
    /// Not enough agents for one game.
    #[error(
        "a game has {seats} seats, but only {agents} {} listed: list more agents, or the same bot \
         under another name in an [[agent]] table",
        if *.agents == 1 { "agent is" } else { "agents are" }
    )]
    TooFewAgents {
        /// Number of agents in the spec.
        agents: usize,
        /// Seats of a game.
        seats: usize,
    },
    /// More agents than indices.
    #[error("{agents} agents are listed, but the limit is {}", u16::MAX)]
    TooManyAgents {
        /// Number of agents in the spec.
        agents: usize,
    },
    /// More games than 64 bits can count.
    #[error(
        "{blocks} blocks for each group of {seats} of {agents} agents are too many games to \
         count: lower blocks"
    )]
    TooManyGames {
        /// Blocks of each group.
        blocks: u64,
        /// Seats of a game.
        seats: usize,
        /// Number of agents in the spec.
        agents: usize,
    },
    /// A spec that the format rejects.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Maximum number of listed groups; beyond it, all groups play all blocks.
const LISTED_MAX: u64 = 1_000_000;
/// Chosen so that (seats − 1)! fits 64 bits.
const SEATS_MAX: usize = 20;

/// A game of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledGame {
    /// Position in the schedule, from 0.
    pub index: u64,
    /// Number of its block, from 0.
    pub block: u64,
    /// Rotation of the block's base order, from 0.
    pub rotation: u32,
    /// The block's seed; if unpaired, the game's own seed.
    pub seed: BlockSeed,
    /// Indices into the tournament's agents, in seat order.
    pub seats: Vec<u16>,
    /// The opening of the game; `None` if the game has chance.
    pub opening: Option<u64>,
}

/// The games of a tournament as far as they are known. Its size depends on the number of
/// groups in the stages, not on the number of games.
#[derive(Clone, Debug)]
pub struct Schedule {
    seed: TournamentSeed,
    agents: usize,
    groups: Groups,
    rotations: u32,
    rotate: bool,
    paired: bool,
    openings: Option<OpeningOrder>,
    starter_drawn: bool,
    /// True for each agent that repeats its games from a repeated opening; empty if every
    /// group plays all blocks.
    repeats: Vec<bool>,
    segments: Vec<Segment>,
    blocks: u64,
    /// Blocks of the stages that are left out, because they would only repeat games.
    left_out: u64,
    /// Blocks of each group over all segments that list groups.
    played: HashMap<u64, u64>,
}

impl Schedule {
    /// A schedule without games.
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
        // Agents that are added later change no number of a group.
        let numbered = match tournament.is_open() {
            true => ENTRIES_MAX,
            false => agents,
        };
        let groups = Groups::new(numbered, seats, repeats).ok_or(ScheduleError::TooManyGames {
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
            openings: OpeningOrder::new(tournament),
            starter_drawn: tournament.openings.is_some_and(|it| it.starter_drawn),
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

    /// Appends a stage.
    ///
    /// # Errors [`ScheduleError::TooManyGames`] if there are more games than 64 bits can
    /// count; the schedule is unchanged in that case.
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

    /// The groups of a stage that play more blocks than there are openings, with their
    /// positions; `None` if all do.
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

    /// Number of games of the stages that are left out, because they would only repeat
    /// others.
    #[must_use]
    pub fn games_left_out(&self) -> u64 {
        self.left_out * u64::from(self.rotations)
    }

    /// Number of games known so far: blocks × rotations.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.blocks * u64::from(self.rotations)
    }

    /// Number of blocks known so far, of all groups.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Number of games of a block.
    #[must_use]
    pub fn rotations(&self) -> u32 {
        self.rotations
    }

    /// Number of possible groups: all group numbers are below it.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups.count()
    }

    /// Number of seats of a game.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.groups.seats()
    }

    /// The group that plays a block.
    ///
    /// # Panics If there is no such block.
    #[must_use]
    pub fn group_of(&self, block: u64) -> u64 {
        self.place_of(block).group
    }

    /// Number of blocks of the block's group before it, through all stages.
    ///
    /// # Panics If there is no such block.
    pub(crate) fn before(&self, block: u64) -> u64 {
        self.place_of(block).before
    }

    /// The group of a block, with the group's number of earlier blocks.
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

    /// The numbers of the groups that the block's stages list; `None` if these are all
    /// groups.
    pub(crate) fn listed(&self, block: u64) -> Option<Vec<u64>> {
        let (segment, ..) = self.find(block);
        match &segment.meetings {
            Meetings::All => None,
            Meetings::Listed(meetings) => Some(meetings.iter().map(|it| it.group).collect()),
        }
    }

    /// Number of groups that the block's stages list; the blocks of these stages cycle
    /// through the list.
    ///
    /// # Panics If there is no such block.
    #[must_use]
    pub fn groups_listed(&self, block: u64) -> u64 {
        let (segment, ..) = self.find(block);
        segment.meetings.len(&self.groups)
    }

    /// Number of runs of stages with the same groups.
    #[cfg(test)]
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The position of the block's group in its stage's list of groups.
    pub(crate) fn meeting_of(&self, block: u64) -> u64 {
        self.place_of(block).place
    }

    /// The segment of a block, the block's position in the segment's list, and the number
    /// of earlier passes through the list.
    fn find(&self, block: u64) -> (&Segment, u64, u64) {
        assert!(block < self.blocks, "block {block} of {}", self.blocks);
        let after = self.segments.partition_point(|it| it.first <= block);
        let segment = &self.segments[after - 1];
        let listed = segment.meetings.len(&self.groups);
        let within = block - segment.first;
        (segment, within % listed, within / listed)
    }

    /// The agents of a group, ascending; an agent with two seats is listed twice.
    ///
    /// # Panics If there is no such group.
    #[must_use]
    pub fn group(&self, group: u64) -> Vec<u16> {
        self.groups.members(group)
    }

    /// One game of the schedule.
    ///
    /// # Panics If the index is not below [`Schedule::games`].
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

    /// The seat that starts a game, if chance does nothing but name it; else seat 0.
    ///
    /// It is the first draw of the table's stream, as in the rules.
    #[must_use]
    pub fn starter(&self, index: u64) -> usize {
        if !self.starter_drawn {
            return 0;
        }
        let game = self.game(index);
        let mut table = game.seed.chance_keys().stream(StreamOf::Table);
        table.below(game.seats.len() as u32) as usize
    }

    /// All games known so far in index order, computed on demand.
    pub fn iter(&self) -> impl Iterator<Item = ScheduledGame> + '_ {
        (0..self.games()).map(|index| self.game(index))
    }
}

#[cfg(test)]
mod tests;
