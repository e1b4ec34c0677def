//! Tables, headlines, claims and exit codes agree.

use arena_tests::{PAPER_000, World, repository, spec};
use serde_json::Value;

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    let text = value[key].as_str();
    text.unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// Names in the order of the standings, with their places.
fn placed(standings: &Value) -> Vec<(u64, &str)> {
    let agents = standings["agents"].as_array().expect("agents").iter();
    let place = |agent: &Value| agent["place"].as_u64().expect("a place");
    agents
        .map(|agent| (place(agent), text(agent, "agent")))
        .collect()
}

/// Whether the scores are not in the order of the standings.
fn scores_differ(standings: &Value) -> bool {
    let agents = standings["agents"].as_array().expect("agents");
    let scores = agents.iter().map(|agent| agent["score"].as_f64());
    !scores.is_sorted_by(|a, b| a >= b)
}

#[test]
fn order_headline_and_claims_equal_verdict() {
    let mut reversed = PAPER_000;
    reversed.reverse();
    // In these formats, the winner may not have the best score.
    for (format, agents, blocks, headline) in [
        ("knockout", &reversed[..], 1, "wins the knockout"),
        ("swiss", &PAPER_000[..5], 5, "is first, "),
    ] {
        let world = World::new();
        let more = format!("format = \"{format}\"");
        let spec = spec("order", "cowry", blocks, agents, &more);
        let (id, standings, _) = world.tournament(&spec, "data", &[]);
        let verdict = &standings["verdict"];
        let mut expected: Vec<(u64, &str)> = verdict["places"]
            .as_array()
            .expect("places")
            .iter()
            .map(|row| (row["place"].as_u64().expect("a place"), text(row, "agent")))
            .collect();
        let mut found = placed(&standings);
        assert!(found.is_sorted_by_key(|(place, _)| *place), "{found:?}");
        assert!(
            scores_differ(&standings),
            "{format}: nothing is shown by this"
        );
        let winner = text(verdict, "winner");
        assert_eq!(found[0], (1, winner), "{format}");
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{format}");
        let check = |claim: &str| {
            let claim = format!("{winner} {claim}");
            world.arena(&["standings", &id, "--data", "data", "--expect", &claim])
        };
        let _ = check("ranks first").ok();
        let _ = check("ranks 2").fails(3, &["ranks 2"]);
        let report = ["report", &id, "--data", "data", "--markdown"];
        let report = world.arena(&report).ok().stdout;
        let first = report.lines().next().unwrap_or_default();
        assert!(
            first.starts_with(&format!("## {winner} {headline}")),
            "{first}"
        );
    }
}

#[test]
fn gauntlet_is_ordered_by_ratings() {
    let world = World::new();
    let spec = spec("order", "cowry", 30, &PAPER_000, "format = \"gauntlet\"");
    let (id, standings, _) = world.tournament(&spec, "data", &[]);
    assert!(scores_differ(&standings), "nothing is shown by this");
    let agents = standings["agents"].as_array().expect("agents");
    let ratings = agents.iter().filter_map(|agent| agent["rating"].as_f64());
    // Equal agents are sorted by name, and equal except for rounding.
    assert!(ratings.is_sorted_by(|a, b| *a > b - 1e-6), "{standings}");
    let claim = format!("{} ranks first", placed(&standings)[0].1);
    let expect = ["standings", &id, "--data", "data", "--expect", &claim];
    let _ = world.arena(&expect).ok();
    let report = ["report", &id, "--data", "data", "--markdown"];
    let report = world.arena(&report).ok().stdout;
    let first = report.lines().next().unwrap_or_default();
    assert!(first.starts_with("## random is ahead of "), "{first}");
}

#[test]
fn unrotated_seats_are_mentioned() {
    let world = World::new();
    let fixed = |games: &str| format!("format = \"fixed\"\n[fixed]\ngames = {games}");
    let agents = &PAPER_000[..2];
    let one = fixed("[[\"random\", \"aggressive\"]]");
    let both = fixed("[[\"random\", \"aggressive\"], [\"aggressive\", \"random\"]]");
    for (name, format, reported) in [
        ("all", "", true),
        ("one", &one, true),
        ("both", &both, false),
    ] {
        let more = format!("{format}\n[play]\nrotate = false");
        let spec = spec(name, "cowry", 4, agents, &more);
        let (id, standings, _) = world.tournament(&spec, "data", &[]);
        let noted = standings["notes"].to_string().contains("rotate = false");
        assert_eq!(noted, reported, "{name}: {}", standings["notes"]);
        let report = ["report", &id, "--data", "data", "--markdown"];
        let report = world.arena(&report).ok().stdout;
        assert_eq!(report.contains("With rotate = false"), reported, "{report}");
    }
}

