//! The code of the fuzz targets, and inputs from real games.
//!
//! It does not need libFuzzer; each file of `targets` passes its bytes to it.

#![forbid(unsafe_code)]

pub mod decode;
pub mod parse;
pub mod play;
mod seeds;

mod bytes;
mod tables;

// The checks of every position in the rules' own tests are used here, too.
#[path = "../../services/games/tests/suite/cases.rs"]
mod cases;
#[path = "../../services/games/tests/suite/nodes.rs"]
mod nodes;
#[path = "../../services/games/tests/suite/positions.rs"]
mod positions;
#[path = "../../services/games/tests/suite/rules.rs"]
mod rules;

pub use seeds::write_if_asked;
