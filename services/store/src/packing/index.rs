//! The place of each game: tournament and index to a place, in about four bytes per game.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Deref,
    sync::Arc,
};

/// Games of one page; the indices of a tournament are dense except for a few games in progress.
const PAGE: u64 = 1024;
const NONE: u32 = u32::MAX;
/// Maximum tournaments, and ranges of each, that are named as missing.
const TOURNAMENTS_SHOWN: usize = 10;
const GAPS_SHOWN: usize = 20;

/// Places of the durable games of all tournaments.
#[derive(Debug, Default)]
pub(crate) struct Index {
    tournaments: HashMap<Arc<str>, Places>,
    games: u64,
}

#[derive(Debug, Default)]
struct Places {
    pages: BTreeMap<u64, Box<[u32; PAGE as usize]>>,
    games: u64,
}

impl Places {
    /// The games from `from` on: index and place, in index order.
    fn range(&self, from: u64) -> impl Iterator<Item = (u64, u32)> {
        let pages = self.pages.range(from / PAGE..);
        let slots = pages.flat_map(|(&number, page)| {
            let slots = page.iter().enumerate();
            slots.map(move |(slot, &place)| (number * PAGE + slot as u64, place))
        });
        slots.filter(move |&(index, place)| index >= from && place != NONE)
    }

    fn gaps_text(&self) -> Option<String> {
        let mut reported = Vec::new();
        let (mut next, mut last, mut gaps, mut games) = (0, 0, 0, 0);
        for (index, _) in self.range(0) {
            if index > next {
                gaps += 1;
                games += index - next;
                match index - next {
                    _ if gaps > GAPS_SHOWN => {}
                    1 => reported.push(next.to_string()),
                    _ => reported.push(format!("{next} to {}", index - 1)),
                }
            }
            last = index;
            next = index.saturating_add(1);
        }
        let more = if gaps > GAPS_SHOWN { ", …" } else { "" };
        (gaps > 0).then(|| {
            let reported = reported.join(", ");
            format!("{games} below game {last} are missing: {reported}{more}")
        })
    }
}

impl Index {
    /// Sets a game's place. Returns false, without a change, if it has one. `place` must be less
    /// than `u32::MAX`.
    pub(crate) fn insert(&mut self, tournament: &Arc<str>, index: u64, place: u32) -> bool {
        debug_assert_ne!(place, NONE);
        let places = self.tournaments.entry(Arc::clone(tournament)).or_default();
        let page = places
            .pages
            .entry(index / PAGE)
            .or_insert_with(|| Box::new([NONE; PAGE as usize]));
        let slot = &mut page[(index % PAGE) as usize];
        if *slot != NONE {
            return false;
        }
        *slot = place;
        places.games += 1;
        self.games += 1;
        true
    }

    pub(crate) fn contains(&self, tournament: &str, index: u64) -> bool {
        self.tournaments
            .get(tournament)
            .and_then(|places| places.pages.get(&(index / PAGE)))
            .is_some_and(|page| page[(index % PAGE) as usize] != NONE)
    }

    /// The first `limit` games from `from` on: index and place, in index order.
    pub(crate) fn range(&self, tournament: &str, from: u64, limit: usize) -> Vec<(u64, u32)> {
        let places = self.tournaments.get(tournament).into_iter();
        let games = places.flat_map(|places| places.range(from));
        games.take(limit).collect()
    }

    /// Places with games of a tournament, in ascending order, each once.
    pub(crate) fn places(&self, tournament: &str) -> Vec<u32> {
        let mut held: Vec<u32> = Vec::new();
        let places = self.tournaments.get(tournament).into_iter();
        for page in places.flat_map(|places| places.pages.values()) {
            let start = held.len();
            held.extend(page.iter().filter(|&&place| place != NONE));
            held[start..].sort_unstable();
            held.dedup();
        }
        held.sort_unstable();
        held.dedup();
        held
    }

    pub(crate) fn count(&self, tournament: &str) -> u64 {
        self.tournaments
            .get(tournament)
            .map_or(0, |places| places.games)
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        let tournaments = self.tournaments.iter();
        tournaments.map(|(tournament, places)| (&**tournament, places.games))
    }

    /// Number of games of all tournaments.
    pub(crate) fn games(&self) -> u64 {
        self.games
    }

    /// The missing games below the last existing one of each tournament, as text; only some of them
    /// if there are many.
    pub(crate) fn gaps_text(&self) -> String {
        let mut names: Vec<_> = self.tournaments.keys().collect();
        names.sort();
        let gaps = names.iter().filter_map(|name| {
            let text = self.tournaments.get(*name)?.gaps_text()?;
            Some(format!("; of {name} {text}"))
        });
        let mut gaps: Vec<_> = gaps.collect();
        let more = gaps.len().saturating_sub(TOURNAMENTS_SHOWN);
        gaps.truncate(TOURNAMENTS_SHOWN);
        if more > 0 {
            gaps.push(format!("; of {more} more tournaments"));
        }
        gaps.concat()
    }
}

/// Visits the indices of a tournament's games, ascending. `index` locks the index for one page of
/// them at a time, so that the visitor may call the store.
pub(crate) fn visit_indices<I: Deref<Target = Index>>(
    index: impl Fn() -> I,
    tournament: &str,
    visit: &mut dyn FnMut(u64),
) {
    let mut from = Some(0);
    while let Some(start) = from {
        let page = index().range(tournament, start, PAGE as usize);
        from = page.last().and_then(|(last, _)| last.checked_add(1));
        page.into_iter().for_each(|(index, _)| visit(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_games_are_ranges() {
        let mut index = Index::default();
        let [cup, bowl, whole] = ["cup", "bowl", "whole"].map(Arc::from);
        for game in (0..3000).filter(|game| !matches!(game, 0 | 700..=1100 | 2999)) {
            index.insert(&cup, game, 1);
        }
        for game in 0..10 {
            index.insert(&bowl, 2 * game, 1);
            index.insert(&whole, game, 1);
        }
        assert_eq!(
            index.gaps_text(),
            "; of bowl 9 below game 18 are missing: 1, 3, 5, 7, 9, 11, 13, 15, 17; of cup 402 \
             below game 2998 are missing: 0, 700 to 1100"
        );
    }

    #[test]
    fn last_index_leaves_one_gap() {
        let mut index = Index::default();
        index.insert(&Arc::from("cup"), u64::MAX, 1);
        assert_eq!(
            index.gaps_text(),
            "; of cup 18446744073709551615 below game 18446744073709551615 are missing: \
             0 to 18446744073709551614"
        );
    }
}
