//! The state of a tally as plain data, for storage and resumption.

use arena_model::Tournament;
use serde::{Deserialize, Serialize};

use super::{Courses, Partial, SeatSums, Sums, Tally, group::GroupSums, luck::GroupLuck};
use crate::schedule::{Schedule, ScheduleError};

/// The state of a [`Tally`]. It is valid only for the release that wrote it; the format is
/// not documented elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyState {
    games: u64,
    voids: u64,
    agents: Vec<Sums>,
    seats: Vec<SeatSums>,
    groups: Vec<(u64, GroupSums)>,
    luck: Vec<(u64, GroupLuck)>,
    partial: Vec<(u64, Partial)>,
    courses: Vec<(u64, Courses)>,
}

impl TallyState {
    /// Number of games in it.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games
    }
}

impl Tally {
    /// The current state.
    #[must_use]
    pub fn state(&self) -> TallyState {
        let groups = self.groups.iter();
        let partial = self.partial.iter();
        TallyState {
            games: self.games,
            voids: self.voids,
            agents: self.agents.clone(),
            seats: self.seats.clone(),
            groups: groups.map(|(&id, group)| (id, group.clone())).collect(),
            luck: self.luck.clone().into_iter().collect(),
            partial: partial.map(|(&id, block)| (id, block.clone())).collect(),
            courses: self.courses.clone().into_iter().collect(),
        }
    }

    /// Resumes a tally from a state of the same tournament, whose games so far are those of
    /// the schedule; `None` if the state does not fit the tournament.
    ///
    /// # Errors As [`Tally::new`].
    pub fn resume(
        tournament: &Tournament,
        schedule: &Schedule,
        state: TallyState,
    ) -> Result<Option<Self>, ScheduleError> {
        let mut tally = Self::new(tournament)?;
        tally.follow(schedule);
        let seats = tally.seats.len();
        let agents = tally.agents.len();
        let mut groups = state.groups.iter();
        let fits = state.agents.len() == agents
            && state.seats.len() == seats
            && state.games <= schedule.games()
            && groups.all(|(_, group)| group.fits(seats, agents));
        if !fits {
            return Ok(None);
        }
        tally.games = state.games;
        tally.voids = state.voids;
        tally.agents = state.agents;
        tally.seats = state.seats;
        tally.groups = state.groups.into_iter().collect();
        tally.luck = state.luck.into_iter().collect();
        tally.partial = state.partial.into_iter().collect();
        tally.courses = state.courses.into_iter().collect();
        Ok(Some(tally))
    }
}
