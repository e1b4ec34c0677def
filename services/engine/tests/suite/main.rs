//! Tests of the engine with a toy game.

mod matches;
mod options;
mod replays;
mod toy;
