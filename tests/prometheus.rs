//! Metrics, their dashboards and rules, and all of `deploy/`.
#![expect(clippy::print_stdout, reason = "what is skipped and seen is printed")]

/// The real Prometheus on played tournaments: dashboards agree with standings.
mod agree;
/// Dashboards: structure, variables, and existing metrics.
mod dashboards;
/// Compose, Kubernetes, systemd, Grafana's provisioning, the table of metrics.
mod deploy;
/// Arena as a check of pull requests, as in its example.
mod gate;
/// The real Prometheus on a running tournament: every query has a result.
mod live;
/// Reads the metrics of a query.
mod promql;
/// Rules: checked and tested by promtool.
mod rules;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use arena_tests::repository;
use serde_json::Value;

/// `deploy/`, or a file in it.
fn deploy(path: &str) -> PathBuf {
    repository().join("deploy").join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A YAML file with one document.
fn yaml(path: &str) -> Value {
    let mut all = yamls(path);
    assert_eq!(all.len(), 1, "{path} has one document");
    all.remove(0)
}

/// The documents of a YAML file.
fn yamls(path: &str) -> Vec<Value> {
    let text = read(&deploy(path));
    serde_norway::Deserializer::from_str(&text)
        .map(|document| {
            serde::Deserialize::deserialize(document)
                .unwrap_or_else(|error| panic!("{path}: {error}"))
        })
        .collect()
}

/// The elements of a list; none if it is missing.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is not a text"))
}

/// Runs a tool that a machine may not have. Prints a message and returns `None` if it is missing.
fn tool(name: &str, arguments: &[&str], stdin: &str) -> Option<Output> {
    use std::{io::Write, process::Stdio};
    let started = Command::new(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: {name} cannot be started: {error}");
            return None;
        }
    };
    let mut pipe = child.stdin.take().expect("stdin is piped");
    // A tool that needs no input may have ended already.
    pipe.write_all(stdin.as_bytes()).ok();
    drop(pipe);
    Some(child.wait_with_output().expect("its output can be read"))
}

/// Runs a tool, and fails if it reports an error.
fn tool_agrees(name: &str, arguments: &[&str], stdin: &str) {
    if let Some(output) = tool(name, arguments, stdin) {
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{name} {arguments:?}: {said}");
        println!("{name} {arguments:?}: ok");
    }
}
