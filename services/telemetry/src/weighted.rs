//! Histograms with weighted observations: a batch of a hundred moves is one observation that
//! counts a hundred times, and so is a timed move that stands for a hundred.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::{Mutex, RwLock};
use prometheus::{
    Registry,
    core::{Collector, Desc},
    proto,
};

use crate::{
    MetricsError,
    catalogue::{Metric, family, labelled},
};

/// The histograms of one metric, by label values.
#[derive(Clone, Debug)]
pub(crate) struct WeightedHistograms(Arc<Series>);

#[derive(Debug)]
struct Series {
    /// The metric, and others that show the same values under other names.
    names: Vec<Metric>,
    descs: Vec<Desc>,
    bounds: &'static [f64],
    by_labels: RwLock<BTreeMap<Vec<String>, WeightedHistogram>>,
}

/// One histogram; clones share it.
#[derive(Clone, Debug)]
pub struct WeightedHistogram {
    bounds: &'static [f64],
    cells: Arc<Mutex<Cells>>,
}

#[derive(Clone, Debug)]
struct Cells {
    /// Counts of each bucket alone; the last one has no upper bound.
    counts: Box<[u64]>,
    sum: f64,
}

impl Cells {
    fn new(bounds: &[f64]) -> Self {
        Self {
            counts: vec![0; bounds.len() + 1].into(),
            sum: 0.0,
        }
    }

    fn observe(&mut self, bounds: &[f64], value: f64, weight: u64) {
        self.counts[bounds.partition_point(|&bound| bound < value)] += weight;
        self.sum += value * weight as f64;
    }
}

impl WeightedHistograms {
    /// Registers them under these names; the first one has the buckets.
    pub(crate) fn new(registry: &Registry, names: &[Metric]) -> Result<Self, MetricsError> {
        let bounds = names.first().map_or(&[][..], Metric::buckets);
        let descs: Result<Vec<Desc>, _> = names.iter().map(Metric::desc).collect();
        let made = Self(Arc::new(Series {
            names: names.to_vec(),
            descs: descs?,
            bounds,
            by_labels: RwLock::default(),
        }));
        registry.register(Box::new(made.clone()))?;
        Ok(made)
    }

    /// The histogram with these label values, created if missing.
    pub(crate) fn with(&self, labels: &[&str]) -> WeightedHistogram {
        let key: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let bounds = self.0.bounds;
        let mut series = self.0.by_labels.write();
        let made = series.entry(key).or_insert_with(|| WeightedHistogram {
            bounds,
            cells: Arc::new(Mutex::new(Cells::new(bounds))),
        });
        made.clone()
    }
}

impl Collector for WeightedHistograms {
    fn desc(&self) -> Vec<&Desc> {
        self.0.descs.iter().collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let series = self.0.by_labels.read();
        let shown: Vec<(&Vec<String>, Cells)> = series
            .iter()
            .map(|(labels, histogram)| (labels, histogram.cells.lock().clone()))
            .collect();
        let of = |metric: &Metric| {
            let values = shown.iter().map(|(labels, cells)| {
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let mut value = labelled(metric, &labels);
                value.set_histogram(message(self.0.bounds, cells));
                value
            });
            family(metric, values.collect())
        };
        self.0.names.iter().map(of).collect()
    }
}

fn message(bounds: &[f64], cells: &Cells) -> proto::Histogram {
    let mut seen = 0;
    let buckets = bounds.iter().zip(&cells.counts).map(|(&bound, count)| {
        seen += count;
        let mut bucket = proto::Bucket::default();
        bucket.set_upper_bound(bound);
        bucket.set_cumulative_count(seen);
        bucket
    });
    let mut message = proto::Histogram::default();
    message.set_bucket(buckets.collect());
    message.set_sample_count(cells.counts.iter().sum());
    message.set_sample_sum(cells.sum);
    message
}

impl WeightedHistogram {
    /// Counts a value this many times.
    pub fn observe(&self, value: f64, weight: u64) {
        self.cells.lock().observe(self.bounds, value, weight);
    }

    /// A local histogram, which costs no lock; its counts appear with a flush.
    pub(crate) fn local(&self) -> LocalHistogram {
        LocalHistogram {
            cells: Cells::new(self.bounds),
            seen: false,
            shared: self.clone(),
        }
    }
}

/// A histogram of one thread.
#[derive(Debug)]
pub(crate) struct LocalHistogram {
    cells: Cells,
    /// True if it has counts since the last flush.
    seen: bool,
    shared: WeightedHistogram,
}

impl LocalHistogram {
    pub(crate) fn observe(&mut self, value: f64, weight: u64) {
        self.cells.observe(self.shared.bounds, value, weight);
        self.seen = true;
    }

    pub(crate) fn flush(&mut self) {
        if !std::mem::take(&mut self.seen) {
            return;
        }
        let mut shared = self.shared.cells.lock();
        for (all, new) in shared.counts.iter_mut().zip(&mut self.cells.counts) {
            *all += std::mem::take(new);
        }
        shared.sum += std::mem::take(&mut self.cells.sum);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used)]

    use prometheus::TextEncoder;

    use super::*;
    use crate::catalogue;

    #[test]
    fn weights_appear_in_every_series() {
        let registry = Registry::new();
        let names = [catalogue::MOVE_THINKING, catalogue::MOVE_AGENT];
        let histograms = WeightedHistograms::new(&registry, &names).unwrap();
        let mut local = histograms.with(&["random", "cowry"]).local();
        local.observe(0.5, 3);
        local.observe(100.0, 1);
        histograms.with(&["random", "cowry"]).observe(0.25, 4);
        let page = || {
            TextEncoder::new()
                .encode_to_string(&registry.gather())
                .unwrap()
        };
        assert!(page().contains("_count{agent=\"random\",ruleset=\"cowry\"} 4\n"));
        local.flush();
        local.flush();
        for name in names.map(|metric| metric.name) {
            for (part, value) in [("_count{", "8"), ("_sum{", "102.5"), ("_bucket{", "8")] {
                let line = match part {
                    "_bucket{" => format!(
                        "{name}_bucket{{agent=\"random\",ruleset=\"cowry\",le=\"+Inf\"}} {value}\n"
                    ),
                    _ => format!("{name}{part}agent=\"random\",ruleset=\"cowry\"}} {value}\n"),
                };
                assert!(page().contains(&line), "{line} in {}", page());
            }
            let below =
                format!("{name}_bucket{{agent=\"random\",ruleset=\"cowry\",le=\"0.25\"}} 4");
            assert!(page().contains(&below), "a bound belongs to its bucket");
        }
    }
}
