//! Selects the intervals of an agent to show: fixed-sample or anytime-valid.

use arena_wire::v1;

/// The agents with the intervals that are valid at the end. If results decided which games
/// were played or when the tournament ended, the anytime-valid intervals replace the
/// fixed-sample ones.
pub fn at_the_end(standings: &v1::Standings) -> Vec<v1::AgentStanding> {
    let agents = standings.agents.iter();
    if standings.adaptive {
        agents.map(at_any_time).collect()
    } else {
        agents.cloned().collect()
    }
}

/// The interval of a seat's score that is valid at the end.
pub fn of_seat(seat: &v1::SeatStanding, standings: &v1::Standings) -> (Option<f64>, Option<f64>) {
    if standings.adaptive {
        (seat.score_anytime_low, seat.score_anytime_high)
    } else {
        (seat.score_low, seat.score_high)
    }
}

/// An agent with its fixed-sample and anytime-valid intervals swapped.
pub fn at_any_time(agent: &v1::AgentStanding) -> v1::AgentStanding {
    v1::AgentStanding {
        score_low: agent.score_anytime_low,
        score_high: agent.score_anytime_high,
        score_anytime_low: agent.score_low,
        score_anytime_high: agent.score_high,
        score_adjusted_low: agent.score_adjusted_anytime_low,
        score_adjusted_high: agent.score_adjusted_anytime_high,
        score_adjusted_anytime_low: agent.score_adjusted_low,
        score_adjusted_anytime_high: agent.score_adjusted_high,
        // The win rate has no anytime-valid interval.
        win_rate_low: None,
        win_rate_high: None,
        rating_low: agent.rating_anytime_low,
        rating_high: agent.rating_anytime_high,
        rating_anytime_low: agent.rating_low,
        rating_anytime_high: agent.rating_high,
        ..agent.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_results_decided_intervals_are_those_of_any_look() {
        let agent = v1::AgentStanding {
            score_low: Some(0.4),
            score_high: Some(0.6),
            score_anytime_low: Some(0.3),
            score_anytime_high: Some(0.7),
            score_adjusted_low: Some(0.45),
            score_adjusted_anytime_low: Some(0.35),
            rating_low: Some(-10.0),
            rating_high: Some(10.0),
            rating_anytime_low: Some(-20.0),
            rating_anytime_high: Some(20.0),
            ..v1::AgentStanding::default()
        };
        let shown = |adaptive| {
            let standings = v1::Standings {
                adaptive,
                agents: vec![agent.clone()],
                ..v1::Standings::default()
            };
            let agent = at_the_end(&standings).remove(0);
            (
                agent.score_low,
                agent.score_high,
                agent.score_adjusted_low,
                agent.rating_low,
                agent.rating_high,
            )
        };
        assert_eq!(
            shown(false),
            (Some(0.4), Some(0.6), Some(0.45), Some(-10.0), Some(10.0))
        );
        assert_eq!(
            shown(true),
            (Some(0.3), Some(0.7), Some(0.35), Some(-20.0), Some(20.0))
        );
    }
}
