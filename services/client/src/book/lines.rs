//! One opening a line: moves in the notation of the ruleset, separated by spaces.

use super::{Entry, Problem};

/// Calls `take` with each opening. Empty lines and lines that begin with `#` are skipped.
pub(super) fn each(
    text: &str,
    plies: usize,
    take: &mut dyn FnMut(Entry) -> Result<(), Problem>,
) -> Result<(), Problem> {
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words = line.split_whitespace().take(plies);
        take(Entry {
            line: number,
            start: None,
            moves: words.map(|word| (number, word.to_owned())).collect(),
        })?;
    }
    Ok(())
}
