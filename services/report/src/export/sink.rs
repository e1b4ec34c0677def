//! Destinations of exports: stdout, or a file that is written completely or not at all.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
};

use arena_model::printable_json;
use serde_json::Value;

use super::table::{Cell, ExportColumn};
use crate::{
    error::{ReportError, Result},
    text::{self, csv_line},
    whole_file::WholeFile,
};

/// The bytes of an export.
pub enum Out {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A file that appears once it is complete.
    File(WholeFile),
}

impl Out {
    /// Opens a destination. `binary` output is refused on a terminal.
    pub fn open(file: Option<&Path>, binary: bool) -> Result<Self> {
        match file {
            Some(file) => Ok(Self::File(WholeFile::create(file)?)),
            None if binary && io::stdout().is_terminal() => Err(ReportError::usage(
                "Parquet cannot be printed on a terminal: use --out FILE",
            )),
            None => Ok(Self::Stdout(BufWriter::new(io::stdout()))),
        }
    }

    /// Appends text.
    pub fn text(&mut self, text: &str) -> Result {
        let written = self.write_all(text.as_bytes());
        written.map_err(|error| self.failed(&error))
    }

    /// Converts an I/O error, with the file's name. If the reader of stdout has closed it,
    /// the error is [`ReportError::Closed`].
    pub fn failed(&self, error: &io::Error) -> ReportError {
        match self {
            Self::Stdout(_) if error.kind() == io::ErrorKind::BrokenPipe => ReportError::Closed,
            Self::Stdout(_) => ReportError::failed(format!("cannot write to stdout: {error}")),
            Self::File(file) => file.failed(error),
        }
    }

    /// Completes the export.
    pub fn finish(mut self) -> Result {
        let flushed = self.flush();
        flushed.map_err(|error| self.failed(&error))?;
        match self {
            Self::Stdout(_) => Ok(()),
            Self::File(file) => file.finish(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => Write::write(file, bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// A destination of table rows.
pub trait Sink {
    /// The next rows are of this tournament.
    fn begin(&mut self, _tournament: &str) -> Result {
        Ok(())
    }

    /// Writes a row with one cell for each column, and takes its cells.
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result;

    /// Completes the table.
    fn finish(self: Box<Self>) -> Result;
}

/// Formats the column names as a CSV line.
pub fn csv_header(columns: &[ExportColumn]) -> String {
    csv_line(columns.iter().map(|column| &column.name))
}

/// Formats a row as a CSV line; null is empty. `raw` leaves formulas as they are.
pub fn csv_row(cells: impl IntoIterator<Item = Cell>, raw: bool) -> String {
    let text = |cell| match cell {
        Cell::Null => String::new(),
        Cell::Text(text) => text,
        other => match other.text() {
            Some(text) => text.to_owned(),
            None => other.to_string(),
        },
    };
    text::csv(cells.into_iter().map(text), raw)
}

/// Comma-separated values with a header.
pub struct Csv {
    out: Out,
    raw: bool,
}

impl Csv {
    /// A table; `raw` leaves formulas as they are.
    pub fn new(mut out: Out, columns: &[ExportColumn], raw: bool) -> Result<Self> {
        out.text(&csv_header(columns))?;
        Ok(Self { out, raw })
    }
}

impl Sink for Csv {
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        self.out.text(&csv_row(cells.drain(..), self.raw))
    }

    fn finish(self: Box<Self>) -> Result {
        self.out.finish()
    }
}

/// JSON lines: one object per row.
pub struct Jsonl {
    out: Out,
    /// Names of the columns as JSON.
    names: Vec<String>,
    line: String,
}

impl Jsonl {
    /// Lines with these columns.
    pub fn new(out: Out, columns: &[ExportColumn]) -> Self {
        let names = columns.iter();
        let names = names.map(|column| Value::from(column.name.as_str()).to_string());
        Self {
            out,
            names: names.collect(),
            line: String::new(),
        }
    }
}

impl Sink for Jsonl {
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        self.line.clear();
        for (name, cell) in self.names.iter().zip(cells.drain(..)) {
            let separator = if self.line.is_empty() { '{' } else { ',' };
            self.line += &format!("{separator}{name}:{cell}");
        }
        self.line.push_str("}\n");
        self.out.text(&printable_json(&self.line))
    }

    fn finish(self: Box<Self>) -> Result {
        self.out.finish()
    }
}
