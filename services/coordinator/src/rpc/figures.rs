//! Metrics of tournaments: the same standings that users get, so that a dashboard and a table
//! agree, also after a restart.
//!
//! They are computed on a scrape, outside the core's task, and only for tournaments that have
//! changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_telemetry::{MAX_AGENTS, Series, TournamentGauges, TournamentSeries, catalogue};
use arena_wire::v1::{self, TournamentState};
use tokio::sync::Mutex;

use super::standings;
use crate::{
    core::{is_over, state_name},
    error::Error,
    handle::Handle,
    messages::ListedTournament,
    principal::Principal,
};

/// Minimum interval between two computations for an open tournament.
const AGE_LEAST: Duration = Duration::from_secs(1);
/// Maximum share of the time spent on a tournament is one part in this many.
const SHARE: u32 = 20;
/// Maximum time that a scrape waits for new values; then it shows the old ones.
const WAIT: Duration = Duration::from_secs(5);

/// Updates the gauges of tournaments.
#[derive(Clone)]
pub(crate) struct Figures {
    handle: Handle,
    gauges: TournamentGauges,
    kept: Arc<Mutex<BTreeMap<String, Kept>>>,
}

/// The newest values of a tournament.
struct Kept {
    /// None if its games could not be read.
    standings: Option<Computed>,
    changes: u64,
    state: TournamentState,
    computed_at: Instant,
    took: Duration,
}

/// What standings show.
struct Computed {
    first_seat: v1::SeatStanding,
    /// Deviating workers, and refuted games.
    unsound: [u64; 2],
    /// Series of the first agents; the others have none.
    agents: Arc<[Series]>,
    agents_left_out: usize,
}

impl Kept {
    /// True if it has to be computed again. The end of a tournament is shown at once.
    fn is_old(&self, now: &ListedTournament) -> bool {
        let changed = self.changes != now.changes || self.state != now.state;
        let age = AGE_LEAST.max(self.took * SHARE);
        changed
            && (self.state != now.state || is_over(now.state) || self.computed_at.elapsed() >= age)
    }
}

impl Figures {
    pub(crate) fn new(handle: Handle, gauges: TournamentGauges) -> Self {
        Self {
            handle,
            gauges,
            kept: Arc::default(),
        }
    }

    /// Updates the gauges and waits for a short time. Computations continue afterwards, for the
    /// next scrape.
    pub(crate) async fn refresh(self) {
        let updating = tokio::spawn(async move { self.update().await });
        // The scrape shows what is known, even after an error.
        let _ = tokio::time::timeout(WAIT, updating).await;
    }

    async fn update(&self) {
        let mut kept = self.kept.lock().await;
        // Without an answer, the coordinator is busy or stopping: the old values stay.
        let Ok(listed) = self.handle.ask(|core| Ok(core.listed())).await else {
            return;
        };
        for now in &listed {
            if kept.get(&*now.info.id).is_none_or(|kept| kept.is_old(now)) {
                let computed = self.compute(now).await;
                kept.insert(now.info.id.to_string(), computed);
            }
        }
        let ids: BTreeSet<&str> = listed.iter().map(|now| &*now.info.id).collect();
        kept.retain(|id, _| ids.contains(id.as_str()));
        let shown = listed.iter().filter_map(|now| {
            let of = kept.get(&*now.info.id)?.standings.as_ref()?;
            Some(TournamentSeries {
                own: own(now, of),
                agents: Arc::clone(&of.agents),
                agents_left_out: of.agents_left_out,
            })
        });
        self.gauges.show(shown.collect());
    }

    async fn compute(&self, now: &ListedTournament) -> Kept {
        let start = Instant::now();
        let request = v1::GetStandingsRequest {
            tournament_id: now.info.id.to_string(),
            ..v1::GetStandingsRequest::default()
        };
        let standings = match standings::get(&self.handle, request, &Principal::local()).await {
            Ok(standings) => Some(Computed {
                unsound: [
                    standings.workers_deviating.into(),
                    standings
                        .audits
                        .map_or(0, |audits| audits.refuted + audits.contradicted),
                ],
                first_seat: standings.seats.first().copied().unwrap_or_default(),
                agents: { standings.agents.iter().take(MAX_AGENTS) }
                    .map(|it| agent(now, it))
                    .collect(),
                agents_left_out: standings.agents.len().saturating_sub(MAX_AGENTS),
            }),
            Err(Error::Draining) => None,
            Err(error) => {
                let tournament = &*now.info.id;
                tracing::warn!(tournament, %error, "standings are not in the metrics");
                None
            }
        };
        Kept {
            standings,
            changes: now.changes,
            state: now.state,
            computed_at: start,
            took: start.elapsed(),
        }
    }
}

