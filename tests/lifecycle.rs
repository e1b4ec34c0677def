use std::{thread, time::Duration};

use arena_tests::{Server, World, repository, spec, until};
use nix::sys::signal::Signal;
use serde_json::Value;

fn duel(name: &str, blocks: u64) -> String {
    spec(name, "cowry", blocks, &["random", "aggressive"], "")
}

fn show(world: &World, id: &str, url: &str) -> Value {
    world
        .arena(&[
            "tournament",
            "show",
            id,
            "--coordinator",
            url,
            "--output",
            "json",
        ])
        .ok()
        .json()
}

fn change(world: &World, what: &str, id: &str, coordinator: &Server) {
    let url = coordinator.url();
    let _ = world
        .arena(&["tournament", what, id, "--coordinator", &url])
        .ok();
}

#[test]
fn paused_tournament_plays_nothing() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let id = world.start_tournament("held", &duel("held", 10), &coordinator.url());
    change(&world, "pause", &id, &coordinator);
    coordinator.kill();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let _worker = world.worker(&coordinator, &[]);
    // The worker plays another tournament in the meantime, so it could have played this one.
    let other = world.start_tournament("other", &duel("other", 5), &url);
    world.finish_tournament(&other, &url);
    let held = show(&world, &id, &url);
    assert_eq!(held["state"], "paused", "{held}");
    assert_eq!(held["games"], 0, "{held}");
    change(&world, "resume", &id, &coordinator);
    world.finish_tournament(&id, &url);
    let games = world.export(&id, ["--coordinator", &url]);
    assert_eq!(games.games.len(), 20);
    let (_, _, expected) = world.tournament(&duel("held", 10), "elsewhere", &[]);
    assert_eq!(expected.difference(&games), None);
}

#[test]
fn idle_coordinator_warns_of_no_pause() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    coordinator.signal(Signal::SIGSTOP);
    thread::sleep(Duration::from_millis(3_500));
    coordinator.signal(Signal::SIGCONT);
    let list = ["tournament", "list", "--data", "data"];
    let _ = world.arena(&list).ok();
    // There is no lease to extend.
    let log = coordinator.log();
    assert!(!log.contains("leases are extended"), "{log}");
}

#[test]
fn cancelled_tournament_keeps_its_games() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let id = world.start_tournament("dropped", &duel("dropped", 1_000_000), &url);
    let _worker = world.worker(&coordinator, &[]);
    until("a game to be durable", || {
        (coordinator.metric("arena_games_total", &[]) > 0.0).then_some(())
    });
    change(&world, "cancel", &id, &coordinator);
    let _ = world
        .arena(&["tournament", "watch", &id, "--coordinator", &url])
        .fails(1, &["cancelled"]);
    assert_eq!(show(&world, &id, &url)["state"], "cancelled");
    let games = world.export(&id, ["--coordinator", &url]);
    assert!(!games.games.is_empty());
    // The worker is free for other tournaments.
    let other = world.start_tournament("other", &duel("other", 2), &url);
    world.finish_tournament(&other, &url);
}

/// Interrupts a run, runs the command that it printed, and compares the result with an undisturbed
/// run with the same seed. `typed` returns what to add to the command, given the printed words.
fn check_interrupted(text: &str, typed: impl Fn(&str) -> Vec<String>) {
    let world = World::new();
    let spec = world.write("spec.toml", text);
    let arguments = "run SPEC --data data --workers 2 --output json".replace("SPEC", &spec);
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    let run = world.start(&arguments);
    until("the run to begin", || {
        run.stderr().contains("games, ").then_some(())
    });
    run.signal(Signal::SIGINT);
    let output = run.output();
    let output = output.fails(130, &["run the same command again", "data"]);
    world.nothing_runs();
    let more = typed(&output.stderr);
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    arguments.extend(&more);
    let output = world.arena(&arguments).ok();
    let id = output.tournament_id();
    let games = world.export(&id, ["--data", "data"]);
    assert_eq!(games.games.len(), 3000);
    let show = ["tournament", "show", &id, "--data", "data", "--output"];
    let shown = world.arena(&[&show[..], &["json"]].concat()).ok().json();
    let seed = shown["resolved"]["seed"].as_str().expect("a seed");
    let (_, _, expected) = world.tournament(text, "elsewhere", &["--seed", seed]);
    assert_eq!(expected.difference(&games), None);
}

#[test]
fn same_command_continues_interrupted_run() {
    check_interrupted(&duel("stopped", 1500), |reported| {
        assert!(
            !reported.contains("--seed"),
            "the spec has the seed: {reported}"
        );
        Vec::new()
    });
}

#[test]
fn interrupted_run_continues_with_sealed_seed() {
    let text = duel("drawn", 1500).replace("seed = \"0x5eed\"\n", "");
    check_interrupted(&text, |reported| {
        let (_, seed) = reported
            .split_once("--seed ")
            .expect("the seed that was drawn");
        assert!(seed.starts_with("sealed:"), "{reported}");
        vec!["--seed".to_owned(), seed.trim().to_owned()]
    });
}

