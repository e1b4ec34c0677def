//! A tournament with a coordinator, a worker and agents, of which one misbehaves. The real
//! Prometheus scrapes it, and evaluates every query of every panel and rule.

use std::{
    io::{self, BufRead, BufReader},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use arena_tests::{World, get, repository, spec};
use serde_json::{Value, json};

use super::{
    dashboards::{dashboards, label_values},
    deploy, list,
    promql::{self, substitute},
    rules::rules,
    text, tool_agrees, yaml,
};

/// How long a query may have no result before it counts as empty.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Panels about events that do not happen here.
const QUIET: [&str; 1] = ["agents: Restarts A"];
/// Only a coordinator with TLS has it; the tests of the rules have data of it.
const TLS_ONLY: &str = "arena_tls_certificate_expiry_timestamp_seconds";

/// More blocks than are played until every query is evaluated.
const BLOCKS: u64 = 1_000_000;

/// A running Prometheus; it ends when dropped.
pub(super) struct Prometheus {
    process: Child,
    address: String,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Prometheus {
    /// Starts it with the project's configuration for one machine, with these targets and this
    /// interval. `None` if the machine has no Prometheus.
    pub(super) fn start(
        world: &World,
        interval: &str,
        coordinator: &str,
        workers: &[&str],
    ) -> Option<Self> {
        let mut config = yaml("prometheus/local.yml");
        config["global"] = json!({"scrape_interval": interval, "evaluation_interval": "1s"});
        config["rule_files"] = json!([deploy("prometheus/rules.yml")]);
        for job in config["scrape_configs"].as_array_mut().expect("a list") {
            let targets = match text(&job["job_name"]) {
                "arena-coordinator" => vec![coordinator],
                "arena-worker" => workers.to_vec(),
                other => panic!("{other} is not a job of ours"),
            };
            let labels = json!({"cluster": "here", "namespace": "arena"});
            job["static_configs"] = json!([{"targets": targets, "labels": labels}]);
        }
        Self::start_with(world, &config)
    }

    /// Starts it with a configuration, whose paths are relative to the world's folder.
    pub(super) fn start_with(world: &World, config: &Value) -> Option<Self> {
        // JSON is YAML.
        let file = world.write("prometheus.yml", config.to_string());
        let started = world
            .command("prometheus")
            .arg(format!("--config.file={file}"))
            .arg("--storage.tsdb.path=series")
            .arg("--web.listen-address=127.0.0.1:0")
            .stderr(Stdio::piped())
            .spawn();
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                println!("skipped: prometheus cannot be started: {error}");
                return None;
            }
        };
        let mut started = Self {
            process,
            address: String::new(),
        };
        let log = started.process.stderr.take().expect("stderr is piped");
        let mut log = BufReader::new(log);
        let mut shown = String::new();
        while started.address.is_empty() || !shown.contains("Server is ready") {
            let from = shown.len();
            let read = log.read_line(&mut shown).expect("its log can be read");
            assert!(read > 0, "prometheus ended: {shown}");
            if let Some((_, address)) = shown[from..].split_once("msg=\"Listening on\" address=") {
                address.trim().clone_into(&mut started.address);
            }
        }
        // A full pipe would stop it.
        thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Some(started)
    }

    pub(super) fn api(&self, path: &str) -> Value {
        let body = get(&self.address, &format!("/api/v1/{path}")).expect("prometheus answers");
        let answer: Value = serde_json::from_str(&body)
            .unwrap_or_else(|error| panic!("{path} answered \"{body}\": {error}"));
        assert_eq!(answer["status"], "success", "{path}: {}", answer["error"]);
        answer["data"].clone()
    }

    /// The current series of a query: labels and value.
    pub(super) fn query(&self, query: &str) -> Vec<(Value, String)> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = self.api(&format!("query?query={encoded}"));
        let series = list(&answer["result"]).iter();
        let value = |series: &Value| text(&series["value"][1]).to_owned();
        series
            .map(|series| (series["metric"].clone(), value(series)))
            .collect()
    }

    /// The number of series with a number; repeats the query until there is one.
    fn answers(&self, query: &str) -> usize {
        let asked = Instant::now();
        loop {
            let numbers = self
                .query(query)
                .iter()
                .filter(|(_, value)| !matches!(value.as_str(), "NaN" | "+Inf" | "-Inf"))
                .count();
            if numbers > 0 || asked.elapsed() > TIMEOUT {
                return numbers;
            }
            thread::sleep(Duration::from_millis(250));
        }
    }
}

