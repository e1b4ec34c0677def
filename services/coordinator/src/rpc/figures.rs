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

use arena_telemetry::{AgentFigures, Estimate, Quantiles, TournamentFigures, TournamentGauges};
use arena_wire::v1::{self, TournamentState};
use tokio::sync::Mutex;

use super::standings;
use crate::{
    core::{is_over, state_name},
    error::Error,
    handle::Handle,
    messages::ListedTournament,
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
    figures: Option<Arc<TournamentFigures>>,
    changes: u64,
    state: TournamentState,
    computed_at: Instant,
    took: Duration,
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
            let figures = kept.get_mut(&*now.info.id)?.figures.as_mut()?;
            let (games, state) = (games(now), name(now.state));
            if (figures.games, figures.state) != (games, state) {
                let figures = Arc::make_mut(figures);
                (figures.games, figures.state) = (games, state);
            }
            Some(Arc::clone(figures))
        });
        self.gauges.show(shown.collect());
    }

    async fn compute(&self, now: &ListedTournament) -> Kept {
        let start = Instant::now();
        let request = v1::GetStandingsRequest {
            tournament_id: now.info.id.to_string(),
            ..v1::GetStandingsRequest::default()
        };
        let figures = match standings::get(&self.handle, request).await {
            Ok(standings) => Some(Arc::new(figures(now, standings))),
            Err(Error::Draining) => None,
            Err(error) => {
                let tournament = &*now.info.id;
                tracing::warn!(tournament, %error, "standings are not in the metrics");
                None
            }
        };
        Kept {
            figures,
            changes: now.changes,
            state: now.state,
            computed_at: start,
            took: start.elapsed(),
        }
    }
}

fn name(state: TournamentState) -> &'static str {
    state_name(state).unwrap_or("unknown")
}

fn games(now: &ListedTournament) -> [(&'static str, u64); 3] {
    let [done, in_flight, waiting] = now.games;
    [
        ("done", done),
        ("in_flight", in_flight),
        ("waiting", waiting),
    ]
}

fn figures(now: &ListedTournament, standings: v1::Standings) -> TournamentFigures {
    let seconds = |unix_us: u64| unix_us as f64 / 1e6;
    let ended = (now.finished_unix_us > 0).then(|| seconds(now.finished_unix_us));
    let first = standings.seats.first();
    TournamentFigures {
        tournament: now.info.id.to_string(),
        ruleset: now.info.tournament.ruleset.clone(),
        format: now.info.tournament.format.name().to_owned(),
        state: name(now.state),
        started: seconds(now.created_unix_us),
        finished: ended.filter(|_| is_over(now.state)),
        games: games(now),
        first_seat: first.map_or_else(Estimate::default, |seat| Estimate {
            value: seat.score,
            low: seat.score_low,
            high: seat.score_high,
        }),
        agents: standings.agents.into_iter().map(agent).collect(),
    }
}

fn agent(standing: v1::AgentStanding) -> AgentFigures {
    let seconds = |us: Option<f64>| us.map(|us| us / 1e6);
    let mut faults: Vec<(String, u64)> = standing.faults_by_kind.into_iter().collect();
    faults.sort();
    AgentFigures {
        agent: standing.agent,
        rank: standing.place,
        results: [
            standing.wins,
            standing.draws,
            standing.losses,
            standing.voids,
        ],
        score: Estimate {
            value: standing.score,
            low: standing.score_low,
            high: standing.score_high,
        },
        anytime: (standing.score_anytime_low, standing.score_anytime_high),
        win_rate: Estimate {
            value: standing.win_rate,
            low: standing.win_rate_low,
            high: standing.win_rate_high,
        },
        plies_mean: standing.plies_mean,
        faults,
        thinking: Quantiles {
            p50: seconds(standing.latency_us_p50),
            p99: seconds(standing.latency_us_p99),
        },
        waiting: Quantiles {
            p50: seconds(standing.waiting_us_p50),
            p99: seconds(standing.waiting_us_p99),
        },
    }
}
