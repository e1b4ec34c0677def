//! The list of rulesets, and getting a game from a name.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use arena_engine::{
    AnyGame, Game,
    options::{self, OptionError, Options, Value},
};

use crate::{
    added::{AddedGame, AddedRuleset, Typed, added},
    chess::Chess,
    cowry::Cowry,
    kalah::Kalah,
    ludo::ChineseLudo,
    oware::{Abapa, AnanAnan},
    ruleset::{Ruleset, RulesetInfo},
};

/// Why a ruleset or its options are not available.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GamesError {
    /// There is no ruleset of this name.
    #[error(
        "unknown ruleset \"{name}\"{}",
        nearest.as_ref().map_or_else(
            || format!("; there are {}", known.join(", ")),
            |nearest| format!(", did you mean \"{nearest}\"?"),
        )
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The known name nearest to it.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// This version of its rules is not kept.
    #[error(
        "{ruleset} version {version} is not available: this program has {}; use the arena that \
         played it",
        known.iter().map(|known| format!("version {known}")).collect::<Vec<_>>().join(", "),
    )]
    Version {
        /// Name of the ruleset.
        ruleset: &'static str,
        /// The requested version.
        version: u32,
        /// All available versions.
        known: Vec<u32>,
    },
    /// Its options are invalid.
    #[error("ruleset {ruleset}: {error}")]
    Options {
        /// Name of the ruleset.
        ruleset: &'static str,
        /// The problem.
        #[source]
        error: OptionError,
    },
}

/// A function of a game of any type.
pub trait Visitor {
    /// Its result.
    type Out;

    /// Calls it.
    fn visit<G: Game>(self, game: G) -> Self::Out;

