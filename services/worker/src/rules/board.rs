//! Boards that the package of the rules draws, within the bounds of the protocol.
//!
//! A board is for people alone. So a package that fails to draw fails nothing else: the board is left
//! out, with the reason.

use arena_engine::{Event, Game, Node};
use arena_model::printable_line;
use arena_wire::v1;

use super::{
    PackageGame,
    game::PackageState,
    messages::{Answer, Drawing},
};

/// Maximum bytes of a board as text.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum bytes of a board as SVG.
const SVG_BYTES_MAX: usize = 256 << 10;
/// Maximum bytes of a problem.
const PROBLEM_BYTES_MAX: usize = 200;

/// A board without anything, and why.
pub(crate) fn without(problem: impl AsRef<str>) -> v1::Board {
    let mut problem = printable_line(problem.as_ref()).into_owned();
    problem.truncate(problem.floor_char_boundary(PROBLEM_BYTES_MAX));
    v1::Board {
        problem,
        ..v1::Board::default()
    }
}

/// A drawing within the bounds: what exceeds them is left out, and named.
fn within_bounds(drawing: Drawing) -> v1::Board {
    let Drawing { mut text, mut svg } = drawing;
    let mut problem = String::new();
    if text.len() > TEXT_BYTES_MAX {
        let bytes = text.len();
        problem = format!("its text has {bytes} bytes, more than {TEXT_BYTES_MAX}");
        text.clear();
    }
    let bytes = text.len();
    // A terminal shows it: a control character could move the cursor or hide what was printed.
    text.retain(|letter| letter == '\n' || (' '..='~').contains(&letter));
    if text.len() < bytes {
        problem =
            "its text has characters that are not printable ASCII; they are left out".to_owned();
    }
    let refused = match svg.trim_start() {
        "" => None,
        _ if svg.len() > SVG_BYTES_MAX => {
            let bytes = svg.len();
            Some(format!(
                "its SVG has {bytes} bytes, more than {SVG_BYTES_MAX}"
            ))
        }
        begin if !begin.starts_with("<svg") => Some("its SVG does not begin with <svg".to_owned()),
        _ => None,
    };
    if let Some(refused) = refused {
        svg.clear();
        problem = refused;
    }
    v1::Board { text, svg, problem }
}

/// The events up to the board after a number of plies. Chance outcomes belong to the ply that follows
/// them, except at the end.
fn until(events: &[Event], plies: u64) -> &[Event] {
    let actions = events
        .iter()
        .enumerate()
        .filter(|(_, event)| event.is_action());
    let places = actions.map(|(place, _)| place);
    let places: Vec<usize> = places.collect();
    match usize::try_from(plies) {
        Ok(plies) if plies < places.len() => {
            let last = plies.checked_sub(1).map(|last| places[last]);
            &events[..last.map_or(0, |place| place + 1)]
        }
        _ => events,
    }
}

impl PackageGame {
    /// The board of a state.
    pub(super) fn board(&self, state: &PackageState) -> v1::Board {
        let known = match Self::found(state) {
            Ok(known) => known,
            Err(failure) => return without(&failure.message),
        };
        if !self.rules().draws {
            return without("the rules draw no boards");
        }
        let board = match self.draw_state(&known.state) {
            Ok(Answer::Drawing(drawing)) => within_bounds(drawing),
            Ok(Answer::Node(_)) => without("a node instead of a drawing"),
            Err(failure) => without(&failure.message),
        };
        if !board.problem.is_empty() {
            self.report_undrawn(&board.problem);
        }
        board
    }

    /// The board of a game after a number of plies; more plies than it has: at its end.
    pub(crate) fn board_after(&self, events: &[Event], plies: u64) -> v1::Board {
        let mut state = self.initial();
        let mut legal = Vec::new();
        for event in until(events, plies) {
            let id = event.id();
            match (self.node(&state), event.is_action()) {
                (Node::Decision(_), true) => {
                    self.legal(&state, &mut legal);
                    if !legal.contains(&id) {
                        return without("the rules do not allow the moves of the record");
                    }
                    self.apply(&mut state, id);
                }
                (Node::Chance(_), false) if usize::from(id) < self.weights(&state).len() => {
                    self.apply_outcome(&mut state, id);
                }
                // A state of rules that failed is over.
                _ => break,
            }
        }
        self.board(&state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: impl Into<String>, svg: impl Into<String>) -> v1::Board {
        within_bounds(Drawing {
            text: text.into(),
            svg: svg.into(),
        })
    }

    #[test]
    fn board_outside_the_bounds_is_left_out_and_named() {
        let picture = "\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
        let board = drawn("a\n b", picture);
        assert_eq!(
            (&*board.text, &*board.svg, &*board.problem),
            ("a\n b", picture, "")
        );

        let board = drawn("\u{1b}[2Ja\u{202e}\u{9b}b\r\n", picture);
        assert_eq!((&*board.text, &*board.svg), ("[2Jab\n", picture));
        assert!(board.problem.contains("not printable ASCII"), "{board:?}");

        let board = drawn("x".repeat(1 << 20), picture);
        assert_eq!((&*board.text, &*board.svg), ("", picture));
        assert!(
            board.problem.contains("1048576 bytes, more than 65536"),
            "{board:?}"
        );

        let large = format!("<svg>{}</svg>", "x".repeat(SVG_BYTES_MAX));
        let entities = "<!DOCTYPE svg [<!ENTITY a \"b\">]><svg/>";
        for (svg, problem) in [(&*large, "more than 262144"), (entities, "begin with <svg")] {
            let board = drawn("a", svg);
            assert_eq!((&*board.text, &*board.svg), ("a", ""));
            assert!(board.problem.contains(problem), "{board:?}");
        }
    }

    #[test]
    fn events_end_with_the_ply_that_is_shown() {
        let (dice, action) = (Event::chance(0), Event::action(1));
        let events = [dice, action, dice, dice, action, dice];
        let lengths = (0..5).map(|plies| until(&events, plies).len());
        assert_eq!(lengths.collect::<Vec<_>>(), [0, 2, 6, 6, 6]);
        assert_eq!(until(&events, u64::MAX).len(), 6);
        assert_eq!(until(&[dice], 0).len(), 1);
    }
}
