//! A person plays on the terminal.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use arena_tests::{World, arena};
use serde_json::Value;

/// Plays with what a person types.
fn play(world: &World, seats: &str, typed: &str, more: &[&str]) -> Output {
    let mut command = world.command(arena());
    command
        .args([
            "play",
            "--ruleset",
            "kalah",
            "--seed",
            "3",
            "--seats",
            seats,
        ])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().expect("arena");
    // It may end before it has read everything.
    let _ = running
        .stdin
        .take()
        .expect("stdin")
        .write_all(typed.as_bytes());
    running.wait_with_output().expect("its output")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The numbers of the moves.
fn actions(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().expect("events").iter();
    events.map(|event| event["action"].to_string()).collect()
}

#[test]
fn typed_moves_are_those_of_the_record() {
    let world = World::new();
    // Every pit in turn: illegal ones are refused, and asked again.
    let typed = "0\n1\n2\n3\n4\n5\n".repeat(60);
    let played = play(&world, "human,greedy", &typed, &["--output", "json"]);
    let record: Value = serde_json::from_slice(&played.stdout).expect("a record");
    assert_eq!(played.status.code(), Some(0));
    assert_eq!(
        (&record["termination"], &record["fault"]),
        (&"normal".into(), &Value::Null)
    );
    // Another agent that plays the same moves has the same game.
    let opening = actions(&record).join(",");
    let again = play(
        &world,
        "random,greedy",
        "",
        &["--opening", &opening, "--output", "json"],
    );
    let again: Value = serde_json::from_slice(&again.stdout).expect("a record");
    assert_eq!(actions(&again), actions(&record));
    assert_eq!(again["scores"], record["scores"]);
}

#[test]
fn name_of_the_person_is_no_agent() {
    let world = World::new();
    let kit = |name: &str, folder: &str| {
        let new = ["agent", "new", "--lang", "bash", "--name", name, folder];
        world.arena(&new)
    };
    for name in ["human", "random"] {
        let made = kit(name, name);
        assert_eq!(made.code, Some(2), "{}", made.transcript());
        assert!(made.stderr.contains("is taken by Arena"), "{}", made.stderr);
    }
    let _ = kit("mine", "mine").ok();
    let register = [
        "agent", "register", "human", "--binary", "mine", "--data", "data",
    ];
    let registered = world.arena(&register);
    assert_eq!(registered.code, Some(2), "{}", registered.transcript());
    assert!(
        registered.stderr.contains("the seat of a person"),
        "{}",
        registered.stderr
    );
    let seats = "./mine,random";
    let played = play(&world, seats, "", &[]);
    assert_eq!(played.status.code(), Some(2));
    assert!(
        text(&played.stderr).contains("registered first"),
        "{}",
        text(&played.stderr)
    );
}

#[test]
fn board_moves_and_hints_are_shown() {
    let world = World::new();
    let played = play(&world, "greedy,human", "?\n9\nquit\n", &[]);
    let shown = text(&played.stderr);
    for expected in [
        "seat 1 ",
        "human (seat 1)",
        "expected score",
        "\"9\" is not a legal move",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(played.status.code(), Some(130), "{shown}");
    assert!(played.stdout.is_empty(), "no game was finished");
}
