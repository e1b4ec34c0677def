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
