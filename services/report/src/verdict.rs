//! Checks the expectations of a spec.

use arena_model::expect::{Bound, Claim, Expectation, Place};
use arena_tournament::{
    Interval,
    interval::level::{self, Looks},
    sequential::gsprt,
};
use arena_wire::v1;
use itertools::Itertools;
use serde::{Deserialize, Serialize};

use crate::{estimates, state::state_name, units};

/// The verdict of an expectation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Its name in the spec, otherwise the sentence.
    pub name: String,
    /// The sentence.
    pub expect: String,
    /// True if the results fulfil the expectation.
    pub holds: bool,
    /// The measured quantity: `elo`, `score`, `place`, `verdict`, `faults` or `voids`.
    pub measure: &'static str,
    /// The measured value; none without games.
    pub value: Option<f64>,
    /// Lower end of its interval; none if it has no interval.
    pub low: Option<f64>,
    /// Upper end of its interval; none if it has no interval.
    pub high: Option<f64>,
    /// Confidence level of the interval, from 0 to 1; adjusted by Holm's method if there
    /// are several expectations.
    pub level: Option<f64>,
    /// The verdict as text.
    pub says: String,
}

/// The part of a sequential test's verdict that is needed here.
#[derive(Deserialize)]
struct SprtVerdict {
    kind: String,
    text: String,
}

/// A number with its interval.
#[derive(Clone, Copy)]
struct Measured {
    value: f64,
    interval: Option<Interval>,
    /// True if only the nearer end of the interval is meaningful.
    is_open: bool,
}

/// Checks each expectation.
///
/// Expectations with a confidence level share the error probability (S. Holm, "A simple
/// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
/// 1979): all accepted ones are true together with the confidence of a single one. Of k
/// expectations, each is tested with a k-th of its error. Accepted ones are removed, and
/// the others tested again, until none is accepted.
pub fn check(expectations: &[Expectation], standings: &v1::Standings) -> Vec<Verdict> {
    let alone = expectations.iter().map(|it| verdict(it, standings, 1));
    let mut verdicts: Vec<Verdict> = alone.collect();
    let is_sure = |it: &Expectation| it.claim.confidence().is_some();
    let mut open: Vec<usize> = expectations.iter().positions(is_sure).collect();
    if open.len() > 1 {
        loop {
            let among = open.len();
            for &place in &open {
                verdicts[place] = verdict(&expectations[place], standings, among);
            }
            open.retain(|&place| !verdicts[place].holds);
            if open.is_empty() || open.len() == among {
                break;
            }
        }
    }
    verdicts
}

