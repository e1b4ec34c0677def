//! What holds however often one looks: tests that may end early, and intervals.

pub mod confidence;
pub mod gsprt;
