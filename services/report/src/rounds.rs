//! Pairings by round, from the verdicts of Swiss tournaments and knockouts.

mod bracket;
mod people;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use bracket::{Tie, bracket};
pub use people::{lines, numbered, swiss_cells};
pub use rows::{RoundRow, rows};

/// All rounds of a tournament and its format.
#[derive(Debug, Deserialize)]
pub struct Rounds {
    /// The format of the tournament.
    #[serde(rename = "format")]
    pub kind: RoundFormat,
    /// Seeds of a knockout, best first; verdicts of older builds have none.
    #[serde(default)]
    pub seeds: Vec<String>,
    /// The rounds, the first one first.
    #[serde(rename = "rounds")]
    pub all: Vec<Round>,
}

/// A format with rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundFormat {
    /// Agents with equal points meet.
    Swiss,
    /// Agents that lose leave, after one loss or two.
    Knockout,
}

/// The tables that were played at the same time.
#[derive(Debug, Deserialize)]
pub struct Round {
    /// From 1.
    pub round: u64,
    /// The groups of agents that met.
    pub tables: Vec<RoundMatch>,
    /// Agents in the round that did not play.
    pub byes: Vec<String>,
    /// Agents that this round eliminated from a knockout.
    #[serde(default)]
    pub out: Vec<String>,
}

/// Agents that met in a round.
#[derive(Debug, Deserialize)]
pub struct RoundMatch {
    /// The bracket side in a double elimination.
    #[serde(default)]
    pub part: Option<BracketPart>,
    /// The agents; in a knockout, the agents that advance come first.
    pub agents: Vec<String>,
    /// Points of each agent: 1 for a seat beaten, ½ for a seat tied.
    pub points: Vec<f64>,
    /// Number of agents of a knockout table that advance.
    #[serde(default)]
    pub go_on: usize,
    /// True if only the seed separated the agents that advance from the others.
    #[serde(default)]
    pub by_seed: bool,
}

/// The bracket side of a table in a double elimination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BracketPart {
    /// Tables of agents without a loss.
    Winners,
    /// Tables of agents with one loss.
    Losers,
    /// The table of the last agent of each side.
    Final,
    /// The second final, if the agent without a loss lost the first one.
    Decider,
}

/// Tables and byes of one bracket side of a round.
#[derive(Debug, Default)]
pub struct RoundPart<'a> {
    /// `None` if there is only one side.
    pub side: Option<BracketPart>,
    /// The tables of this side.
    pub tables: Vec<&'a RoundMatch>,
    /// Agents of this side that did not play.
    pub byes: Vec<&'a str>,
}

impl BracketPart {
    /// Its heading in a report.
    pub fn title(self) -> &'static str {
        match self {
            Self::Winners => "no loss yet",
            Self::Losers => "one loss",
            Self::Final => "final",
            Self::Decider => "decider, one loss each",
        }
    }
}

impl Rounds {
    /// The rounds of a verdict; `None` if the format has no rounds or has no verdict yet.
    pub fn of(verdict: &Value) -> Option<Self> {
        let rounds: Self = serde_json::from_value(verdict.clone()).ok()?;
        (!rounds.all.is_empty()).then_some(rounds)
    }

    /// The seed of an agent, from 1.
    pub fn seed(&self, agent: &str) -> Option<usize> {
        let place = self.seeds.iter().position(|name| name == agent)?;
        Some(place + 1)
    }

    /// Tables of all rounds.
    pub fn tables(&self) -> usize {
        self.all.iter().map(|round| round.tables.len()).sum()
    }

    /// True if more than two agents play at a table.
    pub fn many_seats(&self) -> bool {
        self.any(|table| table.agents.len() > 2)
    }

    /// True if an agent stays in after its first loss.
    pub fn is_double(&self) -> bool {
        self.any(|table| table.part.is_some())
    }

    fn any(&self, is: impl Fn(&RoundMatch) -> bool) -> bool {
        self.all.iter().flat_map(|round| &round.tables).any(is)
    }

    /// The usual name of each round.
    pub fn titles(&self) -> Vec<String> {
        let rounds = self.all.len();
        let title = |(place, round): (usize, &Round)| {
            let to_come = rounds - 1 - place;
            let plain = format!("round {}", round.round);
            if self.kind == RoundFormat::Swiss || self.is_double() {
                return plain;
            }
            match (self.many_seats(), to_come, round.tables.len()) {
                (true, 0, _) => "last table".to_owned(),
                (true, ..) => plain,
                (false, 0, _) => "final".to_owned(),
                (false, 1, 1) => "semi-final".to_owned(),
                (false, 1, _) => "semi-finals".to_owned(),
                (false, 2, 1) => "quarter-final".to_owned(),
                (false, 2, _) => "quarter-finals".to_owned(),
                _ => plain,
            }
        };
        self.all.iter().enumerate().map(title).collect()
    }

    /// Each round in its parts. In a double elimination the agents without a loss come
    /// first, then the agents with one loss.
    pub fn parts(&self) -> Vec<Vec<RoundPart<'_>>> {
        let double = self.is_double();
        let mut losses: HashSet<&str> = HashSet::new();
        let mut all = Vec::with_capacity(self.all.len());
        for round in &self.all {
            let mut parts: Vec<RoundPart<'_>> = Vec::new();
            for table in &round.tables {
                part(&mut parts, table.part).tables.push(table);
            }
            for bye in &round.byes {
                let side = match losses.contains(bye.as_str()) {
                    true => BracketPart::Losers,
                    false => BracketPart::Winners,
                };
                part(&mut parts, double.then_some(side)).byes.push(bye);
            }
            parts.sort_by_key(|part| part.side == Some(BracketPart::Losers));
            for table in &round.tables {
                losses.extend(table.agents.iter().skip(table.go_on).map(String::as_str));
            }
            all.push(parts);
        }
        all
    }
}

/// The part of a bracket side, added if it is not there.
fn part<'a, 'b>(
    parts: &'b mut Vec<RoundPart<'a>>,
    side: Option<BracketPart>,
) -> &'b mut RoundPart<'a> {
    let known = parts.iter().position(|part| part.side == side);
    let place = known.unwrap_or(parts.len());
    if known.is_none() {
        parts.push(RoundPart {
            side,
            ..RoundPart::default()
        });
    }
    &mut parts[place]
}
