//! Coverage of the intervals of simulated tournaments.

use arena_tournament::{
    AgentStanding, Estimate, Wanted,
    interval::level::{self, Looks},
    ratings::{RatingDifference, expected_score},
};
use serde::Deserialize;

use super::{
    field::{Beyond, Field, Random, World},
    lattice::{self, Sum},
};
use crate::stress::Broken;

/// Few and many blocks, even and uneven strengths, with and without draws, with dice shared by the
/// games of a block, two and four seats.
const FIELDS: &str = include_str!("../../data/calibration.toml");
/// Bounds of the coverage of fixed-sample intervals. The upper bound applies where the possible
/// outcomes are fine enough (see [`lattice`]).
const FIXED: (f64, f64) = (0.94, 0.965);
/// Bounds of anytime-valid intervals.
const ANYTIME: f64 = 0.95;

/// Bounds of 99 % intervals: errors are proportionally rarer.
const FIXED_99: (f64, f64) = (0.988, 0.993);
/// How much less one possible outcome changes coverage at 99 %, by the normal density at its
/// points.
const COARSE_99: f64 = 0.014_460 / 0.058_445;

/// The promise of an interval.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Fixed-sample 95 % interval.
    Once,
    /// Fixed-sample 99 % interval.
    Once99,
    /// Anytime-valid 95 % interval.
    Always,
}

/// The table's columns.
const COLUMNS: [(&str, Kind); 15] = [
    ("score", Kind::Once),
    ("wins", Kind::Once),
    ("seat", Kind::Once),
    ("differ", Kind::Once),
    ("pair", Kind::Once),
    ("rating", Kind::Once),
    ("gap", Kind::Once),
    ("elo", Kind::Once),
    ("99 %", Kind::Once99),
    ("score-", Kind::Once),
    ("differ-", Kind::Once),
    ("score*", Kind::Always),
    ("differ*", Kind::Always),
    ("pair*", Kind::Always),
    ("rating*", Kind::Always),
];
/// The first column of an anytime-valid interval.
const ALWAYS: usize = 11;

/// One row: how often each interval contained the truth.
pub(super) struct Row {
    pub(super) name: String,
    /// Columns that are shown without a verdict.
    beyond: [bool; COLUMNS.len()],
    tournaments: u64,
    held: [u64; COLUMNS.len()],
    /// The number of intervals.
    reported: [u64; COLUMNS.len()],
    /// How much one more possible outcome changes coverage.
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
    for (field, column) in fields.field.iter().flat_map(|field| {
        let columns = field.beyond.iter().flat_map(|beyond| &beyond.columns);
        columns.map(move |column| (&field.name, column))
    }) {
        if !COLUMNS.iter().any(|(name, _)| name == column) {
            return Err(Broken::new(format_args!("{field}: no column '{column}'")));
        }
    }
    Ok(fields.field)
}

/// The header of the table.
pub(super) fn header() -> String {
    let names = COLUMNS.iter().map(|(name, _)| format!("{name:>8} "));
    format!(
        "{} - luck-adjusted; * at all looks (rating* at some); ~ outcomes too few for 94 to 96.5 % (99 %: 98.8 to 99.3 %); \
         ° not judged, and why: tests/data/calibration.toml",
        names.collect::<String>()
    )
}

