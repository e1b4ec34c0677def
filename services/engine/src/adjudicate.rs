//! Adjudication: a game of two seats ends early if both agents agree about its result.
//!
//! Agents report a score with each move that they are asked for. Resign and draw rules are those of
//! cutechess and fastchess, but a seat resigns only if its opponent agrees.

use std::{collections::VecDeque, fmt};

use crate::seat::Seat;

/// Maximum value of [`ResignRule::moves`] and [`DrawRule::moves`].
pub const ADJUDICATION_MOVES_MAX: u32 = 100;

/// A score from the view of the seat that moved, in thousandths of its agent's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i64);

impl Score {
    /// The largest score; the smallest is its negative. Whole units of it fit a double.
    pub const MAX: Self = Self(1_000_000_000_000);

    /// A score of so many thousandths, at most [`Score::MAX`].
    #[must_use]
    pub fn from_thousandths(thousandths: i64) -> Self {
        Self(thousandths.clamp(-Self::MAX.0, Self::MAX.0))
    }

    /// The score in thousandths.
    #[must_use]
    pub fn thousandths(self) -> i64 {
        self.0
    }

    fn size(self) -> u64 {
        self.0.unsigned_abs()
    }
}

/// As a decimal number without trailing zeros: `-12`, `0.5`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.size() / 1000, self.size() % 1000);
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{rest:03}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// A seat loses if both agents say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// The loser's score is at most the negative of this, and the winner's score at least this.
    pub score: Score,
    /// In this many last moves of each seat.
    pub moves: u32,
}

/// A game is a draw if both agents say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// No score is farther from 0 than this.
    pub score: Score,
    /// In this many last moves of each seat.
    pub moves: u32,
    /// The game has at least this many plies.
    pub after_plies: u32,
}

/// When games end by adjudication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdjudicationRules {
    /// Wins by adjudication.
    pub resign: Option<ResignRule>,
    /// Draws by adjudication.
    pub draw: Option<DrawRule>,
}

impl AdjudicationRules {
    /// True if no game ends by adjudication.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Number of moves of each seat that a verdict has as its evidence: those that the rule asks for,
    /// and the one before, which shows that the rule was not met earlier.
    #[must_use]
    pub fn evidence_moves(&self, verdict: AdjudicationVerdict) -> usize {
        let moves = match verdict {
            AdjudicationVerdict::Resigned(_) => self.resign.map(|rule| rule.moves),
            AdjudicationVerdict::Drawn => self.draw.map(|rule| rule.moves),
        };
        moves.unwrap_or_default() as usize + 1
    }
}

/// A move that an agent was asked for, and the score that the agent reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// Actions played before, from 0.
    pub ply: u32,
    /// The seat that moved.
    pub seat: Seat,
    /// Its score; none if the agent reported none, or committed a fault.
    pub score: Option<Score>,
}

/// Result of an adjudication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjudicationVerdict {
    /// This seat loses.
    Resigned(Seat),
    /// No seat wins.
    Drawn,
}

impl AdjudicationVerdict {
    /// Rank of each seat.
    #[must_use]
    pub fn placement(self) -> [u8; 2] {
        match self {
            Self::Resigned(0) => [2, 1],
            Self::Resigned(_) => [1, 2],
            Self::Drawn => [1, 1],
        }
    }
}

/// A verdict and the moves that it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjudication {
    /// The verdict.
    pub verdict: AdjudicationVerdict,
    /// The last moves of both seats, see [`AdjudicationRules::evidence_moves`].
    pub evidence: Vec<ScoredMove>,
}

/// Moves of a seat, without an interruption, that satisfy a condition.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    lost: u32,
    won: u32,
    level: u32,
}

/// Follows the scores of one game of two seats.
#[derive(Clone, Debug)]
pub struct Adjudicator {
    rules: AdjudicationRules,
    rows: [Rows; 2],
    recent: [VecDeque<ScoredMove>; 2],
}

