//! Standings as tables, JSON and CSV.

pub mod audits;
pub mod columns;
pub mod csv;
pub mod datum;
pub mod remarks;
pub mod rounds;
pub mod season;
pub mod sound;
pub mod table;
pub mod verdict;
pub mod view;
