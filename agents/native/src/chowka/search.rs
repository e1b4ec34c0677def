//! Algorithms 1 and 2 of the paper, and a second version of algorithm 2 as its program ran
//! it.

use arena_engine::ActionId;
use arena_games::cowry::{Cowry, Move, VALUES};

use super::{
    heuristic::{GOAL, PARTS, Worths},
    position::{BoardView, Ground, Position},
};
use crate::bot::{Bot, Chosen, Decision, Pace};

/// A legal move of the game and its effect.
struct Step {
    action: ActionId,
    /// The pieces that move.
    crew: u16,
    /// Path index after the move; `None` if a double makes the move void.
    to: Option<u8>,
    together: bool,
}

/// The moves of a decision, sorted by piece, then by value.
fn steps(
    decision: &Decision<'_, Cowry>,
    ground: &Ground,
    position: &Position,
    mut visit: impl FnMut(Step),
) {
    let Decision { game, state, .. } = *decision;
    let mut visit_move = |action: ActionId, step: Move| {
        let landing = game.landing(state, action);
        let moved = landing.filter(|landing| landing.to != landing.from);
        let mut crew = 1 << step.piece;
        if step.together
            && let Some(partner) = position.partner(ground, step.piece)
        {
            crew |= 1 << partner;
        }
        visit(Step {
            action,
            crew,
            to: moved.map(|landing| landing.to),
            together: step.together,
        });
    };
    // The list is sorted by value first; with one value in the pool there is nothing to
    // sort.
    if state.pool_size() == 1 {
        for &action in decision.legal {
            if let Some(step) = game.parse(action) {
                visit_move(action, step);
            }
        }
        return;
    }
    for piece in 0..game.pieces() {
        for &action in decision.legal {
            if let Some(step) = game.parse(action).filter(|step| step.piece == piece) {
                visit_move(action, step);
            }
        }
    }
}

/// The first of the best moves, with its value.
type Best = Option<(ActionId, i128)>;

fn keep_best(best: &mut Best, action: ActionId, worth: i128) {
    if best.is_none_or(|(_, greatest)| worth > greatest) {
        *best = Some((action, worth));
    }
}

fn chosen(
    decision: &Decision<'_, Cowry>,
    best: Best,
    depth: u32,
    nodes: u64,
    unit: i128,
) -> Chosen {
    let Some((action, worth)) = best else {
        return decision.legal[0].into();
    };
    Chosen {
        action,
        score: Some(worth as f64 / unit as f64),
        depth: Some(depth),
        nodes: Some(nodes),
    }
}

/// A1: the move with the largest value.
pub(super) struct Naive {
    worths: Worths,
    ground: Ground,
}

impl Naive {
    pub(super) fn new(worths: Worths, game: &Cowry) -> Self {
        Self {
            worths,
            ground: Ground::new(game),
        }
    }
}

impl Bot<Cowry> for Naive {
    fn choose(&mut self, decision: &Decision<'_, Cowry>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let Self { worths, ground } = self;
        let position = Position::read(ground, decision.state, usize::from(decision.seat));
        let view = position.view(ground);
        let factor = worths.factor(position.own.left(ground));
        let (mut best, mut nodes) = (None, 0);
        steps(decision, ground, &position, |step| {
            nodes += 1;
            let worth = worth(worths, &view, factor, &step);
            keep_best(&mut best, step.action, worth.into());
        });
        chosen(decision, best, 1, nodes, PARTS.into())
    }
}

/// Value of a move of the decision; 0 for a void move.
fn worth(worths: &Worths, view: &BoardView, factor: i64, step: &Step) -> i64 {
    let landing = step.to.map(|to| view.landing(to, step.together));
    landing.map_or(0, |landing| factor * worths.of(landing))
}

/// The version of A2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// The version of the paper's text.
    Text,
    /// The version of the program behind the paper's tables, of which one sentence is
    /// known: it keeps a running maximum across the opponent's throws, moves replies on one
    /// board, and draws a move if none is worth more than 0.
    ///
    /// It is read as the smallest change of the text's version that makes the sentence
    /// true: throws come in the order 1, 2, 3, 4, 8; each has its own best reply, on the
    /// board after the replies to the earlier throws; the value that counts is the largest
    /// value of a reply so far; answers are evaluated on the board at that time. Other
    /// readings are possible.
    Code,
}

/// A2: the value of a move, minus the opponent's best reply to each throw, plus the own
/// best answer to that and each own throw, averaged.
pub(super) struct Searcher {
    algorithm: Algorithm,
    worths: Worths,
    ground: Ground,
    /// Weight of each throw.
    weights: [u32; VALUES.len()],
}

impl Searcher {
    pub(super) fn new(
        algorithm: Algorithm,
        worths: Worths,
        game: &Cowry,
        weights: [u32; VALUES.len()],
    ) -> Self {
        Self {
            algorithm,
            worths,
            ground: Ground::new(game),
            weights,
        }
    }
}

