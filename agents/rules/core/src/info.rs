//! What describes a game.

use arena_engine::options::Options;

use crate::Move;

/// Describes a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Name of the ruleset, such as `cowry`.
    pub ruleset: &'static str,
    /// Version of the rules.
    pub version: u32,
    /// All options with their values.
    pub options: Options,
    /// Number of players, 2 to 4.
    pub seats: usize,
    /// True if some position of the game is a chance node.
    pub has_chance: bool,
    /// The move that is a pass, if the ruleset has one.
    pub pass: Option<Move>,
}
