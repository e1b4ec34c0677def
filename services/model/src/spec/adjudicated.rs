//! When the games of a tournament end by adjudication.

use arena_engine::{ADJUDICATION_MOVES_MAX, AdjudicationRules, Score};

use super::{GamePlay, Play, SpecError, adjudicate::rules};

impl Play {
    /// When games end by adjudication.
    #[must_use]
    pub fn adjudication(&self) -> AdjudicationRules {
        rules(self.resign, self.draw)
    }

    pub(super) fn check_adjudication(&self) -> Result<(), SpecError> {
        let fail = |text: String| Err(SpecError::Value(text));
        let moves = [
            ("resign", self.resign.map(|it| it.moves)),
            ("draw", self.draw.map(|it| it.moves)),
        ];
        for (key, moves) in moves {
            if let Some(moves) = moves.filter(|it| !(1..=ADJUDICATION_MOVES_MAX).contains(it)) {
                return fail(format!(
                    "{key}: moves = {moves}: must be from 1 to {ADJUDICATION_MOVES_MAX}"
                ));
            }
        }
        let zero = Score::default();
        if let Some(resign) = self.resign.filter(|it| it.score <= zero) {
            return fail(format!(
                "resign: score = {}: must be above 0; the losing agent reports its negative",
                resign.score
            ));
        }
        let Some(draw) = self.draw else {
            return Ok(());
        };
        if draw.score < zero {
            return fail(format!("draw: score = {}: must be at least 0", draw.score));
        }
        match self.resign {
            Some(resign) if resign.score <= draw.score => fail(format!(
                "the score of resign, {}, must be above that of draw, {}",
                resign.score, draw.score
            )),
            _ => Ok(()),
        }
    }

    /// Checks that a game of so many seats can be adjudicated, if it has to be.
    ///
    /// # Errors
    /// [`SpecError::Value`] if it cannot.
    pub fn check_seats(&self, seats: usize) -> Result<(), SpecError> {
        if self.adjudication().is_off() || seats == 2 {
            return Ok(());
        }
        Err(SpecError::Value(format!(
            "resign and draw end games of two seats; this tournament has {seats}: remove them from \
             [play]"
        )))
    }
}

impl GamePlay {
    /// When games end by adjudication.
    #[must_use]
    pub fn adjudication(&self) -> AdjudicationRules {
        rules(self.resign, self.draw)
    }
}
