//! Coverage of the intervals of simulated tournaments.

use arena_tournament::{AgentStanding, Wanted};
use serde::Deserialize;

use super::{
    field::{Field, Random, World},
    lattice::{self, Sum},
};
use crate::proofs::Broken;

/// Few blocks and many, even and not, with draws and without, with dice shared
/// by the games of a block, two and four seats.
const FIELDS: &str = include_str!("../../data/calibration.toml");
/// Of the fixed intervals: from and to. The upper end is asked for where the
/// possible outcomes are fine enough for any rule to meet it (see [`lattice`]).
const FIXED: (f64, f64) = (0.94, 0.965);
/// Of those that hold at all looks at once.
const ANYTIME: f64 = 0.95;

/// The table's columns: name, and whether it holds at all looks.
const COLUMNS: [(&str, bool); 8] = [
    ("score", false),
    ("wins", false),
    ("seat", false),
    ("differ", false),
    ("rating", false),
    ("gap", false),
    ("score*", true),
    ("differ*", true),
];

/// One cell row: how often each interval held.
pub(super) struct Row {
    pub(super) name: String,
    tournaments: u64,
    held: [u64; COLUMNS.len()],
    /// Intervals that there were.
    told: [u64; COLUMNS.len()],
    /// How far one possible outcome more moves coverage.
    coarseness: [f64; COLUMNS.len()],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    field: Vec<Field>,
}

/// The cells.
pub(super) fn fields() -> Result<Vec<Field>, Broken> {
    let fields: Fields = toml::from_str(FIELDS).map_err(Broken::new)?;
    Ok(fields.field)
}

/// The table's head.
pub(super) fn header() -> String {
    let names = COLUMNS.iter().map(|(name, _)| format!("{name:>8} "));
    format!(
        "{} * at all looks; ~ outcomes too few for 94 to 96.5 %",
        names.collect::<String>()
    )
}

/// Plays a cell's tournaments.
pub(super) fn simulate(field: Field, tournaments: u64, seed: u64) -> Row {
    let last = field.elo.len() - 1;
    let world = World::new(field);
    let (agents, seats) = world.truth();
    let ratings = ratings(&world);
    let differ = agents[0].score - agents[last].score;
    let groups = world.schedule.groups();
    let sums = [
        Sum::Units(0),
        Sum::Wins(0),
        Sum::Seat,
        Sum::Apart(0, last as u16),
    ];
    let [score, wins, seat, apart] = sums.map(|sum| lattice::coarseness(&world, sum));
    let mut row = Row {
        name: world.field.name.clone(),
        tournaments,
        held: [0; COLUMNS.len()],
        told: [0; COLUMNS.len()],
        coarseness: [score, wins, seat, apart, score, apart, score, apart],
    };
    for tournament in 0..tournaments {
        let mut random = Random::new(seed << 32 | tournament);
        let mut always = [true; 2];
        let tally = world.play(&mut random, |tally, blocks| {
            // Rounds that are complete: what is true of a part of a round is
            // another truth.
            if !blocks.is_multiple_of(groups) || !looked_at(blocks / groups) {
                return;
            }
            let standings = tally.standings();
            let agent = standings.agents.iter().find(|agent| agent.agent == "a0");
            let within = agent.is_some_and(|agent| {
                inside(
                    agent.score_anytime_low,
                    agent.score_anytime_high,
                    agents[0].score,
                )
            });
            always[0] &= within;
            let pairs = tally.evidence().pairs();
            let pair = &pairs[last - 1];
            always[1] &= inside(
                pair.difference_anytime_low,
                pair.difference_anytime_high,
                differ,
            );
        });
        let standings = tally.standings();
        let of = |agent: &&AgentStanding| agent.agent == "a0";
        let Some(agent) = standings.agents.iter().find(of) else {
            continue;
        };
        let compared = tally.evidence().compare(Wanted {
            pairs: true,
            anchor: None,
        });
        let pair = &compared.pairs[last - 1];
        let rating = compared
            .ratings
            .as_ref()
            .and_then(|ratings| ratings.agents[0].interval);
        let gap = pair.rating.and_then(|rating| rating.interval);
        let seat = &standings.seats[0];
        let ends = [
            (agent.score_low.zip(agent.score_high), agents[0].score),
            (agent.win_rate_low.zip(agent.win_rate_high), agents[0].wins),
            (seat.score_low.zip(seat.score_high), seats[0]),
            (
                pair.pair.difference_low.zip(pair.pair.difference_high),
                differ,
            ),
            (rating, ratings[0]),
            (gap, ratings[0] - ratings[last]),
        ];
        for (column, (interval, truth)) in ends.into_iter().enumerate() {
            if let Some((low, high)) = interval {
                row.told[column] += 1;
                row.held[column] += u64::from(low <= truth && truth <= high);
            }
        }
        for (column, held) in [6, 7].into_iter().zip(always) {
            row.told[column] += 1;
            row.held[column] += u64::from(held);
        }
    }
    row
}

/// Every one of the first rounds, then every twentieth part more.
fn looked_at(rounds: u64) -> bool {
    rounds <= 20 || rounds.is_multiple_of(rounds / 20)
}

fn inside(low: Option<f64>, high: Option<f64>, truth: f64) -> bool {
    match low.zip(high) {
        Some((low, high)) => low <= truth && truth <= high,
        None => true,
    }
}

/// Ratings that the model has for this field: the strengths themselves, or what
/// is fitted to very many blocks where dice and seats are not in the model.
fn ratings(world: &World) -> Vec<f64> {
    let field = &world.field;
    let mean = field.elo.iter().sum::<f64>() / field.elo.len() as f64;
    if field.luck == 0.0 && field.first == 0.0 {
        return field.elo.iter().map(|elo| elo - mean).collect();
    }
    let long = World::new(Field {
        blocks: 400_000 / world.schedule.groups(),
        ..field.clone()
    });
    let tally = long.play(&mut Random::new(u64::MAX), |_, _| {});
    let fitted = tally.evidence().ratings(None);
    fitted.map_or_else(Vec::new, |fitted| {
        fitted.agents.iter().map(|rating| rating.value).collect()
    })
}

impl Row {
    fn share(&self, column: usize) -> Option<f64> {
        (self.told[column] > 0).then(|| self.held[column] as f64 / self.told[column] as f64)
    }

    /// Whether outcomes are so few that the band is narrower than a step.
    fn coarse(&self, column: usize) -> bool {
        !COLUMNS[column].1 && self.coarseness[column] > FIXED.1 - FIXED.0
    }

    pub(super) fn shown(&self) -> String {
        let shown = |column| {
            let mark = if self.coarse(column) { '~' } else { ' ' };
            match self.share(column) {
                Some(share) => format!("{:>8.2}{mark}", share * 100.0),
                None => format!("{:>8} ", "–"),
            }
        };
        (0..COLUMNS.len()).map(shown).collect()
    }

    /// What is not as it should be.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (column, (name, anytime)) in COLUMNS.iter().enumerate() {
            let Some(share) = self.share(column) else {
                continue;
            };
            let fine = if *anytime {
                share >= ANYTIME
            } else {
                share >= FIXED.0 && (share <= FIXED.1 || self.coarse(column))
            };
            if !fine {
                wrong.push(format!(
                    "{}: {name} held in {:.2} % of {}",
                    self.name,
                    share * 100.0,
                    self.tournaments
                ));
            }
        }
        wrong
    }
}
