//! Decisions of random games, to ask an agent without a game.

use arena_engine::{AgentRng, AnyGame, Opening, Setup, Status};
use arena_model::BlockSeed;
use arena_wire::{convert, v1};

use crate::{
    failure::{Failure, Outcome},
    rules::Rules,
};

/// Decisions of a ruleset with the options that the bot requires, else the default ones, and their
/// context.
pub(super) struct Samples {
    pub(super) context: v1::GameContext,
    pub(super) decisions: Vec<v1::Decision>,
}

impl Samples {
    /// Plays random games until there are `count` decisions. The same seed gives the same ones.
    pub(super) fn new(
        rules: &Rules,
        bot: &v1::Bot,
        details: bool,
        seed: u64,
        count: usize,
    ) -> Outcome<Self> {
        let name = rules.name();
        let required = convert::required_options(bot, name);
        let (options, seats) = rules.resolve_default(&required).map_err(Failure::usage)?;
        let game = rules.build(&options, seats).map_err(Failure::usage)?;
        let of_ruleset = |option: &&v1::BotOption| {
            option.rulesets.is_empty() || option.rulesets.iter().any(|known| known == name)
        };
        let bot_options = bot.options.iter().filter(of_ruleset);
        let bot_options = bot_options.map(|option| v1::OptionValue {
            name: option.name.clone(),
            value: option.default_value.clone(),
        });
        let mut samples = Self {
            context: v1::GameContext {
                ruleset: name.to_owned(),
                rules_version: rules.version(),
                options: convert::options_to_wire(&options),
                seats: seats as u32,
                bot: bot.name.clone(),
                bot_options: bot_options.collect(),
                nodes: 0,
            },
            decisions: Vec::with_capacity(count),
        };
        let mut rng = AgentRng::new(seed);
        while samples.decisions.len() < count {
            samples.add_game(&*game, details, &mut rng, count)?;
            if let Some(failure) = rules.failure() {
                return Err(Failure::differs(format!(
                    "{name}: the rules failed: {failure}"
                )));
            }
        }
        Ok(samples)
    }

    /// The same with a number of positions that may be searched for each move.
    pub(super) fn with_nodes(mut self, nodes: u64) -> Self {
        self.context.nodes = nodes;
        self
    }

    fn add_game(
        &mut self,
        game: &dyn AnyGame,
        details: bool,
        rng: &mut AgentRng,
        count: usize,
    ) -> Outcome {
        let keys = BlockSeed(rng.word()).keys(&["check"; 4]);
        let opened = game.open(Setup::new(keys, Opening::NONE));
        let mut played = opened.map_err(Failure::usage)?;
        while let Status::Asks(question) = played.status()
            && self.decisions.len() < count
        {
            let legal = played.legal().to_vec();
            let mut decision = v1::Decision {
                seat: question.seat.into(),
                number: question.number,
                seed: question.seed,
                legal_moves: legal.iter().map(|&action| action.into()).collect(),
                ..v1::Decision::default()
            };
            played.encode(details, &mut decision.position);
            if details {
                decision.notations = { legal.iter() }
                    .map(|&action| {
                        let mut notation = String::new();
                        played.write_action(action, &mut notation);
                        notation
                    })
                    .collect();
            }
            let chosen = legal[rng.below(legal.len() as u32) as usize];
            self.decisions.push(decision);
            played.answer(chosen.into()).map_err(Failure::usage)?;
        }
        Ok(())
    }
}
