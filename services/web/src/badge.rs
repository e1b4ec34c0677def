//! A small drawing of a tournament's state for other pages.

use std::fmt::Write;

use arena_report::{escape, estimates, standings::audits::unsound, state::state_name, units};
use arena_wire::v1::{self, TournamentState};

use crate::{
    answer::{Answer, Outcome},
    site::Site,
};

/// Width of a character and the margin of a text.
const CHARACTER: f32 = 7.0;
const MARGIN: f32 = 7.0;
/// Maximum length of a name.
const NAME_MAX: usize = 32;

/// State, leader and rating of a tournament.
pub(crate) async fn badge(site: &Site, id: &str) -> Outcome {
    let snapshot = site.snapshot(id).await?;
    Ok(Answer::badge(&drawn(&snapshot.standings)))
}

/// The state, the agent in the first place, and its rating or score.
fn text(standings: &v1::Standings) -> String {
    let mut text = state_name(standings.state()).to_owned();
    if standings.state() == TournamentState::Running && standings.games_total > 0 {
        let _ = write!(text, " {}%", standings.games * 100 / standings.games_total);
    }
    let mut first = standings.agents.iter().filter(|it| it.place == Some(1));
    if is_unsound(standings) {
        text += " · not sound";
        return text;
    }
    // If several agents share the place, none leads.
    if let (Some(leader), None) = (first.next(), first.next()) {
        let name: String = leader.agent.chars().take(NAME_MAX).collect();
        let rating = units::rating(estimates::rating(leader), standings.adaptive);
        let value = match leader.rating {
            Some(_) => rating,
            None => units::share(estimates::score(leader), standings.adaptive),
        };
        let _ = write!(text, " · {name} {value}");
    }
    text
}

fn is_unsound(standings: &v1::Standings) -> bool {
    let (audits, id) = (standings.audits.as_ref(), &standings.tournament_id);
    unsound(audits, standings.workers_deviating, id).is_some()
}

fn drawn(standings: &v1::Standings) -> String {
    let text = text(standings);
    let width = |text: &str| text.chars().count() as f32 * CHARACTER + 2.0 * MARGIN;
    let (label, value) = (width("arena"), width(&text));
    let (all, at) = (label + value, label + MARGIN);
    let colour = match standings.state() {
        _ if is_unsound(standings) => "#a3261d",
        TournamentState::Running => "#1d55b0",
        TournamentState::Finished => "#14693c",
        _ => "#565f6e",
    };
    let text = escape(&text);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" \
         aria-label=\"arena: {text}\">\
         <rect width=\"{all}\" height=\"20\" rx=\"3\" fill=\"#333b49\"/>\
         <rect x=\"{label}\" width=\"{value}\" height=\"20\" rx=\"3\" fill=\"{colour}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{MARGIN}\" y=\"14\">arena</text><text x=\"{at}\" y=\"14\">{text}</text></g></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badge_of_unsound_standings_names_no_leader() {
        let mut standings = v1::Standings {
            agents: vec![v1::AgentStanding {
                agent: "greedy".to_owned(),
                place: Some(1),
                score: Some(0.9),
                ..v1::AgentStanding::default()
            }],
            ..v1::Standings::default()
        };
        standings.set_state(TournamentState::Finished);
        assert!(drawn(&standings).contains("greedy"));
        standings.audits = Some(v1::Audits {
            refuted: 1,
            ..v1::Audits::default()
        });
        let drawn = drawn(&standings);
        assert!(
            drawn.contains("not sound") && !drawn.contains("greedy"),
            "{drawn}"
        );
    }
}
