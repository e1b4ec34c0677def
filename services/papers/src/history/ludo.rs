//! What the Threat Matrix paper's Table 3 asks of one position of a game.

use arena_agents::ludo::{Evaluator, ReplyWeight, Settings, Source};
use arena_engine::{AgentRng, Event, Game, ReplayError, replay};
use arena_games::{ChineseLudo, ludo::State};
use arena_model::BlockSeed;

/// A position in which planes differ, drawn from a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LudoHistory {
    pub(crate) sixth: Ahead,
    pub(crate) thirty_sixth: Ahead,
}

/// What a second ply changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// Pairs of the chosen plane and another.
    pub(crate) pairs: u64,
    /// Those whose μ is below 1.
    pub(crate) below_one: u64,
    /// Two plies choose the same plane.
    pub(crate) same: bool,
}

/// Draws a position with the game's seed; none where planes never differ.
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
        let mut ahead = Ahead {
            same: twice.choice(&state, &legal) == Some(chosen),
            ..Ahead::default()
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
