//! Standings as `--output json` prints them.

use std::collections::BTreeMap;

use arena_wire::v1;
use serde::Serialize;

use super::verdict::{self, CourseView};
use crate::{state::state_name, verdict::Verdict};

/// The contract of `--output json`.
#[derive(Serialize)]
pub struct StandingsJson<'a> {
    tournament_id: &'a str,
    state: &'static str,
    games: u64,
    games_total: u64,
    agents: Vec<AgentView<'a>>,
    seats: Vec<SeatView>,
    ratings: Option<RatingsView<'a>>,
    pairs: Vec<PairView<'a>>,
    /// Null if the game has chance.
    openings: Option<OpeningsView>,
    pairing: Option<PairingView>,
    intervals: IntervalsView,
    verdict: Option<serde_json::Value>,
    /// Null unless the tournament paused itself.
    pause: Option<PauseView<'a>>,
    /// Games that ended without a fault.
    games_clean: u64,
    /// The generation of these games, from 1, and the number of generations.
    generation: u32,
    generations: u32,
    course: Option<CourseView<'a>>,
    notes: &'a [String],
    audits: Option<AuditsView>,
    /// The verdicts of the expectations; null if there are none.
    pub expectations: Option<&'a [Verdict]>,
}

/// The validity of each interval: fixed-sample or anytime.
#[derive(Serialize)]
struct IntervalsView {
    level: f64,
    /// `…_low` and `…_high`.
    fixed: &'static str,
    /// `…_anytime_low` and `…_anytime_high`.
    anytime: &'static str,
    /// Which of the two the tables show. If results decide which games are played or when
    /// the tournament ends, the anytime-valid intervals.
    shown: &'static str,
}

/// The description of intervals.
fn intervals(standings: &v1::Standings) -> IntervalsView {
    IntervalsView {
        level: 0.95,
        fixed: "pointwise, over blocks; for a number of blocks fixed in advance",
        anytime: "pointwise, over blocks; at all times at once, however often one looks",
        shown: if standings.adaptive {
            "anytime"
        } else {
            "fixed"
        },
    }
}

/// The reason why a tournament paused itself.
#[derive(Serialize)]
pub struct PauseView<'a> {
    kind: &'a str,
    agent: &'a str,
    workers: &'a [String],
    error: &'a str,
    reason: &'a str,
    advice: &'a str,
}

impl<'a> From<&'a v1::Pause> for PauseView<'a> {
    fn from(pause: &'a v1::Pause) -> Self {
        Self {
            kind: &pause.kind,
            agent: &pause.agent,
            workers: &pause.workers,
            error: &pause.error,
            reason: &pause.reason,
            advice: &pause.advice,
        }
    }
}

/// The replayed sample of games.
#[derive(Serialize)]
pub struct AuditsView {
    due: u64,
    agreed: u64,
    differing: u64,
    waiting: u64,
    given_up: u64,
}

