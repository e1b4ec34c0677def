//! Reports of a tournament: data gathered once from a coordinator and written as tables, a
//! page and files. Also the rows and texts of everything else that commands print.
//!
//! - [`gather()`] collects a [`Report`]; [`html`], [`markdown`] and [`junit`] write it.
//! - [`standings`] renders standings as tables, JSON and CSV, from one list of columns;
//!   [`estimates`] reads their estimates; [`rounds`] renders the
//!   pairings of Swiss tournaments and knockouts.
//! - [`export`] has the columns of exports, and writes CSV, JSON lines and Parquet.
//! - [`agents`], [`rulesets`], [`formats`], [`tournaments`], [`game`], [`tokens`] and [`differences`]
//!   show what a coordinator has: as a [`listing::Listing`], as text, and for programs.
//! - [`text`] fits tables to a terminal; [`units`] formats numbers.

pub mod agents;
mod board;
mod chart;
pub mod differences;
mod error;
pub mod estimates;
pub mod expectations;
pub mod export;
mod faults;
pub mod formats;
pub mod game;
pub mod game_list;
mod gather;
mod junit;
mod lead;
pub mod listing;
mod markdown;
mod page;
mod rated;
pub mod records;
mod report;
pub mod rounds;
pub mod ruleset_page;
pub mod rulesets;
pub mod running;
mod sample;
mod scan;
mod sequential;
pub mod standings;
pub mod state;
pub mod stepper;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tokens;
pub mod tournament_list;
pub mod tournaments;
pub mod units;
mod verdict;
pub mod whole_file;
mod words;

use arena_access::Connection;
use arena_wire::v1::coordinator_service_client::CoordinatorServiceClient;

pub use chart::escape;
pub use error::ReportError;
pub use gather::{expectations, expected, gather, gather_drawn};
pub use junit::junit;
pub use markdown::markdown;
pub use page::{html, live};
pub use report::Report;
pub use verdict::{Verdict, check};

/// A client of a coordinator.
pub type Client = CoordinatorServiceClient<Connection>;
