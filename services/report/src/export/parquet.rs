//! Tables as Parquet: every column is nullable, the compression is zstd, and row groups
//! bound the memory.

use std::{io, sync::Arc};

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
    /// The columns of the current row group.
    columns: Vec<Column>,
    rows: usize,
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
            columns: columns.iter().map(|it| Column::new(it.kind)).collect(),
            rows: 0,
        })
    }

    fn write_group(&mut self) -> Result {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Sink for Parquet {
    fn row(&mut self, cells: &mut Vec<Cell>) -> Result {
        for (column, cell) in self.columns.iter_mut().zip(cells.drain(..)) {
            column.push(cell);
        }
        self.rows += 1;
        match self.rows {
            GROUP_ROWS.. => self.write_group(),
            _ => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result {
        if self.rows > 0 {
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

/// The cells of a column in the current row group.
struct Column {
    /// Definition levels: 1 means present, 0 means null.
    levels: Vec<i16>,
    /// Those that are present.
    values: Values,
    /// The last text of many rows.
    shared: Option<(Arc<str>, ByteArray)>,
}

enum Values {
    Int(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
    Bool(Vec<bool>),
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        Self {
            levels: Vec::new(),
            values: match kind {
                ColumnType::Int => Values::Int(Vec::new()),
                ColumnType::Real => Values::Real(Vec::new()),
                ColumnType::Text | ColumnType::Key => Values::Text(Vec::new()),
                ColumnType::Bool => Values::Bool(Vec::new()),
            },
            shared: None,
        }
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
            Values::Text(values) => values.push(match cell {
                Cell::Text(text) => ByteArray::from(text.into_bytes()),
                Cell::Shared(text) => match &self.shared {
                    Some((known, value)) if Arc::ptr_eq(known, &text) => value.clone(),
                    _ => {
                        let value = ByteArray::from(&*text);
                        self.shared = Some((text, value.clone()));
                        value
                    }
                },
                other => match other.text() {
                    Some(text) => ByteArray::from(text),
                    None => ByteArray::from(other.to_string().as_str()),
                },
            }),
        }
    }

    /// Writes the cells, and forgets them.
    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, Out>) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column too many".to_owned()));
        };
        let levels = &self.levels;
        match &mut self.values {
            Values::Int(values) => write::<Int64Type>(&mut column, values, levels)?,
            Values::Real(values) => write::<DoubleType>(&mut column, values, levels)?,
            Values::Text(values) => write::<ByteArrayType>(&mut column, values, levels)?,
            Values::Bool(values) => write::<BoolType>(&mut column, values, levels)?,
        }
        self.levels.clear();
        column.close()
    }
}

/// Writes the values that are not null, and forgets them.
fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    column
        .typed::<T>()
        .write_batch(values, Some(levels), None)?;
    values.clear();
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
