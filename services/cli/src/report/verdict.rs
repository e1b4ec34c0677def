//! Whether what a spec expects came out.

use arena_model::expect::{Bound, Claim, Expectation, Place};
use arena_tournament::interval::level;
use arena_wire::v1;
use serde::Serialize;

use crate::{progress::state_name, units};

/// What came of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// Its name in the spec, else the sentence.
    pub(crate) name: String,
    /// The sentence.
    pub(crate) expect: String,
    pub(crate) holds: bool,
    /// What is measured: `elo`, `score`, `place`, `faults` or `voids`.
    pub(crate) measure: &'static str,
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Of the interval, from 0 to 1.
    pub(crate) level: Option<f64>,
    /// The same in words.
    pub(crate) says: String,
}

/// A number with its interval.
#[derive(Clone, Copy)]
struct Measured {
    value: f64,
    interval: Option<(f64, f64)>,
}

/// What came of each expectation.
pub(crate) fn check(expectations: &[Expectation], standings: &v1::Standings) -> Vec<Verdict> {
    expectations
        .iter()
        .map(|expectation| verdict(expectation, standings))
        .collect()
}

fn verdict(expectation: &Expectation, standings: &v1::Standings) -> Verdict {
    let mut verdict = Verdict {
        name: expectation.name.clone(),
        expect: expectation.text.clone(),
        holds: false,
        measure: "",
        value: None,
        low: None,
        high: None,
        level: None,
        says: String::new(),
    };
    match &expectation.claim {
        Claim::Beats {
            agent,
            opponent,
            elo,
            confidence,
        } => {
            let found = elo_difference(standings, agent, opponent, *confidence);
            verdict.measured("elo", found, Some(*confidence));
            let interval = found.and_then(|found| found.interval);
            verdict.holds = interval.is_some_and(|(low, _)| low > *elo);
        }
        Claim::Scores {
            agent,
            opponent,
            bound,
            share,
            confidence,
        } => {
            let found = score(standings, agent, opponent.as_deref(), *confidence);
            verdict.measured("score", found, *confidence);
            verdict.holds = found.is_some_and(|found| match (confidence, bound) {
                (None, Bound::AtLeast) => found.value >= *share,
                (None, Bound::AtMost) => found.value <= *share,
                (Some(_), Bound::AtLeast) => found.interval.is_some_and(|(low, _)| low >= *share),
                (Some(_), Bound::AtMost) => found.interval.is_some_and(|(_, high)| high <= *share),
            });
        }
        Claim::Ranks { agent, place } => {
            let found = rank(standings, agent);
            verdict.counted("place", found.map(|(rank, _)| rank), standings);
            let holds = found.is_some_and(|(rank, last)| match place {
                Place::Exactly(place) => rank == *place,
                Place::OrBetter(place) => rank <= *place,
                Place::Last => last,
            });
            verdict.holds = holds && is_over(standings);
        }
        Claim::Faults { agent, most } => {
            let of = standings
                .agents
                .iter()
                .filter(|standing| agent.as_ref().is_none_or(|agent| *agent == standing.agent));
            let faults = of.map(|standing| standing.faults).sum();
            verdict.counted("faults", Some(faults), standings);
            verdict.holds = faults <= *most && is_over(standings);
        }
        Claim::Voids { most } => {
            let seats = standings.seats.len().max(1) as u64;
            let voids = standings
                .agents
                .iter()
                .map(|agent| agent.voids)
                .sum::<u64>()
                / seats;
            verdict.counted("voids", Some(voids), standings);
            verdict.holds = voids <= *most && is_over(standings);
        }
    }
    verdict
}

impl Verdict {
    fn measured(&mut self, measure: &'static str, found: Option<Measured>, level: Option<f64>) {
        self.measure = measure;
        self.value = found.map(|found| found.value);
        let (low, high) = found.and_then(|found| found.interval).unzip();
        (self.low, self.high) = (low, high);
        self.level = low.and(level);
        self.says = match (found, measure) {
            (None, _) => "there are no games to tell it from".to_owned(),
            (Some(found), "elo") => match found.interval {
                Some((low, high)) => format!("{:+.1} elo [{low:+.1}, {high:+.1}]", found.value),
                None => format!("{:+.1} elo", found.value),
            },
            (Some(found), _) => units::interval(Some(found.value), low, high),
        };
        if let Some(level) = self.level {
            let percent = format!("{:.2}", level * 100.0);
            let percent = percent.trim_end_matches('0').trim_end_matches('.');
            self.says += &format!(" at {percent} %");
        }
    }

