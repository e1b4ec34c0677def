//! Ratings compared with those of other programs, on the same games.

use std::{
    collections::BTreeMap,
    io::Write,
    process::{Command, Stdio},
};

use arena_model::{
    format::{EloModel, Sprt},
    result::GameResult,
};
use arena_tournament::{
    ratings::{
        ELO, PRIOR,
        running::{Running, System},
    },
    sequential::gsprt,
};
use serde::{Deserialize, Serialize};

use super::{
    Broken, Figure, Outcome, StressTest,
    calibration::field::{Field, Random, World},
};
use crate::{program, repository};

/// The largest accepted difference between fits, in Elo.
const ELO_MAX: f64 = 0.5;
/// The largest accepted difference between running ratings, on a scale with the mean 25.
const RUNNING_MAX: f64 = 0.01;
/// Log-likelihood ratios are published with two decimals.
const LLR_MAX: f64 = 0.01;

/// Tests of fishtest, from M. Lohne's racetrack (`src/tests/sprt_tests.rs` of
/// github.com/MortenLohne/racetrack): pairs lost, lost and drawn, even, won and drawn, won; the
/// bounds in normalised Elo; the ratio.
const PUBLISHED: [([u64; 5], f64, f64, f64); 4] = [
    ([440, 2910, 5170, 2888, 455], 0.0, 5.0, -2.27),
    ([142, 620, 1122, 699, 188], 0.0, 5.0, 2.99),
    ([349, 1561, 3340, 1604, 359], -5.0, 0.0, 2.90),
    ([98, 382, 674, 369, 71], -5.0, 0.0, -1.11),
];

