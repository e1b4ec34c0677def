//! Tests of the rules, in one binary.

mod added;
mod adjudication;
mod cases;
mod chess;
mod conformance;
mod cowry;
mod figures;
mod fuzz;
mod golden;
mod kalah;
mod ludo;
mod matches;
mod nodes;
mod openings;
mod oware;
mod positions;
mod rules;
mod substitutes;
mod support;
