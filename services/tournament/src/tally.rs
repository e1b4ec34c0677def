//! Sums over results, from which standings are computed.
//!
//! A block counts towards intervals once all its games are there, none of them
//! void. The games of other blocks count in every mean and number, but widen or
//! narrow no interval; where such a mean lies outside the interval of the
//! complete blocks, the interval is stretched to it.

mod state;

use std::collections::{BTreeMap, HashMap};

use arena_model::{Tournament, result::GameResult};

use crate::{
    interval::{self, Moments},
    schedule::{Schedule, ScheduleError},
    standings::{AgentStanding, Standings, TournamentState},
};

pub use state::TallyState;

/// Results of one tournament, summed. Memory grows with agents, groups and
/// blocks that are incomplete, not with games.
#[derive(Clone, Debug)]
pub struct Tally {
    tournament_id: String,
    schedule: Schedule,
    names: Vec<String>,
    agents: Vec<Sums>,
    /// By group, and in it by the agent's place in the group.
    groups: BTreeMap<u64, Box<[BlockSums]>>,
    partial: HashMap<u64, Partial>,
    games: u64,
    voids: u64,
    sameness: Sameness,
}

/// Sums over the games of one agent.
#[derive(Clone, Debug, Default)]
struct Sums {
    wins: u64,
    draws: u64,
    losses: u64,
    voids: u64,
    /// Two for each seat beaten, one for each tied.
    units: u64,
    plies: u64,
    faults: BTreeMap<&'static str, u64>,
}

/// Sums over the complete blocks of one agent in one group.
#[derive(Clone, Copy, Debug, Default)]
struct BlockSums {
    units: Moments,
    wins: Moments,
}

/// A block some of whose games are there.
#[derive(Clone, Debug)]
struct Partial {
    /// One bit for each rotation.
    played: u32,
    void: bool,
    /// Units and wins by the agent's place in the group.
    members: Box<[(u64, u64)]>,
    /// Sum of what [`outcome_hash`] says of its games.
    outcome: u64,
}

/// Whether all blocks of a group that had the same base order came out alike.
#[derive(Clone, Debug, Default)]
struct Sameness {
    /// A pair of blocks was found that differs; nothing is kept from then on.
    differs: bool,
    blocks: u64,
    /// Outcome of the first block seen of a group and an order.
    outcomes: HashMap<(u64, u64), u64>,
}

impl Sameness {
    fn add(&mut self, key: (u64, u64), outcome: u64) {
        if self.differs {
            return;
        }
        self.blocks += 1;
        if *self.outcomes.entry(key).or_insert(outcome) != outcome {
            self.differs = true;
            self.outcomes = HashMap::new();
        }
    }

    fn all_alike(&self) -> bool {
        !self.differs && self.blocks > self.outcomes.len() as u64
    }
}

impl Tally {
    /// A tally without results.
    ///
    /// # Errors
    /// [`ScheduleError`] where the tournament cannot be scheduled.
    pub fn new(tournament: &Tournament) -> Result<Self, ScheduleError> {
        Ok(Self {
            tournament_id: tournament.id(1),
            schedule: Schedule::new(tournament)?,
            names: tournament
                .agents
                .iter()
                .map(|agent| agent.name.to_string())
                .collect(),
            agents: vec![Sums::default(); tournament.agents.len()],
            groups: BTreeMap::new(),
            partial: HashMap::new(),
            games: 0,
            voids: 0,
            sameness: Sameness::default(),
        })
    }

    /// Games added so far.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Adds the result of one game. Each index is added at most once, which is
    /// the caller's to see to; results may come in any order.
    ///
    /// # Panics
    /// In debug builds, where the result is of no game of this tournament or a
    /// game of an incomplete block comes twice; release builds leave it out.
    pub fn add(&mut self, result: &GameResult) {
        let seats = self.schedule.seats();
        let belongs = result.index < self.schedule.games()
            && result.seats.len() == seats
            && (result.placement.is_empty() || result.placement.len() == seats)
            && result
                .seats
                .iter()
                .all(|&agent| usize::from(agent) < self.agents.len());
        debug_assert!(belongs, "not a game of this tournament: {result:?}");
        if !belongs {
            return;
        }
        let scores = units(&result.placement);
        if !self.add_to_block(result, &scores) {
            return;
        }
        self.games += 1;
        self.voids += u64::from(result.placement.is_empty());
        for (seat, &agent) in result.seats.iter().enumerate() {
            let sums = &mut self.agents[usize::from(agent)];
            sums.add(result, seat, scores.get(seat).copied());
        }
    }

    /// Adds a game to its block; false where it is there already.
    fn add_to_block(&mut self, result: &GameResult, scores: &[(u64, Place)]) -> bool {
        let rotations = self.schedule.rotations();
        let block = result.index / u64::from(rotations);
        let rotation = (result.index % u64::from(rotations)) as u32;
        let partial = self.partial.entry(block).or_insert_with(|| Partial {
            played: 0,
            void: false,
            members: vec![(0, 0); result.seats.len()].into(),
            outcome: 0,
        });
        let new = partial.played & (1 << rotation) == 0;
        debug_assert!(new, "game {} came twice", result.index);
        if !new {
            return false;
        }
        partial.played |= 1 << rotation;
        partial.void |= result.placement.is_empty();
        partial.outcome = partial.outcome.wrapping_add(outcome_hash(rotation, result));
        for (&agent, &(units, place)) in result.seats.iter().zip(scores) {
            let member = result.seats.iter().filter(|&&other| other < agent).count();
            partial.members[member].0 += units;
            partial.members[member].1 += u64::from(place == Place::First);
        }
        if partial.played.count_ones() == rotations {
            self.complete(block);
        }
        true
    }

