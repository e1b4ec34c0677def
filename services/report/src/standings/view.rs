//! Standings as `--output json` prints them.

use arena_wire::v1;
use serde::Serialize;
use serde_json::json;

use super::{
    columns,
    datum::{
        Datum::{Bool, Both, Fixed, Real, Text},
        Object, Read, count, object,
    },
    verdict,
};
use crate::{estimates, state::state_name, verdict::Verdict};

/// The contract of `--output json`.
#[derive(Serialize)]
pub struct StandingsJson<'a> {
    tournament_id: &'a str,
    state: &'static str,
    games: u64,
    games_total: u64,
    agents: Vec<Object>,
    seats: Vec<Object>,
    ratings: Option<RatingsView<'a>>,
    pairs: Vec<Object>,
    /// The openings that scores are averaged over; null if the game has chance.
    openings: Option<Object>,
    pairing: Option<Object>,
    /// The validity of each interval.
    intervals: IntervalsView,
    verdict: Option<serde_json::Value>,
    /// Null unless the tournament paused itself.
    pause: Option<Object>,
    /// Games that ended without a fault.
    games_clean: u64,
    /// The generation of these games, from 1, and the number of generations.
    generation: u32,
    generations: u32,
    course: Option<Object>,
    /// The agents of an open ladder in the order of their places; absent for other tournaments.
    #[serde(skip_serializing_if = "Option::is_none")]
    season: Option<Vec<SeasonAgent<'a>>>,
    notes: &'a [String],
    audits: Option<Object>,
    /// The verdicts of the expectations; null if there are none.
    pub expectations: Option<&'a [Verdict]>,
}

/// An agent of an open ladder.
#[derive(Serialize)]
pub struct SeasonAgent<'a> {
    /// Its name.
    pub agent: &'a str,
    /// Its place among the active agents.
    pub place: Option<u64>,
    /// `waiting`, `active`, `benched`, `replaced` or `banned`.
    pub state: &'a str,
    /// Reason of a ban.
    pub reason: Option<&'a str>,
    /// The agent that it replaced.
    pub predecessor: Option<&'a str>,
    /// The agent that replaced it.
    pub successor: Option<&'a str>,
    /// Its rating with that of its predecessor as the prior, and the ends of the 95 % interval.
    pub rating: Option<f64>,
    /// Lower end.
    pub rating_low: Option<f64>,
    /// Upper end.
    pub rating_high: Option<f64>,
    /// Blocks scheduled for it.
    pub blocks: u64,
}

/// The agents of an open ladder, in the order of the standings; `None` for other tournaments.
#[must_use]
pub fn season(standings: &v1::Standings) -> Option<Vec<SeasonAgent<'_>>> {
    fn filled(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    let agents = standings.agents.iter().filter_map(|agent| {
        let season = agent.season.as_ref()?;
        Some(SeasonAgent {
            agent: &agent.agent,
            place: agent.place,
            state: &season.state,
            reason: filled(&season.reason),
            predecessor: filled(&season.predecessor),
            successor: filled(&season.successor),
            rating: season.rating,
            rating_low: season.rating_low,
            rating_high: season.rating_high,
            blocks: season.blocks,
        })
    });
    let agents: Vec<_> = agents.collect();
    (!agents.is_empty()).then_some(agents)
}

#[derive(Serialize)]
struct IntervalsView {
    level: f64,
    fixed: &'static str,
    anytime: &'static str,
    shown: &'static str,
}

#[derive(Serialize)]
struct RatingsView<'a> {
    model: &'a str,
    /// Factor from the natural logarithm of strength to a rating.
    elo: f64,
    /// Null if the mean of all ratings is 0.
    anchor: Option<&'a str>,
    prior_elo: f64,
    /// Weights of ties of two, three, four and so on up to the number of seats, at least to four.
    ties: &'a [f64],
    components: u32,
    /// Null if the games do not test the model.
    fit: Option<Object>,
}

/// The columns of a seat.
const SEAT: &[(&str, Read<v1::SeatStanding>)] = &[
    ("seat", |it| count(it.seat.into())),
    ("games", |it| count(it.games)),
    ("score", |it| Both(estimates::seat_score(it))),
];

