use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
};

use arena_tests::{World, arena, repository};

/// A fenced block that follows `<!-- test: NAME -->`.
struct Journey {
    name: String,
    commands: String,
}

fn journeys(readme: &str) -> Vec<Journey> {
    let mut found = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let marked = line
            .strip_prefix("<!-- test: ")
            .and_then(|rest| rest.strip_suffix(" -->"));
        let Some(name) = marked else { continue };
        let fence = lines.next();
        assert_eq!(
            fence,
            Some("```sh"),
            "{name} has no block of shell below it"
        );
        let commands: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        found.push(Journey {
            name: name.to_owned(),
            commands: commands.join("\n"),
        });
    }
    found
}

/// Ports that are free now, for those that the README writes out.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
        .collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    listeners.iter().map(port).collect()
}

#[test]
fn the_commands_of_the_readme_work_in_their_order() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("README.md");
    let journeys = journeys(&readme);
    for name in [
        "journey-tournament",
        "journey-metrics",
        "journey-reproduce",
        "journey-play",
    ] {
        let there = journeys.iter().any(|journey| journey.name == name);
        assert!(there, "README.md has no block marked <!-- test: {name} -->");
    }
    let mut script = String::from("set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n");
    for journey in &journeys {
        script += &format!("echo '== {}' >&2\n", journey.name);
        for line in journey.commands.lines() {
            // What needs more than Arena; the files it uses have tests of their own.
            if !line.starts_with("docker ") {
                script += line;
                script.push('\n');
            }
        }
    }
    for (written, free) in ["7600", "7601", "7602", "7603"].iter().zip(free_ports(4)) {
        script = script.replace(&format!(":{written}"), &format!(":{free}"));
    }
    let world = World::with_python();
    symlink(repository().join("agents"), world.folder().join("agents")).expect("a link");
    let bin = world.folder().join("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(arena(), bin.join("arena")).expect("a link");
    let script = world.write("readme.sh", script);
    fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("a file");
    let mut command = world.command("bash");
    let path = format!("{}:{}", bin.display(), arena_tests::python_path());
    command.arg(&script).env("PATH", path);
    let _ = world.run(command).ok();
    world.nothing_runs();
}

#[test]
fn every_command_that_is_not_run_exists() {
    // `cargo run … -- WORD` and `arena WORD` in the prose and the other blocks.
    let readme = fs::read_to_string(repository().join("README.md")).expect("README.md");
    let world = World::new();
    let mut words: Vec<&str> = readme
        .split(['`', '\n'])
        .filter_map(|text| text.trim().strip_prefix("arena "))
        .filter_map(|rest| rest.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    words.sort_unstable();
    words.dedup();
    for word in words {
        let _ = world.arena(&[word, "--help"]).ok();
    }
}

#[test]
fn the_demo_plays_and_the_commands_it_prints_work() {
    let world = World::new();
    let demo = world.arena(&["demo"]).ok();
    world.nothing_runs();
    let typed: Vec<&str> = demo
        .stderr
        .lines()
        .skip_while(|line| !line.starts_with("Next, type"))
        .skip(1)
        .filter(|line| line.starts_with("  "))
        .collect();
    assert_eq!(typed.len(), 3, "{}", demo.told());
    for line in typed {
        let mut command = world.command("sh");
        command.args(["-c", line]);
        let _ = world.run(command).ok();
    }
    world.nothing_runs();
}
