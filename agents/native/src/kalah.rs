//! The searches of the Kalah paper: minimax, and alpha-beta with the same choices.
//!
//! Both search a fixed number of plies from the view of the player that chooses; an extra
//! turn is a ply of the same player. The first of the best pits is taken.

use arena_engine::{
    Game,
    options::{Kind, Options, Spec},
};
use arena_games::{Kalah, kalah::State};

use crate::{
    bot::{Bot, Chosen, Decision, Pace},
    make::BotResult,
    read,
};

/// The options of [`minimax`].
pub(crate) fn minimax_specs() -> Vec<Spec> {
    specs(
        6,
        "depth of the search in plies; each ply multiplies the time by three to five",
    )
}

/// The options of [`alphabeta`].
pub(crate) fn alphabeta_specs() -> Vec<Spec> {
    specs(8, "depth of the search in plies; each ply doubles the time")
}

fn specs(depth: i64, summary: &str) -> Vec<Spec> {
    vec![
        Spec::new("depth", Kind::Int { min: 1, max: 20 }, depth, summary),
        Spec::new(
            "h_flag",
            Kind::Int { min: 0, max: 3 },
            2i64,
            "value of an outcome: 0 win or loss, 1 margin, 2 win or loss, sooner wins are better, \
             3 margin, sooner wins are better",
        ),
        Spec::new(
            "explore",
            Kind::Real { min: 0.0, max: 1.0 },
            arena_engine::options::Value::Real(0.0),
            "probability of a random move",
        )
        .drawing(),
    ]
}

pub(crate) fn minimax(options: &Options, _: &Kalah) -> BotResult<Kalah> {
    Ok(Box::new(Searcher::new(options, false)))
}

pub(crate) fn alphabeta(options: &Options, _: &Kalah) -> BotResult<Kalah> {
    Ok(Box::new(Searcher::new(options, true)))
}

/// The value of an outcome, by the paper's `h_flag`.
#[derive(Clone, Copy)]
enum Utility {
    Win,
    Margin,
    FastWin,
    FastMargin,
}

/// Value of an immediate win.
const WIN: i32 = 50;

impl Utility {
    /// The value of a lead in stones after some plies.
    fn of(self, lead: i32, plies: i32) -> i32 {
        lead.signum()
            * match self {
                Self::Win => WIN,
                Self::Margin => lead.abs(),
                Self::FastWin => WIN - plies,
                Self::FastMargin => lead.abs() - plies,
            }
    }
}

/// A player.
#[derive(Clone, Copy)]
struct Searcher {
    depth: u32,
    utility: Utility,
    prunes: bool,
    explore: f64,
}

impl Searcher {
    fn new(options: &Options, prunes: bool) -> Self {
        Self {
            depth: read::int(options, "depth") as u32,
            utility: match read::int(options, "h_flag") {
                0 => Utility::Win,
                1 => Utility::Margin,
                3 => Utility::FastMargin,
                _ => Utility::FastWin,
            },
            prunes,
            explore: read::real(options, "explore"),
        }
    }
}

impl Bot<Kalah> for Searcher {
    fn choose(&mut self, decision: &Decision<'_, Kalah>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut rng = decision.rng();
        if self.explore > 0.0 && unit(rng.word()) < self.explore {
            return rng.pick(decision.legal).into();
        }
        let mut search = Search {
            game: decision.game,
            root: usize::from(decision.seat),
            player: *self,
            nodes: 1,
            pace: Pace::new(decision.stop),
        };
        let mut best = None;
        for &action in decision.legal {
            let mut child = *decision.state;
            decision.game.apply(&mut child, action);
            let floor = best.map_or(i32::MIN, |(value, _)| value);
            let value = search.value(&child, 1, floor, i32::MAX);
            // Only a better pit replaces an earlier one: a pruned search only knows that
            // the others are not better.
            if best.is_none_or(|(best, _)| value > best) {
                best = Some((value, action));
            }
        }
        let (value, action) = best.expect("a decision has legal actions");
        Chosen {
            action,
            score: Some(f64::from(value)),
            depth: Some(self.depth),
            nodes: Some(search.nodes),
        }
    }
}

/// A number from 0 up to but excluding 1, from the 53 high bits.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

struct Search<'a> {
    game: &'a Kalah,
    /// The seat that the search is for.
    root: usize,
    player: Searcher,
    nodes: u64,
    pace: Pace<'a>,
}

impl Search<'_> {
    /// The value of a position at `ply` below the root. It is exact between `alpha` and
    /// `beta`, otherwise a bound on the same side of them; any value if the search must
    /// stop.
    fn value(&mut self, state: &State, ply: u32, mut alpha: i32, mut beta: i32) -> i32 {
        self.nodes += 1;
        if self.pace.count() {
            return 0;
        }
        if state.over || ply == self.player.depth {
            let stones = |seat| i32::from(state.board[self.game.store(seat)]);
            let lead = stones(self.root) - stones(1 - self.root);
            return self.player.utility.of(lead, ply as i32);
        }
        let mover = usize::from(state.to_move);
        let maximizes = mover == self.root;
        let mut best = if maximizes { i32::MIN } else { i32::MAX };
        for (offset, &stones) in self.game.row(state, mover).iter().enumerate() {
            if stones == 0 {
                continue;
            }
            let mut child = *state;
            self.game.apply(&mut child, offset as u16);
            let value = self.value(&child, ply + 1, alpha, beta);
            if maximizes {
                best = best.max(value);
                alpha = alpha.max(value);
            } else {
                best = best.min(value);
                beta = beta.min(value);
            }
            if self.player.prunes && alpha >= beta {
                break;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
