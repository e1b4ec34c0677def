//! Two players that use only the progress of their planes, analogous to the cowry paper's
//! strategies.

use arena_engine::{ActionId, options::Options};
use arena_games::ChineseLudo;

use crate::{
    bot::{Bot, Chosen, Decision},
    make::BotResult,
};

/// Planes with the same progress are one action, so that there are no ties for the option
/// `tie`.
pub(crate) fn move_first(_: &Options, _: &ChineseLudo) -> BotResult<ChineseLudo> {
    Ok(Box::new(Runner { foremost: true }))
}

pub(crate) fn move_last(_: &Options, _: &ChineseLudo) -> BotResult<ChineseLudo> {
    Ok(Box::new(Runner { foremost: false }))
}

/// Moves the foremost plane, or the last one.
struct Runner {
    foremost: bool,
}

impl Bot<ChineseLudo> for Runner {
    fn choose(&mut self, decision: &Decision<'_, ChineseLudo>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let planes = &decision.state.r[usize::from(decision.seat)];
        let progress = |action: &ActionId| planes[usize::from(*action)];
        let legal = decision.legal.iter().copied();
        let chosen = if self.foremost {
            legal.max_by_key(progress)
        } else {
            legal.min_by_key(progress)
        };
        chosen.expect("a decision has legal actions").into()
    }
}
