use crate::{
    Schedule, Tally,
    tests::{Draws, numbers, result, tournament},
};

/// All games of a tournament with random placements.
fn played(agents: usize, seats: usize, blocks: u64, seed: u64) -> Tally {
    let tournament = tournament(agents, seats, blocks);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    let mut draws = Draws(seed);
    for game in schedule.iter() {
        let points: Vec<u64> = (0..seats).map(|_| draws.below(4)).collect();
        let before = |own: &u64| points.iter().filter(|&other| other > own).count() as u8;
        let placement: Vec<u8> = points.iter().map(|own| 1 + before(own)).collect();
        tally.add(&result(game, &placement, 10));
    }
    tally
}

#[test]
fn pair_score_equals_standings() {
    let tally = played(2, 2, 40, 5);
    let standings = tally.standings();
    let first = standings.agents.iter().find(|agent| agent.agent == "a0");
    let first = first.expect("a0");
    let [pair] = &tally.evidence().pairs()[..] else {
        panic!("one pair");
    };
    assert_eq!(
        (pair.wins, pair.draws, pair.losses),
        (first.wins, first.draws, first.losses)
    );
    assert_eq!(pair.score, first.score);
    // One agent's gain is the other's loss: the difference is twice the score, minus 1.
    let [difference, score] = [pair.difference, pair.score].map(numbers);
    for (difference, score) in difference.into_iter().zip(score).take(3) {
        assert!((difference - (2.0 * score - 1.0)).abs() < 1e-9, "{pair:?}");
    }
}

#[test]
fn pairs_of_four_seats_add_up_to_scores() {
    let tally = played(5, 4, 6, 9);
    let (standings, pairs) = (tally.standings(), tally.evidence().pairs());
    assert_eq!(pairs.len(), 10);
    for agent in &standings.agents {
        let mut units = 0;
        let mut games = 0;
        for pair in &pairs {
            games +=
                pair.games * u64::from(pair.agent == agent.agent || pair.opponent == agent.agent);
            units += if pair.agent == agent.agent {
                2 * pair.wins + pair.draws
            } else if pair.opponent == agent.agent {
                2 * pair.losses + pair.draws
            } else {
                0
            };
        }
        assert_eq!(games, 3 * agent.games);
        assert_eq!(units as f64 / (2 * games) as f64, numbers(agent.score)[0]);
    }
}

#[test]
fn unmet_pair_has_rating_difference_only() {
    let tournament = tournament(3, 2, 4);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    // All games except those of a1 and a2.
    for game in schedule.iter().filter(|game| game.seats.contains(&0)) {
        tally.add(&result(game, &[1, 2], 10));
    }
    let pairs = tally.evidence().pairs();
    let last = &pairs[2];
    assert_eq!((last.games, last.score), (0, None));
    let difference = numbers(last.difference);
    assert_eq!(difference[0], 0.0);
    assert!(difference[1] < 0.0 && difference[2] > 0.0);
}

#[test]
fn incomplete_blocks_have_no_interval() {
    let tournament = tournament(3, 3, 1);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    tally.add(&result(schedule.game(1), &[1, 2, 3], 10));
    let pairs = tally.evidence().pairs();
    assert_eq!((pairs[0].games, pairs[0].blocks), (1, 0));
    assert_eq!(numbers(pairs[0].score).len(), 1, "no interval");
    assert_eq!(pairs[0].difference, None);
}
