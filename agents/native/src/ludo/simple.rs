//! Two players that look at nothing but how far their planes are, as the cowry
//! paper's do with pieces.

use arena_engine::{ActionId, options::Options};
use arena_games::ChineseLudo;

use crate::{
    bot::{Bot, Chosen, Decision},
    make::BotResult,
};

/// Planes with the same progress are one action, so that nothing is left for
/// the option `tie` to decide.
pub(crate) fn move_first(_: &Options, _: &ChineseLudo) -> BotResult<ChineseLudo> {
    Ok(Box::new(Runner { foremost: true }))
}

pub(crate) fn move_last(_: &Options, _: &ChineseLudo) -> BotResult<ChineseLudo> {
    Ok(Box::new(Runner { foremost: false }))
}

/// Moves the plane that is foremost, or the one that is last.
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
