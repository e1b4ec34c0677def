//! A ruleset with its options and seats.

use std::{fmt, sync::Arc};

use arena_engine::{Game as Rules, options::Options};
use arena_games::{Visitor, resolve_version, ruleset, visit_version};

use crate::{
    Info, RulesError, State, json,
    position::{AnyRules, TypedRules},
};

/// A ruleset with its options and seats. It never changes, and is cheap to clone.
#[derive(Clone)]
pub struct Game(Arc<dyn AnyRules>);

struct Make(Info);

impl Visitor for Make {
    type Out = Game;

    fn visit<G: Rules>(self, game: G) -> Game {
        let info = Info {
            ruleset: game.name(),
            has_chance: game.has_chance(),
            pass: game.pass(),
            ..self.0
        };
        Game(Arc::new(TypedRules { game, info }))
    }
}

impl Game {
    /// The game of a ruleset, in the newest version of its rules.
    ///
    /// Options that are not given have the values of the option `preset` if it is given, else
    /// their defaults. Values may be text, as in a `game` message. Without `seats`, the game has
    /// those of the preset, else the minimum of the ruleset.
    ///
    /// # Errors
    /// [`RulesError::Game`] if something does not exist, is invalid, or cannot be combined.
    pub fn new(name: &str, options: &Options, seats: Option<usize>) -> Result<Self, RulesError> {
        Self::with_version(name, ruleset(name)?.version, options, seats)
    }

    /// As [`Game::new`], for a version of the rules.
    ///
    /// # Errors
    /// As [`Game::new`].
    pub fn with_version(
        name: &str,
        version: u32,
        options: &Options,
        seats: Option<usize>,
    ) -> Result<Self, RulesError> {
        let (options, seats) = resolve_version(name, version, options, seats)?;
        let make = Make(Info {
            ruleset: "",
            version,
            options: options.clone(),
            seats,
            has_chance: false,
            pass: None,
        });
        Ok(visit_version(name, version, &options, seats, make)?)
    }

    /// As [`Game::new`], with options as a JSON object, such as `{"pits":"6"}`; empty text means
    /// no options. Without `version`, the newest version of the rules is taken.
    ///
    /// # Errors
    /// [`RulesError::Options`], and as [`Game::new`].
    pub fn from_json(
        name: &str,
        options: &str,
        seats: Option<usize>,
        version: Option<u32>,
    ) -> Result<Self, RulesError> {
        let options = json::options(options)?;
        let version = version.map_or_else(|| ruleset(name).map(|info| info.version), Ok)?;
        Self::with_version(name, version, &options, seats)
    }

    /// Describes the game.
    #[must_use]
    pub fn info(&self) -> &Info {
        self.0.info()
    }

    /// The initial state. It may be a chance node.
    #[must_use]
    pub fn initial(&self) -> State {
        State::new(Arc::clone(&self.0).initial())
    }

    /// The state of a position in its protobuf message, such as `Decision.position`.
    ///
    /// # Errors
    /// [`RulesError::Position`] if the bytes are no position of this game.
    pub fn decode(&self, bytes: &[u8]) -> Result<State, RulesError> {
        Ok(State::new(Arc::clone(&self.0).decode(bytes)?))
    }

    /// The state of a position as JSON, such as the `position` of an `ask` message. Fields that
    /// are missing are zero; fields that the position does not have are ignored.
    ///
    /// # Errors
    /// [`RulesError::Json`] and [`RulesError::Position`] if it is no position of this game.
    pub fn state_from_json(&self, text: &str) -> Result<State, RulesError> {
        let ruleset = self.info().ruleset;
        let bytes = json::to_message(ruleset, text)
            .map_err(|reason| RulesError::Json { ruleset, reason })?;
        self.decode(&bytes)
    }
}

impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt(f)
    }
}
