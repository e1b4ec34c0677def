//! The value of a move: f = V1 + V2 + T1 - T2 (Han and Zhou, section 3.2), and the value
//! minus replies (section 5.1).
//!
//! All values are integers: every probability is a multiple of 6^-9, and each ply of search
//! divides by 6 or 36.

use arena_engine::{ActionId, Game};
use arena_games::{
    ChineseLudo,
    ludo::{HANGAR, Landing, PLANES, Phase, State, across},
};

use super::threat::{CERTAIN, Reading, Source, Threats};
use crate::bot::{Pace, Stop};

/// The integer for 1: all values are multiples of 6^-13.
pub const ONE: i64 = 6i64.pow(13);

/// The integer for 6^-9, the unit of probabilities.
const CHANCE: i64 = ONE / CERTAIN as i64;

/// Maximum number of plies with exact values.
pub const PLIES_MAX: u32 = 3;

/// The weight of each possible reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyWeight {
    /// The probability of its roll.
    Sixth,
    /// The paper's 1/6 times 1/6 (section 6.2).
    ThirtySixth,
}

/// How planes that were just hit count in the threats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitInThreat {
    /// They are in the hangar.
    Exclude,
    /// They count as if they were still on their squares.
    Literal,
}

/// How moves are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Plies looked ahead, 1 to [`PLIES_MAX`].
    pub plies: u32,
    /// The reading of the paper's threats.
    pub reading: Reading,
    /// The source of the threats.
    pub source: Source,
    /// The weight of each possible reply.
    pub reply_weight: ReplyWeight,
    /// How planes that were just hit count in the threats.
    pub hit_in_threat: HitInThreat,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            plies: 1,
            reading: Reading::Exact,
            source: Source::Matrix,
            reply_weight: ReplyWeight::Sixth,
            hit_in_threat: HitInThreat::Exclude,
        }
    }
}

/// The four factors of a move, in units of 1 / [`ONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    /// Squares gained.
    pub v1: i64,
    /// Squares lost by hit opponents.
    pub v2: i64,
    /// Increase of the threat to opponents.
    pub t1: i64,
    /// Increase of the threat by opponents.
    pub t2: i64,
}

impl Factors {
    /// f, equation 1.
    #[must_use]
    pub fn sum(self) -> i64 {
        self.v1 + self.v2 + self.t1 - self.t2
    }
}

/// The cost of evaluating a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Number of requested threats: look-ups if there is a matrix.
    pub threats: u64,
    /// Number of steps to compute them without a matrix, see [`Threats::steps`].
    pub steps: u64,
}

/// The work of a search, and its stop signal.
pub(super) struct Effort<'a> {
    /// Number of evaluated moves.
    pub(super) nodes: u64,
    pace: Pace<'a>,
}

impl<'a> Effort<'a> {
    pub(super) fn new(stop: Stop<'a>) -> Self {
        Self {
            nodes: 0,
            pace: Pace::new(stop),
        }
    }
}

/// Evaluates moves of one game.
#[derive(Debug)]
pub struct Evaluator {
    game: ChineseLudo,
    threats: Threats,
    settings: Settings,
    /// By progress: the progress of the same square on the other seat's path, 0 if the
    /// other seat never enters it.
    seen: [i8; 64],
}

impl Evaluator {
    /// # Panics If `plies` is not 1 to [`PLIES_MAX`].
    #[must_use]
    pub fn new(game: &ChineseLudo, settings: Settings) -> Self {
        assert!(
            (1..=PLIES_MAX).contains(&settings.plies),
            "plies out of range"
        );
        let mut seen = [0; 64];
        for (progress, seen) in (0i8..).zip(&mut seen) {
            *seen = across(progress).unwrap_or(0);
        }
        Self {
            game: game.clone(),
            threats: Threats::new(game, settings.reading, settings.source),
            settings,
            seen,
        }
    }

    /// The threats it uses.
    #[must_use]
    pub fn threats(&self) -> &Threats {
        &self.threats
    }

    /// The factors of a plane's move; `None` if it cannot move.
    #[must_use]
    pub fn factors(&self, state: &State, plane: usize) -> Option<Factors> {
        let landing = self.playable(state, plane)?;
        Some(self.weigh(state, plane, landing, |attacker, target| {
            self.threats.chance(attacker, target)
        }))
    }

    /// F, the value of a plane's move with the replies of the settings' plies, in units of
    /// 1 / [`ONE`]; `None` if it cannot move.
    #[must_use]
    pub fn value(&self, state: &State, plane: usize) -> Option<i64> {
        self.playable(state, plane)?;
        Some(self.looked_ahead(state, plane, &mut Effort::new(Stop::NEVER)))
    }

    /// The plane that `ludo-threat` moves: the one with the largest value. Ties go to the
    /// most advanced plane, then to the first. `None` without a legal move.
    #[must_use]
    pub fn choice(&self, state: &State, legal: &[ActionId]) -> Option<ActionId> {
        let (plane, _) = self.best(state, legal, &mut Effort::new(Stop::NEVER))?;
        Some(plane)
    }

    /// The same with its value; any plane if the search must stop.
    pub(super) fn best(
        &self,
        state: &State,
        legal: &[ActionId],
        effort: &mut Effort<'_>,
    ) -> Option<(ActionId, i64)> {
        let planes = &state.r[usize::from(state.to_move)];
        let mut best: Option<(ActionId, (i64, i8))> = None;
        for &action in legal {
            let plane = usize::from(action);
            let rank_key = (self.looked_ahead(state, plane, effort), planes[plane]);
            if best.is_none_or(|(_, best)| rank_key > best) {
                best = Some((action, rank_key));
            }
        }
        best.map(|(plane, (value, _))| (plane, value))
    }

