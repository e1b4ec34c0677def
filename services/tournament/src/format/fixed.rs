//! A fixed list of pairings: each line plays `blocks` blocks, seated as listed.
//!
//! If all agents meet each other equally often, their scores define the order. Otherwise a
//! score also depends on the opponents, so that the verdict assigns no places. Standings
//! use ratings in that case, which account for the opponents.

use arena_model::format::Settings;

use super::combinations::GROUPS_MAX;
use super::planner::OneStage;
use super::verdict::{ranking, unplaced};
use super::{Field, FormatError, StagePlanner};
use crate::schedule::stage::Stage;

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let Some(Settings::Fixed(fixed)) = &field.settings else {
        return Err(field.error("it needs [fixed] games".to_owned()));
    };
    if fixed.games.len() > GROUPS_MAX {
        return Err(field.error(format!(
            "{} games are listed, but the limit is {GROUPS_MAX}",
            fixed.games.len()
        )));
    }
    let by_name = field.by_name();
    let mut games = Vec::with_capacity(fixed.games.len());
    for (number, names) in fixed.games.iter().enumerate() {
        if names.len() != field.seats {
            return Err(field.error(format!(
                "game {} of the list has {} agents, but a game has {} seats",
                number + 1,
                names.len(),
                field.seats
            )));
        }
        let agents = names.iter().map(|name| {
            by_name.get(name.as_str()).copied().ok_or_else(|| {
                field.error(format!(
                    "game {} names an unknown agent \"{name}\"",
                    number + 1
                ))
            })
        });
        games.push(agents.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(Box::new(OneStage {
        groups: games.len() as u64,
        stage: Stage::seated(games, field.blocks),
        verdict: if fixed.is_even() {
            |field, sums| ranking(field, &sums.agents)
        } else {
            |field, sums| unplaced(field, &sums.agents)
        },
        field,
    }))
}
