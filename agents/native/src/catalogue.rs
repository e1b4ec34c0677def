//! The catalogue of bots, and functions that make a bot from its name.

use std::{
    any::Any,
    marker::PhantomData,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use arena_engine::{
    Game,
    options::{self, OptionError, Options, Spec},
};
use arena_games::{
    EachGame, GamesError, Ruleset, Visitor,
    oware::{Abapa, AnanAnan},
};

use crate::{
    baseline,
    bot::Bot,
    chowka, cowry, kalah, ludo,
    make::{MakeBot, UniversalBot},
    oware,
    random::Random,
};

/// The version of all bots, which identifies them in tournaments. It must be raised
/// whenever a bot plays differently, also between releases; a test checks this.
pub const VERSION: &str = "0.1.0";

/// Metadata of a bot.
#[derive(Clone, Debug)]
pub struct BotInfo {
    /// Lower-case letters and dashes.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// The rulesets it plays; empty means any.
    pub rulesets: Vec<&'static str>,
    /// Its options.
    pub options: Vec<Spec>,
    /// True if the same decision always gets the same action.
    pub deterministic: bool,
    /// True if the action depends on the seed, with the defaults of all options.
    pub uses_seed: bool,
    /// True if it searches ahead, so that an answer can take long.
    pub searches: bool,
    /// A [`MakeBot`] for each type of game it plays.
    makers: Vec<Maker>,
}

/// A [`MakeBot`] for a type of game.
type Maker = Arc<dyn Any + Send + Sync>;

/// A bot that is not available.
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
        /// The requested name.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// All known names.
        known: Vec<&'static str>,
    },
    /// The bot does not play this ruleset.
    #[error("bot {bot} does not play {ruleset}; it plays {}", plays.join(", "))]
    Ruleset {
        /// Name of the bot.
        bot: &'static str,
        /// The requested ruleset.
        ruleset: String,
        /// The rulesets it plays.
        plays: Vec<&'static str>,
    },
    /// The options are invalid.
    #[error("bot {bot}: {error}")]
    Options {
        /// Name of the bot.
        bot: &'static str,
        /// The invalid option.
        #[source]
        error: OptionError,
    },
}

/// A bot and a ruleset that are incompatible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The bot is not available for this game.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The game is not available.
    #[error(transparent)]
    Game(#[from] GamesError),
}

/// The catalogue, one line per bot. `plays` takes the function that makes it for one type
/// of game, once for each type; `plays_all` takes the type of a bot for all games.
#[rustfmt::skip]
static BOTS: LazyLock<Vec<BotInfo>> = LazyLock::new(|| {
    use cowry::{mixed_specs, tie_specs};
    vec![
        info("random", "plays a random legal move").draws().plays_all::<Random>(),
        info("aggressive", "captures the piece that costs its owner most, else \
         threatens, else plays a random move").draws().options(tie_specs()).plays(cowry::aggressive),
        info("defensive", "leaves danger, seeks safe squares, avoids danger").draws().options(tie_specs()).plays(cowry::defensive),
        info("move-first", "moves the most advanced piece").draws().options(tie_specs()).plays(cowry::move_first).plays(ludo::move_first),
        info("move-last", "moves the least advanced piece").draws().options(tie_specs()).plays(cowry::move_last).plays(ludo::move_last),
        info("mixed", "alternates between aggressive and defensive, or draws a strategy by weight").draws().options(mixed_specs()).plays(cowry::mixed),
        info("chowka-naive", "plays the best move by one of four heuristics (2 seats, board 5)").options(chowka::naive_specs()).plays(chowka::naive),
        info("chowka-expectiminimax", "like chowka-naive, and looks ahead over one throw and move \
         of each player (2 seats, board 5)").options(chowka::expectiminimax_specs()).plays(chowka::expectiminimax),
        info("chowka-random-dup", "plays a random legal move; moves on the inner rings have \
         double weight").draws().options(chowka::random_dup_specs()).plays(chowka::random_dup),
        info("kalah-minimax", "full minimax search to a fixed depth").options(kalah::minimax_specs()).plays(kalah::minimax).searches(),
        info("kalah-alphabeta", "minimax with alpha-beta pruning").options(kalah::alphabeta_specs()).plays(kalah::alphabeta).searches(),
        info("ludo-threat", "evaluates squares, captures and threats (Threat Matrix)").options(ludo::specs()).plays(ludo::threat),
        info("oware-minimax", "minimax to a fixed depth with a weighted evaluation").options(oware::specs()).plays(oware::searcher::<Abapa>).plays(oware::searcher::<AnanAnan>).searches(),
        info("greedy", "plays the move with the best resulting position").draws().options(baseline::greedy_specs()).plays_all::<baseline::Greedy>(),
        info("expectimax", "expectiminimax with iterative deepening").options(baseline::expectimax_specs()).plays_all::<baseline::Expectimax>().searches(),
        info("mcts", "Monte Carlo tree search (UCT)").draws().options(baseline::mcts_specs()).plays_all::<baseline::Mcts>().searches(),
    ]
});

