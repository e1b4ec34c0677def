//! Golden playthroughs: random games with everything that the rules said at each of their positions. A
//! later version of the rules has to say the same, or it plays another game.

use std::{fmt::Write as _, fs, path::Path};

use arena_engine::{AgentRng, Game, Node, options::Options};
use arena_games::Visitor;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{EVENTS_MAX, Found, RulesetStep, sets_of_options};
use crate::{
    failure::{Failure, Outcome},
    rules::Rules,
};

/// Name of the file with playthroughs in a package.
pub const GOLDEN_FILE: &str = "golden.jsonl";
/// Maximum bytes of such a file.
const BYTES_MAX: u64 = 64 << 20;
/// Actions or outcomes of a node that are written one by one. Of more, a digest is.
const LISTED_MAX: usize = 32;
/// Digits of a digest.
const DIGITS: usize = 16;

/// One game: a line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Playthrough {
    /// All options with their values.
    options: Options,
    seats: usize,
    /// What the rules said at each position, from the initial one to the end.
    nodes: Vec<String>,
    /// The actions and outcomes between them.
    events: Vec<u16>,
}

/// The playthroughs of a file.
#[derive(Debug)]
pub struct Golden {
    /// The file's name.
    name: String,
    games: Vec<Playthrough>,
}

impl Golden {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file.
    pub fn read(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let usage = |problem: String| Failure::usage(format!("{shown}: {problem}"));
        let about = fs::metadata(path).map_err(|error| usage(error.to_string()))?;
        if about.len() > BYTES_MAX {
            return Err(usage(format!("the file exceeds {BYTES_MAX} bytes")));
        }
        let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.is_empty());
        let games = lines.map(|(line, number)| {
            let game: Playthrough = serde_json::from_str(line)
                .map_err(|error| usage(format!("line {number}: {error}")))?;
            match game.nodes.len() == game.events.len() + 1 {
                true => Ok(game),
                false => Err(usage(format!(
                    "line {number}: one node more than events is needed"
                ))),
            }
        });
        let games = games.collect::<Outcome<Vec<_>>>()?;
        if games.is_empty() {
            return Err(usage("the file has no playthrough".to_owned()));
        }
        Ok(Self {
            name: shown.to_string(),
            games,
        })
    }

    /// Number of games.
    pub(super) fn games(&self) -> usize {
        self.games.len()
    }

    /// Plays the games again, and notes the first difference.
    pub(super) fn compare(&self, rules: &Rules, found: &mut Found<'_>) {
        for (game, number) in self.games.iter().zip(1..) {
            let problem = rules
                .visit(&game.options, game.seats, Follow(game))
                .unwrap_or_else(|error| Some(error.to_string()));
            let name = format!("{}, game {number}", self.name);
            found.expect(RulesetStep::Golden, problem.is_none(), &name, || {
                problem.unwrap_or_default()
            });
        }
    }
}

/// Random games of the rules as a file: one with each set of options that the check tries.
///
/// # Errors
/// If a game has no end.
pub fn playthroughs(rules: &Rules) -> Outcome<String> {
    let mut found = Found::default();
    let mut text = String::new();
    for ((label, options, seats), seed) in sets_of_options(rules, &mut found).into_iter().zip(0..) {
        let game = rules.visit(&options, seats, Record { seed });
        let game = game.map_err(Failure::failed)?;
        let (nodes, events) =
            game.ok_or_else(|| Failure::failed(format!("{label}: a random game has no end")))?;
        let game = Playthrough {
            options,
            seats,
            nodes,
            events,
        };
        text += &serde_json::to_string(&game).map_err(Failure::failed)?;
        text.push('\n');
    }
    Ok(text)
}

/// Plays a random game.
struct Record {
    seed: u64,
}

impl Visitor for Record {
    type Out = Option<(Vec<String>, Vec<u16>)>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut rng = AgentRng::new(self.seed);
        let mut state = game.initial();
        let (mut nodes, mut events, mut legal) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..EVENTS_MAX {
            if game.failure(&state).is_some() {
                return None;
            }
            nodes.push(said(&game, &state));
            match game.node(&state) {
                Node::Over(_) => return Some((nodes, events)),
                Node::Decision(_) => {
                    game.legal(&state, &mut legal);
                    let action = rng.pick(&legal);
                    game.apply(&mut state, action);
                    events.push(action);
                }
                Node::Chance(_) => {
                    let outcome = rng.weighted(game.weights(&state)) as u16;
                    game.apply_outcome(&mut state, outcome);
                    events.push(outcome);
                }
            }
        }
        None
    }
}

/// Plays a game again; returns the first difference.
struct Follow<'a>(&'a Playthrough);

