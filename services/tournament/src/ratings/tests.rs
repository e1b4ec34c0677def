mod limits;
mod many_seats;

use arena_model::{
    Tournament,
    format::{Fixed, Format, Settings},
};

use super::*;
use crate::{
    Schedule, Tally, Wanted,
    tests::{Draws, result, tournament},
};

/// A tally of a tournament with the given results; void if a result is empty.
fn played(
    (agents, seats, blocks): (usize, usize, u64),
    mut end: impl FnMut(&crate::ScheduledGame) -> Option<Vec<u8>>,
) -> Tally {
    let tournament = tournament(agents, seats, blocks);
    let schedule = Schedule::new(&tournament).expect("a schedule");
    let mut tally = Tally::new(&tournament).expect("a tally");
    for game in schedule.iter() {
        if let Some(placement) = end(&game) {
            tally.add(&result(game, &placement, 10));
        }
    }
    tally
}

/// Random placements, better for agents listed earlier.
fn drawn(draws: &mut Draws, seats: &[u16], spread: u64) -> Vec<u8> {
    let points: Vec<u64> = seats
        .iter()
        .map(|&agent| draws.below(spread) + 9 - u64::from(agent).min(9))
        .collect();
    let before = |own: &u64| points.iter().filter(|&other| other > own).count() as u8;
    points.iter().map(|own| 1 + before(own)).collect()
}

/// Of many agents, most have not met.
#[test]
fn work_of_a_fit_grows_with_games_and_not_with_pairs() {
    let parts = |agents: usize| {
        let tally = played((agents, 2, 1), |game| {
            let have_met = game.seats[0].abs_diff(game.seats[1]) < 4;
            have_met.then(|| vec![1, 2])
        });
        Fit::new(&tally.evidence(), 1.0).information.parts()
    };
    let [few, many] = [parts(100), parts(400)];
    assert!(many <= 5 * few, "{few} {many}");
}

#[test]
fn rating_of_two_is_log_odds() {
    let mut game = 0;
    let tally = played((2, 2, 10), |scheduled| {
        game += 1;
        let first = (scheduled.seats[0] == 0) == (game <= 15);
        Some(if first { vec![1, 2] } else { vec![2, 1] })
    });
    let ratings = tally
        .evidence()
        .ratings_with_prior(None, 1e6)
        .expect("games");
    let difference = ratings.difference(0, 1);
    assert!((difference.rating.value - ELO * (15.0_f64 / 5.0).ln()).abs() < 1e-6);
    assert!((ratings.agents[0].value - difference.rating.value / 2.0).abs() < 1e-6);
    assert_eq!(
        (ratings.model, &ratings.ties[..]),
        (Model::Davidson, &[0.0; 3][..])
    );
    // Without a prior, the mean of all and the variances are undetermined.
    let ratings = tally.evidence().ratings(None).expect("games");
    assert!(ratings.difference(0, 1).superiority > Some(0.9));
}

#[test]
fn draws_follow_davidson() {
    // w : d : l = 5 : 4 : 1 is √5 : ν : 1/√5 in Davidson's model.
    let mut game = 0;
    let tally = played((2, 2, 5), |scheduled| {
        game += 1;
        let own = scheduled.seats.iter().position(|&agent| agent == 0)?;
        let mut placement = vec![1, 1];
        match game {
            1..=5 => placement[1 - own] = 2,
            6 => placement[own] = 2,
            _ => {}
        }
        Some(placement)
    });
    let ratings = tally
        .evidence()
        .ratings_with_prior(None, 1e6)
        .expect("games");
    assert!((ratings.difference(0, 1).rating.value - ELO * 5.0_f64.ln()).abs() < 1e-6);
    assert!(
        (ratings.ties[0] - 4.0 / 5.0_f64.sqrt()).abs() < 1e-6,
        "{:?}",
        ratings.ties
    );
}

