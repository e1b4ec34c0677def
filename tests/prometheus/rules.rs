//! Recording and alerting rules.

use std::collections::BTreeSet;

use arena_telemetry::catalogue;
use serde_json::Value;

use super::{deploy, list, promql, read, text, tool_agrees, yaml};

/// A rule of `rules.yml`.
pub(super) struct Rule {
    /// What it records or alerts.
    pub(super) name: String,
    pub(super) alert: bool,
    pub(super) query: String,
    body: Value,
}

pub(super) fn rules() -> Vec<Rule> {
    list(&yaml("prometheus/rules.yml")["groups"])
        .iter()
        .flat_map(|group| list(&group["rules"]))
        .map(|rule| {
            let alert = rule.get("alert").is_some();
            Rule {
                name: text(&rule[if alert { "alert" } else { "record" }]).to_owned(),
                alert,
                query: text(&rule["expr"]).to_owned(),
                body: rule.clone(),
            }
        })
        .collect()
}

/// All series names that a query may use.
pub(super) fn known() -> BTreeSet<String> {
    let ours = [catalogue::COMMON, catalogue::COORDINATOR, catalogue::WORKER].concat();
    let ours = ours.iter().flat_map(|metric| match metric.kind {
        catalogue::Kind::Histogram(_) => ["_bucket", "_sum", "_count"]
            .map(|part| format!("{}{part}", metric.name))
            .to_vec(),
        _ => vec![metric.name.to_owned()],
    });
    let processes = catalogue::PROCESS.iter().map(ToString::to_string);
    let recorded = rules().into_iter().filter(|rule| !rule.alert);
    ours.chain(processes)
        .chain(recorded.map(|rule| rule.name))
        .chain(["up".to_owned()])
        .collect()
}

#[test]
fn rules_use_metrics_that_exist_and_alerts_say_what_to_do() {
    let known = known();
    let mut names = BTreeSet::new();
    for rule in rules() {
        let Rule { name, query, .. } = &rule;
        assert!(names.insert(name.clone()), "{name} twice");
        for selector in promql::selectors(query) {
            assert!(
                known.contains(&selector.metric),
                "{name}: no metric {}",
                selector.metric
            );
        }
        if rule.alert {
            let severity = text(&rule.body["labels"]["severity"]);
            assert!(
                ["warning", "critical"].contains(&severity),
                "{name}: {severity}"
            );
            for annotation in ["summary", "description"] {
                assert!(
                    !text(&rule.body["annotations"][annotation]).is_empty(),
                    "{name}"
                );
            }
        } else {
            assert_eq!(
                name.matches(':').count(),
                2,
                "{name} is not level:metric:operations"
            );
        }
    }
}

#[test]
fn every_alert_has_a_test_that_fires_it() {
    let tests = read(&deploy("prometheus/rules_test.yml"));
    for rule in rules().iter().filter(|rule| rule.alert) {
        let fired = format!("alertname=\"{}\"", rule.name);
        assert!(tests.contains(&fired), "{} is never fired", rule.name);
    }
}

#[test]
fn promtool_accepts_configuration_and_rules_and_their_tests_pass() {
    let path = |name: &str| deploy(name).display().to_string();
    tool_agrees(
        "promtool",
        &["check", "config", &path("prometheus/prometheus.yml")],
        "",
    );
    tool_agrees(
        "promtool",
        &["check", "rules", &path("prometheus/rules.yml")],
        "",
    );
    tool_agrees(
        "promtool",
        &["test", "rules", &path("prometheus/rules_test.yml")],
        "",
    );
}
