//! Grafana's dashboards: their structure, and the metrics that they use.

use std::{collections::BTreeSet, fs};

use arena_model::engine::FaultKind;
use arena_telemetry::catalogue;
use serde_json::Value;

use super::{
    deploy, list,
    promql::{self, Selector},
    read,
    rules::known,
    text, yaml,
};

/// File and uid: links and bookmarks use the uid, so it never changes.
const DASHBOARDS: [(&str, &str); 3] = [
    ("overview", "arena-overview"),
    ("agents", "arena-agents"),
    ("fleet", "arena-fleet"),
];
const VARIABLES: [&str; 7] = [
    "datasource",
    "cluster",
    "namespace",
    "job",
    "ruleset",
    "tournament",
    "agent",
];
/// Variables that Grafana provides.
const BUILT_IN: [&str; 2] = ["__rate_interval", "__interval"];
/// Prometheus' own metric, which has the labels of each alert.
const ALERTS: &str = "ALERTS";

pub(super) struct Dashboard {
    pub(super) name: &'static str,
    uid: &'static str,
    body: Value,
}

/// A query of a panel.
pub(super) struct Query {
    /// Dashboard, panel and letter, for messages.
    pub(super) of: String,
    pub(super) expression: String,
}

pub(super) fn dashboards() -> Vec<Dashboard> {
    DASHBOARDS
        .iter()
        .map(|&(name, uid)| {
            let path = format!("grafana/dashboards/{name}.json");
            let body = serde_json::from_str(&read(&deploy(&path)))
                .unwrap_or_else(|error| panic!("{path}: {error}"));
            Dashboard { name, uid, body }
        })
        .collect()
}

impl Dashboard {
    fn panels(&self) -> impl Iterator<Item = &Value> {
        list(&self.body["panels"])
            .iter()
            .filter(|panel| panel["type"] != "row")
    }

    pub(super) fn queries(&self) -> Vec<Query> {
        self.panels()
            .flat_map(|panel| {
                list(&panel["targets"]).iter().map(|target| Query {
                    of: format!(
                        "{}: {} {}",
                        self.name,
                        text(&panel["title"]),
                        text(&target["refId"])
                    ),
                    expression: text(&target["expr"]).to_owned(),
                })
            })
            .collect()
    }

    /// Annotations on all panels.
    pub(super) fn annotations(&self) -> Vec<Query> {
        list(&self.body["annotations"]["list"])
            .iter()
            .map(|annotation| Query {
                of: format!("{}: {}", self.name, text(&annotation["name"])),
                expression: text(&annotation["expr"]).to_owned(),
            })
            .collect()
    }

    /// The expressions of a panel, by its title.
    pub(super) fn panel(&self, title: &str) -> Vec<String> {
        let mut panels = self.panels();
        let panel = panels
            .find(|panel| panel["title"] == title)
            .unwrap_or_else(|| panic!("{}: no panel {title}", self.name));
        let targets = list(&panel["targets"]).iter();
        targets.map(|it| text(&it["expr"]).to_owned()).collect()
    }

    /// Names and queries of the variables that a query fills.
    pub(super) fn variables(&self) -> Vec<(&str, &str)> {
        list(&self.body["templating"]["list"])
            .iter()
            .filter(|variable| variable["type"] == "query")
            .map(|variable| (text(&variable["name"]), text(&variable["query"]["query"])))
            .collect()
    }
}

#[test]
fn dashboards_have_fixed_uids() {
    let mut files: Vec<String> = fs::read_dir(deploy("grafana/dashboards"))
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .display()
                .to_string()
        })
        .collect();
    files.sort();
    let mut expected = DASHBOARDS.map(|(name, _)| format!("{name}.json"));
    expected.sort();
    assert_eq!(files, expected);
    for dashboard in dashboards() {
        assert_eq!(dashboard.body["uid"], dashboard.uid);
        assert!(
            dashboard.body.get("id").is_none(),
            "an id belongs to one Grafana"
        );
        assert!(text(&dashboard.body["title"]).starts_with("Arena / "));
        assert!(dashboard.body["schemaVersion"].as_u64() >= Some(36));
        assert_eq!(dashboard.body["tags"], serde_json::json!(["arena"]));
    }
}

