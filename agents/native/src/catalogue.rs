//! The list of bots, and ways to get from a name to a bot.

use std::{
    any::Any,
    marker::PhantomData,
    sync::{Arc, LazyLock},
};

use arena_engine::{
    Game,
    options::{self, OptionError, Options, Spec},
};
use arena_games::{EachRuleset, GamesError, Ruleset, Visitor};

use crate::{
    baseline,
    bot::Bot,
    chowka, cowry, kalah, ludo,
    make::{MakeBot, UniversalBot},
    oware,
    random::Random,
};

/// The version of all bots, which identifies them in tournaments. It is raised whenever
/// a bot plays differently, also between releases; a test holds it to what they play.
pub const VERSION: &str = "0.1.0";

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
    /// Whether the action depends on the seed, with the defaults of all options.
    pub uses_seed: bool,
    /// True where it looks ahead, so that an answer can take long.
    pub searches: bool,
    /// A [`MakeBot`] for each type of game that it plays.
    makers: Vec<Arc<dyn Any + Send + Sync>>,
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

/// A bot and a ruleset that do not go together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The bot cannot be had for this game.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The game cannot be had.
    #[error(transparent)]
    Game(#[from] GamesError),
}

/// The list: one line a bot. `plays` takes the function that makes it for one
/// type of game, once for each type; `plays_all` the type of a bot for all.
#[rustfmt::skip]
static BOTS: LazyLock<Vec<BotInfo>> = LazyLock::new(|| {
    use cowry::{mixed_specs, tie_specs};
    vec![
        info("random", "uniform over the legal moves").draws().plays_all::<Random>(),
        info("aggressive", "hits what costs most, else threatens, else random").draws().options(tie_specs()).plays(cowry::aggressive),
        info("defensive", "leaves danger, seeks safe squares, avoids danger").draws().options(tie_specs()).plays(cowry::defensive),
        info("move-first", "moves the most advanced piece").draws().options(tie_specs()).plays(cowry::move_first).plays(ludo::move_first),
        info("move-last", "moves the least advanced piece").draws().options(tie_specs()).plays(cowry::move_last).plays(ludo::move_last),
        info("mixed", "aggressive and defensive ideas in turn, or strategies drawn by weight").draws().options(mixed_specs()).plays(cowry::mixed),
        info("chowka-naive", "the move of the greatest worth by one of four heuristics (2 seats, board 5)").options(chowka::naive_specs()).plays(chowka::naive),
        info("chowka-expectiminimax", "as chowka-naive, one throw and move of each player further (2 seats, board 5)").options(chowka::expectiminimax_specs()).plays(chowka::expectiminimax),
        info("chowka-random-dup", "uniform over the legal moves, those on the inner rings counted twice").draws().options(chowka::random_dup_specs()).plays(chowka::random_dup),
        info("kalah-minimax", "looks all lines through to a depth").options(kalah::minimax_specs()).plays(kalah::minimax).searches(),
        info("kalah-alphabeta", "as kalah-minimax, leaving out lines that cannot matter").options(kalah::alphabeta_specs()).plays(kalah::alphabeta).searches(),
        info("ludo-threat", "weighs squares, hits and threats (Threat Matrix)").options(ludo::specs()).plays(ludo::threat),
        info("oware-minimax", "looks all lines through to a depth, and weighs what it finds there").options(oware::specs()).plays(oware::abapa).plays(oware::anan_anan).searches(),
        info("greedy", "takes the move after which the position is worth most").draws().options(baseline::greedy_specs()).plays_all::<baseline::Greedy>(),
        info("expectimax", "looks all lines through, deeper and deeper, averaging chance").options(baseline::expectimax_specs()).plays_all::<baseline::Expectimax>().searches(),
        info("mcts", "tries lines by what became of earlier ones (UCT)").draws().options(baseline::mcts_specs()).plays_all::<baseline::Mcts>().searches(),
    ]
});

/// A bot that plays nothing yet.
fn info(name: &'static str, summary: &'static str) -> BotInfo {
    BotInfo {
        name,
        summary,
        rulesets: Vec::new(),
        options: Vec::new(),
        deterministic: true,
        uses_seed: false,
        searches: false,
        makers: Vec::new(),
    }
}

impl BotInfo {
    fn options(mut self, options: Vec<Spec>) -> Self {
        self.options = options;
        self
    }

    fn draws(mut self) -> Self {
        self.uses_seed = true;
        self
    }

    fn searches(mut self) -> Self {
        self.searches = true;
        self
    }

    fn plays<G: Ruleset>(mut self, make: MakeBot<G>) -> Self {
        self.rulesets.push(G::NAME);
        self.makers.push(Arc::new(make));
        self
    }

    fn plays_all<B: UniversalBot>(mut self) -> Self {
        struct Add<'a, B>(&'a mut BotInfo, PhantomData<B>);
        impl<B: UniversalBot> EachRuleset for Add<'_, B> {
            fn ruleset<G: Ruleset>(&mut self) {
                let make: MakeBot<G> = B::make::<G>;
                self.0.makers.push(Arc::new(make));
            }
        }
        arena_games::each_ruleset(&mut Add::<B>(&mut self, PhantomData));
        self
    }

    /// How it is made for games of this type, if it plays them.
    fn maker<G: Game>(&self) -> Option<MakeBot<G>> {
        let mut makers = self.makers.iter();
        makers.find_map(|maker| maker.downcast_ref().copied())
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
    let specs = options::of_ruleset(&info.options, G::NAME);
    let options = options::resolve(&specs, &[], options).map_err(fail)?;
    let make = info.maker::<G>().ok_or_else(|| BotError::Ruleset {
        bot: info.name,
        ruleset: G::NAME.to_owned(),
        plays: info.rulesets.clone(),
    })?;
    make(&options, game).map_err(fail)
}

/// Tells whether a bot with these options plays a ruleset with these, by
/// making one. Options of the ruleset must be resolved.
///
/// # Errors
/// [`CheckError`] with the reason.
pub fn check(
    name: &str,
    bot_options: &Options,
    ruleset: &str,
    options: &Options,
    seats: usize,
) -> Result<(), CheckError> {
    struct Check<'a>(&'a str, &'a Options);
    impl Visitor for Check<'_> {
        type Out = Result<(), BotError>;

        fn visit<G: Game>(self, game: G) -> Self::Out {
            bot(self.0, self.1, &game).map(drop)
        }
    }
    Ok(arena_games::visit(
        ruleset,
        options,
        seats,
        Check(name, bot_options),
    )??)
}

#[cfg(test)]
mod tests;
