//! Notes that explain the numbers of standings.

use std::collections::HashMap;

use arena_model::{AgentName, Tournament, format::Settings};

use super::Tally;
use crate::format::listed;

impl Tally {
    pub(super) fn notes(&self, luck: Option<String>, narrow: &[&str]) -> Vec<String> {
        let mut notes = Vec::from_iter(luck);
        notes.extend(self.returns_note(narrow));
        if self.confounded {
            notes.push(
                "With rotate = false, agents play some seats more often than others: scores and ratings include \
                 the advantage of those seats."
                    .to_owned(),
            );
        }
        notes.extend(self.openings_note());
        notes.extend(self.repeats_note());
        if self.opponents_differ() && !self.opponents_differ {
            let places = match self.returns {
                None => "places follow ratings",
                Some(_) => "mean returns decide no places",
            };
            notes.push(format!(
                "Pairs whose games would repeat count fewer blocks than others: scores weight \
                 opponents unequally, so {places}."
            ));
        }
        if self.sums.voids > 0 {
            notes.push(format!(
                "{} of {} games could not be played and are void. Scores leave them out, and intervals \
                 leave out their blocks.",
                self.sums.voids, self.sums.games
            ));
        }
        notes
    }

    /// A note on what returns decide, and on the agents whose returns vary little.
    fn returns_note(&self, narrow: &[&str]) -> Option<String> {
        let returns = self.returns?;
        let mut note =
            "Mean returns decide the places. Scores, pairs and ratings go by ranks: they say who \
                        wins more often, not who wins more."
                .to_owned();
        if !narrow.is_empty() {
            note += &format!(
                " Returns may be {} to {}, but those of {} vary little: if large returns are possible and \
                 rare, the intervals are too narrow until some have occurred.",
                returns.min,
                returns.max,
                listed(narrow)
            );
        }
        Some(note)
    }

    /// A note on the openings over which scores are averaged, in a game without chance.
    fn openings_note(&self) -> Option<String> {
        let openings = self.openings?;
        let (size, plies) = (openings.size, self.opening_plies);
        if self.has_book {
            return Some(self.book_note(size));
        }
        if plies == 0 {
            return Some(
                "The game has no chance events, and every game starts from the initial position: scores \
                 hold for this one opening. Set opening_plies in [play] to use many openings."
                    .to_owned(),
            );
        }
        let which = if openings.complete {
            "all"
        } else {
            "a sample of"
        };
        let moves = if plies == 1 { "move" } else { "moves" };
        let chance = match openings.starter_drawn {
            true => "Chance only names the starter",
            false => "The game has no chance events",
        };
        Some(format!(
            "{chance}: each block starts from a different opening ({which} {size} openings of {plies} \
             {moves}). A score is the mean over these openings."
        ))
    }

    /// A note on a book that the spec names.
    fn book_note(&self, size: u64) -> String {
        let openings = if size == 1 { "opening" } else { "openings" };
        let mut note = format!(
            "Each block starts from an opening of the book, which has {size} {openings}. A score is the \
             mean over these openings."
        );
        let blocks = self.sums.courses.values().map(|courses| courses.blocks);
        let most = blocks.max().unwrap_or(0);
        if most > size {
            note += &format!(
                " The book has fewer openings than a group has blocks: {} of {most} blocks of a group \
                 repeat an opening.",
                most - size
            );
        }
        note
    }

    /// A note on the number of blocks that repeat earlier games.
    fn repeats_note(&self) -> Option<String> {
        let held = self.sums.courses.values().flat_map(|courses| &courses.held);
        let blocks: u64 = held.map(|(_, times)| times).sum();
        (blocks > 0).then(|| {
            let all: u64 = self.sums.courses.values().map(|courses| courses.blocks).sum();
            let more = match self.has_book {
                true => "use a larger book",
                false => "raise opening_plies in [play]",
            };
            format!(
                "{blocks} of {all} blocks do not count: they repeat an opening between agents whose games \
                 from the same opening never differed. Scores and intervals leave these blocks out; \
                 W/D/L includes them. For more openings, {more}."
            )
        })
    }
}

/// True if the spec seats some agent in some seats more often than in others.
pub(super) fn confounded(tournament: &Tournament, seats: usize) -> bool {
    if tournament.play.rotate {
        return false;
    }
    let Some(Settings::Fixed(fixed)) = &tournament.settings else {
        return true;
    };
    let mut games: HashMap<&AgentName, Vec<u64>> = HashMap::new();
    for game in &fixed.games {
        for (seat, name) in game.iter().take(seats).enumerate() {
            games.entry(name).or_insert_with(|| vec![0; seats])[seat] += 1;
        }
    }
    let mut games = games.values();
    games.any(|games| games.windows(2).any(|pair| pair[0] != pair[1]))
}
