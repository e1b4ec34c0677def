//! Tests that may end early.

pub mod gsprt;
