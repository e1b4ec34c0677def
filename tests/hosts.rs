//! One bad host must not spoil a tournament.

use std::fs;

use arena_tests::{Server, World, spec, until};
use serde_json::Value;

/// The variable without which the agent starts.
const LACKS: &str = "TEST_HOST_LACKS_SOMETHING";
/// The variable with the seconds that the agent needs to start.
const SLOW: &str = "TEST_HOST_TAKES";

/// A coordinator with an agent that is a process, and starts only on hosts that have everything.
fn coordinator(world: &World) -> Server {
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let arena = arena_tests::arena();
    let script = format!(
        "#!/bin/sh\n[ -z \"${LACKS}\" ] || {{ echo no weights found >&2; exit 1; }}\n\
         sleep \"${{{SLOW}:-0}}\"\nexec {} agent serve\n",
        arena.display()
    );
    let program = world.write("agent.sh", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("a file of ours");
    let url = coordinator.url();
    let register = ["agent", "register", "hosted", "--binary", &program];
    let access = ["--bot", "random", "--coordinator", &url];
    let _ = world.arena(&[&register[..], &access].concat()).ok();
    coordinator
}

/// Plays a tournament of that agent, and returns the standings.
fn play(world: &World, coordinator: &Server) -> Value {
    let text = spec("hosts", "cowry", 60, &["hosted", "aggressive"], "");
    let url = coordinator.url();
    let id = world.start_tournament("hosts", &text, &url);
    world.finish_tournament(&id, &url);
    standings(world, &id, &url)
}

fn standings(world: &World, id: &str, url: &str) -> Value {
    let show = ["standings", id, "--coordinator", url, "--output", "json"];
    world.arena(&show).ok().json()
}

/// Waits until games are played.
fn played_some(world: &World, id: &str, url: &str) {
    let some = || standings(world, id, url)["games"].as_u64() > Some(0);
    until("games to be played", || some().then_some(()));
}

/// Waits until each of these workers has tried to start the agent.
fn tried(workers: &[Server]) {
    until("hosts that lack the agent to try it", || {
        let tried = |worker: &Server| worker.log().contains("hosted");
        workers.iter().all(tried).then_some(())
    });
}

#[track_caller]
fn check_unspoilt(standings: &Value, games: u64) {
    for agent in standings["agents"].as_array().expect("agents") {
        assert_eq!(agent["games"], games, "{standings}");
        assert_eq!((&agent["voids"], &agent["faults"]), (&0.into(), &0.into()));
    }
}

#[test]
fn agent_plays_where_it_starts() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let lacks = world.worker_with(&coordinator, LACKS, "1");
    let good = world.worker(&coordinator, &[]);
    joined(&coordinator, 2.0);
    check_unspoilt(&play(&world, &coordinator), 120);
    assert!(lacks.log().contains("hosted"), "it tried: {}", lacks.log());
    for server in [lacks, good, coordinator] {
        server.stop();
    }
    world.nothing_runs();
}

#[test]
fn slow_start_elsewhere_is_awaited() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let mut servers = vec![world.worker_with(&coordinator, SLOW, "3")];
    servers.extend([(); 2].map(|()| world.worker_with(&coordinator, LACKS, "1")));
    joined(&coordinator, 3.0);
    check_unspoilt(&play(&world, &coordinator), 120);
    for bad in &servers[1..] {
        assert!(bad.log().contains("hosted"), "it tried: {}", bad.log());
    }
    servers.into_iter().for_each(Server::stop);
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn games_of_killed_host_wait_for_successor() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let good = world.worker(&coordinator, &[]);
    let bad = [(); 2].map(|()| world.worker_with(&coordinator, LACKS, "1"));
    joined(&coordinator, 3.0);
    let url = coordinator.url();
    let text = spec("killed", "cowry", 4000, &["hosted", "aggressive"], "");
    let id = world.start_tournament("killed", &text, &url);
    played_some(&world, &id, &url);
    tried(&bad);
    good.kill();
    let successor = world.worker_with(&coordinator, SLOW, "1");
    world.finish_tournament(&id, &url);
    check_unspoilt(&standings(&world, &id, &url), 8000);
    successor.stop();
    bad.into_iter().for_each(Server::stop);
    coordinator.stop();
}

