use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use arena_tests::{World, spec};

/// An agent for Kalah that prints at the first decision of each game. With an argument, it ends
/// with a traceback at the fourth.
const LOUD: &str = r#"#!/usr/bin/env python3
import os
import sys
import traceback
from arena_agent import Agent, serve


class Loud(Agent):
    name = "loud"
    version = "1"
    rulesets = ("kalah",)
    deterministic = True

    def choose(self, decision):
        if decision.number == 0:
            print("to stdout, first move", decision.legal)
            print("to stderr, seat", decision.seat, file=sys.stderr)
        if decision.number == 1 and sys.argv[1:] == ["much"]:
            print("x" * 100_000)
        if decision.number == 3 and sys.argv[1:] == ["dies"]:
            try:
                raise KeyError("no idea")
            except KeyError:
                traceback.print_exc()
            print("bye")
            os._exit(4)
        return decision.legal[0]


serve(Loud())
"#;

fn loud(world: &World) -> String {
    let path = world.write("loud.py", LOUD);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a file");
    path
}

/// Plays a tournament of `loud` against `random`, one game at a time, and returns its id.
fn play(world: &World, data: &str, argument: &[&str], worker: &[&str]) -> String {
    let coordinator = world.coordinator(data, &[]);
    let url = coordinator.url();
    let path = loud(world);
    let register = [
        "agent",
        "register",
        "loud",
        "--binary",
        &path,
        "--coordinator",
        &url,
        "--",
    ];
    let _ = world.arena(&[&register[..], argument].concat()).ok();
    let worker = world.worker(&coordinator, worker);
    let spec = spec("loud", "kalah", 2, &["loud", "random"], "");
    let id = world.start_tournament("loud", &spec, &url);
    world.end_tournament(&id, &url);
    worker.stop();
    coordinator.stop();
    id
}

fn output_of(world: &World, data: &str, game: &str, seat: &str) -> arena_tests::Output {
    let show = ["game", "show", game, "--data", data, "--output-of", seat];
    world.arena(&show)
}

#[test]
fn output_is_kept_by_game() {
    let world = World::with_python();
    let id = play(&world, "alone", &[], &["--capacity", "1"]);
    let mut seats = Vec::new();
    for index in 0..4 {
        let game = format!("{id}/{index}");
        let of = |seat| output_of(&world, "alone", &game, seat).ok();
        let (first, second) = (of("0"), of("1"));
        let (mine, other) = match first.stdout.is_empty() {
            false => (first, second),
            true => (second, first),
        };
        assert_eq!(
            mine.stdout.matches("to stdout").count(),
            1,
            "{}",
            mine.transcript()
        );
        assert_eq!(
            mine.stdout.matches("to stderr").count(),
            1,
            "{}",
            mine.transcript()
        );
        assert!(
            other.stderr.contains("no output of seat"),
            "{}",
            other.transcript()
        );
        assert!(!mine.stderr.contains("the last"), "{}", mine.transcript());
        assert_eq!(of("loud").ok().stdout, mine.stdout);
        seats.push(mine.stdout.contains("seat 0"));
    }
    assert!(seats.contains(&true) && seats.contains(&false));
    let wrong = output_of(&world, "alone", &format!("{id}/0"), "2");
    let _ = wrong.fails(2, &["no seat or agent \"2\"", "0 (", "1 ("]);

    // The records contain no output.
    let same = play(&world, "together", &[], &["--capacity", "64"]);
    let games =
        [("alone", &id), ("together", &same)].map(|(data, id)| world.export(id, ["--data", data]));
    assert_eq!(games[0].difference(&games[1]), None);
    world.nothing_runs();
}

#[test]
fn output_of_a_game_is_bounded() {
    let world = World::with_python();
    let id = play(&world, "data", &["much"], &["--capacity", "1"]);
    let kept = ["0", "1"].map(|seat| output_of(&world, "data", &format!("{id}/0"), seat).ok());
    let kept = kept.iter().find(|output| !output.stdout.is_empty());
    let kept = kept.expect("an output");
    assert_eq!(kept.stdout.trim_end(), "x".repeat(8191), "{}", kept.stderr);
    assert!(kept.stderr.contains("printed 100"), "{}", kept.stderr);
    assert!(kept.stderr.contains("the last of them"), "{}", kept.stderr);
    world.nothing_runs();
}

