use arena_tests::World;
use serde_json::Value;

/// Numbers of a figure that must be there and above nothing.
const NUMBERS: [&str; 2] = ["per_second", "cpu_us"];

/// What it measures is no matter here: speed is never asserted.
#[test]
fn the_benchmark_measures_every_figure_of_the_path_of_a_decision() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_arena-bench"));
    command.args(["floors", "path", "--quick", "--output", "json"]);
    for name in ["ARENA_BIN", "ARENA_PYTHON"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let report = world.run(command).ok().json();
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
        "path.rules-cowry",
        "path.batched",
        "path.unary",
        "path.python",
    ] {
        assert!(ids.iter().any(|one| one == id), "{id} is not in {ids:?}");
    }
    world.nothing_runs();
}

#[test]
fn every_bar_is_one_of_a_figure_and_has_a_limit() {
    let bars: Vec<Value> =
        serde_json::from_str(include_str!("data/bars.json")).expect("the list of bars");
    for bar in bars {
        let limits = bar["any"].as_array().expect("limits");
        assert!(!limits.is_empty(), "{bar}");
        for limit in limits {
            let bounds = ["at_least", "at_most"].map(|name| limit[name].is_number());
            assert!(bounds.contains(&true), "{bar}");
        }
    }
}
