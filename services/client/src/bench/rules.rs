//! Rules, randomness and a uniform player in one thread, and nothing else.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use arena_agents::{Bot, bot, play_out};
use arena_engine::{
    ActionId, AgentRng, Game, Match, Node, Opening, OutcomeId, Setup,
    options::{OptionError, Options},
};
use arena_games::{AddedRuleset, Ruleset, Typed, Visitor};
use arena_model::BlockSeed;

use super::{Measured, processes::own_cpu_seconds};
use crate::failure::{Failure, Outcome};

/// How to play random moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Only the rules, without a record, as in other engines' loops.
    Bare,
    /// As a worker plays: with derived keys, a seed for each decision, and every event
    /// recorded. Luck and hash of a record are the coordinator's work.
    AsPlayed,
}

impl Way {
    /// Both ways, in the order in which they are shown.
    pub const ALL: [Self; 2] = [Self::Bare, Self::AsPlayed];

    fn name(self) -> &'static str {
        match self {
            Self::Bare => "rules alone",
            Self::AsPlayed => "as a worker plays",
        }
    }
}

/// Plays a ruleset with its default options for `seconds` seconds.
pub fn measure(ruleset: &'static str, seats: usize, way: Way, seconds: f64) -> Outcome<Measured> {
    let none = Options::new();
    let (options, seats) =
        arena_games::resolve(ruleset, &none, Some(seats)).map_err(Failure::failed)?;
    let play = |games| arena_games::visit(ruleset, &options, seats, games).map_err(Failure::failed);
    measure_game(ruleset, seats, way, seconds, |games| play(games)?)
}

/// Games of one ruleset, options and number of seats, which a visitor plays.
pub(crate) fn measure_game(
    ruleset: &'static str,
    seats: usize,
    way: Way,
    seconds: f64,
    play: impl FnOnce(Loop) -> Outcome<(u64, u64, f64)>,
) -> Outcome<Measured> {
    let limit = Duration::from_secs_f64(seconds);
    let cpu = own_cpu_seconds()?;
    let (games, decisions, seconds) = play(Loop { way, limit })?;
    let cpu = own_cpu_seconds()? - cpu;
    let what = format!("{ruleset}, {seats} seats, {}", way.name());
    Ok(Measured {
        ruleset,
        seats: Some(seats),
        bare: Some(way == Way::Bare),
        ..Measured::new(what, seconds, games, decisions, cpu)
    })
}

/// Compiles what is measured for the static type of an added game.
#[must_use]
pub fn measure_typed<G: Ruleset>(ruleset: AddedRuleset) -> AddedRuleset {
    ruleset.visited_by::<G, Loop>()
}

/// Plays games until its time is over.
pub(crate) struct Loop {
    way: Way,
    limit: Duration,
}

/// Games between two checks of the clock.
const GAMES: u64 = 16;

impl Visitor for Loop {
    /// Games, decisions and seconds.
    type Out = Outcome<(u64, u64, f64)>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let (mut games, mut decisions) = (0, 0);
        let none = Options::new();
        // A worker, too, makes each bot once.
        let mut random = bot::<G>("random", &none, &game).map_err(Failure::failed)?;
        let mut bare = Bare {
            start: game.initial(),
            legal: Vec::new(),
            rng: AgentRng::new(1),
        };
        let start = Instant::now();
        while start.elapsed() < self.limit {
            for _ in 0..GAMES {
                decisions += match self.way {
                    Way::Bare => bare.play(&game),
                    Way::AsPlayed => as_played(&game, games, &mut *random)?,
                };
                games += 1;
            }
        }
        Ok((games, decisions, start.elapsed().as_secs_f64()))
    }

    fn visit_added(
        self,
        typed: &Typed,
        options: &Options,
        seats: usize,
    ) -> Result<Result<Self::Out, OptionError>, Self> {
        typed.visit(self, options, seats)
    }
}

/// Plays uniform legal moves until the game is over.
struct Bare<G: Game> {
    start: G::State,
    legal: Vec<ActionId>,
    rng: AgentRng,
}

impl<G: Game> Bare<G> {
    /// Plays a game; returns the number of its decisions.
    fn play(&mut self, game: &G) -> u64 {
        let mut state = self.start.clone();
        let mut decisions = 0;
        loop {
            match game.node(&state) {
                Node::Over(_) => break,
                Node::Chance(_) => {
                    let outcome = self.rng.weighted(game.weights(&state));
                    game.apply_outcome(&mut state, outcome as OutcomeId);
                }
                Node::Decision(_) => {
                    game.legal(&state, &mut self.legal);
                    game.apply(&mut state, self.rng.pick(&self.legal));
                    decisions += 1;
                }
            }
        }
        black_box(&state);
        decisions
    }
}

/// Plays a game; returns the number of its decisions.
fn as_played<G: Game>(game: &G, number: u64, random: &mut dyn Bot<G>) -> Outcome<u64> {
    let names = ["a", "b", "c", "d"];
    let keys = BlockSeed(number).keys(&names[..game.seats()]);
    let setup = Setup {
        // As in a worker: the coordinator computes it.
        luck: false,
        ..Setup::new(keys, Opening::NONE)
    };
    let start = Match::new(game.clone(), setup);
    let finished = play_out(start, |decision| random.choose(decision)).map_err(Failure::failed)?;
    // All of them, as the rules alone count them: also those with only one legal action.
    let decisions = finished.plies.into();
    black_box(finished);
    Ok(decisions)
}
