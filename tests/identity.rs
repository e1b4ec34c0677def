use std::{fs, os::unix::fs::PermissionsExt};

use arena_tests::{Games, Output, World, repository, spec};
use serde_json::Value;

const EXAMPLE: &str = "agents/sdk/python/examples/greedy.py";

/// An agent called `picks 1`, which chooses `pick` of all legal ids.
fn picks(pick: &str) -> String {
    format!(
        "#!/usr/bin/env python3\n\
         from arena_agent import Agent, serve\n\n\n\
         class Picks(Agent):\n    name = \"picks\"\n    version = \"1\"\n\
         \x20   rulesets = (\"cowry\",)\n    deterministic = True\n\n\
         \x20   def choose(self, decision):\n\
         \x20       return {pick}(move.id for move in decision.moves)\n\n\n\
         serve(Picks())\n"
    )
}

/// An agent that chooses the greatest id if its first argument is `max`, otherwise the least.
fn picks_by_argument() -> String {
    picks("(max if sys.argv[1] == \"max\" else min)").replace("\nfrom", "\nimport sys\nfrom")
}

fn executable(world: &World, name: &str, text: &str) -> String {
    let path = world.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file");
    path
}

fn register(world: &World, name: &str, path: &str, more: &[&str]) -> Output {
    let arguments = [
        "agent", "register", name, "--binary", path, "--data", "data", "--output", "json",
    ];
    world.arena(&[&arguments[..], more].concat())
}

fn content(agent: &Value) -> String {
    let content = agent["content"].as_str().expect("a content").to_owned();
    assert_eq!(content.len(), 64, "{agent}");
    content
}

/// Runs a tournament of `mine` against `random`. Returns its id, its standings and its stderr.
fn run(world: &World, more: &[&str]) -> (String, Value, String) {
    let text = spec("edited", "cowry", 10, &["mine", "random"], "");
    let path = world.write("spec.toml", text);
    let arguments = ["run", &path, "--data", "data", "--output", "json"];
    let output = world.arena(&[&arguments[..], more].concat()).ok();
    (output.tournament_id(), output.json(), output.stderr)
}

fn of<'a>(standings: &'a Value, name: &str) -> &'a Value {
    let agents = standings["agents"].as_array().expect("agents");
    let agent = agents.iter().find(|agent| agent["agent"] == name);
    agent.unwrap_or_else(|| panic!("no {name} in {standings}"))
}

fn export(world: &World, id: &str) -> Games {
    world.export(id, ["--data", "data"])
}

#[test]
fn edited_agent_makes_new_tournament() {
    let world = World::with_python();
    let path = executable(&world, "picks.py", &picks("min"));
    let before = content(&register(&world, "mine", &path, &[]).ok().json());
    let (id, standings, _) = run(&world, &[]);
    let games = export(&world, &id);
    executable(&world, "picks.py", &picks("max"));
    let after = content(&register(&world, "mine", &path, &["--replace"]).ok().json());
    assert_ne!(before, after);

    let (other, edited, reported) = run(&world, &[]);
    assert_ne!(id, other);
    assert!(!reported.contains("already finished"), "{reported}");
    assert_ne!(
        of(&standings, "mine")["score"],
        of(&edited, "mine")["score"]
    );
    assert_eq!(of(&standings, "mine")["content"], before.as_str());
    assert_eq!(of(&edited, "mine")["content"], after.as_str());
    assert_eq!(of(&edited, "mine")["version"], "1");
    assert_eq!(of(&edited, "random")["content"], Value::Null);
    assert_ne!(export(&world, &other).text, games.text);

    // Old results stay, use the content that played, and name it.
    assert_eq!(games.difference(&export(&world, &id)), None);
    let game = format!("{id}/0");
    let rerun = ["game", "rerun", &game, "--data", "data"];
    let _ = world.arena(&rerun).ok();
    let table = world.arena(&["standings", &id, "--data", "data"]).ok();
    let shown = format!("version 1, content {}", &before[..12]);
    assert!(table.stdout.contains(&shown), "{}", table.transcript());
    let report = ["report", &id, "--data", "data", "--markdown", "-"];
    let report = world.arena(&report).ok();
    assert!(report.stdout.contains(&shown), "{}", report.transcript());
    let list = world.arena(&["agent", "list", "--data", "data"]).ok();
    assert!(list.stdout.contains(&after[..12]), "{}", list.transcript());

    // The old content is the old agent, also from another path or through a link.
    let copy = executable(&world, "copy.py", &picks("min"));
    let _ = register(&world, "mine", &copy, &["--replace"]).ok();
    let (again, _, reported) = run(&world, &[]);
    assert_eq!(again, id);
    assert!(reported.contains("already finished"), "{reported}");
    let link = world.folder().join("link.py");
    std::os::unix::fs::symlink(&copy, &link).expect("a link");
    let linked = register(&world, "mine", link.to_str().expect("UTF-8"), &[]);
    assert_eq!(content(&linked.ok().json()), before);
    let (anew, replayed, _) = run(&world, &["--again"]);
    assert_eq!(anew, format!("{id}-2"));
    assert_eq!(
        of(&replayed, "mine")["score"],
        of(&standings, "mine")["score"]
    );

    // If its content is missing, no other content replaces it.
    for entry in fs::read_dir(world.folder().join("data/binaries")).expect("a folder") {
        fs::remove_file(entry.expect("an entry").path()).expect("a file");
    }
    let refused = world.arena(&rerun);
    assert_ne!(refused.code, Some(0), "{}", refused.transcript());
    assert!(
        refused.stderr.contains("upload it first"),
        "{}",
        refused.transcript()
    );
    world.nothing_runs();
}

