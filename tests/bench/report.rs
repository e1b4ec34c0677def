//! Measurements, their comparison, and the bars that they meet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{machine::Machine, profile::Profile};

/// All measurements of one run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    /// Whether each figure was measured once and briefly.
    pub(crate) quick: bool,
    pub(crate) sections: Vec<Measured>,
    /// Bars of figures that this run did not measure.
    pub(crate) bars_not_measured: Vec<String>,
}

/// One section.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) section: &'static str,
    pub(crate) figures: Vec<Figure>,
    pub(crate) missing: Vec<Missing>,
}

/// A measured figure.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figure {
    /// Section and name: `path.batched`.
    pub(crate) id: String,
    pub(crate) what: String,
    /// The unit: decisions, games, round trips.
    pub(crate) unit: &'static str,
    pub(crate) per_second: f64,
    /// CPU time of one unit, summed over all processes.
    pub(crate) cpu_us: Option<f64>,
    /// The group of comparable figures, within the same section and unit.
    #[serde(skip)]
    pub(crate) group: &'static str,
    /// CPU time as a multiple of the first figure of its group; the ratio of rates if CPU time is
    /// unknown.
    pub(crate) ratio_first: Option<f64>,
    /// The id of its floor, which is what the machine itself can do.
    pub(crate) floor: Option<&'static str>,
    /// CPU time as a multiple of the floor's.
    pub(crate) ratio_floor: Option<f64>,
    /// Peak memory of the largest process of each kind.
    pub(crate) memory_mb: BTreeMap<&'static str, f64>,
    /// Milliseconds: p50, p99, and the maximum if it is known.
    pub(crate) latency_ms: BTreeMap<&'static str, f64>,
    /// Other values, by name with unit.
    pub(crate) more: BTreeMap<String, f64>,
    /// What the figure measures, and what is not comparable.
    pub(crate) note: Option<String>,
    /// How the coordinator spent its time; shown if a bar is missed.
    #[serde(skip_serializing_if = "Profile::is_empty")]
    pub(crate) profile: Profile,
    pub(crate) bars: Vec<Judged>,
}

/// A figure that could not be measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) reason: String,
    /// Whether this machine should have been able to measure it.
    pub(crate) failed: bool,
}

/// A bar, and whether it is met.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judged {
    pub(crate) bar: String,
    pub(crate) met: bool,
}

/// A bar of `tests/data/bars.json`, which is met if any of its limits holds.
#[derive(Debug, Deserialize)]
struct Bar {
    figure: String,
    bar: String,
    any: Vec<Limit>,
}

#[derive(Debug, Deserialize)]
struct Limit {
    /// `per_second`, `cpu_us`, `ratio_first`, or a name in memory, latency or others.
    measure: String,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

impl Report {
    pub(crate) fn new(quick: bool) -> Self {
        Self {
            machine: Machine::here(),
            quick,
            sections: Vec::new(),
            bars_not_measured: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, section: Measured) {
        self.sections.push(section);
    }

    /// True if a figure misses one of its bars.
    pub(crate) fn misses_a_bar(&self) -> bool {
        let mut bars = self.figures().flat_map(|figure| &figure.bars);
        bars.any(|bar| !bar.met)
    }

    fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }

    fn figures_mut(&mut self) -> impl Iterator<Item = &mut Figure> {
        self.sections
            .iter_mut()
            .flat_map(|section| &mut section.figures)
    }

    /// Computes ratios and bars.
    pub(crate) fn finish(&mut self) {
        let costs: BTreeMap<String, f64> = self
            .figures_mut()
            .filter_map(|figure| Some((figure.id.clone(), figure.cpu_us?)))
            .collect();
        for section in &mut self.sections {
            let mut first: BTreeMap<_, (f64, Option<f64>)> = BTreeMap::new();
            for figure in &mut section.figures {
                let (rate, cost) = *first
                    .entry((figure.group, figure.unit))
                    .or_insert((figure.per_second, figure.cpu_us));
                let slower = match (figure.cpu_us, cost) {
                    (Some(own), Some(cost)) => own / cost,
                    _ => rate / figure.per_second,
                };
                figure.ratio_first = Some(slower).filter(|ratio| ratio.is_finite());
                figure.ratio_floor = figure
                    .floor
                    .and_then(|floor| Some(figure.cpu_us? / costs.get(floor)?));
            }
        }
        let bars: Vec<Bar> = serde_json::from_str(include_str!("../data/bars.json"))
            .expect("the list of bars is JSON of this shape");
        for figure in self.figures_mut() {
            figure.bars = bars
                .iter()
                .filter(|bar| bar.figure == figure.id)
                .map(|bar| Judged {
                    bar: bar.bar.clone(),
                    met: bar.any.iter().any(|limit| limit.holds(figure)),
                })
                .collect();
        }
        self.bars_not_measured = bars
            .iter()
            .filter(|bar| self.figures().all(|figure| figure.id != bar.figure))
            .map(|bar| format!("{}: {}", bar.figure, bar.bar))
            .collect();
        self.machine.load_end = Machine::load();
    }
}

impl Limit {
    fn holds(&self, figure: &Figure) -> bool {
        let name = self.measure.as_str();
        let value = match name {
            "per_second" => Some(figure.per_second),
            "cpu_us" => figure.cpu_us,
            "ratio_first" => figure.ratio_first,
            _ => (figure.memory_mb.get(name).copied())
                .or_else(|| figure.latency_ms.get(name).copied())
                .or_else(|| figure.more.get(name).copied()),
        };
        value.is_some_and(|value| {
            self.at_least.is_none_or(|least| value >= least)
                && self.at_most.is_none_or(|most| value <= most)
        })
    }
}

impl Measured {
    pub(crate) fn new(section: &'static str) -> Self {
        Self {
            section,
            ..Self::default()
        }
    }

    /// Adds a figure, or the reason why it is missing.
    pub(crate) fn take(&mut self, what: &str, result: anyhow::Result<Vec<Figure>>) {
        match result {
            Ok(figures) => self.figures.extend(figures),
            Err(error) => {
                let absent = error.downcast_ref::<Absent>().is_some();
                self.missing.push(Missing {
                    what: what.to_owned(),
                    reason: format!("{error:#}"),
                    failed: !absent,
                });
            }
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.missing.iter().any(|missing| missing.failed)
    }
}

/// Something that this machine does not have, and why.
#[derive(Debug, thiserror::Error)]
#[error("not installed, {0}")]
pub(crate) struct Absent(pub(crate) String);

/// The run with the median rate.
pub(crate) fn median(mut runs: Vec<Figure>) -> Option<Figure> {
    runs.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle)
}
