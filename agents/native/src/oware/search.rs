//! Minimax with alpha-beta, to a fixed depth.

use arena_engine::ActionId;
use arena_games::oware::{Core, ROW};

use super::features::{Features, Weights, sum};
use crate::bot::{Bot, Chosen, Decision, Pace};

/// The value of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terminal {
    /// A win outranks all other values, then its margin counts.
    WinInf,
    /// The value of its features.
    Eval,
}

/// Value of a win before its margin.
const WIN: f64 = 1e6;

/// Maximum number of actions of a position: the pits of a row, and the pass.
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
            player: self,
            nodes: 1,
            pace: Pace::new(decision.stop),
        };
        let mut children = Children::default();
        for &action in decision.legal {
            children.add(search.game, decision.game.core(decision.state), action);
        }
        let mut best: Option<(f64, ActionId)> = None;
        for child in children.best_first(search.agent) {
            // The first of equally good pits is chosen: an earlier one replaces an equally
            // good later one, so its value must be exact.
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
        // Only a stopped search may have found none.
        let (value, action) = best.unwrap_or((0.0, decision.legal[0]));
        Chosen {
            action,
            score: Some(value),
            depth: Some(self.depth),
            nodes: Some(search.nodes),
        }
    }
}

/// A position reached by an action.
#[derive(Clone, Copy)]
struct Child {
    core: Core,
    action: ActionId,
}

/// The positions reached by a position's actions.
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

    /// Children sorted by the seat's banked seeds, most first.
    #[inline]
    fn best_first(&mut self, seat: usize) -> impl Iterator<Item = &Child> {
        let all = &mut self.all[..self.count];
        all.sort_by_key(|child| child.map(|child| -lead(&child.core, seat)));
        all.iter().flatten()
    }
}

/// Banked seeds of a seat minus those of the other.
#[inline]
fn lead(core: &Core, seat: usize) -> i32 {
    i32::from(core.score[seat]) - i32::from(core.score[1 - seat])
}

struct Search<'a, G: Features> {
    game: &'a G,
    /// The seat that the search is for.
    agent: usize,
    player: &'a Searcher<G>,
    nodes: u64,
    pace: Pace<'a>,
}

impl<G: Features> Search<'_, G> {
    /// The value of a position at `ply` below the root. It is exact between `alpha` and
    /// `beta`, otherwise a bound on the same side of them; any value if the search must
    /// stop.
    fn value(&mut self, core: &Core, ply: u32, mut alpha: f64, mut beta: f64) -> f64 {
        self.nodes += 1;
        if self.pace.count() {
            return 0.0;
        }
        if core.is_over() && self.player.terminal == Terminal::WinInf {
            let lead = lead(core, self.agent);
            return f64::from(lead.signum()) * WIN + f64::from(lead);
        }
        if core.is_over() || ply == self.player.depth {
            return sum(&self.player.weights, &self.game.features(core, self.agent));
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
