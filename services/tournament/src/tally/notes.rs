//! What a reader of the numbers should know.

use arena_model::{Tournament, format::Settings};

use super::Tally;

impl Tally {
    pub(super) fn notes(&self, luck: Option<String>) -> Vec<String> {
        let mut notes = Vec::from_iter(luck);
        if self.confounded {
            notes.push(
                "With rotate = false some agents sit at some seats more than at others: what a \
                 seat is worth is in their scores and ratings."
                    .to_owned(),
            );
        }
        if self.sameness.all_alike() {
            notes.push(
                "All blocks of the same agents came out the same: more blocks say nothing new. \
                 Set opening_plies in [play], or use rules or agents with randomness."
                    .to_owned(),
            );
        }
        if self.voids > 0 {
            notes.push(format!(
                "{} of {} games could not be played and are void: they are in no score, \
                 and their blocks are in no interval.",
                self.voids, self.games
            ));
        }
        notes
    }
}

/// Whether some agent sits at some seats more often than at others by the spec.
pub(super) fn confounded(tournament: &Tournament, seats: usize) -> bool {
    if tournament.play.rotate {
        return false;
    }
    let Some(Settings::Fixed(fixed)) = &tournament.settings else {
        return true;
    };
    tournament.agents.iter().any(|agent| {
        let mut games = vec![0_u64; seats];
        for game in &fixed.games {
            let seat = game.iter().position(|name| *name == agent.name);
            if let Some(games) = seat.and_then(|seat| games.get_mut(seat)) {
                *games += 1;
            }
        }
        games.windows(2).any(|pair| pair[0] != pair[1])
    })
}
