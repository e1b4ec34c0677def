//! Checks of games that ended by adjudication.

use arena_engine::{
    AdjudicationRules, Adjudicator, AnyGame, Choice, FaultPolicy, Outcome, Score, ScoredMove, Seat,
    Termination,
};
use serde::Deserialize;

use super::{GameRecord, VerifyError};
use crate::spec::{GamePlay, score_number};

/// The settings of play that a record has to follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policies {
    /// Consequence of faults; none if it is not known.
    pub(super) on_fault: Option<FaultPolicy>,
    pub(super) ask_forced: bool,
    adjudication: AdjudicationRules,
}

impl From<&GamePlay> for Policies {
    fn from(play: &GamePlay) -> Self {
        Self {
            on_fault: Some(play.on_fault),
            ask_forced: play.ask_forced,
            adjudication: play.adjudication(),
        }
    }
}

impl GameRecord {
    /// Checks that a game that ended in another way has no scores.
    pub(super) fn check_no_adjudication(&self) -> Result<(), VerifyError> {
        if self.termination == Termination::Adjudication || self.adjudication.is_empty() {
            return Ok(());
        }
        let stated = self.termination.name();
        Err(VerifyError::Adjudication(format!(
            "the record has its scores, but the termination {stated}"
        )))
    }

    /// Checks that the evidence leads to the adjudication of this game, after its last move and not
    /// before. The scores are those that the worker reports: no replay shows them.
    pub(super) fn check_adjudication(
        &self,
        game: &dyn AnyGame,
        outcome: &Outcome,
        policies: Policies,
    ) -> Result<(), VerifyError> {
        let rules = policies.adjudication;
        let fail = |problem: String| Err(VerifyError::Adjudication(problem));
        if rules.is_off() || self.seats.len() != 2 {
            return fail("the games of this tournament do not end by it".to_owned());
        }
        if let Some(ending) = outcome.ending.map(Termination::from) {
            let stated = self.termination.name();
            return Err(VerifyError::differs("termination", stated, ending.name()));
        }
        if outcome.to_move.is_none() {
            return fail("no seat decides after the last event".to_owned());
        }
        let mut adjudicator = Adjudicator::new(rules);
        let mut found = None;
        for &scored in &self.adjudication {
            if found.is_some() {
                let ply = scored.ply;
                return fail(format!("its scores decide the game before ply {ply}"));
            }
            if scored.seat > 1 || scored.ply >= self.plies {
                return fail(format!(
                    "there is no ply {} of seat {}",
                    scored.ply, scored.seat
                ));
            }
            let is_fault = self.faults.iter().any(|fault| fault.ply == scored.ply);
            if is_fault && scored.score.is_some() {
                return fail(format!("a score at ply {}, which has a fault", scored.ply));
            }
            found = adjudicator.add(scored);
        }
        let Some(verdict) = found else {
            return fail("its scores do not decide the game".to_owned());
        };
        let expected = self.asked(game, policies.ask_forced, rules.evidence_moves(verdict))?;
        let stated = self.adjudication.iter().map(|it| (it.ply, it.seat));
        let stated: Vec<(u32, Seat)> = stated.collect();
        let is_stated = match &expected {
            Asked::All(expected) => stated == *expected,
            // Some moves may have been asked for.
            Asked::Among(actions) => {
                stated.is_sorted_by(|one, other| one.0 < other.0)
                    && stated.iter().all(|it| actions.contains(it))
            }
        };
        if !is_stated {
            return fail(format!(
                "its scores are those of (ply, seat) {stated:?}, instead of the last moves that \
                 agents were asked for"
            ));
        }
        super::verify_error::same("placement", &self.placement, &verdict.placement().to_vec())
    }

    /// The last moves of each seat that agents were asked for, this many of each.
    fn asked(
        &self,
        game: &dyn AnyGame,
        ask_forced: bool,
        wanted: usize,
    ) -> Result<Asked, VerifyError> {
        let mut actions: Vec<(u32, Seat, Choice)> = Vec::new();
        game.replay(&self.events, &mut |described| {
            if let (true, Some(seat)) = (described.event.is_action(), described.seat) {
                actions.push((actions.len() as u32, seat, described.choice));
            }
        })?;
        let mut actions = actions.split_off((self.opening_plies as usize).min(actions.len()));
        if actions.iter().any(|it| it.2 == Choice::Unknown) {
            let actions = actions.into_iter().map(|(ply, seat, _)| (ply, seat));
            return Ok(Asked::Among(actions.collect()));
        }
        actions.retain(|it| it.2.is_asked(ask_forced) == Some(true));
        let mut left = [wanted; 2];
        let mut last = Vec::with_capacity(2 * wanted);
        for (ply, seat, _) in actions.into_iter().rev() {
            let left = &mut left[usize::from(seat)];
            if *left > 0 {
                *left -= 1;
                last.push((ply, seat));
            }
        }
        last.reverse();
        Ok(Asked::All(last))
    }
}

/// Moves that agents were asked for.
enum Asked {
    /// Exactly these.
    All(Vec<(u32, Seat)>),
    /// Some of these: without the rules, it is not known which moves had alternatives.
    Among(Vec<(u32, Seat)>),
}

/// A scored move as a line has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LineScore {
    ply: u32,
    seat: u8,
    score: Option<LineNumber>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct LineNumber(#[serde(with = "score_number")] Score);

impl LineScore {
    pub(super) fn packed(&self) -> ScoredMove {
        ScoredMove {
            ply: self.ply,
            seat: self.seat,
            score: self.score.map(|LineNumber(score)| score),
        }
    }
}
