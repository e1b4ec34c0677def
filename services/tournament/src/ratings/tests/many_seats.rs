//! Ratings of games with more seats than rankings are counted for.

use super::*;

/// Placements without ties by the model of Plackett and Luce.
fn placement(strengths: &[f64], draws: &mut Draws) -> Vec<u8> {
    let mut placement = vec![0; strengths.len()];
    for rank in 1..=strengths.len() as u8 {
        let left: Vec<usize> = (0..placement.len())
            .filter(|&seat| placement[seat] == 0)
            .collect();
        let all: f64 = left.iter().map(|&seat| strengths[seat]).sum();
        let mut at = draws.below(1 << 40) as f64 / (1_u64 << 40) as f64 * all;
        let next = left.iter().find(|&&seat| {
            at -= strengths[seat];
            at < 0.0
        });
        placement[*next.or(left.last()).expect("a seat")] = rank;
    }
    placement
}

/// Strengths, each so many times the next one.
fn strengths(agents: usize, ratio: f64) -> Vec<f64> {
    (0..agents)
        .map(|agent| ratio.powi(-(agent as i32)))
        .collect()
}

fn drawn_games(
    settings: (usize, usize, u64),
    strengths: &[f64],
    draws: &mut Draws,
) -> (Tally, Vec<Vec<u16>>) {
    let mut orders = Vec::new();
    let tally = played(settings, |game| {
        let own: Vec<f64> = game
            .seats
            .iter()
            .map(|&it| strengths[usize::from(it)])
            .collect();
        let placement = placement(&own, draws);
        let mut order: Vec<usize> = (0..placement.len()).collect();
        order.sort_unstable_by_key(|&seat| placement[seat]);
        orders.push(order.into_iter().map(|seat| game.seats[seat]).collect());
        Some(placement)
    });
    (tally, orders)
}

/// Maximum likelihood strengths by the algorithm of D. R. Hunter, "MM algorithms for generalized
/// Bradley-Terry models", The Annals of Statistics 32, 2004, section 5.
fn by_minorization(agents: usize, orders: &[Vec<u16>]) -> Vec<f64> {
    let mut strengths = vec![1.0; agents];
    for _ in 0..2000 {
        let (mut wins, mut shares) = (vec![0.0; agents], vec![0.0; agents]);
        for order in orders {
            for place in 0..order.len() - 1 {
                wins[usize::from(order[place])] += 1.0;
                let left = order[place..].iter().map(|&agent| usize::from(agent));
                let sum: f64 = left.clone().map(|agent| strengths[agent]).sum();
                left.for_each(|agent| shares[agent] += 1.0 / sum);
            }
        }
        for (strength, (won, share)) in strengths.iter_mut().zip(wins.iter().zip(shares)) {
            *strength = won / share;
        }
    }
    strengths
}

#[test]
fn ratings_of_many_seats_equal_an_independent_fit() {
    for (agents, seats, blocks) in [(6, 5, 8), (7, 7, 20), (11, 10, 2)] {
        let mut draws = Draws(20);
        let (tally, orders) =
            drawn_games((agents, seats, blocks), &strengths(agents, 1.3), &mut draws);
        let ratings = tally.evidence().ratings_with_prior(None, 1e4);
        let ratings = ratings.expect("games");
        let logs = by_minorization(agents, &orders);
        let logs: Vec<f64> = logs.into_iter().map(f64::ln).collect();
        let mean = logs.iter().sum::<f64>() / agents as f64;
        for (rating, log) in ratings.agents.iter().zip(logs) {
            let expected = ELO * (log - mean);
            assert!(
                (rating.value - expected).abs() < 0.01,
                "{seats}: {rating:?} {expected}"
            );
        }
    }
}

/// Strengths and expected scores of the games are known.
#[test]
fn intervals_of_many_seats_cover_the_truth() {
    use statrs::distribution::{Binomial, DiscreteCDF};
    for (agents, seats, blocks, runs) in [(5, 5, 30, 300), (8, 8, 20, 150), (10, 10, 20, 60)] {
        let strengths = strengths(agents, 1.2);
        let mut draws = Draws(21);
        let (mut inside, mut scores) = (0, 0);
        for _ in 0..runs {
            let (tally, _) = drawn_games((agents, seats, blocks), &strengths, &mut draws);
            let ratings = tally.evidence().ratings(None).expect("games");
            let ends = ratings.difference(0, 2).rating.fixed.expect("blocks");
            let truth = ELO * (strengths[0] / strengths[2]).ln();
            inside += u64::from(ends.low <= truth && truth <= ends.high);
            // The expected share of seats that the first agent beats.
            let beaten = strengths[1..]
                .iter()
                .map(|other| strengths[0] / (strengths[0] + other));
            let truth = beaten.sum::<f64>() / (agents - 1) as f64;
            let standings = tally.standings();
            let ends = standings.agents[0]
                .score
                .expect("games")
                .fixed
                .expect("blocks");
            scores += u64::from(ends.low <= truth && truth <= ends.high);
        }
        for covered in [inside, scores] {
            let missed = runs - covered;
            let promised = Binomial::new(0.05, runs).expect("a share");
            let p = promised.sf(missed.saturating_sub(1));
            assert!(p > 0.001, "{seats} seats: {missed} of {runs} miss");
            assert!(
                missed > 0 || runs < 100,
                "{seats} seats: intervals are too wide"
            );
        }
    }
}

#[test]
fn tied_ranks_of_ten_have_weights_by_size() {
    let tally = played((10, 10, 4), |game| {
        let place = |&agent: &u16| [1, 1, 1, 4, 5, 5, 7, 8, 9, 10][usize::from(agent)];
        Some(game.seats.iter().map(place).collect())
    });
    let ratings = tally.evidence().ratings(None).expect("games");
    let occurred: Vec<usize> = (2..)
        .zip(&ratings.ties)
        .filter(|(_, it)| **it > 0.0)
        .map(|it| it.0)
        .collect();
    assert_eq!(occurred, [2, 3]);
    assert_eq!(ratings.ties.len(), 9);
    assert!((ratings.agents[0].value - ratings.agents[2].value).abs() < 1e-6);
}