/// Plays the tournaments of a cell.
pub(super) fn simulate(field: Field, tournaments: u64, seed: u64) -> Row {
    let last = field.elo.len() - 1;
    let world = World::new(field);
    let (agents, seats) = world.truth();
    let Fitted { ratings, elo } = fitted(&world);
    let met = world.met(0, last as u16);
    let differ = agents[0].score - agents[last].score;
    let groups = world.schedule.groups();
    let sums = [
        Sum::Units(0),
        Sum::Wins(0),
        Sum::Seat,
        Sum::Apart(0, last as u16),
        Sum::Duel(0, last as u16),
    ];
    let [score, wins, seat, apart, duel] = sums.map(|sum| lattice::coarseness(&world, sum));
    let beyond = COLUMNS.map(|(name, _)| {
        let of = |beyond: &Beyond| {
            beyond.columns.is_empty() || beyond.columns.iter().any(|it| it == name)
        };
        world.field.beyond.iter().any(of)
    });
    let mut row = Row {
        name: world.field.name.clone(),
        beyond,
        tournaments,
        held: [0; COLUMNS.len()],
        reported: [0; COLUMNS.len()],
        coarseness: [
            score,
            wins,
            seat,
            apart,
            duel,
            score,
            apart,
            apart,
            apart * COARSE_99,
            // Luck-adjusted scores have no steps.
            0.0,
            0.0,
            score,
            apart,
            duel,
            0.0,
        ],
    };
    for tournament in 0..tournaments {
        let mut random = Random::new(seed << 32 | tournament);
        let mut always = [true; 4];
        let tally = world.play(&mut random, |tally, blocks| {
            // Only complete rounds, because an incomplete round has another true value.
            if !blocks.is_multiple_of(groups) {
                return;
            }
            if rated_at(blocks / groups) {
                let fitted = tally.evidence().ratings(None);
                always[3] &= inside(fitted.map(|fitted| fitted.agents[0]), ratings[0]);
            }
            if !looked_at(blocks / groups) {
                return;
            }
            let standings = tally.standings();
            let agent = standings.agents.iter().find(|agent| agent.agent == "a0");
            always[0] &= agent.is_some_and(|agent| inside(agent.score, agents[0].score));
            let pairs = tally.evidence().pairs();
            let pair = &pairs[last - 1];
            always[1] &= inside(pair.difference, differ);
            always[2] &= inside(pair.score, met);
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
            .and_then(|ratings| ratings.agents[0].fixed);
        let between: RatingDifference = pair.rating.unwrap_or_default();
        let surer = level::of_elo(between.elo, between.df, (Looks::One, 0.99));
        let fixed = |of: Option<Estimate>| of.and_then(|of| of.fixed);
        let seat = &standings.seats[0];
        let ends = [
            (fixed(agent.score), agents[0].score),
            (fixed(agent.win_rate), agents[0].wins),
            (fixed(seat.score), seats[0]),
            (fixed(pair.pair.difference), differ),
            (fixed(pair.pair.score), met),
            (rating, ratings[0]),
            (between.rating.fixed, ratings[0] - ratings[last]),
            (between.elo.fixed, elo),
            (surer, elo),
            // With too few blocks it is the score itself, which has its own column.
            (
                fixed(agent.score_adjusted).filter(|_| !agent.score_adjusted_is_raw),
                agents[0].score,
            ),
            (
                fixed(pair.pair.difference_adjusted)
                    .filter(|_| !pair.pair.difference_adjusted_is_raw),
                differ,
            ),
        ];
        for (column, (interval, truth)) in ends.into_iter().enumerate() {
            if let Some(ends) = interval {
                row.reported[column] += 1;
                row.held[column] += u64::from(ends.contains(truth));
            }
        }
        for (column, held) in (ALWAYS..).zip(always) {
            row.reported[column] += 1;
            row.held[column] += u64::from(held);
        }
    }
    row
}

/// Each of the first rounds, then steps of a twentieth.
fn looked_at(rounds: u64) -> bool {
    rounds <= 20 || rounds.is_multiple_of(rounds / 20)
}

/// The rounds after which ratings are fitted, which is slow: powers of two and the midpoints
/// between them.
fn rated_at(rounds: u64) -> bool {
    rounds > 0 && matches!(rounds >> rounds.trailing_zeros(), 1 | 3)
}

fn inside(of: Option<Estimate>, truth: f64) -> bool {
    let ends = of.and_then(|of| of.anytime);
    ends.is_none_or(|ends| ends.contains(truth))
}

/// The true values of the model for a field.
struct Fitted {
    ratings: Vec<f64>,
    /// The expected score of the first agent against the last.
    elo: f64,
}

/// The strengths themselves, or a fit to very many blocks if the field has dice and seats, which
/// the model does not have.
fn fitted(world: &World) -> Fitted {
    let field = &world.field;
    let last = field.elo.len() - 1;
    if field.luck == 0.0 && field.first == 0.0 {
        let mean = field.elo.iter().sum::<f64>() / field.elo.len() as f64;
        let score = expected_score(field.elo[0] - field.elo[last], field.tie);
        return Fitted {
            ratings: field.elo.iter().map(|elo| elo - mean).collect(),
            elo: 400.0 * (score / (1.0 - score)).log10(),
        };
    }
    let long = World::new(Field {
        blocks: 400_000 / world.schedule.groups(),
        ..field.clone()
    });
    let tally = long.play(&mut Random::new(u64::MAX), |_, _| {});
    let fitted = tally.evidence().ratings(None).expect("games");
    Fitted {
        ratings: fitted.agents.iter().map(|rating| rating.value).collect(),
        elo: fitted.difference(0, last).elo.value,
    }
}

impl Row {
    fn share(&self, column: usize) -> Option<f64> {
        (self.reported[column] > 0).then(|| self.held[column] as f64 / self.reported[column] as f64)
    }

    /// Whether the outcomes are so few that the band is narrower than a step.
    fn coarse(&self, column: usize) -> bool {
        match COLUMNS[column].1 {
            Kind::Once => self.coarseness[column] > FIXED.1 - FIXED.0,
            Kind::Once99 => self.coarseness[column] > FIXED_99.1 - FIXED_99.0,
            Kind::Always => false,
        }
    }

    pub(super) fn shown(&self) -> String {
        let shown = |column| {
            let mark = match (self.beyond[column], self.coarse(column)) {
                (true, _) => '°',
                (false, true) => '~',
                (false, false) => ' ',
            };
            match self.share(column) {
                Some(share) => format!("{:>8.2}{mark}", share * 100.0),
                None => format!("{:>8} ", "–"),
            }
        };
        (0..COLUMNS.len()).map(shown).collect()
    }

    /// The failed conditions.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (column, (name, kind)) in COLUMNS.iter().enumerate() {
            let Some(share) = self.share(column).filter(|_| !self.beyond[column]) else {
                continue;
            };
            let (least, most) = match kind {
                Kind::Once => FIXED,
                Kind::Once99 => FIXED_99,
                Kind::Always => (ANYTIME, 1.0),
            };
            let fine = share >= least && (share <= most || self.coarse(column));
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
