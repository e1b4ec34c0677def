//! Tournaments in which mean returns decide the places. `tests/recompute` computes all numbers again.

use std::fs;

use arena_tests::{World, spec};
use serde_json::Value;

use crate::hidden_information::write_rules;

/// A world with the rules of a card game, registered as `cards`.
fn world(mode: &str) -> World {
    let world = World::with_python();
    write_rules(&world, "rules", mode);
    let register = ["rulesets", "register", "cards", "--package", "rules"];
    let _ = world
        .arena(&[&register[..], &["--data", "data"]].concat())
        .ok();
    world
}

const OTHER: &str = "[[agent]]\nname = \"other\"\nbot = \"random\"\n";

/// A tournament of card games with more keys before its tables.
fn cards(keys: &str) -> String {
    spec(
        "cards",
        "cards",
        30,
        &["random", "other"],
        &format!("{keys}{OTHER}"),
    )
}

fn agents(standings: &Value) -> Vec<&str> {
    let agents = standings["agents"].as_array().expect("agents").iter();
    agents.filter_map(|agent| agent["agent"].as_str()).collect()
}

#[test]
fn mean_returns_decide_the_places() {
    let world = world("none");
    let ranks = world.tournament(&cards(""), "data", &[]);
    let returns = world.tournament(
        &cards("outcome = \"returns\"\n"),
        "data",
        &["--workers", "2"],
    );
    // The same games, in another tournament.
    assert_ne!(ranks.0, returns.0);
    let hashes = |games: &arena_tests::Games| -> Vec<String> {
        let lines = games
            .text
            .lines()
            .map(|line| line.split_once("\"index\"").expect("it").1);
        lines
            .map(|line| line.rsplit_once("\"hash\"").expect("it").0.to_owned())
            .collect()
    };
    assert_eq!(hashes(&ranks.2), hashes(&returns.2));
    assert!(ranks.1["agents"][0]["return_mean"].is_null());
    let means = |standings: &Value| -> Vec<f64> {
        let agents = standings["agents"].as_array().expect("agents").iter();
        agents
            .filter_map(|agent| agent["return_mean"].as_f64())
            .collect()
    };
    let found = means(&returns.1);
    assert!(found.len() == 2 && found[0] > found[1], "{found:?}");
    let shown = ["standings", &returns.0, "--data", "data"];
    let shown = world.arena(&shown).ok().stdout;
    assert!(shown.contains("return [95%]"), "{shown}");
    let first = agents(&returns.1)[0];
    let says = format!(
        "{first} is first with a mean return of {:+}.",
        (found[0] * 1e6).round() / 1e6
    );
    assert!(shown.contains(&says), "{shown}");
    // In every other place that shows standings.
    let csv = ["standings", &returns.0, "--data", "data", "--output", "csv"];
    assert!(
        world
            .arena(&csv)
            .ok()
            .stdout
            .contains("return_mean_anytime_high")
    );
    let report = ["report", &returns.0, "--data", "data"];
    let markdown = world.arena(&[&report[..], &["--markdown"]].concat()).ok();
    let page = world.arena(&[&report[..], &["--html", "page.html"]].concat());
    let _ = page.ok();
    let page = fs::read_to_string(world.folder().join("page.html")).expect("a page");
    for text in [markdown.stdout, page] {
        assert!(text.contains(&format!("{:+.2}", found[0])), "{text}");
        assert!(text.contains("has the highest mean return"), "{text}");
        assert!(
            text.contains(&format!("{first} is first, by its mean return")),
            "{text}"
        );
        assert!(text.contains("Mean returns decide the places."), "{text}");
    }
    let rules = world.arena(&["rulesets", "cards", "--data", "data"]).ok();
    assert!(
        rules.stdout.contains("returns: 0 to 12"),
        "{}",
        rules.stdout
    );
    // A coordinator that starts again reads them from the store.
    let again = world.standings(&returns.0, ["--data", "data"]);
    assert_eq!(means(&again), found);
    world.nothing_runs();
}

#[test]
fn wrong_returns_stop_the_tournament() {
    for (mode, problem) in [
        ("bounds", "`returns` of the description allow 0 to 4"),
        ("ranks", "do not agree with scores"),
    ] {
        let world = world(mode);
        let path = world.write("cards.toml", cards("outcome = \"returns\"\n"));
        let run = world
            .arena(&["run", &path, "--data", "data"])
            .fails(1, &["paused", problem]);
        assert!(!run.stdout.contains(" is first"), "{}", run.transcript());
        let check = ["rulesets", "check", "rules"];
        let _ = world.arena(&check).fails(3, &[problem]);
        world.nothing_runs();
    }
}

#[test]
fn unequal_pairs_have_no_places() {
    let world = world("none");
    let games = "format = \"fixed\"\noutcome = \"returns\"\n[fixed]\n\
                 games = [[\"random\", \"other\"], [\"other\", \"third\"]]\n";
    let third = "[[agent]]\nname = \"third\"\nbot = \"random\"\n";
    let agents = ["random", "other", "third"];
    let text = spec(
        "list",
        "cards",
        20,
        &agents,
        &format!("{games}{OTHER}{third}"),
    );
    let (id, standings, _) = world.tournament(&text, "data", &[]);
    for agent in standings["agents"].as_array().expect("agents") {
        assert!(
            agent["place"].is_null() && agent["return_mean"].is_f64(),
            "{agent}"
        );
    }
    let shown = ["standings", &id, "--data", "data", "--wide"];
    let shown = world.arena(&shown).ok().stdout;
    assert!(shown.contains("mean returns decide no places"), "{shown}");
    assert!(shown.contains("return [95%, anytime]"), "{shown}");
    world.nothing_runs();
}

#[test]
fn spec_without_returns_is_refused() {
    let world = world("none");
    let returns = "outcome = \"returns\"\n";
    for (text, problem) in [
        (
            spec("cup", "kalah", 1, &["random", "greedy"], returns),
            "ruleset kalah has no returns (built-in rulesets have none)",
        ),
        (
            cards(&format!("{returns}format = \"swiss\"\n")),
            "format \"swiss\" goes by ranks; use \"round-robin\" or \"fixed\"",
        ),
        (
            cards("outcome = \"chips\"\n"),
            "unknown value outcome = \"chips\": use \"ranks\" or \"returns\"",
        ),
        (
            cards(&format!(
                "{returns}[play]\ndraw = {{ score = 0.1, moves = 3 }}\n"
            )),
            "an adjudicated game has no returns; remove resign and draw",
        ),
    ] {
        let path = world.write("wrong.toml", text);
        let run = ["tournament", "plan", &path, "--data", "data"];
        let _ = world.arena(&run).fails(2, &[problem]);
    }
    world.nothing_runs();
}
