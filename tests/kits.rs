use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    time::Instant,
};

use arena_tests::{World, arena, find, lacks, repository, spec};

/// Maximum bytes of the registered content of a kit. What compilers leave is larger.
const CONTENT_BYTES: u64 = 3 << 20;

/// Makes an agent in an empty folder, checks and registers it, and plays 200 games; `policy` is the
/// file that its author edits. Skipped by name if a program is missing.
#[expect(clippy::print_stderr, reason = "the output has the time and the lines")]
fn play(lang: &str, policy: &str, programs: &[&str]) {
    if lacks(lang, programs) {
        return;
    }
    let began = Instant::now();
    let world = World::new();
    let made = world.arena(&["agent", "new", "--lang", lang, "mine"]).ok();
    assert!(made.stdout.contains("./check"), "{}", made.stdout);
    let folder = world.folder().join("mine");
    let text = fs::read_to_string(folder.join(policy)).expect("a policy");
    let lines = text.lines().count();
    assert!(lines < 30, "{text}");
    if lang == "typescript" {
        // The compiler that tests/setup has installed, since a test must not download it.
        let modules = find("tsc").and_then(|tsc| Some(tsc.parent()?.parent()?.to_owned()));
        symlink(modules.expect("node_modules"), folder.join("node_modules")).expect("a link");
    }
    let mut check = world.command(folder.join("check"));
    check.env("ARENA", arena()).args(["--ruleset", "kalah"]);
    let checked = world.run(check).ok();
    assert!(checked.stderr.contains("no fault"), "{}", checked.stderr);
    let register = ["agent", "register", "mine", "--binary", "mine"];
    let register = [&register[..], &["--data", "data", "--output", "json"]].concat();
    let agent = world.arena(&register).ok().json();
    assert_eq!(agent["bots"][0]["bot"], "mine", "{agent}");
    let binaries = fs::read_dir(world.folder().join("data/binaries")).expect("a folder");
    for entry in binaries.flatten() {
        let bytes = entry.metadata().expect("metadata").len();
        assert!(bytes < CONTENT_BYTES, "{bytes} bytes are registered");
    }
    let spec = spec("kit", "kalah", 100, &["mine", "random"], "");
    let (_, standings, games) = world.tournament(&spec, "data", &[]);
    assert_eq!(games.games.len(), 200);
    for agent in standings["agents"].as_array().expect("agents") {
        assert_eq!(agent["faults"], 0, "{agent}");
        assert_eq!(agent["voids"], 0, "{agent}");
    }
    world.nothing_runs();
    let took = began.elapsed().as_secs();
    eprintln!("kit {lang}: {lines} lines, made, checked, registered, 200 games: {took} s");
}

#[test]
fn python_kit_plays() {
    play("python", "agent.py", &["python3"]);
}

#[test]
fn typescript_kit_plays() {
    play("typescript", "agent.ts", &["node", "npm", "tsc"]);
}

#[test]
fn javascript_kit_plays() {
    play("javascript", "agent.js", &["node"]);
}

#[test]
fn rust_kit_plays() {
    play("rust", "src/main.rs", &["cargo"]);
}

#[test]
fn cpp_kit_plays() {
    play("cpp", "agent.cpp", &["c++"]);
}

#[test]
fn c_kit_plays() {
    play("c", "agent.c", &["cc"]);
}

#[test]
fn go_kit_plays() {
    play("go", "agent.go", &["go"]);
}

#[test]
fn java_kit_plays() {
    play("java", "Agent.java", &["java", "javac"]);
}

#[test]
fn bash_kit_plays() {
    play("bash", "agent.sh", &["bash"]);
}