impl Adjudicator {
    /// An adjudicator at the start of a game.
    #[must_use]
    pub fn new(rules: AdjudicationRules) -> Self {
        Self {
            rules,
            rows: [Rows::default(); 2],
            recent: [VecDeque::new(), VecDeque::new()],
        }
    }

    /// Adds a move, and judges the position after it. The rules of the game come first: if it is over
    /// after this move, the verdict does not count.
    ///
    /// # Panics
    /// If the seat is not 0 or 1.
    pub fn add(&mut self, scored: ScoredMove) -> Option<AdjudicationVerdict> {
        let seat = usize::from(scored.seat);
        let row = &mut self.rows[seat];
        let count = |row: &mut u32, is_met: bool| *row = if is_met { *row + 1 } else { 0 };
        let resign = self.rules.resign.zip(scored.score);
        let size = scored.score.map(Score::size);
        count(
            &mut row.lost,
            resign.is_some_and(|(rule, score)| score.0 <= -rule.score.0),
        );
        count(
            &mut row.won,
            resign.is_some_and(|(rule, score)| score >= rule.score),
        );
        count(
            &mut row.level,
            { self.rules.draw.zip(size) }.is_some_and(|(rule, size)| size <= rule.score.size()),
        );
        let kept = self.moves_max() + 1;
        let recent = &mut self.recent[seat];
        if recent.len() == kept {
            recent.pop_front();
        }
        recent.push_back(scored);
        self.verdict(scored.ply + 1)
    }

    fn moves_max(&self) -> usize {
        let resign = self.rules.resign.map_or(0, |rule| rule.moves);
        let draw = self.rules.draw.map_or(0, |rule| rule.moves);
        resign.max(draw) as usize
    }

    fn verdict(&self, plies: u32) -> Option<AdjudicationVerdict> {
        if let Some(rule) = self.rules.resign {
            let agree = |loser: usize| {
                self.rows[loser].lost >= rule.moves && self.rows[1 - loser].won >= rule.moves
            };
            if let Some(loser) = (0..2).find(|&loser| agree(loser)) {
                return Some(AdjudicationVerdict::Resigned(loser as Seat));
            }
        }
        let rule = self.rules.draw?;
        let is_level = self.rows.iter().all(|row| row.level >= rule.moves);
        (is_level && plies >= rule.after_plies).then_some(AdjudicationVerdict::Drawn)
    }

