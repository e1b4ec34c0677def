//! The list of bots, and ways to get from a name to a bot.

use std::sync::LazyLock;

use arena_engine::{
    Game,
    options::{self, OptionError, Options, Spec},
};

use crate::{bot::Bot, random::Random};

/// What there is to know about a bot.
#[derive(Clone, Debug)]
pub struct BotInfo {
    /// Lower-case letters and dashes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The rulesets it plays; empty: any.
    pub rulesets: Vec<&'static str>,
    /// Its options.
    pub options: Vec<Spec>,
    /// True where the same decision always gets the same action.
    pub deterministic: bool,
    /// True where it looks ahead, so that an answer can take long.
    pub searches: bool,
    make: Make,
}

/// How a bot is made for its games.
#[derive(Clone, Copy, Debug)]
enum Make {
    Random,
}

/// A bot that cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BotError {
    /// There is no bot of this name.
    #[error(
        "unknown bot \"{name}\"{}",
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
        known: Vec<&'static str>,
    },
    /// It does not play this ruleset.
    #[error("bot {bot} does not play {ruleset}; it plays {}", plays.join(", "))]
    Ruleset {
        /// Name of the bot.
        bot: &'static str,
        /// What it was asked to play.
        ruleset: String,
        /// What it plays.
        plays: Vec<&'static str>,
    },
    /// Its options do not fit.
    #[error("bot {bot}: {error}")]
    Options {
        /// Name of the bot.
        bot: &'static str,
        /// What does not fit.
        #[source]
        error: OptionError,
    },
}

/// The list: one line a bot.
static BOTS: LazyLock<Vec<BotInfo>> = LazyLock::new(|| {
    vec![entry(
        "random",
        "uniform over the legal moves",
        &[],
        Vec::new(),
        Make::Random,
    )]
});

fn entry(
    name: &'static str,
    summary: &'static str,
    rulesets: &[&'static str],
    options: Vec<Spec>,
    make: Make,
) -> BotInfo {
    BotInfo {
        name,
        summary,
        rulesets: rulesets.to_vec(),
        options,
        deterministic: true,
        searches: false,
        make,
    }
}

/// All bots; the first is the default one of the server.
#[must_use]
pub fn bots() -> &'static [BotInfo] {
    &BOTS
}

/// The bot of a name.
///
/// # Errors
/// [`BotError::Unknown`].
pub fn bot_info(name: &str) -> Result<&'static BotInfo, BotError> {
    bots()
        .iter()
        .find(|info| info.name == name)
        .ok_or_else(|| BotError::Unknown {
            name: name.to_owned(),
            nearest: options::nearest(name, bots().iter().map(|info| info.name)),
            known: bots().iter().map(|info| info.name).collect(),
        })
}

/// Makes a bot that plays this game. Options that are not given have their
/// defaults.
///
/// # Errors
/// [`BotError`] where there is no such bot, it does not play the game, or an
/// option does not fit.
pub fn bot<G: Game>(name: &str, options: &Options, game: &G) -> Result<Box<dyn Bot<G>>, BotError> {
    let info = bot_info(name)?;
    let fail = |error| BotError::Options {
        bot: info.name,
        error,
    };
    let options = options::resolve(&info.options, &[], options).map_err(fail)?;
    let _ = (game, options);
    let made = match info.make {
        Make::Random => Some(Ok(Box::new(Random) as Box<dyn Bot<G>>)),
    };
    made.ok_or_else(|| BotError::Ruleset {
        bot: info.name,
        ruleset: G::NAME.to_owned(),
        plays: info.rulesets.clone(),
    })?
    .map_err(fail)
}
