use arena_model::{
    Tournament,
    format::{Fixed, Format, Settings},
};

use super::*;
use crate::{
    Schedule, Tally, Wanted,
    testing::{Draws, result, tournament},
};

/// A tally of a tournament whose games end as reported; void where it says so.
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

/// Placements drawn, better for agents listed earlier.
fn drawn(draws: &mut Draws, seats: &[u16], spread: u64) -> Vec<u8> {
    let points: Vec<u64> = seats
        .iter()
        .map(|&agent| draws.below(spread) + 9 - u64::from(agent).min(9))
        .collect();
    let before = |own: &u64| points.iter().filter(|&other| other > own).count() as u8;
    points.iter().map(|own| 1 + before(own)).collect()
}

#[test]
fn two_agents_without_draws_have_the_log_odds_of_a_win() {
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
    assert!((difference.value - ELO * (15.0_f64 / 5.0).ln()).abs() < 1e-6);
    assert!((ratings.agents[0].value - difference.value / 2.0).abs() < 1e-6);
    assert_eq!((ratings.model, ratings.ties), (Model::Davidson, [0.0; 3]));
    // Without a prior the mean of all is not known, and no variance either.
    let ratings = tally.evidence().ratings(None).expect("games");
    assert!(ratings.difference(0, 1).superiority > Some(0.9));
}

#[test]
fn draws_weigh_as_davidson_has_it() {
    // w : d : l = 5 : 4 : 1 is √5 : ν : 1/√5 of Davidson's model.
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
    assert!((ratings.difference(0, 1).value - ELO * 5.0_f64.ln()).abs() < 1e-6);
    assert!(
        (ratings.ties[0] - 4.0 / 5.0_f64.sqrt()).abs() < 1e-6,
        "{:?}",
        ratings.ties
    );
}

#[test]
fn the_variance_of_two_agents_is_that_of_their_score_by_its_slope() {
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
    let d = difference.value / ELO;
    let pair = &evidence.pairs()[0];
    assert!((score(d) - pair.score.expect("a score")).abs() < 1e-3);
    let slope = (score(d + 1e-5) - score(d - 1e-5)) / 2e-5;
    let half = |ends: Option<(f64, f64)>| ends.map_or(0.0, |(low, high)| (high - low) / 2.0);
    let expected = half(pair.score_low.zip(pair.score_high)) / slope * ELO;
    let found = half(difference.interval);
    assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
}

/// A tally of two agents' blocks: so many that the first lost twice, that were
/// split, and that it won twice.
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
fn the_interval_of_two_is_that_of_their_score_and_holds_where_nearly_all_is_split() {
    // Blocks, and the chances of a block lost and won. All outcomes are weighed.
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
                let (low, high) = difference.interval.expect("blocks");
                held += chance * f64::from(u8::from(low <= truth && truth <= high));
                let same = difference.elo_interval.expect("blocks");
                assert!((same.0 - low).abs() < 1e-6 && (same.1 - high).abs() < 1e-6);
                let sure = difference.superiority.expect("blocks");
                assert_eq!(sure > 0.975, low > 0.0, "{losses} {wins}: {sure} {low}");
                let pair = &evidence.pairs()[0];
                let image = |odds: f64| 1.0 / (1.0 + (-odds / ELO).exp());
                if blocks == 20 && losses.max(wins) < 5 {
                    let (low, high) = (image(low), image(high));
                    let ends = [(low, pair.score_low), (high, pair.score_high)];
                    for (found, expected) in ends {
                        let apart = found - expected.expect("blocks");
                        assert!(apart.abs() < 0.01, "{losses} {wins}: {apart}");
                    }
                }
            }
        }
        assert!(held > 0.94, "{blocks} blocks: {held}");
    }
}

/// How many ways there are to choose.
fn ways(of: u64, chosen: u64) -> f64 {
    (0..chosen).fold(1.0, |ways, k| ways * (of - k) as f64 / (k + 1) as f64)
}