#[test]
fn running_tournament_passes_no_gate() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let spec = spec("gate", "cowry", 2, &PAPER_000[..2], "");
    let id = world.start_tournament("gate", &spec, &url);
    let at = ["--coordinator", &url];
    let report = |more: &[&str]| world.arena(&[&["report", &id], &at[..], more].concat());
    let xml = report(&["--junit"]).fails(3, &["is running, not finished"]);
    assert!(
        xml.stdout.contains("failures=\"1\""),
        "{}",
        xml.transcript()
    );
    // Showing the standings is no error.
    let _ = report(&["--markdown"]).ok();
    let claims = ["no faults", "random ranks first", "at most 3 voids"];
    for claim in claims {
        let _ = report(&["--markdown", "--expect", claim]).fails(3, &[claim]);
    }
    let worker = world.worker(&coordinator, &[]);
    world.finish_tournament(&id, &url);
    let _ = report(&["--junit", "--expect", "no faults"]).ok();
    worker.stop();
    coordinator.stop();
}

#[test]
fn command_expectations_decide_exit_code() {
    let world = World::new();
    let path = world.write("spec.toml", spec("run", "cowry", 2, &PAPER_000[..2], ""));
    let run = |claim: &str| world.arena(&["run", &path, "--data", "data", "--expect", claim]);
    let wrong = run("nobody ranks first").fails(2, &["nobody"]);
    assert!(wrong.stdout.is_empty(), "{}", wrong.transcript());
    assert!(!world.folder().join("data").exists(), "nothing is done");
    let _ = run("no faults").ok();
    let _ = run("random beats aggressive by 1000 elo").fails(3, &["random beats aggressive"]);
}

#[test]
fn running_ratings_combine_with_crosstable() {
    let world = World::new();
    let spec = spec("rated", "cowry", 2, &PAPER_000[..3], "");
    let (id, _, _) = world.tournament(&spec, "data", &[]);
    let rated = |more: &[&str]| {
        let ratings = ["standings", &id, "--data", "data", "--ratings", "elo"];
        world.arena(&[&ratings, more].concat())
    };
    let shown = rated(&["--crosstable"]).ok();
    for word in ["deviation", "score in % against"] {
        assert!(shown.stdout.contains(word), "{}", shown.transcript());
    }
    let _ = rated(&["--expect", "random beats mixed"]).fails(2, &["mixed"]);
    let _ = rated(&["--expect", "at most 0 faults"]).ok();
    let claim = "random scores at least 101 % against aggressive";
    let _ = rated(&["--expect", claim]).fails(2, &["101"]);
    let claim = "random beats aggressive by 1000 elo";
    let _ = rated(&["--expect", claim, "--output", "json"]).fails(3, &[claim]);
    let _ = rated(&["--crosstable", "--output", "csv"]).fails(2, &["one at a time"]);
}

#[test]
fn unmeasurable_plan_is_refused() {
    let world = World::new();
    let path = world.write("spec.toml", spec("plan", "cowry", 2, &PAPER_000, ""));
    let plan = |more: &[&str]| world.arena(&[&["tournament", "plan", &path], more].concat());
    for (flag, value) in [
        ("--measure", "1e19"),
        ("--measure", "1e300"),
        ("--measure", "inf"),
        ("--measure", "NaN"),
        ("--measure=-1", ""),
        ("--rate", "0"),
        ("--rate", "1e-300"),
        ("--rate", "NaN"),
    ] {
        let arguments = [flag, value];
        let given = if value.is_empty() {
            &arguments[..1]
        } else {
            &arguments
        };
        let flag = flag.split('=').next().unwrap_or_default();
        let _ = plan(given).fails(2, &[flag, "must be from"]);
    }
}

#[test]
fn plan_shows_challenger_and_field_intervals() {
    let world = World::new();
    let spec = spec("plan", "cowry", 40, &PAPER_000, "format = \"gauntlet\"");
    let path = world.write("spec.toml", spec);
    let plan = ["tournament", "plan", &path, "--measure", "0.2"];
    let reported = world.arena(&plan).ok();
    for part in [
        "score of a challenger (95 %, over 200 blocks)",
        "an opponent (95 %, over 40 blocks)",
    ] {
        assert!(reported.stdout.contains(part), "{}", reported.transcript());
    }
    let plan = world
        .arena(&[&plan[..], &["--output", "json"]].concat())
        .ok()
        .json();
    assert_eq!(plan["blocks_of_agent"], 200.0);
    assert_eq!(plan["blocks_of_field"], 40.0);
}

#[test]
fn large_report_stays_small() {
    const BYTES_MAX: u64 = 3_000_000;
    let world = World::new();
    let path = repository().join("tests/data/report.toml");
    let spec = path.to_str().expect("a path in UTF-8");
    let run = world
        .arena(&["run", spec, "--data", "data", "--output", "json"])
        .ok();
    let standings = run.json();
    assert_eq!(standings["games"], 19_980);
    let id = text(&standings, "tournament_id");
    let report = ["report", id, "--data", "data", "--html", "report.html"];
    let _ = world.arena(&report).ok();
    let page = std::fs::metadata(world.folder().join("report.html")).expect("a page");
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
}
