//! Schedules games, lends them to workers, keeps their results and answers
//! questions about them. It never plays.

pub mod ledger;
