//! Sequential methods, valid for any number of looks: tests that may end early, and
//! intervals.

pub mod confidence;
pub mod gsprt;
