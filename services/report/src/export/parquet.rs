//! Tables as Parquet: every column is nullable, the compression is zstd, and row groups
//! bound the memory.

use std::{
    io, mem,
    ops::Range,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::{ColumnPath, Type},
};
use tonic::codegen::Bytes;

use super::{
    sink::{Out, Sink},
    table::{Cell, ColumnType, ExportColumn},
};
use crate::{
    error::{ReportError, Result},
    whole_file,
};

/// Rows per row group.
const GROUP_ROWS: usize = 1 << 14;

/// A Parquet file. A thread of its own encodes and writes row groups while the next one is collected.
pub struct Parquet {
    /// The columns of the current row group.
    columns: Vec<Column>,
    rows: usize,
    /// The next row group for the writer; none completes the file. Without the latter, there is no file.
    groups: Option<SyncSender<Option<Vec<Column>>>>,
    writer: Option<JoinHandle<Result>>,
}

impl Parquet {
    /// A file with these columns and no rows.
    ///
    /// # Errors
    /// If the columns are no schema of Parquet, or the system refuses a thread.
    pub fn new(out: Out, columns: &[ExportColumn]) -> Result<Self> {
        let fields = columns.iter().map(|column| field(column).map(Arc::new));
        let schema = Type::group_type_builder("arena")
            .with_fields(fields.collect::<Result<_>>()?)
            .build()?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("arena {}", env!("CARGO_PKG_VERSION")));
        for column in columns {
            let path = ColumnPath::from(column.name.clone());
            // The least and greatest texts of a part say little about it.
            if matches!(column.kind, ColumnType::Text | ColumnType::Key) {
                let none = EnabledStatistics::None;
                properties = properties.set_column_statistics_enabled(path.clone(), none);
            }
            if column.kind == ColumnType::Key {
                properties = properties.set_column_dictionary_enabled(path, false);
            }
        }
        let properties = properties.build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        // One group waits at most, so that memory is bounded.
        let (groups, written) = mpsc::sync_channel(1);
        Ok(Self {
            columns: columns.iter().map(|it| Column::new(it.kind)).collect(),
            rows: 0,
            groups: Some(groups),
            writer: Some(thread::spawn(move || write_groups(writer, written))),
        })
    }

    /// Gives the current row group to the writer.
    fn end_group(&mut self) -> Result {
        let next = self.columns.iter().map(Column::next_group).collect();
        self.rows = 0;
        let columns = mem::replace(&mut self.columns, next);
        match self.send(Some(columns)) {
            true => Ok(()),
            false => self.join(),
        }
    }

    /// False if the writer has ended.
    fn send(&self, columns: Option<Vec<Column>>) -> bool {
        let groups = self.groups.as_ref();
        groups.is_some_and(|groups| groups.send(columns).is_ok())
    }

    /// Waits for the writer, which ends with the last row group or an error.
    fn join(&mut self) -> Result {
        self.groups = None;
        let stopped = |_| Err(ReportError::failed("the writer of Parquet stopped"));
        let writer = self.writer.take();
        writer.map_or(Ok(()), |writer| writer.join().unwrap_or_else(stopped))
    }
}

impl Drop for Parquet {
    /// Removes a file that is not complete.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// Writes row groups, and completes the file after the last one.
fn write_groups(
    mut writer: SerializedFileWriter<Out>,
    groups: Receiver<Option<Vec<Column>>>,
) -> Result {
    for columns in groups {
        let Some(columns) = columns else {
            return writer.into_inner()?.finish();
        };
        let mut group = writer.next_row_group()?;
        for column in columns {
            column.write(&mut group)?;
        }
        group.close()?;
    }
    Ok(())
}

impl Sink for Parquet {
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        for (column, cell) in self.columns.iter_mut().zip(cells.drain(..)) {
            column.push(cell);
        }
        self.rows += 1;
        match self.rows {
            GROUP_ROWS.. => self.end_group(),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result {
        if self.rows > 0 {
            self.end_group()?;
        }
        // If the writer has failed, it says why.
        self.send(None);
        self.join()
    }
}

fn field(column: &ExportColumn) -> Result<Type> {
    let (physical, logical) = match column.kind {
        ColumnType::Int => (Physical::INT64, None),
        ColumnType::Real => (Physical::DOUBLE, None),
        ColumnType::Text | ColumnType::Key => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Bool => (Physical::BOOLEAN, None),
    };
    Ok(Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()?)
}

/// The cells of a column in the current row group.
struct Column {
    /// Definition levels: 1 means present, 0 means null.
    levels: Vec<i16>,
    /// Those that are present.
    values: Values,
}

enum Values {
    Int(Vec<i64>),
    Real(Vec<f64>),
    Text(Texts),
    Bool(Vec<bool>),
}

/// Texts in one buffer: allocations of their own, freed by another thread, would take most of the time.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    /// The place of each text.
    places: Vec<Range<usize>>,
    /// The last text of many rows.
    shared: Option<(Arc<str>, Range<usize>)>,
}

impl Texts {
    fn add(&mut self, text: &str) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        start..self.bytes.len()
    }