#[test]
fn rating_variance_follows_delta_method() {
    let mut draws = Draws(6);
    let ends = [[1, 2], [2, 1], [1, 1]];
    let tally = played((2, 2, 400), |_| {
        Some(ends[draws.below(3) as usize].to_vec())
    });
    let evidence = tally.evidence();
    let ratings = evidence.ratings_with_prior(None, 30.0).expect("games");
    let difference = ratings.difference(0, 1);
    // Expected score of Davidson's model: 1/2 + sinh(d/2) / (2 cosh(d/2) + ν).
    let score = |d: f64| 0.5 + (d / 2.0).sinh() / (2.0 * (d / 2.0).cosh() + ratings.ties[0]);
    let d = difference.rating.value / ELO;
    let pair = &evidence.pairs()[0];
    assert!((score(d) - pair.score.expect("a score").value).abs() < 1e-3);
    let slope = (score(d + 1e-5) - score(d - 1e-5)) / 2e-5;
    let half = |of: Estimate| of.fixed.map_or(0.0, |ends| (ends.high - ends.low) / 2.0);
    let expected = half(pair.score.expect("a score")) / slope * ELO;
    let found = half(difference.rating);
    assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
}

/// A tally of two agents' blocks, by the number that the first lost twice, split and won
/// twice.
fn blocks_of(lost: u64, split: u64, won: u64) -> Tally {
    played((2, 2, lost + split + won), |game| {
        let own = game.seats.iter().position(|&agent| agent == 0)?;
        let wins = match game.block {
            block if block < lost => false,
            block if block < lost + split => own == 0,
            _ => true,
        };
        Some(if wins == (own == 0) {
            vec![1, 2]
        } else {
            vec![2, 1]
        })
    })
}

#[test]
fn rating_interval_of_two_follows_score() {
    // Number of blocks, and the probabilities of a lost and a won block. All outcomes are
    // weighted.
    for (blocks, lost, won) in [(3, 0.13, 0.41), (20, 0.01, 0.05), (50, 0.0, 0.03)] {
        let score: f64 = 0.5 + (won - lost) / 2.0;
        let truth = ELO * (score / (1.0 - score)).ln();
        let mut held = 0.0;
        for losses in 0..=blocks {
            for wins in 0..=blocks - losses {
                let split = blocks - losses - wins;
                let chance = ways(blocks, losses)
                    * ways(blocks - losses, wins)
                    * f64::powi(lost, losses as i32)
                    * f64::powi(won, wins as i32)
                    * f64::powi(1.0 - lost - won, split as i32);
                if chance < 1e-6 {
                    continue;
                }
                let evidence = blocks_of(losses, split, wins).evidence();
                let ratings = evidence.ratings(None).expect("games");
                let difference = ratings.difference(0, 1);
                let Interval { low, high } = difference.rating.fixed.expect("blocks");
                held += chance * f64::from(u8::from(low <= truth && truth <= high));
                let same = difference.elo.fixed.expect("blocks");
                assert!((same.low - low).abs() < 1e-6 && (same.high - high).abs() < 1e-6);
                let sure = difference.superiority.expect("blocks");
                assert_eq!(sure > 0.975, low > 0.0, "{losses} {wins}: {sure} {low}");
                let pair = &evidence.pairs()[0];
                let image = |odds: f64| 1.0 / (1.0 + (-odds / ELO).exp());
                if blocks == 20 && losses.max(wins) < 5 {
                    let (low, high) = (image(low), image(high));
                    let score = pair.score.and_then(|score| score.fixed);
                    let score = score.expect("blocks");
                    for apart in [low - score.low, high - score.high] {
                        assert!(apart.abs() < 0.01, "{losses} {wins}: {apart}");
                    }
                }
            }
        }
        assert!(held > 0.94, "{blocks} blocks: {held}");
    }
}

/// Number of combinations.
fn ways(of: u64, chosen: u64) -> f64 {
    (0..chosen).fold(1.0, |ways, k| ways * (of - k) as f64 / (k + 1) as f64)
}

