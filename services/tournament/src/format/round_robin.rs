//! Every group of agents meets in `blocks` blocks.

use super::{
    Field, FormatError, Games, Next, StagePlanner, StageSums,
    verdict::{ranking, unplaced},
};
use crate::schedule::stage::Stage;

#[derive(Debug)]
struct RoundRobin {
    field: Field,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    Ok(Box::new(RoundRobin { field }))
}

impl StagePlanner for RoundRobin {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        match ended {
            None => Next::Stage(Stage::all(self.field.blocks)),
            Some(sums) if sums.uneven => Next::Over(unplaced(&self.field, &sums.agents)),
            Some(sums) => Next::Over(ranking(&self.field, &sums.agents)),
        }
    }

    fn games(&self) -> Games {
        let (agents, seats) = (self.field.agents() as u128, self.field.seats as u128);
        let groups = (0..seats).try_fold(1_u128, |groups, step| {
            Some(groups.checked_mul(agents - step)? / (step + 1))
        });
        let groups = groups.and_then(|groups| u64::try_from(groups).ok());
        let blocks = groups.and_then(|groups| groups.checked_mul(self.field.blocks));
        Games::exactly(self.field.games(blocks.unwrap_or(u64::MAX)))
    }
}
