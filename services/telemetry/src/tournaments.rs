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

/// Values of gauges, each with its labels.
#[derive(Clone, Debug, Default)]
pub struct Series(Vec<(&'static str, proto::Metric)>);

impl Series {
    /// Adds a value of a metric with these labels, if it is known.
    pub fn put(&mut self, metric: &Metric, labels: &[&str], value: impl Into<Option<f64>>) {
        let Some(value) = value.into() else { return };
        let mut gauge = proto::Gauge::default();
        gauge.set_value(value);
        let mut series = labelled(metric, labels);
        series.set_gauge(gauge);
        self.0.push((metric.name, series));
    }
}

/// The series of a tournament with its standings.
#[derive(Clone, Debug, Default)]
pub struct TournamentSeries {
    /// Those of the tournament itself.
    pub own: Series,
    /// Those of each agent, best first. More than [`MAX_AGENTS`] are not shown.
    pub agents: Arc<[Series]>,
    /// Number of agents that are not among them.
    pub agents_left_out: usize,
}

/// Gauges of tournaments; clones share them.
#[derive(Clone, Debug)]
pub struct TournamentGauges {
    descs: Arc<[Desc]>,
    shown: Arc<RwLock<Vec<TournamentSeries>>>,
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
    pub fn show(&self, tournaments: Vec<TournamentSeries>) {
        *self.shown.write() = tournaments;
    }
}

impl Collector for TournamentGauges {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let shown = self.shown.read().clone();
        let mut page: BTreeMap<&str, Vec<proto::Metric>> = BTreeMap::new();
        let mut add = |series: &Series| {
            for (metric, value) in &series.0 {
                page.entry(metric).or_default().push(value.clone());
            }
        };
        let (mut room, mut left_out) = (MAX_ROWS, 0);
        for tournament in &shown {
            add(&tournament.own);
            let here = tournament.agents.len().min(MAX_AGENTS).min(room);
            tournament.agents[..here].iter().for_each(&mut add);
            room -= here;
            left_out += tournament.agents.len() - here + tournament.agents_left_out;
        }
        let mut rest = Series::default();
        rest.put(&catalogue::AGENTS_LEFT_OUT, &[], left_out as f64);
        add(&rest);
        catalogue::TOURNAMENT
            .iter()
            .map(|metric| family(metric, page.remove(metric.name).unwrap_or_default()))
            .collect()
    }
}
