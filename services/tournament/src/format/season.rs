//! An open ladder: agents come, are replaced, benched and banned while it runs.
//!
//! Each stage is a period. After it, its results update the ratings and their covariance
//! ([`Ratings::update`]). Then changes apply whose number of
//! blocks is reached, and the next stage is chosen among the active agents, as in a ladder.
//!
//! - A new agent begins at the mean of the active agents, with the variance of agents that are not versions
//!   of others. It is estimated from the results so far after 1, 2, 4, … [`PERIODS_ESTIMATED`] stages (empirical
//!   Bayes), and all periods are rated again with it: with a fixed one, intervals would be too narrow where
//!   agents are closer to each other.
//! - An agent that replaces another begins with its rating, its covariances, and the variance
//!   [`VERSION`]² more: the prior of the difference of two versions is normal.
//! - The rating of an agent that was replaced or banned stays as it was then.
//! - The rating of a benched agent stays in the model, because it may return.
//!
//! So the ratings of at most [`AGENTS_MAX`] agents are in memory, for any number of changes.

use arena_model::{AgentChange, ChangeKind, EntryState, format::Settings};
use serde_json::{Value, json};

use super::{
    Field, FormatError, FormatProgress, Games, Next, SeasonStanding, StagePlanner, StageSums,
    Units,
    matchmaking::{AGENTS_MAX, blocks_together, choose},
    rating::{Pair, Ratings},
    sums::pairs,
    verdict::{Verdict, counted},
};
use crate::{
    elo::ELO,
    places::{self, By, RankKey},
    schedule::stage::Stage,
};

/// Standard deviation of the difference between an agent and the one that it replaces, in natural
/// logarithms of the odds: 100 Elo.
pub(super) const VERSION: f64 = 100.0 / ELO;
/// Variance of agents that are not versions of others, before the first result.
const SPREAD: f64 = 1.0;
/// As many agents as it counts for in estimates.
const PSEUDO: f64 = 4.0;
/// The last number of stages after which this variance is estimated, and the steps of each estimation.
const PERIODS_ESTIMATED: u64 = 32;
const ESTIMATIONS: usize = 8;
/// Quantile of a 95 % interval.
const POINT: f64 = 1.959_963_984_540_054;

/// What moves ratings.
#[derive(Clone, Debug)]
enum Event {
    /// The results of a stage, by entry.
    Results(Vec<(u16, u16, Units)>),
    Change(AgentChange),
}

#[derive(Debug)]
struct Season {
    field: Field,
    total: u64,
    step: u64,
    /// Blocks scheduled so far.
    asked: u64,
    round: u64,
    /// Number of changes that apply.
    applied: usize,
    entries: Vec<SeasonStanding>,
    /// Units of each entry against all others.
    units: Vec<Units>,
    ratings: Ratings,
    /// The entries of `ratings`.
    rated: Vec<u16>,
    /// Number of entries that the spec lists.
    listed: usize,
    /// Variance of agents that are not versions of others.
    spread: f64,
    /// Stages with results so far, and what moved ratings while the variance is estimated.
    periods: u64,
    history: Vec<Event>,
}

pub(super) fn new(field: Field) -> Result<Box<dyn StagePlanner>, FormatError> {
    let settings = match &field.settings {
        Some(Settings::Ladder(ladder)) => ladder.blocks_total.zip(ladder.step),
        _ => None,
    };
    let (total, step) =
        settings.ok_or_else(|| field.error("it needs blocks_total and step".to_owned()))?;
    let added = field.changes.iter().filter(|it| it.adds()).count();
    let listed = field.agents().saturating_sub(added);
    if listed > AGENTS_MAX {
        return Err(field.error(format!(
            "{listed} agents are listed, but a ladder has at most {AGENTS_MAX}"
        )));
    }
    let mut season = Season {
        units: vec![Units::default(); field.agents()],
        entries: vec![SeasonStanding::default(); field.agents()],
        ratings: Ratings::prior(0, SPREAD),
        rated: Vec::new(),
        listed,
        spread: SPREAD,
        periods: 0,
        history: Vec::new(),
        field,
        total,
        step,
        asked: 0,
        round: 0,
        applied: 0,
    };
    season.restart();
    Ok(Box::new(season))
}

impl Season {
    /// All entries before the first event.
    fn restart(&mut self) {
        for (number, entry) in self.entries.iter_mut().enumerate() {
            *entry = SeasonStanding {
                blocks: entry.blocks,
                ..SeasonStanding::default()
            };
            if number < self.listed {
                entry.state = EntryState::Active;
            }
        }
        self.ratings = Ratings::prior(self.listed, self.spread);
        self.rated = (0..self.listed as u16).collect();
    }

