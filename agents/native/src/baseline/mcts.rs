//! Monte-Carlo tree search: UCT (Kocsis and Szepesvári, 2006) with chance nodes.
//!
//! The tree is explicit: it has a node for each position, for a seat or for chance. So
//! statistics of different throws are separate, and a node's actions are generated once.
//! Chance nodes sample by their weights. Every seat maximizes its own reward, so that the
//! same search works for any number of seats (max^n).
//!
//! A decision's tree begins empty, because questions are self-contained; its memory is
//! reused. Where rules answer many questions together, lines are searched together, too; a visit counts
//! from the moment when a line chooses a node, without a reward, so that the next line prefers another
//! one (virtual loss: Chaslot, Winands and van den Herik, 2008). Rewards are integers, square roots are exact by IEEE 754 and logarithms come
//! from `libm`, so that a seed gives the same tree on every machine.

mod tree;

use arena_engine::{
    ActionId, AgentRng, Event, Game, Node, OutcomeId, Seat,
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

impl UniversalBot for Mcts {
    fn make<G: Game>(options: &Options, _: &G) -> BotResult<G> {
        Ok(Box::new(Searcher::<G>::new(options)))
    }
}

struct Searcher<G: Game> {
    iterations: u32,
    bonus: Bonus,
    /// Random actions before a new position is evaluated.
    rollout: u32,
    tree: Tree,
    lines: Vec<Line<G>>,
}

/// Lines that are searched at once if the rules answer many questions together. Their number is part of
/// how the bot plays.
const TOGETHER: usize = 32;

/// A line of play. Its memory is reused.
struct Line<G: Game> {
    state: G::State,
    legal: Vec<ActionId>,
    /// The nodes below the root, each with the seat that chose it.
    path: Vec<(u32, Option<Seat>)>,
    /// False if its last node was new when it got there.
    was_visited: bool,
    /// Random actions before its position is evaluated, once it has left the tree.
    random: Option<u32>,
    is_over: bool,
}

impl<G: Game> Line<G> {
    fn new(state: G::State) -> Self {
        Self {
            state,
            legal: Vec::new(),
            path: Vec::new(),
            was_visited: true,
            random: None,
            is_over: true,
        }
    }

    /// Its node of the tree.
    fn at(&self) -> u32 {
        self.path.last().map_or(ROOT, |&(at, _)| at)
    }

    fn begin(&mut self, state: &G::State) {
        self.state.clone_from(state);
        self.path.clear();
        self.was_visited = true;
        self.random = None;
        self.is_over = false;
    }
}

impl<G: Game> Bot<G> for Searcher<G> {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        match decision.game.can_defer() {
            true => self.choose_together(decision, &decision.game.deferring(), TOGETHER),
            false => self.choose_together(decision, decision.game, 1),
        }
    }
}

impl<G: Game> Searcher<G> {
    fn new(options: &Options) -> Self {
        Self {
            iterations: read::int(options, "iterations") as u32,
            bonus: Bonus::new(read::real(options, "exploration")),
            rollout: match read::text(options, "rollout") {
                "none" => 0,
                "plies" => read::int(options, "rollout_plies") as u32,
                _ => u32::MAX,
            },
            tree: Tree::default(),
            lines: Vec::new(),
        }
    }

    fn choose_together(&mut self, decision: &Decision<'_, G>, game: &G, together: usize) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        self.tree.clear();
        self.tree.expand(ROOT, decision.legal.iter().copied());
        let deepest = self.search(decision, game, together);
        let (action, mean) = self.tree.most_visited();
        Chosen {
            action,
            score: Some(points(mean)),
            depth: Some(deepest as u32),
            nodes: Some(self.tree.len() as u64),
        }
    }

