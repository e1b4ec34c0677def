//! Sums over results, from which standings are computed.
//!
//! A block counts towards intervals once all its games have a result and none is void. Games of
//! other blocks count in means and counts, but not in the width of intervals. If a mean is outside
//! the interval of the complete blocks, the interval is extended to contain the mean.

mod courses;
mod evidence;
mod group;
mod luck;
mod notes;
mod pairing;
mod ranking;
mod returns;
mod standings;
mod state;
mod tuning_horizon;

use std::collections::BTreeMap;

use arena_model::{
    Openings, Returns, Tournament,
    engine::{MAX_SEATS, PerSeat},
    result::GameResult,
};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::{
    interval::{Blocks, Moments},
    places::{self, By, RankKey},
    schedule::{Schedule, ScheduleError},
};
use courses::{Courses, Held, HeldSums};
use group::{Block, UnitsBySeat};
use ranking::{members, ranking, seat_units, units_against_others};
use returns::ReturnsByMember;
use tuning_horizon::TuningHorizons;

pub(crate) use courses::{BlockCourse, Sameness};
pub use evidence::Evidence;
pub(crate) use evidence::Played;
pub(crate) use group::{GroupSums, Together, distinct, members_of, units_within};
pub(crate) use luck::{
    Adjusting, GroupLuck, LuckSums, TogetherLuck, difference as adjusted_difference,
};
pub use ranking::game_score;
pub(crate) use ranking::{Ranking, units_between};
pub use standings::{
    AgentStanding, GamesSaved, OpeningsStanding, Pairing, SeatStanding, Standings,
};
pub use state::TallyState;

/// Sums over the results of one tournament. Memory grows with agents, groups and incomplete
/// blocks, not with games.
#[derive(Clone, Debug)]
pub struct Tally {
    schedule: Schedule,
    names: Vec<String>,
    sums: TallyState,
    /// The openings; `None` if there is chance.
    openings: Option<Openings>,
    opening_plies: u32,
    /// True if the openings are those of a book that the spec names.
    has_book: bool,
    /// True if agents meet different opponents.
    opponents_differ: bool,
    /// True if an agent sits in some seats more often than in others.
    confounded: bool,
    tuning_horizons: TuningHorizons,
    /// True if results decide which games are played.
    adaptive: bool,
    /// The bounds of returns, if they decide the places.
    returns: Option<Returns>,
}

/// Number of parts into which a game's score is divided, so that every score is an integer, for
/// any distribution of up to [`MAX_SEATS`] seats over agents: a multiple of twice every number of pairs
/// of an own seat and another agent's seat.
const PARTS: u64 = 50_400;

/// A value for each seat, member or rotation of a tournament's games, without heap memory for up to
/// four.
type Few<T> = SmallVec<[T; 4]>;

/// Sums over the games of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sums {
    wins: u64,
    draws: u64,
    losses: u64,
    voids: u64,
    /// Games of the agent, each counted once for any number of seats.
    sat: u64,
    /// Sum of the scores of these games, in parts; the score of a game is at most [`PARTS`].
    score: u64,
    /// Sum over games of the share of its seats that won, in the same parts.
    won: u64,
    plies: u64,
    /// Number of games by the number of seats ranked ahead.
    ranks: Few<u64>,
    faults: BTreeMap<String, u64>,
}

/// Sums over the games of one seat, for all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SeatSums {
    games: u64,
    units: u64,
    /// Moments over complete blocks.
    blocks: Moments,
}

/// An incomplete block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Partial {
    /// Played games, one bit for each rotation.
    played: u32,
    /// Void games, as the same bits.
    void: u32,
    /// Rankings by rotation; meaningless for a void or missing game.
    rankings: Few<Ranking>,
    units: UnitsBySeat,
    /// Parts of returns by member, see [`Returns::units`].
    returns: ReturnsByMember,
    /// Games with known luck, as bits, and the luck sums by member.
    lucky: u32,
    luck: Few<i64>,
    course: BlockCourse,
}

impl Partial {
    fn new(seats: usize, rotations: u32) -> Self {
        Self {
            played: 0,
            void: 0,
            rankings: smallvec![Ranking::default(); rotations as usize],
            units: UnitsBySeat::new(seats),
            returns: smallvec![0; seats],
            lucky: 0,
            luck: smallvec![0; seats],
            course: BlockCourse::new(rotations),
        }
    }

    /// True if a block that was read from storage fits games of this size.
    fn fits(&self, seats: usize, rotations: u32) -> bool {
        let members = [self.returns.len(), self.luck.len(), self.units.seats()];
        self.rankings.len() == rotations as usize && members == [seats; 3]
    }

    /// Rankings of the played games that are not void.
    fn rankings(&self) -> impl Iterator<Item = Ranking> + '_ {
        let reported = self.played & !self.void;
        let rankings = self.rankings.iter().enumerate();
        rankings
            .filter(move |(rotation, _)| reported & (1 << rotation) != 0)
            .map(|(_, &ranking)| ranking)
    }
}

