mod gains;
mod several_seats;
mod stopping;

use std::collections::BTreeMap;

use arena_model::Beginning;
use serde::Deserialize;

use super::*;
use crate::{
    Compared, Interval, ScheduledGame,
    tests::{Draws, fault, numbers, result, tournament},
};

#[derive(Deserialize)]
struct Case {
    what: String,
    agents: usize,
    seats: usize,
    blocks: u64,
    results: Vec<CaseResult>,
    agents_by_rank: Vec<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct CaseResult {
    index: u64,
    placement: Vec<u8>,
    plies: u32,
    #[serde(default)]
    faults: Vec<(u32, u8, String)>,
}

#[test]
fn standings_match_manual_results() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../data/standings.json")).expect("cases");
    for case in cases {
        let tournament = tournament(case.agents, case.seats, case.blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let mut tally = Tally::new(&tournament).expect("a tally");
        for given in &case.results {
            let mut result = result(schedule.game(given.index), &given.placement, given.plies);
            result.faults = given
                .faults
                .iter()
                .map(|(ply, seat, kind)| fault(*ply, *seat, kind))
                .collect();
            tally.add(&result);
        }
        let standings = tally.standings();
        let games = case.results.len() as u64;
        assert_eq!(standings.games, games, "{}", case.what);
        for (agent, expected) in standings.agents.iter().zip(&case.agents_by_rank) {
            let found = json(agent);
            for (key, value) in expected {
                let found = &found[key];
                assert_eq!(found, value, "{}: {key} of {}", case.what, agent.agent);
            }
        }
    }
}

/// The numbers that the cases have.
fn json(agent: &AgentStanding) -> serde_json::Value {
    serde_json::json!({
        "agent": agent.agent,
        "games": agent.games,
        "wins": agent.wins,
        "draws": agent.draws,
        "losses": agent.losses,
        "voids": agent.voids,
        "faults": agent.faults,
        "faults_by_kind": agent.faults_by_kind,
        "score": agent.score.map(|score| score.value),
        "win_rate": agent.win_rate.map(|rate| rate.value),
        "plies_mean": agent.plies_mean,
        "blocks": agent.blocks,
    })
}

/// Results with ties, voids and faults; some games are missing.
fn results(tournament: &Tournament, draws: &mut Draws) -> Vec<GameResult> {
    let schedule = Schedule::new(tournament).expect("a schedule");
    schedule
        .iter()
        .filter(|game| game.index % 11 != 3)
        .map(|game| {
            let seats = game.seats.len() as u64;
            let points: Vec<u64> = (0..seats).map(|_| draws.below(4)).collect();
            let placement: Vec<u8> = points
                .iter()
                .map(|own| 1 + points.iter().filter(|&other| other > own).count() as u8)
                .collect();
            let void = draws.below(40) == 0;
            let placement = if void { &[][..] } else { &placement };
            let mut result = result(game, placement, draws.below(100) as u32);
            if !void {
                result.luck = luck(&points, draws);
            }
            if draws.below(10) == 0 {
                let kinds = ["timeout", "crash", "garbled"];
                let kind = kinds[draws.below(3) as usize];
                result.faults.push(fault(1, draws.below(seats) as u8, kind));
            }
            result
        })
        .collect()
}

/// Luck that correlates with the points and has independent noise.
fn luck(points: &[u64], draws: &mut Draws) -> Vec<i32> {
    let own = points.iter().map(|&points| {
        let noise = draws.below(1_000_000) as i32;
        points as i32 * 200_000 + noise
    });
    let own: Vec<i32> = own.collect();
    let mean = own.iter().sum::<i32>() / own.len() as i32;
    own.iter().map(|own| own - mean).collect()
}

#[test]
fn result_order_changes_no_byte() {
    for (agents, seats, blocks) in [(6, 2, 40), (5, 3, 20), (5, 4, 20), (6, 5, 8), (10, 10, 12)] {
        let tournament = tournament(agents, seats, blocks);
        let mut draws = Draws(1);
        let mut results = results(&tournament, &mut draws);
        let text = |results: &[GameResult]| {
            let mut tally = Tally::new(&tournament).expect("a tally");
            results.iter().for_each(|result| tally.add(result));
            format!("{:?}", (tally.standings(), tally.evidence().pairs()))
        };
        let expected = text(&results);
        for _ in 0..10 {
            draws.shuffle(&mut results);
            assert_eq!(text(&results), expected);
        }
    }
}

#[test]
fn tally_resumes_from_state() {
    for (agents, seats, openings) in [
        (3, 2, 0),
        (4, 3, 0),
        (6, 5, 0),
        (3, 2, 4),
        (4, 3, 4),
        (7, 6, 4),
    ] {
        let mut tournament = tournament(agents, seats, 20);
        let mut results = results(&tournament, &mut Draws(7));
        if openings > 0 {
            // Without chance, so that blocks are compared, and every other one repeats.
            let (size, complete) = (openings, true);
            tournament.openings = Some(Openings {
                size,
                complete,
                starter_drawn: false,
            });
            for result in &mut results {
                result.course = 1 + result.index % 3;
                result.beginning = Beginning::new([7]);
            }
        }
        let mut straight = Tally::new(&tournament).expect("a tally");
        let mut stopped = straight.clone();
        for (place, result) in results.iter().enumerate() {
            straight.add(result);
            stopped.add(result);
            if place % 7 == 0 {
                let kept = serde_json::to_string(&stopped.state()).expect("JSON");
                let state: TallyState = serde_json::from_str(&kept).expect("a state");
                assert_eq!(state.games(), place as u64 + 1);
                let resumed = Tally::resume(&tournament, &straight.schedule, state);
                let resumed = resumed.expect("a schedule");
                stopped = resumed.expect("of this tournament");
            }
        }
        assert_eq!(stopped.standings(), straight.standings());
        let other = self::tournament(agents + 1, seats, 20);
        let schedule = |of| Schedule::new(of).expect("a schedule");
        let refused = Tally::resume(&other, &schedule(&other), straight.state());
        assert!(refused.expect("a schedule").is_none());
        let shorter = self::tournament(agents, seats, 2);
        let refused = Tally::resume(&shorter, &schedule(&shorter), straight.state());
        assert!(refused.expect("a schedule").is_none());
    }
}

#[test]
fn numbers_add_up_within_their_intervals() {
    for (agents, seats, blocks) in [(4, 2, 1), (6, 2, 30), (4, 3, 10), (5, 4, 12)] {
        let tournament = tournament(agents, seats, blocks);
        let mut tally = Tally::new(&tournament).expect("a tally");
        for (added, result) in results(&tournament, &mut Draws(7)).iter().enumerate() {
            tally.add(result);
            if added % 5 != 0 {
                continue;
            }
            let standings = tally.standings();
            let places: u64 = standings.agents.iter().map(|a| a.games + a.voids).sum();
            assert_eq!(places, standings.games * seats as u64);
            for agent in &standings.agents {
                assert_eq!(agent.games, agent.wins + agent.draws + agent.losses);
                assert_eq!(agent.faults, agent.faults_by_kind.values().sum::<u64>());
                for of in [agent.score, agent.win_rate].into_iter().flatten() {
                    let Some(ends) = of.fixed else {
                        continue;
                    };
                    assert!(ends.contains(of.value), "{agent:?}");
                    assert!(0.0 <= ends.low && ends.high <= 1.0, "{agent:?}");
                    assert!(ends.low < ends.high, "{agent:?}");
                }
            }
        }
    }
}

#[test]
fn perfect_score_keeps_interval_width() {
    let tournament = tournament(2, 2, 10);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    for game in schedule.iter() {
        let first_wins = game.seats[0] == 0;
        let placement = if first_wins { [1, 2] } else { [2, 1] };
        let plies = game.index as u32;
        tally.add(&result(game, &placement, plies));
    }
    let standings = tally.standings();
    assert_eq!(standings.games, standings.games_total);
    let (best, worst) = (&standings.agents[0], &standings.agents[1]);
    let [best, worst] = [best.score, worst.score].map(numbers);
    assert_eq!((best[0], best[2]), (1.0, 1.0));
    assert!(best[1] < 0.95, "{best:?}");
    assert_eq!((worst[0], worst[1]), (0.0, 0.0));
    assert!(worst[2] > 0.05, "{worst:?}");
}

/// A tally of two agents without chance, with this number of openings and these hashes of
/// the games' moves.
fn courses(openings: Option<u64>, course: impl Fn(&ScheduledGame) -> u64) -> Vec<Tally> {
    let mut tournament = tournament(2, 2, 50);
    tournament.openings = openings.map(|size| Openings {
        size,
        complete: true,
        starter_drawn: false,
    });
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut games: Vec<_> = schedule.iter().collect();
    let mut tallies = Vec::new();
    for seed in 0..3 {
        let mut tally = Tally::new(&tournament).expect("a tally");
        for game in &games {
            let course = course(game);
            let mut result = result(game.clone(), &[1, 2], 30);
            result.course = course;
            tally.add(&result);
        }
        tallies.push(tally);
        Draws(seed).shuffle(&mut games);
    }
    tallies
}

#[test]
fn repeated_block_counts_once() {
    // For each case: blocks that count, distinct games and repeated games.
    let check = |openings, course: fn(&ScheduledGame) -> u64, expected: (u64, u64, u64)| {
        let tallies = courses(openings, course);
        for tally in &tallies {
            let standings = tally.standings();
            let pair = &tally.evidence().pairs()[0];
            let agent = &standings.agents[0];
            let found = (pair.blocks, pair.distinct_games, agent.games_repeated);
            assert_eq!(found, expected);
            assert_eq!((agent.blocks, pair.blocks_played), (expected.0, 50));
            assert_eq!((agent.games, numbers(agent.score)[0]), (100, 0.5));
            assert_eq!(tally.state(), tallies[0].state(), "in any order");
            let seats: u64 = standings.seats.iter().map(|seat| seat.games).sum();
            assert_eq!(seats, 200 - 2 * expected.2);
        }
    };
    let fixed = |game: &ScheduledGame| 1 + u64::from(game.rotation) + 2 * game.opening.unwrap_or(0);
    check(Some(1), fixed, (1, 2, 98));
    check(Some(7), fixed, (7, 14, 86));
    check(Some(50), fixed, (50, 100, 0));
    // One block that differs shows that the agents use their seeds.
    check(
        Some(1),
        |game| {
            if game.index == 61 {
                9
            } else {
                1 + u64::from(game.rotation)
            }
        },
        (50, 3, 0),
    );
    // Dice differ even if the moves do not.
    check(None, |game| 1 + u64::from(game.rotation), (50, 2, 0));
}

#[test]
fn faults_are_no_evidence_of_seeds() {
    let mut tournament = tournament(2, 2, 10);
    tournament.openings = Some(Openings {
        size: 1,
        complete: true,
        starter_drawn: false,
    });
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    for game in schedule.iter() {
        let mut result = result(game, &[1, 2], 30);
        result.course = 5;
        if result.index == 7 {
            result.course = 6;
            result.faults.push(fault(3, 0, "timeout"));
        }
        tally.add(&result);
    }
    assert_eq!(tally.standings().agents[0].blocks, 1);
}

/// Agents that use their seeds and make a fault in every game.
#[test]
fn games_diverging_before_faults_count() {
    let mut tournament = tournament(2, 2, 10);
    tournament.openings = Some(Openings {
        size: 1,
        complete: true,
        starter_drawn: false,
    });
    let schedule = Schedule::new(&tournament).expect("a schedule");
    // The hashes of a game's beginning, and the number of blocks that count.
    let check = |beginning: &dyn Fn(u64) -> Vec<u32>, blocks: u64| {
        let mut games: Vec<_> = schedule.iter().collect();
        for seed in 0..3 {
            let mut tally = Tally::new(&tournament).expect("a tally");
            for game in &games {
                let mut result = result(game.clone(), &[1, 2], 30);
                result.course = 1 + result.index;
                result.faults.push(fault(3, 0, "crash"));
                result.beginning = Beginning::new(beginning(game.index));
                tally.add(&result);
            }
            assert_eq!(tally.standings().agents[0].blocks, blocks);
            Draws(seed).shuffle(&mut games);
        }
    };
    // Equal as far as both go, at any length.
    check(&|_| vec![1, 2, 3], 1);
    check(&|index| vec![1, 2, 3][..index as usize % 4].to_vec(), 1);
    check(&|_| Vec::new(), 1);
    // One of them continues differently.
    check(&|index| vec![1, 2, 3, u32::from(index == 7)], 10);
    check(&|index| vec![index as u32], 10);
}

#[test]
fn memory_is_kept_for_partial_blocks_only() {
    let tournament = tournament(4, 2, 50);
    let mut tally = Tally::new(&tournament).expect("a tally");
    let schedule = Schedule::new(&tournament).expect("a schedule");
    for game in schedule.iter() {
        let plies = game.index as u32;
        tally.add(&result(game, &[1, 2], plies));
        assert!(tally.sums.partial.len() <= 1);
    }
    assert!(tally.sums.partial.is_empty());
    assert_eq!(tally.sums.groups.len(), 6);
    assert!(
        tally
            .sums
            .courses
            .values()
            .all(|courses| courses.held.is_empty())
    );
}

/// A tournament can be compared after any game, in any order of games, and with any number
/// of games to come.
#[test]
fn any_tally_can_be_compared() {
    for seed in 0..150 {
        let mut draws = Draws(seed);
        let agents = 2 + draws.below(3) as usize;
        let seats = 2 + draws.below(agents.min(3) as u64 - 1) as usize;
        let blocks = [1, 3, 30, 4_000, 1_000_000][draws.below(5) as usize];
        let tournament = tournament(agents, seats, blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let strength: Vec<u64> = (0..agents).map(|_| 1 + draws.below(6)).collect();
        let luck_known = draws.below(4) > 0;
        let mut games: Vec<_> = schedule.iter().take(120).collect();
        let near = 1 + draws.below(20) as usize;
        for some in games.chunks_mut(near) {
            draws.shuffle(some);
        }
        let mut tally = Tally::new(&tournament).expect("a tally");
        for game in games {
            let points = game.seats.iter();
            let points = points.map(|&agent| draws.below(strength[usize::from(agent)]));
            let points: Vec<u64> = points.collect();
            let place = |own| 1 + points.iter().filter(|&other| other > own).count() as u8;
            let mut placement: Vec<u8> = points.iter().map(place).collect();
            if draws.below(40) == 0 {
                placement.clear();
            }
            let mut result = result(game, &placement, draws.below(100) as u32);
            if !placement.is_empty() && luck_known && draws.below(100) > 0 {
                result.luck = luck(&points, &mut draws);
            }
            tally.add(&result);
            let compared = tally.evidence().compare(crate::Wanted {
                pairs: true,
                anchor: None,
            });
            let scores = tally.standings().agents.into_iter();
            let scores = scores.map(|agent| agent.score);
            for score in scores.chain(compared.pairs.iter().map(|it| it.pair.score)) {
                let ends = score.and_then(|score| score.anytime);
                assert!(ends.is_none_or(|ends| 0.0 <= ends.low && ends.high <= 1.0));
            }
            for Compared { rating, .. } in compared.pairs {
                let ends = rating.and_then(|it| it.elo.anytime);
                let sound = |Interval { low, high }| low <= high && f64::is_finite(high - low);
                assert!(ends.is_none_or(sound));
            }
        }
    }
}
