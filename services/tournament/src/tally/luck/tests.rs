use std::cmp::Ordering;

use arena_model::result::GameResult;

use super::*;
use crate::{
    Standings,
    schedule::Schedule,
    tests::{Draws, numbers, result, tournament},
};

/// A game of two in which the first seat has this luck, and wins if the sum of luck and
/// noise is positive.
fn drawn(schedule: &Schedule, index: u64, draws: &mut Draws) -> GameResult {
    let uniform = |draws: &mut Draws| draws.below(1_000_001) as i32 - 500_000;
    let luck = uniform(draws);
    let wins = luck + uniform(draws) / 2 > 0;
    let placement = if wins { [1, 2] } else { [2, 1] };
    let mut result = result(schedule.game(index), &placement, 10);
    result.luck = vec![luck, -luck];
    result
}

fn standings(results: &[GameResult], blocks: u64) -> Standings {
    let tournament = tournament(2, 2, blocks);
    let mut tally = Tally::new(&tournament).expect("a tally");
    results.iter().for_each(|result| tally.add(result));
    tally.standings()
}

fn results(blocks: u64) -> Vec<GameResult> {
    let schedule = Schedule::new(&tournament(2, 2, blocks)).expect("a schedule");
    let mut draws = Draws(5);
    (0..2 * blocks)
        .map(|index| drawn(&schedule, index, &mut draws))
        .collect()
}

/// Textbook cross-fitting: the residuals of the scores of points (luck, score), with the
/// slope of every other point.
fn left(points: &[(f64, f64)]) -> Vec<f64> {
    let slope = |half: usize| {
        let own: Vec<(f64, f64)> = points.iter().skip(half).step_by(2).copied().collect();
        let (x, y): (Vec<f64>, Vec<f64>) = own.iter().copied().unzip();
        let (x, y) = (mean(&x), mean(&y));
        let xx: f64 = own.iter().map(|point| (point.0 - x).powi(2)).sum();
        let xy: f64 = own.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        xy / xx
    };
    let slopes = [slope(1), slope(0)];
    let places = points.iter().enumerate();
    places
        .map(|(place, (luck, score))| score - slopes[place % 2] * luck)
        .collect()
}

/// The width of the fixed-sample interval.
fn width(of: Option<Estimate>) -> f64 {
    let numbers = numbers(of);
    numbers[2] - numbers[1]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2));
    squares.sum::<f64>() / (values.len() - 1) as f64
}

#[test]
fn luck_slope_is_cross_fitted() {
    let results = results(200);
    let standings = standings(&results, 200);
    for agent in &standings.agents {
        let own = |result: &GameResult| {
            let seat = result
                .seats
                .iter()
                .position(|of| format!("a{of}") == agent.agent);
            let seat = seat.expect("it plays every game");
            let score = f64::from(2 - i32::from(result.placement[seat]));
            (f64::from(result.luck[seat]) / 1e6, score)
        };
        let blocks: Vec<(f64, f64)> = results
            .chunks(2)
            .map(|games| {
                let sums = games.iter().map(own);
                let (x, y) = sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                (x / 2.0, y / 2.0)
            })
            .collect();
        let left = left(&blocks);
        let (_, scores): (Vec<f64>, Vec<f64>) = blocks.into_iter().unzip();
        let near = |reported: Option<Estimate>, by_hand: f64| {
            let apart = numbers(reported)[0] - by_hand;
            assert!(apart.abs() < 1e-9, "{reported:?}");
        };
        near(agent.score_adjusted, mean(&left));
        near(agent.luck_share, 1.0 - variance(&left) / variance(&scores));
        let [adjusted, raw] = [agent.score_adjusted, agent.score].map(width);
        assert!(adjusted < raw, "{adjusted:?} {raw:?}");
        assert!(agent.luck_games_saved.value.expect("a value") > 100);
    }
    assert!(standings.notes.iter().any(|note| note.contains("Luck")));
}

