//! Extended Position Description: one position a line.

use super::{Entry, Problem, shown};

/// Calls `take` with each position. Empty lines and lines that begin with `#` or `;` are skipped.
pub(super) fn each(
    text: &str,
    take: &mut dyn FnMut(Entry) -> Result<(), Problem>,
) -> Result<(), Problem> {
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some(position) = position(line) else {
            let text = format!("\"{}\" is not a position in EPD or FEN", shown(line));
            return Problem::at(number, text);
        };
        take(Entry {
            line: number,
            start: Some(position),
            moves: Vec::new(),
        })?;
    }
    Ok(())
}

/// The position of a line in FEN. The clocks of FEN, or the operations `hmvc` and `fmvn`, may follow
/// the first four fields; other operations are ignored.
fn position(line: &str) -> Option<String> {
    let mut rest = line;
    let mut field = || {
        let (field, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        Some(field).filter(|field| !field.is_empty())
    };
    let fields = [field()?, field()?, field()?, field()?];
    let number = |text: &str| text.parse::<u32>().ok();
    let mut words = rest.split_whitespace();
    let clocks = [words.next().and_then(number), words.next().and_then(number)];
    let [quiet, full] = match clocks {
        [Some(quiet), Some(full)] => [quiet, full],
        _ => {
            let operation = |name: &str| {
                let of_name = |text: &str| text.trim().strip_prefix(name)?.trim().parse().ok();
                operations(rest).find_map(of_name)
            };
            [
                operation("hmvc ").unwrap_or(0),
                operation("fmvn ").unwrap_or(1),
            ]
        }
    };
    let [board, mover, castling, passing] = fields;
    Some(format!(
        "{board} {mover} {castling} {passing} {quiet} {full}"
    ))
}

/// The operations of a line. A semicolon in quotes belongs to its operation.
fn operations(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |letter| {
        quoted ^= letter == '"';
        letter == ';' && !quoted
    })
}
