//! Mean returns, and the blocks from which their intervals follow.
//!
//! A block's value is the sum of an agent's returns in its games, in parts above the minimum. That is
//! a whole number from 0 to a maximum, as the units of ranks are, so both have the same intervals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AgentStanding, Few, Tally, members_of};
use crate::interval::{Blocks, Moments};

/// A standard deviation of blocks, as a share of what the bounds allow, below which rare large returns
/// may be missing; and the number of blocks from which on some of them have occurred.
const NARROW: f64 = 0.05;
const NARROW_BLOCKS: u64 = 1_000;

/// Parts above the minimum by member of a group.
pub(super) type ReturnsByMember = Few<u64>;

/// Sums of returns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReturnSums {
    /// Over all games that are not void, by agent.
    agents: BTreeMap<u16, SeatReturns>,
    /// Over the complete blocks of a group that count, by agent.
    groups: BTreeMap<u64, Vec<BlockReturns>>,
}

/// Sums over the seats of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SeatReturns {
    units: u64,
    seats: u64,
}

/// Sums over blocks of an agent with a number of seats in each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BlockReturns {
    agent: u16,
    seats: u64,
    blocks: Moments,
}

impl ReturnSums {
    /// Adds a seat's return in a game.
    pub(super) fn add_seat(&mut self, agent: u16, units: u64) {
        let sums = self.agents.entry(agent).or_default();
        sums.units += units;
        sums.seats += 1;
    }

    /// Adds `times` equal blocks of a group of these agents, in ascending order.
    pub(super) fn add_blocks(
        &mut self,
        group: u64,
        agents: &[u16],
        returns: &ReturnsByMember,
        times: u64,
    ) {
        let sums = self.groups.entry(group).or_insert_with(|| {
            let begin = |(agent, own): (u16, std::ops::Range<usize>)| BlockReturns {
                agent,
                seats: own.len() as u64,
                blocks: Moments::default(),
            };
            members_of(agents).map(begin).collect()
        });
        for (sums, (_, own)) in sums.iter_mut().zip(members_of(agents)) {
            let units = returns[own].iter().sum();
            sums.blocks.add_alike(times, units);
        }
    }

    /// True if sums that were read from storage fit this number of agents.
    pub(super) fn fits(&self, agents: usize) -> bool {
        let in_blocks = self.groups.values().flatten().map(|sums| &sums.agent);
        self.agents
            .keys()
            .chain(in_blocks)
            .all(|&agent| usize::from(agent) < agents)
    }
}

impl Tally {
    /// The standings with mean returns, if returns decide the places, and the agents whose returns vary
    /// little within their bounds.
    pub(super) fn with_returns(
        &self,
        mut standings: Vec<AgentStanding>,
    ) -> (Vec<AgentStanding>, Vec<String>) {
        let Some(returns) = self.returns else {
            return (standings, Vec::new());
        };
        let rotations = u64::from(self.schedule.rotations());
        let mut blocks = vec![Blocks::default(); standings.len()];
        for sums in self.sums.returns.groups.values().flatten() {
            let most = returns.units_max() * rotations * sums.seats;
            blocks[usize::from(sums.agent)].add(sums.blocks, most);
        }
        let mut played = vec![SeatReturns::default(); standings.len()];
        for (&agent, sums) in &self.sums.returns.agents {
            played[usize::from(agent)] = *sums;
        }
        for (agent, units, seats) in self.held_returns() {
            let sums = &mut played[usize::from(agent)];
            (sums.units, sums.seats) = (sums.units - units, sums.seats - seats);
        }
        for (agent, standing) in standings.iter_mut().enumerate() {
            let SeatReturns { units, seats } = played[agent];
            standing.return_mean = returns.mean(units, seats).map(|mean| {
                let share = units as f64 / (seats * returns.units_max()) as f64;
                let estimate = blocks[agent].estimate(share, self.tuning_horizon(agent));
                let mut estimate = estimate.map(|share| returns.at(share));
                estimate.value = mean;
                estimate
            });
        }
        let vary_little = |(_, blocks): &(&AgentStanding, &Blocks)| {
            let (spread, df) = blocks.spread();
            df > 0 && spread / (df as f64) < NARROW * NARROW && blocks.count() < NARROW_BLOCKS
        };
        let narrow = standings.iter().zip(&blocks).filter(vary_little);
        let narrow = narrow.map(|(standing, _)| standing.agent.clone()).collect();
        (standings, narrow)
    }

    /// Agents of the blocks that are held back, with their parts and seats.
    fn held_returns(&self) -> Vec<(u16, u64, u64)> {
        let rotations = u64::from(self.schedule.rotations());
        let mut found = Vec::new();
        for (&group, courses) in &self.sums.courses {
            let agents = self.schedule.group(group);
            for (block, times) in &courses.held {
                let of_block = agents.iter().zip(&block.returns);
                found.extend(
                    of_block.map(|(&agent, &units)| (agent, times * units, times * rotations)),
                );
            }
        }
        found
    }
}