/// Makers of bots for types of games that the program adds.
static OWN: RwLock<Vec<(&str, Maker)>> = RwLock::new(Vec::new());

/// Lets the bots for any ruleset play games of this type, too, which a program adds.
pub fn add_game<G: Game>() {
    fn maker<G: Game, B: UniversalBot>() -> Maker {
        let make: MakeBot<G> = B::make::<G>;
        Arc::new(make)
    }
    let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
    own.extend([
        ("random", maker::<G, Random>()),
        ("greedy", maker::<G, baseline::Greedy>()),
        ("expectimax", maker::<G, baseline::Expectimax>()),
        ("mcts", maker::<G, baseline::Mcts>()),
    ]);
}

/// A bot without games.
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
        impl<B: UniversalBot> EachGame for Add<'_, B> {
            fn game<G: Game>(&mut self) {
                let make: MakeBot<G> = B::make::<G>;
                self.0.makers.push(Arc::new(make));
            }
        }
        arena_games::each_game(&mut Add::<B>(&mut self, PhantomData));
        self
    }

    /// The function that makes it for games of this type, if it plays them.
    fn maker<G: Game>(&self) -> Option<MakeBot<G>> {
        let own = OWN.read().unwrap_or_else(PoisonError::into_inner);
        let own = own.iter().filter(|(bot, _)| *bot == self.name);
        let mut makers = self.makers.iter().chain(own.map(|(_, maker)| maker));
        makers.find_map(|maker| maker.downcast_ref().copied())
    }
}

/// All bots; the first is the server's default.
#[must_use]
pub fn bots() -> &'static [BotInfo] {
    &BOTS
}

/// The bot with a name.
///
/// # Errors [`BotError::Unknown`].
pub fn bot_info(name: &str) -> Result<&'static BotInfo, BotError> {
    let known = || bots().iter().map(|info| info.name);
    let found = bots().iter().find(|info| info.name == name);
    found.ok_or_else(|| BotError::Unknown {
        name: name.to_owned(),
        nearest: options::nearest(name, known()),
        known: known().collect(),
    })
}

/// Makes a bot that plays this game. Missing options have their defaults.
///
/// # Errors [`BotError`] if there is no such bot, it does not play the game, or an option
/// is invalid.
pub fn bot<G: Game>(name: &str, options: &Options, game: &G) -> Result<Box<dyn Bot<G>>, BotError> {
    let info = bot_info(name)?;
    let fail = |error| BotError::Options {
        bot: info.name,
        error,
    };
    let specs = options::of_ruleset(&info.options, game.name());
    let options = options::resolve(&specs, &[], options).map_err(fail)?;
    let make = info.maker::<G>().ok_or_else(|| BotError::Ruleset {
        bot: info.name,
        ruleset: game.name().to_owned(),
        plays: info.rulesets.clone(),
    })?;
    make(&options, game).map_err(fail)
}

/// Checks that a bot with these options plays a ruleset with these options, by making one.
/// Options of the ruleset must be resolved.
///
/// # Errors [`CheckError`] with the reason.
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
    let check = Check(name, bot_options);
    Ok(arena_games::visit(ruleset, options, seats, check)??)
}

#[cfg(test)]
mod tests;