#[test]
fn unadjusted_score_is_marked() {
    let shown = |blocks: u64, luck: fn(u64) -> Vec<i32>, wins: fn(u64) -> bool| {
        let tournament = tournament(2, 2, blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let mut tally = Tally::new(&tournament).expect("a tally");
        for index in 0..schedule.games() {
            let game = schedule.game(index);
            let first = game.seats[0] == 0;
            let placement = if wins(index) == first { [1, 2] } else { [2, 1] };
            let mut result = result(game, &placement, 10);
            result.luck = luck(index);
            tally.add(&result);
        }
        let agents = tally.standings().agents;
        let pair = tally.evidence().pairs().remove(0);
        let agent = agents.into_iter().find(|agent| agent.agent == "a0");
        let agent = agent.expect("it plays");
        assert_eq!(pair.score_adjusted, agent.score_adjusted);
        assert_eq!(pair.score_adjusted_is_raw, agent.score_adjusted_is_raw);
        assert_eq!(pair.difference_adjusted_is_raw, agent.score_adjusted_is_raw);
        agent
    };
    let some = |index: u64| {
        vec![
            (index * 7919 % 1000) as i32,
            -((index * 7919 % 1000) as i32),
        ]
    };
    // All blocks are equal: there is nothing to adjust, and the score is unchanged.
    let alike = shown(20, some, |_| true);
    let adjusted = numbers(alike.score_adjusted);
    assert_eq!(adjusted[0], 1.0);
    assert!(!alike.score_adjusted_is_raw && alike.luck_share.is_none());
    assert!(adjusted[1] < 1.0);
    for (blocks, luck) in [
        (4, some as fn(u64) -> Vec<i32>),
        (20, |index| if index < 4 { Vec::new() } else { vec![1, -1] }),
    ] {
        let raw = shown(blocks, luck, |index| index % 3 > 0);
        assert!(raw.score_adjusted_is_raw);
        assert_eq!(raw.score_adjusted, raw.score);
    }
    // If no game has luck, there is no adjusted score.
    let none = shown(20, |_| Vec::new(), |index| index % 3 > 0);
    assert_eq!(
        (none.score_adjusted, none.score_adjusted_is_raw),
        (None, false)
    );
}

/// All distributions of `blocks` blocks over `kinds` kinds.
fn ways(blocks: u64, kinds: usize) -> Vec<Vec<u64>> {
    if kinds == 1 {
        return vec![vec![blocks]];
    }
    let mut all = Vec::new();
    for first in 0..=blocks {
        for mut rest in ways(blocks - first, kinds - 1) {
            rest.push(first);
            all.push(rest);
        }
    }
    all
}

#[test]
fn luck_adjustment_is_unbiased() {
    // Luck, units of four and probabilities in sevenths of a block: luck has mean zero, and
    // units are not linear in it.
    const KINDS: [(i64, u64, u64); 4] = [
        (-100_000, 1, 3),
        (-100_000, 2, 1),
        (0, 4, 1),
        (200_000, 2, 2),
    ];
    const BLOCKS: u64 = 8;
    let halves: Vec<(LuckSums, Moments, f64)> = ways(BLOCKS, KINDS.len())
        .into_iter()
        .map(|counts| {
            let (mut luck, mut units) = (LuckSums::default(), Moments::default());
            let mut orders: u64 = (1..=BLOCKS).product();
            let mut chance = 1.0;
            for ((of, worth, weight), count) in KINDS.into_iter().zip(counts) {
                for _ in 0..count {
                    luck.add(of, worth);
                    units.add(worth);
                    chance *= weight as f64 / 7.0;
                }
                orders /= (1..=count).product::<u64>();
            }
            (luck, units, chance * orders as f64)
        })
        .collect();
    let (mut all, mut score, mut adjusted, mut apart) = (0.0, 0.0, 0.0, 0);
    for (even, of_even, chance) in &halves {
        for (odd, of_odd, other) in &halves {
            let units = *of_even + *of_odd;
            let mut adjusting = Adjusting::default();
            adjusting.add((units, 4), Some([*even, *odd]), 2.0);
            let raw = units.sum as f64 / (8.0 * BLOCKS as f64);
            // Also if all blocks are equal: there is no selection by results.
            let without = adjusting.adjusted(10.0).expect("enough blocks").value;
            let chance = chance * other;
            all += chance;
            score += chance * raw;
            adjusted += chance * without;
            apart += u32::from(without != raw);
        }
    }
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} {other}");
    near(all, 1.0);
    near(score, 13.0 / 28.0);
    near(adjusted, score);
    assert!(apart > 20_000, "{apart}");
}

#[test]
fn groups_of_one_block_are_adjusted() {
    let tournament = tournament(24, 2, 1);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut draws = Draws(3);
    for index in 0..schedule.games() {
        tally.add(&drawn(&schedule, index, &mut draws));
    }
    for agent in tally.standings().agents {
        assert!(agent.score_adjusted.is_some(), "{}", agent.agent);
    }
}

#[test]
fn pair_of_two_is_adjusted_like_its_agents() {
    let tournament = tournament(2, 2, 200);
    let mut tally = Tally::new(&tournament).expect("a tally");
    results(200).iter().for_each(|result| tally.add(result));
    let agents = tally.standings().agents;
    let agent = agents.iter().find(|agent| agent.agent == "a0");
    let agent = agent.expect("it played");
    let pair = &tally.evidence().pairs()[0];
    let score = numbers(agent.score_adjusted);
    let duel = numbers(pair.score_adjusted);
    let apart = numbers(pair.difference_adjusted);
    for ((score, duel), apart) in score.into_iter().zip(duel).zip(apart).take(3) {
        assert!((score - duel).abs() < 1e-9, "{score} {duel}");
        assert!((2.0 * score - 1.0 - apart).abs() < 1e-9, "{score} {apart}");
    }
    let [apart, raw] = [pair.difference_adjusted, pair.difference].map(width);
    assert!(apart < 0.9 * raw, "{apart:?} {raw}");
}