#[test]
fn forfeiting_opponent_hides_no_host() {
    let world = World::with_python();
    let coordinator = coordinator(&world);
    let url = coordinator.url();
    let program = world.misbehave();
    let register = ["agent", "register", "crasher", "--binary", &program];
    let rest = ["--coordinator", &url, "--", "crash", "0"];
    let _ = world.arena(&[&register[..], &rest].concat()).ok();
    let good = world.worker(&coordinator, &[]);
    let bad = [(); 2].map(|()| world.worker_with(&coordinator, LACKS, "1"));
    joined(&coordinator, 3.0);
    let play = "unplayed_limit = 1\n[play]\non_fault = \"forfeit\"\nask_forced = true";
    let text = spec("crashes", "cowry", 12, &["hosted", "crasher"], play);
    let id = world.start_tournament("crashes", &text, &url);
    tried(&bad);
    world.end_tournament(&id, &url);
    let standings = standings(&world, &id, &url);
    let agents = standings["agents"].as_array().expect("agents");
    let hosted = agents.iter().find(|agent| agent["agent"] == "hosted");
    assert_eq!(hosted.expect("it played")["faults"], 0, "{standings}");
    good.stop();
    bad.into_iter().for_each(Server::stop);
    coordinator.stop();
}

/// A tournament whose agent starts on none of these workers pauses, and continues if it is resumed
/// after the hosts are repaired.
#[track_caller]
fn check_paused_until_repaired(hosts: usize) {
    let world = World::new();
    let coordinator = coordinator(&world);
    let url = coordinator.url();
    let add = || world.worker_with(&coordinator, LACKS, "1");
    let workers: Vec<Server> = std::iter::repeat_with(add).take(hosts).collect();
    joined(&coordinator, hosts as f64);
    let text = spec("hosts", "cowry", 60, &["hosted", "aggressive"], "");
    let path = world.write("hosts.toml", &text);
    let start = [
        "tournament",
        "start",
        &path,
        "--watch",
        "--coordinator",
        &url,
    ];
    let said = [
        "hosted starts on no worker",
        "no weights found",
        "tournament resume",
    ];
    let started = world.arena(&start).fails(1, &said);
    let id = started
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("hosts-"));
    let id = id.unwrap_or_else(|| panic!("no id in {}", started.stderr));
    let shown = standings(&world, id, &url);
    assert_eq!(
        (&shown["state"], &shown["games"]),
        (&"paused".into(), &0.into())
    );
    assert_eq!(shown["pause"]["kind"], "agent_does_not_start", "{shown}");
    let ask = |what: &[&str]| world.arena(&[what, &["--coordinator", &url]].concat());
    for what in [
        &["tournament", "show", id][..],
        &["tournament", "list"],
        &["standings", id],
    ] {
        let output = ask(what).ok();
        let reported = format!("{}{}", output.stdout, output.stderr);
        // The list names the command that explains the pause.
        let said = match what {
            ["tournament", "list"] => [&said[..said.len() - 1], &["tournament show"]].concat(),
            _ => said.to_vec(),
        };
        for part in said {
            // Lines wrap at the width of the terminal.
            let reported = reported.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(reported.contains(part), "{part} is missing in {reported}");
        }
    }
    let reason = ["reason=\"agent_does_not_start\""];
    until("the metric to say so", || {
        (coordinator.metric("arena_tournaments_paused", &reason) > 0.0).then_some(())
    });
    workers.into_iter().for_each(Server::stop);
    let resumed = ask(&["tournament", "resume", id]).ok();
    let reported = &resumed.stderr;
    assert!(reported.contains("no worker is connected"), "{reported}");
    let good = world.worker(&coordinator, &[]);
    world.finish_tournament(id, &url);
    check_unspoilt(&standings(&world, id, &url), 120);
    good.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn unstartable_agent_pauses_one_worker() {
    check_paused_until_repaired(1);
}

