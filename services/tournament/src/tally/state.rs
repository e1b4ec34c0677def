//! The state of a tally as plain data, from which the tally can be restored.

use std::collections::{BTreeMap, HashMap};

use arena_model::Tournament;
use serde::{Deserialize, Serialize};

use super::{
    Courses, Partial, SeatSums, Sums, Tally, group::GroupSums, luck::GroupLuck, returns::ReturnSums,
};
use crate::schedule::{Schedule, ScheduleError};

/// The state of a [`Tally`]. A state is valid only for the release that wrote it, and its format
/// is internal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyState {
    pub(super) games: u64,
    pub(super) voids: u64,
    pub(super) agents: Vec<Sums>,
    pub(super) seats: Vec<SeatSums>,
    pub(super) groups: BTreeMap<u64, GroupSums>,
    /// Luck by group; empty if luck is not known.
    pub(super) luck: BTreeMap<u64, GroupLuck>,
    /// Empty unless returns decide the places.
    pub(super) returns: ReturnSums,
    /// Incomplete blocks.
    pub(super) partial: HashMap<u64, Partial>,
    /// By group.
    pub(super) courses: BTreeMap<u64, Courses>,
}

impl TallyState {
    /// Number of games in the state.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.games
    }
}

impl Tally {
    /// The current state.
    #[must_use]
    pub fn state(&self) -> TallyState {
        self.sums.clone()
    }

    /// Restores a tally from a state of the same tournament; `schedule` has its current stages.
    /// Returns `None` if the state does not fit the tournament.
    ///
    /// # Errors
    /// As [`Tally::new`].
    pub fn resume(
        tournament: &Tournament,
        schedule: &Schedule,
        state: TallyState,
    ) -> Result<Option<Self>, ScheduleError> {
        let mut tally = Self::new(tournament)?;
        tally.follow(schedule);
        let (seats, agents) = (tally.sums.seats.len(), tally.sums.agents.len());
        let fits = state.agents.len() == agents
            && state.seats.len() == seats
            && state.games <= schedule.games()
            && state.groups.values().all(|group| group.fits(seats, agents))
            && state.returns.fits(agents)
            && state
                .partial
                .values()
                .all(|partial| partial.fits(seats, schedule.rotations()));
        tally.sums = state;
        Ok(fits.then_some(tally))
    }
}
