//! Standings as they are shown and printed.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// Where a tournament stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TournamentState {
    /// Games are played, or wait for workers.
    #[default]
    Running,
    /// Held by its user; goes on when resumed.
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

/// The standings of a tournament: the JSON that `arena standings` prints.
/// Numbers that are not known are null, never infinite or not a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Id of the tournament.
    pub tournament_id: String,
    /// Where it stands.
    pub state: TournamentState,
    /// Games with a result, void ones included.
    pub games: u64,
    /// Games of the schedule.
    pub games_total: u64,
    /// Best score first, those without a score last, ties by name; who knows
    /// verdict or ratings may have another order.
    pub agents: Vec<AgentStanding>,
    /// What a reader of the numbers should know; whole sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What each seat scored, whoever sat there; seat 0 moves first.
    #[serde(default)]
    pub seats: Vec<SeatStanding>,
    /// The openings of a game without chance.
    #[serde(default)]
    pub openings: Option<OpeningsStanding>,
    /// What it gained that games were played in blocks, where it can be reported.
    #[serde(default)]
    pub pairing: Option<Pairing>,
}

/// The openings that a tournament without chance has, each as likely as another.
/// Scores are means over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpeningsStanding {
    /// Moves of each.
    pub plies: u32,
    /// How many there are.
    pub size: u64,
    /// Whether these are all openings of so many moves; else they are a sample.
    pub complete: bool,
}

/// One seat in the standings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeatStanding {
    /// From 0, which moves first.
    pub seat: u32,
    /// Games that are not void.
    pub games: u64,
    /// Mean score of who sat there.
    pub score: Option<f64>,
    /// Lower end of its 95 % interval, over complete blocks.
    pub score_low: Option<f64>,
    /// Upper end.
    pub score_high: Option<f64>,
    /// Lower end of its 95 % interval for as many looks as one likes.
    #[serde(default)]
    pub score_anytime_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub score_anytime_high: Option<f64>,
}

/// What the blocks gained in this tournament, over games dealt singly with the
/// same agents at the same seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// Complete blocks that it is reported from.
    pub blocks: u64,
    /// By how much the variance of scores was lower, as a share of that of
    /// single games; below 0 where it was higher.
    pub variance_reduction: f64,
    /// Lower end of its 95 % interval.
    #[serde(default)]
    pub variance_reduction_low: f64,
    /// Upper end.
    #[serde(default)]
    pub variance_reduction_high: f64,
    /// Extra single games needed for the same precision; none where nothing
    /// varied between blocks.
    pub games_saved: Option<i64>,
    /// Lower end of its 95 % interval.
    #[serde(default)]
    pub games_saved_low: Option<i64>,
    /// Upper end; none where it has none.
    #[serde(default)]
    pub games_saved_high: Option<i64>,
}

/// One agent in the standings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentStanding {
    /// Name in the tournament.
    pub agent: String,
    /// From 1, shared by those who are as good; none without a game.
    #[serde(default)]
    pub place: Option<u64>,
    /// Games with a placement: wins, draws and losses.
    pub games: u64,
    /// Games it was the only first of.
    pub wins: u64,
    /// Games it was first of with others.
    pub draws: u64,
    /// All other games with a placement.
    pub losses: u64,
    /// Games that could not be played; in no other number.
    pub voids: u64,
    /// What it did wrong; a game may have several.
    pub faults: u64,
    /// The same by the kind's name; kinds that did not happen are absent.
    #[serde(default)]
    pub faults_by_kind: BTreeMap<String, u64>,
    /// Mean over games of (seats beaten + half of those tied) / (seats − 1).
    pub score: Option<f64>,
    /// Lower end of the score's 95 % interval, over complete blocks.
    pub score_low: Option<f64>,
    /// Upper end.
    pub score_high: Option<f64>,
    /// Sum of the scores of its games.
    #[serde(default)]
    pub points: f64,
    /// Lower end of an interval of the score that holds at all times at once in
    /// 95 % of tournaments, however often one looks.
    #[serde(default)]
    pub score_anytime_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub score_anytime_high: Option<f64>,
    /// Games that it ended first, second and so on; a shared place counts as
    /// the best of those shared.
    #[serde(default)]
    pub ranks: Vec<u64>,
    /// Wins by games.
    pub win_rate: Option<f64>,
    /// Lower end of the win rate's 95 % interval, over complete blocks.
    pub win_rate_low: Option<f64>,
    /// Upper end.
    pub win_rate_high: Option<f64>,
    /// Mean plies of its games.
    pub plies_mean: Option<f64>,
    /// Complete blocks that count: all games there, none void, and no repeat of
    /// games that were fixed by their opening.
    pub blocks: u64,
    /// Games that repeat others: without chance, from an opening that was played
    /// before, by agents that answered the same. They are in the numbers of games,
    /// and in no score and no interval.
    #[serde(default)]
    pub games_repeated: u64,
    /// Degrees of freedom of the score's variance.
    #[serde(default)]
    pub score_df: u64,
    /// Around so many blocks its intervals for any number of looks are narrowest.
    #[serde(default)]
    pub tuning_horizon: f64,
    /// Median latency of an asked decision in microseconds, where measured.
    #[serde(default)]
    pub latency_us_p50: Option<f64>,
    /// 99th percentile of the same.
    #[serde(default)]
    pub latency_us_p99: Option<f64>,
    /// Two plays of one game differed in a move of this agent.
    #[serde(default)]
    pub non_deterministic: bool,
    /// The last thing it did wrong, for people.
    #[serde(default)]
    pub last_fault: Option<String>,
    /// The score over complete blocks with luck taken out; none where no game has
    /// luck. Unbiased, and so at times a little beyond 0 or 1.
    #[serde(default)]
    pub score_adjusted: Option<f64>,
    /// Lower end of its 95 % interval.
    #[serde(default)]
    pub score_adjusted_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub score_adjusted_high: Option<f64>,
    /// Lower end of its 95 % interval for as many looks as one likes.
    #[serde(default)]
    pub score_adjusted_anytime_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub score_adjusted_anytime_high: Option<f64>,
    /// Luck could not be taken out, since blocks are few or some have none: it is
    /// the score as it came.
    #[serde(default)]
    pub score_adjusted_is_raw: bool,
    /// Mean luck of a game, in parts of its score; 0 is expected.
    #[serde(default)]
    pub luck_mean: Option<f64>,
    /// Share of the variance of scores over blocks that taking luck out took
    /// away; below 0 where it did harm. None with fewer than 30 blocks.
    #[serde(default)]
    pub luck_share: Option<f64>,
    /// Lower end of its 95 % interval.
    #[serde(default)]
    pub luck_share_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub luck_share_high: Option<f64>,
    /// Extra games needed for the same precision without taking luck out; below 0
    /// where it did harm.
    #[serde(default)]
    pub luck_games_saved: Option<i64>,
    /// Lower end of its 95 % interval.
    #[serde(default)]
    pub luck_games_saved_low: Option<i64>,
    /// Upper end; none where it has none.
    #[serde(default)]
    pub luck_games_saved_high: Option<i64>,
}
