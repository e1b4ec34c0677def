//! Whether standings rest on games that were played and on true records.

use arena_wire::v1;

use crate::{
    error::{ReportError, Result},
    standings::audits::unsound,
    units,
};

/// Fails if a tournament has games, and all of them have faults or are void.
pub fn check_played(standings: &v1::Standings) -> Result {
    let id = &standings.tournament_id;
    let agents = &standings.agents;
    let played = |agent: &v1::AgentStanding| agent.wins + agent.draws + agent.losses > 0;
    if agents.iter().any(|agent| agent.voids > 0) && !agents.iter().any(played) {
        return Err(ReportError::failed(format!(
            "no game of {id} could be played: all games are void, for the reason in the warnings. \
             Remove the cause, then run it again with --again"
        )));
    }
    if standings.games > 0 && standings.games_clean == 0 {
        return Err(ReportError::failed(format!(
            "every game of {id} ended with a fault; the standings list the faults of each agent"
        )));
    }
    Ok(())
}

/// Fails if standings include games whose records are known to be false, or may be.
pub fn check_sound(standings: &v1::Standings) -> Result {
    let refuted = standings.audits.as_ref().map_or(0, |audits| audits.refuted);
    if standings.generation < standings.generations && refuted > 0 {
        return Err(ReportError::differs(format!(
            "generation {} is not sound: {} of it came from workers that are not trusted, and a later \
             generation replaced them; `arena standings {}` shows the newest one",
            standings.generation,
            units::plural(refuted, "game"),
            standings.tournament_id
        )));
    }
    let (audits, id) = (standings.audits.as_ref(), &standings.tournament_id);
    let unsound = unsound(audits, standings.workers_deviating, id);
    unsound.map_or(Ok(()), |problem| Err(ReportError::differs(problem)))
}