#[test]
fn luck_adjusts_differences_of_four() {
    let blocks = 80;
    let tournament = tournament(4, 4, blocks);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut draws = Draws(9);
    // Luck and score by block and agent, as means over its four games; and by pair, the
    // luck difference of the first and its score against the other.
    let mut points = vec![[(0.0, 0.0); 4]; blocks as usize];
    let mut duels = vec![[[(0.0, 0.0); 4]; 4]; blocks as usize];
    for index in 0..4 * blocks {
        let luck: Vec<i32> = (0..4)
            .map(|_| draws.below(600_001) as i32 - 300_000)
            .collect();
        let strength: Vec<i32> = luck
            .iter()
            .map(|luck| luck + draws.below(400_000) as i32)
            .collect();
        let behind = |seat: usize| {
            strength
                .iter()
                .filter(|&&other| other > strength[seat])
                .count()
        };
        let placement: Vec<u8> = (0..4).map(|seat| behind(seat) as u8 + 1).collect();
        let game = schedule.game(index);
        for (seat, &agent) in game.seats.iter().enumerate() {
            let (of_luck, score) = &mut points[(index / 4) as usize][usize::from(agent)];
            *of_luck += f64::from(luck[seat]) / 4e6;
            *score += f64::from(4 - placement[seat]) / 12.0;
            for (against, &other) in game.seats.iter().enumerate() {
                let duels = &mut duels[(index / 4) as usize][usize::from(agent)];
                let (of_luck, score) = &mut duels[usize::from(other)];
                *of_luck += f64::from(luck[seat] - luck[against]) / 4e6;
                let units = match placement[seat].cmp(&placement[against]) {
                    Ordering::Less => 1.0,
                    Ordering::Equal => 0.5,
                    Ordering::Greater => 0.0,
                };
                *score += units / 4.0;
            }
        }
        let mut result = result(game, &placement, 10);
        result.luck = luck;
        tally.add(&result);
    }
    let left_of = |agent: usize| {
        let points: Vec<_> = points.iter().map(|block| block[agent]).collect();
        left(&points)
    };
    for pair in tally.evidence().pairs() {
        let place = |name: &str| usize::from(name.as_bytes()[1] - b'0');
        let [one, other] = [&pair.agent, &pair.opponent].map(|name| place(name));
        let duel: Vec<_> = duels.iter().map(|block| block[one][other]).collect();
        let score = numbers(pair.score_adjusted)[0];
        assert!((score - mean(&left(&duel))).abs() < 1e-9, "{score}");
        let both = left_of(one).into_iter().zip(left_of(other));
        let differences: Vec<f64> = both.map(|(one, other)| one - other).collect();
        let apart = numbers(pair.difference_adjusted)[0];
        assert!((apart - mean(&differences)).abs() < 1e-9, "{apart}");
        let error = (variance(&differences) / blocks as f64).sqrt();
        let half = width(pair.difference_adjusted) / 2.0;
        let errors = half / error / interval::critical(blocks - 1);
        assert!((0.97..1.05).contains(&errors), "{errors}");
        let [duel, raw] = [pair.score_adjusted, pair.score].map(width);
        assert!(duel < raw, "{duel:?} {raw:?}");
    }
}

#[test]
fn few_blocks_have_no_luck_share() {
    let mut some = results(200);
    some[7].luck.clear();
    for (results, blocks) in [(&some[..], 200), (&results(11)[..], 11), (&[][..], 5)] {
        let standings = standings(results, blocks);
        for agent in standings.agents {
            assert_eq!(agent.score_adjusted, agent.score);
            assert_eq!(agent.luck_share, None);
            assert_eq!(agent.luck_games_saved.value, None);
        }
    }
}

#[test]
fn extreme_luck_overflows_no_sum() {
    let mut results = results(50);
    for (place, result) in results.iter_mut().enumerate() {
        let most = if place % 3 == 0 { i32::MIN } else { i32::MAX };
        result.luck = vec![most, most];
    }
    let standings = standings(&results, 50);
    for agent in standings.agents {
        let known = numbers(agent.score_adjusted).into_iter();
        assert!(known.chain(agent.luck_mean).all(f64::is_finite));
    }
}

#[test]
fn luck_note_has_shares_with_intervals() {
    let said = |shares: &[f64]| {
        let agents = shares.iter().map(|&share| AgentStanding {
            luck_share: Some(Estimate {
                value: share,
                fixed: Some(Interval {
                    low: share - 0.05,
                    high: share + 0.1,
                }),
                anytime: None,
            }),
            ..AgentStanding::default()
        });
        note(&agents.collect::<Vec<_>>())
    };
    for (shares, parts) in [
        (
            &[0.251, 0.3][..],
            ["explains 25 to 30 % of", "within 20 to 40 %"],
        ),
        (
            &[-0.034, 0.12],
            ["explains -3 to 12 % of", "within -8 to 22 %"],
        ),
        (&[0.001], ["explains 0 % of", "within -5 to 10 %"]),
    ] {
        let text = said(shares).expect("shares");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    assert_eq!(said(&[]), None);
}
