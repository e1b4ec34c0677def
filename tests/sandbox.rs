//! Agents in the sandbox, from their registration to their records.

use std::fs;

use arena_tests::{World, repository, spec, until};
use serde_json::Value;

/// A name that no other text contains.
const CANARY: &str = "canary-7f3a";

fn world() -> World {
    World::with_python()
}

/// Registers a program with arguments after `--`.
fn register(world: &World, url: &str, name: &str, program: &str, more: &[&str]) {
    let register = ["agent", "register", name, "--binary", program];
    let access = ["--coordinator", url];
    let _ = world.arena(&[&register[..], &access, more].concat()).ok();
}

fn repository_path(path: &str) -> String {
    repository().join(path).display().to_string()
}

/// Plays agents in Python, Node and Rust against each other.
fn play(level: &str) {
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    register(
        &world,
        &url,
        "python",
        &repository_path("agents/sdk/python/examples/greedy.py"),
        &[],
    );
    register(
        &world,
        &url,
        "node",
        &repository_path("tests/agents/node"),
        &[],
    );
    let rust = arena_tests::arena().display().to_string();
    register(
        &world,
        &url,
        "rust",
        &rust,
        &["--bot", "greedy", "--", "agent", "serve"],
    );
    let worker = world.worker(&coordinator, &["--sandbox", level]);
    let more = format!("[play]\nsandbox = \"{level}\"\non_fault = \"forfeit\"");
    let spec = spec(level, "kalah", 2, &["python", "node", "rust"], &more);
    let id = world.start_tournament(level, &spec, &url);
    world.finish_tournament(&id, &url);
    let standings = world.standings(&id, ["--coordinator", &url]);
    for agent in standings["agents"].as_array().expect("agents") {
        assert_eq!(agent["faults"], 0, "{agent}");
        assert_ne!(agent["games"], 0, "{agent}");
    }
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn agents_play_in_the_kernel_level() {
    play("kernel");
}

#[test]
fn agents_play_in_the_strict_level() {
    play("strict");
}

#[test]
fn tournament_waits_for_a_worker_with_its_level() {
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let greedy = repository_path("agents/sdk/python/examples/greedy.py");
    register(&world, &url, "mine", &greedy, &[]);
    let open = world.worker(&coordinator, &["--sandbox", "none"]);
    let spec = |name: &str, level: &str| {
        let more = format!("[play]\nsandbox = \"{level}\"");
        spec(name, "kalah", 1, &["mine", "random"], &more)
    };
    let waiting = world.start_tournament("waiting", &spec("waiting", "kernel"), &url);
    // A tournament that this worker may play ends meanwhile.
    let other = world.start_tournament("other", &spec("other", "none"), &url);
    world.finish_tournament(&other, &url);
    let show = ["tournament", "show", &waiting, "--output", "json"];
    let shown = world.arena(&[&show[..], &["--coordinator", &url]].concat());
    assert_eq!(shown.ok().json()["games"], 0);
    let standings = ["standings", &waiting, "--coordinator", &url];
    let note = "no connected worker confines agents at the level kernel";
    assert!(
        world.arena(&standings).ok().stdout.contains(note),
        "the reason is shown"
    );
    let confined = world.worker(&coordinator, &["--sandbox", "strict"]);
    world.finish_tournament(&waiting, &url);
    open.stop();
    confined.stop();
    coordinator.stop();
}

/// Plays an agent that exceeds a limit, and returns its standings.
fn exceed(level: &str, limit: &str) -> Value {
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let limits = repository_path("tests/agents/limits.py");
    let options = [
        "--memory",
        "200",
        "--processes",
        "30",
        "--scratch",
        "32",
        "--cpu-time",
        "2",
        "--",
        limit,
    ];
    register(&world, &url, "mine", &limits, &options);
    let worker = world.worker(&coordinator, &["--sandbox", level]);
    let more = format!("unplayed_limit = 1\n[play]\nsandbox = \"{level}\"\nmove_timeout = \"10s\"");
    let spec = spec(limit, "kalah", 1, &["mine", "random"], &more);
    let id = world.start_tournament(limit, &spec, &url);
    world.end_tournament(&id, &url);
    let standings = world.standings(&id, ["--coordinator", &url]);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
    let agents = standings["agents"].as_array().expect("agents");
    let mine = agents.iter().find(|agent| agent["agent"] == "mine");
    mine.expect("the agent")["faults_by_kind"].clone()
}

fn check_limits(level: &str) {
    for (limit, fault) in [
        ("memory", "memory_limit"),
        ("processes", "process_limit"),
        ("disk", "disk_limit"),
        ("cpu", "cpu_limit"),
    ] {
        let faults = exceed(level, limit);
        let kinds: Vec<&String> = faults.as_object().expect("faults").keys().collect();
        assert_eq!(kinds, [fault], "{level}");
    }
}

#[test]
fn exceeded_limits_are_faults_of_their_own_in_the_kernel_level() {
    check_limits("kernel");
}

#[test]
fn exceeded_limits_are_faults_of_their_own_in_the_strict_level() {
    check_limits("strict");
}

/// An agent prints all that it can reach. 64 secrets of its worker are in the worker's environment
/// and files; none is in anything that is left afterwards. Without a sandbox, they are in its output.
#[test]
fn secrets_of_the_worker_stay_with_it() {
    for level in ["none", "kernel", "strict"] {
        let world = world();
        let coordinator = world.coordinator("data", &[]);
        let url = coordinator.url();
        let limits = repository_path("tests/agents/limits.py");
        register(&world, &url, "mine", &limits, &["--", "canaries"]);
        let secret = world.write("secret", format!("{CANARY}-file"));
        let mut command = world.command(arena_tests::arena());
        for number in 0..64 {
            command.env(format!("SECRET_{number}"), format!("{CANARY}-{number}"));
        }
        command
            .env("HOME", world.folder())
            .args(["worker", "--coordinator", &url, "--sandbox", level])
            .args(["--metrics", "127.0.0.1:0", "--agent-output", "output"]);
        let worker = world.serve(command);
        let more = format!("[play]\nsandbox = \"{level}\"\nmove_timeout = \"20s\"");
        let spec = spec("canaries", "kalah", 1, &["mine", "random"], &more);
        let id = world.start_tournament("canaries", &spec, &url);
        world.finish_tournament(&id, &url);
        let output = until("output of the agent", || {
            let entries = fs::read_dir(world.folder().join("output")).ok()?;
            let texts = entries.flatten().map(|entry| fs::read(entry.path()));
            let text: Vec<u8> = texts.flatten().flatten().collect();
            let text = String::from_utf8_lossy(&text).into_owned();
            text.contains("ARENA_LISTEN").then_some(text)
        });
        let metrics = worker.metrics() + &coordinator.metrics();
        let log = worker.log() + &coordinator.log();
        let records = world.export(&id, ["--coordinator", &url]);
        let records = format!("{:?}", records.games);
        if level == "none" {
            assert!(output.contains(CANARY), "{output}");
            continue;
        }
        for (place, text) in [
            ("the output", &output),
            ("metrics", &metrics),
            ("logs", &log),
            ("records", &records),
        ] {
            assert!(!text.contains(CANARY), "{level}: {place}: {text}");
        }
        assert!(
            fs::read_to_string(secret)
                .expect("the file")
                .contains(CANARY)
        );
        worker.stop();
        coordinator.stop();
    }
}

#[test]
fn doctor_names_a_remedy_for_each_problem() {
    let world = world();
    let checks = |more: &[&str], path: Option<&str>| {
        let mut command = world.command(arena_tests::arena());
        command.args(["doctor", "--json"]).args(more);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let checks = world.run(command).ok().json();
        for check in checks.as_array().expect("checks") {
            let is_good = check["state"] == "good";
            assert_eq!(is_good, check["remedy"] == "", "{check}");
            assert_ne!(check["found"], "", "{check}");
        }
        move |name: &str| {
            let all = checks.as_array().into_iter().flatten();
            let mut found = all.filter(|check| check["name"] == name);
            found.next().expect(name)["state"].clone()
        }
    };
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let state = checks(&["--coordinator", &url], None);
    for name in ["coordinator", "disk", "python", "sandbox kernel"] {
        assert_eq!(state(name), "good", "{name}");
    }
    coordinator.stop();
    let state = checks(
        &["--coordinator", &url, "--disk", "/no/such/folder"],
        Some("/no/such"),
    );
    for name in ["coordinator", "disk", "python", "node"] {
        assert_eq!(state(name), "missing", "{name}");
    }
}