#[test]
fn with_draws_elo_of_the_score_is_less_than_the_difference_of_ratings() {
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
    // 3 won, 6 drawn, 1 lost of ten: a score of 0.6, and odds of 3 of a win.
    assert!(
        (difference.value - ELO * 3.0_f64.ln()).abs() < 2.0,
        "{difference:?}"
    );
    assert!(
        (difference.elo - ELO * 1.5_f64.ln()).abs() < 1.0,
        "{difference:?}"
    );
    let score = expected_score(difference.value, ratings.ties[0]);
    assert!((score - 0.6).abs() < 1e-3, "{score}");
    let pair = &evidence.pairs()[0];
    let elo = |score: Option<f64>| {
        let score = score.expect("blocks");
        ELO * (score / (1.0 - score)).ln()
    };
    let (low, high) = difference.elo_interval.expect("blocks");
    assert!((low - elo(pair.score_low)).abs() < 1.0, "{low} {pair:?}");
    assert!((high - elo(pair.score_high)).abs() < 1.0, "{high} {pair:?}");
    let (low, high) = difference.elo_anytime.expect("blocks");
    assert!(
        (low - elo(pair.score_anytime_low)).abs() < 2.0,
        "{low} {pair:?}"
    );
    assert!(
        (high - elo(pair.score_anytime_high)).abs() < 2.0,
        "{high} {pair:?}"
    );
}

#[test]
fn an_anchor_has_rating_nothing_and_moves_no_difference() {
    let mut draws = Draws(4);
    let tally = played((5, 2, 20), |game| Some(drawn(&mut draws, &game.seats, 8)));
    let evidence = tally.evidence();
    let free = evidence.ratings(None).expect("games");
    let held = evidence.ratings(Some(3)).expect("games");
    assert_eq!(held.agents[3].value, 0.0);
    assert_eq!(held.agents[3].interval, Some((0.0, 0.0)));
    let sum: f64 = free.agents.iter().map(|rating| rating.value).sum();
    assert!(sum.abs() < 1e-6);
    for agent in 0..5 {
        let difference = free.agents[agent].value - free.agents[3].value;
        assert!((held.agents[agent].value - difference).abs() < 1e-6);
        assert_eq!(held.difference(agent, 1), free.difference(agent, 1));
    }
}

#[test]
fn a_perfect_score_has_a_finite_rating_and_a_wide_interval() {
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
        let (low, high) = difference.interval.expect("blocks");
        assert!(lowest < low && high < 4000.0, "{difference:?}");
        assert!(high - low > 500.0, "{difference:?}");
    }
}