/// The same policy in several languages plays the same games.
#[test]
fn kits_play_the_same_games_in_every_language() {
    let world = World::new();
    let mut texts = Vec::new();
    for (lang, program) in [
        ("python", "python3"),
        ("javascript", "node"),
        ("bash", "bash"),
    ] {
        if lacks(lang, &[program]) {
            continue;
        }
        let new = ["agent", "new", "--lang", lang, "--name", "mine", lang];
        let _ = world.arena(&new).ok();
        let register = [
            "agent", "register", "mine", "--binary", lang, "--data", lang,
        ];
        let _ = world.arena(&register).ok();
        let spec = spec("same", "cowry", 2, &["mine", "random"], "");
        let (_, _, games) = world.tournament(&spec, lang, &[]);
        let events = games.games.iter().map(|game| game["events"].to_string());
        texts.push(events.collect::<Vec<_>>());
    }
    texts.dedup();
    assert!(texts.len() <= 1, "{texts:?}");
}

#[test]
fn agent_written_from_the_protocol_page_plays() {
    if lacks("lines.pl", &["perl"]) {
        return;
    }
    let world = World::new();
    let lines = repository().join("tests/agents/lines.pl");
    let lines = lines.to_str().expect("UTF-8");
    let check = world.arena(&["agent", "check", lines]).ok();
    assert!(check.stderr.contains("no fault"), "{}", check.stderr);
    let register = ["agent", "register", "lines", "--binary", lines];
    let _ = world
        .arena(&[&register[..], &["--data", "data"]].concat())
        .ok();
    let spec = spec("lines", "oware-abapa", 5, &["lines", "random"], "");
    let (_, standings, games) = world.tournament(&spec, "data", &[]);
    assert_eq!(games.games.len(), 10);
    for agent in standings["agents"].as_array().expect("agents") {
        assert_eq!(agent["faults"], 0, "{agent}");
    }
    world.nothing_runs();
}

#[test]
fn lines_and_grpc_play_the_same_games() {
    // The same policy with the kit and with the SDK.
    let kit = "from arena import serve\nserve(lambda d: d.rng.choice(d.legal_moves), name='mine', \
               deterministic=True)\n";
    let sdk = "#!/usr/bin/env python3\nfrom arena_agent import Agent, serve\n\
               class Mine(Agent):\n    name = 'mine'\n    deterministic = True\n    \
               def choose(self, decision): return decision.rng.choice(decision.legal)\n\
               serve(Mine())\n";
    let world = World::with_python();
    let _ = world
        .arena(&["agent", "new", "--lang", "python", "lines"])
        .ok();
    let _ = world.write("lines/agent.py", kit);
    let grpc = world.write("grpc.py", sdk);
    fs::set_permissions(&grpc, fs::Permissions::from_mode(0o755)).expect("a file");
    let games = ["lines", grpc.as_str()].map(|path| {
        let data = if path == "lines" { "a" } else { "b" };
        let register = [
            "agent", "register", "mine", "--binary", path, "--data", data,
        ];
        let _ = world.arena(&register).ok();
        let spec = spec("same", "cowry", 30, &["mine", "random"], "");
        let (_, _, games) = world.tournament(&spec, data, &[]);
        let games = games.games.iter();
        games
            .map(|game| (game["seed"].clone(), game["events"].clone()))
            .collect::<Vec<_>>()
    });
    assert_eq!(games[0].len(), 60);
    assert_eq!(games[0], games[1]);
}

#[test]
fn new_agent_needs_an_empty_folder_and_a_known_language() {
    let world = World::new();
    let new = |lang: &str, folder: &str| world.arena(&["agent", "new", "--lang", lang, folder]);
    let made = new("py", "My Agent").ok();
    assert!(
        made.stdout.contains("the agent my-agent"),
        "{}",
        made.stdout
    );
    assert!(
        made.stdout.contains("--binary 'My Agent'"),
        "{}",
        made.stdout
    );
    new("c", "My Agent").fails(2, &["My Agent", "not empty", "name a new folder"]);
    let _ = world.write("file", "");
    new("c", "file").fails(2, &["file", "not a folder"]);
    new("pyton", "x").fails(2, &["\"pyton\"", "did you mean \"python\"?", "typescript"]);
    new("cobol", "x").fails(2, &["\"cobol\"", "rust, cpp, c, go, java, bash"]);
    assert!(!world.folder().join("x").exists());
    fs::create_dir(world.folder().join("empty")).expect("a folder");
    let _ = new("rust", "empty").ok();
}
