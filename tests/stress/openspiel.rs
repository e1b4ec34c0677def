//! Games compared with OpenSpiel, an independent implementation.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    process::{Command, Stdio},
};

use arena_engine::{ActionId, AgentRng, Game, Node, options::Options};
use arena_games::{Visitor, resolve, visit};
use arena_wire::games::{KalahPosition, OwareAbapaPosition};
use prost::Message;
use serde::{Deserialize, Serialize};

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, program, repository};

/// Settings.
#[derive(Debug, clap::Args)]
pub struct OpenSpiel {
    /// Games of each ruleset
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// Seed of the random moves: the number of the first game
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A ruleset, its name in OpenSpiel, and an option that OpenSpiel does not have: the comparison has
/// to notice the difference.
const RULESETS: [(&str, &str, (&str, &str)); 2] = [
    ("oware-abapa", "oware", ("grand_slam", "allow")),
    ("kalah", "mancala", ("empty_capture", "always")),
];

/// Games with that option, because grand slams are rare.
const OTHERS: u64 = 500;

impl StressTest for OpenSpiel {
    const PROMISE: &'static str = "oware-abapa and kalah are OpenSpiel's oware and mancala: legal \
                                   moves, player to move, board, end and result, at every step";

    fn quick() -> Self {
        Self {
            games: 300,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let python = match program::python() {
            Ok(python) => python,
            Err(reported) => return Ok(Outcome::Skipped(reported)),
        };
        let mut probe = Command::new(&python);
        probe.args(["-c", "import pyspiel"]);
        if !probe.output().is_ok_and(|output| output.status.success()) {
            return Ok(Outcome::Skipped(format!(
                "{} cannot import pyspiel: `eval \"$(tests/setup)\"` installs it where pip can",
                python.display()
            )));
        }
        let mut figures = Vec::new();
        for (ruleset, name, (option, value)) in RULESETS {
            let (reported, endings) = self.compare(ruleset, name, &Options::new(), self.games)?;
            if reported.differing > 0 || reported.games != self.games {
                return Err(Broken::new(format!(
                    "{} of {} games of {ruleset} differ, the first:\n{}",
                    reported.differing,
                    reported.games,
                    serde_json::to_string(&reported.first).map_err(Broken::new)?,
                )));
            }
            figures.push(Figure::new(
                &format!("{ruleset}: games alike"),
                reported.games,
            ));
            figures.push(Figure::new(
                &format!("{ruleset}: steps compared"),
                reported.steps,
            ));
            for (ending, count) in endings {
                figures.push(Figure::new(&format!("{ruleset}: ended by {ending}"), count));
            }

            let other = [(option.to_owned(), value.into())].into();
            let (reported, _) = self.compare(ruleset, name, &other, OTHERS)?;
            if reported.differing == 0 {
                return Err(Broken::new(format!(
                    "{ruleset} with {option} = {value} is not reported from OpenSpiel's rules in \
                     {OTHERS} games: the comparison sees nothing"
                )));
            }
            let what = format!("{ruleset}, {option} = {value}: of {OTHERS} differ");
            figures.push(Figure::new(&what, reported.differing));
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
#[derive(Serialize, Default)]
struct Played {
    seed: u64,
    actions: Vec<ActionId>,
    players: Vec<i8>,
    legal: Vec<Vec<ActionId>>,
    boards: Vec<Vec<u32>>,
    placement: Vec<u8>,
    #[serde(skip)]
    ending: String,
}

impl OpenSpiel {
    /// Plays games and compares them with OpenSpiel. Returns its output, and how many games ended
    /// in which way.
    fn compare(
        &self,
        ruleset: &str,
        name: &str,
        given: &Options,
        games: u64,
    ) -> Result<(Printed, BTreeMap<String, u64>), Broken> {
        let world = World::with_python();
        let (options, seats) = resolve(ruleset, given, None).map_err(Broken::new)?;
        let path = world.folder().join("games.jsonl");
        let mut file = BufWriter::new(File::create(&path).map_err(Broken::new)?);
        let mut endings = BTreeMap::new();
        for seed in self.seed..self.seed + games {
            let played = visit(ruleset, &options, seats, Play(seed)).map_err(Broken::new)?;
            serde_json::to_writer(&mut file, &played).map_err(Broken::new)?;
            writeln!(file).map_err(Broken::new)?;
            *endings.entry(played.ending).or_default() += 1;
        }
        file.flush().map_err(Broken::new)?;
        let mut command = world.command("python3");
        command
            .arg(repository().join("tests/openspiel/compare.py"))
            .arg(name)
            .stdin(Stdio::from(File::open(&path).map_err(Broken::new)?));
        let output = world.run(command);
        if output.code != Some(0) {
            return Err(Broken::new(output.transcript()));
        }
        let text = serde_json::from_str(&output.stdout).map_err(Broken::new)?;
        Ok((text, endings))
    }
}

/// Plays one random game.
struct Play(u64);

impl Visitor for Play {
    type Out = Played;

    fn visit<G: Game>(self, game: G) -> Played {
        let mut rng = AgentRng::new(self.0);
        let mut played = Played {
            seed: self.0,
            ..Played::default()
        };
        let (mut state, mut legal) = (game.initial(), Vec::new());
        loop {
            let mut bytes = Vec::new();
            game.encode(&state, false, &mut bytes);
            played.boards.push(board(game.name(), &bytes));
            let Node::Decision(seat) = game.node(&state) else {
                break;
            };
            game.legal(&state, &mut legal);
            played.players.push(seat as i8);
            played.legal.push(legal.clone());
            let action = rng.pick(&legal);
            played.actions.push(action);
            game.apply(&mut state, action);
        }
        if let Node::Over(ending) = game.node(&state) {
            played.ending = format!("{ending:?}").to_lowercase();
        }
        played.players.push(-1);
        played.legal.push(Vec::new());
        played.placement = game.placement(&state)[..game.seats()].to_vec();
        played
    }
}

/// Twelve pits and both scores, from the ruleset's message.
fn board(ruleset: &str, bytes: &[u8]) -> Vec<u32> {
    if ruleset == "kalah" {
        let cells = KalahPosition::decode(bytes).expect("a position").board;
        return [&cells[..6], &cells[7..13], &[cells[6], cells[13]]].concat();
    }
    let position = OwareAbapaPosition::decode(bytes).expect("a position");
    [position.pits, position.score].concat()
}
