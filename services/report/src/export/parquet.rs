//! Tables as Parquet: every column is nullable, the compression is zstd, and row groups
//! bound the memory.

use std::{io, mem, sync::Arc};

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

/// A Parquet file.
pub struct Parquet {
    writer: SerializedFileWriter<Out>,
    kinds: Vec<ColumnType>,
    /// Cells of the current row group, by column.
    kept: Vec<Vec<Cell>>,
}

impl Parquet {
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
        Ok(Self {
            writer: SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?,
            kinds: columns.iter().map(|column| column.kind).collect(),
            kept: vec![Vec::new(); columns.len()],
        })
    }

    fn write_group(&mut self) -> Result {
        let mut group = self.writer.next_row_group()?;
        for (kind, cells) in self.kinds.iter().zip(&mut self.kept) {
            write_column(&mut group, *kind, mem::take(cells))?;
        }
        group.close()?;
        Ok(())
    }
}

impl Sink for Parquet {
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        for (column, cell) in self.kept.iter_mut().zip(cells.drain(..)) {
            column.push(cell);
        }
        match self.kept.first() {
            Some(column) if column.len() >= GROUP_ROWS => self.write_group(),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result {
        if self.kept.first().is_some_and(|column| !column.is_empty()) {
            self.write_group()?;
        }
        self.writer.into_inner()?.finish()
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

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Out>,
    kind: ColumnType,
    cells: Vec<Cell>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".to_owned()));
    };
    // Definition level 1 means present, 0 means null.
    let levels = { cells.iter() }.map(|cell| i16::from(*cell != Cell::Null));
    let levels: Vec<i16> = levels.collect();
    let there = cells.into_iter().filter(|cell| *cell != Cell::Null);
    match kind {
        ColumnType::Int => {
            let values = there.map(|cell| match cell {
                Cell::Int(number) => number,
                _ => 0,
            });
            write::<Int64Type>(&mut column, values, &levels)?;
        }
        ColumnType::Real => {
            let values = there.map(|cell| match cell {
                Cell::Real(number) => number,
                // A whole number.
                Cell::Int(number) => number as f64,
                _ => 0.0,
            });
            write::<DoubleType>(&mut column, values, &levels)?;
        }
        ColumnType::Text | ColumnType::Key => {
            let mut last: Option<(Arc<str>, ByteArray)> = None;
            let values = there.map(|cell| match cell {
                Cell::Text(text) => ByteArray::from(text.into_bytes()),
                Cell::Name(text) => ByteArray::from(text),
                Cell::Shared(text) => match &last {
                    Some((known, value)) if Arc::ptr_eq(known, &text) => value.clone(),
                    _ => {
                        let value = ByteArray::from(&*text);
                        last = Some((text, value.clone()));
                        value
                    }
                },
                other => ByteArray::from(other.to_string().as_str()),
            });
            write::<ByteArrayType>(&mut column, values, &levels)?;
        }
        ColumnType::Bool => {
            let values = there.map(|cell| cell == Cell::Bool(true));
            write::<BoolType>(&mut column, values, &levels)?;
        }
    }
    column.close()
}

/// Writes the values that are not null.
fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = T::T>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = values.collect();
    column
        .typed::<T>()
        .write_batch(&values, Some(levels), None)
        .map(drop)
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
