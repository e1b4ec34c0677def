//! Recording and alerting rules.

use std::{collections::BTreeSet, fs};

use arena_telemetry::catalogue;
use arena_tests::World;
use serde_json::Value;

use super::{deploy, list, promql, read, text, tool_agrees, yaml, yamls};

/// A rule of `rules.yml`.
pub(super) struct Rule {
    /// The series that it records, or its alert.
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
    let ours = catalogue::ALL.into_iter().flatten();
    let ours = ours.flat_map(|metric| match metric.kind {
        catalogue::MetricKind::Histogram(_) => ["_bucket", "_sum", "_count"]
            .map(|part| format!("{}{part}", metric.name))
            .to_vec(),
        _ => vec![metric.name.to_owned()],
    });
    let processes = catalogue::PROCESS.iter().map(ToString::to_string);
    let recorded = rules().into_iter().filter(|rule| !rule.alert);
    ours.chain(processes)
        .chain(recorded.map(|rule| rule.name))
        .chain(["up", "ALERTS"].map(str::to_owned))
        .collect()
}

#[test]
fn alerts_have_metrics_and_runbooks() {
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
            for annotation in ["summary", "description", "runbook_url"] {
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
fn alerts_link_to_the_readme() {
    let readme = read(&deploy("README.md"));
    let headings: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("### Arena"))
        .collect();
    let rules = rules();
    let alerts: Vec<&Rule> = rules.iter().filter(|rule| rule.alert).collect();
    assert_eq!(headings.len(), alerts.len(), "{headings:?}");
    for Rule { name, body, .. } in alerts {
        assert!(readme.contains(&format!("\n### {name}\n\n")), "{name}");
        let url = text(&body["annotations"]["runbook_url"]);
        let anchor = format!("/deploy/README.md#{}", name.to_lowercase());
        assert!(
            url.starts_with("https://") && url.ends_with(&anchor),
            "{url}"
        );
    }
}

#[test]
fn operator_has_same_rules() {
    let operators = yaml("kubernetes/monitoring/rules.yaml");
    assert_eq!(operators["kind"], "PrometheusRule");
    assert_eq!(operators["spec"], yaml("prometheus/rules.yml"));
    let documents = yamls("kubernetes/monitoring/alertmanager.yaml");
    let [secret, alertmanager] = &documents[..] else {
        panic!("a secret and an Alertmanager");
    };
    assert_eq!(alertmanager["kind"], "Alertmanager");
    let name = text(&alertmanager["metadata"]["name"]);
    assert_eq!(secret["metadata"]["name"], format!("alertmanager-{name}"));
    assert_eq!(
        text(&secret["stringData"]["alertmanager.yaml"]),
        read(&deploy("prometheus/alertmanager.yml"))
    );
}

#[test]
fn alertmanager_routes_alerts() {
    let config = yaml("prometheus/prometheus.yml");
    let reported = &config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"];
    assert_eq!(reported, &serde_json::json!(["alertmanager:9093"]));
    let alertmanager = yaml("prometheus/alertmanager.yml");
    let receivers = list(&alertmanager["receivers"]).iter();
    let names: Vec<&Value> = receivers.map(|it| &it["name"]).collect();
    assert!(names.contains(&&alertmanager["route"]["receiver"]));
    let known: BTreeSet<String> = rules().into_iter().map(|rule| rule.name).collect();
    for inhibit in list(&alertmanager["inhibit_rules"]) {
        for matcher in ["source_matchers", "target_matchers"] {
            let matcher = text(&inhibit[matcher][0]);
            for word in matcher.split(|c: char| !c.is_ascii_alphabetic()) {
                let alert = word.starts_with("Arena");
                assert!(!alert || known.contains(word), "no alert {word}");
            }
        }
    }
    let path = deploy("prometheus/alertmanager.yml").display().to_string();
    tool_agrees("amtool", &["check-config", &path], "");
}

#[test]
fn every_alert_has_a_test() {
    let tests = read(&deploy("prometheus/rules_test.yml"));
    for rule in rules().iter().filter(|rule| rule.alert) {
        let fired = format!("alertname=\"{}\"", rule.name);
        assert!(tests.contains(&fired), "{} is never fired", rule.name);
    }
}

#[test]
fn promtool_accepts_rules() {
    let path = |name: &str| deploy(name).display().to_string();
    tool_agrees(
        "promtool",
        &["check", "config", &path("prometheus/local.yml")],
        "",
    );
    // The check looks for the files of the tokens and of the authority.
    let world = World::new();
    fs::create_dir(world.folder().join("arena")).expect("a folder");
    for file in ["arena/token", "arena/worker-token", "arena/ca.pem"] {
        let _ = world.write(file, "");
    }
    for file in ["prometheus.yml", "rules.yml"] {
        let _ = world.write(file, read(&deploy("prometheus").join(file)));
    }
    let config = world.folder().join("prometheus.yml").display().to_string();
    tool_agrees("promtool", &["check", "config", &config], "");
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
