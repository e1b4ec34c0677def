//! What a spec expects of its tournament, in sentences such as `candidate beats
//! base by 5 elo at 95 %`. It changes no record, and so is no part of a
//! tournament's identity.
//!
//! ```text
//! AGENT beats AGENT [by N elo] [at C %]
//! AGENT loses to AGENT by at most N elo [at C %]
//! AGENT is rated above AGENT [by N elo] [at C %]
//! AGENT scores at least|at most X [against AGENT] [at C %]
//! AGENT ranks first|last|N [or better]
//! AGENT passes
//! no faults|voids, at most N faults|voids
//! AGENT makes no faults|at most N faults
//! ```
//!
//! With `at C %` it is an end of the C % interval that has to hold, not the
//! value alone; `beats`, `loses` and `is rated above` are at 95 % where nothing is
//! said. Several lines with a confidence share the error. `beats` and `loses` are about
//! the games of the two against each other, `is rated above` about the ratings that
//! all games give. `passes` is what the sequential test itself says of its first
//! agent.

use std::{collections::BTreeMap, fmt};

use arena_engine::options::nearest;
use serde::{Deserialize, Serialize};

use crate::{name::AgentName, spec::SpecError};

/// Sure enough where nothing is said.
pub const CONFIDENCE: f64 = 0.95;
/// The greatest difference in Elo that can be asked for.
const ELO_MAX: f64 = 2000.0;

/// The key `expect` of a spec: sentences, with names or without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expect is a list of sentences, or a table of them with names"
)]
pub enum Sentences {
    /// `expect = ["…", "…"]`
    List(Vec<String>),
    /// `[expect]` with `name = "…"`
    Table(BTreeMap<String, String>),
}

impl Default for Sentences {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Sentences {
    /// True where nothing is expected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::List(list) => list.is_empty(),
            Self::Table(table) => table.is_empty(),
        }
    }

    /// What they say of these agents.
    ///
    /// # Errors
    /// [`SpecError::Value`] with the sentence, what in it is wrong, and what to
    /// write instead.
    pub fn read(&self, agents: &[AgentName]) -> Result<Vec<Expectation>, SpecError> {
        match self {
            Self::List(list) => list.iter().map(|text| read(text, text, agents)).collect(),
            Self::Table(table) => table
                .iter()
                .map(|(name, text)| read(name, text, agents))
                .collect(),
        }
    }
}

/// One sentence, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its name in the table, else the sentence.
    pub name: String,
    /// As written.
    pub text: String,
    /// What it says.
    pub claim: Claim,
}

/// What is expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// The agent's score against the opponent is above that of so many Elo; below
    /// 0 it may be weaker by that much.
    Beats {
        /// Who.
        agent: String,
        /// Whom.
        opponent: String,
        /// By how much.
        elo: f64,
        /// How sure, from 0 to 1.
        confidence: f64,
    },
    /// The ratings have the agent above the opponent by more than so many Elo.
    Rated {
        /// Who.
        agent: String,
        /// Above whom.
        opponent: String,
        /// By how much.
        elo: f64,
        /// How sure, from 0 to 1.
        confidence: f64,
    },
    /// The agent's score, or that against one opponent.
    Scores {
        /// Who.
        agent: String,
        /// Against whom; none: against all.
        opponent: Option<String>,
        /// On which side of the share.
        bound: Bound,
        /// From 0 to 1.
        share: f64,
        /// How sure, from 0 to 1; none: the value alone counts.
        confidence: Option<f64>,
    },
    /// The agent's place in the standings.
    Ranks {
        /// Who.
        agent: String,
        /// Which.
        place: Place,
    },
    /// The sequential test takes the second of its hypotheses about the agent.
    Passes {
        /// Who: the first agent.
        agent: String,
    },
    /// The most faults, of one agent or of all together.
    Faults {
        /// Whose; none: all agents'.
        agent: Option<String>,
        /// How many there may be.
        most: u64,
    },
    /// The most games that could not be played.
    Voids {
        /// How many there may be.
        most: u64,
    },
}

impl Claim {
    /// How sure it is to be, from 0 to 1; none where a value alone counts.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        match self {
            Self::Beats { confidence, .. } | Self::Rated { confidence, .. } => Some(*confidence),
            Self::Scores { confidence, .. } => *confidence,
            Self::Ranks { .. } | Self::Passes { .. } | Self::Faults { .. } | Self::Voids { .. } => {
                None
            }
        }
    }
}

