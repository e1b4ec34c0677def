//! Boards to be drawn: where things stand, made here with the rules, so that a
//! page needs to know none.
//!
//! A ruleset with a drawing says how its board looks and turns a position into
//! numbers; one without is shown as text, as `arena game show` does.

mod cowry;
mod ludo;
mod pits;

use std::fmt::Write;

use arena_engine::{AnyGame, Event, Game, Node, ReplayError, Seat, replay};
use arena_games::{Abapa, AnanAnan, ChineseLudo, Cowry, Kalah, Ruleset};
use arena_model::RecordHeader;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use serde_json::{Value, json};

/// How a board looks.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Board {
    /// Pieces on spots: a position has the value of each piece, seat by seat.
    Pieces {
        width: u32,
        height: u32,
        /// SVG of what never changes.
        art: String,
        /// By seat: how many pieces it has.
        pieces: usize,
        /// Least value of a piece.
        least: i16,
        /// By seat and value: x and y of the spot.
        spots: Vec<Vec<(f32, f32)>>,
        /// Side of a spot.
        spot: f32,
        /// Where what a value says to people: `start`, `home`, …
        words: Vec<(i16, &'static str)>,
    },
    /// Pits with seeds: a position has how many there are in each.
    Pits {
        width: u32,
        height: u32,
        art: String,
        /// By pit: x, y, half the width and half the height.
        pits: Vec<(f32, f32, f32, f32)>,
        /// By pit: its name for people.
        names: Vec<String>,
        /// By seat: what its side of the board is called.
        sides: [&'static str; 2],
    },
    /// Lines of text.
    Text,
}

/// One ply: what was drawn before it, who did what, and what changed.
#[derive(Debug)]
pub(crate) struct Step {
    seat: Option<Seat>,
    notation: String,
    drawn: String,
    /// Places of the position with their new values.
    changes: Vec<(usize, Value)>,
}

/// As a list, which is the shortest: seat, notation, what was drawn, then
/// places and values in turn.
impl Serialize for Step {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(3 + 2 * self.changes.len()))?;
        list.serialize_element(&self.seat)?;
        list.serialize_element(&self.notation)?;
        list.serialize_element(&self.drawn)?;
        for (place, value) in &self.changes {
            list.serialize_element(place)?;
            list.serialize_element(value)?;
        }
        list.end()
    }
}

/// A ruleset whose board is drawn.
trait Drawn: Ruleset {
    /// How it looks.
    fn board(&self) -> Board;

    /// A position as numbers.
    fn numbers(&self, state: &Self::State, out: &mut Vec<i16>);
}

/// Positions of games of one ruleset.
pub(crate) struct Boards(Box<dyn Stepper>);

impl Boards {
    /// Those of a tournament.
    pub(crate) fn of(header: &RecordHeader, seats: usize) -> Self {
        fn drawn<G: Drawn>(header: &RecordHeader, seats: usize) -> Option<Box<dyn Stepper>> {
            // Of rules of before there are lines alone.
            if header.rules_version != G::VERSION {
                return None;
            }
            // Options that were good enough to play with are good enough here.
            let game = G::with_options(&header.options, seats).ok()?;
            Some(Box::new(Drawing(game)))
        }
        let stepper = match header.ruleset.as_str() {
            Cowry::NAME => drawn::<Cowry>(header, seats),
            Kalah::NAME => drawn::<Kalah>(header, seats),
            Abapa::NAME => drawn::<Abapa>(header, seats),
            AnanAnan::NAME => drawn::<AnanAnan>(header, seats),
            ChineseLudo::NAME => drawn::<ChineseLudo>(header, seats),
            _ => None,
        };
        Self(stepper.unwrap_or_else(|| Box::new(Lines)))
    }

    /// How the board looks.
    pub(crate) fn board(&self) -> Board {
        self.0.board()
    }

    /// The first position of a game, and what each ply changes.
    pub(super) fn steps(
        &self,
        game: &dyn AnyGame,
        events: &[Event],
    ) -> Result<(Value, Vec<Step>), ReplayError> {
        self.0.steps(game, events)
    }
}

