//! One position of a game of Chinese Ludo, as Table 3 of paper 003 measures it.

use arena_agents::ludo::{Evaluator, ReplyWeight, Settings, Source};
use arena_engine::{AgentRng, Event, Game, ReplayError, replay};
use arena_games::{ChineseLudo, ludo::State};
use arena_model::BlockSeed;

/// Effect of a second ply at one position of a game, for each weight of replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LudoHistory {
    pub(crate) sixth: SecondPlyEffect,
    pub(crate) thirty_sixth: SecondPlyEffect,
}

/// How a second ply changes the choice of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SecondPlyEffect {
    /// Pairs of the chosen plane and another.
    pub(crate) pairs: u64,
    /// Number of these pairs whose μ is below 1.
    pub(crate) below_one: u64,
    /// True if a search of two plies chooses the same plane.
    pub(crate) same: bool,
}

/// Draws a position of the game with its seed; none if the planes' values never differ.
pub(crate) fn follow(
    game: &ChineseLudo,
    events: &[Event],
    seed: BlockSeed,
) -> Result<Option<LudoHistory>, ReplayError> {
    let once = Evaluator::new(game, settings(1, ReplyWeight::Sixth));
    let mut positions: Vec<State> = Vec::new();
    let mut legal = Vec::new();
    replay(game, events, |state, described| {
        if described.event.is_action() {
            game.legal(state, &mut legal);
            let mut values = legal.iter().map(|&plane| once.value(state, plane.into()));
            let first = values.next();
            if values.any(|value| Some(value) != first) {
                positions.push(*state);
            }
        }
    })?;
    if positions.is_empty() {
        return Ok(None);
    }
    let state = AgentRng::new(seed.0).pick(&positions);
    game.legal(&state, &mut legal);
    let Some(chosen) = once.choice(&state, &legal) else {
        return Ok(None);
    };
    let ahead = |weight| {
        let twice = Evaluator::new(game, settings(2, weight));
        let others = legal.iter().filter(|&&plane| plane != chosen);
        let ratios = others.filter_map(|&other| twice.mu(&state, chosen.into(), other.into()));
        let mut ahead = SecondPlyEffect {
            same: twice.choice(&state, &legal) == Some(chosen),
            ..SecondPlyEffect::default()
        };
        for ratio in ratios {
            ahead.pairs += 1;
            ahead.below_one += u64::from(ratio < 1.0);
        }
        ahead
    };
    Ok(Some(LudoHistory {
        sixth: ahead(ReplyWeight::Sixth),
        thirty_sixth: ahead(ReplyWeight::ThirtySixth),
    }))
}

fn settings(plies: u32, reply_weight: ReplyWeight) -> Settings {
    Settings {
        plies,
        reply_weight,
        // A matrix for one position would cost more than it saves.
        source: Source::Realtime,
        ..Settings::default()
    }
}