#[test]
fn panels_have_description_and_unit() {
    for dashboard in dashboards() {
        let mut ids = BTreeSet::new();
        for panel in dashboard.panels() {
            let title = format!("{}: {}", dashboard.name, text(&panel["title"]));
            assert!(ids.insert(panel["id"].as_u64()), "{title}: its id is taken");
            assert!(
                text(&panel["description"]).len() > 20,
                "{title}: no description"
            );
            let defaults = &panel["fieldConfig"]["defaults"];
            let unit = text(&defaults["unit"]);
            assert!(!unit.is_empty(), "{title}: no unit");
            assert!(!list(&panel["targets"]).is_empty(), "{title}: no query");
            for target in list(&panel["targets"]) {
                assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
                assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
                let query = text(&target["expr"]);
                let counts = query.contains("_count{") && !query.contains("_sum{");
                let of_moves = query.contains("_move_") && query.contains("_seconds");
                assert!(!of_moves || unit == "s", "{title}");
                if query.contains("_seconds_") && !query.contains("process_cpu") && !counts {
                    assert_eq!(unit, "s", "{title}");
                }
            }
        }
    }
}

#[test]
fn panels_fit_the_grid_and_do_not_overlap() {
    for dashboard in dashboards() {
        let mut taken = BTreeSet::new();
        for panel in list(&dashboard.body["panels"]) {
            let at = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
            assert!(
                at("x") + at("w") <= 24,
                "{}: {}",
                dashboard.name,
                panel["title"]
            );
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(
                        taken.insert((x, y)),
                        "{}: {}",
                        dashboard.name,
                        panel["title"]
                    );
                }
            }
        }
    }
}

#[test]
fn dashboard_variables_are_used() {
    for dashboard in dashboards() {
        let defined: Vec<&str> = list(&dashboard.body["templating"]["list"])
            .iter()
            .map(|variable| text(&variable["name"]))
            .collect();
        assert_eq!(defined, VARIABLES, "{}", dashboard.name);
        let mut queries = dashboard.queries();
        queries.extend(dashboard.annotations());
        for &variable in &VARIABLES[1..] {
            let used = format!("{variable}=~\"${variable}\"");
            let uses = queries.iter().any(|query| query.expression.contains(&used));
            assert!(uses, "{}: ${variable} is not used", dashboard.name);
        }
        for Query { of, expression } in queries {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            for used in expression.split('$').skip(1) {
                let used = &used[..used.find(|c| !word(c)).unwrap_or(used.len())];
                assert!(
                    VARIABLES.contains(&used) || BUILT_IN.contains(&used),
                    "{of}: ${used}"
                );
            }
        }
    }
}

/// Whether a selector uses the variable of this name.
fn chooses(selector: &str, label: &str) -> bool {
    selector.contains(&format!("{label}=~\"${label}\""))
}

/// The labels of a series that come from its metric.
fn labels(series: &str) -> &'static [&'static str] {
    catalogue::ALL
        .into_iter()
        .flatten()
        .find(|metric| {
            let parts = ["", "_bucket", "_sum", "_count"];
            parts
                .iter()
                .any(|part| series == format!("{}{part}", metric.name))
        })
        .map_or(&[], |metric| metric.labels)
}

#[test]
fn queries_use_existing_metrics() {
    let known = known();
    for dashboard in dashboards() {
        let queries = dashboard.queries().into_iter();
        for Query { of, expression } in queries.chain(dashboard.annotations()) {
            let selectors = promql::selectors(&expression);
            for Selector { metric, text } in &selectors {
                assert!(known.contains(metric), "{of}: no metric {metric}");
                for label in ["job", "cluster", "namespace"] {
                    let is = metric == ALERTS || chooses(text, label);
                    assert!(is, "{of}: {text} is not of the {label}");
                }
            }
            // Faults have no ruleset, so values that are compared with them must not be limited to
            // one.
            for label in ["agent", "ruleset", "tournament"] {
                let all_have = selectors
                    .iter()
                    .all(|of| labels(&of.metric).contains(&label));
                for Selector { text, .. } in &selectors {
                    assert_eq!(chooses(text, label), all_have, "{of}: {text} by {label}");
                }
            }
            // The other `rate(` is the end of a name, such as that of a gauge.
            for rate in expression.split("(rate(").skip(1) {
                assert!(
                    rate.contains("[$__rate_interval]"),
                    "{of}: a rate over a fixed time"
                );
            }
        }
        for (name, query) in dashboard.variables() {
            for Selector { metric, .. } in promql::selectors(label_values(query).0) {
                assert!(
                    known.contains(&metric),
                    "{}: ${name}: no metric {metric}",
                    dashboard.name
                );
            }
        }
    }
}