/// The columns of two agents compared.
const PAIR: &[(&str, Read<v1::PairStanding>)] = &[
    ("agent", |it| Text(Some(&it.agent))),
    ("opponent", |it| Text(Some(&it.opponent))),
    ("games", |it| count(it.games)),
    ("wins", |it| count(it.wins)),
    ("draws", |it| count(it.draws)),
    ("losses", |it| count(it.losses)),
    // Blocks that count.
    ("blocks", |it| count(it.blocks)),
    ("blocks_played", |it| count(it.blocks_played)),
    ("distinct_games", |it| count(it.distinct_games)),
    // True if the number of distinct games is a lower bound.
    ("distinct_games_more", |it| Bool(it.distinct_games_more)),
    ("score", |it| Both(estimates::pair_score(it))),
    ("difference", |it| Both(estimates::difference(it))),
    ("score_adjusted", |it| {
        Both(estimates::pair_score_adjusted(it))
    }),
    ("score_adjusted_is_raw", |it| Bool(it.score_adjusted_is_raw)),
    ("difference_adjusted", |it| {
        Fixed(estimates::difference_adjusted(it))
    }),
    ("difference_adjusted_is_raw", |it| {
        Bool(it.difference_adjusted_is_raw)
    }),
    ("rating_difference", |it| {
        Fixed(estimates::rating_difference(it))
    }),
    // Likelihood that the true score in the games of the two is above one half.
    ("superiority", |it| Real(it.superiority)),
    // Likelihood that the first agent is the stronger one, by the ratings of all.
    ("rating_superiority", |it| Real(it.rating_superiority)),
    // The rating difference as the Elo of the expected score.
    ("elo_difference", |it| Both(estimates::elo_difference(it))),
    // True if all games between the two or their sets went one way: only the nearer bound
    // of the interval is meaningful.
    ("rating_is_open", |it| Bool(it.rating_is_open)),
];

/// The complete view.
pub fn view(standings: &v1::Standings) -> StandingsJson<'_> {
    let seats = standings.seats.iter();
    StandingsJson {
        tournament_id: &standings.tournament_id,
        state: state_name(standings.state()),
        pause: standings.pause.as_ref().map(pause),
        games_clean: standings.games_clean,
        generation: standings.generation.max(1),
        generations: standings.generations.max(1),
        games: standings.games,
        games_total: standings.games_total,
        agents: standings.agents.iter().map(agent).collect(),
        seats: seats.map(|seat| Object::of(SEAT, seat)).collect(),
        ratings: standings.ratings.as_ref().map(ratings),
        pairs: standings.pairs.iter().map(pair).collect(),
        // `complete` is false if the openings are a sample of all of that length.
        openings: standings
            .openings
            .map(|it| object! { it => plies size complete from_book }),
        pairing: standings.pairing.map(|it| {
            object! { it =>
                blocks variance_reduction variance_reduction_low variance_reduction_high
                games_saved games_saved_low games_saved_high
            }
        }),
        intervals: intervals(standings),
        verdict: verdict::object(&standings.verdict_json),
        course: standings.course.as_ref().map(course),
        season: season(standings),
        notes: &standings.notes,
        audits: standings.audits.as_ref().map(audits),
        expectations: None,
    }
}

/// The validity of `…_low` and `…_high`, of `…_anytime_low` and `…_anytime_high`, and which
/// of the two the tables show.
fn intervals(standings: &v1::Standings) -> IntervalsView {
    IntervalsView {
        level: 0.95,
        fixed: "pointwise, over blocks; for a number of blocks fixed in advance",
        anytime: "pointwise, over blocks; valid at any time, however often they are read",
        shown: match standings.adaptive {
            true => "anytime",
            false => "fixed",
        },
    }
}

/// One agent.
pub fn agent(agent: &v1::AgentStanding) -> Object {
    columns::fields(agent).into_iter().collect()
}

/// Two agents compared.
pub fn pair(pair: &v1::PairStanding) -> Object {
    Object::of(PAIR, pair)
}

/// The reason why a tournament paused itself.
#[must_use]
pub fn pause(pause: &v1::Pause) -> Object {
    object! { pause => kind agent workers error reason advice }
}

/// The replayed sample of games.
#[must_use]
pub fn audits(audits: &v1::Audits) -> Object {
    object! { audits => due agreed differing sampled waiting given_up unverified disputed refuted same_owner contradicted claims pending }
}

/// Progress of the format.
fn course(course: &v1::Course) -> Object {
    object! { course => round rounds llr llr_low llr_high text }
}

fn ratings(ratings: &v1::Ratings) -> RatingsView<'_> {
    RatingsView {
        model: &ratings.model,
        elo: arena_tournament::ratings::ELO,
        anchor: Some(ratings.anchor.as_str()).filter(|name| !name.is_empty()),
        prior_elo: ratings.prior_elo,
        ties: &ratings.ties,
        components: ratings.components,
        // Goodness of fit of one rating per agent to the scores of pairs; `worst` are the agents
        // with the largest deviation from their expected scores.
        fit: ratings
            .fit
            .as_ref()
            .map(|it| object! { it => pairs statistic df df_residual p worst }),
    }
}
