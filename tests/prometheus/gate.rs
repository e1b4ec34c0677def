//! The example of Arena as a check of pull requests: its steps run as written.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use arena_tests::{Output, World, arena, repository};
use serde_json::Value;

use super::{deploy, list, read, text, yaml};

const WORKFLOW: &str = "github/arena.yml";
const SPEC: &str = "github/arena.toml";

fn script(name: &str) -> String {
    let workflow = yaml(WORKFLOW);
    let steps = list(&workflow["jobs"]["gate"]["steps"]).to_vec();
    let step = steps.iter().find(|step| step["name"] == name);
    let step: &Value = step.unwrap_or_else(|| panic!("no step {name}"));
    text(&step["run"]).to_owned()
}

/// Runs a step as GitHub does.
fn step(world: &World, name: &str) -> Output {
    let mut command = world.command("bash");
    let folder = arena().parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", arena_tests::python_path());
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c"])
        .arg(script(name))
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", world.folder().join("summary.md"));
    world.run(command)
}

/// A repository of an agent on both sides of a pull request.
fn sides(world: &World, spec: &str) {
    let agent = repository().join("agents/sdk/python/examples/greedy.py");
    for side in ["base", "candidate"] {
        let folder = world.folder().join(side);
        fs::create_dir(&folder).expect("a folder");
        let made = folder.join("agent");
        fs::copy(&agent, &made).expect("the example");
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).expect("a file");
    }
    // The spec of the candidate is not used.
    fs::write(world.folder().join("base/arena.toml"), spec).expect("a file");
    fs::write(world.folder().join("candidate/arena.toml"), "none").expect("a file");
}

fn is_there(folder: &Path, names: &[&str]) {
    for name in names {
        assert!(folder.join(name).is_file(), "no {name}");
    }
}

#[test]
fn gate_passes_and_fails_pull_requests() {
    let spec = read(&deploy(SPEC)).replace("blocks  = 200", "blocks  = 20");
    let cases = [
        (spec.replace("at most 40 elo", "at most 400 elo"), 0),
        (
            spec.replace("loses to base by at most 40 elo", "beats base by 300 elo"),
            3,
        ),
    ];
    for (spec, code) in cases {
        let world = World::with_python();
        sides(&world, &spec);
        assert_eq!(step(&world, "Play").code, Some(code));
        let reported = step(&world, "Report");
        assert_eq!(reported.code, Some(code), "{}", reported.transcript());
        is_there(
            world.folder(),
            &["standings.json", "report.html", "report.xml", "summary.md"],
        );
        let verdict = if code == 0 {
            "✅ holds"
        } else {
            "❌ does not hold"
        };
        assert!(read(&world.folder().join("summary.md")).contains(verdict));
        world.nothing_runs();
    }
}

/// A workflow may keep its data folder between runs, and authors forget to change versions.
#[test]
fn gate_judges_edited_candidate() {
    let world = World::with_python();
    let spec = read(&deploy(SPEC))
        .replace("blocks  = 200", "blocks  = 20")
        .replace("at most 40 elo", "at most 400 elo");
    sides(&world, &spec);
    let candidate = world.folder().join("candidate/agent");
    let source = read(&candidate);
    // The same agent, a weaker one, and the same again.
    let worse = source.replace("best = max(", "best = min(");
    assert_ne!(worse, source);
    let mut ids = Vec::new();
    for (text, code) in [(&source, 0), (&worse, 3), (&source, 0)] {
        fs::write(&candidate, text).expect("a file");
        let played = step(&world, "Play");
        assert_eq!(played.code, Some(code), "{}", played.transcript());
        let reported = step(&world, "Report");
        assert_eq!(reported.code, Some(code), "{}", reported.transcript());
        let standings = read(&world.folder().join("standings.json"));
        let standings: Value = serde_json::from_str(&standings).expect("JSON");
        ids.push(standings["tournament_id"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3, "each run draws its seed: {ids:?}");
    world.nothing_runs();
}

#[test]
fn gate_builds_a_release() {
    let built = "--locked --package arena-cli --bin arena --features release";
    assert!(script("Build Arena").contains(&format!("--release {built}")));
    assert!(read(&deploy("Dockerfile")).contains(&format!("--profile dist {built}")));
    assert!(read(&deploy("notebook/tournament.py")).contains("--format parquet"));
}
