//! Error rates and lengths of sequential tests of simulated agents.

use arena_model::format::{EloModel, Sprt};
use arena_tournament::{format::sprt, sequential::gsprt};

use super::{
    field::{Field, Random},
    singly,
};

/// The accepted error rate of a test at 5 %.
const ERRORS_MAX: f64 = 0.06;
/// Games after which a run is abandoned.
const GAMES_MAX: u64 = 4_000_000;
/// Normalised Elo of one standard deviation of a game.
const ELO_OF_DEVIATION: f64 = 800.0 / std::f64::consts::LN_10;

const CASES: [Case; 9] = [
    Case::new(5.0, EloModel::Logistic, 1.0, 0.8, 2),
    Case::new(5.0, EloModel::Logistic, 1.0, 0.8, 2).every(8),
    Case::new(10.0, EloModel::Logistic, 0.0, 0.0, 2),
    Case::new(20.0, EloModel::Logistic, 1.0, 0.8, 2),
    Case::new(20.0, EloModel::Logistic, 1.0, 0.8, 2).every(1),
    Case::new(10.0, EloModel::Normalized, 1.0, 0.8, 2),
    Case::new(20.0, EloModel::Normalized, 10.0, 0.0, 2),
    Case::new(20.0, EloModel::Logistic, 0.3, 0.4, 3),
    Case::new(20.0, EloModel::Logistic, 0.3, 0.4, 4),
];

/// A test, and its games.
#[derive(Clone, Copy)]
struct Case {
    /// The second hypothesis minus the first.
    elo1: f64,
    model: EloModel,
    /// Blocks between two checks, if the spec sets them.
    step: Option<u64>,
    /// Odds of a tie.
    tie: f64,
    luck: f64,
    seats: usize,
}

impl Case {
    const fn new(elo1: f64, model: EloModel, tie: f64, luck: f64, seats: usize) -> Self {
        Self {
            elo1,
            model,
            step: None,
            tie,
            luck,
            seats,
        }
    }

    const fn every(self, step: u64) -> Self {
        Self {
            step: Some(step),
            ..self
        }
    }

    fn name(&self, strong: bool) -> String {
        let elo1 = self.elo1;
        let mut name = format!("sprt 0 to {elo1} Elo of {} Elo", self.apart(strong));
        if self.model == EloModel::Normalized {
            name += ", normalised";
        }
        if self.seats > 2 {
            name += &format!(", {} seats", self.seats);
        }
        if self.tie > 0.0 {
            name += ", draws";
        }
        if self.luck > 0.0 {
            name += ", dice";
        }
        if let Some(step) = self.step {
            name += &format!(", a look every {step}");
        }
        name
    }

    /// The difference between the agents.
    fn apart(&self, strong: bool) -> f64 {
        if strong { self.elo1 } else { 0.0 }
    }
}

/// One test of one pair of agents.
pub(super) struct Row {
    pub(super) name: String,
    runs: u64,
    wrong: u64,
    open: u64,
    games_mean: f64,
    /// With the trinomial formula of fastchess and single games with their own dice: games, and
    /// wrong verdicts. `None` with more than two seats.
    singly: Option<(f64, u64)>,
    /// Whether the first or the second hypothesis is true.
    judged: bool,
}

/// Each test, once with its first and once with its second hypothesis true.
fn cases() -> impl Iterator<Item = (Case, bool)> {
    let cases = CASES.into_iter();
    cases.flat_map(|case| [false, true].map(|strong| (case, strong)))
}

/// The figures of all rows.
pub(super) fn names() -> impl Iterator<Item = String> {
    cases().map(|(case, strong)| case.name(strong))
}

/// Each test with agents for which one of its hypotheses is true, and the same test with single
/// games and their three outcomes.
pub(super) fn simulate(runs: u64, seed: u64, only: &[String]) -> Vec<Row> {
    let cases = cases().map(|(case, strong)| (case.name(strong), case, strong));
    let cases = cases.filter(|(name, ..)| super::selects(only, name) && runs > 0);
    let rows = cases.map(|(name, case, strong)| {
        let test = Sprt {
            elo0: 0.0,
            elo1: case.elo1,
            model: case.model,
            step: case.step,
            ..Sprt::default()
        };
        let of = (case.tie, case.luck, case.seats);
        let chances = Chances::of(&test, case.apart(strong), of);
        row(name, &test, &chances, strong, (runs, seed))
    });
    rows.collect()
}

