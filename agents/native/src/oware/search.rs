//! Minimax with alpha-beta, to a fixed depth.

use arena_engine::ActionId;
use arena_games::oware::{Core, ROW};

use super::features::{Features, Weights, sum};
use crate::bot::{Bot, Chosen, Decision, Pace};

/// What an end of the game is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminal {
    /// A win above all else, and then its margin.
    WinInf,
    /// What its features are.
    Eval,
}

/// What a win is worth before its margin.
const WIN: f64 = 1e6;

/// The most actions of a position: the pits of a row, and the pass.
const ACTIONS: usize = ROW + 1;

/// A player.
pub(super) struct Searcher<G: Features> {
    depth: u32,
    weights: G::Weights,
    terminal: Terminal,
}

impl<G: Features> Searcher<G> {
    pub(super) fn new(depth: u32, weights: &[f64], terminal: Terminal) -> Self {
        Self {
            depth,
            weights: G::Weights::from_slice(weights),
            terminal,
        }
    }
}

impl<G: Features> Bot<G> for Searcher<G> {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut search = Search {
            game: decision.game,
            agent: usize::from(decision.seat),
            depth: self.depth,
            weights: &self.weights,
            terminal: self.terminal,
            nodes: 1,
            pace: Pace::new(decision.stop),
        };
        let mut children = Children::default();
        for &action in decision.legal {
            children.add(search.game, decision.game.core(decision.state), action);
        }
        let mut best: Option<(f64, ActionId)> = None;
        for child in children.best_first(search.agent) {
            // The first pit of equals is chosen: an earlier one displaces a
            // later one where it is as good, and so has to be known exactly.
            let floor = match best {
                None => f64::NEG_INFINITY,
                Some((value, action)) if child.action < action => value.next_down(),
                Some((value, _)) => value,
            };
            let value = search.value(&child.core, 1, floor, f64::INFINITY);
            if value > floor {
                best = Some((value, child.action));
            }
        }
        // Only a search that was stopped may have found none.
        let (value, action) = best.unwrap_or((0.0, decision.legal[0]));
        Chosen {
            action,
            score: Some(value),
            depth: Some(self.depth),
            nodes: Some(search.nodes),
        }
    }
}

/// A position that an action leads to.
#[derive(Clone, Copy)]
struct Child {
    core: Core,
    action: ActionId,
}

/// The positions that a position's actions lead to.
#[derive(Default)]
struct Children {
    all: [Option<Child>; ACTIONS],
    count: usize,
}

impl Children {
    #[inline]
    fn add<G: Features>(&mut self, game: &G, core: &Core, action: ActionId) {
        let mut child = Child {
            core: *core,
            action,
        };
        game.play(&mut child.core, action);
        self.all[self.count] = Some(child);
        self.count += 1;
    }

    /// Those first that bank the most for a seat.
    #[inline]
    fn best_first(&mut self, seat: usize) -> impl Iterator<Item = &Child> {
        let all = &mut self.all[..self.count];
        all.sort_by_key(|child| child.map(|child| -lead(&child.core, seat)));
        all.iter().flatten()
    }
}

/// Seeds that a seat has banked more than the other.
#[inline]
fn lead(core: &Core, seat: usize) -> i32 {
    i32::from(core.score[seat]) - i32::from(core.score[1 - seat])
}

struct Search<'a, G: Features> {
    game: &'a G,
    /// The seat that the search is for.
    agent: usize,
    depth: u32,
    weights: &'a G::Weights,
    terminal: Terminal,
    nodes: u64,
    pace: Pace<'a>,
}

impl<G: Features> Search<'_, G> {
    /// The worth of a position some plies below the root. Exact between
    /// `alpha` and `beta`, else a bound on the same side of them; anything
    /// where the search is to stop.
    fn value(&mut self, core: &Core, ply: u32, mut alpha: f64, mut beta: f64) -> f64 {
        self.nodes += 1;
        if self.pace.is_over() {
            return 0.0;
        }
        if core.is_over() && self.terminal == Terminal::WinInf {
            let lead = lead(core, self.agent);
            return f64::from(lead.signum()) * WIN + f64::from(lead);
        }
        if core.is_over() || ply == self.depth {
            return sum(self.weights, &self.game.features(core, self.agent));
        }
        let mut children = Children::default();
        let mut legal = self.game.legal_mask(core);
        while legal != 0 {
            children.add(self.game, core, legal.trailing_zeros() as ActionId);
            legal &= legal - 1;
        }
        let mover = usize::from(core.to_move);
        let mut best = if mover == self.agent {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        for child in children.best_first(mover) {
            let value = self.value(&child.core, ply + 1, alpha, beta);
            if mover == self.agent {
                best = best.max(value);
                alpha = alpha.max(value);
            } else {
                best = best.min(value);
                beta = beta.min(value);
            }
            if alpha >= beta {
                break;
            }
        }
        best
    }
}
