//! The interface of every format: stages of games, and a verdict.

use std::fmt;

use arena_model::{AgentChange, EntryState};

use super::{StageSums, Verdict, field::Field};
use crate::schedule::stage::Stage;

/// The step after all games of the earlier stages have a result.
#[derive(Debug)]
pub enum Next {
    /// More games.
    Stage(Stage),
    /// The tournament is over.
    Over(Verdict),
}

/// Number of games of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Games {
    /// Minimum.
    pub least: u64,
    /// Maximum.
    pub most: u64,
    /// Expected number, if it depends on results.
    pub expected: u64,
}

impl Games {
    pub(super) fn exactly(games: u64) -> Self {
        Self {
            least: games,
            most: games,
            expected: games,
        }
    }
}

/// An agent of an open ladder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeasonStanding {
    /// Whether it gets games.
    pub state: EntryState,
    /// The agent that it replaced.
    pub predecessor: Option<u16>,
    /// Its rating in Elo, with the ends of its 95 % interval; 0 is the mean of the active agents. `None`
    /// before it was added.
    pub rating: Option<[f64; 3]>,
    /// Blocks scheduled for it.
    pub blocks: u64,
}

/// How far a tournament is, for progress displays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormatProgress {
    /// The current round, from 1; in a sequential test, the number of looks.
    pub round: u64,
    /// Number of rounds, if known.
    pub rounds: Option<u64>,
    /// Log-likelihood ratio of a sequential test at its last look.
    pub llr: Option<f64>,
    /// Lower bound: H0 is accepted at or below it.
    pub llr_low: Option<f64>,
    /// Upper bound: H1 is accepted at or above it.
    pub llr_high: Option<f64>,
    /// Blocks of a sequential test by the first agent's points, ascending.
    pub outcomes: Vec<u64>,
    /// The same as text.
    pub text: String,
}

/// Plans the games of a tournament stage by stage, and gives the verdict.
pub trait StagePlanner: fmt::Debug + Send + Sync {
    /// Returns the next stage or the verdict. It is called with `None` at the start, then
    /// once for each stage that ended, in order.
    fn next(&mut self, ended: Option<&StageSums>) -> Next;

    /// Total number of games.
    fn games(&self) -> Games;

    /// Adds agents and changes of an open ladder to those so far: all names and changes, of which the
    /// planner knows the first ones. Other formats have none.
    fn follow_changes(&mut self, _names: &[String], _changes: &[AgentChange]) {}

    /// The agents of an open ladder, by index; empty for other formats.
    fn season(&self) -> Vec<SeasonStanding> {
        Vec::new()
    }

    /// Current progress: of a format with one round, unless it has more.
    fn progress(&self) -> FormatProgress {
        FormatProgress {
            round: 1,
            rounds: Some(1),
            ..FormatProgress::default()
        }
    }
}

/// A format of one stage, after which the verdict follows.
#[derive(Debug)]
pub(super) struct OneStage {
    pub(super) field: Field,
    pub(super) stage: Stage,
    /// Number of groups that the stage has.
    pub(super) groups: u64,
    pub(super) verdict: fn(&Field, &StageSums) -> Verdict,
}

impl StagePlanner for OneStage {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        match ended {
            None => Next::Stage(self.stage.clone()),
            Some(sums) => Next::Over((self.verdict)(&self.field, sums)),
        }
    }

    fn games(&self) -> Games {
        let blocks = self.field.blocks.saturating_mul(self.groups);
        Games::exactly(self.field.games(blocks))
    }
}