#[derive(Serialize)]
pub struct AgentView<'a> {
    agent: &'a str,
    version: &'a str,
    /// SHA-256 that identifies a registered binary.
    content: Option<&'a str>,
    /// Identity of an endpoint.
    registered_unix_us: Option<u64>,
    place: Option<u64>,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    voids: u64,
    faults: u64,
    /// Games that the agent lost without a single answer.
    unplayed: u64,
    /// Points over its games, each from 0 to 1.
    points: f64,
    /// Points of the format, including byes: a seat beaten is one.
    swiss_points: Option<f64>,
    buchholz: Option<f64>,
    byes: Option<u64>,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    score_anytime_low: Option<f64>,
    score_anytime_high: Option<f64>,
    score_adjusted: Option<f64>,
    score_adjusted_low: Option<f64>,
    score_adjusted_high: Option<f64>,
    score_adjusted_anytime_low: Option<f64>,
    score_adjusted_anytime_high: Option<f64>,
    score_adjusted_is_raw: bool,
    luck_mean: Option<f64>,
    luck_share: Option<f64>,
    luck_share_low: Option<f64>,
    luck_share_high: Option<f64>,
    luck_games_saved: Option<i64>,
    luck_games_saved_low: Option<i64>,
    luck_games_saved_high: Option<i64>,
    rating: Option<f64>,
    rating_low: Option<f64>,
    rating_high: Option<f64>,
    rating_anytime_low: Option<f64>,
    rating_anytime_high: Option<f64>,
    nash: Option<f64>,
    plies_mean: Option<f64>,
    win_rate: Option<f64>,
    win_rate_low: Option<f64>,
    win_rate_high: Option<f64>,
    ranks: &'a [u64],
    /// Number of blocks that count.
    blocks: u64,
    /// Games that repeat others and are in no score.
    games_repeated: u64,
    latency_us_p50: Option<f64>,
    latency_us_p99: Option<f64>,
    waiting_us_p50: Option<f64>,
    waiting_us_p99: Option<f64>,
    faults_by_kind: &'a BTreeMap<String, u64>,
    last_fault: Option<&'a str>,
    non_deterministic: bool,
}

#[derive(Serialize)]
struct SeatView {
    seat: u32,
    games: u64,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    score_anytime_low: Option<f64>,
    score_anytime_high: Option<f64>,
}

/// The openings that scores are averaged over, in a game without chance.
#[derive(Serialize)]
struct OpeningsView {
    /// Plies of each opening.
    plies: u32,
    size: u64,
    /// True if these are all openings of that length, false if they are a sample.
    complete: bool,
}

#[derive(Serialize)]
struct PairingView {
    blocks: u64,
    variance_reduction: f64,
    variance_reduction_low: f64,
    variance_reduction_high: f64,
    games_saved: Option<i64>,
    games_saved_low: Option<i64>,
    games_saved_high: Option<i64>,
}

#[derive(Serialize)]
struct RatingsView<'a> {
    model: &'a str,
    /// Factor from the natural logarithm of strength to a rating.
    elo: f64,
    /// Null if the mean of all ratings is 0.
    anchor: Option<&'a str>,
    prior_elo: f64,
    /// Weights of ties of two, three and four seats.
    ties: &'a [f64],
    components: u32,
    /// Null if the games do not test the model.
    fit: Option<FitView<'a>>,
}

/// Goodness of fit of one rating per agent to the scores of pairs.
#[derive(Serialize)]
struct FitView<'a> {
    pairs: u64,
    statistic: f64,
    df: u64,
    df_residual: f64,
    p: f64,
    /// The agents with the largest deviation from their expected scores.
    worst: &'a [String],
}

#[derive(Serialize)]
pub struct PairView<'a> {
    agent: &'a str,
    opponent: &'a str,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// Number of blocks that count.
    blocks: u64,
    blocks_played: u64,
    distinct_games: u64,
    /// True if the number of distinct games is a lower bound.
    distinct_games_more: bool,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    score_anytime_low: Option<f64>,
    score_anytime_high: Option<f64>,
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    difference_anytime_low: Option<f64>,
    difference_anytime_high: Option<f64>,
    score_adjusted: Option<f64>,
    score_adjusted_low: Option<f64>,
    score_adjusted_high: Option<f64>,
    score_adjusted_anytime_low: Option<f64>,
    score_adjusted_anytime_high: Option<f64>,
    score_adjusted_is_raw: bool,
    difference_adjusted: Option<f64>,
    difference_adjusted_low: Option<f64>,
    difference_adjusted_high: Option<f64>,
    difference_adjusted_is_raw: bool,
    rating_difference: Option<f64>,
    rating_difference_low: Option<f64>,
    rating_difference_high: Option<f64>,
    /// Likelihood that the true score in the games of the two is above one half.
    superiority: Option<f64>,
    /// Likelihood that the first agent is the stronger one, by the ratings of all.
    rating_superiority: Option<f64>,
    /// The rating difference as the Elo of the expected score.
    elo_difference: Option<f64>,
    elo_difference_low: Option<f64>,
    elo_difference_high: Option<f64>,
    elo_difference_anytime_low: Option<f64>,
    elo_difference_anytime_high: Option<f64>,
    /// True if all games between the two or their sets went one way: only the nearer bound
    /// of the interval is meaningful.
    rating_is_open: bool,
}

