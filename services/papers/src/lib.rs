//! The published tables of the papers, played again and compared.
//!
//! A data file below `tables/` has the figures of a table and the protocol behind each of
//! them. [`TableRunner`] plays the protocol with bots of this process, the same games that a
//! coordinator schedules for the same spec, and compares each figure: a [`Finding`].

mod clock;
mod counts;
mod dependent;
mod error;
mod fields;
mod finding;
mod history;
mod library;
mod measure;
mod play;
mod quantity;
mod rules;
mod runner;
mod tables;
#[cfg(test)]
mod tests;

pub use counts::FindingCounts;
pub use error::PaperError;
pub use fields::Reproducibility;
pub use finding::{Agreement, Finding};
pub use library::{table, tables};
pub use runner::{TableResult, TableRunner};
pub use tables::{Matchup, Paper, PublishedTable, TableCell};