    /// Plays all iterations, a number of lines at once, and returns the depth of the deepest one. The lines
    /// advance in turn by one event each, whether or not its position is known already, so that a seed
    /// gives the same tree.
    fn search(&mut self, decision: &Decision<'_, G>, game: &G, together: usize) -> usize {
        let (mut rng, mut pace) = (decision.rng(), Pace::new(decision.stop));
        let mut lines = std::mem::take(&mut self.lines);
        lines.resize_with(together, || Line::new(decision.state.clone()));
        let (mut left, mut deepest) = (self.iterations, 0);
        loop {
            let (mut running, mut is_stopped) = (0, false);
            for line in &mut lines {
                if line.is_over {
                    if left == 0 {
                        continue;
                    }
                    left -= 1;
                    line.begin(decision.state);
                    self.tree.visit(ROOT);
                }
                running += 1;
                // Alone, a line waits for nothing.
                loop {
                    is_stopped = pace.count();
                    if is_stopped || !self.advance(game, line, &mut rng) || together > 1 {
                        break;
                    }
                }
                if line.is_over {
                    self.tree.learn(&line.path, &game.values(&line.state));
                    deepest = deepest.max(line.path.len());
                }
                if is_stopped {
                    break;
                }
            }
            if running == 0 || is_stopped {
                break;
            }
            if together > 1 {
                // Each message to the rules may take long.
                game.find_pending_until(&mut || {
                    is_stopped |= pace.look();
                    is_stopped
                });
                for line in lines.iter_mut().filter(|line| !line.is_over) {
                    let is_known = game.is_known(&mut line.state);
                    debug_assert!(is_known || is_stopped, "nothing is pending");
                    is_stopped |= !is_known || game.failure(&line.state).is_some();
                }
                if is_stopped {
                    break;
                }
            }
        }
        // If the search was stopped: what is not evaluated was not visited.
        for line in lines.iter_mut().filter(|line| !line.is_over) {
            self.tree.forget(&line.path);
            line.is_over = true;
        }
        self.lines = lines;
        deepest
    }

    /// Applies the next event of a line: in the tree until it reaches a new node, then by chance. Returns
    /// false if the line is over instead, and its position is to be evaluated.
    fn advance(&mut self, game: &G, line: &mut Line<G>, rng: &mut AgentRng) -> bool {
        let due = game.node(&line.state);
        line.is_over = matches!(due, Node::Over(_));
        if line.is_over {
            return false;
        }
        if line.random.is_none() && !self.expand(game, line, due, rng) {
            self.descend(game, line, due, rng);
            return true;
        }
        let plies = line.random.get_or_insert(self.rollout);
        if *plies == 0 {
            line.is_over = true;
            return false;
        }
        let event = match due {
            Node::Chance(_) => draw(game, line, rng).1,
            _ => {
                *plies -= 1;
                game.legal(&line.state, &mut line.legal);
                Event::action(rng.pick(&line.legal))
            }
        };
        game.apply_later(&mut line.state, event);
        true
    }

    /// True if the line has reached a node that is evaluated now; else the node has children
    /// afterwards.
    fn expand(&mut self, game: &G, line: &mut Line<G>, due: Node, rng: &mut AgentRng) -> bool {
        let (tree, at) = (&mut self.tree, line.at());
        if tree.is_expanded(at) {
            return false;
        }
        match due {
            Node::Decision(_) => {
                game.legal(&line.state, &mut line.legal);
                // The search does not stop at a forced move.
                if line.legal.len() > 1 && !line.was_visited {
                    return true;
                }
                shuffle(&mut line.legal, rng);
                tree.expand(at, line.legal.iter().copied());
            }
            _ if !line.was_visited => return true,
            _ => {
                let outcomes = game.weights(&line.state).len();
                tree.expand(at, 0..outcomes as OutcomeId);
            }
        }
        false
    }

    /// Goes on to a child.
    fn descend(&mut self, game: &G, line: &mut Line<G>, due: Node, rng: &mut AgentRng) {
        let (tree, at) = (&mut self.tree, line.at());
        let (next, event, chooser) = match due {
            Node::Decision(seat) => {
                let next = self.bonus.choose(tree, at);
                (next, Event::action(tree.event(next)), Some(seat))
            }
            _ => {
                let (outcome, event) = draw(game, line, rng);
                (tree.child(at, outcome), event, None)
            }
        };
        line.was_visited = tree.was_visited(next);
        tree.visit(next);
        line.path.push((next, chooser));
        game.apply_later(&mut line.state, event);
    }
}

/// Draws an outcome by its weight.
fn draw<G: Game>(game: &G, line: &Line<G>, rng: &mut AgentRng) -> (usize, Event) {
    let outcome = rng.weighted(game.weights(&line.state));
    (outcome, Event::chance(outcome as OutcomeId))
}

/// Shuffles untried actions by the seed: at nodes with few visits, the order of the rules
/// would bias their values.
fn shuffle(actions: &mut [ActionId], rng: &mut AgentRng) {
    for last in (1..actions.len()).rev() {
        actions.swap(last, rng.below(last as u32 + 1) as usize);
    }
}

#[cfg(test)]
mod tests;