#[test]
fn same_name_and_version_are_two_agents() {
    let world = World::with_python();
    let source = fs::read_to_string(repository().join(EXAMPLE)).expect("the example");
    let first = executable(&world, "first.py", &source);
    let other = executable(&world, "other.py", &source.replace("max(map(", "min(map("));
    let contents = [("first", first), ("other", other)].map(|(name, path)| {
        let check = ["agent", "check", "--ruleset", "cowry", "--output", "json"];
        let patient = ["--start-timeout", "60"];
        let checked = world.arena(&[&check[..], &patient, &["--binary", &path]].concat());
        let agent = register(&world, name, &path, &patient).ok().json();
        assert_eq!(agent["version"], "1.0.0");
        assert_eq!(content(&checked.ok().json()), content(&agent));
        content(&agent)
    });
    assert_ne!(contents[0], contents[1]);
    let text = spec("two", "cowry", 3, &["first", "other"], "");
    let (_, standings, _) = world.tournament(&text, "data", &[]);
    for (name, content) in ["first", "other"].iter().zip(&contents) {
        assert_eq!(of(&standings, name)["content"], content.as_str());
    }
    assert_ne!(
        of(&standings, "first")["score"],
        0.5,
        "they play differently"
    );
    world.nothing_runs();
}

#[test]
fn arguments_and_limits_are_part_of_an_agent() {
    let world = World::with_python();
    let path = executable(&world, "picks.py", &picks_by_argument());
    let cases: [&[&str]; 5] = [
        &["--", "max", "min"],
        &["--", "min", "max"],
        &["--", "min max", "max"],
        &["--memory", "512", "--", "min", "max"],
        &["--start-timeout", "60", "--", "min", "max"],
    ];
    let mut ids = Vec::new();
    for more in cases {
        let more = [&["--replace"], more].concat();
        let _ = register(&world, "mine", &path, &more).ok();
        let (id, standings, _) = run(&world, &[]);
        ids.push((id, of(&standings, "mine")["score"].clone()));
    }
    assert_ne!(ids[0].1, ids[1].1, "the order of arguments counts");
    let names: std::collections::BTreeSet<_> = ids.iter().map(|(id, _)| id).collect();
    assert_eq!(names.len(), cases.len(), "{ids:?}");
    // A variant of a process has the content of the process.
    let variant = "[[agent]]\nname = \"variant\"\nbot = \"picks\"\nfrom = \"mine\"";
    let text = spec("from", "cowry", 2, &["variant", "random"], variant);
    let (first, ..) = world.tournament(&text, "data", &[]);
    let _ = register(&world, "mine", &path, &["--replace", "--", "max", "max"]).ok();
    let (other, ..) = world.tournament(&text, "data", &[]);
    assert_ne!(first, other);
    world.nothing_runs();
}

