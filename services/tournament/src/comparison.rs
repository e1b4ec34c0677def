//! Comparison of agents, computed on request and not while games arrive.

use std::collections::HashMap;

use crate::{
    format, nash,
    pairs::PairStanding,
    ratings::{RatingDifference, Ratings},
    tally::Evidence,
};

/// The requested parts of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// True to compare every pair of agents.
    pub pairs: bool,
    /// The agent with rating 0; `None` if the mean of all ratings is 0.
    pub anchor: Option<usize>,
}

/// The comparison of all agents.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Ratings of all agents; `None` without a game.
    pub ratings: Option<Ratings>,
    /// Each pair of agents, in the order of the spec; empty if not requested.
    pub pairs: Vec<Compared>,
    /// Each agent's share of the Nash average, in the order of the spec. `None` without a
    /// significant cycle, that is three agents that beat each other in a circle with
    /// complete intervals, since the shares of about equal agents are random. `None` also
    /// if some agents have not met, or if there are only two or too many.
    pub nash: Option<Vec<f64>>,
    /// Remarks on the numbers, as whole sentences.
    pub notes: Vec<String>,
}

/// Two agents compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// From their games.
    pub pair: PairStanding,
    /// From their ratings. `None` if no games link the agents, so that only the prior would
    /// define it.
    pub rating: Option<RatingDifference>,
}

impl Evidence {
    /// The indices of all agents by name.
    #[must_use]
    pub fn agents(&self) -> HashMap<&str, usize> {
        self.names.iter().map(String::as_str).zip(0..).collect()
    }

    /// The index of an agent in the spec.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The name of an agent.
    ///
    /// # Panics If there is no such agent.
    #[must_use]
    pub fn name(&self, agent: usize) -> &str {
        &self.names[agent]
    }

    /// Compares all agents.
    #[must_use]
    pub fn compare(&self, wanted: Wanted) -> Comparison {
        let ratings = self.ratings(wanted.anchor);
        let paired = wanted.pairs || self.names.len() <= nash::AGENTS_MAX;
        let pairs = if paired { self.pairs() } else { Vec::new() };
        let cycle = self.cycle(&pairs);
        let nash = cycle.as_ref();
        let nash = nash.and_then(|_| nash::average(self.names.len(), &pairs));
        let mut notes = ratings
            .as_ref()
            .map_or_else(Vec::new, |ratings| self.notes(ratings));
        notes.extend(cycle);
        let goodness = ratings.as_ref();
        let goodness = goodness.and_then(|ratings| ratings.goodness.as_ref());
        if let Some(goodness) = goodness.filter(|goodness| goodness.p < MISFIT) {
            notes.push(format!(
                "The rating model does not fit the scores ({}; largest misfit: {}): one rating per agent \
                 cannot predict who beats whom. Compare pairs instead (--crosstable).",
                shown(goodness.p),
                self.listed(&goodness.worst)
            ));
        }
        let compared = pairs.into_iter().zip(format::pairs(self.names.len()));
        let compared = compared.map(|(pair, (one, other))| Compared {
            pair,
            rating: ratings
                .as_ref()
                .filter(|ratings| ratings.links(one, other))
                .map(|ratings| ratings.difference(one, other)),
        });
        Comparison {
            pairs: compared.filter(|_| wanted.pairs).collect(),
            ratings,
            nash,
            notes,
        }
    }

    /// Remarks that the ratings alone do not show.
    fn notes(&self, ratings: &Ratings) -> Vec<String> {
        let mut notes = Vec::new();
        let sets = ratings.components.iter();
        let (sets, idle): (Vec<_>, Vec<_>) = sets.partition(|set| ratings.has_played(set[0]));
        let idle: Vec<usize> = idle.into_iter().flatten().copied().collect();
        if !idle.is_empty() {
            notes.push(format!(
                "No rating for {}: none of its games count.",
                self.listed(&idle)
            ));
        }
        if sets.len() > 1 {
            notes.push(format!(
                "No games link {} sets of agents ({}): ratings are comparable only within a set.",
                sets.len(),
                self.listed_sets(&sets)
            ));
        }
        notes.extend(self.separated(ratings));
        if !ratings.unheld.is_empty() {
            notes.push(format!(
                "Each pair of {} has wins for one side only: the prior alone keeps the rating difference \
                 finite, and it grows with the number of games. Use the Elo differences of pairs, which \
                 come from scores.",
                self.listed(&ratings.unheld)
            ));
        }
        for (all, result, bound) in [(true, "won", "lower"), (false, "lost", "upper")] {
            let perfect = self.perfect(all);
            let has_interval = |agent: &usize| ratings.agents[*agent].fixed.is_some();
            let (bounded, open): (Vec<_>, Vec<_>) = perfect.into_iter().partition(has_interval);
            let meanings = [
                format!("only the {bound} bound of the rating is meaningful"),
                "the rating has no meaningful bound".to_owned(),
            ];
            for (agents, meaning) in [bounded, open].iter().zip(meanings) {
                if !agents.is_empty() {
                    notes.push(format!(
                        "{} {result} every game: {meaning}.",
                        self.listed(agents)
                    ));
                }
            }
        }
        notes
    }