    /// [`Self::value`] of a plane that can move; any number if the search must stop.
    pub(super) fn looked_ahead(&self, state: &State, plane: usize, effort: &mut Effort<'_>) -> i64 {
        self.look(state, plane, self.settings.plies, effort)
    }

    /// μ(i, j), equation 19: the change of a move's value by looking ahead, relative to the
    /// difference of two moves. Below 1 the order of the two does not change. `None` if a
    /// plane cannot move or their values are equal.
    #[must_use]
    pub fn mu(&self, state: &State, i: usize, j: usize) -> Option<f64> {
        let first = self.factors(state, i)?.sum();
        let second = self.factors(state, j)?.sum();
        let ahead = self.value(state, i)?;
        let apart = (first - second).abs();
        (apart > 0).then(|| (first - ahead).abs() as f64 / apart as f64)
    }

    /// The cost of evaluating every move of a position at one ply.
    #[must_use]
    pub fn operations(&self, state: &State) -> Operations {
        let mut operations = Operations::default();
        for plane in 0..PLANES {
            if let Some(landing) = self.playable(state, plane) {
                self.weigh(state, plane, landing, |attacker, target| {
                    operations.threats += 1;
                    operations.steps += self.threats.steps(attacker, target);
                    0
                });
            }
        }
        operations
    }

    fn playable(&self, state: &State, plane: usize) -> Option<&Landing> {
        let third_six = state.sixes == 3;
        let plays = state.phase == Phase::Move && !third_six;
        let from = *state.r[usize::from(state.to_move)].get(plane)?;
        self.game.landing(from, state.die).filter(|_| plays)
    }

    /// The factors of a move, given the probability `chance` for an attacker and a target
    /// on the attacker's path.
    #[inline]
    fn weigh(
        &self,
        state: &State,
        plane: usize,
        landing: &Landing,
        mut chance: impl FnMut(i8, i8) -> u32,
    ) -> Factors {
        let seat = usize::from(state.to_move & 1);
        let (from, to) = (state.r[seat][plane], landing.to);
        let (from_seen, to_seen) = (self.seen(from), self.seen(to));
        let (from_worth, to_worth) = (worth(from), worth(to));
        let excludes = self.settings.hit_in_threat == HitInThreat::Exclude;
        let (mut v2, mut t1, mut t2) = (0, 0, 0);
        let mut threat = |attacker, target| i64::from(chance(attacker, target));
        for &other in &state.r[1 - seat] {
            let (here, other_worth) = (self.seen(other), worth(other));
            t1 -= threat(from, here) * other_worth;
            t2 -= threat(other, from_seen) * from_worth;
            if landing.hits >> (other as u8 & 63) & 1 == 1 {
                v2 += other_worth;
                if excludes {
                    continue;
                }
            }
            t1 += threat(to, here) * other_worth;
            t2 += threat(other, to_seen) * to_worth;
        }
        let v1 = match from {
            HANGAR => i64::from(state.die),
            _ => i64::from(to - from),
        };
        Factors {
            v1: v1 * ONE,
            v2: v2 * ONE,
            t1: t1 * CHANCE,
            t2: t2 * CHANCE,
        }
    }

    #[inline]
    fn seen(&self, progress: i8) -> i8 {
        self.seen[progress as u8 as usize % 64]
    }

    /// The value of a legal move, searched `plies` plies ahead.
    fn look(&self, state: &State, plane: usize, plies: u32, effort: &mut Effort<'_>) -> i64 {
        effort.nodes += 1;
        if effort.pace.count() {
            return 0;
        }
        let from = state.r[usize::from(state.to_move & 1)][plane];
        let Some(landing) = self.game.landing(from, state.die) else {
            return 0;
        };
        let now = self.weigh(state, plane, landing, |attacker, target| {
            self.threats.chance(attacker, target)
        });
        if plies == 1 {
            return now.sum();
        }
        let mut after = *state;
        self.game.apply(&mut after, plane as u16);
        let next = self.outlook(&after, plies - 1, effort);
        if after.to_move == state.to_move {
            now.sum() + next
        } else {
            now.sum() - next
        }
    }

    /// The value of the next player's best moves, over all rolls. A roll without a move and
    /// the time after the end of the game are worth 0.
    fn outlook(&self, state: &State, plies: u32, effort: &mut Effort<'_>) -> i64 {
        if state.phase != Phase::Roll {
            return 0;
        }
        let mut sum = 0;
        for outcome in 0..6 {
            let mut rolled = *state;
            self.game.apply_outcome(&mut rolled, outcome);
            let planes = self.game.movable(&rolled);
            let movable = (0..PLANES).filter(|plane| planes >> plane & 1 == 1);
            let values = movable.map(|plane| self.look(&rolled, plane, plies, effort));
            sum += values.max().unwrap_or(0);
        }
        sum / match self.settings.reply_weight {
            ReplyWeight::Sixth => 6,
            ReplyWeight::ThirtySixth => 36,
        }
    }
}

/// I(X): number of squares behind a plane; none in the hangar and on the pad.
#[inline]
fn worth(progress: i8) -> i64 {
    i64::from(progress.max(0))
}
