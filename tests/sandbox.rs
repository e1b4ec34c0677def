//! Agents in the sandbox, from their registration to their records.

use std::{fs, io::Write, path::Path};

use arena_tests::{World, lacks, repository, spec, until};
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

/// Languages of agents that speak lines, as `arena agent new` makes them, with the programs that
/// build and start them.
const KITS: [(&str, &[&str]); 6] = [
    ("python", &["python3"]),
    ("javascript", &["node"]),
    ("cpp", &["c++"]),
    ("rust", &["cargo"]),
    ("java", &["java", "javac"]),
    ("go", &["go"]),
];

/// Makes, builds and registers the agents of [`KITS`], and returns their names. A language that this
/// machine does not have is skipped by name.
fn register_kits(world: &World, url: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (lang, programs) in KITS {
        if lacks(lang, programs) {
            continue;
        }
        let new = ["agent", "new", "--lang", lang, "--name", lang, lang];
        let _ = world.arena(&new).ok();
        let mut build = world.command(world.folder().join(lang).join("check"));
        // It builds, and then plays test games, which are other tests.
        build.env("ARENA", "true");
        let _ = world.run(build).ok();
        register(world, url, lang, lang, &[]);
        names.push(lang);
    }
    names
}

/// Plays agents in every language against each other: some speak gRPC, the others lines.
fn play(level: &str) {
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let mut names = register_kits(&world, &url);
    names.extend(["python-grpc", "node-grpc", "rust-grpc"]);
    register(
        &world,
        &url,
        "python-grpc",
        &repository_path("agents/sdk/python/examples/greedy.py"),
        &[],
    );
    register(
        &world,
        &url,
        "node-grpc",
        &repository_path("tests/agents/node"),
        &[],
    );
    let rust = arena_tests::arena().display().to_string();
    register(
        &world,
        &url,
        "rust-grpc",
        &rust,
        &["--bot", "greedy", "--", "agent", "serve"],
    );
    let worker = world.worker(&coordinator, &["--sandbox", level]);
    let more = format!("[play]\nsandbox = \"{level}\"\non_fault = \"forfeit\"");
    let spec = spec(level, "kalah", 1, &names, &more);
    let id = world.start_tournament(level, &spec, &url);
    world.finish_tournament(&id, &url);
    let standings = world.standings(&id, ["--coordinator", &url]);
    let agents = standings["agents"].as_array().expect("agents");
    assert_eq!(agents.len(), names.len());
    for agent in agents {
        assert_eq!(agent["faults"], 0, "{agent}");
        assert_eq!(agent["voids"], 0, "{agent}");
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

/// The limit of cores in the control group of a process, in microseconds of each 20 ms.
fn quota(pid: i32) -> Option<String> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("its groups");
    let group = |controller: &str| {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let is_it = parts.next()?.split(',').any(|name| name == controller);
            let path = parts.next()?.trim_start_matches('/').to_owned();
            (is_it && path.contains("arena-agent-")).then_some(path)
        })
    };
    let mounts = Path::new("/sys/fs/cgroup");
    let version1 = group("cpu").map(|path| mounts.join("cpu").join(path).join("cpu.cfs_quota_us"));
    let version2 = group("").map(|path| mounts.join(path).join("cpu.max"));
    let mut files = version1.into_iter().chain(version2);
    let text = files.find_map(|file| fs::read_to_string(file).ok())?;
    text.split_whitespace().next().map(Into::into)
}

/// An agent gets the cores that it declares, and a quarter of one for each: 1 by default.
#[test]
fn control_group_limits_cores_of_an_agent() {
    let skip = |why: &str| {
        let name = "control_group_limits_cores_of_an_agent";
        let _ = writeln!(std::io::stderr(), "skipped {name}: {why}");
    };
    if arena_sandbox::cgroup::Base::find().is_none() {
        return skip("this user can create no control groups");
    }
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let greedy = repository_path("agents/sdk/python/examples/greedy.py");
    let agents = [("one", "25000"), ("three", "75000")];
    register(&world, &url, "one", &greedy, &[]);
    register(
        &world,
        &url,
        "three",
        &greedy,
        &["--cpus", "3", "--", "--three"],
    );
    let worker = world.worker(&coordinator, &["--sandbox", "strict"]);
    let spec = spec("cores", "kalah", 200_000, &["one", "three"], "");
    let _ = world.start_tournament("cores", &spec, &url);
    until("a game", || {
        (coordinator.metric("arena_games_total", &[]) >= 1.0).then_some(())
    });
    for (name, expected) in agents {
        let processes = world.processes().into_iter();
        let mut processes = processes.filter(|(_, line)| {
            let is_agent = line.contains("python") && !line.contains("agent guard");
            is_agent && line.contains("--three") == (name == "three")
        });
        let (pid, line) = processes.next().expect("the agent runs");
        match quota(pid) {
            Some(quota) => assert_eq!(quota, expected, "{line}"),
            None => skip("there is no cpu controller"),
        }
    }
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn tournament_waits_for_a_worker_with_its_level() {
    let world = world();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let greedy = repository_path("agents/sdk/python/examples/greedy.py");
    register(&world, &url, "mine", &greedy, &[]);
    let spec = |name: &str, level: &str| {
        let more = format!("[play]\nsandbox = \"{level}\"");
        spec(name, "kalah", 1, &["mine", "random"], &more)
    };
    let waiting = world.start_tournament("waiting", &spec("waiting", "kernel"), &url);
    let watch = ["tournament", "watch", &waiting, "--coordinator", &url];
    let watch = world.start(&watch);
    until("the watch to begin", || {
        watch.stderr().contains("0/2 games").then_some(())
    });
    let open = world.worker(&coordinator, &["--sandbox", "none"]);
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
    until("the watch to show the reason", || {
        watch.stderr().contains(note).then_some(())
    });
    let confined = world.worker(&coordinator, &["--sandbox", "strict"]);
    world.finish_tournament(&waiting, &url);
    let watched = watch.output().ok();
    assert_eq!(
        watched.stderr.matches(note).count(),
        1,
        "{}",
        watched.transcript()
    );
    open.stop();
    confined.stop();
    coordinator.stop();
}

#[test]
fn run_confines_agents_at_the_level_of_its_spec() {
    let world = world();
    let greedy = repository_path("agents/sdk/python/examples/greedy.py");
    let register = ["agent", "register", "mine", "--binary", &greedy];
    let _ = world
        .arena(&[&register[..], &["--data", "data"]].concat())
        .ok();
    let more = "[play]\nsandbox = \"strict\"";
    let spec = spec("strict", "kalah", 1, &["mine", "random"], more);
    let (_, standings, games) = world.tournament(&spec, "data", &[]);
    assert_eq!(games.games.len(), 2, "{standings}");
    world.nothing_runs();
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
    let more = format!("unplayed_limit = 1\n[play]\nsandbox = \"{level}\"\nmove_timeout = \"60s\"");
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
        ("file", "disk_limit"),
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
