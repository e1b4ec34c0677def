//! What commands do: reach or start a coordinator, follow, export and archive tournaments, pack
//! and check agents, replay and rerun games, check stores, and measure this machine.
//!
//! The command line has the arguments and exit codes; this crate has the rest. Every
//! function reports errors as a [`failure::Failure`], which has an exit code.

pub mod access;
pub mod archive;
pub mod bench;
pub mod book;
pub mod check;
pub mod doctor;
pub mod embedded;
pub mod evolve;
pub mod export;
pub mod failure;
pub mod game;
pub mod human;
pub mod ids;
pub mod kits;
pub mod library;
pub mod output;
pub mod package;
pub mod paper_report;
pub mod plan;
pub mod progress;
pub mod registered;
pub mod rerun;
pub mod rules;
pub mod ruleset_check;
pub mod sample;
pub mod signals;
pub mod sources;
pub mod store;
pub mod workers;
