//! Tournament formats: each a pure function of a spec and of what came of the
//! games of earlier stages.
//!
//! A format is a module that implements [`Rules`], and one line in the list
//! below. It sees integer sums of a whole stage, never single games, so that
//! what it decides does not depend on who was quicker.

mod bracket;
mod fixed;
mod gauntlet;
mod knockout;
mod ladder;
mod pairing;
mod rating;
mod round_robin;
pub mod sprt;
mod sums;
mod swiss;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

use std::fmt;

use arena_model::{
    Tournament, TournamentSeed,
    format::{Format, Settings},
};

use crate::schedule::{Schedule, ScheduleError, Stage};
pub(crate) use sums::pairs;
pub use sums::{Meeting, StageSums, Units};
pub use verdict::{SwissStanding, Verdict};

/// The formats that there are.
const ALL: &[(Format, New)] = &[
    (Format::RoundRobin, round_robin::new),
    (Format::Gauntlet, gauntlet::new),
    (Format::Sprt, sprt::new),
    (Format::Swiss, swiss::new),
    (Format::Knockout, knockout::new),
    (Format::Ladder, ladder::new),
    (Format::Fixed, fixed::new),
];

type New = fn(Field) -> Result<Box<dyn Rules>, FormatError>;

/// The most groups that a format lists.
const GROUPS_MAX: usize = 1_000_000;

/// What a format cannot do with a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("format = \"{format}\": {problem}")]
pub struct FormatError {
    /// Its name.
    pub format: &'static str,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What follows once all games of the stages before have a result.
#[derive(Debug)]
pub enum Next {
    /// More games.
    Stage(Stage),
    /// It is over.
    Over(Verdict),
}

/// How many games a tournament will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Games {
    /// At least so many.
    pub least: u64,
    /// At most so many.
    pub most: u64,
    /// About so many, where that depends on the results.
    pub expected: u64,
}

impl Games {
    fn exactly(games: u64) -> Self {
        Self {
            least: games,
            most: games,
            expected: games,
        }
    }
}

/// How far a format is, for people who watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// The round that is played now, from 1; looks at a test count as rounds.
    pub round: u64,
    /// How many there will be, where that is known.
    pub rounds: Option<u64>,
    /// The log-likelihood ratio of a test at its last look.
    pub llr: Option<f64>,
    /// Below it, the answer is no.
    pub llr_low: Option<f64>,
    /// Above it, it is yes.
    pub llr_high: Option<f64>,
    /// Blocks of a test by what the first agent got in them, from nothing to all.
    pub outcomes: Vec<u64>,
    /// The same in words.
    pub text: String,
}

/// A tournament as its format sees it.
#[derive(Clone, Debug)]
pub struct Field {
    /// Agents, by index.
    pub names: Vec<String>,
    /// Players of a game.
    pub seats: usize,
    /// Games of a block.
    pub rotations: u64,
    /// As the spec has it.
    pub blocks: u64,
    /// Where all that is drawn comes from.
    pub seed: TournamentSeed,
    /// What is set of the format.
    pub settings: Option<Settings>,
    /// Its name.
    pub format: Format,
}

impl Field {
    fn agents(&self) -> usize {
        self.names.len()
    }

    fn name(&self, agent: u16) -> &str {
        &self.names[usize::from(agent)]
    }

    fn index(&self, name: &str) -> Option<u16> {
        let place = self.names.iter().position(|other| other == name)?;
        u16::try_from(place).ok()
    }

    /// Games of so many blocks.
    fn games(&self, blocks: u64) -> u64 {
        blocks.saturating_mul(self.rotations)
    }

    fn error(&self, problem: String) -> FormatError {
        FormatError {
            format: self.format.name(),
            problem,
        }
    }
}

/// Who plays whom, and what it came to.
pub trait Rules: fmt::Debug + Send + Sync {
    /// What follows, reported once for each stage that ended, in order; without
    /// one at the start.
    fn next(&mut self, ended: Option<&StageSums>) -> Next;

    /// How many games there will be in all.
    fn games(&self) -> Games;

    /// How far it is.
    fn course(&self) -> Course;
}

/// The schedule of a tournament with its first stage, and the rules by which it
/// goes on.
pub(crate) fn begin(tournament: &Tournament) -> Result<(Schedule, Box<dyn Rules>), ScheduleError> {
    let mut schedule = Schedule::empty(tournament)?;
    let field = Field {
        names: tournament
            .agents
            .iter()
            .map(|agent| agent.name.to_string())
            .collect(),
        seats: tournament.seats,
        rotations: u64::from(schedule.rotations()),
        blocks: tournament.blocks,
        seed: tournament.seed,
        settings: tournament.settings.clone(),
        format: tournament.format,
    };
    let new = ALL.iter().find(|(format, _)| *format == tournament.format);
    let Some((_, new)) = new else {
        return Err(field
            .error("it is not in the list of formats".to_owned())
            .into());
    };
    let mut rules = new(field)?;
    if let Next::Stage(stage) = rules.next(None) {
        schedule.extend(stage)?;
    }
    Ok((schedule, rules))
}

/// All combinations of so many members of a list, in lexicographic order of
/// their places; none where there are too many.
fn combinations(of: &[u16], size: usize) -> Option<Vec<Vec<u16>>> {
    let mut found = Vec::new();
    let mut places: Vec<usize> = (0..size).collect();
    if size > of.len() {
        return Some(found);
    }
    loop {
        if found.len() == GROUPS_MAX {
            return None;
        }
        found.push(places.iter().map(|&place| of[place]).collect());
        let movable = (0..size).rposition(|it| places[it] < of.len() - size + it);
        let Some(movable) = movable else {
            return Some(found);
        };
        places[movable] += 1;
        for next in movable + 1..size {
            places[next] = places[next - 1] + 1;
        }
    }
}
