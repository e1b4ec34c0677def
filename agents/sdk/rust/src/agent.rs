//! The traits that an author implements, and the questions.

use std::time::Duration;

use arena_wire::v1::{Clock, Decision, DescribeResponse, GameContext, PastMove, SearchInfo};

use crate::Random;

/// A player of games.
///
/// Every game and thread has a clone of it, so state kept between two questions is for
/// speed only and must not change its answers. An agent that needs the history of a game sets
/// [`DescribeResponse::sticky`], and shares its state between its clones by
/// [`Question::game`].
pub trait Agent: Clone + Send + Sync + 'static {
    /// Describes the program and its bots. Without a bot in the description, the program
    /// has one bot that has no options and plays every ruleset.
    fn describe(&self) -> DescribeResponse {
        DescribeResponse::default()
    }

    /// False if an answer takes microseconds, for any bot and options.
    fn thinks_long(&self) -> bool {
        true
    }

    /// Chooses one of the legal moves.
    ///
    /// # Errors [`Refusal`] if the question is invalid.
    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal>;
}

/// A process that offers bots and prepares a [`Player`] for each kind of game.
///
/// Every [`Agent`] is one.
pub trait Process: Send + Sync + 'static {
    /// See [`Agent::describe`].
    fn describe(&self) -> DescribeResponse;

    /// Prepares the bot of this context with its options to play its ruleset. Called once
    /// for each distinct context while it is in use, and once for each thread.
    ///
    /// # Errors [`Refusal`] if the bot, the ruleset or their options do not exist or are
    /// incompatible.
    fn player(&self, context: &GameContext) -> Result<Box<dyn Player>, Refusal>;
}

/// A bot with its options in one kind of game.
pub trait Player: Send {
    /// See [`Agent::thinks_long`].
    fn thinks_long(&self) -> bool;

    /// See [`Agent::choose`].
    ///
    /// # Errors See [`Agent::choose`].
    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal>;
}

impl<A: Agent> Process for A {
    fn describe(&self) -> DescribeResponse {
        Agent::describe(self)
    }

    fn player(&self, context: &GameContext) -> Result<Box<dyn Player>, Refusal> {
        check_bot(&Agent::describe(self), context)?;
        Ok(Box::new(self.clone()))
    }
}

impl<A: Agent> Player for A {
    fn thinks_long(&self) -> bool {
        Agent::thinks_long(self)
    }

    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        Agent::choose(self, question)
    }
}

/// Rejects bots, rulesets and options that were not described.
fn check_bot(described: &DescribeResponse, context: &GameContext) -> Result<(), Refusal> {
    let Some(default) = described.bots.first() else {
        return Ok(());
    };
    let bot = if context.bot.is_empty() {
        default
    } else {
        let known = described.bots.iter();
        known
            .clone()
            .find(|bot| bot.name == context.bot)
            .ok_or_else(|| {
                Refusal::new(format!(
                    "unknown bot \"{}\"; there are {}",
                    context.bot,
                    list(known.map(|bot| &bot.name)),
                ))
            })?
    };
    if !bot.rulesets.is_empty() && !bot.rulesets.contains(&context.ruleset) {
        return Err(Refusal::new(format!(
            "bot {} does not play {}; it plays {}",
            bot.name,
            context.ruleset,
            list(&bot.rulesets),
        )));
    }
    let known = bot.options.iter().map(|option| &option.name);
    for option in &context.bot_options {
        if !known.clone().any(|name| *name == option.name) {
            return Err(Refusal::new(format!(
                "bot {} has no option \"{}\"; it has {}",
                bot.name,
                option.name,
                list(known),
            )));
        }
    }
    Ok(())
}

fn list<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// One decision to make.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub(crate) context: &'a GameContext,
    pub(crate) decision: &'a Decision,
    pub(crate) time_budget: Option<Duration>,
}

impl<'a> Question<'a> {
    /// A question, for an agent's own tests.
    #[must_use]
    pub fn new(context: &'a GameContext, decision: &'a Decision) -> Self {
        Self {
            context,
            decision,
            time_budget: None,
        }
    }