#[test]
fn paused_tournament_keeps_agent_content() {
    let world = World::with_python();
    let text = spec("edited", "cowry", 10, &["mine", "random"], "");
    let path = executable(&world, "picks.py", &picks("min"));
    let _ = register(&world, "mine", &path, &[]).ok();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let id = world.start_tournament("edited", &text, &url);
    let pause = ["tournament", "pause", &id, "--coordinator", &url];
    let _ = world.arena(&pause).ok();
    coordinator.kill();

    executable(&world, "picks.py", &picks("max"));
    let _ = register(&world, "mine", &path, &["--replace"]).ok();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    // The same spec now refers to the new content, which makes another tournament.
    let other = world.start_tournament("edited", &text, &url);
    assert_ne!(other, id);
    let _ = world
        .arena(&["tournament", "resume", &id, "--coordinator", &url])
        .ok();
    // One worker plays both at the same time, with agents of the same name.
    let worker = world.worker(&coordinator, &[]);
    let games = [&id, &other].map(|id| {
        world.finish_tournament(id, &url);
        world.export(id, ["--coordinator", &url])
    });
    worker.stop();
    coordinator.stop();
    for (pick, games) in ["min", "max"].iter().zip(&games) {
        let alone = World::with_python();
        let path = executable(&alone, "picks.py", &picks(pick));
        let _ = register(&alone, "mine", &path, &[]).ok();
        let (_, _, expected) = alone.tournament(&text, "data", &[]);
        assert_eq!(games.difference(&expected), None, "{pick}");
    }
    world.nothing_runs();
}

#[test]
fn changing_description_keeps_identity() {
    let world = World::with_python();
    let unstable = picks("min")
        .replace("\nfrom", "\nimport time\nfrom")
        .replace("version = \"1\"", "version = str(time.time_ns())");
    let path = executable(&world, "picks.py", &unstable);
    let first = register(&world, "mine", &path, &[]).ok().json();
    let (id, ..) = run(&world, &[]);
    let again = register(&world, "mine", &path, &[]).ok().json();
    assert_ne!(first["version"], again["version"]);
    assert_eq!(content(&first), content(&again));
    let (same, _, reported) = run(&world, &[]);
    assert_eq!(same, id, "a version is a label");
    assert!(reported.contains("already finished"), "{reported}");
    world.nothing_runs();
}

#[test]
fn changing_file_is_described_as_read() {
    let world = World::with_python();
    // To describe the agent, the registered file is used. The sandbox keeps the agent from it.
    let path = world.folder().join("picks.py");
    let swap = format!(
        "\ntry: open({path:?}, \"w\").write(\"changed\")\nexcept OSError: pass\nfrom",
        path = path.to_str().expect("UTF-8")
    );
    let source = picks("min").replace("\nfrom", &swap);
    let path = executable(&world, "picks.py", &source);
    let agent = register(&world, "mine", &path, &[]).ok().json();
    assert_eq!(agent["source"]["sha256"], arena_tests::sha256(&source));
    let (_, standings, _) = run(&world, &[]);
    assert_eq!(of(&standings, "mine")["faults"], 0, "{standings}");
    world.nothing_runs();
}

#[test]
fn reregistered_endpoint_makes_new_tournament() {
    let world = World::new();
    let endpoint = world.server(&["agent", "serve", "--bot", "random"]);
    let at = format!("http://{}", endpoint.listen());
    let register = [
        "agent",
        "register",
        "mine",
        "--endpoint",
        &at,
        "--data",
        "data",
        "--output",
        "json",
    ];
    let first = world.arena(&register).ok().json();
    let (id, standings, _) = run(&world, &[]);
    let (same, _, reported) = run(&world, &[]);
    assert_eq!(same, id, "{reported}");
    let game = format!("{id}/0");
    let rerun = ["game", "rerun", &game, "--data", "data"];
    let _ = world.arena(&rerun).ok();
    let registered = &first["registered_unix_us"];
    assert_eq!(&of(&standings, "mine")["registered_unix_us"], registered);

    let again = world.arena(&register).ok().json();
    assert_ne!(&again["registered_unix_us"], registered);
    let (other, standings, reported) = run(&world, &[]);
    assert_ne!(other, id, "{reported}");
    let registered = &again["registered_unix_us"];
    assert_eq!(&of(&standings, "mine")["registered_unix_us"], registered);
    let _ = world
        .arena(&rerun)
        .fails(2, &["mine", "registered again", "arena game replay"]);
    let table = world.arena(&["standings", &other, "--data", "data"]).ok();
    assert!(
        table.stdout.contains("endpoint registered 20"),
        "{}",
        table.transcript()
    );
    let remove = ["agent", "remove", "mine", "--data", "data"];
    let _ = world.arena(&remove).ok();
    let _ = world.arena(&rerun).fails(2, &["mine", "removed since"]);
    endpoint.stop();
    world.nothing_runs();
}

