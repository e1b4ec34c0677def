use arena_model::result::GameResult;

use super::*;
use crate::{
    schedule::Schedule,
    standings::Standings,
    testing::{Draws, result, tournament},
};

/// A game between two of which the first seat has this luck, and wins where
/// luck and something else together are above nothing.
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

/// The line through the points (luck, score), its value where luck is nothing,
/// and the share of the variance that it explains: by the textbook.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let xx = mean(&|p| (p.0 - x).powi(2));
    let xy = mean(&|p| (p.0 - x) * (p.1 - y));
    let yy = mean(&|p| (p.1 - y).powi(2));
    let left = (yy - xy * xy / xx) / (n - 2.0);
    (y - xy / xx * x, 1.0 - left / (yy / (n - 1.0)))
}

#[test]
fn the_adjusted_score_is_that_of_the_line_at_no_luck() {
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
        let (score, share) = line(&blocks);
        let near = |told: Option<f64>, by_hand: f64| {
            assert!((told.expect("told") - by_hand).abs() < 1e-9, "{told:?}");
        };
        near(agent.score_adjusted, score);
        near(agent.luck_share, share);
        let width = |low: Option<f64>, high: Option<f64>| high.zip(low).map(|(h, l)| h - l);
        let adjusted = width(agent.score_adjusted_low, agent.score_adjusted_high);
        let raw = width(agent.score_low, agent.score_high);
        assert!(adjusted < raw, "{adjusted:?} {raw:?}");
        assert!(agent.luck_games_saved.expect("told") > 100);
    }
    assert!(standings.notes.iter().any(|note| note.contains("Luck")));
}

#[test]
fn of_two_the_pair_is_adjusted_as_each_agent_is() {
    let tournament = tournament(2, 2, 200);
    let mut tally = Tally::new(&tournament).expect("a tally");
    results(200).iter().for_each(|result| tally.add(result));
    let agents = tally.standings().agents;
    let agent = agents.iter().find(|agent| agent.agent == "a0");
    let agent = agent.expect("it played");
    let pair = &tally.evidence().pairs()[0];
    let ends = |of: [Option<f64>; 3]| of.map(|end| end.expect("told"));
    let score = ends([
        agent.score_adjusted,
        agent.score_adjusted_low,
        agent.score_adjusted_high,
    ]);
    let duel = ends([
        pair.score_adjusted,
        pair.score_adjusted_low,
        pair.score_adjusted_high,
    ]);
    let apart = ends([
        pair.difference_adjusted,
        pair.difference_adjusted_low,
        pair.difference_adjusted_high,
    ]);
    for ((score, duel), apart) in score.into_iter().zip(duel).zip(apart) {
        assert!((score - duel).abs() < 1e-9, "{score} {duel}");
        assert!((2.0 * score - 1.0 - apart).abs() < 1e-9, "{score} {apart}");
    }
    let raw = pair.difference_high.zip(pair.difference_low);
    let raw = raw.map(|(high, low)| high - low).expect("told");
    assert!(apart[2] - apart[1] < 0.9 * raw, "{apart:?} {raw}");
}

#[test]
fn among_four_the_difference_is_that_of_what_luck_leaves_of_both() {
    let blocks = 80;
    let tournament = tournament(4, 4, blocks);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut draws = Draws(9);
    // By block and agent: luck and score, as means over its four games.
    let mut points = vec![[(0.0, 0.0); 4]; blocks as usize];
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
        }
        let mut result = result(game, &placement, 10);
        result.luck = luck;
        tally.add(&result);
    }
    let column =
        |agent: usize| -> Vec<(f64, f64)> { points.iter().map(|block| block[agent]).collect() };
    let left = |agent: usize| -> (f64, Vec<f64>) {
        let points = column(agent);
        let n = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let slope = mean(&|p| (p.0 - x) * (p.1 - y)) / mean(&|p| (p.0 - x).powi(2));
        let left = points.iter().map(|p| p.1 - y - slope * (p.0 - x)).collect();
        (y - slope * x, left)
    };
    for pair in tally.evidence().pairs() {
        let place = |name: &str| usize::from(name.as_bytes()[1] - b'0');
        let (one, other) = (left(place(&pair.agent)), left(place(&pair.opponent)));
        let apart = pair.difference_adjusted.expect("told");
        assert!((apart - (one.0 - other.0)).abs() < 1e-9, "{apart}");
        let squares = one.1.iter().zip(&other.1).map(|(a, b)| (a - b).powi(2));
        let n = blocks as f64;
        let error = (squares.sum::<f64>() / (n - 2.0) / n).sqrt();
        let ends = pair
            .difference_adjusted_high
            .zip(pair.difference_adjusted_low);
        let half = ends.map(|(high, low)| (high - low) / 2.0).expect("told");
        let errors = half / error / interval::critical(blocks - 2);
        assert!((0.97..1.05).contains(&errors), "{errors}");
        let duel = pair.score_adjusted_high.zip(pair.score_adjusted_low);
        let raw = pair.score_high.zip(pair.score_low);
        let width = |ends: Option<(f64, f64)>| ends.map(|(high, low)| high - low);
        assert!(width(duel) < width(raw), "{duel:?} {raw:?}");
    }
}

#[test]
fn nothing_is_adjusted_where_luck_is_not_known_or_blocks_are_few() {
    let mut some = results(200);
    some[7].luck.clear();
    for (results, blocks) in [(&some[..], 200), (&results(11)[..], 11), (&[][..], 5)] {
        let standings = standings(results, blocks);
        for agent in standings.agents {
            assert_eq!(agent.score_adjusted, None);
            assert_eq!(agent.luck_share, None);
            assert_eq!(agent.luck_games_saved, None);
        }
    }
}

#[test]
fn luck_beyond_all_measure_breaks_no_sum() {
    let mut results = results(50);
    for (place, result) in results.iter_mut().enumerate() {
        let most = if place % 3 == 0 { i32::MIN } else { i32::MAX };
        result.luck = vec![most, most];
    }
    let standings = standings(&results, 50);
    for agent in standings.agents {
        let numbers = [
            agent.score_adjusted,
            agent.score_adjusted_low,
            agent.luck_mean,
        ];
        assert!(numbers.into_iter().flatten().all(f64::is_finite));
    }
}