impl Bot<Cowry> for Searcher {
    fn choose(&mut self, decision: &Decision<'_, Cowry>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let position = Position::read(&self.ground, decision.state, usize::from(decision.seat));
        let view = position.view(&self.ground);
        let left = position.own.left(&self.ground);
        let factor = self.worths.factor(left);
        let sum: i128 = self.weights.iter().map(|&weight| i128::from(weight)).sum();
        let mut tree = Tree {
            searcher: self,
            nodes: 0,
            pace: Pace::new(decision.stop),
        };
        let (mut best, mut wins) = (None, None);
        steps(decision, &self.ground, &position, |step| {
            if wins.is_some() {
                return;
            }
            if step.to == Some(GOAL) && step.crew.count_ones() == u32::from(left) {
                wins = Some(step.action);
                return;
            }
            tree.nodes += 1;
            let mut after = position;
            if let Some(to) = step.to {
                after.make(&self.ground, step.crew, to);
            }
            let worth = worth(&self.worths, &view, factor, &step);
            let replies = match self.algorithm {
                Algorithm::Text => tree.replies(&after.turned(), sum),
                Algorithm::Code => tree.replies_on_one_board(after.turned(), sum),
            };
            let worth = i128::from(worth) * sum * sum + replies;
            keep_best(&mut best, step.action, worth);
        });
        if let Some(action) = wins {
            return action.into();
        }
        let worthless = best.is_some_and(|(_, worth)| worth <= 0);
        if self.algorithm == Algorithm::Code && worthless {
            return decision.rng().pick(decision.legal).into();
        }
        let unit = i128::from(PARTS) * sum * sum;
        chosen(decision, best, 3, tree.nodes, unit)
    }
}

struct Tree<'a> {
    searcher: &'a Searcher,
    /// Number of evaluated moves.
    nodes: u64,
    pace: Pace<'a>,
}

impl Tree<'_> {
    /// Value for the previous player of the opponent's replies and the answers to them,
    /// over all pairs of throws.
    fn replies(&mut self, position: &Position, sum: i128) -> i128 {
        let Searcher {
            ground, weights, ..
        } = self.searcher;
        let view = position.view(ground);
        let factor = self.searcher.worths.factor(position.own.left(ground));
        // If nothing can move, the position stays the same, with the same value each time.
        let mut stays = None;
        let mut total = 0;
        for (value, &weight) in VALUES.into_iter().zip(weights) {
            let (lost, answers) = match self.best(position, &view, value) {
                Some((piece, worth)) => {
                    let mut after = *position;
                    let to = after.own.pieces[piece] + value;
                    after.make(ground, 1 << piece, to);
                    (worth * factor, self.answers(&after.turned()))
                }
                None => {
                    let answers = *stays.get_or_insert_with(|| self.answers(&position.turned()));
                    (0, answers)
                }
            };
            total += i128::from(weight) * (i128::from(answers) - sum * i128::from(lost));
        }
        total
    }

    /// As [`Self::replies`], by [`Algorithm::Code`].
    fn replies_on_one_board(&mut self, mut position: Position, sum: i128) -> i128 {
        let Searcher {
            ground,
            weights,
            worths,
            ..
        } = self.searcher;
        // If nothing can move, the position stays the same.
        let mut answers = None;
        let (mut lost, mut total) = (0, 0);
        for (value, &weight) in VALUES.into_iter().zip(weights) {
            let view = position.view(ground);
            if let Some((piece, worth)) = self.best(&position, &view, value) {
                lost = lost.max(worth * worths.factor(position.own.left(ground)));
                let to = position.own.pieces[piece] + value;
                position.make(ground, 1 << piece, to);
                answers = None;
            }
            let answers = *answers.get_or_insert_with(|| self.answers(&position.turned()));
            total += i128::from(weight) * (i128::from(answers) - sum * i128::from(lost));
        }
        total
    }

    /// Total value of the best answers to each throw.
    #[inline]
    fn answers(&mut self, position: &Position) -> i64 {
        let Searcher {
            ground, weights, ..
        } = self.searcher;
        let view = position.view(ground);
        let factor = self.searcher.worths.factor(position.own.left(ground));
        let throws = VALUES.into_iter().zip(weights);
        let worths = throws.filter_map(|(value, &weight)| {
            let (_, worth) = self.best(position, &view, value)?;
            Some(i64::from(weight) * worth)
        });
        worths.sum::<i64>() * factor
    }

    /// The first of the pieces whose move by this value is best, and the move's value per
    /// own piece that counts.
    #[inline]
    fn best(&mut self, position: &Position, view: &BoardView, value: u8) -> Option<(usize, i64)> {
        let Searcher { ground, worths, .. } = self.searcher;
        let mut best = None;
        for (piece, &from) in position.own.pieces[..ground.pieces()].iter().enumerate() {
            let to = from + value;
            if view.allows(piece, from, to) {
                self.nodes += 1;
                if self.pace.count() {
                    return best;
                }
                let worth = worths.of(view.landing(to, false));
                if best.is_none_or(|(_, best)| worth > best) {
                    best = Some((piece, worth));
                }
            }
        }
        best
    }
}
