//! Every group of agents meets in `blocks` blocks.

use super::{
    Field, FormatError, StagePlanner,
    planner::OneStage,
    verdict::{ranking, unplaced},
};
use crate::schedule::stage::Stage;

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let (agents, seats) = (field.agents() as u128, field.seats as u128);
    let groups = (0..seats).try_fold(1_u128, |groups, step| {
        Some(groups.checked_mul(agents - step)? / (step + 1))
    });
    let groups = groups.and_then(|groups| u64::try_from(groups).ok());
    Ok(Box::new(OneStage {
        stage: Stage::all(field.blocks),
        groups: groups.unwrap_or(u64::MAX),
        verdict: |field, sums| match sums.uneven {
            true => unplaced(field, &sums.agents),
            false => ranking(field, &sums.agents),
        },
        field,
    }))
}