    fn push(&mut self, cell: Cell) {
        let place = match cell {
            Cell::Shared(text) => match &self.shared {
                Some((known, place)) if Arc::ptr_eq(known, &text) => place.clone(),
                _ => {
                    let place = self.add(&text);
                    self.shared = Some((text, place.clone()));
                    place
                }
            },
            other => match other.text() {
                Some(text) => self.add(text),
                None => self.add(&other.to_string()),
            },
        };
        self.places.push(place);
    }

    /// The texts, which share the buffer.
    fn into_values(self) -> Vec<ByteArray> {
        let bytes = Bytes::from(self.bytes);
        let places = self.places.into_iter();
        places.map(|place| bytes.slice(place).into()).collect()
    }
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        Self {
            levels: Vec::new(),
            values: match kind {
                ColumnType::Int => Values::Int(Vec::new()),
                ColumnType::Real => Values::Real(Vec::new()),
                ColumnType::Text | ColumnType::Key => Values::Text(Texts::default()),
                ColumnType::Bool => Values::Bool(Vec::new()),
            },
        }
    }

    /// An empty column for the next row group.
    fn next_group(&self) -> Self {
        Self::new(match self.values {
            Values::Int(_) => ColumnType::Int,
            Values::Real(_) => ColumnType::Real,
            Values::Text(_) => ColumnType::Text,
            Values::Bool(_) => ColumnType::Bool,
        })
    }

    fn push(&mut self, cell: Cell) {
        if cell.is_null() {
            return self.levels.push(0);
        }
        self.levels.push(1);
        match &mut self.values {
            Values::Int(values) => values.push(match cell {
                Cell::Int(number) => number,
                _ => 0,
            }),
            Values::Real(values) => values.push(match cell {
                Cell::Real(number) => number,
                // A whole number.
                Cell::Int(number) => number as f64,
                _ => 0.0,
            }),
            Values::Bool(values) => values.push(cell == Cell::Bool(true)),
            Values::Text(texts) => texts.push(cell),
        }
    }

    /// Writes the cells.
    fn write(self, group: &mut SerializedRowGroupWriter<'_, Out>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column too many".to_owned()));
        };
        let levels = &self.levels;
        match self.values {
            Values::Int(values) => write::<Int64Type>(&mut column, &values, levels)?,
            Values::Real(values) => write::<DoubleType>(&mut column, &values, levels)?,
            Values::Text(texts) => {
                write::<ByteArrayType>(&mut column, &texts.into_values(), levels)?;
            }
            Values::Bool(values) => write::<BoolType>(&mut column, &values, levels)?,
        }
        column.close()
    }
}

/// Writes the values that are not null.
fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    column
        .typed::<T>()
        .write_batch(values, Some(levels), None)?;
    Ok(())
}

impl From<ParquetError> for ReportError {
    fn from(error: ParquetError) -> Self {
        let ParquetError::External(cause) = error else {
            return Self::failed(format!("cannot write Parquet: {error}"));
        };
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let remedy = match io {
            Some(io::ErrorKind::StorageFull) => whole_file::DISK_FULL,
            _ => "",
        };
        Self::failed(format!("cannot write Parquet: {cause}{remedy}"))
    }
}
