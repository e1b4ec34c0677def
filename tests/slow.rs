//! Slow agents.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use arena_tests::{World, arena, repository, spec, until};
use nix::sys::signal::Signal;

const GAMES: u64 = 400;
/// The limit of decisions of the slow agent until a few games end. Hundreds of simultaneous games
/// would need dozens each.
const FEW: f64 = 2_000.0;

/// The arguments that register an agent with this many milliseconds per decision.
fn register<'a>(agent: &'a str, millis: &'a str, access: [&'a str; 2]) -> Vec<&'a str> {
    let register = ["agent", "register", "slow", "--binary", agent];
    [&register[..], &access, &["--", millis]].concat()
}

fn slow_spec(more: &str) -> String {
    spec("slow", "cowry", GAMES / 2, &["slow", "random"], more)
}

/// Of hundreds of games, the first end before the others have many decisions.
#[track_caller]
fn check_first_games_end_early(worker: &[&str], more: &str) {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    let agent = repository().join("tests/agents/slow.py");
    let agent = agent.to_str().expect("UTF-8");
    let _ = world
        .arena(&register(agent, "10", ["--coordinator", &url]))
        .ok();
    let worker = world.worker(&coordinator, worker);
    let id = world.start_tournament("slow", &slow_spec(more), &url);
    until("the first games to end", || {
        (coordinator.metric("arena_games_total", &[]) >= 3.0).then_some(())
    });
    let decisions = worker.metric("arena_move_duration_seconds_count", &["agent=\"slow\""]);
    assert!(decisions > 0.0 && decisions < FEW, "{decisions} decisions");
    let cancel = ["tournament", "cancel", &id, "--coordinator", &url];
    let _ = world.arena(&cancel).ok();
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn slow_agent_finishes_games_early() {
    check_first_games_end_early(&[], "");
}

#[test]
fn slow_unary_agent_finishes_games_early() {
    check_first_games_end_early(&["--unary"], "");
}

#[test]
fn slow_strict_agent_finishes_games_early() {
    check_first_games_end_early(&[], "[play]\ntiming = \"strict\"");
}

#[test]
fn interrupted_slow_run_keeps_games() {
    let world = World::with_python();
    let agent = repository().join("tests/agents/slow.py");
    let agent = agent.to_str().expect("UTF-8");
    let _ = world.arena(&register(agent, "10", ["--data", "data"])).ok();
    let spec = world.write("slow.toml", slow_spec(""));
    let run = world.start(&["run", &spec, "--data", "data"]);
    let played = |line: &str| {
        let (done, _) = line.split_once("/400 games")?;
        done.parse::<u64>().ok().filter(|&done| done > 0)
    };
    until("games to be shown", || {
        run.stderr().lines().find_map(played)
    });
    run.signal(Signal::SIGINT);
    let output = run
        .output()
        .fails(130, &["run the same command again", "decisions/s"]);
    let done = output
        .stderr
        .lines()
        .find_map(played)
        .expect("it was shown");
    world.nothing_runs();
    let list = ["tournament", "list", "--data", "data", "--output", "jsonl"];
    let listed = world.arena(&list).ok().json();
    let kept = listed["games"].as_u64().expect("games");
    assert!(kept >= done, "{kept} of {done} games are kept");
    assert!(kept < GAMES, "it was interrupted");
    assert_eq!(listed["state"], "running");
}

#[test]
fn unready_agent_delays_no_other_tournament() {
    let world = World::new();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    // It is ready at its registration, but not on the worker.
    for (name, start) in [("unready", "sleep ${TEST_HOST_TAKES:-0}"), ("good", "")] {
        let serve = format!("exec {} agent serve", arena().display());
        let program = world.write(name, format!("#!/bin/sh\n{start}\n{serve}\n"));
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a file of ours");
        let register = ["agent", "register", name, "--binary", &program];
        let more = ["--bot", "random", "--start-timeout", "300"];
        let access = ["--coordinator", &url];
        let _ = world.arena(&[&register[..], &more, &access].concat()).ok();
    }
    let worker = world.worker_with(&coordinator, "TEST_HOST_TAKES", "600");
    // More games than the worker takes at once, and both agents of each have to start.
    let text = spec("waits", "cowry", 2_000, &["unready", "good"], "");
    let waits = world.start_tournament("waits", &text, &url);
    until("the agent to start", || {
        let processes = world.processes();
        let starts = processes.iter().any(|(_, line)| line == "sleep 600");
        starts.then_some(())
    });
    let text = spec("plays", "cowry", 200, &["good", "random"], "");
    let plays = world.start_tournament("plays", &text, &url);
    world.finish_tournament(&plays, &url);
    // The log shows why the first one waits.
    until("the warning", || {
        let log = worker.log();
        let mut lines = log.lines();
        let waits =
            lines.any(|line| line.contains("not ready yet") && line.contains("\"unready\""));
        waits.then_some(())
    });
    let show = [
        "standings",
        &waits,
        "--coordinator",
        &url,
        "--output",
        "json",
    ];
    assert_eq!(world.arena(&show).ok().json()["games"], 0);
    let cancel = ["tournament", "cancel", &waits, "--coordinator", &url];
    let _ = world.arena(&cancel).ok();
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}
