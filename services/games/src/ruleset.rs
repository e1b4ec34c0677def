//! What each ruleset provides: its description, and games made from options.

use std::collections::BTreeSet;

use arena_engine::{
    Game,
    options::{OptionError, Options, Preset, Spec},
};

/// A game that can be made from a name and options.
pub trait Ruleset: Game {
    /// See [`Game::name`].
    const NAME: &'static str;
    /// See [`Game::version`].
    const VERSION: u32;

    /// Describes the ruleset.
    fn info() -> RulesetInfo;

    /// Returns the game with these resolved options, for this many players.
    ///
    /// # Errors
    /// [`OptionError`] if options or seats contradict each other.
    fn with_options(options: &Options, seats: usize) -> Result<Self, OptionError>;
}

/// The description of a ruleset.
#[derive(Clone, Debug)]
pub struct RulesetInfo {
    /// Name, such as `cowry`.
    pub name: &'static str,
    /// Version of the rules.
    pub version: u32,
    /// One-line description.
    pub summary: &'static str,
    /// Minimum and maximum number of players.
    pub seats: (usize, usize),
    /// Its options, without `preset`.
    pub options: Vec<Spec>,
    /// Named sets of options.
    pub presets: Vec<Preset>,
    /// Sets the options whose values follow from other options. It gets all options with their
    /// values so far, and the names of the options that the user chose, directly or by a preset.
    /// Calling it twice has no further effect.
    pub settle: fn(&mut Options, &BTreeSet<&str>),
}
