//! Games of chess compared with the Python package `chess`, an independent implementation.

use std::{
    collections::BTreeMap,
    io::{BufWriter, Write},
    process::{Command, Stdio},
};

use arena_engine::{ActionId, AgentRng, Game, Node, options::Options};
use arena_games::{Visitor, resolve, visit};
use arena_wire::games::ChessPosition;
use prost::Message;
use serde::{Deserialize, Serialize};

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, program, repository};

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Chess {
    /// Games; every fourth one is Chess960 from a drawn start position
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(4..))]
    games: u64,
    /// Seed of the random moves: the number of the first game
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The notations of all legal moves are compared in one of this many positions.
const NAMED: usize = 16;

/// Games with a length limit, which the package does not have: the comparison has to notice it.
const CAPPED: u64 = 10;

impl StressTest for Chess {
    const PROMISE: &'static str = "chess is that of the Python package `chess`: position, legal \
                                   moves, notations and draws, at every step";

    fn quick() -> Self {
        Self { games: 80, seed: 1 }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let python = match program::python() {
            Ok(python) => python,
            Err(reported) => return Ok(Outcome::Skipped(reported)),
        };
        let mut probe = Command::new(&python);
        probe.args(["-c", "import chess"]);
        if !probe.output().is_ok_and(|output| output.status.success()) {
            return Ok(Outcome::Skipped(format!(
                "{} cannot import chess: `eval \"$(tests/setup)\"` installs it",
                python.display()
            )));
        }
        let (reported, endings) = self.compare(self.games, &Options::new())?;
        if reported.differing > 0 || reported.games != self.games {
            return Err(Broken::new(format!(
                "{} of {} games differ, the first:\n{}",
                reported.differing,
                reported.games,
                serde_json::to_string(&reported.first).map_err(Broken::new)?,
            )));
        }
        let capped = [("max_plies".to_owned(), "20".into())].into();
        let (noticed, _) = self.compare(CAPPED, &capped)?;
        // A random game may be mate before the limit.
        if noticed.differing < CAPPED / 2 {
            return Err(Broken::new(format!(
                "{} of {CAPPED} games that end too early differ: the comparison sees little",
                noticed.differing
            )));
        }
        let mut figures = vec![
            Figure::new("games alike", reported.games),
            Figure::new("positions compared", reported.steps),
        ];
        for (ending, count) in endings {
            figures.push(Figure::new(&format!("ended by {ending}"), count));
        }
        Ok(Outcome::Holds(figures))
    }
}

/// The output of `compare.py`.
#[derive(Deserialize)]
struct Printed {
    games: u64,
    steps: u64,
    differing: u64,
    first: Vec<serde_json::Value>,
}

/// A game in the format of `compare.py`.
#[derive(Serialize)]
struct Played {
    seed: u64,
    fen: String,
    chess960: bool,
    steps: Vec<Step>,
    end: String,
}

#[derive(Serialize)]
struct Step {
    fen: String,
    legal: Vec<ActionId>,
    action: Option<ActionId>,
    #[serde(rename = "move")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

impl Chess {
    /// Plays games and compares them. Returns the output, and how many games ended in which way.
    fn compare(
        &self,
        games: u64,
        given: &Options,
    ) -> Result<(Printed, BTreeMap<String, u64>), Broken> {
        let world = World::with_python();
        let mut command = world.command("python3");
        command
            .arg(repository().join("tests/chess/compare.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Broken::new)?;
        let mut input = BufWriter::new(child.stdin.take().expect("it is a pipe"));
        let mut endings = BTreeMap::new();
        for seed in self.seed..self.seed + games {
            let chess960 = seed % 4 == 0;
            let mut given = given.clone();
            let variant = if chess960 { "chess960" } else { "standard" };
            given.insert("variant".to_owned(), variant.into());
            let (options, seats) = resolve("chess", &given, None).map_err(Broken::new)?;
            let play = Play { seed, chess960 };
            let played = visit("chess", &options, seats, play).map_err(Broken::new)?;
            serde_json::to_writer(&mut input, &played).map_err(Broken::new)?;
            writeln!(input).map_err(Broken::new)?;
            *endings.entry(played.end).or_default() += 1;
        }
        input.flush().map_err(Broken::new)?;
        drop(input);
        let output = child.wait_with_output().map_err(Broken::new)?;
        if !output.status.success() {
            return Err(Broken::new(format!(
                "compare.py ended with {}",
                output.status
            )));
        }
        let printed = serde_json::from_slice(&output.stdout).map_err(Broken::new)?;
        Ok((printed, endings))
    }
}

/// Plays one random game.
struct Play {
    seed: u64,
    chess960: bool,
}

impl Visitor for Play {
    type Out = Played;

    fn visit<G: Game>(self, game: G) -> Played {
        let mut rng = AgentRng::new(self.seed);
        let mut state = game.initial();
        if let Node::Chance(_) = game.node(&state) {
            let outcome = rng.weighted(game.weights(&state));
            game.apply_outcome(&mut state, outcome as u16);
        }
        let mut steps: Vec<Step> = Vec::new();
        loop {
            let mut bytes = Vec::new();
            game.encode(&state, false, &mut bytes);
            let position = ChessPosition::decode(&bytes[..]).expect("a position");
            let mut legal = Vec::new();
            game.legal(&state, &mut legal);
            let name = |action| {
                let mut name = String::new();
                game.write_action(&state, action, &mut name);
                name
            };
            let over = matches!(game.node(&state), Node::Over(_));
            let action = (!over).then(|| rng.pick(&legal));
            let named = steps.len().is_multiple_of(NAMED);
            let phase = position.phase().as_str_name();
            steps.push(Step {
                fen: position.fen,
                action,
                name: action.map(name),
                names: named.then(|| legal.iter().map(|&action| name(action)).collect()),
                legal,
            });
            match action {
                Some(action) => game.apply(&mut state, action),
                None => {
                    let end = phase.trim_start_matches("CHESS_PHASE_").to_lowercase();
                    return Played {
                        seed: self.seed,
                        fen: steps[0].fen.clone(),
                        chess960: self.chess960,
                        steps,
                        end: end.replace('_', "-"),
                    };
                }
            }
        }
    }
}
