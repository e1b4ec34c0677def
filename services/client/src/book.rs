//! Opening books from files: positions (EPD), games (PGN), or one opening a line.
//!
//! A file is read, checked with the rules, and becomes a list of openings in the spec. So a tournament
//! depends on the spec alone.

mod epd;
mod lines;
mod pgn;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, fs::File, io::Read, path::Path};

use arena_engine::{AnyGame, BOOK_PLIES_MAX, BookProblem, Stream};
use arena_model::{
    TournamentSeed, printable,
    spec::{BOOK_SEPARATOR_BYTES, BookOrder, book_fits},
};
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Outcome};

/// Maximum bytes of a file.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of characters that an error shows of a file.
const SHOWN_MAX: usize = 80;

/// An opening as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// The line on which it starts, from 1.
    line: usize,
    /// Its start position, if it names one.
    start: Option<String>,
    /// Its moves, each with its line.
    moves: Vec<(usize, String)>,
}

/// What is wrong at a line of a file.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    line: usize,
    text: String,
}

impl Problem {
    fn at<T>(line: usize, text: impl Into<String>) -> Result<T, Self> {
        let text = text.into();
        Err(Self { line, text })
    }
}

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub struct BookSettings {
    /// Maximum number of moves of an opening; none if all are taken.
    pub plies: Option<u32>,
    /// The order of the openings.
    pub order: BookOrder,
    /// The seed of the tournament, if it is known.
    pub seed: Option<TournamentSeed>,
}

/// The openings of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningFile {
    /// The openings as specs have them, in the order of the file.
    pub openings: Vec<String>,
    /// Number of openings of the file that lead to the position of an earlier one. They are left out.
    pub duplicates: usize,
    /// Number of openings that are left out because a spec has no room for them.
    pub left_out: usize,
}

/// The formats, by the ends of names of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFormat {
    Epd,
    Pgn,
    Lines,
}

impl FileFormat {
    fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*end {
            "epd" | "fen" => Some(Self::Epd),
            "pgn" => Some(Self::Pgn),
            "txt" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// Reads a book and checks each opening with the rules.
///
/// # Errors
/// A [`Failure`] that names the file, the line, and what is wrong there.
pub fn read(path: &Path, settings: BookSettings, game: &dyn AnyGame) -> Outcome<OpeningFile> {
    let shown = path.display();
    let failed =
        |problem: &dyn std::fmt::Display| Failure::usage(format!("book {shown}: {problem}"));
    let Some(format) = FileFormat::of(path) else {
        let ends = "its name has to end with .epd or .fen (positions), .pgn (games) or .txt (one \
                    opening a line)";
        return Err(failed(&ends));
    };
    if format != FileFormat::Lines && game.start_option().is_none() {
        let wrong = "EPD and PGN are formats for chess; for other rulesets, write a .txt file with the \
                     moves of one opening a line";
        return Err(failed(&wrong));
    }
    if format == FileFormat::Epd && settings.plies.is_some() {
        return Err(failed(
            &"book_plies has no effect, because EPD has no moves: remove it",
        ));
    }
    let text = content(path).map_err(|problem| failed(&problem))?;
    let openings = openings(&text, format, settings.plies, game);
    let (all, duplicates) = openings
        .map_err(|Problem { line, text }| Failure::usage(format!("book {shown}:{line}: {text}")))?;
    if all.is_empty() {
        return Err(failed(&"it has no openings"));
    }
    let found = all.len();
    let openings = those_that_fit(all, settings);
    Ok(OpeningFile {
        left_out: found - openings.len(),
        openings,
        duplicates,
    })
}

/// The text of a file.
fn content(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("cannot read it: {error}"))?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read it: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!(
            "it has more than {} MiB: use a part of it",
            FILE_BYTES_MAX >> 20
        ));
    }
    if let Some(place) = bytes.iter().position(|&byte| byte == 0) {
        let line = 1 + bytes[..place].iter().filter(|&&byte| byte == b'\n').count();
        return Err(format!(
            "line {line} has a null byte, so that it is not text"
        ));
    }
    // Names of players may have another encoding; moves and positions are ASCII.
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// The distinct openings of a text, and the number of others.
fn openings(
    text: &str,
    format: FileFormat,
    plies: Option<u32>,
    game: &dyn AnyGame,
) -> Result<(Vec<String>, usize), Problem> {
    let plies = plies.map_or(BOOK_PLIES_MAX, |plies| plies as usize);
    let mut known: HashSet<[u8; 32]> = HashSet::new();
    let mut found = Vec::new();
    let mut duplicates = 0;
    let mut take = |entry: Entry| {
        let read = game.read_opening(&entry.text());
        let read = read.or_else(|problem| entry.problem(&problem))?;
        match known.insert(Sha256::digest(&read.position).into()) {
            true => found.push(read.text),
            false => duplicates += 1,
        }
        Ok(())
    };
    match format {
        FileFormat::Epd => epd::each(text, &mut take)?,
        FileFormat::Pgn => pgn::each(text, plies, &mut take)?,
        FileFormat::Lines => lines::each(text, plies, &mut take)?,
    }
    Ok((found, duplicates))
}

impl Entry {
    /// The opening as specs have it.
    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(start) = &self.start {
            text = format!("[{start}]");
        }
        for (_, word) in &self.moves {
            text.push(' ');
            text.push_str(word);
        }
        text
    }

    fn problem<T>(&self, problem: &BookProblem) -> Result<T, Problem> {
        let line = match problem {
            BookProblem::Move { number, .. } => self.moves.get(*number),
            BookProblem::Over { plies, .. } => self.moves.get(plies.saturating_sub(1)),
            _ => None,
        };
        let line = line.map_or(self.line, |(line, _)| *line);
        let mut text = shown(&problem.to_string());
        if let (BookProblem::Over { .. }, false) = (problem, self.moves.is_empty()) {
            text += "; take fewer moves with book_plies";
        }
        Problem::at(line, text)
    }
}

/// A text of a file, for an error.
fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(SHOWN_MAX * 2).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    printable(&start).to_string() + more
}

/// As many openings as a spec has room for: the first ones, or some that the seed draws.
fn those_that_fit(mut openings: Vec<String>, settings: BookSettings) -> Vec<String> {
    let bytes = |opening: &String| opening.len() + BOOK_SEPARATOR_BYTES;
    if book_fits(openings.len(), openings.iter().map(bytes).sum()) {
        return openings;
    }
    let mut places: Vec<usize> = (0..openings.len()).collect();
    if settings.order == BookOrder::Random {
        let key = settings.seed.map(|seed| seed.openings());
        // A drawn seed is not known yet.
        let key = key.unwrap_or_else(|| Sha256::digest(openings.join("\n")).into());
        let mut stream = Stream::new(&key);
        for last in (1..places.len()).rev() {
            places.swap(last, stream.below(last as u32 + 1) as usize);
        }
    }
    let (mut number, mut sum) = (0, 0);
    places.retain(|&place| {
        (number, sum) = (number + 1, sum + bytes(&openings[place]));
        book_fits(number, sum)
    });
    places.sort_unstable();
    let taken = places.into_iter();
    taken
        .map(|place| std::mem::take(&mut openings[place]))
        .collect()
}
