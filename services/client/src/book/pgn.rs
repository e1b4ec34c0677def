//! Portable Game Notation: the first moves of many games.

use super::{Entry, Problem, shown};

/// Calls `take` with the first moves of each game. Comments, variations and numeric annotations are
/// skipped.
pub(super) fn each(
    text: &str,
    plies: usize,
    take: &mut dyn FnMut(Entry) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut reader = Reader {
        rest: text,
        line: 1,
        is_line_start: true,
        plies,
        game: None,
        has_moves: false,
        depth: 0,
        number: 0,
        take,
    };
    while reader.step()? {}
    reader.end()
}

/// Position in a text.
struct Reader<'a, 'b> {
    rest: &'a str,
    line: usize,
    is_line_start: bool,
    plies: usize,
    /// The game so far.
    game: Option<Entry>,
    /// True if its moves have begun.
    has_moves: bool,
    /// Number of variations around this place.
    depth: usize,
    /// Number of games.
    number: usize,
    take: &'b mut dyn FnMut(Entry) -> Result<(), Problem>,
}

/// Signs that end a word.
const SIGNS: [char; 8] = ['{', '}', '(', ')', '[', ']', ';', '$'];

impl<'a> Reader<'a, '_> {
    /// Reads one token; false at the end.
    fn step(&mut self) -> Result<bool, Problem> {
        let Some(letter) = self.rest.chars().next() else {
            return Ok(false);
        };
        let starts_line = std::mem::replace(&mut self.is_line_start, letter == '\n');
        match letter {
            '\n' => {
                self.line += 1;
                self.skip(1);
            }
            _ if letter.is_whitespace() => self.skip(letter.len_utf8()),
            '%' if starts_line => self.skip_line(),
            ';' => self.skip_line(),
            '{' => self.skip_comment()?,
            '[' if self.depth == 0 => self.tag()?,
            '(' => {
                self.depth += 1;
                self.skip(1);
            }
            ')' if self.depth > 0 => {
                self.depth -= 1;
                self.skip(1);
            }
            '$' => {
                let rest = self.rest[1..].trim_start_matches(|digit: char| digit.is_ascii_digit());
                self.skip(self.rest.len() - rest.len());
            }
            '}' | ')' | ']' => {
                return Problem::at(self.line, format!("\"{letter}\" closes nothing"));
            }
            _ => {
                let end = |letter: char| letter.is_whitespace() || SIGNS.contains(&letter);
                let end = self.rest.find(end).unwrap_or(self.rest.len());
                // A "[" in a variation is no word.
                let word = &self.rest[..end.max(letter.len_utf8())];
                self.skip(word.len());
                if self.depth == 0 {
                    self.word(word)?;
                }
            }
        }
        Ok(true)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// Skips up to the end of the line.
    fn skip_line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(end);
    }

    fn skip_comment(&mut self) -> Result<(), Problem> {
        let Some(end) = self.rest.find('}') else {
            return Problem::at(
                self.line,
                "the comment that begins here has no end: \"}\" is missing",
            );
        };
        self.line += self.rest[..end].matches('\n').count();
        self.skip(end + 1);
        Ok(())
    }

    /// The game at this place, which may begin here.
    fn game(&mut self) -> &mut Entry {
        let line = self.line;
        self.game.get_or_insert_with(|| Entry {
            line,
            ..Entry::default()
        })
    }

    /// Reads a tag, such as `[FEN "…"]`. The first one after moves begins another game.
    fn tag(&mut self) -> Result<(), Problem> {
        if self.has_moves {
            self.end()?;
        }
        let line = self.rest.lines().next().unwrap_or_default();
        let Some((name, value, bytes)) = tag(line) else {
            return Problem::at(self.line, format!("\"{}\" is not a tag", shown(line)));
        };
        self.skip(bytes);
        let game = self.game();
        if name.eq_ignore_ascii_case("FEN") {
            game.start = Some(value);
        }
        Ok(())
    }

    /// Reads a word of the moves.
    fn word(&mut self, word: &'a str) -> Result<(), Problem> {
        if let "1-0" | "0-1" | "1/2-1/2" | "1/2" | "*" = word {
            self.game();
            return self.end();
        }
        let digits = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let word = match digits.trim_start_matches(['.', '…']) {
            step if step.len() < digits.len() || digits.is_empty() => step,
            _ => word,
        };
        let is_mark = word == "e.p." || word.trim_matches(['!', '?']).is_empty();
        if is_mark {
            return Ok(());
        }
        let (line, plies) = (self.line, self.plies);
        let game = self.game();
        if game.moves.len() < plies {
            game.moves.push((line, word.to_owned()));
        }
        self.has_moves = true;
        Ok(())
    }

    /// Passes on the game that ends here.
    fn end(&mut self) -> Result<(), Problem> {
        if self.depth > 0 {
            return Problem::at(self.line, "a variation has no end: \")\" is missing");
        }
        self.has_moves = false;
        let Some(game) = self.game.take() else {
            return Ok(());
        };
        self.number += 1;
        if game.moves.is_empty() && game.start.is_none() {
            let text = format!("game {} has neither a move nor the tag FEN", self.number);
            return Problem::at(game.line, text);
        }
        let number = self.number;
        (self.take)(game).map_err(|Problem { line, text }| Problem {
            line,
            text: format!("game {number}: {text}"),
        })
    }
}

/// Name and value of the tag at the start of a line, and its length in bytes.
fn tag(line: &str) -> Option<(&str, String, usize)> {
    let (name, value) = line.strip_prefix('[')?.split_once('"')?;
    let name = Some(name.trim()).filter(|name| !name.is_empty())?;
    let (text, after) = quoted(value).or_else(|| {
        // Some programs write quotes in a value without a backslash.
        let (text, after) = value.rsplit_once("\"]")?;
        Some((text.to_owned(), after))
    })?;
    Some((name, text, line.len() - after.len()))
}

/// The value of a tag up to its quote, and what follows the bracket.
fn quoted(value: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = value.chars();
    loop {
        match letters.next()? {
            '"' => break,
            '\\' => text.push(letters.next()?),
            letter => text.push(letter),
        }
    }
    let after = letters.as_str().trim_start().strip_prefix(']')?;
    Some((text, after))
}