#[test]
fn panels_and_rules_have_data_live() {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &[]);
    // As processes, so that transport times are measured too.
    let worker = world.worker(&coordinator, &["--builtin", "process"]);
    let addresses = [coordinator.metrics_address(), worker.metrics_address()];
    let started = Prometheus::start(&world, "500ms", addresses[0], &addresses[1..]);
    let Some(prometheus) = started else {
        return;
    };
    let url = coordinator.url();
    // A finished tournament, too.
    let over = spec("over", "cowry", 1, &["random", "aggressive"], "");
    let over = world.start_tournament("over", &over, &url);
    world.finish_tournament(&over, &url);
    let saboteur = world.misbehave();
    let mut register = vec!["agent", "register", "saboteur", "--binary", &saboteur];
    register.extend(["--coordinator", &url, "--", "illegal"]);
    let _ = world.arena(&register).ok();
    // An agent that sleeps, so that games go on while the machine is free for Prometheus.
    let slow = repository().join("tests/agents/slow.py");
    let mut register = vec![
        "agent",
        "register",
        "slow",
        "--coordinator",
        &url,
        "--binary",
    ];
    register.extend([slow.to_str().expect("a path"), "--", "2"]);
    let _ = world.arena(&register).ok();
    let agents = ["slow", "aggressive", "saboteur"];
    let watched = spec("watched", "cowry", BLOCKS, &agents, "");
    let _ = world.start_tournament("watched", &watched, &url);

    let mut empty = Vec::new();
    let mut ask = |of: &str, query: &str| match prometheus.answers(query) {
        0 => empty.push(format!("{of}: {query}")),
        series => println!("{of}: {series} series"),
    };
    let variables = [
        ("__rate_interval", "5s"),
        ("__interval", "5s"),
        ("cluster", "here"),
        ("namespace", "arena"),
        ("job", ".+"),
        ("ruleset", ".+"),
        ("tournament", ".+"),
        ("agent", ".+"),
    ];
    for dashboard in dashboards() {
        for (name, query) in dashboard.variables() {
            let (selector, label) = label_values(query);
            let selector = substitute(selector, &variables);
            let values = format!("count by ({label}) ({selector})");
            ask(&format!("{}: ${name}", dashboard.name), &values);
        }
        for query in dashboard
            .queries()
            .into_iter()
            .chain(dashboard.annotations())
        {
            let expression = substitute(&query.expression, &variables);
            if QUIET.contains(&query.of.as_str()) {
                for selector in promql::selectors(&expression) {
                    ask(&format!("{} is quiet, but sees", query.of), &selector.text);
                }
            } else if !expression.contains(TLS_ONLY) {
                ask(&query.of, &expression);
            }
        }
    }
    for rule in rules() {
        if rule.alert {
            // Without problems, alerts have no result, so the metrics in their expressions have to
            // exist instead.
            for selector in promql::selectors(&rule.query) {
                if !selector.text.contains(TLS_ONLY) {
                    ask(&format!("{} is quiet, but sees", rule.name), &selector.text);
                }
            }
        } else {
            ask(&rule.name, &rule.query);
            ask(&format!("{}, recorded", rule.name), &rule.name);
        }
    }
    let faults = "arena_faults_total{agent=\"saboteur\", kind=\"illegal_move\"} > 0";
    ask("the saboteur's faults", faults);
    assert!(empty.is_empty(), "without an answer:\n{}", empty.join("\n"));

    for group in list(&prometheus.api("rules")["groups"]) {
        for rule in list(&group["rules"]) {
            let (name, error) = (&rule["name"], &rule["lastError"]);
            assert_eq!(rule["health"], "ok", "{name}: {error}");
        }
    }
    for server in [&coordinator, &worker] {
        let health = get(server.metrics_address(), "/healthz");
        assert_eq!(health.as_deref(), Some("ok\n"));
        tool_agrees("promtool", &["check", "metrics"], &server.metrics());
    }
    worker.stop();
    coordinator.stop();
    drop(prometheus);
    world.nothing_runs();
}
