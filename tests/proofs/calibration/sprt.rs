//! Error rates and lengths of sequential tests of simulated agents.

use arena_model::format::Sprt;
use arena_tournament::sequential::gsprt;

use super::field::{Field, Random, World};

/// How often a test may err that says 5 %.
const ERRORS_MAX: f64 = 0.06;
/// Blocks between two looks.
const STEP: u64 = 8;
/// Games after which a run is given up.
const GAMES_MAX: u64 = 4_000_000;

/// One test of one pair of agents.
pub(super) struct Row {
    pub(super) name: String,
    runs: u64,
    wrong: u64,
    open: u64,
    games_mean: f64,
    /// The same by a test of single games, each with dice of its own.
    games_unpaired: f64,
    wrong_unpaired: u64,
    /// What is tested: whether it holds of the first hypothesis or the second.
    judged: bool,
}

/// Each test with agents as far apart as one of its hypotheses has it, and the
/// same with single games and their three outcomes.
pub(super) fn simulate(runs: u64, seed: u64, only: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (elo1, draws, luck) in [(5.0, 1.0, 0.8), (10.0, 0.0, 0.0), (20.0, 1.0, 0.8)] {
        for strong in [false, true] {
            let test = Sprt {
                elo0: 0.0,
                elo1,
                ..Sprt::default()
            };
            let apart = if strong { elo1 } else { 0.0 };
            let dice = if luck > 0.0 { ", draws, dice" } else { "" };
            let name = format!("sprt 0 to {elo1} Elo of {apart} Elo{dice}");
            if name.contains(only) {
                rows.push(row(name, &test, (apart, draws, luck), strong, (runs, seed)));
            }
        }
    }
    rows
}

fn row(
    name: String,
    test: &Sprt,
    (apart, tie, luck): (f64, f64, f64),
    strong: bool,
    (runs, seed): (u64, u64),
) -> Row {
    let chances = chances(apart, tie, luck);
    let mut row = Row {
        name,
        runs,
        wrong: 0,
        open: 0,
        games_mean: 0.0,
        games_unpaired: 0.0,
        wrong_unpaired: 0,
        judged: strong,
    };
    for run in 0..runs {
        let mut random = Random::new(seed << 40 | run);
        let (paired, games) = decide(test, &chances.pairs, 2, &mut random);
        let (single, games_single) = decide(test, &chances.games, 1, &mut random);
        row.open += u64::from(paired.is_none());
        row.wrong += u64::from(paired == Some(!strong));
        row.wrong_unpaired += u64::from(single == Some(!strong));
        row.games_mean += games as f64 / runs as f64;
        row.games_unpaired += games_single as f64 / runs as f64;
    }
    row
}

/// Chances of the units of a block and of a single game.
struct Chances {
    pairs: Vec<f64>,
    games: Vec<f64>,
}

/// Of agents whose mean score is that of so many Elo, with these dice.
fn chances(apart: f64, tie: f64, luck: f64) -> Chances {
    let field = |elo: f64| {
        World::new(Field {
            name: String::new(),
            seats: 2,
            blocks: 1,
            elo: vec![elo, 0.0],
            tie,
            luck,
            first: 0.0,
        })
    };
    // Draws and dice move scores towards a half: the strengths are sought that
    // have the score.
    let wanted = gsprt::score(apart);
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if field(middle).truth().0[0].score < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let elo = if apart > 0.0 { low } else { 0.0 };
    let (pairs, games) = field(elo).chances();
    Chances { pairs, games }
}

/// Whether the second hypothesis is taken, and after how many games.
fn decide(test: &Sprt, chances: &[f64], games: u32, random: &mut Random) -> (Option<bool>, u64) {
    let (lower, upper) = gsprt::bounds(test);
    let mut counts = vec![0; chances.len()];
    let mut played = 0;
    while played < GAMES_MAX {
        for _ in 0..STEP * 2 / u64::from(games) {
            let mut drawn = random.share();
            let units = chances.iter().position(|chance| {
                drawn -= chance;
                drawn < 0.0
            });
            counts[units.unwrap_or(chances.len() - 1)] += 1;
            played += u64::from(games);
        }
        let llr = gsprt::llr(&counts, games, test).unwrap_or_default();
        if llr <= lower || llr >= upper {
            return (Some(llr >= upper), played);
        }
    }
    (None, played)
}

impl Row {
    pub(super) fn shown(&self) -> String {
        let share = |count: u64| 100.0 * count as f64 / self.runs as f64;
        let side = if self.judged { "0" } else { "1" };
        format!(
            "takes {side}: {:.2} % of {}, {} open; {:.0} games; singly {:.2} %, {:.0} games",
            share(self.wrong),
            self.runs,
            self.open,
            self.games_mean,
            share(self.wrong_unpaired),
            self.games_unpaired
        )
    }

    pub(super) fn wrong(&self) -> Option<String> {
        let share = self.wrong as f64 / self.runs as f64;
        (share > ERRORS_MAX).then(|| format!("{}: errs in {:.2} %", self.name, share * 100.0))
    }
}
