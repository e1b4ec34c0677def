//! Places in standings: from the verdict, from ratings if agents meet different opponents,
//! or otherwise from scores.

/// The data that determine an agent's place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankKey<'a> {
    /// Name of the agent.
    pub agent: &'a str,
    /// Mean score of its games; `None` without a game.
    pub score: Option<f64>,
    /// In Elo.
    pub rating: Option<f64>,
    /// Its place in the verdict, from 1.
    pub place: Option<u64>,
}

/// The quantity that determines the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The mean score, for formats in which all agents meet the same opponents.
    Score,
    /// The rating.
    Rating,
    /// The verdict.
    Verdict,
}

/// Ratings with a smaller difference share a place, because they are floating-point sums.
const RATING_STEP: f64 = 1e-6;

/// Agents by index, best first, each with its place. Equal agents share a place, ordered by
/// score, then by name. Agents with an unknown value have no place and come last.
fn order(agents: &[RankKey<'_>], by: By) -> Vec<(usize, Option<u64>)> {
    let worth = |agent: &RankKey<'_>| match by {
        By::Score => agent.score,
        By::Rating => agent
            .rating
            .filter(|_| agent.score.is_some())
            .map(|rating| (rating / RATING_STEP).round()),
        By::Verdict => agent.place.map(|place| -(place as f64)),
    };
    // An unknown value is worst; `total_cmp` orders all values.
    let known = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    let mut order: Vec<usize> = (0..agents.len()).collect();
    order.sort_by(|&a, &b| {
        let (one, other) = (&agents[a], &agents[b]);
        known(worth(other))
            .total_cmp(&known(worth(one)))
            .then_with(|| known(other.score).total_cmp(&known(one.score)))
            .then_with(|| one.agent.cmp(other.agent))
    });
    let mut placed: Vec<(usize, Option<u64>)> = Vec::with_capacity(order.len());
    for (number, agent) in (1..).zip(order) {
        let own = worth(&agents[agent]);
        let shared = placed
            .last()
            .filter(|(other, _)| worth(&agents[*other]) == own);
        let place = own.map(|_| shared.and_then(|(_, place)| *place).unwrap_or(number));
        placed.push((agent, place));
    }
    placed
}

/// Sorts agents into that order and passes each one's place to `place`.
pub fn arrange<T>(
    agents: Vec<T>,
    by: By,
    rank_key: impl for<'a> Fn(&'a T) -> RankKey<'a>,
    place: impl Fn(&mut T, Option<u64>),
) -> Vec<T> {
    let rank_keys: Vec<RankKey<'_>> = agents.iter().map(rank_key).collect();
    let order = order(&rank_keys, by);
    let mut agents: Vec<Option<T>> = agents.into_iter().map(Some).collect();
    let placed = order.into_iter().filter_map(|(number, own)| {
        let mut agent = agents[number].take()?;
        place(&mut agent, own);
        Some(agent)
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENTS: [RankKey<'static>; 4] = [
        rank_key("dora", Some(0.5), 10.0, 3),
        rank_key("ada", Some(0.5), -20.0, 1),
        rank_key("cy", None, 0.0, 3),
        rank_key("bob", Some(0.75), -20.000_000_01, 2),
    ];

    const fn rank_key(agent: &str, score: Option<f64>, rating: f64, place: u64) -> RankKey<'_> {
        RankKey {
            agent,
            score,
            rating: Some(rating),
            place: Some(place),
        }
    }

    #[test]
    fn undecided_places_are_shared() {
        let named = |by| -> Vec<(&str, Option<u64>)> {
            let order = order(&AGENTS, by).into_iter();
            order
                .map(|(agent, place)| (AGENTS[agent].agent, place))
                .collect()
        };
        assert_eq!(
            named(By::Score),
            [
                ("bob", Some(1)),
                ("ada", Some(2)),
                ("dora", Some(2)),
                ("cy", None)
            ]
        );
        assert_eq!(
            named(By::Rating),
            [
                ("dora", Some(1)),
                ("bob", Some(2)),
                ("ada", Some(2)),
                ("cy", None)
            ]
        );
        assert_eq!(
            named(By::Verdict),
            [
                ("ada", Some(1)),
                ("bob", Some(2)),
                ("dora", Some(3)),
                ("cy", Some(3))
            ]
        );
    }
}