fn row(
    name: String,
    test: &Sprt,
    chances: &Chances,
    strong: bool,
    (runs, seed): (u64, u64),
) -> Row {
    let mut row = Row {
        name,
        runs,
        wrong: 0,
        open: 0,
        games_mean: 0.0,
        singly: chances.games.as_ref().map(|_| (0.0, 0)),
        judged: strong,
    };
    for run in 0..runs {
        let mut random = Random::new(seed << 40 | run);
        let (came, games) = decide(test, &chances.blocks, chances.seats as u64, &mut random);
        row.open += u64::from(came.is_none());
        row.wrong += u64::from(came == Some(!strong));
        row.games_mean += games as f64 / runs as f64;
        if let (Some(chances), Some((mean, wrong))) = (&chances.games, &mut row.singly) {
            let (came, games) = singly::decide(test, chances, GAMES_MAX, &mut random);
            *wrong += u64::from(came == Some(!strong));
            *mean += games as f64 / runs as f64;
        }
    }
    row
}

/// Probabilities of the units of a block, with alternating order of agents that share an odd seat,
/// and of a single game.
struct Chances {
    blocks: Vec<Vec<f64>>,
    games: Option<Vec<f64>>,
    seats: usize,
}

impl Chances {
    /// For agents with this difference in Elo, as the test defines it.
    fn of(test: &Sprt, apart: f64, (tie, luck, seats): (f64, f64, usize)) -> Self {
        let chances = |elo: f64| {
            let field = Field {
                name: String::new(),
                seats,
                blocks: 1,
                elo: vec![elo, 0.0],
                tie,
                luck,
                unpaired: false,
                first: 0.0,
                beyond: Vec::new(),
            };
            Self {
                blocks: sprt::groups(seats)
                    .iter()
                    .map(|group| field.block(group))
                    .collect(),
                games: (seats == 2).then(|| field.game()),
                seats,
            }
        };
        // Draws and dice move scores towards a half: the strengths are sought that
        // have what is wanted.
        let (mut low, mut high) = (0.0, 1000.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if chances(middle).elo(test.model) < apart {
                low = middle;
            } else {
                high = middle;
            }
        }
        chances(if apart > 0.0 { low } else { 0.0 })
    }

    /// How far apart they are.
    fn elo(&self, model: EloModel) -> f64 {
        let whole = (self.blocks[0].len() - 1) as f64;
        let each = self.blocks.iter().flat_map(|chances| {
            let shares = chances.iter().enumerate();
            shares.map(|(units, chance)| (units as f64 / whole, chance / self.blocks.len() as f64))
        });
        let mean: f64 = each.clone().map(|(score, chance)| score * chance).sum();
        match model {
            EloModel::Logistic => 400.0 * (mean / (1.0 - mean)).log10(),
            EloModel::Normalized => {
                let square = |(score, chance): (f64, f64)| (score - mean).powi(2) * chance;
                let of_game = (each.map(square).sum::<f64>() * self.seats as f64).sqrt();
                (mean - 0.5) / of_game * ELO_OF_DEVIATION
            }
        }
    }
}

/// Whether the second hypothesis is taken, and after how many games; looked at when
/// the format of that name looks.
fn decide(
    test: &Sprt,
    chances: &[Vec<f64>],
    games: u64,
    random: &mut Random,
) -> (Option<bool>, u64) {
    let (lower, upper) = gsprt::bounds(test);
    let mut counts = vec![0; chances[0].len()];
    let mut played = 0;
    loop {
        let groups = chances.len() as u64;
        let blocks = sprt::blocks_to_look(test, groups, GAMES_MAX / games, played);
        if blocks == 0 {
            return (None, played * games);
        }
        for chances in chances.iter().cycle().take(blocks as usize) {
            counts[random.outcome(chances)] += 1;
        }
        played += blocks;
        let llr = gsprt::llr(&counts, games as u32, test).unwrap_or_default();
        if llr <= lower || llr >= upper {
            return (Some(llr >= upper), played * games);
        }
    }
}

impl Row {
    pub(super) fn shown(&self) -> String {
        let share = |count: u64| 100.0 * count as f64 / self.runs as f64;
        let side = if self.judged { "0" } else { "1" };
        let singly = self.singly.map_or_else(String::new, |(games, wrong)| {
            format!("; fastchess singly {:.2} %, {games:.0} games", share(wrong))
        });
        format!(
            "takes {side}: {:.2} % of {}, {} open; {:.0} games{singly}",
            share(self.wrong),
            self.runs,
            self.open,
            self.games_mean,
        )
    }

    pub(super) fn wrong(&self) -> Option<String> {
        let share = self.wrong as f64 / self.runs as f64;
        (share > ERRORS_MAX).then(|| format!("{}: errs in {:.2} %", self.name, share * 100.0))
    }
}
