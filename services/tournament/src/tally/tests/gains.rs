//! Precision of the pairing efficiency and of the luck share.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::*;
use crate::{Pairing, Standings};

pub(super) const RUNS: u64 = 2000;

/// Fails if the coverage is so low that a 95 % interval would reach it in one test of a
/// thousand.
#[expect(clippy::print_stdout, reason = "mean widths belong to coverage")]
pub(super) fn holds(held: u64, width: f64, what: &str) {
    let promised = Binomial::new(0.95, RUNS).expect("a share");
    let share = held as f64 / RUNS as f64;
    println!(
        "{what}: holds in {:.2} %, mean width {:.3}",
        100.0 * share,
        width / RUNS as f64
    );
    assert!(promised.cdf(held) > 0.001, "{what}: {share}");
}

/// Games of equally strong agents. In this share of blocks only the dice decide, the same
/// way in all rotations; in all others the games are independent.
fn dice(tournament: &Tournament, share: f64, draws: &mut Draws) -> (Vec<GameResult>, Tally) {
    let schedule = Schedule::new(tournament).expect("a schedule");
    let mut tally = Tally::new(tournament).expect("a tally");
    let mut results = Vec::new();
    let rotations = u64::from(schedule.rotations());
    for block in 0..schedule.games() / rotations {
        let mut order: Vec<u8> = (1..=tournament.seats as u8).collect();
        draws.shuffle(&mut order);
        let decided = (draws.below(1000) as f64) < 1000.0 * share;
        for index in block * rotations..(block + 1) * rotations {
            if !decided {
                draws.shuffle(&mut order);
            }
            let result = result(schedule.game(index), &order, 10);
            tally.add(&result);
            results.push(result);
        }
    }
    (results, tally)
}

fn pairing(tally: &Tally) -> Option<Pairing> {
    tally.standings().pairing
}

#[test]
fn pairing_efficiency_equals_games() {
    for (agents, seats, blocks) in [(2, 2, 40), (3, 2, 15), (3, 3, 50), (4, 4, 60)] {
        let tournament = tournament(agents, seats, blocks);
        let (results, tally) = dice(&tournament, 0.3, &mut Draws(1));
        // Units of each game, and their sums by block, by the member's seat.
        let mut games: BTreeMap<(Vec<u16>, u16, usize), Vec<f64>> = BTreeMap::new();
        let mut sums: BTreeMap<(Vec<u16>, u16), BTreeMap<u64, f64>> = BTreeMap::new();
        for result in &results {
            let mut group = result.seats.clone();
            group.sort_unstable();
            for (seat, &agent) in result.seats.iter().enumerate() {
                let units = 2.0 * (seats as f64 - f64::from(result.placement[seat]));
                let of_game = games.entry((group.clone(), agent, seat)).or_default();
                of_game.push(units);
                let of_block = sums.entry((group.clone(), agent)).or_default();
                *of_block.entry(result.block).or_default() += units;
            }
        }
        let spread = |values: Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values
                .iter()
                .map(|of| (of - mean) * (of - mean))
                .sum::<f64>()
        };
        let apart: f64 = games.into_values().map(spread).sum();
        let blocks = sums.into_values().map(|of| of.into_values().collect());
        let together: f64 = blocks.map(spread).sum();
        let found = pairing(&tally).expect("blocks");
        let expected = 1.0 - together / apart;
        let reduction = numbers(Some(found.variance_reduction));
        assert!((reduction[0] - expected).abs() < 1e-9, "{seats}");
        assert!(reduction[1] < expected && expected < reduction[2]);
        let saved = results.len() as f64 * (apart / together - 1.0);
        let found = found.games_saved;
        assert_eq!(found.value, Some(saved.round() as i64));
        assert!(found.low < found.value && found.value < found.high);
    }
}

#[test]
fn pairing_efficiency_needs_thirty_blocks() {
    for (agents, blocks) in [(2, 29), (8, 2)] {
        let few = dice(&tournament(agents, 2, blocks), 0.1, &mut Draws(1)).1;
        assert_eq!(pairing(&few), None);
    }
    for (agents, seats, blocks, share) in [
        (2, 2, 30, 0.0),
        (2, 2, 50, 0.1),
        (2, 2, 300, 0.9),
        (4, 2, 10, 0.3),
        (9, 2, 2, 0.1),
        (9, 2, 2, 0.9),
        (3, 3, 50, 0.1),
        (4, 4, 100, 0.5),
        (5, 3, 4, 0.2),
    ] {
        let tournament = tournament(agents, seats, blocks);
        let mut draws = Draws(0x5eed);
        let (mut held, mut width) = (0, 0.0);
        for _ in 0..RUNS {
            let found = pairing(&dice(&tournament, share, &mut draws).1).expect("blocks");
            let ends = found.variance_reduction.fixed.expect("blocks");
            held += u64::from(ends.contains(share));
            width += ends.high - ends.low;
        }
        let what = format!("{agents} agents, {seats} seats, {blocks} blocks, truth {share}");
        holds(held, width, &what);
    }
}

/// Games of two agents in which luck has this weight, and more at the ends.
fn lucky(tournament: &Tournament, worth: f64, draws: &mut Draws) -> Standings {
    let schedule = Schedule::new(tournament).expect("a schedule");
    let mut tally = Tally::new(tournament).expect("a tally");
    for index in 0..schedule.games() {
        let uniform = |draws: &mut Draws| draws.below(2_000_001) as f64 / 1e6 - 1.0;
        let luck = uniform(draws) / 2.0;
        let wins = worth * luck + uniform(draws) > 0.0;
        let placement = if wins { [1, 2] } else { [2, 1] };
        let mut result = result(schedule.game(index), &placement, 10);
        let luck = (1e6 * luck) as i32;
        result.luck = vec![luck, -luck];
        tally.add(&result);
    }
    tally.standings()
}

#[test]
fn luck_share_interval_has_coverage() {
    for worth in [0.0, 0.5, 1.0, 2.0] {
        // For one game: luck ~ U(−½, ½) and a win probability of ½ + worth·luck/2 give Cov
        // = worth/24, Var(luck) = 1/12 and Var(score) = ¼.
        let truth = (worth / 24.0_f64).powi(2) * 12.0 * 4.0;
        for (agents, blocks) in [(2, 30), (2, 200), (5, 10), (9, 2)] {
            let tournament = tournament(agents, 2, blocks);
            let mut draws = Draws(0x5eed);
            let (mut held, mut width) = (0, 0.0);
            let mut shown = 0;
            for _ in 0..RUNS {
                let agent = &lucky(&tournament, worth, &mut draws).agents[0];
                let Some(ends) = agent.luck_share.and_then(|share| share.fixed) else {
                    continue;
                };
                shown += 1;
                held += u64::from(ends.contains(truth));
                width += ends.high - ends.low;
                let saved = agent.luck_games_saved;
                assert!(saved.low <= saved.value);
                assert!(saved.high.is_none() || saved.value <= saved.high);
            }
            if agents == 9 {
                assert_eq!(shown, 0, "16 blocks are few");
            } else {
                let what = format!("{agents} agents, {blocks} blocks, truth {truth:.3}");
                holds(held, width, &what);
            }
        }
    }
}
