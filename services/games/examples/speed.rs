//! How fast the rules are: random play through `Match`, in process, on one
//! core, for every ruleset with its defaults and with each preset.
//!
//! `cargo run --release -p arena-games --example speed -- [SECONDS]`, one
//! second a row unless told. *Asked* counts the decisions that an agent had to
//! answer, *decisions* all of them, forced moves and passes included.

#![expect(clippy::print_stdout, reason = "a program that prints")]
#![expect(clippy::disallowed_types, reason = "this measures time")]

use std::{
    env,
    fs::read_to_string,
    hint::black_box,
    time::{Duration, Instant},
};

use arena_engine::{AgentRng, FaultPolicy, Game, GameKeys, Match, Setup, Status, options::Options};
use arena_games::{GamesError, Visitor, resolve, rulesets, visit};

#[derive(Default)]
struct Count {
    games: u64,
    asked: u64,
    decisions: u64,
    events: u64,
}

struct Play(Duration);

impl Visitor for Play {
    type Out = Count;

    fn visit<G: Game>(self, game: G) -> Count {
        let mut rng = AgentRng::new(1);
        let mut count = Count::default();
        let start = Instant::now();
        while start.elapsed() < self.0 {
            for _ in 0..16 {
                let setup = Setup {
                    keys: GameKeys::drawn(&mut rng),
                    opening_plies: 0,
                    on_fault: FaultPolicy::Forfeit,
                    ask_forced: false,
                };
                let mut play = Match::new(game.clone(), setup);
                while let Status::Asks(question) = play.status() {
                    let action = AgentRng::new(question.seed).pick(play.legal());
                    count.asked += 1;
                    if play.answer(action.into()).is_err() {
                        play.void();
                    }
                }
                let finished = black_box(play.finish());
                count.games += 1;
                count.decisions += u64::from(finished.plies);
                count.events += finished.events.len() as u64;
            }
        }
        count
    }
}

/// Nanoseconds of processor time of this thread, where the system tells.
fn cpu_ns() -> Option<u64> {
    let text = read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn main() -> Result<(), GamesError> {
    let seconds = env::args().nth(1).and_then(|text| text.parse().ok());
    let time = Duration::from_secs_f64(seconds.unwrap_or(1.0));
    println!(
        "{:<28} {:>11} {:>11} {:>11} {:>9} {:>9} {:>9}",
        "ruleset", "decisions/s", "asked/s", "events/s", "games/s", "ns/dec", "ns/asked"
    );
    for info in rulesets() {
        let row = |label: String, given: &Options, seats| -> Result<(), GamesError> {
            let (options, seats) = resolve(info.name, given, seats)?;
            let (start, before) = (Instant::now(), cpu_ns());
            let count = visit(info.name, &options, seats, Play(time))?;
            let wall_s = start.elapsed().as_secs_f64();
            let spent_ns = match (before, cpu_ns()) {
                (Some(before), Some(after)) => (after - before) as f64,
                _ => wall_s * 1e9,
            };
            println!(
                "{label:<28} {:>11.0} {:>11.0} {:>11.0} {:>9.0} {:>9.1} {:>9.1}",
                count.decisions as f64 / wall_s,
                count.asked as f64 / wall_s,
                count.events as f64 / wall_s,
                count.games as f64 / wall_s,
                spent_ns / count.decisions as f64,
                spent_ns / count.asked as f64,
            );
            Ok(())
        };
        for seats in info.seats.0..=info.seats.1 {
            let label = format!("{} ({seats} seats)", info.name);
            row(label, &Options::new(), Some(seats))?;
        }
        for preset in &info.presets {
            let given = [("preset".to_owned(), preset.name.as_str().into())];
            let label = format!("{} {}", info.name, preset.name);
            row(label, &given.into(), None)?;
        }
    }
    Ok(())
}
