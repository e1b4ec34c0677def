//! Running ratings: updated game by game, in index order.
//!
//! Unlike [`crate::ratings`] they depend on the order of games and forget old games. They
//! are for comparison with sites that use them. All come from the crate `skillratings`,
//! with its defaults: Elo with K = 32 from 1000; Glicko-2 with τ = 0.5 from 1500 ± 350,
//! each game a rating period; TrueSkill from 25 ± 25/3 with a tenth of draws; Weng and
//! Lin's Bradley–Terry update with all pairs ("A Bayesian approximation method for online
//! ranking", Journal of Machine Learning Research 12, 2011, Algorithm 1) from 25 ± 25/3.

use skillratings::{
    MultiTeamOutcome, Outcomes,
    elo::{EloConfig, EloRating, elo},
    glicko2::{Glicko2Config, Glicko2Rating, glicko2},
    trueskill::{TrueSkillConfig, TrueSkillRating, trueskill_multi_team},
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

/// A rating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Arpad Elo's system, for two seats.
    Elo,
    /// Mark Glickman's second system, for two seats.
    Glicko2,
    /// The system of Microsoft Research.
    TrueSkill,
    /// Weng and Lin's system.
    WengLin,
}

impl System {
    /// True if the system rates games with this number of seats.
    #[must_use]
    pub fn takes(self, seats: usize) -> bool {
        seats == 2 || matches!(self, Self::TrueSkill | Self::WengLin)
    }
}

/// An agent's rating after some games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningRating {
    /// On the system's own scale.
    pub rating: f64,
    /// Standard deviation, if the system has one.
    pub deviation: Option<f64>,
    /// Number of rated games.
    pub games: u64,
}

/// Running ratings of all agents.
#[derive(Clone, Debug)]
pub struct Running {
    state: State,
    games: Vec<u64>,
}

#[derive(Clone, Debug)]
enum State {
    Elo(Vec<EloRating>),
    Glicko2(Vec<Glicko2Rating>),
    TrueSkill(Vec<TrueSkillRating>),
    WengLin(Vec<WengLinRating>),
}

impl Running {
    /// The initial ratings.
    #[must_use]
    pub fn new(system: System, agents: usize) -> Self {
        Self {
            state: match system {
                System::Elo => State::Elo(vec![EloRating::new(); agents]),
                System::Glicko2 => State::Glicko2(vec![Glicko2Rating::new(); agents]),
                System::TrueSkill => State::TrueSkill(vec![TrueSkillRating::new(); agents]),
                System::WengLin => State::WengLin(vec![WengLinRating::new(); agents]),
            },
            games: vec![0; agents],
        }
    }

    /// Rates a game: agents and ranks in seat order. Ignores a void game, a game of an
    /// unknown agent, and a game with more seats than the system supports.
    pub fn add(&mut self, seats: &[u16], placement: &[u8]) {
        let agents: Vec<usize> = seats.iter().map(|&agent| usize::from(agent)).collect();
        let known = agents.iter().all(|&agent| agent < self.games.len());
        if placement.len() != seats.len() || !known {
            return;
        }
        let rated = match &mut self.state {
            State::Elo(ratings) => rate_two(ratings, &agents, placement, |one, other, outcome| {
                let (one, other) = elo(one, other, outcome, &EloConfig::new());
                fine(&[one.rating, other.rating]).then_some((one, other))
            }),
            State::Glicko2(ratings) => {
                rate_two(ratings, &agents, placement, |one, other, outcome| {
                    let (one, other) = glicko2(one, other, outcome, &Glicko2Config::new());
                    let numbers = [one, other].map(|of| of.rating + of.deviation + of.volatility);
                    fine(&numbers).then_some((one, other))
                })
            }
            State::TrueSkill(ratings) => rate_all(
                ratings,
                &agents,
                placement,
                |teams| trueskill_multi_team(teams, &TrueSkillConfig::new()),
                |rating| (&mut rating.rating, &mut rating.uncertainty),
            ),
            State::WengLin(ratings) => rate_all(
                ratings,
                &agents,
                placement,
                |teams| weng_lin_multi_team(teams, &WengLinConfig::new()),
                |rating| (&mut rating.rating, &mut rating.uncertainty),
            ),
        };
        if rated {
            agents.iter().for_each(|&agent| self.games[agent] += 1);
        }
    }

