//! Standings as they are displayed and printed.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// The state of a tournament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TournamentState {
    /// Games are being played or wait for workers.
    #[default]
    Running,
    /// Paused by its user until resumed.
    Paused,
    /// Every game has a result.
    Finished,
    /// Ended by its user.
    Cancelled,
}

impl TournamentState {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for TournamentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The standings of a tournament: the JSON that `arena standings` prints. Unknown numbers
/// are null, never infinite or NaN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Id of the tournament.
    pub tournament_id: String,
    /// State of the tournament.
    pub state: TournamentState,
    /// Games with a result, including void ones.
    pub games: u64,
    /// Games in the schedule.
    pub games_total: u64,
    /// Best score first, agents without a score last, ties by name. A caller with the
    /// verdict or ratings may sort differently.
    pub agents: Vec<AgentStanding>,
    /// Remarks on the numbers, as whole sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Mean score of each seat over all agents; seat 0 moves first.
    #[serde(default)]
    pub seats: Vec<SeatStanding>,
    /// The openings of a game without chance.
    #[serde(default)]
    pub openings: Option<OpeningsStanding>,
    /// The pairing efficiency of blocks, if it can be estimated.
    #[serde(default)]
    pub pairing: Option<Pairing>,
}

/// The openings of a tournament without chance, all equally likely. Scores are means over
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpeningsStanding {
    /// Plies of each opening.
    pub plies: u32,
    /// Number of openings.
    pub size: u64,
    /// True if these are all openings of that length, false if they are a sample.
    pub complete: bool,
}

/// One seat in the standings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeatStanding {
    /// Seat number from 0; seat 0 moves first.
    pub seat: u32,
    /// Games that are not void.
    pub games: u64,
    /// Mean score of the agents in this seat.
    pub score: Option<f64>,
    /// Lower bound of its 95 % confidence interval, over complete blocks.
    pub score_low: Option<f64>,
    /// Upper bound.
    pub score_high: Option<f64>,
    /// Lower bound of its anytime-valid 95 % interval.
    #[serde(default)]
    pub score_anytime_low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub score_anytime_high: Option<f64>,
}

/// The pairing efficiency of this tournament's blocks, relative to unpaired games with the
/// same agents in the same seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// Number of complete blocks in the estimate.
    pub blocks: u64,
    /// Reduction of the variance of scores, as a share of the variance of unpaired games;
    /// negative if the variance was higher.
    pub variance_reduction: f64,
    /// Lower bound of its 95 % confidence interval.
    #[serde(default)]
    pub variance_reduction_low: f64,
    /// Upper bound.
    #[serde(default)]
    pub variance_reduction_high: f64,
    /// Extra unpaired games needed for the same precision; `None` if blocks did not vary.
    pub games_saved: Option<i64>,
    /// Lower bound of its 95 % confidence interval.
    #[serde(default)]
    pub games_saved_low: Option<i64>,
    /// Upper bound; `None` if unbounded.
    #[serde(default)]
    pub games_saved_high: Option<i64>,
}

/// One agent in the standings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentStanding {
    /// Name in the tournament.
    pub agent: String,
    /// Place from 1, shared by equal agents; `None` without a game.
    #[serde(default)]
    pub place: Option<u64>,
    /// Games with a placement: wins, draws and losses.
    pub games: u64,
    /// Games in which the agent alone ranked first.
    pub wins: u64,
    /// Games in which the agent shared the first rank.
    pub draws: u64,
    /// All other games with a placement.
    pub losses: u64,
    /// Games that could not be played; they are in no other number.
    pub voids: u64,
    /// Number of faults; a game may have several.
    pub faults: u64,
    /// Number of faults by kind; kinds that did not occur are absent.
    #[serde(default)]
    pub faults_by_kind: BTreeMap<String, u64>,
    /// Mean over games of (seats beaten + half of the seats tied) / (seats − 1).
    pub score: Option<f64>,
    /// Lower bound of the score's 95 % confidence interval, over complete blocks.
    pub score_low: Option<f64>,
    /// Upper bound.
    pub score_high: Option<f64>,
    /// Sum of the scores of its games.
    #[serde(default)]
    pub points: f64,
    /// Lower bound of the score's anytime-valid interval, which contains the score at all
    /// times simultaneously in 95 % of tournaments.
    #[serde(default)]
    pub score_anytime_low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub score_anytime_high: Option<f64>,
    /// Number of games by the agent's rank, from first; a shared rank counts as the best of
    /// the shared ones.
    #[serde(default)]
    pub ranks: Vec<u64>,
    /// Wins divided by games.
    pub win_rate: Option<f64>,
    /// Lower bound of the win rate's 95 % confidence interval, over complete blocks.
    pub win_rate_low: Option<f64>,
    /// Upper bound.
    pub win_rate_high: Option<f64>,
    /// Mean plies of its games.
    pub plies_mean: Option<f64>,
    /// Complete blocks that count: with all games, none void, and no repetition of games
    /// that their opening determines.
    pub blocks: u64,
    /// Games that repeat others: without chance, from a repeated opening, with the same
    /// answers of the agents. They are in the numbers of games, and in no score or
    /// interval.
    #[serde(default)]
    pub games_repeated: u64,
    /// Degrees of freedom of the score's variance.
    #[serde(default)]
    pub score_df: u64,
    /// Tuning horizon of its anytime-valid intervals, in blocks.
    #[serde(default)]
    pub tuning_horizon: f64,
    /// Median latency of a requested decision in microseconds, if measured.
    #[serde(default)]
    pub latency_us_p50: Option<f64>,
    /// 99th percentile of that latency.
    #[serde(default)]
    pub latency_us_p99: Option<f64>,
    /// True if two plays of one game differed in a move of this agent.
    #[serde(default)]
    pub non_deterministic: bool,
    /// Description of its last fault.
    #[serde(default)]
    pub last_fault: Option<String>,
    /// Luck-adjusted score over complete blocks; `None` if no game has luck. It is
    /// unbiased, and therefore sometimes slightly outside 0 to 1.
    #[serde(default)]
    pub score_adjusted: Option<f64>,
    /// Lower bound of its 95 % confidence interval.
    #[serde(default)]
    pub score_adjusted_low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub score_adjusted_high: Option<f64>,
    /// Lower bound of its anytime-valid 95 % interval.
    #[serde(default)]
    pub score_adjusted_anytime_low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub score_adjusted_anytime_high: Option<f64>,
    /// True if luck could not be adjusted for, because there are few blocks or some have no
    /// luck values: this is the raw score.
    #[serde(default)]
    pub score_adjusted_is_raw: bool,
    /// Mean luck of a game, in parts of its score; its expectation is 0.
    #[serde(default)]
    pub luck_mean: Option<f64>,
    /// Share of the variance of scores over blocks that the luck adjustment removed;
    /// negative if it increased the variance. `None` with fewer than 30 blocks.
    #[serde(default)]
    pub luck_share: Option<f64>,
    /// Lower bound of its 95 % confidence interval.
    #[serde(default)]
    pub luck_share_low: Option<f64>,
    /// Upper bound.
    #[serde(default)]
    pub luck_share_high: Option<f64>,
    /// Extra games needed for the same precision without the luck adjustment; negative if
    /// the adjustment increased the variance.
    #[serde(default)]
    pub luck_games_saved: Option<i64>,
    /// Lower bound of its 95 % confidence interval.
    #[serde(default)]
    pub luck_games_saved_low: Option<i64>,
    /// Upper bound; `None` if unbounded.
    #[serde(default)]
    pub luck_games_saved_high: Option<i64>,
}
