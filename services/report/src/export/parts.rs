//! Tables as a folder of files: some for each tournament, each with a bounded number of rows, and
//! `manifest.json` last.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    sink::{Out, Sink},
    table::{Cell, ColumnType, ExportColumn},
};
use crate::{
    error::{ReportError, Result},
    whole_file::{self, WholeFile},
};

/// Name of the file that completes the folder.
pub const MANIFEST: &str = "manifest.json";

/// Opens the table of a part.
pub type OpenPart<'a> = dyn Fn(Out) -> Result<Box<dyn Sink>> + Send + 'a;

/// A folder of parts, `tournament_id=ID/part-00000.EXTENSION`, as DuckDB, polars and Spark read them.
pub struct Parts<'a> {
    folder: PathBuf,
    rows_most: u64,
    open: Box<OpenPart<'a>>,
    manifest: Manifest,
    /// The tournament of the next rows, and its number of parts.
    tournament: Option<(String, usize)>,
    part: Option<Box<dyn Sink>>,
}

/// What the folder contains.
#[derive(Serialize)]
struct Manifest {
    table: String,
    format: String,
    arena: &'static str,
    columns: Vec<Column>,
    rows: u64,
    files: Vec<Part>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    r#type: &'static str,
}

#[derive(Serialize)]
struct Part {
    path: String,
    tournament_id: String,
    rows: u64,
    bytes: u64,
    sha256: String,
}

impl<'a> Parts<'a> {
    /// Makes the folder, for parts with at most `rows_most` rows of `table` in `format`, which is also
    /// their extension.
    ///
    /// # Errors
    /// If the folder cannot be made, or contains something.
    pub fn create(
        folder: &Path,
        (table, format): (&str, &str),
        columns: &[ExportColumn],
        rows_most: u64,
        open: Box<OpenPart<'a>>,
    ) -> Result<Self> {
        let failed = |error| whole_file::failed(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        if fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(ReportError::usage(format!(
                "the folder {} is not empty: name a new one, or remove what it contains",
                folder.display()
            )));
        }
        let columns = columns.iter().map(|column| Column {
            name: column.name.clone(),
            r#type: match column.kind {
                ColumnType::Int => "int",
                ColumnType::Real => "real",
                ColumnType::Text | ColumnType::Key => "text",
                ColumnType::Bool => "bool",
            },
        });
        Ok(Self {
            folder: folder.to_owned(),
            rows_most,
            open,
            manifest: Manifest {
                table: table.to_owned(),
                format: format.to_owned(),
                arena: env!("CARGO_PKG_VERSION"),
                columns: columns.collect(),
                rows: 0,
                files: Vec::new(),
            },
            tournament: None,
            part: None,
        })
    }

    fn open_part(&mut self) -> Result {
        let Some((tournament, parts)) = &mut self.tournament else {
            return Ok(());
        };
        let folder = format!("tournament_id={tournament}");
        let path = format!("{folder}/part-{parts:05}.{}", self.manifest.format);
        *parts += 1;
        let folder = self.folder.join(folder);
        fs::create_dir_all(&folder).map_err(|error| whole_file::failed(&folder, &error))?;
        let file = self.folder.join(&path);
        self.part = Some((self.open)(Out::open(Some(&file), true)?)?);
        self.manifest.files.push(Part {
            path,
            tournament_id: tournament.clone(),
            rows: 0,
            bytes: 0,
            sha256: String::new(),
        });
        Ok(())
    }

    /// Completes the current part, and reads it again for its digest.
    fn close_part(&mut self) -> Result {
        let (Some(sink), Some(part)) = (self.part.take(), self.manifest.files.last_mut()) else {
            return Ok(());
        };
        sink.finish()?;
        let path = self.folder.join(&part.path);
        let digest = whole_file::sha256(&path).map_err(|error| {
            ReportError::failed(format!("cannot read {} again: {error}", path.display()))
        });
        (part.bytes, part.sha256) = digest?;
        self.manifest.rows += part.rows;
        Ok(())
    }
}

impl Sink for Parts<'_> {
    /// A tournament without rows has a part, too, so that readers find its columns.
    fn begin(&mut self, tournament: &str) -> Result {
        self.close_part()?;
        self.tournament = Some((tournament.to_owned(), 0));
        self.open_part()
    }

    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        let is_full = |part: &Part| part.rows >= self.rows_most;
        if self.manifest.files.last().is_some_and(is_full) {
            self.close_part()?;
            self.open_part()?;
        }
        if let (Some(sink), Some(part)) = (&mut self.part, self.manifest.files.last_mut()) {
            part.rows += 1;
            sink.row(cells)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result {
        self.close_part()?;
        let mut manifest =
            serde_json::to_vec_pretty(&self.manifest).map_err(ReportError::failed)?;
        manifest.push(b'\n');
        let mut file = WholeFile::create(&self.folder.join(MANIFEST))?;
        file.write(&manifest)?;
        file.finish()
    }
}
