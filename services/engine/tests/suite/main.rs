//! The engine's promises, on a toy game.

mod matches;
mod options;
mod replays;
mod toy;
