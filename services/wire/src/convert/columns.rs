//! Games by column: one list for each field.

use arena_model::engine::Termination;

use super::{
    ConvertError,
    endings::{fault_kind, termination},
    wrong,
};
use crate::v1;

impl v1::GameColumns {
    /// Number of games.
    #[must_use]
    pub fn games(&self) -> usize {
        self.index.len()
    }

    /// Adds a game, for so many seats.
    pub fn push(&mut self, record: &v1::GameRecord, seats: usize) {
        let game = self.games() as u32;
        let faults = record.faults.iter().map(|&fault| v1::GameFault {
            game,
            fault: Some(fault),
        });
        self.faults.extend(faults);
        self.index.push(record.index);
        self.block.push(record.block);
        self.seed.push(record.seed);
        add(&mut self.agent, &record.seats, seats);
        add(&mut self.placement, &record.placement, seats);
        add(&mut self.score, &record.scores, seats);
        add(&mut self.luck, &record.luck, seats);
        self.has_luck.push(!record.luck.is_empty());
        self.plies.push(record.plies);
        self.termination.push(record.termination);
        self.hash.extend_from_slice(&record.hash);
    }

    /// Checks that each column has an entry for each game, or for each seat of each game, and that indices
    /// are those of so many agents.
    ///
    /// # Errors
    /// [`ConvertError`] if one has not.
    pub fn check(&self, seats: usize, agents: usize) -> Result<(), ConvertError> {
        const MESSAGE: &str = "GameColumns";
        let games = self.games();
        let by_game = [
            self.block.len(),
            self.seed.len(),
            self.has_luck.len(),
            self.plies.len(),
            self.termination.len(),
        ];
        let by_seat = [
            self.agent.len(),
            self.placement.len(),
            self.score.len(),
            self.luck.len(),
        ];
        if by_game.iter().any(|&entries| entries != games)
            || by_seat.iter().any(|&entries| entries != games * seats)
            || self.hash.len() != games * 32
            || !(self.timing.is_empty() || self.timing.len() == games)
        {
            return wrong(MESSAGE, "a column has too few or too many entries");
        }
        if self.agent.iter().any(|&agent| agent as usize >= agents) {
            return wrong(MESSAGE, "an agent does not exist");
        }
        let fault = |it: &v1::GameFault| {
            let kind = it.fault.and_then(|fault| fault_kind(fault.kind()));
            (it.game as usize) < games && kind.is_some()
        };
        if !self.faults.iter().all(fault) || !self.faults.is_sorted_by_key(|fault| fault.game) {
            return wrong(MESSAGE, "a fault is of no game or of an unknown kind");
        }
        let known = |&value: &i32| {
            let value = v1::Termination::try_from(value).unwrap_or_default();
            termination(value).is_some()
        };
        match self.termination.iter().all(known) {
            true => Ok(()),
            false => wrong(MESSAGE, "a game has no termination"),
        }
    }

    /// The faults of a game: seat and name of each.
    pub fn faults_of(&self, game: usize) -> impl Iterator<Item = (u32, &'static str)> {
        let game = game as u32;
        let from = self.faults.partition_point(|fault| fault.game < game);
        let faults = self.faults[from..].iter();
        let faults = faults.take_while(move |fault| fault.game == game);
        faults.filter_map(|it| {
            let fault = it.fault?;
            Some((fault.seat, fault_kind(fault.kind())?.name()))
        })
    }

    /// How a game ended.
    #[must_use]
    pub fn termination_of(&self, game: usize) -> &'static str {
        let value = v1::Termination::try_from(self.termination[game]).unwrap_or_default();
        termination(value).map_or("", Termination::name)
    }
}

/// Adds the values of all seats, zeros if there are none.
fn add<T: Copy + Default>(column: &mut Vec<T>, values: &[T], seats: usize) {
    let next = column.len() + seats;
    column.extend_from_slice(&values[..values.len().min(seats)]);
    column.resize(next, T::default());
}