/// The verdict of one expectation, tested as one of `among`.
fn verdict(expectation: &Expectation, standings: &v1::Standings, among: usize) -> Verdict {
    let mut verdict = Verdict {
        name: expectation.name.clone(),
        expect: expectation.text.clone(),
        ..Verdict::default()
    };
    let sure = |confidence| Sure::of(standings, confidence, among);
    match &expectation.claim {
        Claim::Beats {
            agent,
            opponent,
            elo,
            confidence,
        } => {
            let sure = sure(Some(*confidence));
            let found = score(standings, agent, Some(opponent), sure);
            verdict.measured("elo", found.map(Measured::as_elo), Some(sure));
            let interval = found.and_then(|found| found.interval);
            verdict.holds = interval.is_some_and(|ends| ends.low > gsprt::score(*elo));
        }
        Claim::Rated {
            agent,
            opponent,
            elo,
            confidence,
        } => {
            let sure = sure(Some(*confidence));
            let found = elo_difference(standings, agent, opponent, sure);
            verdict.measured("elo", found, Some(sure));
            let interval = found.and_then(|found| found.interval);
            // If all games went one way, only the prior bounds the far end of the interval.
            let far = found.is_some_and(|found| found.is_open && found.value < 0.0);
            verdict.holds = !far && interval.is_some_and(|ends| ends.low > *elo);
            if far {
                verdict.says += ", and no game says how far behind";
            }
        }
        Claim::Scores {
            agent,
            opponent,
            bound,
            share,
            confidence,
        } => {
            let found = score(standings, agent, opponent.as_deref(), sure(*confidence));
            verdict.measured("score", found, confidence.map(|_| sure(*confidence)));
            verdict.holds = found.is_some_and(|found| match (confidence, bound) {
                (None, Bound::AtLeast) => found.value >= *share,
                (None, Bound::AtMost) => found.value <= *share,
                (Some(_), Bound::AtLeast) => found.interval.is_some_and(|ends| ends.low >= *share),
                (Some(_), Bound::AtMost) => found.interval.is_some_and(|ends| ends.high <= *share),
            });
        }
        Claim::Ranks { agent, place } => {
            let found = rank(standings, agent);
            verdict.counted("place", found.map(|(rank, _)| rank));
            verdict.holds = found.is_some_and(|(rank, last)| match place {
                Place::Exactly(place) => rank == *place,
                Place::OrBetter(place) => rank <= *place,
                Place::Last => last,
            });
        }
        Claim::Passes { .. } => {
            let came: Option<SprtVerdict> = serde_json::from_str(&standings.verdict_json).ok();
            verdict.measure = "verdict";
            verdict.holds = came.as_ref().is_some_and(|came| came.kind == "h1");
            verdict.says = came.map_or_else(
                || "the test has not ended".to_owned(),
                |came| format!("{}: {}", came.kind, came.text.trim_end_matches('.')),
            );
            verdict.require_answers(&expectation.claim, standings);
            // The verdict ends the tournament.
            return verdict;
        }
        Claim::Faults { agent, most } => {
            let of = standings.agents.iter();
            let of = of.filter(|it| agent.as_ref().is_none_or(|agent| *agent == it.agent));
            let faults = of.map(|standing| standing.faults).sum();
            verdict.counted("faults", Some(faults));
            verdict.holds = faults <= *most;
        }
        Claim::Voids { most } => {
            let seats = standings.seats.len().max(1) as u64;
            let voids: u64 = standings.agents.iter().map(|agent| agent.voids).sum();
            let voids = voids / seats;
            verdict.counted("voids", Some(voids));
            verdict.holds = voids <= *most;
        }
    }
    verdict.require_answers(&expectation.claim, standings);
    // A free choice of the look would bias the test.
    if verdict.value.is_some() && standings.state() != v1::TournamentState::Finished {
        verdict.holds = false;
        let state = state_name(standings.state());
        verdict.says += &format!(" so far, and the tournament is {state}");
    }
    verdict
}

/// The agents that a claim compares; `None` if it compares all.
fn compared(claim: &Claim) -> Option<Vec<&str>> {
    match claim {
        Claim::Beats {
            agent, opponent, ..
        }
        | Claim::Rated {
            agent, opponent, ..
        } => Some(vec![agent.as_str(), opponent.as_str()]),
        Claim::Scores {
            agent, opponent, ..
        } => Some(
            [agent]
                .into_iter()
                .chain(opponent)
                .map(|it| &**it)
                .collect(),
        ),
        Claim::Ranks { agent, .. } => Some(vec![agent.as_str()]),
        Claim::Passes { .. } => None,
        Claim::Faults { .. } | Claim::Voids { .. } => Some(Vec::new()),
    }
}

impl Verdict {
    /// Fails if an agent that the claim compares never answered: its lost games show
    /// nothing about the other one.
    fn require_answers(&mut self, claim: &Claim, standings: &v1::Standings) {
        let compared = compared(claim);
        let is_compared = |it: &&v1::AgentStanding| {
            let names = compared.as_ref();
            names.is_none_or(|names| names.contains(&it.agent.as_str()))
        };
        let absent = |it: &&v1::AgentStanding| it.games > 0 && it.unplayed + it.unasked >= it.games;
        let mut agents = standings.agents.iter().filter(is_compared);
        if let Some(standing) = agents.find(absent) {
            self.holds = false;
            let problem = match standing.unplayed {
                0 => "was never asked for a move",
                _ => "never answered",
            };
            self.says += &format!(", but {} {problem}", standing.agent);
        }
    }

    fn measured(&mut self, measure: &'static str, found: Option<Measured>, sure: Option<Sure>) {
        self.measure = measure;
        self.value = found.map(|found| found.value);
        let ends = found.and_then(|found| found.interval);
        self.low = ends.map(|ends| ends.low);
        self.high = ends.map(|ends| ends.high);
        let sure = ends.and(sure);
        self.level = sure.map(|sure| sure.level);
        self.says = match (found, measure) {
            (None, _) => "there are no games to compare".to_owned(),
            (Some(found), "elo") => {
                let ends = ends.map(|it| format!(" [{:+.1}, {:+.1}]", it.low, it.high));
                format!("{:+.1} elo{}", found.value, ends.unwrap_or_default())
            }
            (Some(found), _) => units::interval(found.value, ends),
        };
        if let Some(sure) = sure {
            let percent = format!("{:.2}", sure.level * 100.0);
            let percent = percent.trim_end_matches('0').trim_end_matches('.');
            self.says += &format!(" at {percent} %");
            if sure.among > 1 {
                self.says += &format!(" (Holm, one of {})", sure.among);
            }
            if sure.adaptive {
                self.says += ", valid at any time";
            }
        }
    }

