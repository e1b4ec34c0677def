//! Layouts of boards. They are computed here with the rules, so that a page needs no rules.
//!
//! A ruleset with a drawing describes its board and converts a position to numbers. A
//! ruleset without one is shown as text, as in `arena game show`.

mod cowry;
pub(crate) mod draw;
mod ludo;
mod pits;

use std::fmt::Write;

use arena_engine::{AnyGame, Event, Node, ReplayError, Seat, replay};
use arena_games::{Abapa, AnanAnan, ChineseLudo, Cowry, Kalah, Ruleset};
use arena_model::RecordHeader;
use serde::{Serialize, Serializer, ser::SerializeSeq};
use serde_json::{Value, json};

pub(crate) use draw::Position;

/// The layout of a board.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Board {
    /// Pieces on spots: a position holds the value of each piece, seat by seat.
    Pieces {
        width: u32,
        height: u32,
        /// SVG of the parts that never change.
        art: String,
        /// Number of pieces of each seat.
        pieces: usize,
        /// Smallest value of a piece.
        least: i16,
        /// Coordinates (x, y) of the spot, by seat and value.
        spots: Vec<Vec<(f32, f32)>>,
        /// Side of a spot.
        spot: f32,
        /// Display words of the values that have one: `start`, `home`, …
        words: Vec<(i16, &'static str)>,
    },
    /// Pits with seeds: a position holds the number of seeds in each pit.
    Pits {
        width: u32,
        height: u32,
        art: String,
        /// x, y, half the width and half the height of each pit.
        pits: Vec<(f32, f32, f32, f32)>,
        /// Display name of each pit.
        names: Vec<String>,
        /// Name of each seat's side of the board.
        sides: [&'static str; 2],
    },
    /// Lines of text.
    Text,
}

/// One ply: the chance outcome before it, the acting seat, the notation and the changes.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) seat: Option<Seat>,
    pub(crate) notation: String,
    pub(crate) drawn: String,
    /// Indexes into the position, with their new values.
    pub(crate) changes: Vec<(usize, Value)>,
}

/// Serializes as a list, the shortest form: seat, notation, chance outcome, then
/// alternating indexes and values.
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

/// A ruleset with a drawn board.
trait Drawn: Ruleset {
    /// The layout of the board.
    fn board(&self) -> Board;

    /// A position as numbers.
    fn numbers(&self, state: &Self::State, out: &mut Vec<i16>);
}

/// The boards of a tournament.
pub(crate) fn boards(header: &RecordHeader, seats: usize) -> Box<dyn Boards> {
    fn drawn<G: Drawn>(header: &RecordHeader, seats: usize) -> Option<Box<dyn Boards>> {
        // An older rules version is shown as text.
        if header.rules_version != G::VERSION {
            return None;
        }
        // Options that the tournament accepted are valid here.
        let game = G::with_options(&header.options, seats).ok()?;
        Some(Box::new(Drawing(game)))
    }
    let boards = match header.ruleset.as_str() {
        Cowry::NAME => drawn::<Cowry>(header, seats),
        Kalah::NAME => drawn::<Kalah>(header, seats),
        Abapa::NAME => drawn::<Abapa>(header, seats),
        AnanAnan::NAME => drawn::<AnanAnan>(header, seats),
        ChineseLudo::NAME => drawn::<ChineseLudo>(header, seats),
        _ => None,
    };
    boards.unwrap_or_else(|| Box::new(Lines))
}

/// Positions of games of one ruleset.
pub(crate) trait Boards {
    /// The layout of the board.
    fn board(&self) -> Board;

    /// The initial position of a game and the changes of each ply.
    fn steps(
        &self,
        game: &dyn AnyGame,
        events: &[Event],
    ) -> Result<(Value, Vec<Step>), ReplayError>;
}

/// Collects plies. A chance outcome belongs to the ply that follows it.
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

    /// Adds a ply and the position after it.
    fn ply(&mut self, seat: Option<Seat>, name: &str, position: Vec<T>) {
        let changes = (0..position.len().max(self.position.len()))
            .filter(|&place| position.get(place) != self.position.get(place))
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

impl<G: Drawn> Boards for Drawing<G> {
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

impl Boards for Lines {
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
        // The board before an event is the board after the previous ply.
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

/// Writes an SVG element without content.
fn shape(out: &mut String, element: &str, class: &str, attributes: &[(&str, f32)]) {
    // Writing to a string cannot fail.
    let _ = write!(out, "<{element} class=\"{class}\"");
    for (name, value) in attributes {
        let _ = write!(out, " {name}=\"{value}\"");
    }
    out.push_str("/>");
}

/// Writes a square around a point.
fn square(art: &mut String, class: &str, (x, y): (f32, f32), side: f32) {
    let corner = [("x", x - side / 2.0), ("y", y - side / 2.0)];
    let size = [("width", side), ("height", side)];
    shape(art, "rect", class, &[corner, size].concat());
}

/// Writes SVG text centred on a point.
fn label(out: &mut String, class: &str, (x, y): (f32, f32), text: &str) {
    *out += &format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>");
}

#[cfg(test)]
mod tests;
