//! Expectations of a spec, as sentences such as `candidate beats base by 5 elo at 95 %`. They
//! change no record, so they are not part of a tournament's identity.
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
//! With `at C %`, an end of the C % interval has to satisfy the claim, not the value alone. The
//! default for `beats`, `loses` and `is rated above` is 95 %. Several expectations with a
//! confidence share the error. `beats` and `loses` are about the games between the two agents,
//! `is rated above` about the ratings from all games. `passes` is the verdict of the sequential
//! test about its first agent.

use std::{collections::BTreeMap, fmt};

use arena_engine::options::nearest;
use serde::{Deserialize, Serialize};

use crate::{name::AgentName, spec::SpecError};

/// Default confidence.
pub const CONFIDENCE: f64 = 0.95;
/// Maximum difference in Elo.
const ELO_MAX: f64 = 2000.0;
/// Maximum number of expectations.
const SENTENCES_MAX: usize = 1000;

/// The key `expect` of a spec: sentences, with names or without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expect must be a list of sentences, or a table of sentences with names"
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
    /// True without expectations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::List(list) => list.is_empty(),
            Self::Table(table) => table.is_empty(),
        }
    }

    /// Parses the sentences about these agents.
    ///
    /// # Errors
    /// [`SpecError::Value`] with the sentence, its problem, and what to write instead.
    pub fn read(&self, agents: &[AgentName]) -> Result<Vec<Expectation>, SpecError> {
        let count = match self {
            Self::List(list) => list.len(),
            Self::Table(table) => table.len(),
        };
        if count > SENTENCES_MAX {
            return Err(SpecError::Value(format!(
                "expect has {count} sentences; the limit is {SENTENCES_MAX}: state fewer"
            )));
        }
        match self {
            Self::List(list) => list.iter().map(|text| read(text, text, agents)).collect(),
            Self::Table(table) => table
                .iter()
                .map(|(name, text)| read(name, text, agents))
                .collect(),
        }
    }
}

/// One parsed sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its name in the table, else the sentence.
    pub name: String,
    /// The sentence.
    pub text: String,
    /// Its claim.
    pub claim: Claim,
}

/// The claim of an expectation.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// The agent's score against the opponent is above that of this many Elo; a negative number
    /// allows it to be weaker by that much.
    Beats {
        /// The agent.
        agent: String,
        /// The opponent.
        opponent: String,
        /// The difference.
        elo: f64,
        /// Confidence, from 0 to 1.
        confidence: f64,
    },
    /// The agent's rating is above the opponent's by more than this many Elo.
    Rated {
        /// The agent.
        agent: String,
        /// The opponent.
        opponent: String,
        /// The difference.
        elo: f64,
        /// Confidence, from 0 to 1.
        confidence: f64,
    },
    /// The agent's score, or that against one opponent.
    Scores {
        /// The agent.
        agent: String,
        /// The opponent; none: all.
        opponent: Option<String>,
        /// Side of the share.
        bound: Bound,
        /// From 0 to 1.
        share: f64,
        /// Confidence, from 0 to 1; none: only the value counts.
        confidence: Option<f64>,
    },
    /// The agent's place in the standings.
    Ranks {
        /// The agent.
        agent: String,
        /// The place.
        place: Place,
    },
    /// The sequential test accepts its second hypothesis about the agent.
    Passes {
        /// The first agent.
        agent: String,
    },
    /// Maximum number of faults, of one agent or of all together.
    Faults {
        /// The agent; none: all agents.
        agent: Option<String>,
        /// The maximum.
        most: u64,
    },
    /// Maximum number of games that could not be played.
    Voids {
        /// The maximum.
        most: u64,
    },
}

impl Claim {
    /// Confidence, from 0 to 1; none if only a value counts.
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
    /// Last.
    Last,
}

const VERBS: [&str; 7] = ["beats", "loses", "scores", "ranks", "passes", "makes", "is"];
const COUNTED: [&str; 2] = ["faults", "voids"];