    /// The message with the data that all decisions of the game share.
    #[must_use]
    pub fn context(&self) -> &'a GameContext {
        self.context
    }

    /// The message with the data of this decision.
    #[must_use]
    pub fn decision(&self) -> &'a Decision {
        self.decision
    }

    /// Name of the ruleset, such as `cowry`.
    #[must_use]
    pub fn ruleset(&self) -> &'a str {
        &self.context.ruleset
    }

    /// Name of the requested bot; empty for the default one.
    #[must_use]
    pub fn bot(&self) -> &'a str {
        &self.context.bot
    }

    /// The seat to choose for, from 0.
    #[must_use]
    pub fn seat(&self) -> usize {
        self.decision.seat as usize
    }

    /// Ids of the legal moves, ascending, never empty.
    #[must_use]
    pub fn legal_moves(&self) -> &'a [u32] {
        &self.decision.legal_moves
    }

    /// Notations of the legal moves, in the same order. Empty if
    /// [`DescribeResponse::omit_move_details`] was set.
    #[must_use]
    pub fn notations(&self) -> &'a [String] {
        &self.decision.notations
    }

    /// The position as the ruleset's own message.
    ///
    /// # Errors [`Refusal`] if the bytes are not such a message.
    pub fn position<M: prost::Message + Default>(&self) -> Result<M, Refusal> {
        M::decode(self.decision.position.as_slice()).map_err(|error| {
            Refusal::new(format!(
                "the position is not a {} position: {error}",
                self.context.ruleset
            ))
        })
    }

    /// The position as its ruleset writes it, often JSON: for rulesets of one's own.
    #[must_use]
    pub fn position_bytes(&self) -> &'a [u8] {
        &self.decision.position
    }

    /// The value of one of the bot's options, if it was sent.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'a str> {
        let mut options = self.context.bot_options.iter();
        let option = options.find(|option| option.name == name)?;
        Some(&option.value)
    }

    /// The value of one of the bot's options, or a default.
    ///
    /// # Errors [`Refusal`] if the value does not have this type.
    pub fn option_or<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, Refusal> {
        match self.option(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| Refusal::new(format!("option \"{name}\": cannot read \"{text}\""))),
        }
    }

    /// Random numbers for this answer.
    #[must_use]
    pub fn random(&self) -> Random {
        Random::new(self.decision.seed)
    }

    /// The time limit of this answer; `None` without a limit. In a batch it is an equal
    /// share.
    #[must_use]
    pub fn time_budget(&self) -> Option<Duration> {
        self.time_budget
    }

    /// The clock of the seat to choose for; `None` if the tournament has none.
    #[must_use]
    pub fn clock(&self) -> Option<&'a Clock> {
        self.decision.clock.as_ref()
    }

    /// A value that all decisions of a game share; empty unless [`DescribeResponse::sticky`] was
    /// set.
    #[must_use]
    pub fn game(&self) -> &'a [u8] {
        &self.decision.game
    }

    /// The moves of the game so far, of all seats; empty unless [`DescribeResponse::sticky`] was
    /// set.
    #[must_use]
    pub fn past_moves(&self) -> &'a [PastMove] {
        &self.decision.moves
    }

    /// Number of positions that the bot may search for this move; `None` without a limit.
    #[must_use]
    pub fn nodes(&self) -> Option<u64> {
        Some(self.context.nodes).filter(|&nodes| nodes > 0)
    }
}

/// A chosen move, with optional statistics of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub(crate) move_id: u32,
    pub(crate) info: Option<SearchInfo>,
}

impl From<u32> for Choice {
    fn from(move_id: u32) -> Self {
        Self {
            move_id,
            info: None,
        }
    }
}

impl Choice {
    /// Id of the chosen move.
    #[must_use]
    pub fn move_id(&self) -> u32 {
        self.move_id
    }

    fn info(mut self, set: impl FnOnce(&mut SearchInfo)) -> Self {
        set(self.info.get_or_insert_default());
        self
    }

    /// Sets the score of the position for the seat, in the agent's own unit.
    #[must_use]
    pub fn score(self, score: f64) -> Self {
        self.info(|info| info.score = Some(score))
    }

    /// Sets the search depth in plies.
    #[must_use]
    pub fn depth(self, depth: u32) -> Self {
        self.info(|info| info.depth = Some(depth))
    }

    /// Sets the number of searched positions.
    #[must_use]
    pub fn nodes(self, nodes: u64) -> Self {
        self.info(|info| info.nodes = Some(nodes))
    }

    /// Sets the expected continuation, as ids or notations.
    #[must_use]
    pub fn variation(self, variation: Vec<String>) -> Self {
        self.info(|info| info.variation = variation)
    }
}

/// The reason why a question cannot be answered: a part of it is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Refusal {
    /// Creates a refusal. The reason names the invalid part and the problem.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