trait Stepper {
    fn board(&self) -> Board;
    fn steps(
        &self,
        game: &dyn AnyGame,
        events: &[Event],
    ) -> Result<(Value, Vec<Step>), ReplayError>;
}

/// Collects plies: what is drawn goes with the ply that follows.
struct Steps<T> {
    position: Vec<T>,
    drawn: String,
    made: Vec<Step>,
}

impl<T: Clone + PartialEq + Serialize> Steps<T> {
    fn new(start: Vec<T>) -> Self {
        Self {
            position: start,
            drawn: String::new(),
            made: Vec::new(),
        }
    }

    fn draw(&mut self, name: &str) {
        if !self.drawn.is_empty() {
            self.drawn.push(' ');
        }
        self.drawn.push_str(name);
    }

    /// A ply, and what it left.
    fn ply(&mut self, seat: Option<Seat>, name: &str, position: Vec<T>) {
        let blank: Option<&T> = None;
        let changes = (0..position.len().max(self.position.len()))
            .filter(|&place| position.get(place).or(blank) != self.position.get(place))
            .map(|place| (place, json!(position.get(place))))
            .collect();
        self.made.push(Step {
            seat,
            notation: name.to_owned(),
            drawn: std::mem::take(&mut self.drawn),
            changes,
        });
        self.position = position;
    }
}

struct Drawing<G>(G);

impl<G: Drawn> Stepper for Drawing<G> {
    fn board(&self) -> Board {
        self.0.board()
    }

    fn steps(&self, _: &dyn AnyGame, events: &[Event]) -> Result<(Value, Vec<Step>), ReplayError> {
        let game = &self.0;
        let numbers = |state: &G::State| {
            let mut numbers = Vec::new();
            game.numbers(state, &mut numbers);
            numbers
        };
        let start = numbers(&game.initial());
        let mut steps = Steps::new(start.clone());
        replay(game, events, |state, described| {
            if !described.event.is_action() {
                steps.draw(described.name);
                return;
            }
            let mut after = state.clone();
            if let Node::Decision(_) = game.node(state) {
                game.apply(&mut after, described.event.id());
            }
            steps.ply(described.seat, described.name, numbers(&after));
        })?;
        Ok((json!(start), steps.made))
    }
}

/// A ruleset without a drawing.
struct Lines;

impl Stepper for Lines {
    fn board(&self) -> Board {
        Board::Text
    }

    fn steps(
        &self,
        game: &dyn AnyGame,
        events: &[Event],
    ) -> Result<(Value, Vec<Step>), ReplayError> {
        let lines = |board: &str| board.lines().map(str::to_owned).collect::<Vec<String>>();
        let mut start = None;
        let mut steps: Option<Steps<String>> = None;
        // The board before an event is the one that the ply before it left.
        let mut due: Option<(Option<Seat>, String)> = None;
        game.replay_drawn(events, &mut |board, described| {
            let board = lines(board);
            start.get_or_insert_with(|| board.clone());
            let steps = steps.get_or_insert_with(|| Steps::new(board.clone()));
            if let Some((seat, name)) = due.take() {
                steps.ply(seat, &name, board);
            }
            match described {
                Some(described) if described.event.is_action() => {
                    due = Some((described.seat, described.name.to_owned()));
                }
                Some(described) => steps.draw(described.name),
                None => {}
            }
        })?;
        let made = steps.map_or_else(Vec::new, |steps| steps.made);
        Ok((json!(start.unwrap_or_default()), made))
    }
}

/// Writes SVG: an element without content.
fn shape(out: &mut String, element: &str, class: &str, attributes: &[(&str, f32)]) {
    // Writing to text cannot fail.
    let _ = write!(out, "<{element} class=\"{class}\"");
    for (name, value) in attributes {
        let _ = write!(out, " {name}=\"{value}\"");
    }
    out.push_str("/>");
}

/// Writes SVG: text around a point.
fn label(out: &mut String, class: &str, (x, y): (f32, f32), text: &str) {
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests;