#[test]
fn draws_reduce_score_elo() {
    let mut game = 0;
    let tally = played((2, 2, 100), |scheduled| {
        game += 1;
        let own = scheduled.seats.iter().position(|&agent| agent == 0)?;
        let mut placement = vec![1, 1];
        match game % 10 {
            0 | 1 | 5 => placement[1 - own] = 2,
            2 => placement[own] = 2,
            _ => {}
        }
        Some(placement)
    });
    let evidence = tally.evidence();
    let ratings = evidence.ratings_with_prior(None, 30.0).expect("games");
    let difference = ratings.difference(0, 1);
    // 3 wins, 6 draws, 1 loss in ten games: a score of 0.6, and odds of 3 for a win.
    assert!(
        (difference.rating.value - ELO * 3.0_f64.ln()).abs() < 2.0,
        "{difference:?}"
    );
    assert!(
        (difference.elo.value - ELO * 1.5_f64.ln()).abs() < 1.0,
        "{difference:?}"
    );
    let score = expected_score(difference.rating.value, ratings.ties[0]);
    assert!((score - 0.6).abs() < 1e-3, "{score}");
    let pair = &evidence.pairs()[0];
    let elo = |score: f64| ELO * (score / (1.0 - score)).ln();
    let expected = pair.score.expect("blocks").map(elo);
    for (adaptive, by) in [(false, 1.0), (true, 2.0)] {
        let [found, expected] = [difference.elo, expected].map(|of| of.interval(adaptive));
        let (found, expected) = (found.expect("blocks"), expected.expect("blocks"));
        assert!((found.low - expected.low).abs() < by, "{found:?} {pair:?}");
        assert!(
            (found.high - expected.high).abs() < by,
            "{found:?} {pair:?}"
        );
    }
}

#[test]
fn anchor_has_rating_zero() {
    let mut draws = Draws(4);
    let tally = played((5, 2, 20), |game| Some(drawn(&mut draws, &game.seats, 8)));
    let evidence = tally.evidence();
    let free = evidence.ratings(None).expect("games");
    let held = evidence.ratings(Some(3)).expect("games");
    assert_eq!(held.agents[3].value, 0.0);
    assert_eq!(held.agents[3].fixed, Some(Interval::default()));
    let sum: f64 = free.agents.iter().map(|rating| rating.value).sum();
    assert!(sum.abs() < 1e-6);
    for agent in 0..5 {
        let difference = free.agents[agent].value - free.agents[3].value;
        assert!((held.agents[agent].value - difference).abs() < 1e-6);
        assert_eq!(held.difference(agent, 1), free.difference(agent, 1));
    }
}

#[test]
fn perfect_score_has_finite_wide_rating() {
    for (blocks, lowest) in [(10, 100.0), (100, 300.0)] {
        let tally = played((2, 2, blocks), |game| {
            Some(if game.seats[0] == 0 {
                vec![1, 2]
            } else {
                vec![2, 1]
            })
        });
        let difference = tally
            .evidence()
            .ratings(None)
            .expect("games")
            .difference(0, 1);
        let Interval { low, high } = difference.rating.fixed.expect("blocks");
        assert!(lowest < low && high < 4000.0, "{difference:?}");
        assert!(high - low > 500.0, "{difference:?}");
    }
}

#[test]
fn four_seat_ratings_find_the_better() {
    let mut draws = Draws(8);
    let tally = played((6, 4, 10), |game| Some(drawn(&mut draws, &game.seats, 8)));
    let ratings = tally.evidence().ratings(None).expect("games");
    assert_eq!(ratings.model, Model::PlackettLuce);
    for pair in ratings.agents.windows(2) {
        assert!(pair[0].value > pair[1].value, "{:?}", ratings.agents);
    }
    assert!(ratings.ties[0] > 0.0);
    assert!(ratings.difference(0, 5).superiority > Some(0.999));
}

