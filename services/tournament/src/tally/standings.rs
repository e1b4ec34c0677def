//! Standings of the games so far.

use super::*;
use crate::Estimate;

/// The standings of a tournament. Unknown numbers are `None`, never infinite or NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standings {
    /// Games with a result, including void ones.
    pub games: u64,
    /// Games in the schedule.
    pub games_total: u64,
    /// In descending order of score; agents without a score last, ties by name. A caller that has
    /// a verdict or ratings may sort differently.
    pub agents: Vec<AgentStanding>,
    /// Remarks on the numbers, as whole sentences.
    pub notes: Vec<String>,
    /// Mean score of each seat over all agents; seat 0 moves first.
    pub seats: Vec<SeatStanding>,
    /// The openings of a game without chance.
    pub openings: Option<OpeningsStanding>,
    /// The pairing efficiency of blocks, if it can be estimated.
    pub pairing: Option<Pairing>,
}

/// The openings of a tournament without chance. All are equally likely, and scores are means over
/// the openings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningsStanding {
    /// Plies of each opening.
    pub plies: u32,
    /// Number of openings.
    pub size: u64,
    /// True if these are all openings of that length, false if they are a sample.
    pub complete: bool,
    /// True if they are those of a book that the spec names; `plies` is then 0.
    pub from_book: bool,
}

/// One seat in the standings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatStanding {
    /// Seat number from 0; seat 0 moves first.
    pub seat: u32,
    /// Games that are not void.
    pub games: u64,
    /// Mean score of the agents in this seat.
    pub score: Option<Estimate>,
}

/// The pairing efficiency of this tournament's blocks, relative to unpaired games with the
/// same agents in the same seats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pairing {
    /// Number of complete blocks in the estimate.
    pub blocks: u64,
    /// Reduction of the variance of scores, as a share of the variance of unpaired games;
    /// negative if the variance was higher. Without an anytime-valid interval.
    pub variance_reduction: Estimate,
    /// Extra unpaired games needed for the same precision; unbounded if blocks did not
    /// vary.
    pub games_saved: GamesSaved,
}

/// Extra games needed for the same precision without a reduction of the variance; negative
/// if the variance was increased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GamesSaved {
    /// The number; `None` if it is unbounded or unknown.
    pub value: Option<i64>,
    /// Lower end of its 95 % confidence interval.
    pub low: Option<i64>,
    /// Upper end; `None` if it is unbounded or unknown.
    pub high: Option<i64>,
}

impl GamesSaved {
    /// The games saved in `games` games by a remaining share of the variance.
    pub(crate) fn of(games: u64, left: Estimate) -> Self {
        let saved =
            |left: f64| (left > 0.0).then(|| (games as f64 * (1.0 / left - 1.0)).round() as i64);
        Self {
            value: saved(left.value),
            low: left.fixed.and_then(|ends| saved(ends.high)),
            high: left.fixed.and_then(|ends| saved(ends.low)),
        }
    }
}

/// One agent in the standings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentStanding {
    /// Name in the tournament.
    pub agent: String,
    /// Place from 1, shared by equal agents; `None` without a game.
    pub place: Option<u64>,
    /// Games with a placement: wins, draws and losses.
    pub games: u64,
    /// Games in which only this agent ranked first.
    pub wins: u64,
    /// Games in which the agent shared the first rank.
    pub draws: u64,
    /// All other games with a placement.
    pub losses: u64,
    /// Games that could not be played. No other number includes them.
    pub voids: u64,
    /// Number of faults; a game may have several.
    pub faults: u64,
    /// Number of faults by kind; kinds that did not occur are absent.
    pub faults_by_kind: BTreeMap<String, u64>,
    /// Mean over games of (seats beaten + half of the seats tied) / (seats − 1), with
    /// intervals over complete blocks.
    pub score: Option<Estimate>,
    /// Sum of the scores of its games.
    pub points: f64,
    /// Number of games by the agent's rank, first rank first. A shared rank counts as the best of
    /// the shared ranks.
    pub ranks: Vec<u64>,
    /// Wins divided by games, with an interval over complete blocks; without an anytime-valid
    /// interval.
    pub win_rate: Option<Estimate>,
    /// Mean return of a seat in its games, if returns decide the places.
    pub return_mean: Option<Estimate>,
    /// Mean plies of its games.
    pub plies_mean: Option<f64>,
    /// Complete blocks that count: all games have a result, none is void, and the block does not
    /// repeat earlier games.
    pub blocks: u64,
    /// Games without chance that repeat earlier games: the opening and the moves are the same. The
    /// numbers of games include them; scores and intervals do not.
    pub games_repeated: u64,
    /// Degrees of freedom of the score's variance.
    pub score_df: u64,
    /// Tuning horizon of its anytime-valid intervals, in blocks.
    pub tuning_horizon: f64,
    /// Luck-adjusted score over complete blocks; `None` if no game has luck. It is
    /// unbiased, and therefore sometimes slightly outside 0 to 1.
    pub score_adjusted: Option<Estimate>,
    /// True if `score_adjusted` is the raw score, because there are too few blocks, or some games
    /// have no luck values.
    pub score_adjusted_is_raw: bool,
    /// Mean luck of a game, as a share of its score; the expected value is 0.
    pub luck_mean: Option<f64>,
    /// Share of the variance of scores over blocks that the luck adjustment removed;
    /// negative if it increased the variance. `None` with fewer than 30 blocks. Without an
    /// anytime-valid interval.
    pub luck_share: Option<Estimate>,
    /// Extra games needed for the same precision without the luck adjustment.
    pub luck_games_saved: GamesSaved,
}