#[test]
fn games_of_four_find_who_is_better() {
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
fn agents_that_no_games_link_are_distinguished() {
    let tally = played((5, 2, 4), |game| {
        let sides = [game.seats[0] < 2, game.seats[1] < 2];
        (sides[0] == sides[1]).then(|| vec![1, 2])
    });
    let ratings = tally.evidence().ratings(None).expect("games");
    assert_eq!(ratings.components, [vec![0, 1], vec![2, 3, 4]]);
    assert!(ratings.links(2, 4) && !ratings.links(0, 4));
    assert!(ratings.agents.iter().all(|rating| rating.value.is_finite()));
    let (low, high) = ratings.difference(0, 4).interval.expect("blocks");
    assert!(high - low > 1000.0, "{low} {high}");
}

/// At a gap of 800 Elo such games come three times in ten.
#[test]
fn where_all_games_between_sets_went_one_way_the_least_that_is_between_them_is_reported() {
    let tally = played((4, 2, 15), |game| {
        let [one, other] = [game.seats[0], game.seats[1]];
        let first_wins = match (one < 2, other < 2) {
            (true, false) => true,
            (false, true) => false,
            // Within a set the one who begins wins two blocks of three.
            _ => game.block % 3 > 0,
        };
        Some(if first_wins { vec![1, 2] } else { vec![2, 1] })
    });
    let evidence = tally.evidence();
    let ratings = evidence.ratings(None).expect("games");
    assert_eq!(ratings.levels(), [[0, 1], [2, 3]]);
    assert!(ratings.links(0, 2) && ratings.is_open(0, 2) && !ratings.is_open(0, 1));
    let apart = ratings.difference(0, 2);
    let (low, high) = apart.interval.expect("blocks");
    assert!(apart.is_open && low < 800.0 && high > apart.value, "{low}");
    let text = evidence.compare(Wanted::default()).notes.join(" ");
    assert!(text.contains("(a0, a1; a2, a3)"), "{text}");
    assert!(text.contains("only the bound nearer to zero"), "{text}");
    // Once one of the weaker takes a block, nothing is open.
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
fn what_the_prior_alone_would_tell_is_not_reported() {
    // Two sets, and one who never plays.
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

#[test]
fn notes_have_no_figures_of_other_tournaments() {
    let tally = played((2, 2, 4), |_| Some(vec![1, 2]));
    let mut evidence = tally.evidence();
    let notes = evidence.compare(crate::Wanted::default()).notes;
    evidence.adaptive = true;
    // Which intervals hold is said by which ones are shown.
    let adaptive = evidence.compare(crate::Wanted::default()).notes;
    assert_eq!(adaptive, notes);
}

#[test]
fn a_rating_that_is_looked_at_often_has_the_errors_of_scores_looked_at_often() {
    let mut draws = Draws(7);
    let tally = played((2, 2, 60), |game| Some(drawn(&mut draws, &game.seats, 6)));
    let evidence = tally.evidence();
    let tuning_horizon = evidence.tuning_horizons[0];
    for anchor in [None, Some(1)] {
        let ratings = evidence.ratings(anchor).expect("games");
        let rating = ratings.agents[0];
        let (once, any) = (
            rating.interval.expect("blocks"),
            rating.anytime.expect("blocks"),
        );
        let looks = Looks::Any {
            blocks: 60.0,
            tuning_horizon,
        };
        // About no difference and without draws ends are even: their half widths are as
        // far apart as the errors they reach.
        let reach = |(low, high): (f64, f64)| {
            let scale = if anchor.is_some() { 1.0 } else { 0.5 };
            libm::sinh((high - low) / ELO / scale / 4.0)
        };
        let expected = looks.point(0.95, 59) / Looks::One.point(0.95, 59);
        let found = reach(any) / reach(once);
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        assert!(expected > 1.3, "{expected}");
    }
}

#[test]
fn an_interval_for_any_number_of_looks_that_reaches_too_far_is_none() {
    let mut draws = Draws(3);
    let (mut reported, mut unreported) = (0, 0);
    for blocks in [1, 1, 1, 1, 30] {
        let tally = played((4, 2, blocks), |game| {
            Some(drawn(&mut draws, &game.seats, 6))
        });
        for rating in tally.evidence().ratings(None).expect("games").agents {
            assert!(rating.interval.is_some());
            match rating.anytime {
                Some((low, high)) => {
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
fn nothing_is_invented_where_nothing_was_played() {
    let tally = played((3, 2, 4), |_| None);
    assert!(tally.evidence().ratings(None).is_none());
    let mut game = 0;
    let tally = played((3, 2, 4), |_| {
        game += 1;
        (game <= 2).then(|| vec![1, 1])
    });
    let ratings = tally.evidence().ratings(None).expect("games");
    assert!(
        ratings
            .agents
            .iter()
            .all(|rating| rating.interval.is_none())
    );
    assert_eq!(ratings.difference(0, 1).superiority, None);
}

#[test]
fn no_number_is_ever_infinite_or_none() {
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
            let text = serde_json::to_value(&pair).expect("JSON");
            for value in text.as_object().expect("a pair").values() {
                value.as_f64().into_iter().for_each(fine);
            }
        }
        let Some(ratings) = evidence.ratings(None) else {
            continue;
        };
        for (agent, rating) in ratings.agents.iter().enumerate() {
            fine(rating.value);
            if let Some((low, high)) = rating.interval {
                fine(low);
                fine(high);
                assert!(low <= rating.value && rating.value <= high);
            }
            let difference = ratings.difference(agent, 0);
            difference.superiority.into_iter().for_each(fine);
        }
    }
}

#[test]
fn many_agents_have_about_the_intervals_of_the_full_covariance() {
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

/// A tournament of equal agents: the first meets each other in one block, those meet
/// each other in twenty.
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
fn an_agent_with_one_block_against_each_other_has_an_error_as_wide_as_those_tell() {
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
        let (low, high) = evidence
            .ratings(None)
            .and_then(|ratings| ratings.difference(0, 1).interval)
            .expect("blocks");
        held += u64::from(low <= 0.0 && 0.0 <= high);
        // The products of scores are what games of equal agents tell, in the mean.
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