/// A side of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The number or more.
    AtLeast,
    /// The number or less.
    AtMost,
}

/// A place in the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This one, from 1.
    Exactly(u64),
    /// This one or a better one.
    OrBetter(u64),
    /// Behind all others.
    Last,
}

const VERBS: [&str; 7] = ["beats", "loses", "scores", "ranks", "passes", "makes", "is"];
const COUNTED: [&str; 2] = ["faults", "voids"];

/// Reads one sentence.
///
/// # Errors
/// As [`Sentences::read`].
pub fn read(name: &str, text: &str, agents: &[AgentName]) -> Result<Expectation, SpecError> {
    let spaced = text.replace('%', " % ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        at: 0,
        agents,
    };
    let claim = reader.claim().and_then(|claim| match reader.next() {
        None => Ok(claim),
        Some(word) => Err(format!("\"{word}\" is too much at its end")),
    });
    let claim =
        claim.map_err(|problem| SpecError::Value(format!("expect \"{text}\": {problem}")))?;
    Ok(Expectation {
        name: name.to_owned(),
        text: text.to_owned(),
        claim,
    })
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    agents: &'a [AgentName],
}

type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word
    }

    /// Takes the word if it is the next.
    fn takes(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn wants(&mut self, word: &str) -> Read<()> {
        self.one_of(&[word]).map(drop)
    }

    /// One of these words, which are all that can stand here.
    fn one_of<'k>(&mut self, known: &[&'k str]) -> Read<&'k str> {
        let listed = known.iter().map(|word| format!("\"{word}\""));
        let listed: Vec<String> = listed.collect();
        let listed = listed.join(" or ");
        let Some(word) = self.next() else {
            return Err(format!("{listed} is missing at its end"));
        };
        known
            .iter()
            .find(|known| **known == word)
            .copied()
            .ok_or_else(|| {
                nearest(word, known.iter().copied()).map_or_else(
                    || format!("\"{word}\" is not understood, write {listed}"),
                    |nearest| format!("\"{word}\" is not understood, did you mean \"{nearest}\"?"),
                )
            })
    }

    fn claim(&mut self) -> Read<Claim> {
        let verb = self.words.get(1).copied();
        if !verb.is_some_and(|verb| VERBS.contains(&verb)) {
            match self.peek() {
                Some("no" | "at") => return self.counted(None),
                None => return Err("it is empty".to_owned()),
                Some(_) => {}
            }
        }
        let agent = self.agent()?;
        match self.one_of(&VERBS)? {
            "beats" => {
                let opponent = self.opponent(&agent)?;
                let elo = if self.takes("by") { self.elo()? } else { 0.0 };
                Ok(Claim::Beats {
                    agent,
                    opponent,
                    elo,
                    confidence: self.confidence()?.unwrap_or(CONFIDENCE),
                })
            }
            "loses" => {
                self.wants("to")?;
                let opponent = self.opponent(&agent)?;
                for word in ["by", "at", "most"] {
                    self.wants(word)?;
                }
                Ok(Claim::Beats {
                    agent,
                    opponent,
                    elo: -self.elo()?,
                    confidence: self.confidence()?.unwrap_or(CONFIDENCE),
                })
            }
            "is" => {
                for word in ["rated", "above"] {
                    self.wants(word)?;
                }
                let opponent = self.opponent(&agent)?;
                let elo = if self.takes("by") { self.elo()? } else { 0.0 };
                Ok(Claim::Rated {
                    agent,
                    opponent,
                    elo,
                    confidence: self.confidence()?.unwrap_or(CONFIDENCE),
                })
            }
            "scores" => self.score(agent),
            "ranks" => Ok(Claim::Ranks {
                agent,
                place: self.place()?,
            }),
            "passes" => Ok(Claim::Passes { agent }),
            _ => self.counted(Some(agent)),
        }
    }

    fn agent(&mut self) -> Read<String> {
        let Some(word) = self.next() else {
            return Err("an agent is missing at its end".to_owned());
        };
        let mut names = self.agents.iter().map(AgentName::as_str);
        if names.any(|name| name == word) {
            return Ok(word.to_owned());
        }
        let names = self.agents.iter().map(AgentName::as_str);
        Err(nearest(word, names).map_or_else(
            || {
                let names: Vec<&str> = self.agents.iter().map(AgentName::as_str).collect();
                format!(
                    "there is no agent \"{word}\" in agents, there are {}",
                    names.join(", ")
                )
            },
            |nearest| {
                format!("there is no agent \"{word}\" in agents, did you mean \"{nearest}\"?")
            },
        ))
    }

    fn opponent(&mut self, agent: &str) -> Read<String> {
        let opponent = self.agent()?;
        if opponent == agent {
            return Err(format!("{agent} does not play against itself"));
        }
        Ok(opponent)
    }

    fn number(&mut self, what: &str) -> Read<f64> {
        let Some(word) = self.next() else {
            return Err(format!("{what} is missing at its end"));
        };
        word.parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("\"{word}\" is no number, and {what} is wanted there"))
    }

    fn count(&mut self) -> Read<u64> {
        let Some(word) = self.next() else {
            return Err("a whole number is missing at its end".to_owned());
        };
        word.parse()
            .map_err(|_| format!("\"{word}\" is no whole number from 0 on"))
    }

    fn elo(&mut self) -> Read<f64> {
        let elo = self.number("a number of elo")?;
        if elo.abs() > ELO_MAX {
            return Err(format!("{elo} elo: must be from -{ELO_MAX} to {ELO_MAX}"));
        }
        self.wants("elo")?;
        Ok(elo)
    }

    /// `at 95 %`, where it stands there.
    fn confidence(&mut self) -> Read<Option<f64>> {
        if !self.takes("at") {
            return Ok(None);
        }
        let percent = self.number("a percentage")?;
        self.wants("%")?;
        if !(50.0..=99.99).contains(&percent) {
            return Err(format!(
                "at {percent} %: how sure it is to be must be from 50 % to 99.99 %"
            ));
        }
        Ok(Some(percent / 100.0))
    }

    fn score(&mut self, agent: String) -> Read<Claim> {
        self.wants("at")?;
        let bound = match self.one_of(&["least", "most"])? {
            "least" => Bound::AtLeast,
            _ => Bound::AtMost,
        };
        let number = self.number("a score")?;
        let (share, shown) = if self.takes("%") {
            (number / 100.0, format!("{number} %"))
        } else {
            (number, number.to_string())
        };
        if !(0.0..=1.0).contains(&share) {
            return Err(format!(
                "a score of {shown}: must be from 0 to 1, or from 0 % to 100 %"
            ));
        }
        let opponent = if self.takes("against") {
            Some(self.opponent(&agent)?)
        } else {
            None
        };
        Ok(Claim::Scores {
            agent,
            opponent,
            bound,
            share,
            confidence: self.confidence()?,
        })
    }

    fn place(&mut self) -> Read<Place> {
        let place = match self.next() {
            None => return Err("a place is missing at its end".to_owned()),
            Some("first") => 1,
            Some("last") => return Ok(Place::Last),
            Some(word) => {
                let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                digits.parse().map_err(|_| {
                    format!("\"{word}\" is no place, write \"first\", \"last\" or a number")
                })?
            }
        };
        let agents = self.agents.len() as u64;
        if !(1..=agents).contains(&place) {
            return Err(format!("place {place}: must be from 1 to {agents}"));
        }
        if self.takes("or") {
            self.wants("better")?;
            return Ok(Place::OrBetter(place));
        }
        Ok(Place::Exactly(place))
    }

    /// `no faults`, `at most 3 faults`; of an agent, `voids` are nobody's.
    fn counted(&mut self, agent: Option<String>) -> Read<Claim> {
        let most = match self.one_of(&["no", "at"])? {
            "no" => 0,
            _ => {
                self.wants("most")?;
                self.count()?
            }
        };
        let known = if agent.is_some() {
            &COUNTED[..1]
        } else {
            &COUNTED
        };
        match self.one_of(known)? {
            "faults" => Ok(Claim::Faults { agent, most }),
            _ => Ok(Claim::Voids { most }),
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name == self.text {
            f.write_str(&self.text)
        } else {
            write!(f, "{}: {}", self.name, self.text)
        }
    }
}

#[cfg(test)]
mod tests;
