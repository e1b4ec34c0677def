//! Coverage of the intervals of simulated tournaments.

use std::collections::BTreeMap;

use arena_tournament::{AgentStanding, Wanted};

use super::field::{Field, Random, World};

/// Of the fixed intervals: from and to. The upper end is asked for from
/// [`BLOCKS_MANY`] blocks of an agent on: with fewer the scores are so few that
/// no rule meets 95 % everywhere, and what is left goes to the safe side.
const FIXED: (f64, f64) = (0.94, 0.965);
/// Blocks of an agent from which on coverage is to be near to 95 %.
const BLOCKS_MANY: u64 = 100;
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
    pub(super) name: &'static str,
    tournaments: u64,
    /// Of each agent.
    blocks: u64,
    held: [u64; COLUMNS.len()],
    /// Intervals that there were.
    told: [u64; COLUMNS.len()],
    /// Coverages nearest to 95 % that a rule by the score alone can have.
    attainable: [f64; 2],
}

/// Cells: few blocks and many, even and not, with draws and without, with dice
/// shared by the games of a block, two and four seats.
pub(super) fn fields() -> Vec<Field> {
    let field = |name, seats, blocks, elo: &[f64], tie, luck| Field {
        name,
        seats,
        blocks,
        elo: elo.to_vec(),
        tie,
        luck,
        first: 0.0,
    };
    let first = |field: Field| Field {
        first: 0.4,
        ..field
    };
    let five = &[120.0, 60.0, 0.0, -60.0, -120.0];
    vec![
        field("2 even, 10 blocks, no draws", 2, 10, &[0.0, 0.0], 0.0, 0.0),
        field("2 even, 10 blocks, draws", 2, 10, &[0.0, 0.0], 1.0, 0.0),
        field(
            "2 even, 30 blocks, draws, dice",
            2,
            30,
            &[0.0, 0.0],
            1.0,
            0.8,
        ),
        field(
            "2 even, 100 blocks, no draws",
            2,
            100,
            &[0.0, 0.0],
            0.0,
            0.0,
        ),
        field("2 even, 100 blocks, draws", 2, 100, &[0.0, 0.0], 1.0, 0.0),
        first(field(
            "2 even, 100 blocks, dice, first seat",
            2,
            100,
            &[0.0, 0.0],
            0.5,
            1.0,
        )),
        field(
            "2 even, 400 blocks, draws, dice",
            2,
            400,
            &[0.0, 0.0],
            2.0,
            0.8,
        ),
        field(
            "2 100 Elo apart, 50 blocks, draws",
            2,
            50,
            &[100.0, 0.0],
            1.0,
            0.0,
        ),
        field(
            "2 100 Elo apart, 200 blocks, draws, dice",
            2,
            200,
            &[100.0, 0.0],
            1.0,
            0.8,
        ),
        field(
            "2 400 Elo apart, 50 blocks, no draws",
            2,
            50,
            &[400.0, 0.0],
            0.0,
            0.0,
        ),
        field(
            "2 400 Elo apart, 200 blocks, draws",
            2,
            200,
            &[400.0, 0.0],
            0.5,
            0.0,
        ),
        field("5 agents, 2 blocks a pair, draws", 2, 2, five, 1.0, 0.5),
        first(field(
            "5 agents, 10 blocks a pair, draws",
            2,
            10,
            five,
            1.0,
            0.5,
        )),
        field(
            "5 agents, 40 blocks a pair, no draws",
            2,
            40,
            five,
            0.0,
            0.0,
        ),
        field("4 seats, 4 even, 10 blocks", 4, 10, &[0.0; 4], 0.0, 0.0),
        first(field(
            "4 seats, 4 even, 50 blocks, ties, dice",
            4,
            50,
            &[0.0; 4],
            0.5,
            0.8,
        )),
        field(
            "4 seats, 4 apart, 50 blocks",
            4,
            50,
            &[200.0, 100.0, 0.0, -300.0],
            0.0,
            0.0,
        ),
        field(
            "4 seats, 5 agents, 10 blocks a group, ties",
            4,
            10,
            five,
            0.5,
            0.5,
        ),
    ]
}

/// The table's head.
pub(super) fn header() -> String {
    let names = COLUMNS.iter().map(|(name, _)| format!("{name:>8}"));
    format!(
        "{}  by score alone; * at all looks",
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
    let mut row = Row {
        name: world.field.name,
        tournaments,
        blocks: world.schedule.blocks() * world.field.seats as u64 / agents.len() as u64,
        held: [0; COLUMNS.len()],
        told: [0; COLUMNS.len()],
        attainable: [0.0; 2],
    };
    let mut scores: BTreeMap<i64, u64> = BTreeMap::new();
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
        let units = (agent.score.unwrap_or_default() * 1e6).round() as i64;
        *scores.entry(units).or_default() += 1;
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
    row.attainable = attainable(&scores, agents[0].score, tournaments);
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

/// What a rule could cover that goes by how far the score is from the truth:
/// the coverages next to 95 %, below and above.
fn attainable(scores: &BTreeMap<i64, u64>, truth: f64, tournaments: u64) -> [f64; 2] {
    let mut by_distance: Vec<(i64, u64)> = scores
        .iter()
        .map(|(&score, &count)| ((score - (truth * 1e6).round() as i64).abs(), count))
        .collect();
    by_distance.sort_unstable();
    let mut covered = 0;
    let (mut below, mut above) = (0.0, 1.0);
    for same in by_distance.chunk_by(|one, other| (one.0 - other.0).abs() <= 2) {
        covered += same.iter().map(|(_, count)| count).sum::<u64>();
        let share = covered as f64 / tournaments as f64;
        if share <= 0.95 {
            below = share;
        } else {
            above = share;
            break;
        }
    }
    [below, above]
}

impl Row {
    fn share(&self, column: usize) -> Option<f64> {
        (self.told[column] > 0).then(|| self.held[column] as f64 / self.told[column] as f64)
    }

    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        for column in 0..COLUMNS.len() {
            text += &match self.share(column) {
                Some(share) => format!("{:>8.2}", share * 100.0),
                None => format!("{:>8}", "–"),
            };
        }
        let [below, above] = self.attainable.map(|share| share * 100.0);
        text + &format!("  {below:.1} {above:.1}")
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
                share >= FIXED.0 && (share <= FIXED.1 || self.blocks < BLOCKS_MANY)
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
