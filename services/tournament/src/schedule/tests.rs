use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::tests::tournament;

#[derive(Deserialize)]
struct Case {
    what: String,
    agents: usize,
    seats: usize,
    blocks: u64,
    rotate: bool,
    groups: u64,
    /// Block, rotation, agents in seat order.
    games: Vec<(u64, u32, Vec<u16>)>,
}

#[test]
fn schedules_match_manual_results() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../data/schedules.json")).expect("cases");
    for case in cases {
        let mut tournament = tournament(case.agents, case.seats, case.blocks);
        tournament.play.rotate = case.rotate;
        let schedule = Schedule::new(&tournament).expect(&case.what);
        assert_eq!(schedule.groups(), case.groups, "{}", case.what);
        assert_eq!(schedule.games(), case.games.len() as u64, "{}", case.what);
        for (game, (block, rotation, seats)) in schedule.iter().zip(case.games) {
            let place = format!("{}, game {}", case.what, game.index);
            assert_eq!(game.block, block, "{place}");
            assert_eq!(game.rotation, rotation, "{place}");
            assert_eq!(game.seats, seats, "{place}");
            assert_eq!(game.seed, tournament.seed.block(block), "{place}");
        }
    }
}

#[test]
fn groups_are_lexicographic_combinations() {
    for (agents, seats) in [(2, 2), (7, 2), (9, 3), (10, 4), (6, 6), (300, 2)] {
        let schedule = Schedule::new(&tournament(agents, seats, 1)).expect("a schedule");
        let mut last: Option<Vec<u16>> = None;
        for number in 0..schedule.groups() {
            let group = schedule.group(number);
            assert!(group.is_sorted_by(|a, b| a < b), "{group:?}");
            assert!(group.iter().all(|&agent| usize::from(agent) < agents));
            assert!(last.as_ref() < Some(&group), "{last:?} then {group:?}");
            last = Some(group);
        }
    }
}

#[test]
fn seats_and_orders_are_balanced() {
    for (agents, seats, blocks) in [(5, 2, 3), (5, 3, 4), (6, 4, 6)] {
        let schedule = Schedule::new(&tournament(agents, seats, blocks)).expect("a schedule");
        let mut held = BTreeMap::<(u16, usize), u64>::new();
        let mut orders = BTreeMap::<Vec<u16>, u64>::new();
        for game in schedule.iter() {
            for (seat, &agent) in game.seats.iter().enumerate() {
                *held.entry((agent, seat)).or_default() += 1;
            }
            *orders.entry(game.seats).or_default() += 1;
        }
        let even = |counts: Vec<&u64>| counts.windows(2).all(|pair| pair[0] == pair[1]);
        assert_eq!(held.len(), agents * seats);
        assert!(even(held.values().collect()), "{held:?}");
        assert!(even(orders.values().collect()), "{orders:?}");
    }
}

#[test]
fn unpaired_rotations_have_their_own_dice() {
    let mut tournament = tournament(2, 2, 3);
    tournament.play.paired = false;
    let schedule = Schedule::new(&tournament).expect("a schedule");
    for game in schedule.iter() {
        let block = tournament.seed.block(game.block);
        assert_eq!(game.seed, block.rotation(game.rotation));
        assert_ne!(game.seed, block);
    }
}

#[test]
fn games_of_a_huge_schedule_are_computed() {
    let schedule = Schedule::new(&tournament(65_535, 4, 1)).expect("a schedule");
    assert_eq!(schedule.groups(), 768_497_061_427_625_985);
    let last = schedule.game(schedule.games() - 1);
    assert_eq!(last.seats, [65_534, 65_531, 65_532, 65_533]);
    assert_eq!(schedule.game(0).seats, [0, 1, 2, 3]);
}

#[test]
fn impossible_schedule_is_refused() {
    let refused = |agents, seats, blocks| {
        Schedule::new(&tournament(agents, seats, blocks))
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(3, 4, 1).contains("4 seats, but only 3 agents"));
    assert!(refused(1, 2, 1).contains("only 1 agent is"));
    assert!(refused(2, 1, 1).contains("from 2"));
    assert!(refused(30, 21, 1).contains("from 2 to 20"));
    assert!(refused(65_536, 2, 1).contains("65536 agents"));
    assert!(refused(65_535, 4, 1_000).contains("lower blocks"));
    assert!(refused(3, 2, u64::MAX / 4).contains("lower blocks"));
}

#[test]
fn blocks_of_a_group_are_numbered() {
    let mut schedule = Schedule::new(&tournament(2, 2, 1)).expect("a schedule");
    let first = schedule.games() / u64::from(schedule.rotations());
    for _ in 0..2 {
        // A ladder lists a pair repeatedly if it chooses the pair repeatedly.
        let stage = Stage::of(vec![vec![0, 1], vec![0, 1]], 1);
        schedule.extend(stage).expect("a few games");
    }
    let numbers: Vec<u64> = (first..first + 4).map(|it| schedule.before(it)).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
}

#[test]
fn openings_repeat_only_after_all() {
    for size in [1, 2, 6, 35, 210] {
        let mut tournament = tournament(4, 2, 3 * size);
        tournament.openings = Some(arena_model::Openings {
            size,
            complete: true,
            starter_drawn: false,
        });
        let schedule = Schedule::new(&tournament).expect("a schedule");
        for group in 0..schedule.groups() {
            let games = schedule
                .iter()
                .filter(|game| game.rotation == 0 && schedule.group_of(game.block) == group);
            let had: Vec<u64> = games
                .map(|game| game.opening.expect("an opening"))
                .collect();
            let rounds: Vec<&[u64]> = had.chunks(size as usize).collect();
            let mut first = rounds[0].to_vec();
            first.sort_unstable();
            assert_eq!(first, (0..size).collect::<Vec<_>>());
            assert!(rounds.iter().all(|round| *round == rounds[0]));
        }
    }
}

/// Two of three agents do not use their seeds: from three openings they play three blocks.
#[test]
fn repeating_group_plays_openings_once() {
    let mut tournament = tournament(3, 2, 10);
    tournament.openings = Some(arena_model::Openings {
        size: 3,
        complete: true,
        starter_drawn: false,
    });
    for (agent, uses_seed) in tournament
        .agents
        .iter_mut()
        .zip([Some(false), None, Some(false)])
    {
        agent.uses_seed = uses_seed;
    }
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let count = |agents: [u16; 2]| {
        let blocks = (0..schedule.blocks()).map(|block| schedule.group_of(block));
        blocks
            .filter(|&group| schedule.group(group) == agents)
            .count()
    };
    assert_eq!(
        [[0, 1], [0, 2], [1, 2]].map(count),
        [10, 3, 10],
        "blocks of each group"
    );
    assert_eq!(schedule.games_left_out(), 14);
    assert_eq!(schedule.games(), 2 * 23);
    let mut openings: Vec<Option<u64>> = schedule
        .iter()
        .filter(|game| game.rotation == 0 && !game.seats.contains(&1))
        .map(|game| game.opening)
        .collect();
    openings.sort_unstable();
    assert_eq!(openings, [Some(0), Some(1), Some(2)]);
    let numbers = (0..schedule.blocks()).filter(|&block| schedule.group_of(block) == 2);
    let numbers: Vec<u64> = numbers.map(|block| schedule.before(block)).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}