/// Ordo's ratings of eight chess engines, rounded to fifties and anchored at the first one, with
/// the points of each against those below it in ten games (D. Dekker in
/// github.com/jromang/picochess, issue 187, 2016).
const ORDO: [(f64, &[f64]); 8] = [
    (3100.0, &[8.0, 9.5, 9.0, 10.0, 10.0, 10.0, 9.5]),
    (2850.0, &[6.5, 8.5, 9.5, 9.0, 10.0, 10.0]),
    (2750.0, &[5.5, 10.0, 10.0, 10.0, 10.0]),
    (2650.0, &[8.0, 8.5, 10.0, 10.0]),
    (2350.0, &[8.5, 9.0, 10.0]),
    (2200.0, &[9.0, 9.5]),
    (1900.0, &[8.5]),
    (1650.0, &[]),
];
/// Half of the rounding step.
const ORDO_MAX: f64 = 25.0;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Comparisons {
    /// Blocks of each group.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The games in the format of the other programs.
#[derive(Serialize)]
struct Given {
    precision: f64,
    two: Games,
    two_ties: Games,
    four: Games,
    four_ties: Games,
}

#[derive(Serialize)]
struct Games {
    agents: usize,
    games: Vec<PlayedGame>,
    /// Elo from our own fit.
    #[serde(skip)]
    ours: Vec<f64>,
}

#[derive(Serialize)]
struct PlayedGame {
    seats: Vec<u16>,
    placement: Vec<u8>,
}

/// The answer of the other programs: log strengths.
#[derive(Deserialize)]
struct Found {
    two: Vec<f64>,
    two_ties: Vec<f64>,
    four: Vec<f64>,
    four_ties: Vec<f64>,
    running: Others,
}

/// Means and deviations.
#[derive(Deserialize)]
struct Others {
    trueskill: Vec<(f64, f64)>,
    openskill: Vec<(f64, f64)>,
}

impl StressTest for Comparisons {
    const PROMISE: &'static str = "ratings are within 0.5 Elo of choix and of an independent fit \
                                   with ties; running ratings equal those of trueskill and openskill, \
                                   likelihood ratios equal those that fishtest published, and \
                                   ratings equal Ordo's";

    fn quick() -> Self {
        Self { blocks: 5, seed: 1 }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut figures = vec![published()?, ordo()?];
        let python = match program::python() {
            Ok(python) => python,
            Err(reported) => return Ok(Outcome::Skipped(reported)),
        };
        let mut probe = Command::new(&python);
        probe.args(["-c", "import choix, trueskill, openskill"]);
        if !probe.output().is_ok_and(|output| output.status.success()) {
            return Ok(Outcome::Skipped(format!(
                "{} cannot import choix, trueskill and openskill: `eval \"$(tests/setup)\"` \
                 installs them where pip can",
                python.display()
            )));
        }
        let given = Given {
            precision: 1.0 / (PRIOR * PRIOR),
            two: self.games(2, 0.0),
            two_ties: self.games(2, 1.0),
            four: self.games(4, 0.0),
            four_ties: self.games(4, 0.6),
        };
        let found = ask(&python, &given)?;
        for (name, ours, theirs) in [
            ("two seats, choix", &given.two, &found.two),
            (
                "two seats with draws, own fit",
                &given.two_ties,
                &found.two_ties,
            ),
            ("four seats, choix", &given.four, &found.four),
            (
                "four seats with ties, own fit",
                &given.four_ties,
                &found.four_ties,
            ),
        ] {
            figures.push(ratings(name, &ours.ours, theirs)?);
        }
        for (name, system, theirs) in [
            ("trueskill", System::TrueSkill, &found.running.trueskill),
            ("openskill", System::WengLin, &found.running.openskill),
        ] {
            figures.push(running(name, system, &given.four, theirs)?);
        }
        Ok(Outcome::Holds(figures))
    }
}

impl Comparisons {
    /// A tournament of five agents with strengths up to 300 Elo apart.
    fn games(&self, seats: usize, tie: f64) -> Games {
        let world = World::new(Field {
            name: String::new(),
            seats,
            blocks: self.blocks,
            elo: vec![150.0, 60.0, 0.0, -60.0, -150.0],
            tie,
            luck: 0.0,
            unpaired: false,
            first: 0.0,
            beyond: Vec::new(),
        });
        let mut games = Vec::new();
        let mut random = Random::new(self.seed);
        let tally = world.play_reporting(
            &mut random,
            |_, _| {},
            |result: &GameResult| {
                games.push(PlayedGame {
                    seats: result.seats.clone(),
                    placement: result.placement.clone(),
                });
            },
        );
        let ratings = tally.evidence().ratings(None);
        Games {
            agents: 5,
            games,
            ours: ratings.map_or_else(Vec::new, |ratings| {
                ratings.agents.iter().map(|rating| rating.value).collect()
            }),
        }
    }
}

/// Runs the other programs.
fn ask(python: &std::path::Path, given: &Given) -> Result<Found, Broken> {
    let mut child = Command::new(python)
        .arg(repository().join("tests/statistics/compare.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Broken::new)?;
    let input = serde_json::to_vec(given).map_err(Broken::new)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&input).map_err(Broken::new)?;
    }
    let output = child.wait_with_output().map_err(Broken::new)?;
    if !output.status.success() {
        return Err(Broken::new(String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(Broken::new)
}

/// The largest difference in Elo, both with the mean 0.
fn ratings(name: &str, ours: &[f64], logs: &[f64]) -> Result<Figure, Broken> {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let away = ours
        .iter()
        .zip(logs)
        .map(|(ours, log)| (ours - ELO * (log - mean)).abs());
    let most = away.fold(0.0, f64::max);
    if ours.len() != logs.len() || most > ELO_MAX {
        return Err(Broken::new(format_args!(
            "{name}: {ours:?} differ from log strengths {logs:?} by up to {most:.3} Elo"
        )));
    }
    Ok(Figure::new(
        &format!("{name}: differs by at most, in Elo"),
        format!("{most:.6}"),
    ))
}

fn running(
    name: &str,
    system: System,
    given: &Games,
    theirs: &[(f64, f64)],
) -> Result<Figure, Broken> {
    let mut ours = Running::new(system, given.agents);
    for game in &given.games {
        ours.add(&game.seats, &game.placement);
    }
    let pairs = ours.ratings().into_iter().zip(theirs);
    let away = pairs.map(|(ours, (mean, deviation))| {
        let deviation = (ours.deviation.unwrap_or(f64::NAN) - deviation).abs();
        (ours.rating - mean).abs().max(deviation)
    });
    let most = away.fold(0.0, f64::max);
    if most > RUNNING_MAX {
        return Err(Broken::new(format_args!(
            "{name}: {:?} differ from {theirs:?} by up to {most:.4}",
            ours.ratings()
        )));
    }
    Ok(Figure::new(
        &format!("{name}: differs by at most"),
        format!("{most:.6}"),
    ))
}

/// Likelihood ratios of published tests.
fn published() -> Result<Figure, Broken> {
    let mut most: f64 = 0.0;
    for (counts, elo0, elo1, expected) in PUBLISHED {
        let test = Sprt {
            elo0,
            elo1,
            model: EloModel::Normalized,
            ..Sprt::default()
        };
        let found = gsprt::llr(&counts, 2, &test).unwrap_or_default();
        most = most.max((found - expected).abs());
        if (found - expected).abs() > LLR_MAX {
            return Err(Broken::new(format_args!(
                "{counts:?} of {elo0} to {elo1}: the ratio is {found:.3}, published {expected}"
            )));
        }
    }
    Ok(Figure::new(
        "published ratios of fishtest's tests: differ by at most",
        format!("{most:.4}"),
    ))
}

/// Ratings of games that were rated with Ordo, which counts a draw as half a win. Here each game
/// counts twice, and each side wins a drawn game once. (Davidson's model has a parameter for draws;
/// with it, the same score is a greater lead.)
fn ordo() -> Result<Figure, Broken> {
    let world = World::new(Field {
        name: String::new(),
        seats: 2,
        blocks: 10,
        elo: vec![0.0; ORDO.len()],
        tie: 0.0,
        luck: 0.0,
        unpaired: false,
        first: 0.0,
        beyond: Vec::new(),
    });
    // For each pair: the wins that the first still needs.
    let mut left: BTreeMap<(u16, u16), u32> = BTreeMap::new();
    for (one, (_, row)) in (0..).zip(ORDO) {
        for (other, points) in (one + 1..).zip(row) {
            left.insert((one, other), (2.0 * points) as u32);
        }
    }
    let tally = world.ended(|seats| {
        let pair = (seats[0].min(seats[1]), seats[0].max(seats[1]));
        let wins = left.get_mut(&pair).expect("each pair");
        let winner = if *wins > 0 { pair.0 } else { pair.1 };
        *wins = wins.saturating_sub(1);
        seats
            .iter()
            .map(|&seat| 1 + u8::from(seat != winner))
            .collect()
    });
    // Ordo has no prior.
    let ratings = tally.evidence().ratings_with_prior(Some(0), 1000.0);
    let ratings = ratings.map(|found| found.agents);
    let ours: Vec<f64> = ratings.iter().flatten().map(|one| one.value).collect();
    let pairs = ours.iter().zip(ORDO);
    let away = pairs.map(|(ours, (theirs, _))| (ORDO[0].0 + ours - theirs).abs());
    let most = away.fold(0.0, f64::max);
    if ours.len() != ORDO.len() || most > ORDO_MAX {
        return Err(Broken::new(format_args!(
            "{ours:?} Elo, where Ordo's ratings, less {}, are {ORDO:?}: {most:.1} Elo apart",
            ORDO[0].0
        )));
    }
    Ok(Figure::new(
        "ratings that Ordo was published to give, to fifty: differ by at most, in Elo",
        format!("{most:.1}"),
    ))
}
