//! Ratings with little evidence, and of many agents.

use super::*;
use crate::tests::numbers;

#[test]
fn notes_have_no_foreign_figures() {
    let tally = played((2, 2, 4), |_| Some(vec![1, 2]));
    let mut evidence = tally.evidence();
    let notes = evidence.compare(crate::Wanted::default()).notes;
    evidence.adaptive = true;
    // The displayed intervals are the valid ones, without a note.
    let adaptive = evidence.compare(crate::Wanted::default()).notes;
    assert_eq!(adaptive, notes);
}

#[test]
fn anytime_ratings_follow_anytime_scores() {
    let mut draws = Draws(7);
    let tally = played((2, 2, 60), |game| Some(drawn(&mut draws, &game.seats, 6)));
    let evidence = tally.evidence();
    let tuning_horizon = evidence.tuning_horizons[0];
    for anchor in [None, Some(1)] {
        let ratings = evidence.ratings(anchor).expect("games");
        let rating = ratings.agents[0];
        let (once, any) = (
            rating.fixed.expect("blocks"),
            rating.anytime.expect("blocks"),
        );
        let looks = Looks::Any {
            blocks: 60.0,
            tuning_horizon,
        };
        // Around a difference of 0 and without draws, the bounds are symmetric: the ratio
        // of their half-widths is that of their standard errors.
        let reach = |ends: Interval| {
            let scale = if anchor.is_some() { 1.0 } else { 0.5 };
            libm::sinh((ends.high - ends.low) / ELO / scale / 4.0)
        };
        let expected = looks.point(0.95, 59) / Looks::One.point(0.95, 59);
        let found = reach(any) / reach(once);
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        assert!(expected > 1.3, "{expected}");
    }
}

#[test]
fn too_wide_anytime_interval_is_absent() {
    let mut draws = Draws(3);
    let (mut reported, mut unreported) = (0, 0);
    for blocks in [1, 1, 1, 1, 30] {
        let tally = played((4, 2, blocks), |game| {
            Some(drawn(&mut draws, &game.seats, 6))
        });
        for rating in tally.evidence().ratings(None).expect("games").agents {
            assert!(rating.fixed.is_some());
            match rating.anytime {
                Some(Interval { low, high }) => {
                    assert!(rating.value - low <= FAR && high - rating.value <= FAR);
                    reported += 1;
                }
                None => unreported += 1,
            }
        }
    }
    assert!(reported >= 4 && unreported >= 1, "{reported} {unreported}");
}

#[test]
fn games_not_played_give_no_rating() {
    let tally = played((3, 2, 4), |_| None);
    assert!(tally.evidence().ratings(None).is_none());
    let mut game = 0;
    let tally = played((3, 2, 4), |_| {
        game += 1;
        (game <= 2).then(|| vec![1, 1])
    });
    let ratings = tally.evidence().ratings(None).expect("games");
    assert!(ratings.agents.iter().all(|rating| rating.fixed.is_none()));
    assert_eq!(ratings.difference(0, 1).superiority, None);
}

#[test]
fn every_number_is_finite() {
    for seed in 0..200 {
        let mut draws = Draws(seed);
        let seats = 2 + draws.below(3) as usize;
        let agents = seats + draws.below(4) as usize;
        let (kept, void) = (1 + draws.below(10), draws.below(3) * 5);
        let spread = 1 + draws.below(12);
        let tally = played((agents, seats, 1 + draws.below(8)), |game| {
            if draws.below(10) >= kept {
                return None;
            }
            if void > 0 && draws.below(void) == 0 {
                return Some(Vec::new());
            }
            Some(drawn(&mut draws, &game.seats, spread))
        });
        let evidence = tally.evidence();
        let fine = |value: f64| assert!(value.is_finite(), "{value} of seed {seed}");
        for pair in evidence.pairs() {
            let estimates = [
                pair.score,
                pair.difference,
                pair.score_adjusted,
                pair.difference_adjusted,
            ];
            for estimate in estimates.into_iter().filter(Option::is_some) {
                numbers(estimate).into_iter().for_each(fine);
            }
            pair.superiority.into_iter().for_each(fine);
        }
        let Some(ratings) = evidence.ratings(None) else {
            continue;
        };
        for (agent, rating) in ratings.agents.iter().enumerate() {
            numbers(Some(*rating)).into_iter().for_each(fine);
            let fixed = rating.fixed;
            assert!(fixed.is_none_or(|ends| ends.contains(rating.value)));
            let difference = ratings.difference(agent, 0);
            difference.superiority.into_iter().for_each(fine);
        }
    }
}

