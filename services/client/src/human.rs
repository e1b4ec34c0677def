//! A person at the board: an agent that asks on the terminal.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use arena_engine::{Game, Node, Seat, options::Options};
use arena_games::Visitor;
use arena_model::printable;
use arena_sdk::{Agent, Choice, Listen, Listener, Question, Refusal};
use arena_wire::{convert, v1};
use itertools::Itertools;
use rustyline::{
    Config, Editor, Helper, Highlighter, Hinter, Validator,
    completion::{Completer, Pair},
    config::Behavior,
    error::ReadlineError,
    history::MemHistory,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::failure::{Failure, Outcome};

/// The name of a seat of a person.
pub use arena_model::PERSON as NAME;

/// What a person can type besides moves.
const HELP: &str = "the number or the notation of a move; ? for hints, q to stop";

/// A person who is asked on this terminal.
#[derive(Clone)]
pub struct Human(Arc<Table>);

struct Table {
    options: Options,
    seats: usize,
    /// True if the rules are a package, which only its own processes know.
    is_package: bool,
    names: Vec<String>,
    /// One question at a time.
    terminal: Mutex<Editor<Moves, MemHistory>>,
    quit: watch::Sender<bool>,
}

/// The person's agent, which runs until this is dropped.
pub struct Seated {
    /// Its address.
    pub url: String,
    quit: watch::Receiver<bool>,
    _folder: TempDir,
    _serving: tokio::task::JoinHandle<()>,
}

impl Seated {
    /// Waits until the person stops the game.
    pub async fn quits(&mut self) {
        if self.quit.wait_for(|&quit| quit).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Human {
    /// Starts an agent for the games of a setup.
    pub async fn sit_down(setup: &v1::TournamentSetup) -> Outcome<Seated> {
        let config = Config::builder().behavior(Behavior::PreferTerm).build();
        let terminal = Editor::with_history(config, MemHistory::new()).map_err(Failure::failed)?;
        let (quit, quits) = watch::channel(false);
        let given = convert::options_from_wire(&setup.options);
        let seats = Some(setup.seats as usize);
        let described = convert::described(setup).map_err(Failure::usage)?;
        let is_package = described.is_some();
        let (options, seats) = match described {
            Some((options, _)) => (options, setup.seats as usize),
            None => arena_games::resolve(&setup.ruleset, &given, seats).map_err(Failure::usage)?,
        };
        let human = Self(Arc::new(Table {
            options,
            seats,
            is_package,
            names: setup.agents.iter().map(|it| it.name.clone()).collect(),
            terminal: Mutex::new(terminal),
            quit,
        }));
        let folder = tempfile::tempdir()?;
        let listen = Listen::Unix(folder.path().join("human.sock"));
        let listener = Listener::bind(&listen).await.map_err(Failure::failed)?;
        let serving = tokio::spawn(async move {
            let served = arena_sdk::serve(human, listener, std::future::pending()).await;
            if let Err(error) = served {
                crate::output::note(format!("the person's agent ended: {error}"));
            }
        });
        Ok(Seated {
            url: listen.to_string(),
            quit: quits,
            _folder: folder,
            _serving: serving,
        })
    }
}

impl Agent for Human {
    fn describe(&self) -> v1::DescribeResponse {
        v1::DescribeResponse {
            name: NAME.to_owned(),
            concurrent: true,
            ..v1::DescribeResponse::default()
        }
    }

    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        let table = &self.0;
        let mut terminal = table
            .terminal
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let shown = table.show(question).map_err(Refusal::new)?;
        let seat = question.seat();
        let name = table.names.get(seat).map_or(NAME, String::as_str);
        let mut err = io::stderr();
        let _ = writeln!(err, "\n{}\n{name} (seat {seat})", shown.board.trim_end());
        let _ = writeln!(err, "{}", list(question.notations()));
        terminal.set_helper(Some(Moves(question.notations().to_vec())));
        loop {
            let line = match terminal.readline("move (? for hints, q to stop)> ") {
                Ok(line) => line,
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => return table.stop(),
                Err(error) => return Err(Refusal::new(error.to_string())),
            };
            match line.trim() {
                "" => {}
                "q" | "quit" => return table.stop(),
                "?" => {
                    for (score, notation) in &shown.hints {
                        let _ = writeln!(err, "  {notation:<12} {score:5.1} %");
                    }
                    let hints = match shown.hints.is_empty() {
                        true => "no hints: the rules of this game are a package",
                        false => "expected score after the move, as the ruleset estimates it",
                    };
                    let _ = writeln!(err, "  ({hints})\n  {HELP}");
                }
                typed => match find(question.notations(), typed) {
                    Ok(place) => return Ok(question.legal_moves()[place].into()),
                    Err(problem) => {
                        let _ = writeln!(err, "{}", printable(&problem));
                    }
                },
            }
        }
    }
}

impl Table {
    /// Stops the game. The question has no answer.
    fn stop(&self) -> Result<Choice, Refusal> {
        self.quit.send_replace(true);
        Err(Refusal::new("the person stopped the game"))
    }

    fn show(&self, question: &Question<'_>) -> Result<Shown, String> {
        let position = &question.decision().position;
        if self.is_package {
            let position = serde_json::from_slice(position).map_err(|error| error.to_string())?;
            let board = fields(&position);
            let hints = Vec::new();
            return Ok(Shown { board, hints });
        }
        let show = Show(position, question.seat() as Seat);
        let shown = arena_games::visit(question.ruleset(), &self.options, self.seats, show);
        shown.map_err(|error| error.to_string())?
    }
}

/// A position of a package, which is JSON: one line for each field of an object.
#[must_use]
pub fn fields(position: &Value) -> String {
    let lines = match position {
        Value::Object(fields) => fields.iter().map(field).collect(),
        other => vec![other.to_string()],
    };
    let lines = lines.iter().map(|line| printable(line));
    lines.format("\n").to_string()
}

/// Maximum number of values of a list that a person reads.
const LIST_MAX: usize = 60;

/// A field in one line, or with the lines of a text below its name.
fn field((name, value): (&String, &Value)) -> String {
    match value {
        Value::Array(values) if values.len() > LIST_MAX => {
            format!("{name}: a list of {} values", values.len())
        }
        Value::String(text) if text.contains('\n') => {
            let lines = text.trim_end().lines();
            format!(
                "{name}:\n{}",
                lines.map(|line| format!("  {line}")).format("\n")
            )
        }
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    }
}

/// True if the moves are shown with numbers: none of their notations is a number itself.
fn is_numbered(notations: &[String]) -> bool {
    !{ notations.iter() }.any(|notation| notation.parse::<usize>().is_ok())
}

/// The moves, with their numbers.
fn list(notations: &[String]) -> String {
    let numbered = notations.iter().enumerate();
    numbered
        .map(|(place, notation)| match is_numbered(notations) {
            true => format!("{}) {notation}", place + 1),
            false => notation.clone(),
        })
        .join("   ")
}

/// The place of a move: by its notation, the number that is shown, or a start that no other move has.
fn find(notations: &[String], typed: &str) -> Result<usize, String> {
    let is_same = |notation: &String| notation.eq_ignore_ascii_case(typed);
    if let Some(place) = notations.iter().position(is_same) {
        return Ok(place);
    }
    if let Ok(number) = typed.parse::<usize>()
        && is_numbered(notations)
    {
        return match (1..=notations.len()).contains(&number) {
            true => Ok(number - 1),
            false => Err(format!("there are {} moves: type {HELP}", notations.len())),
        };
    }
    let starts = |notation: &String| {
        let start = notation.get(..typed.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let meant: Vec<usize> = notations.iter().positions(starts).collect();
    match meant.as_slice() {
        [one] => Ok(*one),
        [] => Err(format!("\"{typed}\" is not a legal move: type {HELP}")),
        several => {
            let several = several.iter().map(|&place| &notations[place]);
            Err(format!("\"{typed}\" can be {}", several.format(", ")))
        }
    }
}

/// The board, and the expected score in percent after each move, best first.
struct Shown {
    board: String,
    hints: Vec<(f64, String)>,
}

/// Shows an encoded position to a seat.
struct Show<'a>(&'a [u8], Seat);

impl Visitor for Show<'_> {
    type Out = Result<Shown, String>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let Self(position, seat) = self;
        let state = game.decode(position).map_err(|error| error.to_string())?;
        let mut board = String::new();
        game.draw(&state, &mut board);
        let mut legal = Vec::new();
        if let Node::Decision(_) = game.node(&state) {
            game.legal(&state, &mut legal);
        }
        let hint = |&action: &_| {
            let mut notation = String::new();
            game.write_action(&state, action, &mut notation);
            let mut after = state.clone();
            game.apply(&mut after, action);
            let value = game.values(&after)[usize::from(seat)];
            (
                value as f64 / arena_engine::values::POINT as f64 * 100.0,
                notation,
            )
        };
        let mut hints: Vec<_> = legal.iter().map(hint).collect();
        hints.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(Shown { board, hints })
    }
}

/// Completes notations of moves.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Moves(Vec<String>);

impl Completer for Moves {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        _: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let starts = self.0.iter().filter(|notation| notation.starts_with(line));
        let pair = |notation: &String| Pair {
            display: notation.clone(),
            replacement: notation.clone(),
        };
        Ok((0, starts.map(pair).collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn moves_are_found_by_number_notation_and_start() {
        let moves = ["3:p0", "4:p0", "8:p1", "pass"].map(str::to_owned);
        assert_eq!(list(&moves), "1) 3:p0   2) 4:p0   3) 8:p1   4) pass");
        assert_eq!(find(&moves, "3"), Ok(2), "the number that is shown");
        assert_eq!(find(&moves, "4:P0"), Ok(1));
        assert_eq!(find(&moves, "p"), Ok(3));
        assert!(
            find(&moves, "8")
                .expect_err("four moves")
                .contains("there are 4 moves")
        );
        for wrong in ["é", "passes", "x"] {
            let problem = find(&moves, wrong).expect_err(wrong);
            assert!(problem.contains("not a legal move"), "{problem}");
        }
    }

    #[test]
    fn notations_that_are_numbers_are_not_numbered() {
        let moves = ["0", "2", "21"].map(str::to_owned);
        assert_eq!(list(&moves), "0   2   21");
        assert_eq!((find(&moves, "2"), find(&moves, "21")), (Ok(1), Ok(2)));
        assert!(
            find(&moves, "1")
                .expect_err("no move")
                .contains("not a legal move")
        );
    }

    #[test]
    fn position_of_a_package_has_one_line_for_each_field() {
        let position = json!({"points": 3, "seen": "a b\nc", "totals": [0, 12]});
        assert_eq!(
            fields(&position),
            "points: 3\nseen:\n  a b\n  c\ntotals: [0,12]"
        );
        assert_eq!(fields(&json!([1, 2])), "[1,2]");
        let tensor = json!({"tensor": vec![0; 383]});
        assert_eq!(fields(&tensor), "tensor: a list of 383 values");
        assert_eq!(fields(&json!({"text": "\u{1b}[2J"})), "text: \\x1b[2J");
    }
}
