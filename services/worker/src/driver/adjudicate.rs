//! Ends games about whose result both agents agree.

use arena_engine::{
    Adjudication, AdjudicationVerdict, Adjudicator, AnyMatch, Score, ScoredMove, Seat, Status,
};

use crate::context::TournamentContext;

/// The scores of a game.
pub(super) struct Scores {
    adjudicator: Adjudicator,
    /// What follows from the last move, unless the rules ended the game with it.
    verdict: Option<AdjudicationVerdict>,
}

impl Scores {
    /// None if the games of the tournament do not end by adjudication.
    pub(super) fn of(context: &TournamentContext) -> Option<Self> {
        let adjudicator = context.adjudicator()?;
        Some(Self {
            adjudicator,
            verdict: None,
        })
    }

    /// Adds a move that an agent was asked for.
    pub(super) fn add(&mut self, ply: u32, seat: Seat, score: Option<Score>) {
        let scored = ScoredMove { ply, seat, score };
        self.verdict = self.adjudicator.add(scored);
    }

    /// Ends a game that would ask its next question, if there is a verdict.
    pub(super) fn adjudicate(&mut self, game: &mut dyn AnyMatch) {
        if let (Some(verdict), Status::Asks(_)) = (self.verdict, game.status()) {
            let evidence = self.adjudicator.evidence(verdict);
            game.adjudicate(Adjudication { verdict, evidence });
        }
    }
}
