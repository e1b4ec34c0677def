//! The estimates of standings, from messages that have each of their numbers in a field of
//! its own.

use arena_tournament::{Estimate, Interval};
use arena_wire::v1;

/// The ends of an interval, as fields.
pub(crate) type Ends = (Option<f64>, Option<f64>);

/// Ends of an interval that a message does not have.
pub(crate) const NONE: Ends = (None, None);

/// The estimate of these fields.
pub(crate) fn of(value: Option<f64>, fixed: Ends, anytime: Ends) -> Option<Estimate> {
    let interval = |(low, high): Ends| {
        let (low, high) = low.zip(high)?;
        Some(Interval { low, high })
    };
    Some(Estimate {
        value: value?,
        fixed: interval(fixed),
        anytime: interval(anytime),
    })
}

/// The standing of two agents, and whether the message has them in the other order.
pub(crate) fn pair<'a>(
    standings: &'a v1::Standings,
    agent: &str,
    opponent: &str,
) -> Option<(&'a v1::PairStanding, bool)> {
    standings
        .pairs
        .iter()
        .find_map(|pair| match (pair.agent.as_str(), pair.opponent.as_str()) {
            pair_of if pair_of == (agent, opponent) => Some((pair, false)),
            pair_of if pair_of == (opponent, agent) => Some((pair, true)),
            _ => None,
        })
}

/// An agent's score.
pub fn score(it: &v1::AgentStanding) -> Option<Estimate> {
    let anytime = (it.score_anytime_low, it.score_anytime_high);
    of(it.score, (it.score_low, it.score_high), anytime)
}

/// An agent's luck-adjusted score.
pub fn score_adjusted(it: &v1::AgentStanding) -> Option<Estimate> {
    let fixed = (it.score_adjusted_low, it.score_adjusted_high);
    let anytime = (
        it.score_adjusted_anytime_low,
        it.score_adjusted_anytime_high,
    );
    of(it.score_adjusted, fixed, anytime)
}

/// An agent's rating in Elo.
pub fn rating(it: &v1::AgentStanding) -> Option<Estimate> {
    let anytime = (it.rating_anytime_low, it.rating_anytime_high);
    of(it.rating, (it.rating_low, it.rating_high), anytime)
}

/// An agent's mean return.
pub(crate) fn return_mean(it: &v1::AgentStanding) -> Option<Estimate> {
    let fixed = (it.return_mean_low, it.return_mean_high);
    let anytime = (it.return_mean_anytime_low, it.return_mean_anytime_high);
    of(it.return_mean, fixed, anytime)
}

/// The mean score of a seat.
pub(crate) fn seat_score(it: &v1::SeatStanding) -> Option<Estimate> {
    let anytime = (it.score_anytime_low, it.score_anytime_high);
    of(it.score, (it.score_low, it.score_high), anytime)
}

/// The score of a pair's first agent in the games of the two.
pub(crate) fn pair_score(it: &v1::PairStanding) -> Option<Estimate> {
    let anytime = (it.score_anytime_low, it.score_anytime_high);
    of(it.score, (it.score_low, it.score_high), anytime)
}

/// The luck-adjusted score of a pair's first agent.
pub(crate) fn pair_score_adjusted(it: &v1::PairStanding) -> Option<Estimate> {
    let fixed = (it.score_adjusted_low, it.score_adjusted_high);
    let anytime = (
        it.score_adjusted_anytime_low,
        it.score_adjusted_anytime_high,
    );
    of(it.score_adjusted, fixed, anytime)
}

/// The difference of two agents' scores over all their games.
pub(crate) fn difference(it: &v1::PairStanding) -> Option<Estimate> {
    let anytime = (it.difference_anytime_low, it.difference_anytime_high);
    of(
        it.difference,
        (it.difference_low, it.difference_high),
        anytime,
    )
}

/// The difference of two agents' luck-adjusted scores.
pub(crate) fn difference_adjusted(it: &v1::PairStanding) -> Option<Estimate> {
    let fixed = (it.difference_adjusted_low, it.difference_adjusted_high);
    of(it.difference_adjusted, fixed, NONE)
}

/// The difference of two agents' ratings.
pub(crate) fn rating_difference(it: &v1::PairStanding) -> Option<Estimate> {
    let fixed = (it.rating_difference_low, it.rating_difference_high);
    of(it.rating_difference, fixed, NONE)
}

/// The rating difference of two agents as the Elo of the expected score.
pub(crate) fn elo_difference(it: &v1::PairStanding) -> Option<Estimate> {
    let fixed = (it.elo_difference_low, it.elo_difference_high);
    let anytime = (
        it.elo_difference_anytime_low,
        it.elo_difference_anytime_high,
    );
    of(it.elo_difference, fixed, anytime)
}