    /// Sets of agents that only the prior links, apart from agents that won or lost every
    /// game.
    fn separated(&self, ratings: &Ratings) -> Option<String> {
        let perfect = [true, false].map(|all| self.perfect(all)).concat();
        let mut levels = ratings.levels();
        levels.retain(|set| ratings.has_played(set[0]) && !perfect.contains(&set[0]));
        let separated = |one: &&Vec<usize>| {
            let linked = |other: &Vec<usize>| ratings.links(one[0], other[0]);
            levels.iter().any(|other| other != *one && linked(other))
        };
        let separated: Vec<_> = levels.iter().filter(separated).collect();
        if separated.is_empty() {
            return None;
        }
        Some(format!(
            "All games between {} sets of agents ({}) went one way: of the rating difference \
             between sets, only the bound nearer to zero is meaningful.",
            separated.len(),
            self.listed_sets(&separated)
        ))
    }

    /// Agents that finished ahead of all others in every game, or behind them.
    fn perfect(&self, all: bool) -> Vec<usize> {
        let mut most = vec![0_u64; self.names.len()];
        let mut units = vec![0_u64; self.names.len()];
        for group in &self.groups {
            for (ranking, count) in group.games() {
                for (member, &agent) in group.agents().iter().enumerate() {
                    let all = group.agents().iter().enumerate();
                    for (other, _) in all.filter(|(_, other)| **other != agent) {
                        most[usize::from(agent)] += 2 * count;
                        units[usize::from(agent)] += count * ranking.units_against(member, other);
                    }
                }
            }
        }
        let wanted = |agent: &usize| {
            let expected = if all { most[*agent] } else { 0 };
            most[*agent] > 0 && units[*agent] == expected
        };
        (0..self.names.len()).filter(wanted).collect()
    }

    /// Three agents in a cycle: each beats the next with a complete interval above one
    /// half.
    fn cycle(&self, pairs: &[PairStanding]) -> Option<String> {
        let agents = self.names.len();
        if pairs.is_empty() {
            return None;
        }
        let mut beats = vec![vec![false; agents]; agents];
        for ((one, other), pair) in format::pairs(agents).zip(pairs) {
            let ends = pair.score.and_then(|score| score.interval(self.adaptive));
            beats[one][other] = ends.is_some_and(|ends| ends.low > 0.5);
            beats[other][one] = ends.is_some_and(|ends| ends.high < 0.5);
        }
        let triples = (0..agents).flat_map(|a| (0..agents).map(move |b| (a, b)));
        let found = triples.filter(|&(a, b)| beats[a][b]).find_map(|(a, b)| {
            (0..agents)
                .find(|&c| beats[b][c] && beats[c][a])
                .map(|c| [a, b, c])
        })?;
        let [a, b, c] = found.map(|agent| &self.names[agent]);
        Some(format!(
            "{a} beats {b}, {b} beats {c}, and {c} beats {a}: no ranking fits all results; the \
             Nash average, which has no interval, shows who remains if each agent faces its \
             strongest opponents."
        ))
    }

    fn listed_sets(&self, sets: &[&Vec<usize>]) -> String {
        let shown = sets.iter().take(SETS_SHOWN).map(|set| self.listed(set));
        let more = if sets.len() > SETS_SHOWN { "; …" } else { "" };
        shown.collect::<Vec<_>>().join("; ") + more
    }

    fn listed(&self, agents: &[usize]) -> String {
        let names = agents
            .iter()
            .take(NAMES_SHOWN)
            .map(|&agent| self.names[agent].as_str());
        let mut text = names.collect::<Vec<_>>().join(", ");
        if agents.len() > NAMES_SHOWN {
            text += &format!(" and {} more", agents.len() - NAMES_SHOWN);
        }
        text
    }
}

/// Significance level of the fit: a true model is rejected in one of a hundred tournaments.
const MISFIT: f64 = 0.01;

/// A p value with two digits.
fn shown(p: f64) -> String {
    if p < 1e-4 {
        "p < 0.0001".to_owned()
    } else {
        format!("p = {p:.4}")
    }
}

/// Maximum number of sets to list.
const SETS_SHOWN: usize = 4;
const NAMES_SHOWN: usize = 5;
