use arena_tests::{World, spec};
use serde_json::Value;

const AGENTS: [&str; 3] = ["random", "aggressive", "mixed"];

/// Standings without values that depend on time, or on the secret that selects audits.
fn timeless(mut standings: Value) -> Value {
    for agent in standings["agents"].as_array_mut().expect("agents") {
        let agent = agent.as_object_mut().expect("an agent");
        agent.retain(|key, _| !key.starts_with("latency") && !key.starts_with("waiting"));
    }
    standings
        .as_object_mut()
        .expect("standings")
        .remove("audits");
    standings
}

#[test]
fn hash_only_results_are_the_same() {
    let world = World::new();
    let full = spec("short", "cowry", 4, &AGENTS, "");
    let (id, standings, games) = world.tournament(&full, "full", &[]);
    let short = world.write(
        "short.toml",
        spec("short", "cowry", 4, &AGENTS, "records = \"hash\""),
    );
    let run = world
        .arena(&["run", &short, "--data", "short", "--output", "json"])
        .ok();
    assert_eq!(run.tournament_id(), id, "what is kept changes no record");
    assert_eq!(timeless(run.json()), timeless(standings));

    let export = |data, more: &[&str]| {
        let mut arguments = vec!["export", &id, "--data", data];
        arguments.extend(more);
        world.arena(&arguments)
    };
    export("short", &[]).fails(2, &["records = \"hash\"", "game rerun", "--records hash"]);
    let lines = export("short", &["--records", "hash"]).ok().stdout;
    assert_eq!(lines, export("full", &["--records", "hash"]).ok().stdout);
    for (line, game) in lines.lines().zip(&games.games) {
        let mut game = game.clone();
        game["events"] = Value::Null;
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line, game, "all but the events, at the same hash");
    }
    assert_eq!(lines.lines().count(), games.games.len());
    for format in ["csv", "jsonl"] {
        let more = ["--records", "hash", "--format", format];
        assert_eq!(
            export("short", &more).ok().stdout,
            export("full", &more).ok().stdout
        );
    }

    let game = format!("{id}/5");
    let of_game = |command: &str, data: &str, more: &[&str]| {
        let mut arguments = vec!["game", command, &game, "--data", data];
        arguments.extend(more);
        world.arena(&arguments)
    };
    of_game("replay", "short", &[]).fails(2, &["stores no moves", "game rerun"]);
    let file = world.write("line.json", lines.lines().next().expect("a game"));
    world
        .arena(&["game", "replay", "--file", &file])
        .fails(2, &["has no moves", "game rerun"]);
    let shown = of_game("show", "short", &[]).ok();
    let hash = games.games[5]["hash"].as_str().expect("a hash");
    assert!(shown.stdout.contains(hash), "{}", shown.transcript());
    assert!(
        shown.stderr.contains("game rerun"),
        "{}",
        shown.transcript()
    );
    let shown = of_game("show", "short", &["--output", "json"]).ok();
    assert_eq!(shown.stdout.lines().next(), lines.lines().nth(5));
    let rerun = of_game("rerun", "short", &["--output", "json"]).ok();
    assert_eq!(
        rerun.stdout.lines().next(),
        games.text.lines().nth(5),
        "the whole game is back"
    );
    let listed = |data| {
        let arguments = ["game", "list", &id, "--data", data, "--output", "jsonl"];
        world.arena(&arguments).ok().stdout
    };
    assert_eq!(listed("short"), listed("full"));

    let other = world.write("full.toml", full);
    world
        .arena(&["run", &other, "--data", "short"])
        .fails(2, &["records = \"hash\"", "another name"]);
    world.nothing_runs();
}
