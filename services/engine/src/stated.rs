//! Games whose rules are not part of the program that reads their records.
//!
//! A record of such a game has a [`Transcript`]: the seat and the notation of each event, and how
//! the rules ended the game. [`StatedGame`] repeats it. So a program without the rules can write
//! the line of a record, check its hash, and show the game. It cannot check that the rules allow
//! the events.

use crate::{
    check::{CheckError, Checked},
    erased::{AnyGame, AnyMatch},
    event::Event,
    r#match::{IllegalAction, Setup},
    openings::{OpeningBook, OpeningError, OpeningLength, WorkLimit},
    random::{GameKeys, Key},
    replay::{Choice, Described, Outcome, ReplayError, ReplayProblem, Step},
    transcript::Transcript,
};

/// A game without its rules.
#[derive(Clone, Debug)]
pub struct StatedGame {
    version: u32,
    seats: usize,
    has_chance: bool,
    stated: Option<(Transcript, Vec<i64>)>,
}

impl StatedGame {
    /// A game of rules that are elsewhere.
    #[must_use]
    pub fn new(version: u32, seats: usize, has_chance: bool) -> Self {
        Self {
            version,
            seats,
            has_chance,
            stated: None,
        }
    }

    fn failed<T>(problem: ReplayProblem) -> Result<T, ReplayError> {
        Err(ReplayError { index: 0, problem })
    }
}

impl AnyGame for StatedGame {
    fn version(&self) -> u32 {
        self.version
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn has_rules(&self) -> bool {
        false
    }

    fn stated(&self, transcript: &Transcript, scores: &[i64]) -> Option<Box<dyn AnyGame>> {
        Some(Box::new(Self {
            stated: Some((transcript.clone(), scores.to_owned())),
            ..self.clone()
        }))
    }

    /// Without rules there are no legal actions.
    fn open(&self, _: Setup) -> Result<Box<dyn AnyMatch>, IllegalAction> {
        Err(IllegalAction { action: 0, seat: 0 })
    }

    fn deferring(&self) -> Box<dyn AnyGame> {
        Box::new(self.clone())
    }

    fn replay(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Outcome, ReplayError> {
        let nothing = || (Transcript::default(), vec![0; self.seats]);
        let (transcript, scores) = self.stated.clone().unwrap_or_else(nothing);
        let mut plies = 0;
        let mut decisions = vec![0; self.seats];
        if transcript.events.len() != events.len() {
            return Self::failed(ReplayProblem::Unstated);
        }
        for (index, (&event, &(seat, name))) in events.iter().zip(&transcript.events).enumerate() {
            let name = transcript.names.get(name as usize);
            let (Some(name), true) = (name, event.is_action() <= seat.is_some()) else {
                let problem = ReplayProblem::Unstated;
                return Err(ReplayError { index, problem });
            };
            if let (true, Some(seat)) = (event.is_action(), seat) {
                plies += 1;
                match decisions.get_mut(usize::from(seat)) {
                    Some(decisions) => *decisions += 1,
                    None => {
                        let problem = ReplayProblem::Unstated;
                        return Err(ReplayError { index, problem });
                    }
                }
            }
            visit(Described {
                event,
                seat,
                name,
                choice: Choice::Unknown,
            });
        }
        let mut placement = transcript.placement;
        placement.resize(self.seats, 1);
        Ok(Outcome {
            ending: transcript.ending,
            placement,
            scores,
            plies,
            decisions,
            to_move: transcript.to_move,
        })
    }

    fn check(
        &self,
        events: &[Event],
        _: &GameKeys,
        visit: &mut dyn FnMut(Described<'_>),
    ) -> Result<Checked, CheckError> {
        let outcome = self.replay(events, visit)?;
        let luck = Vec::new();
        Ok(Checked { outcome, luck })
    }

    fn resolve_steps(&self, _: &[Step]) -> Result<Vec<Event>, ReplayError> {
        Self::failed(ReplayProblem::Unstated)
    }

    fn replay_drawn(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&str, Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError> {
        let outcome = self.replay(events, &mut |described| visit("", Some(described)))?;
        visit("", None);
        Ok(outcome)
    }

    fn replay_seen(
        &self,
        events: &[Event],
        visit: &mut dyn FnMut(&[u8], Option<Described<'_>>),
    ) -> Result<Outcome, ReplayError> {
        let outcome = self.replay(events, &mut |described| {
            if described.event.is_action() {
                visit(&[], Some(described));
            }
        })?;
        if outcome.to_move.is_some() {
            visit(&[], None);
        }
        Ok(outcome)
    }

    fn has_chance(&self) -> bool {
        self.has_chance
    }

    fn draws_only_starter(&self) -> bool {
        false
    }

    fn opening_book(
        &self,
        _: OpeningLength,
        _: usize,
        _: &Key,
        _: WorkLimit<'_>,
    ) -> Result<OpeningBook, OpeningError> {
        Err(OpeningError::NoRules)
    }
}