    /// Rates all periods again with the variance that they show.
    fn estimate_spread(&mut self) {
        let history = std::mem::take(&mut self.history);
        for _ in 0..ESTIMATIONS {
            let standings = self.season();
            let squares = standings.iter().filter(|it| it.predecessor.is_none());
            let squares = squares.filter_map(|it| {
                let [value, low, high] = it.rating?.map(|elo| elo / ELO);
                let deviation = (high - low) / (2.0 * POINT);
                Some(value * value + deviation * deviation)
            });
            let (count, sum) = squares.fold((PSEUDO, PSEUDO * SPREAD), |(count, sum), it| {
                (count + 1.0, sum + it)
            });
            self.spread = sum / count;
            self.restart();
            for event in &history {
                match event {
                    Event::Results(met) => self.rate(met),
                    Event::Change(change) => self.apply(change),
                }
            }
        }
        if self.periods < PERIODS_ESTIMATED {
            self.history = history;
        }
    }

    /// Updates the ratings with the results of a stage.
    fn rate(&mut self, met: &[(u16, u16, Units)]) {
        let pair = |&(one, other, units): &(u16, u16, Units)| {
            let (one, other) = (self.place(one)?, self.place(other)?);
            Some(Pair { one, other, units })
        };
        let met: Vec<Pair> = met.iter().filter_map(pair).collect();
        self.ratings.update(&met);
    }

    /// Adds the results of a stage.
    fn settle(&mut self, sums: &StageSums) {
        let mut met = Vec::new();
        for meeting in &sums.meetings {
            for ((one, other), &units) in pairs(meeting.agents.len()).zip(&meeting.pairs) {
                let (one, other) = (meeting.agents[one], meeting.agents[other]);
                self.units[usize::from(one)].add(units);
                self.units[usize::from(other)].add(units.turned());
                if units.of > 0 {
                    met.push((one, other, units));
                }
            }
        }
        self.rate(&met);
        self.periods += 1;
        if self.periods <= PERIODS_ESTIMATED {
            self.history.push(Event::Results(met));
            if self.periods.is_power_of_two() {
                self.estimate_spread();
            }
        }
    }

    /// The place of an entry in the ratings.
    fn place(&self, entry: u16) -> Option<usize> {
        self.rated.iter().position(|&it| it == entry)
    }

    /// The places of the active entries in the ratings.
    fn active(&self) -> Vec<usize> {
        let is_active = |place: &usize| {
            let entry = usize::from(self.rated[*place]);
            self.entries[entry].state == EntryState::Active
        };
        (0..self.rated.len()).filter(is_active).collect()
    }

    /// Applies the changes whose number of blocks is reached.
    fn apply_changes(&mut self) {
        while let Some(change) = self.field.changes.get(self.applied) {
            if change.at_blocks > self.asked {
                return;
            }
            let change = change.clone();
            self.applied += 1;
            self.apply(&change);
            if self.periods < PERIODS_ESTIMATED {
                self.history.push(Event::Change(change));
            }
        }
    }

    fn apply(&mut self, change: &AgentChange) {
        let active = self.active();
        match change.kind {
            ChangeKind::Add => {
                let values = active.iter().map(|&place| self.ratings.values[place]);
                let mean = values.sum::<f64>() / active.len().max(1) as f64;
                self.ratings.push(mean, self.spread);
                self.rated.push(change.entry);
            }
            ChangeKind::Replace(old) => {
                self.keep_rating(old, &active);
                if let Some(place) = self.place(old) {
                    self.rated[place] = change.entry;
                    self.ratings.loosen(place, VERSION * VERSION);
                }
                if let Some(entry) = self.entries.get_mut(usize::from(change.entry)) {
                    entry.predecessor = Some(old);
                }
            }
            ChangeKind::Ban(_) => {
                self.keep_rating(change.entry, &active);
                if let Some(place) = self.place(change.entry) {
                    self.rated.remove(place);
                    self.ratings.remove(place);
                }
            }
            ChangeKind::Bench | ChangeKind::Return => {}
        }
        let mut states: Vec<EntryState> = { self.entries.iter() }
            .map(|entry| entry.state.clone())
            .collect();
        change.apply(&mut states);
        for (entry, state) in self.entries.iter_mut().zip(states) {
            entry.state = state;
        }
    }