    /// Calls it with the static type of an added game, if there is code for it
    /// ([`AddedRuleset::visited_by`]). A visitor with such code calls [`Typed::visit`]; by default, a
    /// visitor gets an [`AddedGame`].
    ///
    /// # Errors
    /// The visitor, if there is no such code.
    fn visit_added(
        self,
        _typed: &Typed,
        _options: &Options,
        _seats: usize,
    ) -> Result<Result<Self::Out, OptionError>, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

/// A function of every type of game, without a game.
pub trait EachGame {
    /// Calls it for one.
    fn game<G: Game>(&mut self);
}

/// Makes the list: one line per ruleset with its page. The games of the first part have a type each,
/// those of the second have the type of added games: code with a type parameter is not compiled for
/// them. In the third part are rulesets that are available and not listed: older versions, each after
/// its newer one.
macro_rules! rulesets {
    (
        $($game:ty => $page:literal,)* ;
        $($untyped:ty => $untyped_page:literal,)* ;
        $($(#[$condition:meta])* $unlisted:ty,)*
    ) => {
        static RULESETS: LazyLock<Vec<RulesetInfo>> = LazyLock::new(|| {
            let mut all = vec![
                $(<$game as Ruleset>::info(),)*
                $(<$untyped as Ruleset>::info(),)*
            ];
            all.extend(added().iter().map(|added| added.info.clone()));
            all.sort_by_key(|info| info.name);
            all
        });

        static UNLISTED: LazyLock<Vec<RulesetInfo>> =
            LazyLock::new(|| Vec::from([$($(#[$condition])* <$unlisted as Ruleset>::info(),)*]));

        static UNTYPED: LazyLock<Vec<AddedRuleset>> =
            LazyLock::new(|| vec![$(AddedRuleset::of::<$untyped>(),)*]);

        /// The names of all rulesets that are not added by the program.
        pub(crate) fn built_in() -> impl Iterator<Item = &'static str> {
            let listed = [$(<$game as Ruleset>::NAME,)* $(<$untyped as Ruleset>::NAME,)*];
            listed.into_iter().chain(UNLISTED.iter().map(|info| info.name))
        }

        /// The page of a built-in ruleset, in Markdown: rules, options, messages and an example game.
        #[must_use]
        pub fn page(name: &str) -> Option<&'static str> {
            $(
                if name == <$game as Ruleset>::NAME {
                    return Some(include_str!($page));
                }
            )*
            $(
                if name == <$untyped as Ruleset>::NAME {
                    return Some(include_str!($untyped_page));
                }
            )*
            None
        }

        /// Calls the visitor with each type of games. Chess and added rulesets share one.
        pub fn each_game(visitor: &mut impl EachGame) {
            $(visitor.game::<$game>();)*
            $($(#[$condition])* visitor.game::<$unlisted>();)*
            visitor.game::<AddedGame>();
        }

        /// Calls the visitor with the game of this name and version of its rules.
        ///
        /// # Errors
        /// [`GamesError`] if there is no such ruleset, or the options, which must be resolved,
        /// contradict each other.
        pub fn visit_version<V: Visitor>(
            name: &str,
            version: u32,
            options: &Options,
            seats: usize,
            visitor: V,
        ) -> Result<V::Out, GamesError> {
            ruleset_version(name, version)?;
            $(
                if is::<$game>(name, version) {
                    return Ok(visitor.visit(with_options::<$game>(options, seats)?));
                }
            )*
            $(
                $(#[$condition])*
                if is::<$unlisted>(name, version) {
                    return Ok(visitor.visit(with_options::<$unlisted>(options, seats)?));
                }
            )*
            let untyped = find_untyped(name).expect("every ruleset that has a description");
            let visited = untyped.visit(options, seats, visitor);
            visited.map_err(|error| untyped.fails(error))
        }
    };
}

rulesets! {
    ChineseLudo => "../docs/chinese-ludo.md",
    Cowry => "../docs/cowry.md",
    Kalah => "../docs/kalah.md",
    Abapa => "../docs/oware-abapa.md",
    AnanAnan => "../docs/oware-anan-anan.md",
    ;
    Chess => "../docs/chess.md",
    ;
    #[cfg(feature = "trial")]
    crate::testing::Trial<2>,
    #[cfg(feature = "trial")]
    crate::testing::Trial<1>,
}

fn find_untyped(name: &str) -> Option<&'static AddedRuleset> {
    let mut all = UNTYPED.iter().chain(added());
    all.find(|untyped| untyped.info.name == name)
}

fn is<G: Ruleset>(name: &str, version: u32) -> bool {
    (name, version) == (G::NAME, G::VERSION)
}

fn with_options<G: Ruleset>(options: &Options, seats: usize) -> Result<G, GamesError> {
    G::with_options(options, seats).map_err(|error| GamesError::Options {
        ruleset: G::NAME,
        error,
    })
}

/// All rulesets in the newest versions of their rules, in ascending order of names.
#[must_use]
pub fn rulesets() -> &'static [RulesetInfo] {
    &RULESETS
}

/// Older versions of rulesets, which are available and not listed.
#[must_use]
pub fn unlisted_rulesets() -> &'static [RulesetInfo] {
    &UNLISTED
}

fn all() -> impl Iterator<Item = &'static RulesetInfo> {
    RULESETS.iter().chain(&*UNLISTED)
}

/// The ruleset of a name in a version of its rules.
///
/// # Errors
/// [`GamesError::Unknown`] and [`GamesError::Version`].
pub fn ruleset_version(name: &str, version: u32) -> Result<&'static RulesetInfo, GamesError> {
    let of_name = || all().filter(|info| info.name == name);
    if let Some(info) = of_name().find(|info| info.version == version) {
        return Ok(info);
    }
    Err(GamesError::Version {
        ruleset: ruleset(name)?.name,
        version,
        known: of_name().map(|info| info.version).collect(),
    })
}

/// The ruleset of a name, in the newest version of its rules.
///
/// # Errors
/// [`GamesError::Unknown`].
pub fn ruleset(name: &str) -> Result<&'static RulesetInfo, GamesError> {
    all()
        .find(|info| info.name == name)
        .ok_or_else(|| GamesError::Unknown {
            name: name.to_owned(),
            nearest: options::nearest(name, rulesets().iter().map(|info| info.name)),
            known: rulesets().iter().map(|info| info.name.to_owned()).collect(),
        })
}

/// All options with their values, and the number of seats: the given one, else the preset's, else
/// the minimum of the ruleset.
///
/// # Errors
/// [`GamesError`] if something does not exist, is invalid, or cannot be combined.
pub fn resolve(
    name: &str,
    given: &Options,
    seats: Option<usize>,
) -> Result<(Options, usize), GamesError> {
    resolve_version(name, ruleset(name)?.version, given, seats)
}

/// As [`resolve`], for a version of the rules.
pub fn resolve_version(
    name: &str,
    version: u32,
    given: &Options,
    seats: Option<usize>,
) -> Result<(Options, usize), GamesError> {
    let info = ruleset_version(name, version)?;
    let fail = |error| GamesError::Options {
        ruleset: info.name,
        error,
    };
    let mut resolved = options::resolve(&info.options, &info.presets, given).map_err(fail)?;
    let mut chosen: BTreeSet<&str> = given.keys().map(String::as_str).collect();
    if let Some(Value::Text(preset)) = given.get("preset").filter(|_| !info.presets.is_empty()) {
        let preset = options::find_preset(&info.presets, preset).map_err(fail)?;
        chosen.extend(preset.options.keys().map(String::as_str));
    }
    (info.settle)(&mut resolved, &chosen);
    let seats = options::resolve_seats(info.name, info.seats, &info.presets, given, seats);
    let seats = seats.map_err(fail)?;
    build_version(name, version, &resolved, seats)?;
    Ok((resolved, seats))
}

/// The required options that have other values in a ruleset's resolved options.
///
/// # Errors
/// As [`resolve`].
pub fn unmet(name: &str, required: &Options, options: &Options) -> Result<Options, GamesError> {
    let (mut resolved, _) = resolve(name, required, None)?;
    resolved.retain(|option, value| {
        required.contains_key(option) && options.get(option) != Some(&*value)
    });
    Ok(resolved)
}

/// Calls the visitor with the game of this name, in the newest version of its rules.
///
/// # Errors
/// As [`visit_version`].
pub fn visit<V: Visitor>(
    name: &str,
    options: &Options,
    seats: usize,
    visitor: V,
) -> Result<V::Out, GamesError> {
    visit_version(name, ruleset(name)?.version, options, seats, visitor)
}

/// The game of a name with resolved options, in the newest version of its rules.
///
/// # Errors
/// As [`visit`].
pub fn build(name: &str, options: &Options, seats: usize) -> Result<Arc<dyn AnyGame>, GamesError> {
    build_version(name, ruleset(name)?.version, options, seats)
}

/// As [`build`], for a version of the rules.
///
/// # Errors
/// As [`visit_version`].
pub fn build_version(
    name: &str,
    version: u32,
    options: &Options,
    seats: usize,
) -> Result<Arc<dyn AnyGame>, GamesError> {
    if let Some(untyped) = find_untyped(name) {
        ruleset_version(name, version)?;
        return (untyped.build)(options, seats).map_err(|error| untyped.fails(error));
    }
    struct Erase;
    impl Visitor for Erase {
        type Out = Arc<dyn AnyGame>;

        fn visit<G: Game>(self, game: G) -> Self::Out {
            Arc::new(game)
        }
    }
    visit_version(name, version, options, seats, Erase)
}
