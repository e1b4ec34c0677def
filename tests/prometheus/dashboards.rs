//! Grafana's dashboards, held to a shape and to the metrics that exist.

use std::{collections::BTreeSet, fs};

use arena_telemetry::catalogue;
use serde_json::Value;

use super::{
    deploy, list,
    promql::{self, Selector},
    read,
    rules::known,
    text,
};

/// File and uid: links and bookmarks go by the uid, so it never changes.
const DASHBOARDS: [(&str, &str); 3] = [
    ("overview", "arena-overview"),
    ("agents", "arena-agents"),
    ("fleet", "arena-fleet"),
];
const VARIABLES: [&str; 4] = ["datasource", "job", "ruleset", "agent"];
/// What Grafana fills in by itself.
const BUILT_IN: [&str; 1] = ["__rate_interval"];

pub(super) struct Dashboard {
    pub(super) name: &'static str,
    uid: &'static str,
    body: Value,
}

/// A query of a panel.
pub(super) struct Query {
    /// Dashboard, panel and letter, for people.
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

    /// Name and query of the variables that are filled by a query.
    pub(super) fn variables(&self) -> Vec<(&str, &str)> {
        list(&self.body["templating"]["list"])
            .iter()
            .filter(|variable| variable["type"] == "query")
            .map(|variable| (text(&variable["name"]), text(&variable["query"]["query"])))
            .collect()
    }
}

#[test]
fn there_are_these_dashboards_under_fixed_uids() {
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
fn every_panel_says_what_it_shows_in_which_unit() {
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
fn every_variable_is_used_and_every_use_has_a_variable() {
    for dashboard in dashboards() {
        let defined: Vec<&str> = list(&dashboard.body["templating"]["list"])
            .iter()
            .map(|variable| text(&variable["name"]))
            .collect();
        assert_eq!(defined, VARIABLES, "{}", dashboard.name);
        let queries = dashboard.queries();
        for variable in ["job", "ruleset", "agent"] {
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

/// Whether a selector goes by the variable of this name.
fn chooses(selector: &str, label: &str) -> bool {
    selector.contains(&format!("{label}=~\"${label}\""))
}

/// The labels that a series has of its metric.
fn labels(series: &str) -> &'static [&'static str] {
    [catalogue::COMMON, catalogue::COORDINATOR, catalogue::WORKER]
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
fn queries_use_metrics_that_exist_and_choose_by_the_variables() {
    let known = known();
    for dashboard in dashboards() {
        for Query { of, expression } in dashboard.queries() {
            let selectors = promql::selectors(&expression);
            for Selector { metric, text } in &selectors {
                assert!(known.contains(metric), "{of}: no metric {metric}");
                assert!(chooses(text, "job"), "{of}: {text} is not of the job");
            }
            // Faults know no ruleset: what is set against them must not be
            // narrowed to one either.
            for label in ["agent", "ruleset"] {
                let all_have = selectors
                    .iter()
                    .all(|of| labels(&of.metric).contains(&label));
                for Selector { text, .. } in &selectors {
                    assert_eq!(chooses(text, label), all_have, "{of}: {text} by {label}");
                }
            }
            for rate in expression.split("rate(").skip(1) {
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
fn every_metric_is_on_a_dashboard() {
    let shown: BTreeSet<String> = dashboards()
        .iter()
        .flat_map(Dashboard::queries)
        .flat_map(|query| promql::selectors(&query.expression))
        .map(|selector| selector.metric)
        .collect();
    for metric in [catalogue::COMMON, catalogue::COORDINATOR, catalogue::WORKER].concat() {
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