#[test]
fn unstartable_agent_pauses_three_workers() {
    check_paused_until_repaired(3);
}

#[test]
fn repaired_agent_resumes_the_run() {
    let world = World::new();
    coordinator(&world).stop();
    let text = spec("hosts", "cowry", 60, &["hosted", "aggressive"], "");
    let path = world.write("hosts.toml", &text);
    for _ in 0..2 {
        let mut command = world.command(arena_tests::arena());
        command
            .args(["run", &path, "--data", "data"])
            .env(LACKS, "1");
        let _ = world
            .run(command)
            .fails(1, &["hosted starts on no worker", "no weights"]);
        world.nothing_runs();
    }
    let run = ["run", &path, "--data", "data", "--output", "json"];
    check_unspoilt(&world.arena(&run).ok().json(), 120);
}

#[test]
fn unplayed_limit_one_loses_every_game() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let workers = [(); 2].map(|()| world.worker_with(&coordinator, LACKS, "1"));
    joined(&coordinator, 2.0);
    let url = coordinator.url();
    let more = "unplayed_limit = 1";
    let text = spec("hosts", "cowry", 60, &["hosted", "aggressive"], more);
    let id = world.start_tournament("hosts", &text, &url);
    let watch = ["tournament", "watch", &id, "--coordinator", &url];
    let _ = world.arena(&watch).fails(1, &["ended with a fault"]);
    let standings = standings(&world, &id, &url);
    let agents = standings["agents"].as_array().expect("agents");
    let hosted = agents.iter().find(|agent| agent["agent"] == "hosted");
    let hosted = hosted.expect("it played");
    assert_eq!(hosted["faults_by_kind"]["not_ready"], 120, "{standings}");
    assert_eq!(hosted["voids"], 0);
    assert_eq!(
        (&hosted["place"], &hosted["rating"]),
        (&Value::Null, &Value::Null)
    );
    let shown = hosted["last_fault"].to_string();
    assert!(shown.contains("no weights found"), "{shown}");
    workers.into_iter().for_each(Server::stop);
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn retry_repairs_a_bad_host() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let url = coordinator.url();
    let bad = world.worker_with(&coordinator, LACKS, "1");
    joined(&coordinator, 1.0);
    let agents = ["hosted", "aggressive", "random"];
    let text = spec("retried", "cowry", 20, &agents, "unplayed_limit = 1");
    let id = world.start_tournament("retried", &text, &url);
    world.finish_tournament(&id, &url);
    let access = ["--coordinator", &url];
    let lost = world.export(&id, access);
    bad.stop();
    let ask = |what: &[&str]| world.arena(&[what, &access].concat());
    let retried = ask(&["tournament", "retry", &id]).ok();
    for part in [
        "running, 40 of 120 games",
        "generation 1: 120 games, 80 lost",
    ] {
        assert!(retried.stdout.contains(part), "{}", retried.transcript());
    }
    let good = world.worker(&coordinator, &[]);
    world.finish_tournament(&id, &url);
    let shown = standings(&world, &id, &url);
    check_unspoilt(&shown, 80);
    assert_eq!(
        (&shown["generation"], &shown["generations"]),
        (&2.into(), &2.into())
    );
    let newest = world.export(&id, access);
    let old = ask(&["standings", &id, "--generation", "1", "--output", "json"]).ok();
    assert_eq!(old.json()["generation"], 1);
    let old = ask(&["export", &id, "--generation", "1"]).ok();
    assert_eq!(old.stdout, lost.text);
    assert!(old.stderr.contains("generation 1 of 2"), "{}", old.stderr);
    let _ = ask(&["export", &id, "--generation", "3"]).fails(2, &["generations 1 to 2"]);
    let timed = ask(&["export", &id, "--with-timing"]).ok();
    let replayed = timed.stdout.matches("\"generation\":2").count();
    assert_eq!(replayed, 80, "each game says when it was played");
    let _ = ask(&["tournament", "retry", &id]).fails(2, &["nothing to replay"]);
    good.stop();
    coordinator.stop();
    let _ = world.arena(&["store", "verify", "--data", "data"]).ok();
    // The id is that of the content, which is the same on every host.
    let elsewhere = world.coordinator("elsewhere", &[]);
    let program = world.folder().join("agent.sh");
    let program = program.to_str().expect("UTF-8");
    let url = elsewhere.url();
    let register = [
        "agent", "register", "hosted", "--binary", program, "--bot", "random",
    ];
    let _ = world
        .arena(&[&register[..], &["--coordinator", &url]].concat())
        .ok();
    let good = world.worker(&elsewhere, &[]);
    let same = world.start_tournament("retried", &text, &url);
    world.finish_tournament(&same, &url);
    let undisturbed = world.export(&same, ["--coordinator", &url]);
    assert_eq!(undisturbed.difference(&newest), None);
    good.stop();
    elsewhere.stop();
    world.nothing_runs();
}