impl Visitor for Follow<'_> {
    type Out = Option<String>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let mut state = game.initial();
        let mut legal = Vec::new();
        for (place, node) in self.0.nodes.iter().enumerate() {
            if let Some(failure) = game.failure(&state) {
                return Some(failure);
            }
            let now = said(&game, &state);
            if now != *node {
                return Some(format!(
                    "after {place} events, the rules say \"{now}\" instead of \"{node}\""
                ));
            }
            let Some(&event) = self.0.events.get(place) else {
                break;
            };
            let is_possible = match game.node(&state) {
                Node::Over(_) => false,
                Node::Decision(_) => {
                    game.legal(&state, &mut legal);
                    legal.contains(&event)
                }
                Node::Chance(_) => {
                    let weights = game.weights(&state);
                    weights.get(usize::from(event)).is_some_and(|&it| it > 0)
                }
            };
            if !is_possible {
                return Some(format!(
                    "after {place} events, event {event} is not possible"
                ));
            }
            match game.node(&state) {
                Node::Decision(_) => game.apply(&mut state, event),
                _ => game.apply_outcome(&mut state, event),
            }
        }
        None
    }
}

/// What rules say at a position: who moves, what is possible, and what is seen.
fn said<G: Game>(game: &G, state: &G::State) -> String {
    let mut text = String::new();
    let mut listed = Vec::new();
    match game.node(state) {
        Node::Decision(seat) => {
            let _ = write!(text, "seat {seat}:");
            let mut legal = Vec::new();
            game.legal(state, &mut legal);
            for action in legal {
                let mut notation = format!("{action}=");
                game.write_action(state, action, &mut notation);
                listed.push(notation);
            }
        }
        Node::Chance(seat) => {
            text.push_str("chance");
            let _ = seat.map_or(Ok(()), |seat| write!(text, " of seat {seat}"));
            text.push(':');
            for (outcome, weight) in game.weights(state).iter().enumerate() {
                let mut notation = format!("{outcome}=");
                game.write_outcome(state, outcome as u16, &mut notation);
                listed.push(format!("{notation}*{weight}"));
            }
        }
        Node::Over(_) => {
            text.push_str("over:");
            let placement = game.placement(state);
            let scores = game.scores(state);
            for seat in 0..game.seats() {
                listed.push(format!("{}({})", placement[seat], scores[seat]));
            }
        }
    }
    match listed.len() <= LISTED_MAX {
        true => listed.iter().for_each(|it| {
            text.push(' ');
            text.push_str(it);
        }),
        false => {
            let _ = write!(
                text,
                " {} with {}",
                listed.len(),
                digest(listed.join(" ").as_bytes())
            );
        }
    }
    let mut position = Vec::new();
    game.encode(state, true, &mut position);
    let _ = write!(text, "; position {}", digest(&position));
    text
}

fn digest(bytes: &[u8]) -> String {
    let mut text = hex::encode(Sha256::digest(bytes));
    text.truncate(DIGITS);
    text
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressBar;

    use super::*;
    use crate::{check::CheckStep as _, ruleset_check::check};

    fn kalah() -> Rules {
        Rules::Listed(arena_games::ruleset("kalah").expect("listed"))
    }

    /// The failure of a check against this text.
    fn failure(text: &str) -> Option<String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("written");
        let golden = Golden::read(file.path()).expect("playthroughs");
        let report = check(&kalah(), 1, Some(&golden), &ProgressBar::hidden());
        report.expect("measured").failure()
    }

    #[test]
    fn written_playthroughs_pass() {
        let text = playthroughs(&kalah()).expect("played");
        assert_eq!(failure(&text), None);
    }

    #[test]
    fn changed_playthroughs_fail() {
        let text = playthroughs(&kalah()).expect("played");
        let name = RulesetStep::Golden.name();
        for (from, to) in [
            ("seat 0:", "seat 1:"),
            (" 1=", " 7="),
            ("; position ", "; position 0"),
            ("over: 1(", "over: 2("),
            ("\"events\":[", "\"events\":[9"),
            ("\"stones\":4", "\"stones\":400"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert!(changed != text, "{from}");
            let failure = failure(&changed).expect("it fails");
            assert!(failure.contains(name), "{from}: {failure}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (text, problem) in [
            ("", "the file has no playthrough"),
            ("{}", "line 1: missing field"),
            ("\n[]", "line 2: "),
            (
                r#"{"options":{},"seats":2,"nodes":["x"],"events":[1]}"#,
                "line 1: one node more than events is needed",
            ),
        ] {
            fs::write(file.path(), text).expect("written");
            let error = Golden::read(file.path()).expect_err("it is none");
            assert!(error.to_string().contains(problem), "{error}");
        }
    }
}
