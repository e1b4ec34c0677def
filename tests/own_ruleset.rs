//! A program with a ruleset of its own: `services/cli/examples/pig.rs`.

use std::{fs, path::PathBuf, process::Command};

use arena_tests::{Output, World, arena, sha256, spec, until};

fn pig() -> PathBuf {
    let folder = arena().parent().expect("a folder").join("examples");
    let program = folder.join("pig");
    assert!(
        program.is_file(),
        "there is no {}: build with --example pig",
        program.display()
    );
    program
}

fn command(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(pig());
    command.args(arguments);
    command
}

fn run(world: &World, arguments: &[&str]) -> Output {
    world.run(command(world, arguments))
}

/// An agent that holds at 20 points, and reads them in the position.
const HOLDER: &str = "\
from arena import serve

serve(lambda decision: int(decision.position[\"points\"] < 20), name=\"holder\", version=\"1\")
";

#[test]
fn own_ruleset_is_played_like_a_built_in_one() {
    let world = World::with_python();
    let new = [
        "agent", "new", "--lang", "python", "--name", "holder", "holder",
    ];
    let _ = world.arena(&new).ok();
    fs::write(world.folder().join("holder/agent.py"), HOLDER).expect("written");
    let agents = ["holder", "random", "greedy"];
    let spec = world.write("pig.toml", spec("pig", "pig", 40, &agents, "seats = 3"));
    let mut hashes = Vec::new();
    for (data, workers) in [("one", "1"), ("two", "2")] {
        let register = [
            "agent", "register", "holder", "--binary", "holder", "--data", data,
        ];
        let _ = run(&world, &register).ok();
        let played = run(
            &world,
            &[
                "run",
                &spec,
                "--data",
                data,
                "--workers",
                workers,
                "--output",
                "json",
            ],
        );
        let standings = played.ok().json();
        assert_eq!(standings["agents"][0]["agent"], "holder", "{standings}");
        assert_eq!(standings["games_clean"], standings["games"], "no faults");
        let exported = run(&world, &["export", "@last", "--data", data]);
        hashes.push(sha256(&exported.ok().stdout));
        let rerun = run(&world, &["game", "rerun", "@last/7", "--data", data]);
        assert!(rerun.ok().stdout.contains("same hash"));
        let _ = run(&world, &["store", "verify", "--data", data]).ok();
    }
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn other_programs_name_the_ruleset_they_lack() {
    let world = World::new();
    let mut coordinator = command(&world, &["coordinator", "--data", "data"]);
    coordinator.args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    let coordinator = world.serve(coordinator);
    let url = coordinator.url();
    let text = spec("pig", "pig", 2, &["random", "greedy"], "");
    let spec = world.write("pig.toml", &text);
    let started = run(
        &world,
        &[
            "tournament",
            "start",
            &spec,
            "--coordinator",
            &url,
            "--output",
            "json",
        ],
    );
    let id = started.ok().tournament_id();
    let lacks = world.worker(&coordinator, &[]);
    let standings = || {
        run(&world, &["standings", &id, "--coordinator", &url])
            .ok()
            .stdout
            .clone()
    };
    let note = "no connected worker plays pig (rules version 1)";
    until("the reason is shown", || {
        standings().contains(note).then_some(())
    });
    assert!(
        lacks.log().contains("gets no games of pig"),
        "{}",
        lacks.log()
    );
    let mut worker = command(&world, &["worker", "--coordinator", &url]);
    worker.args(["--metrics", "127.0.0.1:0"]);
    let has = world.serve(worker);
    world.finish_tournament(&id, &url);
    let shown = world.arena(&["game", "show", &format!("{id}/0"), "--coordinator", &url]);
    assert_eq!(shown.code, Some(1), "{}", shown.transcript());
    assert!(
        shown.stderr.contains("unknown ruleset \"pig\""),
        "{}",
        shown.transcript()
    );
    lacks.stop();
    has.stop();
    coordinator.stop();
}

#[test]
fn ruleset_is_described_by_its_program() {
    let world = World::new();
    let listed = run(&world, &["rulesets", "pig"]).ok().stdout.clone();
    assert!(listed.contains("points that win"), "{listed}");
    let wrong = run(
        &world,
        &[
            "play",
            "--ruleset",
            "pig",
            "--seed",
            "1",
            "--seats",
            "random,greedy",
            "--option",
            "target=0",
        ],
    );
    assert_eq!(wrong.code, Some(2), "{}", wrong.transcript());
    assert!(wrong.stderr.contains("target"), "{}", wrong.transcript());
    let page = run(&world, &["rulesets", "show", "pig"]);
    assert_eq!(page.code, Some(2));
    assert!(
        page.stderr.contains("arena rulesets pig"),
        "{}",
        page.stderr
    );
}