    fn counted(&mut self, measure: &'static str, count: Option<u64>) {
        self.measure = measure;
        self.value = count.map(|count| count as f64);
        self.says = match (count, measure) {
            (None, _) => "there are no games to compare".to_owned(),
            (Some(count), "place") => format!("place {count}"),
            (Some(count), "faults") => units::plural(count, "fault"),
            (Some(count), _) => units::plural(count, "void game"),
        };
    }
}

fn standing<'a>(standings: &'a v1::Standings, agent: &str) -> Option<&'a v1::AgentStanding> {
    standings.agents.iter().find(|one| one.agent == agent)
}

/// The place of an agent that played, and whether it is behind all others.
fn rank(standings: &v1::Standings, agent: &str) -> Option<(u64, bool)> {
    let own = standing(standings, agent)?;
    let place = own.score.and(own.place)?;
    let places = standings.agents.iter().filter_map(|one| one.place);
    let behind = places.filter(|other| *other >= place).count();
    Some((place, behind == 1 && standings.agents.len() > 1))
}

/// The required confidence and the kind of interval: anytime-valid if results chose or
/// ended the games.
#[derive(Clone, Copy)]
struct Sure {
    level: f64,
    adaptive: bool,
    /// The number of expectations in the Holm procedure.
    among: usize,
}

impl Sure {
    fn of(standings: &v1::Standings, confidence: Option<f64>, among: usize) -> Self {
        let alone = confidence.unwrap_or(arena_model::expect::CONFIDENCE);
        Self {
            level: 1.0 - (1.0 - alone) / among as f64,
            adaptive: standings.adaptive,
            among,
        }
    }

    fn looks(self, blocks: f64, tuning_horizon: f64) -> Looks {
        match self.adaptive {
            true => Looks::Any {
                blocks,
                tuning_horizon,
            },
            false => Looks::One,
        }
    }
}

fn score(
    standings: &v1::Standings,
    agent: &str,
    opponent: Option<&str>,
    sure: Sure,
) -> Option<Measured> {
    let (share, df, looks, turned) = match opponent {
        None => {
            let of = standing(standings, agent)?;
            let looks = sure.looks(of.blocks as f64, of.tuning_horizon);
            (estimates::score(of)?, of.score_df, looks, false)
        }
        Some(opponent) => {
            let (of, turned) = estimates::pair(standings, agent, opponent)?;
            let looks = sure.looks(of.blocks as f64, of.score_tuning_horizon);
            (estimates::pair_score(of)?, of.score_df, looks, turned)
        }
    };
    let found = Measured {
        value: share.value,
        interval: level::of_share(share, df, (looks, sure.level)),
        is_open: false,
    };
    Some(if turned { found.turned(1.0) } else { found })
}

impl Measured {
    /// The value from the other agent's side, if both sum to `sum`.
    fn turned(self, sum: f64) -> Self {
        Self {
            value: sum - self.value,
            interval: self.interval.map(|ends| ends.turned(sum)),
            ..self
        }
    }

    /// Converts a score to Elo.
    fn as_elo(self) -> Self {
        Self {
            value: elo(self.value),
            interval: self.interval.map(|ends| ends.map(elo)),
            ..self
        }
    }
}

/// The rating difference of two agents, as the Elo of the expected score.
fn elo_difference(
    standings: &v1::Standings,
    agent: &str,
    opponent: &str,
    sure: Sure,
) -> Option<Measured> {
    let (of, turned) = estimates::pair(standings, agent, opponent)?;
    let elo = estimates::elo_difference(of)?;
    let looks = sure.looks(of.rating_blocks, of.rating_tuning_horizon);
    let found = Measured {
        value: elo.value,
        interval: level::of_elo(elo, of.rating_df, (looks, sure.level)),
        is_open: of.rating_is_open,
    };
    Some(if turned { found.turned(0.0) } else { found })
}

/// The Elo difference with this expected score. A score of 0 or 1 has no finite Elo and is
/// moved inwards by one in ten thousand games.
fn elo(score: f64) -> f64 {
    let score = score.clamp(1e-4, 1.0 - 1e-4);
    400.0 * (score / (1.0 - score)).log10()
}

#[cfg(test)]
mod tests;
