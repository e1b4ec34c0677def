//! The games of a round robin, each computed from its index.
//!
//! Groups are the combinations of the spec's agents, in lexicographic order of
//! their places in the spec; there are G of them. Block k·G + g is the k-th
//! block of group g, so every group's k-th block comes before any next one.
//! Games are numbered block × rotations + rotation.
//!
//! A cyclic order of a group has its first agent in front and the others
//! permuted; there are (seats − 1)! of them, in lexicographic order. The base
//! order of a group's k-th block is number k mod (seats − 1)!. In rotation r
//! seat s holds the agent at place (s + r) mod seats of the base order.
//!
//! Without `rotate` a block is one game, and the base order of every block is
//! the group in the order of the spec.

use arena_model::{BlockSeed, Tournament, TournamentSeed, format::Format};

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
    /// A format that has no schedule.
    #[error("format = \"{format}\" cannot be scheduled by this release")]
    Format {
        /// Its name.
        format: &'static str,
    },
    /// Not enough agents for one game.
    #[error(
        "a game has {seats} seats but only {agents} agents are listed: \
         list more agents, or the same bot again under a name of its own in an [[agent]] table"
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
}

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
}

/// The games of a tournament. Its size does not depend on how many there are.
#[derive(Clone, Debug)]
pub struct Schedule {
    seed: TournamentSeed,
    agents: u64,
    seats: usize,
    groups: u64,
    blocks: u64,
    rotations: u32,
    rotate: bool,
    paired: bool,
}

impl Schedule {
    /// The schedule of a tournament.
    ///
    /// # Errors
    /// [`ScheduleError`] where there are too few agents for a game, or more
    /// games than 64 bits can count.
    pub fn new(tournament: &Tournament) -> Result<Self, ScheduleError> {
        let seats = tournament.seats;
        let agents = tournament.agents.len();
        if tournament.format != Format::RoundRobin {
            return Err(ScheduleError::Format {
                format: tournament.format.name(),
            });
        }
        if !(2..=SEATS_MAX).contains(&seats) {
            return Err(ScheduleError::Seats {
                seats,
                most: SEATS_MAX,
            });
        }
        if agents < seats {
            return Err(ScheduleError::TooFewAgents { agents, seats });
        }
        if agents > usize::from(u16::MAX) {
            return Err(ScheduleError::TooManyAgents { agents });
        }
        let rotations = if tournament.play.rotate {
            seats as u32
        } else {
            1
        };
        let sizes = binomial(agents as u64, seats as u64).and_then(|groups| {
            let blocks = groups.checked_mul(tournament.blocks)?;
            blocks.checked_mul(u64::from(rotations))?;
            Some((groups, blocks))
        });
        let (groups, blocks) = sizes.ok_or(ScheduleError::TooManyGames {
            blocks: tournament.blocks,
            seats,
            agents,
        })?;
        Ok(Self {
            seed: tournament.seed,
            agents: agents as u64,
            seats,
            groups,
            blocks,
            rotations,
            rotate: tournament.play.rotate,
            paired: tournament.play.paired,
        })
    }

    /// Games in all: blocks × rotations.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.blocks * u64::from(self.rotations)
    }

    /// Blocks in all, of all groups.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Games of a block.
    #[must_use]
    pub fn rotations(&self) -> u32 {
        self.rotations
    }

    /// Groups of agents that meet.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Players of a game.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// The group that plays a block.
    #[must_use]
    pub fn group_of(&self, block: u64) -> u64 {
        block % self.groups
    }

    /// Which of its cyclic orders a group plays in a block.
    #[must_use]
    pub fn order_of(&self, block: u64) -> u64 {
        if self.rotate {
            (block / self.groups) % factorial(self.seats as u64 - 1)
        } else {
            0
        }
    }

    /// The agents of a group, ascending.
    ///
    /// # Panics
    /// Where there is no such group.
    #[must_use]
    pub fn group(&self, group: u64) -> Vec<u16> {
        assert!(group < self.groups, "group {group} of {}", self.groups);
        let mut rank = group;
        let mut from = 0;
        (0..self.seats)
            .map(|place| {
                let rest = (self.seats - place) as u64;
                let agent = self.member(from, rest, &mut rank);
                from = agent + 1;
                agent as u16
            })
            .collect()
    }

    /// The least member of the combination of `rest` agents, `from` and above,
    /// whose number is `rank`; takes what comes before it off the rank.
    fn member(&self, from: u64, rest: u64, rank: &mut u64) -> u64 {
        // Combinations that begin below `agent` are all less those within
        // `agent..`; the last agent with no more than `rank` of them is it.
        let choose = |above: u64| binomial(above, rest).expect("no more than the groups");
        let all = choose(self.agents - from);
        let below = |agent: u64| all - choose(self.agents - agent);
        let (mut low, mut high) = (from, self.agents - rest);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if below(middle) <= *rank {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        *rank -= below(low);
        low
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
        let mut seats = cyclic_order(self.group(self.group_of(block)), self.order_of(block));
        seats.rotate_left(rotation as usize);
        let seed = self.seed.block(block);
        ScheduledGame {
            index,
            block,
            rotation,
            seed: if self.paired {
                seed
            } else {
                seed.rotation(rotation)
            },
            seats,
        }
    }

    /// All games in index order, computed one by one.
    pub fn iter(&self) -> impl Iterator<Item = ScheduledGame> + '_ {
        (0..self.games()).map(|index| self.game(index))
    }
}

/// The `number`-th cyclic order of a group in lexicographic order: the first
/// stays, the others are permuted.
fn cyclic_order(mut group: Vec<u16>, number: u64) -> Vec<u16> {
    let mut rank = number;
    for place in 1..group.len() {
        let arrangements = factorial((group.len() - place - 1) as u64);
        let chosen = place + (rank / arrangements) as usize;
        rank %= arrangements;
        group[place..=chosen].rotate_right(1);
    }
    group
}

fn factorial(n: u64) -> u64 {
    (2..=n).product()
}

/// `n` over `k`; none where it does not fit.
fn binomial(n: u64, k: u64) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let mut value: u128 = 1;
    for step in 0..u128::from(k.min(n - k)) {
        value = value.checked_mul(u128::from(n) - step)? / (step + 1);
    }
    value.try_into().ok()
}

#[cfg(test)]
mod tests;