#[test]
fn fault_names_error_and_output() {
    let world = World::with_python();
    let id = play(&world, "data", &["dies"], &["--capacity", "64"]);
    let game = format!("{id}/0");
    let shown = world.arena(&["game", "show", &game, "--data", "data"]).ok();
    let message = "loud: the process ended with exit code 4: KeyError: 'no idea'";
    assert!(shown.stderr.contains(message), "{}", shown.transcript());
    let kept = ["0", "1"].map(|seat| output_of(&world, "data", &game, seat).ok());
    let text = kept.map(|output| output.stdout).concat();
    assert!(text.contains("Traceback (most recent"), "{text}");
    // Standard output and error are two pipes: which one is read first is not certain.
    for line in ["KeyError: 'no idea'\n", "bye\n"] {
        assert!(text.contains(line), "{text}");
    }
    let standings = ["standings", &id, "--data", "data", "--output", "json"];
    let standings = world.arena(&standings).ok().json();
    let agents = standings["agents"].as_array().expect("agents");
    let loud = agents.iter().find(|agent| agent["agent"] == "loud");
    let last = loud.expect("the agent")["last_fault"]
        .as_str()
        .expect("a fault");
    assert!(last.ends_with("exit code 4: KeyError: 'no idea'"), "{last}");
    world.nothing_runs();
}

#[test]
fn check_shows_output_by_process_and_by_game() {
    let world = World::with_python();
    let path = loud(&world);
    let check = ["agent", "check", &path, "--show-output"];
    let shown = world.arena(&check).ok();
    let (process, games) = shown
        .stderr
        .split_once("a game against itself: printed")
        .expect("the games of the second process");
    // Five seats of three games together.
    assert_eq!(
        process.matches("to stdout").count(),
        5,
        "{}",
        shown.transcript()
    );
    for (heading, seats) in [
        ("a game against random:", 1),
        ("the first game, repeated:", 2),
    ] {
        let (_, game) = games.split_once(heading).expect(heading);
        let game: Vec<&str> = game
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with("  "))
            .collect();
        let printed = { game.iter() }.filter(|line| line.contains("to stderr"));
        assert_eq!(printed.count(), seats, "{}", shown.transcript());
    }
    let quiet = world.arena(&check[..3]).ok();
    assert!(
        !quiet.stderr.contains("to stdout"),
        "{}",
        quiet.transcript()
    );
    let dies = world.arena(&[&check[..3], &["--", "dies"]].concat());
    let _ = dies.fails(
        3,
        &["crash: the process ended with exit code 4: KeyError: 'no idea'"],
    );
    world.nothing_runs();
}

/// The output of a process with many simultaneous games is not separated by game, but its file has
/// all of it.
#[test]
fn agent_output_folder_has_everything() {
    let world = World::with_python();
    let path = loud(&world);
    let register = [
        "agent", "register", "loud", "--binary", &path, "--data", "data",
    ];
    let _ = world.arena(&register).ok();
    let spec = world.write(
        "loud.toml",
        spec("loud", "kalah", 20, &["loud", "random"], ""),
    );
    let run = ["run", &spec, "--data", "data", "--agent-output", "printed"];
    let _ = world.arena(&run).ok();
    let files = fs::read_dir(world.folder().join("printed")).expect("a folder");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    // One for each process.
    assert!(!files.is_empty());
    let mut printed = String::new();
    for file in &files {
        let name = file.file_name().expect("a name").to_string_lossy();
        assert!(
            name.starts_with("loud-") && name.ends_with(".log"),
            "{name}"
        );
        printed += &fs::read_to_string(file).expect("text");
    }
    // One line of each kind for each game.
    assert_eq!(printed.matches("to stdout, first move").count(), 40);
    assert_eq!(printed.matches("to stderr, seat").count(), 40);
    let nowhere = ["worker", "--agent-output", &spec];
    let _ = world.arena(&nowhere).fails(1, &["loud.toml"]);
}