/// Complete blocks of one agent.
#[derive(Clone, Copy, Debug, Default)]
struct AgentBlocks {
    score: Blocks,
    wins: Blocks,
    adjusting: Adjusting,
}

impl Tally {
    /// A tally without results.
    ///
    /// # Errors
    /// [`ScheduleError`] if the tournament cannot be scheduled.
    pub fn new(tournament: &Tournament) -> Result<Self, ScheduleError> {
        let schedule = Schedule::new(tournament)?;
        let seats = schedule.seats();
        if seats > MAX_SEATS {
            return Err(ScheduleError::Seats {
                seats,
                most: MAX_SEATS,
            });
        }
        Ok(Self {
            schedule,
            names: tournament
                .agents
                .iter()
                .map(|agent| agent.name.to_string())
                .collect(),
            sums: TallyState {
                agents: vec![Sums::new(seats); tournament.agents.len()],
                seats: vec![SeatSums::default(); seats],
                ..TallyState::default()
            },
            openings: tournament.openings,
            opening_plies: tournament.play.opening_plies.unwrap_or(0),
            has_book: tournament.play.book.is_some(),
            opponents_differ: tournament.opponents_differ(),
            confounded: notes::confounded(tournament, seats),
            tuning_horizons: TuningHorizons::of(tournament, seats),
            adaptive: tournament.format.looks_at_results(),
            returns: tournament.returns,
        })
    }

    /// Number of blocks at which the anytime-valid interval of an agent's score is narrowest.
    #[must_use]
    pub fn tuning_horizon(&self, agent: usize) -> f64 {
        self.tuning_horizons.agents[agent]
    }

    /// Updates the tally with the current stages of a tournament.
    pub fn follow(&mut self, schedule: &Schedule) {
        self.schedule = schedule.clone();
    }

    /// Adds the agents of an open ladder that were not there at the start.
    pub fn follow_changes(&mut self, tournament: &Tournament) {
        let seats = self.schedule.seats();
        let names = tournament.agents.iter().map(|agent| agent.name.to_string());
        self.names = names.collect();
        self.sums.agents.resize(self.names.len(), Sums::new(seats));
        self.tuning_horizons = TuningHorizons::of(tournament, seats);
    }