    /// The current ratings, in the order of the spec.
    #[must_use]
    pub fn ratings(&self) -> Vec<RunningRating> {
        let numbers: Vec<(f64, Option<f64>)> = match &self.state {
            State::Elo(ratings) => ratings.iter().map(|of| (of.rating, None)).collect(),
            State::Glicko2(ratings) => {
                let each = ratings.iter();
                each.map(|of| (of.rating, Some(of.deviation))).collect()
            }
            State::TrueSkill(ratings) => {
                let each = ratings.iter();
                each.map(|of| (of.rating, Some(of.uncertainty))).collect()
            }
            State::WengLin(ratings) => {
                let each = ratings.iter();
                each.map(|of| (of.rating, Some(of.uncertainty))).collect()
            }
        };
        let rating = |((rating, deviation), &games)| RunningRating {
            rating,
            deviation,
            games,
        };
        numbers.into_iter().zip(&self.games).map(rating).collect()
    }
}

fn fine(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

fn outcome(order: std::cmp::Ordering) -> Outcomes {
    match order {
        std::cmp::Ordering::Less => Outcomes::WIN,
        std::cmp::Ordering::Equal => Outcomes::DRAW,
        std::cmp::Ordering::Greater => Outcomes::LOSS,
    }
}

/// Rates a game of two agents; false if it is not one.
fn rate_two<R>(
    ratings: &mut [R],
    agents: &[usize],
    placement: &[u8],
    rate: impl Fn(&R, &R, &Outcomes) -> Option<(R, R)>,
) -> bool {
    let (&[one, other], &[first, second]) = (agents, placement) else {
        return false;
    };
    if one == other {
        return false;
    }
    let rated = rate(&ratings[one], &ratings[other], &outcome(first.cmp(&second)));
    let Some((new, new_other)) = rated else {
        return false;
    };
    ratings[one] = new;
    ratings[other] = new_other;
    true
}

/// Rates a game of any number of agents. An agent with two seats gets the sum of both
/// changes of its rating, and the last deviation.
fn rate_all<R: Copy>(
    ratings: &mut [R],
    agents: &[usize],
    placement: &[u8],
    rate: impl Fn(&[(&[R], MultiTeamOutcome)]) -> Vec<Vec<R>>,
    parts: impl Fn(&mut R) -> (&mut f64, &mut f64),
) -> bool {
    let players: Vec<[R; 1]> = agents.iter().map(|&agent| [ratings[agent]]).collect();
    let ranks = placement
        .iter()
        .map(|&rank| MultiTeamOutcome::new(usize::from(rank)));
    let teams: Vec<_> = players
        .iter()
        .map(|player| &player[..])
        .zip(ranks)
        .collect();
    let rated = rate(&teams);
    let mut changes = Vec::new();
    for (mut old, mut new) in players
        .iter()
        .flatten()
        .copied()
        .zip(rated.into_iter().flatten())
    {
        let (old, _) = parts(&mut old);
        let (rating, deviation) = parts(&mut new);
        changes.push((*rating - *old, *deviation));
    }
    let sound = changes
        .iter()
        .all(|&(change, deviation)| fine(&[change, deviation]));
    if changes.len() != agents.len() || !sound {
        return false;
    }
    for (&agent, (change, left)) in agents.iter().zip(changes) {
        let (rating, deviation) = parts(&mut ratings[agent]);
        *rating += change;
        *deviation = left;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [System; 4] = [
        System::Elo,
        System::Glicko2,
        System::TrueSkill,
        System::WengLin,
    ];

    #[test]
    fn win_raises_rating_void_does_not() {
        for system in ALL {
            let mut running = Running::new(system, 2);
            let before = running.ratings();
            running.add(&[0, 1], &[]);
            assert_eq!(running.ratings(), before);
            running.add(&[1, 0], &[1, 2]);
            let after = running.ratings();
            assert!(after[1].rating > before[1].rating, "{system:?}");
            assert!(after[0].rating < before[0].rating, "{system:?}");
            assert_eq!((after[0].games, after[1].games), (1, 1));
        }
    }

    #[test]
    fn four_seats_need_a_suitable_rating() {
        for system in ALL {
            let mut running = Running::new(system, 4);
            running.add(&[3, 2, 1, 0], &[1, 2, 2, 4]);
            let ratings = running.ratings();
            let rated = ratings[0].games == 1;
            assert_eq!(rated, system.takes(4), "{system:?}");
            if rated {
                assert!(ratings[3].rating > ratings[2].rating, "{system:?}");
                assert!(ratings[1].rating > ratings[0].rating, "{system:?}");
            }
        }
    }

    #[test]
    fn thousand_wins_stay_finite() {
        for system in ALL {
            let mut running = Running::new(system, 2);
            (0..1000).for_each(|_| running.add(&[0, 1], &[1, 2]));
            for rating in running.ratings() {
                assert!(rating.rating.is_finite() && rating.games > 0, "{system:?}");
                assert!(rating.deviation.is_none_or(f64::is_finite), "{system:?}");
            }
        }
    }
}
