//! Shows a game move by move, drawn in place on a terminal.

use std::{
    io::{self, IsTerminal, Write},
    thread,
    time::Duration,
};

use arena_model::printable;
use arena_report::game::Frame;
use console::{Key, Style, Term};

use crate::failure::{Failure, Kind, Outcome};

/// Maximum delay before the next move.
const DELAY_MAX: Duration = Duration::from_secs(3600);

/// How a game is followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    /// True if the board is drawn before every move.
    pub watch: bool,
    /// Time after which the next move is drawn; without it, keys step through the game.
    pub delay: Option<Duration>,
}

/// Reads a delay, such as 500ms or 2s.
pub fn delay(text: &str) -> Result<Duration, String> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.trim().parse::<f64>();
    let seconds = seconds.map_err(|_| "expected a duration such as 500ms or 2s")?;
    let delay = Duration::try_from_secs_f64(seconds * scale).ok();
    let delay = delay.filter(|delay| *delay <= DELAY_MAX);
    delay.ok_or_else(|| format!("must be from 0 to {} s", DELAY_MAX.as_secs()))
}

impl Watch {
    /// True if the game is drawn in place instead of printed as a whole.
    #[must_use]
    pub fn in_place(&self) -> bool {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let keys = self.delay.is_some() || io::stdin().is_terminal();
        self.watch && keys && !dumb && io::stdout().is_terminal()
    }

    /// Draws the frames one after another in place.
    pub fn follow(&self, heading: &str, frames: &[Frame]) -> Outcome {
        let term = Term::stdout();
        let mut keys = || match self.delay {
            Some(delay) => {
                thread::sleep(delay);
                Ok(Step::Next)
            }
            None => term.read_key().map(step),
        };
        let failed = |error: io::Error| match error.kind() {
            // Ctrl-C while a key was read.
            io::ErrorKind::Interrupted => Failure::new(Kind::Interrupted, ""),
            _ => Failure::failed(format!("cannot draw the game: {error}")),
        };
        let mut draw = |text: &str, before: usize| -> io::Result<()> {
            if before > 0 {
                term.clear_last_lines(before)?;
            }
            (&term).write_all(printable(text).as_bytes())
        };
        walk(heading, frames, &mut keys, &mut draw).map_err(failed)
    }
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Next,
    Back,
    End,
    Stay,
}

fn step(key: Key) -> Step {
    match key {
        Key::Char(' ' | 'n' | 'l') | Key::Enter | Key::ArrowRight | Key::ArrowDown => Step::Next,
        Key::Char('b' | 'p' | 'h') | Key::ArrowLeft | Key::ArrowUp | Key::Backspace => Step::Back,
        Key::Char('q' | 'Q') | Key::Escape | Key::End => Step::End,
        _ => Step::Stay,
    }
}

/// Steps through the frames by keys, up to the last one.
fn walk(
    heading: &str,
    frames: &[Frame],
    keys: &mut dyn FnMut() -> io::Result<Step>,
    draw: &mut dyn FnMut(&str, usize) -> io::Result<()>,
) -> io::Result<()> {
    let last = frames.len().saturating_sub(1);
    let (mut at, mut lines) = (0, 0);
    while let Some(frame) = frames.get(at) {
        let text = format!("{heading}\n{}", drawn(frame, at, last));
        draw(&text, lines)?;
        lines = text.lines().count();
        if at == last {
            break;
        }
        at = match keys()? {
            Step::Next => at + 1,
            Step::Back => at.saturating_sub(1),
            Step::End => last,
            Step::Stay => at,
        };
    }
    Ok(())
}

/// A frame as text; each seat has its own colour.
fn drawn(frame: &Frame, at: usize, last: usize) -> String {
    let colours = [
        Style::new().cyan(),
        Style::new().yellow(),
        Style::new().green(),
        Style::new().magenta(),
    ];
    let line = match frame
        .seat
        .map(|seat| &colours[usize::from(seat) % colours.len()])
    {
        Some(colour) => colour.apply_to(&frame.line).to_string(),
        None => frame.line.clone(),
    };
    format!("{}{line}\n{at} of {last}\n", frame.board)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Frame> {
        let frame = |number: u8| Frame {
            board: format!("board {number}\n"),
            seat: Some(number % 2),
            line: format!("move {number}"),
        };
        (0..4).map(frame).collect()
    }

    /// The boards drawn for these keys, and the number of lines that each overwrites.
    fn walked(keys: &[Step]) -> (Vec<char>, Vec<usize>) {
        let (mut shown, mut over) = (Vec::new(), Vec::new());
        let mut keys = keys.iter().copied();
        let mut next = || Ok(keys.next().expect("a key"));
        let mut draw = |text: &str, before: usize| {
            let board = text.lines().nth(1).expect("a board");
            shown.extend(board.chars().last());
            over.push(before);
            Ok(())
        };
        walk("heading", &frames(), &mut next, &mut draw).expect("drawn");
        (shown, over)
    }

    #[test]
    fn keys_step_forward_back_and_to_the_end() {
        use Step::{Back, End, Next, Stay};
        assert_eq!(walked(&[Next, Next, Next]).0, ['0', '1', '2', '3']);
        assert_eq!(
            walked(&[Back, Next, Back, Stay, End]).0,
            ['0', '0', '1', '0', '0', '3']
        );
        assert_eq!(walked(&[End]).1, [0, 4], "drawn over the lines before");
        assert_eq!(step(Key::Enter), Next);
        assert_eq!(step(Key::Char('q')), End);
        assert_eq!(step(Key::Char('x')), Stay);
    }

    #[test]
    fn delays_parse_as_durations() {
        assert_eq!(delay("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(delay("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(delay("0.5"), Ok(Duration::from_millis(500)));
        assert!(delay("soon").is_err() && delay("-1s").is_err() && delay("2d").is_err());
    }
}