#[test]
fn unlinked_agents_are_separated() {
    let tally = played((5, 2, 4), |game| {
        let sides = [game.seats[0] < 2, game.seats[1] < 2];
        (sides[0] == sides[1]).then(|| vec![1, 2])
    });
    let ratings = tally.evidence().ratings(None).expect("games");
    assert_eq!(ratings.components, [vec![0, 1], vec![2, 3, 4]]);
    assert!(ratings.links(2, 4) && !ratings.links(0, 4));
    assert!(ratings.agents.iter().all(|rating| rating.value.is_finite()));
    let apart = ratings.difference(0, 4).rating.fixed;
    let Interval { low, high } = apart.expect("blocks");
    assert!(high - low > 1000.0, "{low} {high}");
}

/// At a difference of 800 Elo such games occur three times in ten.
#[test]
fn one_sided_sets_have_lower_bound() {
    let tally = played((4, 2, 15), |game| {
        let [one, other] = [game.seats[0], game.seats[1]];
        let first_wins = match (one < 2, other < 2) {
            (true, false) => true,
            (false, true) => false,
            // Within a set, the agent that begins wins two blocks of three.
            _ => game.block % 3 > 0,
        };
        Some(if first_wins { vec![1, 2] } else { vec![2, 1] })
    });
    let evidence = tally.evidence();
    let ratings = evidence.ratings(None).expect("games");
    assert_eq!(ratings.levels(), [[0, 1], [2, 3]]);
    assert!(ratings.links(0, 2) && ratings.is_open(0, 2) && !ratings.is_open(0, 1));
    let apart = ratings.difference(0, 2);
    let Interval { low, high } = apart.rating.fixed.expect("blocks");
    assert!(apart.is_open && low < 800.0, "{low}");
    assert!(high > apart.rating.value, "{high}");
    let text = evidence.compare(Wanted::default()).notes.join(" ");
    assert!(text.contains("(a0, a1; a2, a3)"), "{text}");
    assert!(text.contains("only the bound nearer to zero"), "{text}");
    // Once a weaker agent takes a block, nothing is open.
    let mut lost = 0;
    let tally = played((4, 2, 15), |game| {
        let weaker = game.seats.iter().position(|&agent| agent >= 2);
        let both = game.seats.iter().all(|&agent| agent >= 2);
        let upset = weaker.filter(|_| !both && lost == 0);
        lost += u64::from(upset.is_some());
        let winner = upset.or_else(|| game.seats.iter().position(|&agent| agent < 2));
        let winner = winner.unwrap_or(game.block as usize % 2);
        Some(if winner == 0 { vec![1, 2] } else { vec![2, 1] })
    });
    let text = tally.evidence().compare(Wanted::default()).notes.join(" ");
    assert!(!text.contains("one way"), "{text}");
}

#[test]
fn prior_only_ratings_are_hidden() {
    // Two sets, and one agent that never plays.
    let tally = played((5, 2, 4), |game| {
        let set = |agent: u16| [0, 0, 1, 1, 2][usize::from(agent)];
        (set(game.seats[0]) == set(game.seats[1])).then(|| vec![1, 2])
    });
    let evidence = tally.evidence();
    let reported = |anchor| {
        let ratings = evidence.ratings(anchor).expect("games");
        [0, 1, 2, 3, 4].map(|agent| ratings.known(agent).is_some())
    };
    assert_eq!(reported(None), [true, true, true, true, false]);
    assert_eq!(reported(Some(2)), [false, false, true, true, false]);
    let compared = evidence.compare(crate::Wanted {
        pairs: true,
        anchor: None,
    });
    let rated = compared.pairs.iter().filter(|pair| pair.rating.is_some());
    let names = rated.map(|it| (it.pair.agent.as_str(), it.pair.opponent.as_str()));
    assert_eq!(names.collect::<Vec<_>>(), [("a0", "a1"), ("a2", "a3")]);
    let said = compared.notes.join(" ");
    assert!(said.contains("No games link 2 sets"), "{said}");
    assert!(said.contains("No rating for a4"), "{said}");
}