    /// Number of games added so far.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.sums.games
    }

    /// For each agent, its games with a result, and its faults by name of their kind.
    pub fn faults(&self) -> impl Iterator<Item = (u64, &BTreeMap<String, u64>)> {
        self.sums.agents.iter().map(|sums| (sums.sat, &sums.faults))
    }

    /// Adds the result of one game. The caller must add each index at most once; results
    /// may arrive in any order.
    ///
    /// # Panics
    /// In debug builds, if the result is of an unknown game, or if a game of an incomplete block
    /// is added twice. Release builds ignore such a result.
    pub fn add(&mut self, result: &GameResult) {
        let seats = self.schedule.seats();
        let belongs = result.index < self.schedule.games()
            && result.seats.len() == seats
            && (result.placement.is_empty() || result.placement.len() == seats)
            && result
                .seats
                .iter()
                .all(|&agent| usize::from(agent) < self.sums.agents.len());
        debug_assert!(belongs, "not a game of this tournament: {result:?}");
        if !belongs {
            return;
        }
        let members = members(&result.seats);
        let ranking = (!result.placement.is_empty())
            .then(|| ranking(&result.seats, &members, &result.placement));
        let returns = self.returns.map_or_else(Vec::new, |it| it.units(result));
        if !self.add_to_block(result, &members, ranking, &returns) {
            return;
        }
        for (&agent, units) in result.seats.iter().zip(returns) {
            self.sums.returns.add_seat(agent, units);
        }
        self.sums.games += 1;
        self.sums.voids += u64::from(ranking.is_none());
        if ranking.is_some() {
            let block = result.index / u64::from(self.schedule.rotations());
            let courses = self.sums.courses.entry(self.schedule.group_of(block));
            courses
                .or_default()
                .add_game(result.course, self.openings.is_none());
        }
        let of_seats = seat_units(&result.placement);
        for (seat, (&agent, member)) in result.seats.iter().zip(members).enumerate() {
            let sums = &mut self.sums.agents[usize::from(agent)];
            for kind in result.faults_of(seat) {
                *sums.faults.entry(kind.name().to_owned()).or_default() += 1;
            }
            let Some(ranking) = ranking else {
                sums.voids += 1;
                continue;
            };
            sums.add(ranking, usize::from(member), seats);
            sums.plies += u64::from(result.plies);
            let own = result.seats.iter().filter(|&&other| other == agent).count() as u64;
            let (units, others) = units_against_others(&result.seats, &result.placement, seat);
            sums.sat += u64::from(!result.seats[..seat].contains(&agent));
            sums.score += (units * PARTS / 2).checked_div(own * others).unwrap_or(0);
            sums.won += u64::from(ranking.wins(usize::from(member), seats)) * PARTS / own;
            self.sums.seats[seat].games += 1;
            self.sums.seats[seat].units += u64::from(of_seats[seat]);
        }
    }

    /// Adds a game to its block. Returns false if the block already has the game.
    fn add_to_block(
        &mut self,
        result: &GameResult,
        members: &PerSeat<u8>,
        ranking: Option<Ranking>,
        returns: &[u64],
    ) -> bool {
        let rotations = self.schedule.rotations();
        let block = result.index / u64::from(rotations);
        let rotation = (result.index % u64::from(rotations)) as u32;
        let seats = self.schedule.seats();
        let partial = self.sums.partial.entry(block);
        let partial = partial.or_insert_with(|| Partial::new(seats, rotations));
        let bit = 1 << rotation;
        let new = partial.played & bit == 0;
        debug_assert!(new, "game {} arrived twice", result.index);
        if !new {
            return false;
        }
        partial.played |= bit;
        partial
            .course
            .add(rotation, result, self.schedule.starter(result.index));
        match ranking {
            None => partial.void |= bit,
            Some(ranking) => {
                let size = result.seats.len();
                if result.luck.len() == size {
                    partial.lucky |= bit;
                }
                for (&member, &luck) in members.iter().zip(&result.luck).take(size) {
                    partial.luck[usize::from(member)] += i64::from(luck);
                }
                partial.rankings[rotation as usize] = ranking;
                for (&member, units) in members.iter().zip(returns) {
                    partial.returns[usize::from(member)] += units;
                }
                let units = seat_units(&result.placement);
                for (seat, &member) in members.iter().enumerate().take(size) {
                    partial.units.row_mut(usize::from(member))[seat] += units[seat];
                }
            }
        }
        if partial.played.count_ones() == rotations
            && let Some(partial) = self.sums.partial.remove(&block)
        {
            self.complete(block, partial, &result.seats);
        }
        true
    }

    /// Adds a block all of whose games have a result.
    fn complete(&mut self, block: u64, mut partial: Partial, seats: &[u16]) {
        let group = self.schedule.group_of(block);
        let before = self.schedule.before(block);
        let courses = self.sums.courses.entry(group).or_default();
        if partial.void != 0 {
            self.group(group, seats).add_games(partial.rankings());
            return;
        }
        courses.blocks += 1;
        if partial.lucky == partial.played {
            self.add_luck((group, before), &partial, seats);
        }
        let course = std::mem::take(&mut partial.course);
        let held = Held::of(partial, group, before);
        match self.openings {
            None => self.count(group, seats, &held, 1),
            Some(openings) => {
                let courses = self.sums.courses.entry(group).or_default();
                let counted = courses.add_block(before, openings.size, held, course);
                for (block, times) in counted {
                    self.count(group, seats, &block, times);
                }
            }
        }
    }

    fn group(&mut self, group: u64, seats: &[u16]) -> &mut GroupSums {
        self.sums.groups.entry(group).or_insert_with(|| {
            let mut agents = seats.to_vec();
            agents.sort_unstable();
            GroupSums::new(&agents)
        })
    }

    /// Counts a complete block as evidence, `times` times.
    fn count(&mut self, group: u64, seats: &[u16], block: &Held, times: u64) {
        let rankings = &block.rankings[..];
        let sums = self.group(group, seats);
        for _ in 0..times {
            sums.add_games(rankings.iter().copied());
            sums.add_block(Block {
                rankings,
                units: &block.units,
                cluster: block.cluster,
            });
        }
        if self.returns.is_some() {
            let sums = &mut self.sums;
            let agents = sums.groups.get(&group).map_or(&[][..], GroupSums::agents);
            sums.returns
                .add_blocks(group, agents, &block.returns, times);
        }
        for (seat, sums) in self.sums.seats.iter_mut().enumerate() {
            let units = block.units.rows().map(|units| u64::from(units[seat]));
            sums.blocks.add_alike(times, units.sum());
        }
    }
}

impl Sums {
    fn new(seats: usize) -> Self {
        Self {
            wins: 0,
            draws: 0,
            losses: 0,
            voids: 0,
            sat: 0,
            score: 0,
            won: 0,
            plies: 0,
            ranks: smallvec![0; seats],
            faults: BTreeMap::new(),
        }
    }

    /// The sums without the scores and rates of games that do not count.
    fn without(&self, held: &HeldSums) -> Self {
        Self {
            sat: self.sat - held.sat,
            score: self.score - held.score,
            won: self.won - held.won,
            ..self.clone()
        }
    }

    fn add(&mut self, ranking: Ranking, member: usize, size: usize) {
        let before = ranking.before(member);
        self.ranks[usize::from(before)] += 1;
        if before > 0 {
            self.losses += 1;
        } else if ranking.wins(member, size) {
            self.wins += 1;
        } else {
            self.draws += 1;
        }
    }
}

#[cfg(test)]
mod tests;
