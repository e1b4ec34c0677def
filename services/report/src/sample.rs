//! Sample games to step through, and their positions.

use std::collections::BTreeMap;

use arena_engine::{AnyGame, ReplayError, Termination};
use arena_model::GameRecord;
use itertools::Itertools;
use serde::Serialize;

use crate::board::{Boards, Step};

/// Maximum number of games in a sample.
const GAMES_MAX: usize = 12;
/// Maximum number of steps of all games together, which bounds the page size.
const STEPS_MAX: usize = 12_000;
/// Maximum number of pairs considered for their first game.
const PAIRS_MAX: usize = 64;

/// Reason for games that are not remarkable.
const NEXT: &str = "two of the field";

/// A game to be stepped through.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    pub(crate) game: String,
    /// Why this game was chosen.
    pub(crate) why: String,
    pub(crate) seats: Vec<String>,
    pub(crate) seed: String,
    pub(crate) placement: Vec<u8>,
    pub(crate) scores: Vec<i64>,
    pub(crate) plies: u32,
    pub(crate) termination: &'static str,
    /// Ply, seat and kind of each fault.
    pub(crate) faults: Vec<(u32, u8, &'static str)>,
    /// The numbers, or lines, of the initial position.
    pub(crate) start: serde_json::Value,
    pub(crate) steps: Vec<Step>,
}

/// Collects candidates from the games in index order.
#[derive(Default)]
pub(super) struct Sampler {
    /// Place in the standings, by the agent's number in the spec.
    places: Vec<usize>,
    first: Option<GameRecord>,
    shortest: Option<GameRecord>,
    longest: Option<GameRecord>,
    closest: Option<(u64, GameRecord)>,
    upset: Option<(usize, GameRecord)>,
    /// By agent: the first game with a fault of that agent.
    faulty: BTreeMap<u16, GameRecord>,
    /// By places in the standings: the first game of a pair.
    pairs: BTreeMap<(usize, usize), GameRecord>,
}

impl Sampler {
    /// `places` is the place in the standings by the agent's number in the spec.
    pub(super) fn new(places: Vec<usize>) -> Self {
        Self {
            places,
            ..Self::default()
        }
    }

    /// Considers a game.
    pub(super) fn add(&mut self, record: &GameRecord) {
        if record.termination == Termination::Void || record.events.is_empty() || !record.is_whole()
        {
            return;
        }
        for fault in &record.faults {
            let agent = record.seats[usize::from(fault.seat)];
            if self.faulty.len() < GAMES_MAX {
                self.faulty.entry(agent).or_insert_with(|| record.clone());
            }
        }
        self.first.get_or_insert_with(|| record.clone());
        if record.termination == Termination::Forfeit {
            return;
        }
        keep(&mut self.shortest, record, |kept| record.plies < kept.plies);
        keep(&mut self.longest, record, |kept| record.plies > kept.plies);
        self.add_closest(record);
        self.add_upset(record);
        self.add_pair(record);
    }

    fn add_closest(&mut self, record: &GameRecord) {
        let (Some(most), Some(least)) = (record.scores.iter().max(), record.scores.iter().min())
        else {
            return;
        };
        let apart = most.abs_diff(*least);
        if self.closest.as_ref().is_none_or(|(kept, _)| apart < *kept) {
            self.closest = Some((apart, record.clone()));
        }
    }

    /// An upset: an agent far behind wins alone against all agents ranked above it.
    fn add_upset(&mut self, record: &GameRecord) {
        let firsts = record.placement.iter().filter(|&&rank| rank == 1).count();
        let winner = record.placement.iter().position(|&rank| rank == 1);
        let (1, Some(winner)) = (firsts, winner) else {
            return;
        };
        let place = |seat: usize| self.places.get(usize::from(record.seats[seat])).copied();
        let best = (0..record.seats.len()).filter_map(place).min();
        let (Some(winners), Some(best)) = (place(winner), best) else {
            return;
        };
        let upset = winners.saturating_sub(best);
        if upset > 0 && self.upset.as_ref().is_none_or(|(kept, _)| upset > *kept) {
            self.upset = Some((upset, record.clone()));
        }
    }

    fn add_pair(&mut self, record: &GameRecord) {
        let agents = record.seats.iter();
        let places = agents.filter_map(|&agent| self.places.get(usize::from(agent)));
        let Some(pair) = places.copied().sorted_unstable().next_tuple() else {
            return;
        };
        self.pairs.entry(pair).or_insert_with(|| record.clone());
        while self.pairs.len() > PAIRS_MAX {
            self.pairs.pop_last();
        }
    }

    /// The chosen games, each once, with the reason.
    fn chosen(self) -> Vec<(String, GameRecord)> {
        let mut found: Vec<(String, GameRecord)> = Vec::new();
        let mut choose = |why: &str, record: Option<GameRecord>| {
            let Some(record) = record else { return };
            let same = |(_, known): &(String, GameRecord)| known.index == record.index;
            match found.iter().position(same) {
                // An earlier reason explains the rank sufficiently.
                Some(_) if why == NEXT => {}
                Some(place) => found[place].0 += &format!(", {why}"),
                None if found.len() < GAMES_MAX => found.push((why.to_owned(), record)),
                None => {}
            }
        };
        let mut pairs = self.pairs.into_values();
        choose("the best two", pairs.next());
        choose("closest score", self.closest.map(|(_, record)| record));
        choose("greatest upset", self.upset.map(|(_, record)| record));
        choose("shortest", self.shortest);
        choose("longest", self.longest);
        choose("first game", self.first);
        for record in self.faulty.into_values().take(3) {
            choose("with a fault", Some(record));
        }
        for record in pairs {
            choose(NEXT, Some(record));
        }
        found
    }

    /// Replays the chosen games. If the rules are a package, it may draw their boards.
    pub(super) fn samples(
        self,
        tournament: &str,
        names: &[String],
        boards: &dyn Boards,
        (game, package): (&dyn AnyGame, Option<&dyn AnyGame>),
    ) -> Result<Vec<Sample>, ReplayError> {
        let mut samples = Vec::new();
        let mut steps_left = STEPS_MAX;
        for (mut why, record) in self.chosen() {
            // A game that does not fit is left out; others may fit.
            if record.plies as usize > steps_left {
                continue;
            }
            let own = record.own_game(game)?;
            let game = own.as_deref().unwrap_or(game);
            let (start, steps) = match package.map(|it| boards.steps(it, &record.events)) {
                Some(Ok(drawn)) => drawn,
                failed => {
                    if let Some(Err(error)) = failed {
                        why += &format!("; no boards: {error}");
                    }
                    boards.steps(game, &record.events)?
                }
            };
            steps_left -= steps.len();
            let seats = record.seats.iter();
            let faults = record.faults.iter();
            samples.push(Sample {
                game: format!("{tournament}/{}", record.index),
                why,
                seats: seats.map(|&it| names[usize::from(it)].clone()).collect(),
                seed: record.seed.to_string(),
                faults: faults.map(|it| (it.ply, it.seat, it.kind.name())).collect(),
                placement: record.placement,
                scores: record.scores,
                plies: record.plies,
                termination: record.termination.name(),
                start,
                steps,
            });
        }
        Ok(samples)
    }
}

fn keep(
    kept: &mut Option<GameRecord>,
    record: &GameRecord,
    better: impl FnOnce(&GameRecord) -> bool,
) {
    if kept.as_ref().is_none_or(better) {
        *kept = Some(record.clone());
    }
}
