//! Rules that are a package and break a promise: the tournament pauses, and no agent is charged.

use std::{
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arena_tests::{World, repository, spec};

/// Makes a package of rules that break a promise. They answer lines.
pub(super) fn hostile(world: &World, mode: &str) {
    let folder = world.folder().join(mode);
    fs::create_dir(&folder).expect("a folder");
    let copy = |from: &str, name: &str| {
        fs::copy(repository().join(from), folder.join(name)).expect(from);
    };
    copy("tests/data/hostile_rules.py", "game.py");
    copy("services/games/kits/python/arena_game.py", "arena_game.py");
    let manifest = "command = [\"python3\", \"game.py\"]\n";
    fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
}

/// The rules pass their registration and fail in play: the tournament pauses with this reason, and
/// no agent is charged.
fn fails_in_play(mode: &str, reason: &str) {
    fails_against("second", mode, reason);
}

/// Plays `random` against this agent: a bot of Arena, or `own`, a program.
fn fails_against(second: &str, mode: &str, reason: &str) {
    let world = World::with_python();
    hostile(&world, mode);
    package_fails(&world, second, mode, reason);
}

/// As [`fails_against`], with the package in the folder `mode`.
pub(super) fn package_fails(world: &World, second: &str, mode: &str, reason: &str) {
    let register = [
        "rulesets",
        "register",
        "hostile",
        "--package",
        mode,
        "--data",
        "data",
    ];
    let _ = world.arena(&[&register[..], &["--", mode]].concat()).ok();
    let text = spec("hostile", "hostile", 30, &["random", second], "");
    let more = match second {
        "own" => {
            let new = ["agent", "new", "--lang", "python", "own"];
            let _ = world.arena(&new).ok();
            let policy = "from arena import serve\n\nserve(lambda decision: \
                          decision.legal_moves[0], name=\"own\", version=\"1\")\n";
            fs::write(world.folder().join("own/agent.py"), policy).expect("written");
            let register = ["agent", "register", "own", "--binary", "own"];
            let register = [&register[..], &["--data", "data"]].concat();
            let _ = world.arena(&register).ok();
            ""
        }
        _ => "\n[[agent]]\nname = \"second\"\nbot = \"random\"\n",
    };
    let path = world.write("hostile.toml", text + more);
    let run = ["run", &path, "--data", "data", "--workers", "1"];
    let run = world.arena(&run);
    assert_ne!(run.code, Some(0), "{}", run.transcript());
    let transcript = run.transcript();
    assert!(
        transcript.contains("paused: the rules of hostile"),
        "{transcript}"
    );
    assert!(transcript.contains(reason), "{transcript}");
    let shown = ["standings", "@last", "--data", "data", "--output", "json"];
    let standings = world.arena(&shown).ok().json();
    assert_eq!(standings["state"], "paused", "{standings}");
    for agent in standings["agents"].as_array().expect("agents") {
        assert_eq!(
            (&agent["faults"], &agent["voids"]),
            (&0.into(), &0.into()),
            "{agent}"
        );
    }
    let check = ["rulesets", "check", mode, "--games", "4", "--", mode];
    let _ = world.arena(&check).fails(3, &[]);
    world.nothing_runs();
}

#[test]
fn rules_that_change_their_answers_are_named() {
    fails_in_play(
        "changes",
        "two processes answer the same question differently",
    );
}

/// Processes that follow the same games remember the same.
#[test]
fn rules_that_remember_where_the_game_is_are_named() {
    fails_in_play(
        "place",
        "two processes answer the same question differently",
    );
}

/// Two processes that get the same questions remember the same.
#[test]
fn rules_that_remember_their_questions_fail_the_check() {
    let world = World::with_python();
    hostile(&world, "remembers");
    let check = ["rulesets", "check", "remembers", "--games", "4"];
    let check = [&check[..], &["--", "remembers"]].concat();
    let checked = world.arena(&check).fails(3, &[]).transcript();
    let expected = "answered differently when it is asked again";
    assert!(checked.contains(expected), "{checked}");
    world.nothing_runs();
}

#[test]
fn rules_with_an_action_outside_the_bounds_are_named() {
    fails_in_play("action", "action 40000 is not below 32768");
}

#[test]
fn rules_with_ranks_that_have_gaps_are_named() {
    fails_in_play("ranks", "ranks have 3");
}

#[test]
fn rules_with_a_huge_state_are_named() {
    fails_in_play("state", "more than 10000");
}

#[test]
fn rules_with_a_huge_position_are_named() {
    // Bots of Arena see no positions.
    fails_against("own", "position", "a line exceeds 4194304 bytes");
}

#[test]
fn rules_with_an_endless_game_are_named() {
    fails_in_play("endless", "a game has more than 50 events");
}

#[test]
fn rules_that_crash_are_named() {
    fails_in_play("crash", "the rules give up");
}

#[test]
fn rules_that_report_an_error_are_named() {
    fails_in_play("error", "ValueError: a wrong turn");
}

#[test]
fn rules_that_hang_are_named() {
    fails_in_play("hang", "did not answer in time");
}

#[test]
fn chance_that_never_comes_fails_the_check() {
    let world = World::with_python();
    hostile(&world, "none");
    let file = world.folder().join("none/game.py");
    let text = fs::read_to_string(&file).expect("rules");
    let text = text.replace("    version = 1\n", "    version = 1\n    chance = True\n");
    fs::write(&file, text).expect("written");
    let check = ["rulesets", "check", "none", "--games", "4"];
    let _ = world.arena(&check).fails(3, &["step"]);
    let checked = world.arena(&check).transcript();
    assert!(checked.contains("had no chance node"), "{checked}");
}

#[test]
fn resumed_tournament_starts_failed_rules_again() {
    let world = World::with_python();
    hostile(&world, "lacks");
    let machine = world.folder().join("machine");
    fs::create_dir(&machine).expect("a folder");
    let installed = machine.join("installed");
    let [machine, lacked] = [&machine, &installed].map(|path| path.to_str().expect("UTF-8"));
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    let of = ["--coordinator", &*url];
    let register = ["rulesets", "register", "hostile", "--package", "lacks"];
    let arguments = ["--", "lacks", lacked];
    let _ = world.arena(&[&register[..], &of, &arguments].concat()).ok();
    let worker = world.worker_with(&coordinator, "ARENA_AGENT_PATH", machine);
    let text = spec("lacks", "hostile", 3, &["random", "second"], "");
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let id = world.start_tournament("lacks", &text, &url);
    let watch = ["tournament", "watch", &id];
    let watched = world.arena(&[&watch[..], &of].concat()).transcript();
    assert!(watched.contains("the rules of hostile failed"), "{watched}");
    fs::write(&installed, "").expect("written");
    let resume = ["tournament", "resume", &id];
    let _ = world.arena(&[&resume[..], &of].concat()).ok();
    world.finish_tournament(&id, &url);
    worker.stop();
}

#[test]
fn rules_that_are_late_once_start_again() {
    let world = World::with_python();
    hostile(&world, "late");
    let until = SystemTime::now() + Duration::from_secs(3);
    let until = until.duration_since(UNIX_EPOCH).expect("a date");
    let until = until.as_secs_f64().to_string();
    let check = ["rulesets", "check", "late", "--games", "4"];
    let check = [&check[..], &["--", "late", &until]].concat();
    let _ = world.arena(&check).ok();
    world.nothing_runs();
}
