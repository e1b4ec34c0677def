use std::{fs::Permissions, os::unix::fs::PermissionsExt};

use arena_tests::World;
use serde_json::Value;

/// Numbers of a figure that must be present and positive.
const NUMBERS: [&str; 2] = ["per_second", "cpu_us"];

/// The values do not matter: tests assert no speed.
#[test]
fn benchmark_measures_the_decision_path() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_arena-bench"));
    let page = world.write(
        "page.md",
        "before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n",
    );
    command.args(["floors", "path", "--quick", "--output", "json"]);
    command.args(["--write", &page]);
    for name in ["ARENA_BIN", "ARENA_PYTHON"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let output = world.run(command);
    let report = output.json();
    let sections = report["sections"].as_array().expect("sections");
    let names: Vec<&str> = sections
        .iter()
        .flat_map(|one| one["section"].as_str())
        .collect();
    assert_eq!(names, ["floors", "path"]);
    let mut ids = Vec::new();
    for section in sections {
        assert_eq!(section["missing"], Value::Array(Vec::new()), "{section}");
        for figure in section["figures"].as_array().expect("figures") {
            for number in NUMBERS {
                let value = figure[number].as_f64();
                assert!(
                    value.is_some_and(|value| value > 0.0),
                    "{number} of {figure}"
                );
            }
            for (kind, mb) in figure["memory_mb"].as_object().expect("memory") {
                assert!(mb.as_f64().is_some_and(|mb| mb > 0.0), "{kind} of {figure}");
            }
            let floored = figure["floor"].is_null() || figure["ratio_floor"].is_f64();
            assert!(floored, "{figure}");
            ids.push(figure["id"].as_str().expect("an id").to_owned());
        }
    }
    for id in [
        "floors.pipe",
        "path.rules-cowry-2",
        "path.batched",
        "path.unary",
        "path.python",
    ] {
        assert!(ids.iter().any(|one| one == id), "{id} is not in {ids:?}");
    }
    let figures = sections.iter().flat_map(|one| one["figures"].as_array());
    let mut bars = figures
        .flatten()
        .flat_map(|figure| figure["bars"].as_array().expect("bars"));
    // A build for tests is slow, so bars may be missed.
    let code = if bars.all(|bar| bar["met"] == true) {
        0
    } else {
        3
    };
    assert_eq!(output.code, Some(code), "{}", output.transcript());
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(
        page.starts_with("before\n") && page.ends_with("\nafter\n"),
        "{page}"
    );
    assert!(
        page.contains("\n### path\n") && !page.contains("old"),
        "{page}"
    );
    world.nothing_runs();
}

#[test]
fn page_of_results_has_a_place_for_the_benchmark() {
    let page = include_str!("RESULTS.md");
    let (_, rest) = page.split_once("<!-- results -->").expect("a beginning");
    assert!(rest.contains("<!-- end of results -->"), "an end");
}

#[test]
fn unmeasurable_figures_are_named() {
    let world = World::new();
    let agent = world.write("agent.sh", "#!/bin/sh\nexit 1\n");
    world
        .arena(&["bench", "--seconds", "0"])
        .fails(2, &["--seconds", "0.05 to 3600"]);
    world
        .arena(&["bench", "in-process", "--agent", &agent])
        .fails(2, &["--agent", "batched or unary"]);
    world
        .arena(&["bench", "batched", "--agent", &agent])
        .fails(2, &["not executable", "chmod +x"]);
    std::fs::set_permissions(&agent, Permissions::from_mode(0o755)).expect("its run bit");
    world
        .arena(&["bench", "batched", "--agent", &agent, "--seconds", "0.1"])
        .fails(
            1,
            &["starts on no worker", "exit code 1", "arena agent check"],
        );
    world.nothing_runs();
}

/// Whether formatting this pattern, such as `a.{b}-c`, can give a text.
fn made_of(text: &str, format: &str) -> bool {
    let fixed = format.split('{').map(|part| {
        let (_, fixed) = part.split_once('}').unwrap_or(("", part));
        fixed
    });
    let mut rest = text;
    for (index, part) in fixed.enumerate() {
        match rest.find(part) {
            Some(at) if index > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || format.ends_with('}')
}

#[test]
fn bars_belong_to_figures_and_have_limits() {
    let bars: Vec<Value> =
        serde_json::from_str(include_str!("data/bars.json")).expect("the list of bars");
    let sections = [
        include_str!("bench/sections/path.rs"),
        include_str!("bench/sections/sandbox.rs"),
        include_str!("bench/sections/store.rs"),
        include_str!("bench/sections/access.rs"),
        include_str!("bench/sections/large.rs"),
        include_str!("bench/sections/peers.rs"),
    ];
    for bar in bars {
        let figure = bar["figure"].as_str().expect("the id of a figure");
        let (section, name) = figure.split_once('.').expect("section and name");
        let measured = sections.iter().any(|source| {
            let literals = || source.split('"').skip(1).step_by(2);
            literals().any(|text| text == name || made_of(figure, text))
        });
        assert!(measured, "no section {section} measures {name}");
        let limits = bar["any"].as_array().expect("limits");
        assert!(!limits.is_empty(), "{bar}");
        for limit in limits {
            let bounds = ["at_least", "at_most"].map(|name| limit[name].is_number());
            assert!(bounds.contains(&true), "{bar}");
        }
    }
}