    fn complete(&mut self, block: u64) {
        let Some(partial) = self.partial.remove(&block).filter(|block| !block.void) else {
            return;
        };
        let group = self.schedule.group_of(block);
        let order = self.schedule.order_of(block);
        self.sameness.add((group, order), partial.outcome);
        let sums = self
            .groups
            .entry(group)
            .or_insert_with(|| vec![BlockSums::default(); partial.members.len()].into());
        for (sums, &(units, wins)) in sums.iter_mut().zip(&partial.members) {
            sums.units.add(units);
            sums.wins.add(wins);
        }
    }

    /// The standings: `finished` where every game has a result, else `running`,
    /// of the tournament's first attempt. Who knows better sets id and state,
    /// and latencies, non-determinism and the last fault, which no result tells.
    #[must_use]
    pub fn standings(&self) -> Standings {
        let mut blocks: Vec<Vec<BlockSums>> = vec![Vec::new(); self.agents.len()];
        for (&group, sums) in &self.groups {
            for (agent, &sums) in self.schedule.group(group).into_iter().zip(sums) {
                blocks[usize::from(agent)].push(sums);
            }
        }
        let mut agents: Vec<AgentStanding> = self
            .names
            .iter()
            .zip(&self.agents)
            .zip(&blocks)
            .map(|((name, sums), blocks)| self.standing(name, sums, blocks))
            .collect();
        agents.sort_by(|a, b| {
            let score = |agent: &AgentStanding| agent.score.unwrap_or(-1.0);
            score(b)
                .total_cmp(&score(a))
                .then_with(|| a.agent.cmp(&b.agent))
        });
        let total = self.schedule.games();
        Standings {
            tournament_id: self.tournament_id.clone(),
            state: if self.games == total {
                TournamentState::Finished
            } else {
                TournamentState::Running
            },
            games: self.games,
            games_total: total,
            agents,
            notes: self.notes(),
        }
    }

    fn standing(&self, name: &str, sums: &Sums, blocks: &[BlockSums]) -> AgentStanding {
        let games = sums.wins + sums.draws + sums.losses;
        let most = 2 * (self.schedule.seats() as u64 - 1);
        let rotations = u64::from(self.schedule.rotations());
        let score = mean(sums.units, games * most);
        let win_rate = mean(sums.wins, games);
        let (score_low, score_high) = stretched(
            interval::of_mean(blocks.iter().map(|block| block.units), rotations * most),
            score,
        );
        let (win_rate_low, win_rate_high) = stretched(
            interval::of_mean(blocks.iter().map(|block| block.wins), rotations),
            win_rate,
        );
        AgentStanding {
            agent: name.to_owned(),
            games,
            wins: sums.wins,
            draws: sums.draws,
            losses: sums.losses,
            voids: sums.voids,
            faults: sums.faults.values().sum(),
            faults_by_kind: sums
                .faults
                .iter()
                .map(|(&kind, &count)| (kind.to_owned(), count))
                .collect(),
            score,
            score_low,
            score_high,
            win_rate,
            win_rate_low,
            win_rate_high,
            plies_mean: mean(sums.plies, games),
            blocks: blocks.iter().map(|block| block.units.blocks).sum(),
            latency_us_p50: None,
            latency_us_p99: None,
            non_deterministic: false,
            last_fault: None,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.sameness.all_alike() {
            notes.push(
                "All blocks of the same agents came out the same: more blocks say nothing new. \
                 Set opening_plies in [play], or use rules or agents with randomness."
                    .to_owned(),
            );
        }
        if self.voids > 0 {
            notes.push(format!(
                "{} of {} games could not be played and are void: they are in no score, \
                 and their blocks are in no interval.",
                self.voids, self.games
            ));
        }
        notes
    }
}

impl Sums {
    fn add(&mut self, result: &GameResult, seat: usize, score: Option<(u64, Place)>) {
        for kind in result.faults_of(seat) {
            *self.faults.entry(kind.name()).or_default() += 1;
        }
        let Some((units, place)) = score else {
            self.voids += 1;
            return;
        };
        self.units += units;
        self.plies += u64::from(result.plies);
        match place {
            Place::First => self.wins += 1,
            Place::SharedFirst => self.draws += 1,
            Place::Behind => self.losses += 1,
        }
    }
}

/// A seat's place as standings count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    SharedFirst,
    Behind,
}

/// Of each seat, two units for each seat beaten and one for each tied, and its
/// place; empty when void.
fn units(placement: &[u8]) -> Vec<(u64, Place)> {
    placement
        .iter()
        .map(|&own| {
            let beaten = placement.iter().filter(|&&other| other > own).count() as u64;
            let tied = placement.iter().filter(|&&other| other == own).count() as u64 - 1;
            let place = if beaten + tied + 1 < placement.len() as u64 {
                Place::Behind
            } else if tied == 0 {
                Place::First
            } else {
                Place::SharedFirst
            };
            (2 * beaten + tied, place)
        })
        .collect()
}

/// What tells one outcome of a game from another, without its moves: FNV-1a
/// (Fowler, Noll, Vo), since it is kept beyond this process.
fn outcome_hash(rotation: u32, result: &GameResult) -> u64 {
    let parts = [
        &rotation.to_le_bytes()[..],
        &result.placement,
        &result.plies.to_le_bytes(),
        result.termination.name().as_bytes(),
    ];
    let bytes = parts.into_iter().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

/// An interval that holds the mean shown with it.
fn stretched(interval: Option<(f64, f64)>, mean: Option<f64>) -> (Option<f64>, Option<f64>) {
    match (interval, mean) {
        (Some((low, high)), Some(mean)) => (Some(low.min(mean)), Some(high.max(mean))),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests;
