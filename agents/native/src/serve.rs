//! All bots behind `arena.v1.AgentService`.

use std::pin::Pin;

use arena_engine::{ActionId, Game, Node, options::Options};
use arena_games::Visitor;
use arena_sdk::{
    Choice, Listen, Listener, Player, Process, Question, Refusal, ServeError, v1,
    wire::convert::{option_spec_to_wire, options_from_wire},
};

use crate::{
    bot::{Bot, Decision, Stop},
    catalogue::{BotError, BotInfo, VERSION, bot, bot_info, bots},
};

/// A server that could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeBotsError {
    /// A requested bot does not exist.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The server failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// The `Describe` response of a process with all bots.
#[must_use]
pub fn describe() -> v1::DescribeResponse {
    describe_these(bots())
}

fn describe_these<'a>(bots: impl IntoIterator<Item = &'a BotInfo>) -> v1::DescribeResponse {
    v1::DescribeResponse {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: VERSION.to_owned(),
        author: "the authors of Arena".to_owned(),
        bots: bots.into_iter().map(describe_bot).collect(),
        batch_size: 0,
        omit_move_details: true,
        sticky: false,
        concurrent: false,
    }
}

fn describe_bot(info: &BotInfo) -> v1::Bot {
    v1::Bot {
        name: info.name.to_owned(),
        summary: info.summary.to_owned(),
        rulesets: info.rulesets.iter().map(ToString::to_string).collect(),
        options: info.options.iter().map(option_spec_to_wire).collect(),
        deterministic: info.deterministic,
        uses_seed: if info.uses_seed {
            v1::SeedUse::Yes
        } else {
            v1::SeedUse::No
        }
        .into(),
        required_options: Vec::new(),
        perfect_information: false,
    }
}

/// Serves bots until SIGTERM or SIGINT, and prints `{"listen":"…"}` as the first line on
/// standard output. `only` names the bots to offer, the default one first; if it is empty,
/// all are offered.
///
/// # Errors [`ServeBotsError`].
pub fn serve<'a>(
    listen: &'a Listen,
    only: &'a [String],
) -> Pin<Box<dyn Future<Output = Result<(), ServeBotsError>> + Send + 'a>> {
    Box::pin(async move {
        let bots = NativeBots::new(only)?;
        let stop = arena_sdk::stop_signal().map_err(ServeError::from)?;
        let listener = Listener::bind(listen).await.map_err(ServeError::from)?;
        arena_sdk::announce(&listener).map_err(ServeError::from)?;
        Ok(arena_sdk::serve(bots, listener, stop).await?)
    })
}

/// The bots that a process offers.
#[derive(Clone, Debug)]
pub struct NativeBots(Vec<&'static BotInfo>);

impl NativeBots {
    /// Offers these bots, the default one first; all if no name is given.
    ///
    /// # Errors [`BotError::Unknown`].
    pub fn new(only: &[String]) -> Result<Self, BotError> {
        if only.is_empty() {
            return Ok(Self(bots().iter().collect()));
        }
        only.iter()
            .map(|name| bot_info(name))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn find(&self, name: &str) -> Result<&'static BotInfo, Refusal> {
        if name.is_empty() {
            return Ok(self.0[0]);
        }
        let info = bot_info(name).map_err(refuse)?;
        if self.0.iter().any(|offered| offered.name == info.name) {
            return Ok(info);
        }
        let offered: Vec<_> = self.0.iter().map(|info| info.name).collect();
        Err(Refusal::new(format!(
            "unknown bot {name}; this process offers {}",
            offered.join(", ")
        )))
    }
}

fn refuse(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(error.to_string())
}

impl Process for NativeBots {
    fn describe(&self) -> v1::DescribeResponse {
        describe_these(self.0.iter().copied())
    }

    fn player(&self, context: &v1::GameContext) -> Result<Box<dyn Player>, Refusal> {
        let info = self.find(&context.bot)?;
        let (ruleset, version) = (&context.ruleset, context.rules_version);
        let given = options_from_wire(&context.options);
        let seats = Some(context.seats as usize);
        let (options, seats) =
            arena_games::resolve_version(ruleset, version, &given, seats).map_err(refuse)?;
        let bot_options = options_from_wire(&context.bot_options);
        let seat = TakeSeat { info, bot_options };
        arena_games::visit_version(ruleset, version, &options, seats, seat).map_err(refuse)?
    }
}

struct TakeSeat {
    info: &'static BotInfo,
    bot_options: Options,
}

impl Visitor for TakeSeat {
    type Out = Result<Box<dyn Player>, Refusal>;

    fn visit<G: Game>(self, game: G) -> Self::Out {
        let bot = bot(self.info.name, &self.bot_options, &game).map_err(refuse)?;
        Ok(Box::new(Seated {
            game,
            bot,
            searches: self.info.searches,
            legal: Vec::new(),
        }))
    }
}

/// A bot in a game.
struct Seated<G: Game> {
    game: G,
    bot: Box<dyn Bot<G>>,
    searches: bool,
    legal: Vec<ActionId>,
}

impl<G: Game> Player for Seated<G> {
    fn thinks_long(&self) -> bool {
        self.searches
    }

    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        let asked = question.decision();
        let state = self.game.decode(&asked.position).map_err(refuse)?;
        let seat = match self.game.node(&state) {
            Node::Decision(seat) if u32::from(seat) == asked.seat => seat,
            other => {
                return Err(Refusal::new(format!(
                    "seat {} was asked in a position in which {}",
                    asked.seat,
                    match other {
                        Node::Decision(seat) => format!("seat {seat} is to move"),
                        Node::Chance(_) => "a chance event is next".to_owned(),
                        Node::Over(_) => "the game is over".to_owned(),
                    },
                )));
            }
        };
        // A bot may trust its legal actions, so the reported ones must be correct.
        self.game.legal(&state, &mut self.legal);
        let legal = self.legal.iter().map(|&action| u32::from(action));
        if !legal.clone().eq(asked.legal_moves.iter().copied()) {
            return Err(Refusal::new(format!(
                "the request has the legal moves {:?}, but the position has {:?}",
                asked.legal_moves,
                legal.collect::<Vec<_>>(),
            )));
        }
        let chosen = self.bot.choose(&Decision {
            game: &self.game,
            state: &state,
            seat,
            number: asked.number,
            seed: asked.seed,
            legal: &self.legal,
            stop: Stop::NEVER,
        });
        let mut choice = Choice::from(u32::from(chosen.action));
        if let Some(score) = chosen.score {
            choice = choice.score(score);
        }
        if let Some(depth) = chosen.depth {
            choice = choice.depth(depth);
        }
        if let Some(nodes) = chosen.nodes {
            choice = choice.nodes(nodes);
        }
        Ok(choice)
    }
}

#[cfg(test)]
mod tests;
