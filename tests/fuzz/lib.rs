//! What the fuzz targets do with bytes, and inputs from real games to begin with.
//!
//! Nothing here needs libFuzzer; each file of `targets` hands its bytes on.

#![forbid(unsafe_code)]

pub mod decode;
pub mod parse;
pub mod play;
mod seeds;

mod bytes;
mod tables;

// What the rules' own tests check in every position is checked here too.
#[path = "../../services/games/tests/suite/cases.rs"]
mod cases;
#[path = "../../services/games/tests/suite/nodes.rs"]
mod nodes;
#[path = "../../services/games/tests/suite/positions.rs"]
mod positions;
#[path = "../../services/games/tests/suite/rules.rs"]
mod rules;

pub use seeds::write_if_asked;