    /// Keeps the rating of an entry that leaves for good.
    fn keep_rating(&mut self, entry: u16, active: &[usize]) {
        let rating = self.rating(entry, active);
        if let Some(entry) = self.entries.get_mut(usize::from(entry)) {
            entry.rating = rating;
        }
    }

    /// The rating of an entry of the model.
    fn rating(&self, entry: u16, active: &[usize]) -> Option<[f64; 3]> {
        let (value, variance) = self.ratings.about(self.place(entry)?, active);
        let reach = POINT * libm::sqrt(variance);
        Some([value, value - reach, value + reach].map(|it| it * ELO))
    }

    /// The next stage: `count` groups of `blocks` blocks each.
    fn choose(&mut self, count: u64, blocks: u64) -> Vec<Vec<u16>> {
        let active = self.active();
        let mut order = self.ratings.order();
        order.retain(|place| active.contains(place));
        if order.len() < self.field.seats {
            return Vec::new();
        }
        let games = self.field.games(blocks) as f64;
        let (ratings, seats) = (self.ratings.clone(), self.field.seats);
        let chosen = choose(ratings, &order, seats, games, count);
        let group = |places: Vec<usize>| places.into_iter().map(|it| self.rated[it]).collect();
        let chosen: Vec<Vec<u16>> = chosen.into_iter().map(group).collect();
        for &agent in chosen.iter().flatten() {
            self.entries[usize::from(agent)].blocks += blocks;
        }
        chosen
    }

    fn verdict(&self) -> Verdict {
        let rows = self.season().into_iter().zip(&self.field.names);
        let rows = rows.zip(&self.units).map(|((standing, name), units)| {
            let rating = standing.rating.map(|[value, ..]| value);
            let row = json!({
                "place": null,
                "agent": name,
                "elo": rating,
                "state": standing.state.name(),
                "score": units.score(),
                "blocks": standing.blocks,
            });
            let rating = rating.filter(|_| standing.state == EntryState::Active);
            (name, rating, units.score(), row)
        });
        let rows = places::arrange(
            rows.collect(),
            By::Rating,
            |(agent, rating, score, _)| RankKey {
                agent,
                score: *score,
                rating: *rating,
                place: None,
            },
            |(.., row), place| row["place"] = json!(place),
        );
        let placed = rows
            .iter()
            .filter(|(.., row)| !row["place"].is_null())
            .count();
        let leader = rows.first().filter(|_| placed > 0).map(|(name, ..)| *name);
        let text = leader.map_or_else(
            || "No game was played.".to_owned(),
            |leader| {
                let blocks = counted(self.asked, "block");
                format!("{leader} is first of {placed} active agents after {blocks}.")
            },
        );
        let rows: Vec<Value> = rows.into_iter().map(|(.., row)| row).collect();
        Verdict::new("ranking", &self.field, text)
            .with("winner", json!(leader))
            .with("open", json!(true))
            .with("places", json!(rows))
    }
}

impl StagePlanner for Season {
    fn next(&mut self, ended: Option<&StageSums>) -> Next {
        if let Some(sums) = ended {
            self.settle(sums);
        }
        self.apply_changes();
        let blocks = self.step.min(self.total - self.asked);
        if blocks == 0 {
            return Next::Over(self.verdict());
        }
        let together = blocks_together(blocks);
        let chosen = self.choose(blocks / together, together);
        if chosen.is_empty() {
            return Next::Over(self.verdict());
        }
        self.round += 1;
        self.asked += chosen.len() as u64 * together;
        Next::Stage(Stage::of(chosen, together))
    }

    fn games(&self) -> Games {
        Games::exactly(self.field.games(self.total))
    }

    fn follow_changes(&mut self, names: &[String], changes: &[AgentChange]) {
        self.field.names = names.to_vec();
        self.field.changes = changes.to_vec();
        self.entries.resize(names.len(), SeasonStanding::default());
        self.units.resize(names.len(), Units::default());
    }

    fn season(&self) -> Vec<SeasonStanding> {
        let active = self.active();
        let entries = self.entries.iter().zip(0..);
        let shown = entries.map(|(entry, number)| SeasonStanding {
            rating: self.rating(number, &active).or(entry.rating),
            ..entry.clone()
        });
        shown.collect()
    }

    fn progress(&self) -> FormatProgress {
        let active = self.active().len();
        FormatProgress {
            round: self.round,
            text: format!(
                "{} of {} blocks scheduled, {active} active agents",
                self.asked, self.total
            ),
            ..FormatProgress::default()
        }
    }
}
