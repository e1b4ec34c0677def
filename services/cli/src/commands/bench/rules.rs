//! Rules, randomness and a uniform player in one thread, nothing else.

use std::time::{Duration, Instant};

use arena_agents::{Decision, bot};
use arena_engine::{FaultPolicy, Game, Match, Setup, Status};
use arena_games::Visitor;
use arena_model::BlockSeed;

use super::{Measured, processes::own_cpu_seconds};
use crate::failure::{Failure, Outcome};

pub(super) fn measure(ruleset: &str, seconds: f64) -> Outcome<Measured> {
    let none = arena_engine::options::Options::new();
    let (options, seats) = arena_games::resolve(ruleset, &none, None).map_err(Failure::failed)?;
    arena_games::visit(ruleset, &options, seats, Loop { seconds }).map_err(Failure::failed)?
}

struct Loop {
    seconds: f64,
}

impl Visitor for Loop {
    type Out = Outcome<Measured>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let none = arena_engine::options::Options::new();
        let mut random = bot::<G>("random", &none, &game).map_err(Failure::failed)?;
        let names = ["a", "b", "c", "d"];
        let (mut games, mut decisions) = (0_u64, 0_u64);
        let cpu = own_cpu_seconds()?;
        let start = Instant::now();
        let limit = Duration::from_secs_f64(self.seconds);
        while start.elapsed() < limit {
            let setup = Setup {
                keys: BlockSeed(games).keys(&names[..game.seats()]),
                opening_plies: 0,
                on_fault: FaultPolicy::Forfeit,
                ask_forced: false,
            };
            let mut play = Match::new(game.clone(), setup);
            while let Status::Asks(question) = play.status() {
                let chosen = random.choose(&Decision {
                    game: play.game(),
                    state: play.state(),
                    seat: question.seat,
                    number: question.number,
                    seed: question.seed,
                    legal: play.legal(),
                });
                play.answer(chosen.action.into()).map_err(Failure::failed)?;
                decisions += 1;
            }
            games += 1;
        }
        let what = format!("{}, rules and random in one thread", G::NAME);
        let seconds = start.elapsed().as_secs_f64();
        let cpu = own_cpu_seconds()? - cpu;
        Ok(Measured {
            ruleset: G::NAME,
            ..Measured::new(what, seconds, games, decisions, cpu)
        })
    }
}
