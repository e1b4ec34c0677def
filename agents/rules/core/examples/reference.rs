//! Writes random games as lines, played with the engine alone, for the bindings to replay:
//! `reference GAMES SEED`. `agents/rules/tests/README.md` describes the lines.

#[path = "../../../../services/games/tests/suite/cases.rs"]
mod cases;

use std::{
    env,
    fmt::Display,
    io::{self, BufWriter, ErrorKind, Write},
    process::ExitCode,
};

use arena_engine::{AgentRng, Game, Node, PerSeat};
use arena_games::{Visitor, visit};
use cases::{Case, cases};

/// Of this many positions, one is also written as a message and as JSON.
const ENCODED: u32 = 16;

/// Of this many positions, one is also played to the end at random.
const PLAYED_OUT: u32 = 64;

/// Positions of one game; a longer game stops there.
const LENGTH_MAX: usize = 2000;

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|text| text.parse::<u64>());
    let (Some(Ok(games)), Some(Ok(seed)), None) = (numbers.next(), numbers.next(), numbers.next())
    else {
        let _ = writeln!(io::stderr(), "usage: reference GAMES SEED");
        return ExitCode::from(2);
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write_games(games, seed, &mut out).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "reference: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn write_games(games: u64, seed: u64, out: &mut impl Write) -> io::Result<()> {
    let cases = cases();
    // Games of one case follow each other, so that a reader makes each game once.
    let all = cases.len() as u64;
    for (number, case) in (0..).zip(&cases) {
        // Also a few games are of all rulesets.
        let count = (number + 1) * games / all - number * games / all;
        if count > 0 {
            write_case(case, count, seed ^ number << 32, out)?;
        }
    }
    writeln!(out, "end\t{games}")
}

fn write_case(case: &Case, count: u64, seed: u64, out: &mut impl Write) -> io::Result<()> {
    struct Write<'a, W>(&'a Case, u64, u64, &'a mut W);
    impl<W: io::Write> Visitor for Write<'_, W> {
        type Out = io::Result<()>;

        fn visit<G: Game>(self, game: G) -> io::Result<()> {
            let Self(case, count, seed, out) = self;
            let options: Vec<String> = case
                .options
                .iter()
                .map(|(name, value)| format!("\"{name}\":\"{value}\""))
                .collect();
            let (ruleset, version, seats) = (game.name(), game.version(), case.seats);
            let (options, label) = (options.join(","), &case.label);
            writeln!(
                out,
                "game\t{ruleset}\t{version}\t{seats}\t{{{options}}}\t{label}"
            )?;
            // A state from a message makes JSON of it.
            let facade = arena_rules::Game::new(ruleset, &case.options, Some(seats));
            let facade = facade.map_err(io::Error::other)?;
            (0..count).try_for_each(|number| write_game(&game, &facade, seed + number, out))
        }
    }
    let write = Write(case, count, seed, out);
    visit(case.ruleset, &case.options, case.seats, write).map_err(io::Error::other)?
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    texts.join(",")
}

fn write_game<G: Game>(
    game: &G,
    facade: &arena_rules::Game,
    seed: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let seats = game.seats();
    let mut rng = AgentRng::new(seed);
    let mut state = game.initial();
    let (mut legal, mut name, mut bytes) = (Vec::new(), String::new(), Vec::new());
    writeln!(out, "initial")?;
    for _ in 0..LENGTH_MAX {
        let hash = arena_rules::hash(&state);
        let values = list(&game.values(&state)[..seats]);
        if rng.below(ENCODED) == 0 {
            bytes.clear();
            game.encode(&state, false, &mut bytes);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let json = facade.decode(&bytes).map_err(io::Error::other)?;
            writeln!(out, "position\t{hash:016x}\t{hex}\t{}", json.to_json(false))?;
        }
        if rng.below(PLAYED_OUT) == 0 {
            let seed = rng.word();
            let ended = list(&playout(game, &state, seed)[..seats]);
            writeln!(out, "playout\t{seed}\t{ended}")?;
        }
        name.clear();
        match game.node(&state) {
            Node::Decision(seat) => {
                game.legal(&state, &mut legal);
                let action = rng.pick(&legal);
                game.write_action(&state, action, &mut name);
                let legal = list(&legal);
                writeln!(
                    out,
                    "move\t{hash:016x}\t{values}\t{seat}\t{legal}\t{action}\t{name}"
                )?;
                game.apply(&mut state, action);
            }
            Node::Chance(_) => {
                let weights = game.weights(&state);
                let outcome = rng.weighted(weights) as u16;
                game.write_outcome(&state, outcome, &mut name);
                let weights = list(weights);
                writeln!(
                    out,
                    "chance\t{hash:016x}\t{values}\t{weights}\t{outcome}\t{name}"
                )?;
                game.apply_outcome(&mut state, outcome);
            }
            Node::Over(_) => {
                let scores = list(&game.scores(&state)[..seats]);
                let ranks = list(&game.placement(&state)[..seats]);
                return writeln!(out, "over\t{hash:016x}\t{values}\t{scores}\t{ranks}");
            }
        }
    }
    Ok(())
}

/// The playout that the README describes, written a second time.
fn playout<G: Game>(game: &G, from: &G::State, seed: u64) -> PerSeat<i64> {
    let mut rng = AgentRng::new(seed);
    let (mut state, mut legal) = (from.clone(), Vec::new());
    while !matches!(game.node(&state), Node::Over(_)) {
        if let Node::Chance(_) = game.node(&state) {
            let outcome = rng.weighted(game.weights(&state)) as u16;
            game.apply_outcome(&mut state, outcome);
        } else {
            game.legal(&state, &mut legal);
            let action = legal[rng.below(legal.len() as u32) as usize];
            game.apply(&mut state, action);
        }
    }
    game.values(&state)
}
