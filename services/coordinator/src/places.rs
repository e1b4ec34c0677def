//! The order of agents in standings.

use std::collections::HashMap;

use arena_tournament::{
    format::Verdict,
    places::{self, By, RankKey},
};
use arena_wire::v1;

/// The verdict of standings, if games decided its places.
pub(crate) fn verdict(standings: &v1::Standings) -> Option<Verdict> {
    let played = standings.agents.iter().any(|agent| agent.games > 0);
    let verdict: Verdict = serde_json::from_str(&standings.verdict_json).ok()?;
    (played && !verdict.places().is_empty()).then_some(verdict)
}

/// Removes all places: the games do not decide them.
pub(crate) fn clear_places(standings: &mut v1::Standings) {
    for standing in &mut standings.agents {
        standing.place = None;
    }
}

/// Moves agents that never answered in any game to the end, without place and rating:
/// a forfeit of an opponent shows nothing about them.
pub(crate) fn unrank(standings: &mut v1::Standings) {
    let absent = |it: &v1::AgentStanding| it.games > 0 && it.unplayed + it.unasked >= it.games;
    let (out, mut agents): (Vec<_>, Vec<_>) = std::mem::take(&mut standings.agents)
        .into_iter()
        .partition(absent);
    let mut taken: Vec<u64> = out.iter().filter_map(|it| it.place).collect();
    taken.sort_unstable();
    for place in agents.iter_mut().filter_map(|it| it.place.as_mut()) {
        *place -= taken.partition_point(|before| before < place) as u64;
    }
    for (is_asked, problem) in [
        (true, "never answered in any game"),
        // Each game ended by the fault of another agent.
        (false, "was never asked for a move in any game"),
    ] {
        let group = out.iter().filter(|it| (it.unplayed > 0) == is_asked);
        let names: Vec<&str> = group.map(|it| it.agent.as_str()).collect();
        let note = format!("not ranked: {} {problem}", names.join(", "));
        if !names.is_empty() && !standings.notes.contains(&note) {
            standings.notes.push(note);
        }
    }
    for mut standing in out {
        (standing.place, standing.nash) = (None, None);
        unrate(&mut standing);
        agents.push(standing);
    }
    standings.agents = agents;
}

/// Removes the rating of an agent.
pub(crate) fn unrate(standing: &mut v1::AgentStanding) {
    standing.rating = None;
    (standing.rating_low, standing.rating_high) = (None, None);
    (standing.rating_anytime_low, standing.rating_anytime_high) = (None, None);
}

/// Sorts agents by rank, with their places and, if the verdict has it, the deciding criterion.
pub(crate) fn arrange(standings: &mut v1::Standings, by: By, verdict: Option<&Verdict>) {
    let places = verdict.map(Verdict::places).unwrap_or_default();
    let mut place_of: HashMap<&str, u64> = HashMap::new();
    for (place, agent) in &places {
        place_of.entry(agent).or_insert(*place);
    }
    let agents = std::mem::take(&mut standings.agents);
    standings.agents = places::arrange(
        agents,
        by,
        |standing| RankKey {
            agent: &standing.agent,
            score: standing.score,
            rating: standing.rating,
            place: place_of.get(&*standing.agent).copied(),
        },
        |standing, place| standing.place = place,
    );
    let all = standings.agents.iter_mut();
    let mut all: HashMap<_, _> = all.map(|it| (it.agent.clone(), it)).collect();
    for swiss in verdict.map(Verdict::swiss).unwrap_or_default() {
        if let Some(standing) = all.get_mut(&*swiss.agent) {
            standing.swiss_points = Some(swiss.points);
            standing.buchholz = Some(swiss.buchholz);
            standing.byes = Some(swiss.byes);
        }
    }
}
