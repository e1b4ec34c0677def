//! The list of bots, and ways to get from a name to a bot.

use std::{any::Any, sync::LazyLock};

use arena_engine::{
    Game,
    options::{self, OptionError, Options, Spec},
};
use arena_games::{Cowry, Kalah};

use crate::{bot::Bot, cowry, kalah, random::Random};

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
    Cowry(MakeFor<Cowry>),
    Kalah(MakeFor<Kalah>),
}

/// Makes a bot for one type of game, of resolved options.
type MakeFor<G> = fn(&Options, &G) -> Result<Box<dyn Bot<G>>, OptionError>;

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
#[rustfmt::skip]
static BOTS: LazyLock<Vec<BotInfo>> = LazyLock::new(|| {
    use cowry::{mixed_specs, tie_specs};
    vec![
        any("random", "uniform over the legal moves", Make::Random),
        quick("aggressive", "hits what costs most, else threatens, else random", cowry::aggressive, tie_specs()),
        quick("defensive", "leaves danger, seeks safe squares, avoids danger", cowry::defensive, tie_specs()),
        quick("move-first", "moves the most advanced piece", cowry::move_first, tie_specs()),
        quick("move-last", "moves the least advanced piece", cowry::move_last, tie_specs()),
        quick("mixed", "aggressive and defensive ideas in turn, or strategies drawn by weight", cowry::mixed, mixed_specs()),
        search("kalah-minimax", "looks all lines through to a depth", kalah::minimax, kalah::specs(6)),
        search("kalah-alphabeta", "as kalah-minimax, leaving out lines that cannot matter", kalah::alphabeta, kalah::specs(8)),
    ]
});

fn any(name: &'static str, summary: &'static str, make: Make) -> BotInfo {
    BotInfo {
        name,
        summary,
        rulesets: Vec::new(),
        options: Vec::new(),
        deterministic: true,
        searches: false,
        make,
    }
}

fn quick(
    name: &'static str,
    summary: &'static str,
    make: MakeFor<Cowry>,
    options: Vec<Spec>,
) -> BotInfo {
    BotInfo {
        rulesets: vec![Cowry::NAME],
        options,
        ..any(name, summary, Make::Cowry(make))
    }
}

fn search(
    name: &'static str,
    summary: &'static str,
    make: MakeFor<Kalah>,
    options: Vec<Spec>,
) -> BotInfo {
    BotInfo {
        rulesets: vec![Kalah::NAME],
        options,
        searches: true,
        ..any(name, summary, Make::Kalah(make))
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
    let made = match info.make {
        Make::Random => Some(Ok(Box::new(Random) as Box<dyn Bot<G>>)),
        Make::Cowry(make) => make_if_same(make, &options, game),
        Make::Kalah(make) => make_if_same(make, &options, game),
    };
    made.ok_or_else(|| BotError::Ruleset {
        bot: info.name,
        ruleset: G::NAME.to_owned(),
        plays: info.rulesets.clone(),
    })?
    .map_err(fail)
}

/// Makes a bot for games of type `H`; none where `G` is another type.
fn make_if_same<H: Game, G: Game>(
    make: MakeFor<H>,
    options: &Options,
    game: &G,
) -> Option<Result<Box<dyn Bot<G>>, OptionError>> {
    let game: &H = (game as &dyn Any).downcast_ref()?;
    match make(options, game) {
        Err(error) => Some(Err(error)),
        Ok(bot) => {
            let bot: Box<dyn Any> = Box::new(bot);
            let bot: Box<Box<dyn Bot<G>>> = bot.downcast().ok()?;
            Some(Ok(*bot))
        }
    }
}

#[cfg(test)]
mod tests;
