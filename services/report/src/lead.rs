//! By how much the first of the standings is ahead of the others.

use arena_wire::v1;

/// The least by which the first agent is ahead of each other one, by the 95 %
/// interval of their difference: of ratings where they tell who is better, else
/// of scores, with luck taken out where that is known. None where there is none.
///
/// Two intervals that meet say little of the difference of what they are of. Where
/// results decide what is played, it is the interval that holds then.
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
            return interval(pair, by_rating, standings.adaptive).0;
        }
        let pair = pairs.find(|pair| between(pair, &other.agent, &first.agent))?;
        let (_, high) = interval(pair, by_rating, standings.adaptive);
        high.map(|high| -high)
    };
    rest.iter().map(over).collect()
}

/// Of what the first one of a pair is ahead by.
fn interval(
    pair: &v1::PairStanding,
    by_rating: bool,
    adaptive: bool,
) -> (Option<f64>, Option<f64>) {
    match (by_rating, adaptive) {
        (true, true) => (
            pair.elo_difference_anytime_low,
            pair.elo_difference_anytime_high,
        ),
        (true, false) => (pair.elo_difference_low, pair.elo_difference_high),
        (false, true) => (pair.difference_anytime_low, pair.difference_anytime_high),
        (false, false) if pair.difference_adjusted.is_some() => {
            (pair.difference_adjusted_low, pair.difference_adjusted_high)
        }
        (false, false) => (pair.difference_low, pair.difference_high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_ahead_by_the_interval_of_the_difference() {
        let agent = |name: &str| v1::AgentStanding {
            agent: name.to_owned(),
            ..v1::AgentStanding::default()
        };
        let pair = |one: &str, other: &str, low: f64, high: f64| v1::PairStanding {
            agent: one.to_owned(),
            opponent: other.to_owned(),
            difference_low: Some(low),
            difference_high: Some(high),
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
        standings.pairs[0].difference_adjusted_high = Some(0.05);
        assert_eq!(least(&standings, false)[0], Some(-0.05));
    }
}
