//! Construction of bots.

use arena_engine::{
    Game,
    options::{OptionError, Options},
};

use crate::bot::Bot;

/// A new bot, or the invalid option.
pub(crate) type BotResult<G> = Result<Box<dyn Bot<G>>, OptionError>;

/// Makes a bot for one type of game from resolved options.
pub(crate) type MakeBot<G> = fn(&Options, &G) -> BotResult<G>;

/// A bot that plays every type of game.
pub(crate) trait UniversalBot {
    /// Makes a bot from resolved options.
    fn make<G: Game>(options: &Options, game: &G) -> BotResult<G>;
}
