//! `arena agent check` fails an agent at the step whose promise it breaks, and at no other.

use std::{fs, os::unix::fs::PermissionsExt};

use arena_tests::{World, repository, spec};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    agent: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    step: String,
    code: String,
}

/// Writes the agent `lines.py` with these changes, and returns its path.
pub(crate) fn changed_agent(world: &World, code: &str) -> String {
    let source = repository().join("tests/agents/lines.py");
    let source = fs::read_to_string(source).expect("the agent");
    let changed = source.replace("CHANGES = \"\"", &format!("CHANGES = '''{code}\n'''"));
    let path = world.write("agent.py", &changed);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file");
    path
}

/// The results of an agent with these changes, as names of steps, and the exit code.
fn check(world: &World, code: &str) -> (Vec<(String, String)>, Option<i32>, String) {
    let path = changed_agent(world, code);
    let arguments = [
        "agent",
        "check",
        &path,
        "--output",
        "json",
        "--start-timeout",
        "5",
    ];
    let checked = world.arena(&arguments);
    let steps = checked.json()["steps"].as_array().expect("steps").clone();
    let text = |step: &serde_json::Value, key: &str| step[key].as_str().expect("text").to_owned();
    let results = steps
        .iter()
        .map(|step| (text(step, "name"), text(step, "result")));
    (results.collect(), checked.code, checked.transcript())
}

#[test]
fn good_agent_passes_every_step() {
    let world = World::with_python();
    let (results, code, seen) = check(&world, "");
    assert_eq!(code, Some(0), "{seen}");
    let passed = results
        .iter()
        .filter(|(_, result)| result == "passed")
        .count();
    assert_eq!(passed, 13, "{seen}");
}

/// It needs all moves of a game, and plays Oware only until a position repeats.
const PARTICULAR: &str = "
bot['rulesets'] = ['oware-abapa']
bot['required_options'] = {'oware-abapa': {'repetition': 'first', 'no_capture_limit': '0'}}
plain = say
def say(message):
    plain({**message, 'sticky': True} if message['type'] == 'hello' else message)
before = choose
def choose(decision):
    if games[decision['context']]['options']['repetition'] != 'first':
        sys.exit('positions repeat')
    if len(decision['moves']) != decision['position']['plies']:
        sys.exit('moves are missing')
    return before(decision)
";

#[test]
fn agent_plays_only_with_the_options_that_it_requires() {
    let world = World::with_python();
    let (_, code, seen) = check(&world, PARTICULAR);
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("required_options"), "{seen}");
    let register = [
        "agent", "register", "mine", "--binary", "agent.py", "--data", "data",
    ];
    let _ = world.arena(&register).ok();
    let spec = |options: &str| spec("cup", "oware-abapa", 1, &["mine", "random"], options);
    let _ = world.tournament(&spec(""), "data", &[]);
    let path = world.write("other.toml", spec("[options]\nrepetition = \"off\""));
    let _ = world.arena(&["run", &path, "--data", "data"]).fails(
        2,
        &[
            "agent \"mine\": it plays oware-abapa only with no_capture_limit = 0, repetition = first; the \
             tournament has no_capture_limit = 100, repetition = off",
        ],
    );
    world.nothing_runs();
}

/// Checks every agent of the table with this step.
fn check_failing(steps: &[&str]) {
    let table = fs::read_to_string(repository().join("tests/data/check_steps.toml"));
    let table: Table = toml::from_str(&table.expect("the table")).expect("TOML");
    let world = World::with_python();
    let mut count = 0;
    for agent in table
        .agent
        .iter()
        .filter(|it| steps.contains(&it.step.as_str()))
    {
        let (results, code, seen) = check(&world, &agent.code);
        assert_eq!(code, Some(3), "{}\n{seen}", agent.code);
        let failed = results.iter().filter(|(_, result)| result == "failed");
        let failed: Vec<&String> = failed.map(|(name, _)| name).collect();
        assert_eq!(failed, [&agent.step], "{}\n{seen}", agent.code);
        count += 1;
    }
    assert!(
        count >= steps.len(),
        "the table should have each of {steps:?}"
    );
}

#[test]
fn wrong_claims_fail_their_step() {
    check_failing(&["start", "hello", "games", "determinism", "seeds"]);
}

#[test]
fn wrong_answers_fail_their_step() {
    check_failing(&["batches", "options", "unknown-fields", "time"]);
}

#[test]
fn bad_processes_fail_their_step() {
    check_failing(&["output", "memory", "end", "sandbox"]);
}
