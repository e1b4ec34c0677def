//! The ruleset that is checked: one of this program, or a package.

use std::{fmt, sync::Arc};

use arena_engine::options::{OptionError, Options, Preset, Spec};
use arena_games::{AddedGame, GamesError, RulesetInfo, Visitor};
use arena_model::rules::{RulesDescription, RulesError};
use arena_worker::rules::{RulesCause, RulesHost};

use super::{CheckStep, RulesetStep};
use crate::{
    bench::{
        Measured,
        rules::{Way, measure, measure_game},
    },
    failure::{Failure, Outcome},
};

/// A ruleset to check.
pub enum Subject {
    /// A ruleset of this program.
    Listed(&'static RulesetInfo),
    /// A package, with its processes.
    Package(Box<Package>),
}

/// A package to check.
pub struct Package {
    host: Arc<RulesHost>,
    rules: RulesDescription,
    options: Vec<Spec>,
    presets: Vec<Preset>,
}

/// Why options do not make a game.
pub(super) enum OptionsError {
    /// The rules say that they do not go together.
    Excluded(String),
    /// Anything else.
    Other(String),
}

impl OptionsError {
    fn new(error: &OptionError, text: String) -> Self {
        match error {
            OptionError::Together(_) | OptionError::Seats { .. } => Self::Excluded(text),
            _ => Self::Other(text),
        }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Excluded(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

impl Subject {
    /// A package that has described itself.
    #[must_use]
    pub fn package(host: Arc<RulesHost>, rules: RulesDescription) -> Self {
        Self::Package(Box::new(Package {
            options: rules.options(),
            presets: rules.presets(),
            host,
            rules,
        }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Listed(info) => info.name,
            Self::Package(package) => &package.rules.name,
        }
    }

    pub(super) fn summary(&self) -> &str {
        match self {
            Self::Listed(info) => info.summary,
            Self::Package(package) => &package.rules.summary,
        }
    }

    pub(super) fn seats(&self) -> (usize, usize) {
        match self {
            Self::Listed(info) => info.seats,
            Self::Package(package) => package.rules.seats,
        }
    }

    pub(super) fn options(&self) -> &[Spec] {
        match self {
            Self::Listed(info) => &info.options,
            Self::Package(package) => &package.options,
        }
    }

    pub(super) fn presets(&self) -> &[Preset] {
        match self {
            Self::Listed(info) => &info.presets,
            Self::Package(package) => &package.presets,
        }
    }

    pub(super) fn resolve(
        &self,
        given: &Options,
        seats: usize,
    ) -> Result<(Options, usize), OptionsError> {
        match self {
            Self::Listed(info) => {
                arena_games::resolve_version(info.name, info.version, given, Some(seats)).map_err(
                    |error| match &error {
                        GamesError::Options { error: of, .. } => {
                            OptionsError::new(of, error.to_string())
                        }
                        _ => OptionsError::Other(error.to_string()),
                    },
                )
            }
            Self::Package(package) => {
                let resolved = package.rules.resolve(self.name(), given, Some(seats));
                resolved.map_err(|error| match &error {
                    RulesError::Options { error: of, .. } => {
                        OptionsError::new(of, error.to_string())
                    }
                    RulesError::Description(_) => OptionsError::Other(error.to_string()),
                })
            }
        }
    }

    /// Calls a visitor with a game of resolved options.
    pub(super) fn visit<V: Visitor>(
        &self,
        options: &Options,
        seats: usize,
        visitor: V,
    ) -> Result<V::Out, GamesError> {
        match self {
            Self::Listed(info) => {
                arena_games::visit_version(info.name, info.version, options, seats, visitor)
            }
            Self::Package(package) => {
                Ok(visitor.visit(package.host.game(&package.rules, options, seats)))
            }
        }
    }

    pub(super) fn measure(&self, way: Way, seconds: f64) -> Outcome<Measured> {
        match self {
            Self::Listed(info) => measure(info.name, info.seats.0, way, seconds),
            Self::Package(package) => {
                let seats = package.rules.seats.0;
                let resolved = package.rules.resolve("", &Options::new(), Some(seats));
                let (options, seats) = resolved.map_err(Failure::failed)?;
                let game = package
                    .host
                    .game_to_measure(&package.rules, &options, seats);
                let game = AddedGame::of(game);
                measure_game("package", seats, way, seconds, |games| games.visit(game))
            }
        }
    }

    /// The step that a package failed, and the reason.
    pub(super) fn failure(&self) -> Option<(RulesetStep, String)> {
        let Self::Package(package) = self else {
            return None;
        };
        let failure = package.host.failed()?;
        let step = match failure.cause {
            RulesCause::Host | RulesCause::Start => RulesetStep::Description,
            RulesCause::Answer => RulesetStep::Panics,
            RulesCause::Bounds => RulesetStep::Decisions,
            RulesCause::Length => RulesetStep::End,
            RulesCause::Purity => RulesetStep::Purity,
        };
        Some((step, failure.message))
    }

    /// What to do about a failed step.
    pub(super) fn remedy(&self, step: RulesetStep) -> &'static str {
        if let Self::Listed(_) = self {
            return step.remedy();
        }
        match step {
            RulesetStep::Description => "correct the answer to `describe`",
            RulesetStep::Options => "correct the bounds of the option",
            RulesetStep::Panics => "answer every question within 4 seconds, and with one line",
            RulesetStep::Decisions | RulesetStep::Chance => {
                "keep the bounds of services/games/PROTOCOL.md"
            }
            RulesetStep::Values => "make values add up to half a million for each seat",
            RulesetStep::Positions => "put everything that the game depends on into the state",
            RulesetStep::Purity => "use no clock, random number or memory outside the state",
            RulesetStep::Board => "draw at most 64 KiB of ASCII, or declare no `draws`",
            RulesetStep::End => "end the game, or raise `events_max`",
            RulesetStep::Ranks => "begin ranks at 1; a tie shares a rank",
            RulesetStep::Speed => "see the steps before",
        }
    }
}
