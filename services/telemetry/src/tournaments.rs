//! Standings of tournaments, as gauges. The reader of the store sets all of them at once, so that
//! they are correct from the first scrape of a process on, and a scrape is consistent.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::RwLock;
use prometheus::{
    Registry,
    core::{Collector, Desc},
    proto,
};

use crate::{
    MetricsError,
    catalogue::{self, Metric, family, labelled},
    labels::MAX_AGENTS,
};

/// Maximum number of agents with series, over all tournaments.
const MAX_ROWS: usize = 2_000;

/// A number that may be unknown, with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: Option<f64>,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A median and a 99th percentile, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
}

/// An agent of a tournament.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFigures {
    /// Its name in the tournament.
    pub agent: String,
    /// Its place, from 1.
    pub rank: Option<u64>,
    /// Wins, draws, losses and voids.
    pub results: [u64; 4],
    /// Mean score, with its fixed-sample interval.
    pub score: Estimate,
    /// Anytime-valid interval of the score.
    pub anytime: (Option<f64>, Option<f64>),
    /// Share of games won.
    pub win_rate: Estimate,
    /// Mean plies of its games.
    pub plies_mean: Option<f64>,
    /// Faults by kind.
    pub faults: Vec<(String, u64)>,
    /// Thinking time of a move.
    pub thinking: Quantiles,
    /// Waiting time of a move.
    pub waiting: Quantiles,
}

/// A tournament with its standings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TournamentFigures {
    /// Its id.
    pub tournament: String,
    /// Its ruleset.
    pub ruleset: String,
    /// Its format.
    pub format: String,
    /// `running`, `paused`, `finished` or `cancelled`.
    pub state: &'static str,
    /// When it was started, in seconds of Unix time.
    pub started: f64,
    /// When it ended.
    pub finished: Option<f64>,
    /// Games by state: `done`, `in_flight`, `waiting`.
    pub games: [(&'static str, u64); 3],
    /// Mean score of the first seat.
    pub first_seat: Estimate,
    /// Its agents, best first.
    pub agents: Vec<AgentFigures>,
}

/// Gauges of tournaments; clones share them.
#[derive(Clone, Debug)]
pub struct TournamentGauges {
    descs: Arc<[Desc]>,
    shown: Arc<RwLock<Vec<Arc<TournamentFigures>>>>,
}

impl TournamentGauges {
    /// Registers them, without a tournament.
    ///
    /// # Errors
    /// If the registry already has them.
    pub fn new(registry: &Registry) -> Result<Self, MetricsError> {
        let descs: Result<Arc<[Desc]>, _> =
            catalogue::TOURNAMENT.iter().map(Metric::desc).collect();
        let made = Self {
            descs: descs?,
            shown: Arc::default(),
        };
        registry.register(Box::new(made.clone()))?;
        Ok(made)
    }

    /// Shows these tournaments, and no others. If they have too many agents, the last ones have no
    /// series.
    pub fn show(&self, tournaments: Vec<Arc<TournamentFigures>>) {
        *self.shown.write() = tournaments;
    }
}

/// Series by metric.
#[derive(Default)]
struct Page(BTreeMap<&'static str, Vec<proto::Metric>>);

impl Page {
    fn put(&mut self, metric: &Metric, labels: &[&str], value: impl Into<Option<f64>>) {
        let Some(value) = value.into() else { return };
        let mut gauge = proto::Gauge::default();
        gauge.set_value(value);
        let mut series = labelled(metric, labels);
        series.set_gauge(gauge);
        self.0.entry(metric.name).or_default().push(series);
    }

    fn tournament(&mut self, of: &TournamentFigures) {
        let (id, ruleset) = (of.tournament.as_str(), of.ruleset.as_str());
        let info = [id, ruleset, &of.format, of.state];
        self.put(&catalogue::TOURNAMENT_INFO, &info, 1.0);
        self.put(&catalogue::TOURNAMENT_STARTED, &[id], of.started);
        self.put(&catalogue::TOURNAMENT_FINISHED, &[id], of.finished);
        for (state, games) in of.games {
            self.put(&catalogue::TOURNAMENT_GAMES, &[id, state], games as f64);
        }
        let seat = [id, ruleset];
        self.put(&catalogue::FIRST_SEAT_SCORE, &seat, of.first_seat.value);
        self.put(&catalogue::FIRST_SEAT_LOW, &seat, of.first_seat.low);
        self.put(&catalogue::FIRST_SEAT_HIGH, &seat, of.first_seat.high);
    }

    fn agent(&mut self, of: &TournamentFigures, agent: &AgentFigures) {
        let labels = [&*of.tournament, &*of.ruleset, &*agent.agent];
        let [wins, draws, losses, voids] = agent.results.map(|games| games as f64);
        let rank = agent.rank.map(|rank| rank as f64);
        for (metric, value) in [
            (&catalogue::AGENT_RANK, rank),
            (&catalogue::AGENT_PLAYED, Some(wins + draws + losses)),
            (&catalogue::AGENT_SCORE, agent.score.value),
            (&catalogue::AGENT_SCORE_LOW, agent.score.low),
            (&catalogue::AGENT_SCORE_HIGH, agent.score.high),
            (&catalogue::AGENT_SCORE_ANYTIME_LOW, agent.anytime.0),
            (&catalogue::AGENT_SCORE_ANYTIME_HIGH, agent.anytime.1),
            (&catalogue::AGENT_WIN_RATE, agent.win_rate.value),
            (&catalogue::AGENT_WIN_RATE_LOW, agent.win_rate.low),
            (&catalogue::AGENT_WIN_RATE_HIGH, agent.win_rate.high),
            (&catalogue::AGENT_PLIES, agent.plies_mean),
        ] {
            self.put(metric, &labels, value);
        }
        let more = |label| [labels[0], labels[1], labels[2], label];
        for (result, games) in [
            ("win", wins),
            ("draw", draws),
            ("loss", losses),
            ("void", voids),
        ] {
            self.put(&catalogue::AGENT_RESULTS, &more(result), games);
        }
        for (kind, faults) in &agent.faults {
            self.put(&catalogue::AGENT_FAULTS, &more(kind), *faults as f64);
        }
        for (metric, of) in [
            (&catalogue::AGENT_THINKING, agent.thinking),
            (&catalogue::AGENT_WAITING, agent.waiting),
        ] {
            self.put(metric, &more("50"), of.p50);
            self.put(metric, &more("99"), of.p99);
        }
    }
}

impl Collector for TournamentGauges {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let shown = self.shown.read().clone();
        let mut page = Page::default();
        let (mut room, mut left_out) = (MAX_ROWS, 0);
        for tournament in &shown {
            page.tournament(tournament);
            let here = tournament.agents.len().min(MAX_AGENTS).min(room);
            for agent in &tournament.agents[..here] {
                page.agent(tournament, agent);
            }
            room -= here;
            left_out += tournament.agents.len() - here;
        }
        page.put(&catalogue::AGENTS_LEFT_OUT, &[], left_out as f64);
        catalogue::TOURNAMENT
            .iter()
            .map(|metric| family(metric, page.0.remove(metric.name).unwrap_or_default()))
            .collect()
    }
}