impl Tally {
    /// The standings.
    #[must_use]
    pub fn standings(&self) -> Standings {
        let rotations = u64::from(self.schedule.rotations());
        let mut blocks = vec![AgentBlocks::default(); self.sums.agents.len()];
        for (id, group) in &self.sums.groups {
            let luck = self.sums.luck.get(id);
            for (place, share) in group.shares(rotations).into_iter().enumerate() {
                let of_agent = &mut blocks[usize::from(share.agent)];
                of_agent.score.add(share.sums.units, share.most(rotations));
                of_agent.wins.add(share.sums.wins, share.seats * rotations);
                of_agent.adjusting.add(
                    (share.sums.units, share.most(rotations)),
                    luck.and_then(|luck| luck.agent(place)),
                    share.luck_games(self.sums.seats.len(), rotations),
                );
            }
        }
        let held = self.held();
        let mut shapes = vec![0.0; self.sums.agents.len()];
        for (id, group) in &self.sums.groups {
            let Some(luck) = self.sums.luck.get(id) else {
                continue;
            };
            for (place, share) in group.shares(rotations).into_iter().enumerate() {
                let agent = usize::from(share.agent);
                let scale = (
                    share.most(rotations),
                    share.luck_games(self.sums.seats.len(), rotations),
                );
                let more = blocks[agent].adjusting.shape(place, luck, scale);
                shapes[agent] += more.unwrap_or(0.0);
            }
        }
        let agents = (0..self.sums.agents.len())
            .map(|agent| self.standing(agent, &held[agent], &blocks[agent], shapes[agent]))
            .collect();
        let (agents, narrow) = self.with_returns(agents);
        let agents = places::arrange(agents, By::Score, rank_key, |standing, place| {
            standing.place = place;
        });
        let narrow: Vec<&str> = narrow.iter().map(String::as_str).collect();
        let notes = self.notes(luck::note(&agents), &narrow);
        Standings {
            games: self.sums.games,
            games_total: self.schedule.games(),
            agents,
            notes,
            seats: self.seat_standings(),
            openings: self.openings.map(|openings| OpeningsStanding {
                plies: self.opening_plies,
                size: openings.size,
                complete: openings.complete,
                from_book: self.has_book,
            }),
            pairing: self.pairing(),
        }
    }

    fn seat_standings(&self) -> Vec<SeatStanding> {
        let most = self.units_most();
        let rotations = u64::from(self.schedule.rotations());
        let standing = |((seat, sums), (games, units)): ((usize, &SeatSums), (u64, u64))| {
            let games = sums.games - games;
            let score = mean(sums.units - units, games * most);
            let mut blocks = Blocks::default();
            blocks.add(sums.blocks, rotations * most);
            let tuning_horizon = self.tuning_horizons.of_seat(self.sums.seats.len());
            SeatStanding {
                seat: seat as u32,
                games,
                score: score.map(|score| blocks.estimate(score, tuning_horizon)),
            }
        };
        let seats = self.sums.seats.iter().enumerate();
        seats.zip(self.held_by_seat()).map(standing).collect()
    }

    /// Maximum units of one game.
    fn units_most(&self) -> u64 {
        2 * (self.sums.seats.len() as u64 - 1)
    }

    fn standing(
        &self,
        agent: usize,
        held: &HeldSums,
        blocks: &AgentBlocks,
        shape: f64,
    ) -> AgentStanding {
        let sums = &self.sums.agents[agent].without(held);
        let tuning_horizon = self.tuning_horizon(agent);
        let games = sums.wins + sums.draws + sums.losses;
        let score = mean(sums.score, sums.sat * PARTS)
            .map(|score| blocks.score.estimate(score, tuning_horizon));
        let win_rate = mean(sums.won, sums.sat * PARTS)
            .map(|rate| blocks.wins.estimate(rate, tuning_horizon).fixed_only());
        let adjusted = blocks.adjusting.adjusted(tuning_horizon);
        let has_luck = !self.sums.luck.is_empty();
        let left = blocks.adjusting.left_share(shape);
        AgentStanding {
            agent: self.names[agent].clone(),
            place: None,
            games,
            wins: sums.wins,
            draws: sums.draws,
            losses: sums.losses,
            voids: sums.voids,
            faults: sums.faults.values().sum(),
            faults_by_kind: sums.faults.clone(),
            score,
            points: sums.score as f64 / PARTS as f64,
            ranks: sums.ranks[..self.sums.seats.len()].to_vec(),
            win_rate,
            return_mean: None,
            plies_mean: mean(sums.plies, games),
            blocks: blocks.score.count(),
            games_repeated: held.games,
            score_df: blocks.score.spread().1,
            tuning_horizon,
            // The raw score if there is no adjusted score.
            score_adjusted: adjusted.or(score).filter(|_| has_luck),
            score_adjusted_is_raw: has_luck && adjusted.is_none() && score.is_some(),
            luck_mean: blocks.adjusting.luck_mean(),
            luck_share: left.map(|left| left.turned(1.0)),
            luck_games_saved: left
                .map(|left| GamesSaved::of(games, left))
                .unwrap_or_default(),
        }
    }
}

fn rank_key(standing: &AgentStanding) -> RankKey<'_> {
    RankKey {
        agent: &standing.agent,
        score: standing.return_mean.or(standing.score).map(|it| it.value),
        ..RankKey::default()
    }
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
