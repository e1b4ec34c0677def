//! How long agents take for a move.

use std::time::{Duration, Instant};

use arena_engine::Game;
use arena_games::Visitor;
use arena_model::spec::Spec;

use super::{data::Play, play};
use crate::failure::{Failure, Outcome};

/// Games that are timed, one after the other.
const GAMES: u64 = 10;

/// Milliseconds for a move of each agent of a play, where it had a choice, in
/// the play's order.
pub(super) fn move_times(play: &Play, spec: &Spec) -> Outcome<Vec<Option<f64>>> {
    let mut spec = spec.clone();
    spec.blocks = GAMES;
    let timed = Timed { spec: &spec, play };
    arena_games::visit(&spec.ruleset, &play.options, play.seats, timed).map_err(Failure::failed)?
}

struct Timed<'a> {
    play: &'a Play,
    spec: &'a Spec,
}

impl Visitor for Timed<'_> {
    type Out = Outcome<Vec<Option<f64>>>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut table = play::Table::new(&game, self.play, self.spec)?;
        let mut taken = vec![(Duration::ZERO, 0_u32); self.spec.agents.len()];
        for index in 0..table.games() {
            table.play(&game, index, |agent, choose| {
                let start = Instant::now();
                let chosen = choose();
                taken[agent].0 += start.elapsed();
                taken[agent].1 += 1;
                chosen
            })?;
        }
        let each = |(time, moves): (Duration, u32)| {
            (moves > 0).then(|| time.as_secs_f64() * 1e3 / f64::from(moves))
        };
        Ok(taken.into_iter().map(each).collect())
    }
}
