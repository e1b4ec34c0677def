use std::{collections::BTreeMap, process::Command};

use arena_tests::repository;
use serde_json::Value;

/// Who may depend on whom, development dependencies excepted; `*` is anybody.
fn allowed() -> BTreeMap<String, Vec<String>> {
    serde_json::from_str(include_str!("data/edges.json")).expect("the list of edges")
}

/// The packages of the workspace, as cargo tells.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// The dependencies a package is shipped or built with.
fn dependencies(package: &Value) -> Vec<&Value> {
    let all = package["dependencies"].as_array().expect("a list");
    all.iter().filter(|one| one["kind"] != "dev").collect()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().expect("a name")
}

#[test]
fn crates_depend_only_on_those_the_design_allows() {
    let allowed = allowed();
    let packages = packages();
    let names: Vec<&str> = packages.iter().map(name).collect();
    for listed in allowed.keys() {
        assert!(names.contains(&listed.as_str()), "{listed} does not exist");
    }
    for package in &packages {
        let from = name(package);
        let may = allowed.get(from).unwrap_or_else(|| {
            panic!("{from} is not in data/edges.json: say what it may depend on")
        });
        for dependency in dependencies(package) {
            let to = name(dependency);
            let ours = names.contains(&to);
            let fits = may.iter().any(|one| one == to || one == "*");
            assert!(!ours || fits, "{from} must not depend on {to}");
        }
    }
}

#[test]
fn only_the_store_has_its_database_and_only_telemetry_a_subscriber() {
    for (library, owner) in [
        ("sled", "arena-store"),
        ("tracing-subscriber", "arena-telemetry"),
    ] {
        for package in packages() {
            let has = dependencies(&package)
                .iter()
                .any(|one| name(one) == library);
            assert_eq!(
                has,
                name(&package) == owner,
                "{}: {library}",
                name(&package)
            );
        }
    }
}

#[test]
fn rules_and_statistics_are_built_without_io() {
    let pure = [
        "arena-engine",
        "arena-games",
        "arena-model",
        "arena-tournament",
    ];
    let io = [
        "tokio", "tonic", "hyper", "axum", "tracing", "sled", "nix", "tempfile",
    ];
    for package in packages().iter().filter(|one| pure.contains(&name(one))) {
        for dependency in dependencies(package) {
            let to = name(dependency);
            assert!(!io.contains(&to), "{} must not have {to}", name(package));
            // The messages alone: the stubs bring a server and a client along.
            let features = dependency["features"].as_array().expect("a list");
            let stubs = features.iter().any(|feature| feature == "grpc");
            assert!(!stubs, "{} must not have {to} with grpc", name(package));
        }
    }
}

#[test]
fn every_crate_follows_the_lints_of_the_workspace() {
    for package in packages() {
        let manifest = package["manifest_path"].as_str().expect("a path");
        let text = std::fs::read_to_string(manifest).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        let shared = manifest["lints"].get("workspace") == Some(&true.into());
        assert!(shared, "{} has lints of its own", name(&package));
    }
}