#[test]
fn run_plays_its_own_tournament_alone() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let other = world.start_tournament("other", &duel("other", 3), &coordinator.url());
    coordinator.stop();
    let spec = world.write("mine.toml", duel("mine", 300));
    let run = ["run", &spec, "--data", "data", "--output", "json"];
    let output = world.arena(&run).ok();
    assert!(output.stderr.contains(&other), "{}", output.stderr);
    assert!(
        output.stderr.contains("not played now"),
        "{}",
        output.stderr
    );
    let show = |id: &str| {
        let show = [
            "tournament",
            "show",
            id,
            "--data",
            "data",
            "--output",
            "json",
        ];
        world.arena(&show).ok().json()
    };
    assert_eq!(show(&output.tournament_id())["games"], 600);
    let shown = show(&other);
    assert_eq!(
        (&shown["state"], &shown["games"]),
        (&"running".into(), &0.into())
    );
    // Its own spec continues it.
    let spec = world.write("other.toml", duel("other", 3));
    let output = world.arena(&["run", &spec, "--data", "data"]).ok();
    assert!(
        !output.stderr.contains("not played now"),
        "{}",
        output.stderr
    );
    assert_eq!(show(&other)["games"], 6);
}

#[test]
fn same_spec_shows_finished_results() {
    let world = World::new();
    let text = duel("again", 2);
    let (id, standings, games) = world.tournament(&text, "data", &[]);
    let (same_id, same, _) = world.tournament(&text, "data", &[]);
    // A secret selects which games are audited, and audits may come later.
    let timeless = |standings: &Value| {
        let mut standings = standings.clone();
        standings
            .as_object_mut()
            .expect("standings")
            .remove("audits");
        standings
    };
    assert_eq!((&same_id, timeless(&same)), (&id, timeless(&standings)));
    let (new_id, _, new) = world.tournament(&text, "data", &["--again"]);
    assert_eq!(new_id, format!("{id}-2"));
    // Only the ids differ, and therefore the hashes.
    let played = |game: &Value| (game["seed"].clone(), game["events"].clone());
    let played = |games: &[Value]| games.iter().map(played).collect::<Vec<_>>();
    assert_eq!(played(&games.games), played(&new.games));
}

#[test]
fn unknown_ids_are_refused() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    for what in ["show", "watch", "pause", "resume", "cancel"] {
        let _ = world
            .arena(&[
                "tournament",
                what,
                "nobody-0123456789",
                "--coordinator",
                &url,
            ])
            .fails(2, &["nobody-0123456789"]);
    }
    for command in ["replay", "rerun", "show"] {
        let _ = world
            .arena(&[
                "game",
                command,
                "nobody-0123456789/0",
                "--coordinator",
                &url,
            ])
            .fails(2, &["nobody-0123456789"]);
        let _ = world
            .arena(&["game", command, "no-index", "--coordinator", &url])
            .fails(2, &["no-index"]);
    }
    coordinator.stop();
}

#[test]
fn unreachable_address_is_named() {
    let world = World::new();
    // A port that was free just now, without a listener.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let url = format!("http://{address}");
    let _ = world
        .arena(&["tournament", "list", "--coordinator", &url])
        .fails(4, &[&address]);
    let _ = world
        .arena(&[
            "worker",
            "--coordinator",
            &url,
            "--metrics",
            "127.0.0.1:0",
            "--connect-timeout",
            "1",
        ])
        .fails(4, &[&address]);
}

#[test]
fn worker_without_games_ends_by_itself() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let id = world.start_tournament("short", &duel("short", 5), &url);
    let mut worker = world.worker(&coordinator, &["--idle-exit", "500ms"]);
    assert!(worker.wait().success());
    assert_eq!(show(&world, &id, &url)["state"], "finished");
    // One that never had a game.
    let mut worker = world.worker(&coordinator, &["--idle-exit", "1ms"]);
    assert!(worker.wait().success());
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn workers_that_end_by_time_give_their_games_back() {
    let world = World::with_python();
    let agent = repository().join("tests/agents/slow.py");
    let agent = agent.to_str().expect("UTF-8");
    let register = |access: [&str; 2]| {
        let register = ["agent", "register", "slow", "--binary", agent];
        let register = [&register[..], &access, &["--", "50"]].concat();
        let _ = world.arena(&register).ok();
    };
    let spec = spec("timed", "kalah", 1, &["slow", "random"], "");
    register(["--data", "alone"]);
    let (_, _, expected) = world.tournament(&spec, "alone", &[]);
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    register(["--coordinator", &url]);
    let id = world.start_tournament("timed", &spec, &url);
    for _ in 0..2 {
        let leases = || coordinator.metric("arena_leases_granted_total", &[]);
        let before = leases();
        let mut worker = world.worker(&coordinator, &["--lifetime", "800ms", "--drain", "1ms"]);
        assert!(worker.wait().success());
        assert!(leases() > before, "it had games");
    }
    let worker = world.worker(&coordinator, &[]);
    world.finish_tournament(&id, &url);
    let games = world.export(&id, ["--coordinator", &url]);
    assert_eq!(expected.difference(&games), None);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}
