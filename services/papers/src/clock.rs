//! How long agents take for a move.

use std::{
    hint::black_box,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use arena_engine::Game;
use arena_games::Visitor;
use arena_model::spec::Spec;

use crate::{
    error::Result,
    play,
    tables::{Matchup, TIMED_GAMES},
};

/// Consecutive calls of each agent at one position, so that the cost of reading the clock
/// is negligible.
const ASKED: u32 = 8;

/// Rounds over all agents. The fastest round counts, because other load on the machine
/// can only make a round slower.
const ROUNDS: usize = 5;

/// Milliseconds per move of each agent of a matchup, in the matchup's order.
///
/// The figure is the mean over all positions with a choice in a few games, the same
/// positions for every agent. `played` is called after each game.
pub(crate) fn move_times(
    play: &Matchup,
    spec: &Spec,
    stop: &AtomicBool,
    played: &dyn Fn(),
) -> Result<Vec<Option<f64>>> {
    let spec = Spec {
        blocks: TIMED_GAMES,
        ..spec.clone()
    };
    let timed = MoveTimer {
        spec: &spec,
        play,
        stop,
        played,
    };
    play.visit(timed)?
}

struct MoveTimer<'a> {
    play: &'a Matchup,
    spec: &'a Spec,
    stop: &'a AtomicBool,
    played: &'a dyn Fn(),
}

impl Visitor for MoveTimer<'_> {
    type Out = Result<Vec<Option<f64>>>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut table = play::MatchupPlayer::new(&game, self.play, self.spec)?;
        let agents = self.spec.agents.len();
        let mut taken = vec![Duration::ZERO; agents];
        let mut positions = 0_u32;
        for index in 0..table.games() {
            play::check_stop(self.stop)?;
            table.play(&game, index, |mover, choose| {
                let mut least = vec![Duration::MAX; agents];
                for _ in 0..ROUNDS {
                    for (agent, least) in least.iter_mut().enumerate() {
                        let start = Instant::now();
                        for _ in 0..ASKED {
                            black_box(choose(agent));
                        }
                        *least = start.elapsed().min(*least);
                    }
                }
                for (taken, least) in taken.iter_mut().zip(least) {
                    *taken += least / ASKED;
                }
                positions += 1;
                choose(mover)
            })?;
            (self.played)();
        }
        let each = |time: Duration| {
            (positions > 0).then(|| time.as_secs_f64() * 1e3 / f64::from(positions))
        };
        Ok(taken.into_iter().map(each).collect())
    }
}