    /// The evidence for a verdict of the last [`Adjudicator::add`], in the order of plies.
    #[must_use]
    pub fn evidence(&self, verdict: AdjudicationVerdict) -> Vec<ScoredMove> {
        let wanted = self.rules.evidence_moves(verdict);
        let last = self.recent.iter().flat_map(|recent| {
            let from = recent.len().saturating_sub(wanted);
            recent.range(from..).copied()
        });
        let mut evidence: Vec<ScoredMove> = last.collect();
        evidence.sort_by_key(|scored| scored.ply);
        evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    const RULES: AdjudicationRules = AdjudicationRules {
        resign: Some(ResignRule {
            score: Score(600_000),
            moves: 3,
        }),
        draw: Some(DrawRule {
            score: Score(10_000),
            moves: 2,
            after_plies: 8,
        }),
    };

    /// Plays scores of alternating seats, in whole units. Returns the first verdict, its ply, and the
    /// plies of its evidence.
    fn play(scores: &[Option<i64>]) -> Option<(AdjudicationVerdict, u32, Vec<u32>)> {
        let mut adjudicator = Adjudicator::new(RULES);
        (0..).zip(scores).find_map(|(ply, score)| {
            let score = score.map(|score| Score(score * 1000));
            let seat = (ply % 2) as Seat;
            let verdict = adjudicator.add(ScoredMove { ply, seat, score })?;
            let evidence = adjudicator.evidence(verdict);
            assert!(evidence.iter().all(|it| it.seat == (it.ply % 2) as Seat));
            Some((verdict, ply, evidence.iter().map(|it| it.ply).collect()))
        })
    }

    fn all(scores: &[i64]) -> Vec<Option<i64>> {
        scores.iter().copied().map(Some).collect()
    }

    #[test]
    fn seat_resigns_when_both_agree_for_enough_moves() {
        let scores = all(&[-600, 600, -601, 700, -32_000, 600]);
        let found = play(&scores).expect("a verdict");
        assert_eq!(
            found,
            (AdjudicationVerdict::Resigned(0), 5, vec![0, 1, 2, 3, 4, 5])
        );
        assert_eq!(play(&scores[..5]), None);
        let other: Vec<_> = scores.iter().map(|score| score.map(|it| -it)).collect();
        assert_eq!(
            play(&other).expect("a verdict").0,
            AdjudicationVerdict::Resigned(1)
        );
    }

    #[test]
    fn claim_of_one_side_alone_ends_nothing() {
        let winner = all(&[599, 900].repeat(20));
        let loser = all(&[-900, 599].repeat(20));
        let level = all(&[0, 11].repeat(20));
        let both_lose = all(&[-900, -900].repeat(20));
        for scores in [winner, loser, level, both_lose] {
            assert_eq!(play(&scores), None, "{scores:?}");
        }
    }

    #[test]
    fn missing_or_other_score_breaks_the_row() {
        let agreed = all(&[-700, 700]);
        for between in [
            [None, Some(700)],
            [Some(-700), None],
            [Some(-599), Some(700)],
        ] {
            let scores = [agreed.repeat(2), between.to_vec(), agreed.repeat(4)].concat();
            let (verdict, ply, _) = play(&scores).expect("a verdict");
            assert_eq!(verdict, AdjudicationVerdict::Resigned(0));
            assert!(ply >= 10, "{between:?}: ply {ply}");
        }
        assert_eq!(play(&[None; 40]), None);
    }

    #[test]
    fn draw_needs_its_plies() {
        let (verdict, ply, evidence) = play(&all(&[-10, 10].repeat(20))).expect("a verdict");
        assert_eq!((verdict, ply), (AdjudicationVerdict::Drawn, 7));
        assert_eq!(evidence, [2, 3, 4, 5, 6, 7]);
        let late = [all(&[50; 20]), all(&[0; 20])].concat();
        assert_eq!(play(&late).expect("a verdict").1, 23);
    }

    /// A reader of a record knows only its evidence.
    #[test]
    fn evidence_leads_to_the_verdict_at_its_last_move_only() {
        let mut stream = Stream::new(&[1; 32]);
        let mut verdicts = 0;
        for _ in 0..3000 {
            let mut adjudicator = Adjudicator::new(RULES);
            for ply in 0..60 {
                let seat = stream.below(2) as Seat;
                let sign = if seat == 0 { -1 } else { 1 };
                let of = [None, Some(0), Some(9), Some(700), Some(700), Some(700)];
                let score = of[stream.below(6) as usize].map(|it: i64| Score(sign * it * 1000));
                let Some(verdict) = adjudicator.add(ScoredMove { ply, seat, score }) else {
                    continue;
                };
                let evidence = adjudicator.evidence(verdict);
                let mut again = Adjudicator::new(RULES);
                let found: Vec<_> = evidence.iter().map(|&it| again.add(it)).collect();
                let (last, before) = found.split_last().expect("not empty");
                assert_eq!(*last, Some(verdict), "{evidence:?}");
                assert!(before.iter().all(Option::is_none), "{evidence:?}");
                verdicts += 1;
                break;
            }
        }
        assert!(verdicts > 1000, "{verdicts}");
    }

    #[test]
    fn scores_are_written_as_short_decimals() {
        let written = [0, 1, -500, 12_000, -12_340].map(|it| Score(it).to_string());
        assert_eq!(written, ["0", "0.001", "-0.5", "12", "-12.34"]);
        assert_eq!(Score::from_thousandths(i64::MIN), Score(-Score::MAX.0));
    }
}