#[test]
fn approximate_intervals_match_full_covariance() {
    let mut draws = Draws(2);
    let tally = played((40, 2, 4), |game| Some(drawn(&mut draws, &game.seats, 12)));
    let evidence = tally.evidence();
    let precision = 1.0 / (PRIOR * PRIOR);
    let fit = Fit::new(&evidence, precision);
    let alone = evidence.alone();
    let of = |full| {
        let known = (&alone[..], &Sets::of(&evidence));
        Errors::of(&evidence, (&fit, precision), known, full).expect("blocks")
    };
    let (full, own) = (of(40), of(39));
    let [full, own] = [full, own].map(|errors| errors.about_mean(40, None));
    for (full, own) in full.into_iter().zip(own) {
        let share = own.of_difference / full.of_difference;
        assert!((0.9..1.1).contains(&share), "{own:?} {full:?}");
    }
}

/// A tournament of equal agents: the first meets each other agent in one block, the others
/// meet each other in twenty.
fn uneven(agents: usize) -> Tournament {
    let mut tournament = tournament(agents, 2, 1);
    let names: Vec<_> = tournament.agents.iter().map(|it| it.name.clone()).collect();
    let mut games = Vec::new();
    for (place, one) in names.iter().enumerate() {
        for other in &names[place + 1..] {
            let times = if place == 0 { 1 } else { 20 };
            games.extend(vec![vec![one.clone(), other.clone()]; times]);
        }
    }
    tournament.format = Format::Fixed;
    tournament.settings = Some(Settings::Fixed(Fixed { games }));
    tournament
}

#[test]
fn single_blocks_have_wide_errors() {
    const AGENTS: usize = 6;
    const TIMES: u64 = 1000;
    let precision = 1.0 / (PRIOR * PRIOR);
    let tournament = uneven(AGENTS);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let empty = Tally::new(&tournament).expect("a tally");
    let (mut held, mut found, mut expected) = (0, [0.0; AGENTS], [0.0; AGENTS]);
    for seed in 0..TIMES {
        let mut draws = Draws(seed << 32);
        let mut tally = empty.clone();
        for game in schedule.iter() {
            let placement = [[1, 2], [2, 1]][draws.below(2) as usize];
            tally.add(&result(game, &placement, 10));
        }
        let evidence = tally.evidence();
        let ends = evidence
            .ratings(None)
            .and_then(|ratings| ratings.difference(0, 1).rating.fixed)
            .expect("blocks");
        held += u64::from(ends.contains(0.0));
        // On average, the products of score vectors equal the information of games of equal
        // agents.
        let fit = Fit::new(&evidence, precision);
        let sets = Sets::of(&evidence);
        let meat = covariance::meat(&evidence, (&fit, precision), &sets).expect("blocks");
        for agent in 0..AGENTS {
            found[agent] += meat.at(agent, agent) - precision;
            let games = if agent == 0 {
                2 * (AGENTS - 1)
            } else {
                2 + 40 * (AGENTS - 2)
            };
            expected[agent] += games as f64 / 4.0;
        }
    }
    let held = held as f64 / TIMES as f64;
    for (agent, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let share = found / expected;
        assert!((0.95..1.05).contains(&share), "a{agent}: {share}");
    }
    assert!(held > 0.94, "{held}");
}
