//! Exports: columns, rows and file formats.

#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parts;
pub mod pgn;
pub mod sink;
pub mod table;