/// The complete view.
pub fn view(standings: &v1::Standings) -> StandingsJson<'_> {
    StandingsJson {
        tournament_id: &standings.tournament_id,
        state: state_name(standings.state()),
        pause: standings.pause.as_ref().map(PauseView::from),
        games_clean: standings.games_clean,
        generation: standings.generation.max(1),
        generations: standings.generations.max(1),
        games: standings.games,
        games_total: standings.games_total,
        agents: standings.agents.iter().map(agent).collect(),
        seats: standings.seats.iter().map(seat).collect(),
        ratings: standings.ratings.as_ref().map(ratings),
        pairs: standings.pairs.iter().map(pair).collect(),
        openings: standings.openings.map(|openings| OpeningsView {
            plies: openings.plies,
            size: openings.size,
            complete: openings.complete,
        }),
        pairing: standings.pairing.map(|pairing| PairingView {
            blocks: pairing.blocks,
            variance_reduction: pairing.variance_reduction,
            variance_reduction_low: pairing.variance_reduction_low,
            variance_reduction_high: pairing.variance_reduction_high,
            games_saved: pairing.games_saved,
            games_saved_low: pairing.games_saved_low,
            games_saved_high: pairing.games_saved_high,
        }),
        intervals: intervals(standings),
        verdict: verdict::object(&standings.verdict_json),
        course: standings.course.as_ref().map(CourseView::from),
        notes: &standings.notes,
        audits: standings.audits.map(AuditsView::from),
        expectations: None,
    }
}

/// One agent.
pub fn agent(agent: &v1::AgentStanding) -> AgentView<'_> {
    AgentView {
        agent: &agent.agent,
        version: &agent.version,
        content: Some(agent.content.as_str()).filter(|content| !content.is_empty()),
        registered_unix_us: agent.registered_unix_us,
        place: agent.place,
        games: agent.games,
        wins: agent.wins,
        draws: agent.draws,
        losses: agent.losses,
        voids: agent.voids,
        faults: agent.faults,
        unplayed: agent.unplayed,
        points: agent.points,
        swiss_points: agent.swiss_points,
        buchholz: agent.buchholz,
        byes: agent.byes,
        score: agent.score,
        score_low: agent.score_low,
        score_high: agent.score_high,
        score_anytime_low: agent.score_anytime_low,
        score_anytime_high: agent.score_anytime_high,
        score_adjusted: agent.score_adjusted,
        score_adjusted_low: agent.score_adjusted_low,
        score_adjusted_high: agent.score_adjusted_high,
        score_adjusted_anytime_low: agent.score_adjusted_anytime_low,
        score_adjusted_anytime_high: agent.score_adjusted_anytime_high,
        score_adjusted_is_raw: agent.score_adjusted_is_raw,
        luck_mean: agent.luck_mean,
        luck_share: agent.luck_share,
        luck_share_low: agent.luck_share_low,
        luck_share_high: agent.luck_share_high,
        luck_games_saved: agent.luck_games_saved,
        luck_games_saved_low: agent.luck_games_saved_low,
        luck_games_saved_high: agent.luck_games_saved_high,
        rating: agent.rating,
        rating_low: agent.rating_low,
        rating_high: agent.rating_high,
        rating_anytime_low: agent.rating_anytime_low,
        rating_anytime_high: agent.rating_anytime_high,
        nash: agent.nash,
        plies_mean: agent.plies_mean,
        win_rate: agent.win_rate,
        win_rate_low: agent.win_rate_low,
        win_rate_high: agent.win_rate_high,
        ranks: &agent.ranks,
        blocks: agent.blocks,
        games_repeated: agent.games_repeated,
        latency_us_p50: agent.latency_us_p50,
        latency_us_p99: agent.latency_us_p99,
        waiting_us_p50: agent.waiting_us_p50,
        waiting_us_p99: agent.waiting_us_p99,
        faults_by_kind: &agent.faults_by_kind,
        last_fault: Some(agent.last_fault.as_str()).filter(|text| !text.is_empty()),
        non_deterministic: agent.non_deterministic,
    }
}

