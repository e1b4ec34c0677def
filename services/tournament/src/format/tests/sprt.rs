//! Sequential tests.

use super::*;

fn wins(percent: u64) -> impl FnMut(u64, u16) -> u64 {
    move |index, agent| {
        let first = Draws(index).below(100) < percent;
        u64::from((agent == 0) == first)
    }
}

#[test]
fn sprt_accepts_rejects_or_is_inconclusive() {
    let test = |blocks, elo0, elo1| {
        let sprt = Settings::Sprt(Sprt {
            elo0,
            elo1,
            ..Sprt::default()
        });
        with(Format::Sprt, 2, 2, blocks, Some(sprt))
    };
    for (tournament, percent, expected) in [
        (test(4000, 0.0, 50.0), 65, "h1"),
        (test(4000, 0.0, 50.0), 45, "h0"),
        (test(100, 0.0, 5.0), 51, "inconclusive"),
    ] {
        let (stages, verdict) = play(&tournament, wins(percent));
        assert_eq!(verdict.kind, expected, "{verdict:?}");
        let blocks = verdict.data["blocks"].as_u64().expect("a number");
        assert_eq!(stages.schedule().blocks(), blocks, "no game past the stop");
        let llr = verdict.data["llr"].as_f64().expect("a number");
        let bound = |key| verdict.data[key].as_f64().expect("a number");
        match expected {
            "h1" => assert!(llr >= bound("llr_high")),
            "h0" => assert!(llr <= bound("llr_low")),
            _ => assert_eq!(blocks, 100),
        }
    }
}

#[test]
fn sprt_checkpoints_grow() {
    let sprt = |elo1, step| {
        Some(Settings::Sprt(Sprt {
            elo1,
            step,
            ..Sprt::default()
        }))
    };
    // An agent that always wins passes the bound long before the cap.
    let soon = with(Format::Sprt, 2, 2, 200_000, sprt(5.0, None));
    let (_, verdict) = play(&soon, wins(75));
    assert_eq!(verdict.kind, "h1");
    let [blocks, looks] = ["blocks", "looks"].map(|key| verdict.data[key].as_u64());
    let (blocks, looks) = (blocks.expect("a number"), looks.expect("a number"));
    // The look before was inconclusive, and at most a thirty-second, or 16 blocks, earlier.
    let every = with(Format::Sprt, 2, 2, 200_000, sprt(5.0, Some(1)));
    let (_, verdict) = play(&every, wins(75));
    let passed = verdict.data["blocks"].as_u64().expect("a number");
    assert!(
        (passed..=passed + passed / 32 + 16).contains(&blocks),
        "{passed}: {blocks}"
    );
    let Some(Settings::Sprt(test)) = sprt(5.0, None) else {
        unreachable!("it is the settings of a test");
    };
    let mut at = 0;
    for _ in 0..looks {
        at += crate::format::sprt::blocks_to_look(&test, 1, 200_000, at);
    }
    assert_eq!(at, blocks, "the reported steps");
    // Far from the end, the test has so few looks that their cost is small.
    let (_, verdict) = play(&with(Format::Sprt, 2, 2, 4000, sprt(0.01, None)), wins(50));
    assert_eq!(verdict.kind, "inconclusive");
    let looks = verdict.data["looks"].as_u64().expect("a number");
    assert!(looks <= 120, "{verdict:?}");
}

#[test]
fn sprt_stops_exactly_at_cap() {
    for seats in [2, 3, 4, 7, 10] {
        for blocks in [1, 2, 3, 7, 16, 17, 33, 51] {
            for step in [None, Some(1), Some(4), Some(5)] {
                let sprt = Settings::Sprt(Sprt {
                    step,
                    ..Sprt::default()
                });
                let (stages, verdict) =
                    play(&with(Format::Sprt, 2, seats, blocks, Some(sprt)), |_, _| 1);
                assert_eq!(verdict.kind, "inconclusive", "{verdict:?}");
                assert_eq!(
                    stages.schedule().blocks(),
                    blocks,
                    "{seats} seats, {step:?}"
                );
                assert_eq!(stages.games().most, stages.schedule().games());
                assert_eq!(verdict.data["blocks_cap"], blocks);
            }
        }
    }
}

#[test]
fn sprt_without_rotation_is_refused() {
    let mut tournament = plain(Format::Sprt, 2, 2, 100);
    tournament.play.rotate = false;
    refused(&tournament, "with rotate = false, a0 has the first seat");
}

#[test]
fn sprt_seats_two_agents_fairly() {
    let schedule =
        |seats, blocks| Schedule::new(&plain(Format::Sprt, 2, seats, blocks)).expect("a schedule");
    let of = |schedule: &Schedule, block: u64| -> Vec<(u64, Vec<u16>)> {
        let games = u64::from(schedule.rotations());
        let games = (block * games..(block + 1) * games).map(|index| schedule.game(index));
        games.map(|game| (game.seed.0, game.seats)).collect()
    };
    let three = schedule(3, 100);
    for block in 0..4 {
        let first = if block % 2 == 0 { [0, 0, 1] } else { [0, 1, 1] };
        assert_eq!(of(&three, block)[0].1, first);
    }
    let four = schedule(4, 100);
    let held = |games: &[(u64, Vec<u16>)], seat: usize| {
        games.iter().filter(|(_, seats)| seats[seat] == 0).count()
    };
    for block in 0..4 {
        let games = of(&four, block);
        assert!((0..4).all(|seat| held(&games, seat) == 2), "{games:?}");
        let mut distinct = games.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 4, "no game is played twice: {games:?}");
        let neighbours = block % 2 == 0;
        assert_eq!(games[0].1[0] == games[0].1[1], neighbours, "{games:?}");
        let seeds = games.iter().map(|(seed, _)| seed);
        let dice: std::collections::BTreeSet<_> = seeds.collect();
        assert_eq!(dice.len(), if neighbours { 1 } else { 2 });
    }
}

#[test]
fn sprt_of_many_seats_counts_seat_pairs() {
    for seats in [3, 4] {
        let sprt = Settings::Sprt(Sprt {
            elo1: 100.0,
            ..Sprt::default()
        });
        let (_, verdict) = play(&with(Format::Sprt, 2, seats, 100, Some(sprt)), by_index);
        assert_eq!(verdict.kind, "h1");
        assert_eq!(verdict.data["score"], 1.0);
        let outcomes = verdict.data["outcomes"].as_array().expect("counts");
        // Two or four pairs of seats, in as many games as there are seats.
        let pairs = [0, 0, 0, 2, 4][seats];
        assert_eq!(outcomes.len(), 2 * pairs * seats + 1);
        assert_eq!(outcomes.last(), Some(&verdict.data["blocks"]));
        let (_, verdict) = play(&plain(Format::Sprt, 2, seats, 100), |_, _| 1);
        assert_eq!(verdict.data["score"], 0.5, "ties count half");
    }
}