#[test]
fn per_minute_rates_count_once() {
    let interval = &yaml("prometheus/prometheus.yml")["global"]["scrape_interval"];
    assert_eq!(interval, "10s", "a minute is several scrapes");
    for dashboard in dashboards() {
        for panel in dashboard.panels() {
            let title = format!("{}: {}", dashboard.name, panel["title"]);
            let targets = list(&panel["targets"]).iter();
            let expressions: Vec<&str> = targets.map(|it| text(&it["expr"])).collect();
            let counts = |it: &&str| it.contains("increase(");
            for expression in expressions.iter().copied().filter(counts) {
                // Its window is the step, so that neighbouring points share no samples and a step
                // has enough scrapes.
                let windows = expression.split("increase(").skip(1);
                for window in windows {
                    assert!(window.contains("[$__interval]"), "{title}: {expression}");
                }
                assert_eq!(panel["interval"], "1m", "{title}");
            }
            let is_counted = panel["type"] != "heatmap" || expressions.iter().any(counts);
            assert!(is_counted, "{title}: {expressions:?}");
        }
    }
}

/// Fixed colours of a panel, by the name or the end of the name of a series.
fn fixed(panel: &Value) -> BTreeSet<&str> {
    let overrides = list(&panel["fieldConfig"]["overrides"]).iter();
    overrides
        .filter(|it| it["properties"][0]["value"]["mode"] == "fixed")
        .map(|it| text(&it["matcher"]["options"]))
        .map(|name| name.trim_start_matches("/ ").trim_end_matches("$/"))
        .collect()
}

#[test]
fn panels_follow_style_rules() {
    let kinds: BTreeSet<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
    let results = BTreeSet::from(["win", "draw", "loss", "void"]);
    let mut seen = 0;
    for dashboard in dashboards() {
        for panel in dashboard.panels() {
            let title = format!("{}: {}", dashboard.name, panel["title"]);
            let defaults = &panel["fieldConfig"]["defaults"];
            if panel["type"] == "timeseries" && defaults["unit"] == "s" {
                let scale = &defaults["custom"]["scaleDistribution"]["type"];
                assert_eq!(scale, "log", "{title}");
            }
            for target in list(&panel["targets"]) {
                let expression = text(&target["expr"]);
                if panel["type"] == "bargauge" {
                    assert!(expression.starts_with("sort_desc("), "{title}");
                }
                for (label, known) in [("kind", &kinds), ("result", &results)] {
                    let by = expression.contains(&format!("{label}) ("));
                    if by && expression.starts_with("sum by (") {
                        let fixed = fixed(panel);
                        assert!(fixed.is_superset(known), "{title}: {fixed:?}");
                        seen += 1;
                    }
                }
                for label in ["kind", "termination"] {
                    if text(&target["legendFormat"]).contains(label) {
                        assert!(expression.ends_with("> 0"), "{title}: {expression}");
                    }
                }
            }
        }
    }
    assert_eq!(seen, 3, "faults twice, and results");
}

#[test]
fn tournament_start_and_end_are_annotated() {
    for dashboard in dashboards() {
        let annotations = list(&dashboard.body["annotations"]["list"]);
        let metrics: Vec<String> = dashboard
            .annotations()
            .iter()
            .flat_map(|query| promql::selectors(&query.expression))
            .map(|selector| selector.metric)
            .collect();
        let expected = ["started", "finished"]
            .map(|what| format!("arena_tournament_{what}_timestamp_seconds"));
        assert_eq!(metrics, expected, "{}", dashboard.name);
        for annotation in annotations {
            // The value is the time of the event, not that of the scrape.
            assert_eq!(annotation["useValueForTime"], true);
            assert!(text(&annotation["expr"]).ends_with(" * 1000"));
        }
    }
}

#[test]
fn every_metric_is_on_a_dashboard() {
    let shown: BTreeSet<String> = dashboards()
        .iter()
        .flat_map(Dashboard::queries)
        .flat_map(|query| promql::selectors(&query.expression))
        .map(|selector| selector.metric)
        .collect();
    let ours = catalogue::ALL.into_iter().flatten();
    for metric in ours.filter(|metric| !metric.help.starts_with("Former name of")) {
        let parts = ["", "_bucket", "_sum"].map(|part| format!("{}{part}", metric.name));
        assert!(
            parts.iter().any(|part| shown.contains(part)),
            "{} is not shown",
            metric.name
        );
    }
}

/// Selector and label of `label_values(selector, label)`.
pub(super) fn label_values(query: &str) -> (&str, &str) {
    query
        .strip_prefix("label_values(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|inside| inside.rsplit_once(", "))
        .unwrap_or_else(|| panic!("{query} is not label_values(selector, label)"))
}