fn seat(seat: &v1::SeatStanding) -> SeatView {
    SeatView {
        seat: seat.seat,
        games: seat.games,
        score: seat.score,
        score_low: seat.score_low,
        score_high: seat.score_high,
        score_anytime_low: seat.score_anytime_low,
        score_anytime_high: seat.score_anytime_high,
    }
}

fn ratings(ratings: &v1::Ratings) -> RatingsView<'_> {
    RatingsView {
        model: &ratings.model,
        elo: 400.0 / std::f64::consts::LN_10,
        anchor: Some(ratings.anchor.as_str()).filter(|name| !name.is_empty()),
        prior_elo: ratings.prior_elo,
        ties: &ratings.ties,
        components: ratings.components,
        fit: ratings.fit.as_ref().map(|fit| FitView {
            pairs: fit.pairs,
            statistic: fit.statistic,
            df: fit.df,
            df_residual: fit.df_residual,
            p: fit.p,
            worst: &fit.worst,
        }),
    }
}

/// Two agents compared.
pub fn pair(pair: &v1::PairStanding) -> PairView<'_> {
    PairView {
        agent: &pair.agent,
        opponent: &pair.opponent,
        games: pair.games,
        wins: pair.wins,
        draws: pair.draws,
        losses: pair.losses,
        blocks: pair.blocks,
        blocks_played: pair.blocks_played,
        distinct_games: pair.distinct_games,
        distinct_games_more: pair.distinct_games_more,
        score: pair.score,
        score_low: pair.score_low,
        score_high: pair.score_high,
        score_anytime_low: pair.score_anytime_low,
        score_anytime_high: pair.score_anytime_high,
        difference: pair.difference,
        difference_low: pair.difference_low,
        difference_high: pair.difference_high,
        difference_anytime_low: pair.difference_anytime_low,
        difference_anytime_high: pair.difference_anytime_high,
        score_adjusted: pair.score_adjusted,
        score_adjusted_low: pair.score_adjusted_low,
        score_adjusted_high: pair.score_adjusted_high,
        score_adjusted_anytime_low: pair.score_adjusted_anytime_low,
        score_adjusted_anytime_high: pair.score_adjusted_anytime_high,
        score_adjusted_is_raw: pair.score_adjusted_is_raw,
        difference_adjusted: pair.difference_adjusted,
        difference_adjusted_low: pair.difference_adjusted_low,
        difference_adjusted_high: pair.difference_adjusted_high,
        difference_adjusted_is_raw: pair.difference_adjusted_is_raw,
        rating_difference: pair.rating_difference,
        rating_difference_low: pair.rating_difference_low,
        rating_difference_high: pair.rating_difference_high,
        superiority: pair.superiority,
        rating_superiority: pair.rating_superiority,
        elo_difference: pair.elo_difference,
        elo_difference_low: pair.elo_difference_low,
        elo_difference_high: pair.elo_difference_high,
        elo_difference_anytime_low: pair.elo_difference_anytime_low,
        elo_difference_anytime_high: pair.elo_difference_anytime_high,
        rating_is_open: pair.rating_is_open,
    }
}

impl From<v1::Audits> for AuditsView {
    fn from(audits: v1::Audits) -> Self {
        Self {
            due: audits.due,
            agreed: audits.agreed,
            differing: audits.differing,
            waiting: audits.waiting,
            given_up: audits.given_up,
        }
    }
}
