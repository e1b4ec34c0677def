//! The rules of a check: a ruleset of this program, or a package.

use std::{fmt, path::PathBuf, sync::Arc};

use arena_engine::{
    AnyGame,
    options::{OptionError, Options, Preset, Spec},
};
use arena_games::{AddedGame, GamesError, RulesetInfo, Visitor};
use arena_model::rules::{RulesDescription, RulesError};
use arena_wire::{
    convert,
    v1::{self, agent::Source},
};
use arena_worker::{
    AgentOptions,
    rules::{RulesFailure, RulesHost, RulesSource},
};

use crate::{
    bench::{
        Measured,
        rules::{Way, measure, measure_game},
    },
    check::{FileCopy, Target},
    failure::{Failure, Outcome},
};

/// Rules that are checked, or by which games are played.
pub enum Rules {
    /// A ruleset of this program.
    Listed(&'static RulesetInfo),
    /// A package, with its processes.
    Package(Box<Package>),
}

/// A package of rules with its processes.
pub struct Package {
    name: String,
    file: PathBuf,
    /// Removes the file in the end, if it is a copy.
    _copy: Option<FileCopy>,
    binary: v1::BinarySource,
    host: Arc<RulesHost>,
    rules: RulesDescription,
    options: Vec<Spec>,
    presets: Vec<Preset>,
}

/// Why options do not make a game.
pub(crate) enum OptionsError {
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

/// Why a package cannot be used.
#[derive(Debug)]
pub enum PackageFailure {
    /// There is no package, or this machine cannot start it.
    Unusable(Failure),
    /// It does not describe itself.
    Rules(RulesFailure),
}

impl From<Failure> for PackageFailure {
    fn from(failure: Failure) -> Self {
        Self::Unusable(failure)
    }
}

impl From<std::io::Error> for PackageFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Unusable(error.into())
    }
}

/// One text, with the end of what the package printed.
impl From<PackageFailure> for Failure {
    fn from(failure: PackageFailure) -> Self {
        match failure {
            PackageFailure::Unusable(failure) => failure,
            PackageFailure::Rules(RulesFailure {
                message, output, ..
            }) => Self::differs(format!("the rules did not start: {message}\n{output}").trim_end()),
        }
    }
}

impl Rules {
    /// A package at a path. In a check of the rules, every call is asked of two processes.
    ///
    /// # Errors
    /// If there is none, or it does not describe itself.
    pub fn of_path(
        name: &str,
        path: PathBuf,
        args: Vec<String>,
        is_checked: bool,
    ) -> Result<Self, PackageFailure> {
        let found = Target::of_package(path, args).find()?;
        let (Source::Binary(binary), Some(copy)) = (found.source, found.file) else {
            return Err(Failure::usage("rules need a file or a folder").into());
        };
        Self::start(name, copy.path(), Some(copy), binary, is_checked)
    }

    /// A package that was fetched from a coordinator to a file; see [`Self::of_path`].
    ///
    /// # Errors
    /// If it does not describe itself.
    pub fn of_fetched(
        name: &str,
        file: PathBuf,
        binary: v1::BinarySource,
        is_checked: bool,
    ) -> Result<Self, PackageFailure> {
        Self::start(name, file, None, binary, is_checked)
    }

    fn start(
        name: &str,
        file: PathBuf,
        copy: Option<FileCopy>,
        binary: v1::BinarySource,
        is_checked: bool,
    ) -> Result<Self, PackageFailure> {
        let options = AgentOptions::of_executable(std::env::current_exe()?).confined();
        let source = RulesSource::of_binary(file.clone(), &binary);
        let host = match is_checked {
            true => RulesHost::for_check(name, source, &options)?,
            false => RulesHost::new(name, source, &options)?,
        };
        let rules = host.describe().map_err(PackageFailure::Rules)?;
        Ok(Self::Package(Box::new(Package {
            name: name.to_owned(),
            file,
            _copy: copy,
            binary,
            options: rules.options(),
            presets: rules.presets(),
            host,
            rules,
        })))
    }

