//! Standings as tables, JSON and CSV.

pub mod audits;
pub mod columns;
pub mod csv;
pub mod datum;
pub mod rounds;
pub mod table;
pub mod verdict;
pub mod view;