#[test]
fn endpoint_is_checked_at_each_start() {
    let world = World::new();
    let endpoint = world.server(&["agent", "serve", "--bot", "random"]);
    let at = format!("http://{}", endpoint.listen());
    let listen = endpoint.listen().to_owned();
    let register = [
        "agent",
        "register",
        "mine",
        "--endpoint",
        &at,
        "--data",
        "data",
    ];
    let _ = world.arena(&register).ok();
    let (id, ..) = run(&world, &[]);
    endpoint.stop();
    // An unreachable agent does not show how it plays.
    let _ = world
        .arena(&["game", "rerun", &format!("{id}/0"), "--data", "data"])
        .fails(4, &["cannot ask agent mine", "cannot reach"]);
    // Old results are shown, with a note that the agent was not queried.
    let (same, _, reported) = run(&world, &[]);
    assert_eq!(same, id);
    assert!(reported.contains("could not query endpoint"), "{reported}");
    let other = ["agent", "serve", "--bot", "aggressive", "--listen", &listen];
    let other = world.server(&other);
    let path = world.write(
        "spec.toml",
        spec("edited", "cowry", 10, &["mine", "random"], ""),
    );
    let _ = world
        .arena(&["run", &path, "--data", "data"])
        .fails(2, &["mine", "has changed", "register it again"]);
    let _ = world.arena(&register).ok();
    let (new, ..) = run(&world, &[]);
    assert_ne!(new, id);
    other.stop();
    world.nothing_runs();
}

#[test]
fn operator_limits_endpoints() {
    let world = World::new();
    let endpoint = world.server(&["agent", "serve", "--bot", "random"]);
    let at = format!("http://{}", endpoint.listen());
    let register = |networks: &[&str], at: &str, data: &str| {
        let coordinator = world.coordinator(data, networks);
        let (url, name) = (coordinator.url(), "mine");
        let register = ["agent", "register", name, "--endpoint", at];
        let output = world.arena(&[&register[..], &["--coordinator", &url]].concat());
        (coordinator, output)
    };
    let (far, refused) = register(&["--agent-endpoints", "10.0.0.0/8"], &at, "far");
    let _ = refused.fails(2, &["127.0.0.1", "operator", "--allow-endpoint"]);
    far.stop();
    let socket = format!("unix:{}", world.folder().join("mine.sock").display());
    let local = world.server(&["agent", "serve", "--bot", "random", "--listen", &socket]);
    let (closed, refused) = register(&[], &socket, "closed");
    let _ = refused.fails(2, &[&socket, "--allow-endpoint unix"]);
    closed.stop();
    let both = ["--agent-endpoints", "unix,127.0.0.0/8"];
    let (open, registered) = register(&both, &socket, "open");
    let _ = registered.ok();
    open.stop();

    // The worker has networks of its own.
    let (coordinator, registered) = register(&[], &at, "data");
    let _ = registered.ok();
    let url = coordinator.url();
    let worker = world.worker(&coordinator, &["--agent-endpoints", "10.0.0.0/8"]);
    let spec = spec("far", "cowry", 1, &["mine", "random"], "");
    let id = world.start_tournament("far", &format!("{spec}unplayed_limit = 1\n"), &url);
    world.end_tournament(&id, &url);
    let game = format!("{id}/0");
    let shown = world
        .arena(&["game", "show", &game, "--coordinator", &url])
        .ok();
    let message = format!("cannot reach {at}: the endpoint did not answer\n");
    assert!(shown.stderr.contains(&message), "{}", shown.transcript());
    let reason = "not in the networks that the operator allows";
    assert!(worker.log().contains(reason), "{}", worker.log());
    worker.stop();
    coordinator.stop();
    for agent in [local, endpoint] {
        agent.stop();
    }
    world.nothing_runs();
}