#[test]
fn unreachable_endpoint_is_charged() {
    let world = World::new();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    let endpoint = world.server(&["agent", "serve", "--bot", "random"]);
    let at = format!("http://{}", endpoint.listen());
    let register = ["agent", "register", "far", "--endpoint", &at];
    let _ = world
        .arena(&[&register[..], &["--coordinator", &url]].concat())
        .ok();
    endpoint.kill();
    let first = world.worker(&coordinator, &[]);
    let more = "unplayed_limit = 1";
    let text = spec("far", "cowry", 10_000, &["far", "aggressive"], more);
    let id = world.start_tournament("far", &text, &url);
    played_some(&world, &id, &url);
    first.stop();
    let second = world.worker(&coordinator, &[]);
    world.end_tournament(&id, &url);
    let standings = standings(&world, &id, &url);
    let agents = standings["agents"].as_array().expect("agents");
    let far = agents.iter().find(|agent| agent["agent"] == "far");
    let far = far.expect("it played");
    assert_eq!((&far["faults"], &far["voids"]), (&20_000.into(), &0.into()));
    let log = coordinator.log();
    assert!(log.contains("its games are charged to it"), "{log}");
    let again = log.matches("may start again").count();
    assert!(again <= 1, "at most when the first one left: {log}");
    second.stop();
    coordinator.stop();
}

#[test]
fn failing_host_voids_no_game() {
    let world = World::new();
    let coordinator = coordinator(&world);
    let temp = world.folder().join("temp");
    fs::create_dir(&temp).expect("a folder");
    let bad = world.worker_with(&coordinator, "TMPDIR", temp.to_str().expect("UTF-8"));
    joined(&coordinator, 1.0);
    // From now on it has no folder for temporary files.
    fs::remove_dir_all(&temp).expect("a folder of ours");
    let _ = world.write("temp", "");
    let good = world.worker(&coordinator, &[]);
    joined(&coordinator, 2.0);
    check_unspoilt(&play(&world, &coordinator), 120);
    assert!(bad.log().contains("cannot get binary"), "{}", bad.log());
    for server in [bad, good, coordinator] {
        server.stop();
    }
    world.nothing_runs();
}

#[test]
fn run_without_worker_says_what_to_do() {
    let world = World::new();
    let long = world.folder().join("x".repeat(90));
    fs::create_dir(&long).expect("a folder");
    let text = spec("nowhere", "cowry", 2, &["random", "aggressive"], "");
    let spec = world.write("spec.toml", text);
    let mut command = world.command(arena_tests::arena());
    let arguments = ["run", &spec, "--data", "data", "--builtin", "process"];
    command.args(arguments).env("TMPDIR", &long);
    let _ = world.run(command).fails(1, &["TMPDIR", "107"]);
    world.nothing_runs();
}

fn joined(coordinator: &Server, workers: f64) {
    until("workers to join", || {
        (coordinator.metric("arena_workers", &[]) >= workers).then_some(())
    });
}
