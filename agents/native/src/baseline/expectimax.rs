//! Iterative deepening over all lines, until a budget of positions is used up.
//!
//! Every seat maximizes its own value, and chance is averaged by its weights. With two
//! seats, whose values add up to a point, that is minimax with alpha-beta pruning (Knuth
//! and Moore, 1975), extended to chance nodes by the bounds of all values (Star1; Ballard,
//! 1983). With more seats it is max^n (Luckhardt and Irani, 1986), without pruning.
//!
//! Averages are rounded down, so that the search is exact in integers.

mod many;
mod search;
mod two;

use arena_engine::{
    ActionId, Game, Seat,
    options::{Kind, Options, Spec},
    values::POINT,
};

use self::search::{Frame, Search, Spent};
use super::points;
use crate::{
    bot::{Bot, Chosen, Decision},
    make::{BotResult, UniversalBot},
    read,
};

/// The bot for any game.
pub(crate) struct Expectimax;

/// Its options.
pub(crate) fn specs() -> Vec<Spec> {
    vec![
        Spec::new(
            "depth",
            Kind::Int { min: 1, max: 100 },
            30i64,
            "maximum number of decisions to look ahead, forced ones included; nodes bounds the \
             cost",
        ),
        Spec::new(
            "nodes",
            Kind::Int {
                min: 1,
                max: 1_000_000_000,
            },
            5000i64,
            "maximum number of positions to evaluate; time grows in proportion",
        ),
    ]
}

impl UniversalBot for Expectimax {
    fn make<G: Game>(options: &Options, _: &G) -> BotResult<G> {
        Ok(Box::new(Searcher::<G> {
            depth: read::int(options, "depth") as u32,
            nodes: read::int(options, "nodes") as u64,
            frames: Vec::new(),
            root: Vec::new(),
        }))
    }
}

struct Searcher<G: Game> {
    depth: u32,
    nodes: u64,
    /// Buffers for the positions of a line, reused between decisions.
    frames: Vec<Frame<G::State>>,
    root: Vec<Child<G::State>>,
}

/// A position one action away.
struct Child<S> {
    state: S,
    action: ActionId,
    /// For the seat that chooses; a bound if the child is not among the best.
    value: i64,
}

impl<S> Child<S> {
    /// Sorts the best first; equal children keep their order.
    fn sort(children: &mut [Self]) {
        children.sort_by_key(|child| std::cmp::Reverse(child.value));
    }
}

impl<G: Game> Bot<G> for Searcher<G> {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut search = Search::new(decision.game, self.nodes, decision.stop, &mut self.frames);
        let seat = decision.seat;
        self.root.clear();
        // If the budget does not suffice for all children, the rest stays unvisited.
        let seen = search.expand(decision.state, decision.legal, seat, &mut self.root);
        Child::sort(&mut self.root);
        let Some(first) = self.root.first() else {
            return decision.legal[0].into();
        };
        let (mut action, mut value, mut depth) = (first.action, first.value, 1);
        if seen.is_ok() {
            // A certain win or loss is final, and its shortest or longest line is known.
            while depth < self.depth && (1..POINT).contains(&value) && !search.is_through() {
                let deeper = search.deepen(&mut self.root, seat, depth);
                if let Some(best) = deeper.best {
                    (action, value) = best;
                }
                if !deeper.finished {
                    break;
                }
                depth += 1;
            }
        }
        Chosen {
            action,
            score: Some(points(value)),
            depth: Some(depth),
            nodes: Some(search.used()),
        }
    }
}

/// The result of searching one decision deeper.
struct Deeper {
    /// The best action searched and its value; `None` if the budget was used up during the
    /// first.
    best: Option<(ActionId, i64)>,
    /// True if all actions were searched.
    finished: bool,
}

impl<G: Game> Search<'_, G> {
    /// Searches `depth` decisions beyond each child of the root. Children are in the order
    /// of the previous search, so that the best of those searched is no worse than the
    /// previous best.
    fn deepen(&mut self, root: &mut [Child<G::State>], seat: Seat, depth: u32) -> Deeper {
        self.start();
        let mut best: Option<(ActionId, i64)> = None;
        for child in root.iter_mut() {
            let floor = best.map_or(0, |(_, value)| value);
            match self.child_value(&child.state, seat, depth, floor) {
                Ok(value) => child.value = value,
                Err(Spent) => {
                    return Deeper {
                        best,
                        finished: false,
                    };
                }
            }
            if best.is_none_or(|(_, value)| child.value > value) {
                best = Some((child.action, child.value));
            }
            if child.value == POINT {
                break;
            }
        }
        Child::sort(root);
        Deeper {
            best,
            finished: true,
        }
    }

    /// The value of a child of the root for the seat that chooses there. It is exact above
    /// `floor`, which is below a point; otherwise it is any bound that does not exceed
    /// `floor`.
    fn child_value(
        &mut self,
        state: &G::State,
        seat: Seat,
        depth: u32,
        floor: i64,
    ) -> Result<i64, Spent> {
        if self.game.seats() > 2 {
            return Ok(self.values_of_all(state, depth, 0)?[usize::from(seat)]);
        }
        if seat == 0 {
            self.value_of_two(state, depth, 0, (floor, POINT))
        } else {
            Ok(POINT - self.value_of_two(state, depth, 0, (0, POINT - floor))?)
        }
    }
}

#[cfg(test)]
mod tests;