/// The series of a tournament itself.
fn own(now: &ListedTournament, of: &Computed) -> Series {
    let first_seat = &of.first_seat;
    let (id, tournament) = (&*now.info.id, &now.info.tournament);
    let state = state_name(now.state).unwrap_or("unknown");
    let info = [id, &tournament.ruleset, tournament.format.name(), state];
    let seconds = |unix_us: u64| unix_us as f64 / 1e6;
    let ended = is_over(now.state) && now.finished_unix_us > 0;
    let finished = ended.then(|| seconds(now.finished_unix_us));
    let mut series = Series::default();
    series.put(&catalogue::TOURNAMENT_INFO, &info, 1.0);
    series.put(
        &catalogue::TOURNAMENT_STARTED,
        &[id],
        seconds(now.created_unix_us),
    );
    series.put(&catalogue::TOURNAMENT_FINISHED, &[id], finished);
    let [deviating, refuted] = of.unsound.map(|count| count as f64);
    series.put(&catalogue::TOURNAMENT_DEVIATING, &[id], deviating);
    series.put(&catalogue::TOURNAMENT_REFUTED, &[id], refuted);
    for (state, games) in ["done", "in_flight", "waiting"].into_iter().zip(now.games) {
        series.put(&catalogue::TOURNAMENT_GAMES, &[id, state], games as f64);
    }
    for (metric, value) in [
        (&catalogue::FIRST_SEAT_SCORE, first_seat.score),
        (&catalogue::FIRST_SEAT_LOW, first_seat.score_low),
        (&catalogue::FIRST_SEAT_HIGH, first_seat.score_high),
        (
            &catalogue::FIRST_SEAT_ANYTIME_LOW,
            first_seat.score_anytime_low,
        ),
        (
            &catalogue::FIRST_SEAT_ANYTIME_HIGH,
            first_seat.score_anytime_high,
        ),
    ] {
        series.put(metric, &info[..2], value);
    }
    series
}

/// The series of an agent.
fn agent(now: &ListedTournament, of: &v1::AgentStanding) -> Series {
    let labels = [&*now.info.id, &*now.info.tournament.ruleset, &*of.agent];
    let more = |label| [labels[0], labels[1], labels[2], label];
    let played = of.wins + of.draws + of.losses;
    let mut series = Series::default();
    for (metric, value) in [
        (&catalogue::AGENT_RANK, of.place.map(|place| place as f64)),
        (&catalogue::AGENT_PLAYED, Some(played as f64)),
        (&catalogue::AGENT_SCORE, of.score),
        (&catalogue::AGENT_SCORE_LOW, of.score_low),
        (&catalogue::AGENT_SCORE_HIGH, of.score_high),
        (&catalogue::AGENT_SCORE_ANYTIME_LOW, of.score_anytime_low),
        (&catalogue::AGENT_SCORE_ANYTIME_HIGH, of.score_anytime_high),
        (&catalogue::AGENT_WIN_RATE, of.win_rate),
        (&catalogue::AGENT_WIN_RATE_LOW, of.win_rate_low),
        (&catalogue::AGENT_WIN_RATE_HIGH, of.win_rate_high),
        (&catalogue::AGENT_PLIES, of.plies_mean),
    ] {
        series.put(metric, &labels, value);
    }
    for (result, games) in [
        ("win", of.wins),
        ("draw", of.draws),
        ("loss", of.losses),
        ("void", of.voids),
    ] {
        series.put(&catalogue::AGENT_RESULTS, &more(result), games as f64);
    }
    for (kind, faults) in &of.faults_by_kind {
        series.put(&catalogue::AGENT_FAULTS, &more(kind), *faults as f64);
    }
    for (metric, percentile, us) in [
        (&catalogue::AGENT_THINKING, "50", of.latency_us_p50),
        (&catalogue::AGENT_THINKING, "99", of.latency_us_p99),
        (&catalogue::AGENT_WAITING, "50", of.waiting_us_p50),
        (&catalogue::AGENT_WAITING, "99", of.waiting_us_p99),
    ] {
        series.put(metric, &more(percentile), us.map(|us| us / 1e6));
    }
    series
}