    /// What is counted may still change until all games are played.
    fn counted(&mut self, measure: &'static str, count: Option<u64>, standings: &v1::Standings) {
        self.measure = measure;
        self.value = count.map(|count| count as f64);
        self.says = match (count, measure) {
            (None, _) => "there are no games to tell it from".to_owned(),
            (Some(count), "place") => format!("place {count}"),
            (Some(count), "faults") => units::plural(count, "fault"),
            (Some(count), _) => units::plural(count, "void game"),
        };
        if count.is_some() && !is_over(standings) {
            let state = state_name(standings.state());
            self.says += &format!(" so far, and the tournament is {state}");
        }
    }
}

fn standing<'a>(standings: &'a v1::Standings, agent: &str) -> Option<&'a v1::AgentStanding> {
    standings.agents.iter().find(|one| one.agent == agent)
}

/// Whether all games that there will be are in it.
fn is_over(standings: &v1::Standings) -> bool {
    standings.state() == v1::TournamentState::Finished
}

/// The place of an agent that played, and whether it is behind all others.
fn rank(standings: &v1::Standings, agent: &str) -> Option<(u64, bool)> {
    let own = standing(standings, agent)?;
    let place = own.score.and(own.place)?;
    let places = standings.agents.iter().filter_map(|one| one.place);
    let behind = places.filter(|other| *other >= place).count();
    Some((place, behind == 1 && standings.agents.len() > 1))
}

/// How often a pair of agents meets in different company.
fn groups(standings: &v1::Standings, others: usize) -> u64 {
    let seats = standings.seats.len().max(2);
    let agents = standings.agents.len();
    // Of so many more agents so many more take part.
    let (of, take) = (agents.saturating_sub(others), seats.saturating_sub(others));
    (0..take.min(of)).fold(1, |product: u64, step| {
        product.saturating_mul((of - step) as u64) / (step as u64 + 1)
    })
}

fn score(
    standings: &v1::Standings,
    agent: &str,
    opponent: Option<&str>,
    confidence: Option<f64>,
) -> Option<Measured> {
    let (found, blocks, strata) = match opponent {
        None => {
            let standing = standing(standings, agent)?;
            let interval = standing.score_low.zip(standing.score_high);
            let found = Measured {
                value: standing.score?,
                interval,
            };
            (found, standing.blocks, groups(standings, 1))
        }
        Some(opponent) => {
            let (pair, turned) = pair(standings, agent, opponent)?;
            let interval = pair.score_low.zip(pair.score_high);
            let found = Measured {
                value: pair.score?,
                interval,
            };
            let found = if turned { found.turned(1.0) } else { found };
            (found, pair.blocks, groups(standings, 2))
        }
    };
    let at = confidence.unwrap_or(arena_model::expect::CONFIDENCE);
    let freedom = blocks.saturating_sub(if blocks >= 2 * strata { strata } else { 1 });
    Some(Measured {
        interval: found
            .interval
            .map(|usual| level::of_share(found.value, usual, freedom, at)),
        ..found
    })
}

fn pair<'a>(
    standings: &'a v1::Standings,
    agent: &str,
    opponent: &str,
) -> Option<(&'a v1::PairStanding, bool)> {
    standings.pairs.iter().find_map(|pair| {
        if pair.agent == agent && pair.opponent == opponent {
            Some((pair, false))
        } else if pair.agent == opponent && pair.opponent == agent {
            Some((pair, true))
        } else {
            None
        }
    })
}

impl Measured {
    /// As the other one sees it, where both have so much together.
    fn turned(self, sum: f64) -> Self {
        Self {
            value: sum - self.value,
            interval: self.interval.map(|(low, high)| (sum - high, sum - low)),
        }
    }
}

/// How much stronger one is: by the ratings, else by the score of the games of
/// the two.
fn elo_difference(
    standings: &v1::Standings,
    agent: &str,
    opponent: &str,
    confidence: f64,
) -> Option<Measured> {
    let (pair, turned) = pair(standings, agent, opponent)?;
    if let Some(value) = pair.rating_difference {
        let usual = pair.rating_difference_low.zip(pair.rating_difference_high);
        let found = Measured {
            value,
            interval: usual.map(|usual| level::of_number(value, usual, confidence)),
        };
        return Some(if turned { found.turned(0.0) } else { found });
    }
    let found = score(standings, agent, Some(opponent), Some(confidence))?;
    Some(Measured {
        value: elo(found.value),
        interval: found.interval.map(|(low, high)| (elo(low), elo(high))),
    })
}

/// The difference in Elo with this expected score; a score of 0 or 1 has none,
/// and is taken for one in ten thousand games less.
fn elo(score: f64) -> f64 {
    let score = score.clamp(1e-4, 1.0 - 1e-4);
    400.0 * (score / (1.0 - score)).log10()
}

#[cfg(test)]
mod tests;
