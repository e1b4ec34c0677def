//! The lead of the first agent in the standings over the others.

use arena_tournament::Interval;
use arena_wire::v1;

use crate::estimates;

/// The smallest lead of the first agent over each other agent: the lower bound of the 95 %
/// confidence interval of their difference. The difference is of ratings if ratings decide
/// the order, otherwise of scores, luck-adjusted if available. `None` if unknown.
///
/// Overlapping intervals of two agents say little about the difference between the agents.
/// If results decide which games are played, the anytime-valid interval is used.
pub(super) fn least(standings: &v1::Standings, by_rating: bool) -> Vec<Option<f64>> {
    let Some((first, rest)) = standings.agents.split_first() else {
        return Vec::new();
    };
    let over = |other: &v1::AgentStanding| {
        let between = |pair: &&v1::PairStanding, one: &str, other: &str| {
            pair.agent == one && pair.opponent == other
        };
        let mut pairs = standings.pairs.iter();
        if let Some(pair) = pairs
            .clone()
            .find(|pair| between(pair, &first.agent, &other.agent))
        {
            return interval(pair, by_rating, standings.adaptive).map(|ends| ends.low);
        }
        let pair = pairs.find(|pair| between(pair, &other.agent, &first.agent))?;
        interval(pair, by_rating, standings.adaptive).map(|ends| -ends.high)
    };
    rest.iter().map(over).collect()
}

/// The interval of the lead of a pair's first agent.
fn interval(pair: &v1::PairStanding, by_rating: bool, adaptive: bool) -> Option<Interval> {
    let lead = match (by_rating, adaptive) {
        (true, _) => estimates::elo_difference(pair),
        (false, true) => estimates::difference(pair),
        (false, false) => {
            estimates::difference_adjusted(pair).or_else(|| estimates::difference(pair))
        }
    };
    lead?.interval(adaptive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_uses_the_difference_interval() {
        let agent = |name: &str| v1::AgentStanding {
            agent: name.to_owned(),
            ..v1::AgentStanding::default()
        };
        let pair = |one: &str, other: &str, low: f64, high: f64| v1::PairStanding {
            agent: one.to_owned(),
            opponent: other.to_owned(),
            difference: Some(f64::midpoint(low, high)),
            difference_low: Some(low),
            difference_high: Some(high),
            elo_difference: Some(6.0),
            elo_difference_anytime_low: Some(3.0),
            elo_difference_anytime_high: Some(9.0),
            ..v1::PairStanding::default()
        };
        let mut standings = v1::Standings {
            agents: ["one", "two", "three", "four"].map(agent).into(),
            pairs: vec![
                pair("two", "one", -0.3, -0.1),
                pair("one", "three", -0.1, 0.2),
            ],
            ..v1::Standings::default()
        };
        assert_eq!(least(&standings, false), [Some(0.1), Some(-0.1), None]);
        standings.adaptive = true;
        assert_eq!(least(&standings, true), [Some(-9.0), Some(3.0), None]);
        standings.adaptive = false;
        standings.pairs[0].difference_adjusted = Some(-0.1);
        standings.pairs[0].difference_adjusted_low = Some(-0.25);
        standings.pairs[0].difference_adjusted_high = Some(0.05);
        assert_eq!(least(&standings, false)[0], Some(-0.05));
    }
}