/// Parses one sentence.
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
        Some(word) => Err(format!("unexpected \"{word}\" at its end")),
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

    /// Takes the word if it is the next one.
    fn takes(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn wants(&mut self, word: &str) -> Read<()> {
        self.one_of(&[word]).map(drop)
    }

    /// One of these words, the only ones allowed here.
    fn one_of<'k>(&mut self, known: &[&'k str]) -> Read<&'k str> {
        let listed = known.iter().map(|word| format!("\"{word}\""));
        let listed: Vec<String> = listed.collect();
        let listed = listed.join(" or ");
        let word = self.next();
        let word = word.ok_or_else(|| format!("{listed} is missing at its end"))?;
        let found = known.iter().copied().find(|&known| known == word);
        found.ok_or_else(|| {
            let hint = nearest(word, known.iter().copied()).map_or_else(
                || format!("use {listed}"),
                |nearest| format!("did you mean \"{nearest}\"?"),
            );
            format!("unknown word \"{word}\", {hint}")
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
            "beats" => Ok(Claim::Beats {
                opponent: self.opponent(&agent)?,
                agent,
                elo: self.lead()?,
                confidence: self.confidence()?.unwrap_or(CONFIDENCE),
            }),
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
                Ok(Claim::Rated {
                    opponent: self.opponent(&agent)?,
                    agent,
                    elo: self.lead()?,
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
        let word = self.next().ok_or("an agent is missing at its end")?;
        let names: Vec<&str> = self.agents.iter().map(AgentName::as_str).collect();
        if names.contains(&word) {
            return Ok(word.to_owned());
        }
        let hint = nearest(word, names.iter().copied()).map_or_else(
            || format!("it has {}", names.join(", ")),
            |nearest| format!("did you mean \"{nearest}\"?"),
        );
        Err(format!("agents has no \"{word}\", {hint}"))
    }

    fn opponent(&mut self, agent: &str) -> Read<String> {
        let opponent = self.agent()?;
        if opponent == agent {
            return Err(format!("{agent} cannot play against itself"));
        }
        Ok(opponent)
    }

    fn number(&mut self, what: &str) -> Read<f64> {
        let word = self.next();
        let word = word.ok_or_else(|| format!("{what} is missing at its end"))?;
        word.parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| format!("\"{word}\" is not a number; {what} is expected there"))
    }

    fn count(&mut self) -> Read<u64> {
        let word = self.next().ok_or("a whole number is missing at its end")?;
        word.parse()
            .map_err(|_| format!("\"{word}\" is not a whole number of at least 0"))
    }

    /// Parses `by 5 elo`, if it is there.
    fn lead(&mut self) -> Read<f64> {
        if self.takes("by") {
            self.elo()
        } else {
            Ok(0.0)
        }
    }

    fn elo(&mut self) -> Read<f64> {
        let elo = self.number("a number of elo")?;
        if elo.abs() > ELO_MAX {
            return Err(format!("{elo} elo: must be from -{ELO_MAX} to {ELO_MAX}"));
        }
        self.wants("elo")?;
        Ok(elo)
    }

    /// Parses `at 95 %`, if it is there.
    fn confidence(&mut self) -> Read<Option<f64>> {
        if !self.takes("at") {
            return Ok(None);
        }
        let percent = self.number("a percentage")?;
        self.wants("%")?;
        if !(50.0..=99.99).contains(&percent) {
            return Err(format!(
                "at {percent} %: the confidence must be from 50 % to 99.99 %"
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
        let opponent = match self.takes("against") {
            true => Some(self.opponent(&agent)?),
            false => None,
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
                    format!("\"{word}\" is not a place, use \"first\", \"last\" or a number")
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

    /// `no faults`, `at most 3 faults`; `voids` never belong to an agent.
    fn counted(&mut self, agent: Option<String>) -> Read<Claim> {
        let most = match self.one_of(&["no", "at"])? {
            "no" => 0,
            _ => {
                self.wants("most")?;
                self.count()?
            }
        };
        let known = if agent.is_some() { 1 } else { 2 };
        match self.one_of(&COUNTED[..known])? {
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
