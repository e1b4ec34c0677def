//! Monte-Carlo tree search: UCT (Kocsis and Szepesvári, 2006) with chance nodes.
//!
//! The tree is explicit: it has a node for each position, for a seat or for chance. So
//! statistics of different throws are separate, and a node's actions are generated once.
//! Chance nodes sample by their weights. Every seat maximizes its own reward, so that the
//! same search works for two to four seats (max^n).
//!
//! A decision's tree begins empty, because questions are self-contained; its memory is
//! reused. Rewards are integers, square roots are exact by IEEE 754 and logarithms come
//! from `libm`, so that a seed gives the same tree on every machine.

mod tree;

use arena_engine::{
    ActionId, AgentRng, Game, Node, OutcomeId, PerSeat, Seat,
    options::{Kind, Options, Spec, Value},
};

use self::tree::{Bonus, ROOT, Tree};
use super::points;
use crate::{
    bot::{Bot, Chosen, Decision, Pace},
    make::{BotResult, UniversalBot},
    read,
};

/// The bot for any game.
pub(crate) struct Mcts;

/// Its options.
pub(crate) fn specs() -> Vec<Spec> {
    vec![
        Spec::new(
            "iterations",
            Kind::Int {
                min: 1,
                max: 1_000_000,
            },
            1000i64,
            "playouts for each move; time grows in proportion",
        ),
        Spec::new(
            "exploration",
            Kind::Real {
                min: 0.0,
                max: 10.0,
            },
            Value::Real(0.1),
            "exploration constant of UCB1, in units of a score",
        ),
        Spec::new(
            "rollout",
            Kind::choice(&["none", "plies", "random"]),
            "none",
            "evaluation of a new position: its static value, its value after some random moves, \
             or a random game to the end",
        ),
        Spec::new(
            "rollout_plies",
            Kind::Int {
                min: 1,
                max: 10_000,
            },
            10i64,
            "for rollout plies: number of random moves",
        ),
    ]
}

/// The evaluation of new positions.
#[derive(Clone, Copy)]
struct Rollout {
    /// Random actions before the position is evaluated.
    plies: u32,
}

impl UniversalBot for Mcts {
    fn make<G: Game>(options: &Options, game: &G) -> BotResult<G> {
        Ok(Box::new(Searcher::<G> {
            iterations: read::int(options, "iterations") as u32,
            bonus: Bonus::new(read::real(options, "exploration")),
            rollout: Rollout {
                plies: match read::text(options, "rollout") {
                    "none" => 0,
                    "plies" => read::int(options, "rollout_plies") as u32,
                    _ => u32::MAX,
                },
            },
            tree: Tree::default(),
            line: Line {
                state: game.initial(),
                legal: Vec::new(),
                path: Vec::new(),
            },
        }))
    }
}

struct Searcher<G: Game> {
    iterations: u32,
    bonus: Bonus,
    rollout: Rollout,
    tree: Tree,
    line: Line<G>,
}

/// The current line. Its memory is reused.
struct Line<G: Game> {
    state: G::State,
    legal: Vec<ActionId>,
    /// The nodes below the root, each with the seat that chose it.
    path: Vec<(u32, Option<Seat>)>,
}

impl<G: Game> Bot<G> for Searcher<G> {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut rng = decision.rng();
        let mut pace = Pace::new(decision.stop);
        let mut deepest = 0;
        self.tree.clear();
        self.tree.expand(ROOT, decision.legal.iter().copied());
        for _ in 0..self.iterations {
            self.line.state.clone_from(decision.state);
            let Some(rewards) = self.try_line(decision.game, decision.seat, &mut rng, &mut pace)
            else {
                break;
            };
            self.tree.learn(&self.line.path, &rewards);
            deepest = deepest.max(self.line.path.len());
        }
        let (action, mean) = self.tree.most_visited();
        Chosen {
            action,
            score: Some(points(mean)),
            depth: Some(deepest as u32),
            nodes: Some(self.tree.len() as u64),
        }
    }
}

impl<G: Game> Searcher<G> {
    /// Descends the tree to an unvisited node and evaluates it; `None` if the search must
    /// stop.
    fn try_line(
        &mut self,
        game: &G,
        root_seat: Seat,
        rng: &mut AgentRng,
        pace: &mut Pace<'_>,
    ) -> Option<PerSeat<i64>> {
        let Self {
            tree,
            line,
            bonus,
            rollout,
            ..
        } = self;
        line.path.clear();
        let mut at = ROOT;
        let mut due = Node::Decision(root_seat);
        loop {
            if pace.is_over() {
                return None;
            }
            let (next, chooser) = match due {
                Node::Over(_) => return Some(game.values(&line.state)),
                Node::Decision(seat) => {
                    let next = bonus.choose(tree, at);
                    game.apply(&mut line.state, tree.event(next));
                    (next, Some(seat))
                }
                Node::Chance(_) => {
                    let outcome = rng.weighted(game.weights(&line.state));
                    game.apply_outcome(&mut line.state, outcome as OutcomeId);
                    (tree.child(at, outcome), None)
                }
            };
            line.path.push((next, chooser));
            at = next;
            due = game.node(&line.state);
            if tree.is_expanded(at) {
                continue;
            }
            match due {
                Node::Over(_) => {}
                Node::Decision(_) => {
                    game.legal(&line.state, &mut line.legal);
                    // The search does not stop at a forced move.
                    if line.legal.len() > 1 && !tree.was_visited(at) {
                        return rollout.judge(game, line, rng, pace);
                    }
                    shuffle(&mut line.legal, rng);
                    tree.expand(at, line.legal.iter().copied());
                }
                Node::Chance(_) => {
                    if !tree.was_visited(at) {
                        return rollout.judge(game, line, rng, pace);
                    }
                    let outcomes = game.weights(&line.state).len();
                    tree.expand(at, 0..outcomes as OutcomeId);
                }
            }
        }
    }
}

/// Shuffles untried actions by the seed: at nodes with few visits, the order of the rules
/// would bias their values.
fn shuffle(actions: &mut [ActionId], rng: &mut AgentRng) {
    for last in (1..actions.len()).rev() {
        actions.swap(last, rng.below(last as u32 + 1) as usize);
    }
}

impl Rollout {
    /// The values of the line's position after random moves; `None` if the search must
    /// stop.
    fn judge<G: Game>(
        self,
        game: &G,
        line: &mut Line<G>,
        rng: &mut AgentRng,
        pace: &mut Pace<'_>,
    ) -> Option<PerSeat<i64>> {
        let mut plies = 0;
        while plies < self.plies {
            if pace.is_over() {
                return None;
            }
            match game.node(&line.state) {
                Node::Over(_) => break,
                Node::Chance(_) => {
                    let outcome = rng.weighted(game.weights(&line.state));
                    game.apply_outcome(&mut line.state, outcome as OutcomeId);
                }
                Node::Decision(_) => {
                    game.legal(&line.state, &mut line.legal);
                    let action = rng.pick(&line.legal);
                    game.apply(&mut line.state, action);
                    plies += 1;
                }
            }
        }
        Some(game.values(&line.state))
    }
}

#[cfg(test)]
mod tests;
