//! Agents that have several seats of a game, as in a sequential test with three or four
//! seats.

use arena_model::format::{Format, Settings, Sprt};

use super::*;
use crate::{Standings, format::Verdict, stages::Stages, tests::numbers};

/// A test with three or four seats in which the first agent is better and later seats are
/// better, too. Luck explains a part of the score.
fn sprt(seats: usize, blocks: u64) -> (Vec<GameResult>, Tally, Verdict) {
    let mut tournament = tournament(2, seats, blocks);
    tournament.format = Format::Sprt;
    tournament.settings = Some(Settings::Sprt(Sprt {
        elo1: 0.01,
        step: Some(blocks),
        ..Sprt::default()
    }));
    let mut stages = Stages::new(&tournament).expect("stages");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut draws = Draws(7);
    let mut results = Vec::new();
    while stages.verdict().is_none() {
        let schedule = stages.schedule().clone();
        tally.follow(&schedule);
        for index in results.len() as u64..schedule.games() {
            let game = schedule.game(index);
            let luck: Vec<i64> = (0..seats).map(|_| draws.below(400) as i64).collect();
            let points: Vec<i64> = (0..seats)
                .map(|seat| {
                    let agent = i64::from(game.seats[seat] == 0);
                    let chance = draws.below(900) as i64;
                    (chance + luck[seat] + 150 * agent + 60 * seat as i64) / 100
                })
                .collect();
            let before = |own: &i64| points.iter().filter(|&other| other > own).count() as u8;
            let placement: Vec<u8> = points.iter().map(|own| 1 + before(own)).collect();
            let mut result = result(game, &placement, 10);
            let sum: i64 = luck.iter().sum();
            result.luck = luck
                .iter()
                .map(|of| (1000 * (seats as i64 * of - sum)) as i32)
                .collect();
            stages.add(&result);
            tally.add(&result);
            results.push(result);
        }
        stages.advance().expect("games");
    }
    let verdict = stages.verdict().expect("a verdict").clone();
    (results, tally, verdict)
}

/// The first agent's share of the units between its seats and the other agent's.
fn score(result: &GameResult) -> f64 {
    let (mut got, mut of) = (0.0, 0.0);
    for (own, &agent) in result.seats.iter().enumerate() {
        for (other, _) in result.seats.iter().enumerate().filter(|of| *of.1 != agent) {
            if agent == 0 {
                of += 1.0;
                got += match result.placement[own].cmp(&result.placement[other]) {
                    std::cmp::Ordering::Less => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Greater => 0.0,
                };
            }
        }
    }
    got / of
}

fn near(found: Option<f64>, expected: f64, what: &str) {
    let found = found.expect(what);
    assert!(
        (found - expected).abs() < 1e-9,
        "{what}: {found} {expected}"
    );
}

fn agent<'a>(standings: &'a Standings, name: &str) -> &'a AgentStanding {
    let mut agents = standings.agents.iter();
    agents.find(|agent| agent.agent == name).expect("an agent")
}

#[test]
fn seat_scores_follow_placements() {
    for seats in [3, 4] {
        let (results, tally, _) = sprt(seats, 200);
        let standings = tally.standings();
        for (seat, standing) in standings.seats.iter().enumerate() {
            let of = |result: &GameResult| {
                let own = result.placement[seat];
                let worth = |&other: &u8| match own.cmp(&other) {
                    std::cmp::Ordering::Less => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Greater => 0.0,
                };
                // Minus half a point for itself.
                let all: f64 = result.placement.iter().map(worth).sum();
                (all - 0.5) / (seats - 1) as f64
            };
            let sum: f64 = results.iter().map(of).sum();
            let what = format!("seat {seat} of {seats}");
            let score = numbers(standing.score);
            near(Some(score[0]), sum / results.len() as f64, &what);
            assert!(score[1] < score[0] && score[0] < score[2], "{what}");
        }
        let scores = standings.seats.iter().map(|seat| numbers(seat.score)[0]);
        let scores: Vec<f64> = scores.collect();
        assert!(scores.is_sorted(), "{scores:?}");
    }
}

#[test]
fn all_figures_share_one_estimand() {
    // An odd number of blocks: one more with two seats of the first agent.
    for (seats, blocks) in [(3, 201), (3, 40), (4, 120)] {
        let (results, tally, verdict) = sprt(seats, blocks);
        let scores: Vec<f64> = results.iter().map(score).collect();
        let expected = scores.iter().sum::<f64>() / scores.len() as f64;
        let standings = tally.standings();
        let what = format!("{blocks} blocks of {seats} seats");
        let [own, other] = ["a0", "a1"].map(|name| agent(&standings, name));
        near(Some(numbers(own.score)[0]), expected, &what);
        near(Some(numbers(other.score)[0]), 1.0 - expected, &what);
        near(verdict.data["score"].as_f64(), expected, &what);
        near(Some(own.points), scores.iter().sum(), &what);
        let pair = &tally.evidence().pairs()[0];
        near(Some(numbers(pair.score)[0]), expected, &what);
        let difference = numbers(pair.difference)[0];
        near(Some(difference), 2.0 * expected - 1.0, &what);
        for (one, of_pair) in [
            (own.score, pair.score),
            (own.score_adjusted, pair.score_adjusted),
        ] {
            for (one, of_pair) in numbers(one).into_iter().zip(numbers(of_pair)) {
                near(Some(one), of_pair, &what);
            }
        }
        let ends = own.score.and_then(|score| score.fixed).expect("blocks");
        assert!(ends.contains(numbers(own.score_adjusted)[0]), "{what}");
        // Each block has the same weight, so that the interval is centred at the score.
        let [low, high] = [ends.low, ends.high].map(|end| (end - expected).abs());
        assert!((low / high - 1.0).abs() < 0.2, "{what}: {low} {high}");
    }
}
