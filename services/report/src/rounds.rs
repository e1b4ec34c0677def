//! Who met whom, round by round, as the verdicts of Swiss tournaments and
//! knockouts tell it.

mod bracket;
mod people;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use bracket::{Tie, bracket};
pub use people::{lines, numbered, swiss_cells};
pub use rows::{RoundRow, rows};

/// All rounds of a tournament, and what they are of.
#[derive(Debug, Deserialize)]
pub struct Rounds {
    #[serde(rename = "format")]
    pub kind: RoundFormat,
    /// Of a knockout, the best first; verdicts of older builds have none.
    #[serde(default)]
    pub seeds: Vec<String>,
    #[serde(rename = "rounds")]
    pub all: Vec<Round>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundFormat {
    Swiss,
    Knockout,
}

/// What was played at one time.
#[derive(Debug, Deserialize)]
pub struct Round {
    /// From 1.
    pub round: u64,
    pub tables: Vec<RoundMatch>,
    /// Who was in it and did not play.
    pub byes: Vec<String>,
    /// Who is out of a knockout by it.
    #[serde(default)]
    pub out: Vec<String>,
}

/// Agents that met in a round.
#[derive(Debug, Deserialize)]
pub struct RoundMatch {
    /// Where in a double elimination it is.
    #[serde(default)]
    pub part: Option<BracketPart>,
    /// Of a knockout, those who go on first.
    pub agents: Vec<String>,
    /// Of each: a seat beaten is one, a seat tied a half.
    pub points: Vec<f64>,
    /// So many of a knockout go on.
    #[serde(default)]
    pub go_on: usize,
    /// The seed alone parted those who go on from those who do not.
    #[serde(default)]
    pub by_seed: bool,
}

/// Where a table of a double elimination is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BracketPart {
    Winners,
    Losers,
    Final,
    Decider,
}

/// Tables and byes of a round that belong together.
#[derive(Debug)]
pub struct RoundPart<'a> {
    /// None where there is one only.
    pub side: Option<BracketPart>,
    pub tables: Vec<&'a RoundMatch>,
    pub byes: Vec<&'a str>,
}

impl BracketPart {
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
    /// Those of a verdict; none of a format that has none, or until it is there.
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

    /// Whether more than two play at a table.
    pub fn many_seats(&self) -> bool {
        let mut tables = self.all.iter().flat_map(|round| &round.tables);
        tables.any(|table| table.agents.len() > 2)
    }

    /// Whether who loses once is not out yet.
    pub fn is_double(&self) -> bool {
        let mut tables = self.all.iter().flat_map(|round| &round.tables);
        tables.any(|table| table.part.is_some())
    }

    /// What people call each round.
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

    /// Each round in its parts: of a double elimination those without a loss come
    /// first, then those with one.
    pub fn parts(&self) -> Vec<Vec<RoundPart<'_>>> {
        let double = self.is_double();
        let mut losses: HashMap<&str, u32> = HashMap::new();
        let mut all = Vec::with_capacity(self.all.len());
        for round in &self.all {
            let mut parts: Vec<RoundPart<'_>> = Vec::new();
            let mut part = |side: Option<BracketPart>| {
                let known = parts.iter().position(|part| part.side == side);
                let place = known.unwrap_or(parts.len());
                if known.is_none() {
                    parts.push(RoundPart {
                        side,
                        tables: Vec::new(),
                        byes: Vec::new(),
                    });
                }
                place
            };
            let of_tables: Vec<usize> = round.tables.iter().map(|it| part(it.part)).collect();
            let side = |agent: &String| {
                let lost = losses.get(agent.as_str()).copied().unwrap_or_default();
                let side = if lost == 0 {
                    BracketPart::Winners
                } else {
                    BracketPart::Losers
                };
                double.then_some(side)
            };
            let of_byes: Vec<usize> = round.byes.iter().map(|it| part(side(it))).collect();
            for (table, place) in round.tables.iter().zip(of_tables) {
                parts[place].tables.push(table);
            }
            for (bye, place) in round.byes.iter().zip(of_byes) {
                parts[place].byes.push(bye);
            }
            parts.sort_by_key(|part| part.side == Some(BracketPart::Losers));
            for table in &round.tables {
                for lost in table.agents.iter().skip(table.go_on) {
                    *losses.entry(lost).or_default() += 1;
                }
            }
            all.push(parts);
        }
        all
    }
}
