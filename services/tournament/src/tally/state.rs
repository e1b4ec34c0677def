//! A tally as plain data, to be kept and taken up again.

use std::collections::{BTreeMap, HashMap};

use arena_model::{Tournament, engine::FaultKind};
use serde::{Deserialize, Serialize};

use super::{BlockSums, Partial, Sameness, Sums, Tally};
use crate::{interval::Moments, schedule::ScheduleError};

/// All that a [`Tally`] has learnt. Only for the release that wrote it: what
/// the numbers mean is told nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyState {
    games: u64,
    voids: u64,
    agents: Vec<AgentState>,
    groups: Vec<(u64, Vec<[Numbers; 2]>)>,
    partial: Vec<(u64, PartialState)>,
    differs: bool,
    blocks: u64,
    outcomes: Vec<(u64, u64, u64)>,
}

/// Blocks, sum, and sum of squares.
type Numbers = (u64, u64, u64);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AgentState {
    wins: u64,
    draws: u64,
    losses: u64,
    voids: u64,
    units: u64,
    plies: u64,
    faults: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PartialState {
    played: u32,
    void: bool,
    members: Vec<(u64, u64)>,
    outcome: u64,
}

impl TallyState {
    /// Games in it.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games
    }
}

impl Tally {
    /// What it has learnt so far.
    #[must_use]
    pub fn state(&self) -> TallyState {
        let numbers = |moments: Moments| (moments.blocks, moments.sum, moments.squares);
        let sums = |sums: &[BlockSums]| {
            let sums = sums.iter();
            sums.map(|sums| [sums.units, sums.wins].map(numbers))
                .collect()
        };
        let partial = |(&block, partial): (&u64, &Partial)| {
            let state = PartialState {
                played: partial.played,
                void: partial.void,
                members: partial.members.to_vec(),
                outcome: partial.outcome,
            };
            (block, state)
        };
        let outcomes = &self.sameness.outcomes;
        TallyState {
            games: self.games,
            voids: self.voids,
            agents: self.agents.iter().map(Sums::state).collect(),
            groups: self
                .groups
                .iter()
                .map(|(&group, of_group)| (group, sums(of_group)))
                .collect(),
            partial: self.partial.iter().map(partial).collect(),
            differs: self.sameness.differs,
            blocks: self.sameness.blocks,
            outcomes: outcomes
                .iter()
                .map(|(&(group, order), &outcome)| (group, order, outcome))
                .collect(),
        }
    }

    /// A tally that goes on from a state of the same tournament; none where
    /// the state cannot be of it.
    ///
    /// # Errors
    /// As [`Tally::new`].
    pub fn resume(
        tournament: &Tournament,
        state: TallyState,
    ) -> Result<Option<Self>, ScheduleError> {
        let mut tally = Self::new(tournament)?;
        let schedule = &tally.schedule;
        let seats = schedule.seats();
        let groups_fit = state
            .groups
            .iter()
            .all(|(group, sums)| *group < schedule.groups() && sums.len() == seats);
        let partial_fit = state
            .partial
            .iter()
            .all(|(block, partial)| *block < schedule.blocks() && partial.members.len() == seats);
        if state.agents.len() != tally.agents.len()
            || state.games > schedule.games()
            || !(groups_fit && partial_fit)
        {
            return Ok(None);
        }
        let moments = |(blocks, sum, squares)| Moments {
            blocks,
            sum,
            squares,
        };
        let group = |(group, sums): (u64, Vec<[Numbers; 2]>)| {
            let sums = sums.into_iter().map(|sums| {
                let [units, wins] = sums.map(moments);
                BlockSums { units, wins }
            });
            (group, sums.collect())
        };
        let partial = |(block, state): (u64, PartialState)| {
            let partial = Partial {
                played: state.played,
                void: state.void,
                members: state.members.into(),
                outcome: state.outcome,
            };
            (block, partial)
        };
        tally.games = state.games;
        tally.voids = state.voids;
        tally.agents = state.agents.into_iter().map(Sums::of).collect();
        tally.groups = state.groups.into_iter().map(group).collect();
        tally.partial = state.partial.into_iter().map(partial).collect();
        let outcomes = state.outcomes.into_iter();
        tally.sameness = Sameness {
            differs: state.differs,
            blocks: state.blocks,
            outcomes: outcomes
                .map(|(group, order, outcome)| ((group, order), outcome))
                .collect::<HashMap<_, _>>(),
        };
        Ok(Some(tally))
    }
}

impl Sums {
    fn state(&self) -> AgentState {
        let faults = self.faults.iter();
        AgentState {
            wins: self.wins,
            draws: self.draws,
            losses: self.losses,
            voids: self.voids,
            units: self.units,
            plies: self.plies,
            faults: faults
                .map(|(&kind, &count)| (kind.to_owned(), count))
                .collect(),
        }
    }

    fn of(state: AgentState) -> Self {
        let named = |name: &str| FaultKind::ALL.into_iter().find(|kind| kind.name() == name);
        Self {
            wins: state.wins,
            draws: state.draws,
            losses: state.losses,
            voids: state.voids,
            units: state.units,
            plies: state.plies,
            faults: state
                .faults
                .into_iter()
                .filter_map(|(name, count)| Some((named(&name)?.name(), count)))
                .collect(),
        }
    }
}
