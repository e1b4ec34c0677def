//! Data on stdout, in the requested format.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use arena_model::{printable, printable_json};
use clap::ValueEnum;
use serde::Serialize;

use crate::failure::{Failure, Kind, Outcome};
use arena_report::{
    listing::{Listing, columns},
    text::{self, fitted, wrapped},
};

pub use arena_report::listing::or_dash;

/// How data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A table, for reading.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON document per line.
    Jsonl,
    /// Comma-separated values with a header line.
    Csv,
}

/// Prints the rows of a list.
pub fn print<T: Serialize>(listing: &Listing<T>, format: Format) -> Outcome {
    match format {
        Format::Json => {
            let items: Vec<&T> = listing.rows.iter().map(|(_, item)| item).collect();
            json(&items)
        }
        Format::Jsonl => listing
            .rows
            .iter()
            .try_for_each(|(_, item)| json_line(item)),
        Format::Csv => write(&listing.csv()),
        Format::Table => write(&listing.table(width())),
    }
}

/// Width of a terminal in columns; `None` otherwise, so that every row stays on one line.
fn width_of(terminal: impl std::os::fd::AsFd) -> Option<usize> {
    let size = terminal_size::terminal_size_of(terminal);
    size.map(|(width, _)| usize::from(width.0).max(60))
}

/// Width in columns if stdout is a terminal; `None` otherwise.
pub fn width() -> Option<usize> {
    width_of(io::stdout())
}

/// A table with right-aligned numbers. Text wraps on a narrower terminal.
pub fn table<'a>(header: &[&str], rows: impl IntoIterator<Item = &'a Vec<String>>) -> String {
    fitted(columns(header, rows), width()).0
}

/// Formats lines below a table on stdout; wrapped between words on a terminal.
pub fn remark(line: &str) -> String {
    text::remark(line, width())
}

/// Prints one JSON value over several lines.
pub fn json(value: &impl Serialize) -> Outcome {
    document(&serde_json::to_string_pretty(value).map_err(Failure::failed)?)
}

/// Prints one JSON value on a line.
pub fn json_line(value: &impl Serialize) -> Outcome {
    document(&serde_json::to_string(value).map_err(Failure::failed)?)
}

/// Prints a JSON document. Its value stays the same; hidden characters become escapes.
pub fn document(json: &str) -> Outcome {
    write(&format!("{}\n", printable_json(json)))
}

/// Writes to stdout; hidden characters become escapes. If the reader has closed it (`| head`),
/// the program ends without an error, like any filter.
pub fn write(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out
        .write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Failure::failed(format!("cannot write to stdout: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Prints a message for the user on stderr.
pub fn note(text: impl std::fmt::Display) {
    let mut text = printable(&text.to_string()).into_owned();
    if let Some(width) = width_of(io::stderr()) {
        text = wrapped(&text, width, "  ");
    }
    // A closed stderr must not end a tournament.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints the reason of a failure on stderr. Returns the exit code.
pub fn report(failure: &Failure) -> ExitCode {
    let text = failure.to_string();
    if !text.is_empty() {
        match failure.kind() {
            Kind::Interrupted => note(text),
            _ => note(format!("error: {text}")),
        }
    }
    ExitCode::from(failure.kind() as u8)
}

/// True if more than one line may be drawn on stderr: plain text is not requested, and the
/// terminal can move the cursor.
pub fn drawable() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    interactive() && !set("NO_COLOR") && !dumb
}

/// True if stderr is a terminal that supports drawing.
pub fn interactive() -> bool {
    io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}