    /// Its name, by which agents and users know it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Listed(info) => info.name,
            Self::Package(package) => &package.name,
        }
    }

    pub(crate) fn version(&self) -> u32 {
        match self {
            Self::Listed(info) => info.version,
            Self::Package(package) => package.rules.version,
        }
    }

    /// The package as a tournament has it.
    pub(crate) fn as_package(&self) -> Option<v1::RulesPackage> {
        let Self::Package(package) = self else {
            return None;
        };
        let mut rules = v1::RulesPackage {
            package: Some(package.binary.clone()),
            digest: String::new(),
            description: package.rules.to_json(),
            loaded: package.host.loaded().unwrap_or_default().to_vec(),
        };
        rules.digest = convert::rules_content(&rules);
        Some(rules)
    }

    /// The file of a package, with its SHA-256.
    pub(crate) fn file(&self) -> Option<(String, PathBuf)> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => Some((package.binary.sha256.clone(), package.file.clone())),
        }
    }

    /// The first failure of a package, if any.
    pub(crate) fn failure(&self) -> Option<RulesFailure> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => package.host.failed(),
        }
    }

    /// Most bytes of memory that a process of a package used, and its limit, as far as they are known.
    pub(crate) fn memory(&self) -> Option<(u64, u64)> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => package.host.memory(),
        }
    }

    /// Opens a game of a package with an option that it does not have. The error is why it was not refused.
    pub(crate) fn check_unknown_option(&self) -> Result<(), RulesFailure> {
        let Self::Package(package) = self else {
            return Ok(());
        };
        match self.resolve_default(&Options::new()) {
            Ok((options, seats)) => package.host.check_unknown_option(&options, seats),
            // The description has such defaults that there is no game.
            Err(_) => Ok(()),
        }
    }

    /// Asks a package that was checked about many states in one message. A difference is its failure.
    pub(crate) fn ask_together(&self) {
        if let Self::Package(package) = self
            && self.failure().is_none()
        {
            // The host keeps the failure.
            let _ = package.host.check_together();
        }
    }

    /// From now on, one of 100 questions to a package is asked of two processes, as in a tournament.
    pub(crate) fn compare_seldom(&self) {
        if let Self::Package(package) = self {
            package.host.compare_seldom();
        }
    }

    /// The first problem of a board of a package, if any.
    pub(crate) fn board_problem(&self) -> Option<String> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => package.host.board_problem(),
        }
    }

    pub(crate) fn summary(&self) -> &str {
        match self {
            Self::Listed(info) => info.summary,
            Self::Package(package) => &package.rules.summary,
        }
    }

    /// What the description of a package promises; none for a ruleset of this program.
    pub(crate) fn description(&self) -> Option<&RulesDescription> {
        match self {
            Self::Listed(_) => None,
            Self::Package(package) => Some(&package.rules),
        }
    }

    pub(crate) fn seats(&self) -> (usize, usize) {
        match self {
            Self::Listed(info) => info.seats,
            Self::Package(package) => package.rules.seats,
        }
    }

    pub(crate) fn options(&self) -> &[Spec] {
        match self {
            Self::Listed(info) => &info.options,
            Self::Package(package) => &package.options,
        }
    }

    pub(crate) fn presets(&self) -> &[Preset] {
        match self {
            Self::Listed(info) => &info.presets,
            Self::Package(package) => &package.presets,
        }
    }

    /// Options and seats of a game with this number of seats.
    pub(crate) fn resolve(
        &self,
        given: &Options,
        seats: usize,
    ) -> Result<(Options, usize), OptionsError> {
        self.resolve_for(given, Some(seats))
    }

    /// Options and seats of a game with the default number of seats.
    pub(crate) fn resolve_default(
        &self,
        given: &Options,
    ) -> Result<(Options, usize), OptionsError> {
        self.resolve_for(given, None)
    }

    fn resolve_for(
        &self,
        given: &Options,
        seats: Option<usize>,
    ) -> Result<(Options, usize), OptionsError> {
        match self {
            Self::Listed(info) => {
                arena_games::resolve_version(info.name, info.version, given, seats).map_err(
                    |error| match &error {
                        GamesError::Options { error: of, .. } => {
                            OptionsError::new(of, error.to_string())
                        }
                        _ => OptionsError::Other(error.to_string()),
                    },
                )
            }
            Self::Package(package) => {
                let resolved = package.rules.resolve(self.name(), given, seats);
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
    pub(crate) fn visit<V: Visitor>(
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

    pub(crate) fn measure(&self, way: Way, seconds: f64) -> Outcome<Measured> {
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

    /// The game with resolved options.
    pub(crate) fn build(
        &self,
        options: &Options,
        seats: usize,
    ) -> Result<Arc<dyn AnyGame>, GamesError> {
        match self {
            Self::Listed(info) => {
                arena_games::build_version(info.name, info.version, options, seats)
            }
            Self::Package(package) => {
                Ok(Arc::new(package.host.game(&package.rules, options, seats)))
            }
        }
    }
}
