use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
};

use arena_tests::{World, arena, repository, spec};

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

/// Free ports instead of the ports in the README.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
        .collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("an address").port();
    listeners.iter().map(port).collect()
}

#[test]
fn readme_commands_work_in_order() {
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
            // Commands that need other programs; their files have their own tests.
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
    command.env("ARENA_CONFIG", world.patient_checks());
    let _ = world.run(command).ok();
    world.nothing_runs();
}

/// Runs a command that has to fail with a text in its output.
const REFUSED: &str = "refused() {
    local output
    if output=$(eval \"$1\" 2>&1); then echo \"not refused: $1\" >&2; exit 1; fi
    if [[ $output != *\"$2\"* ]]; then echo \"$1: refused otherwise: $output\" >&2; exit 1; fi
}
";

/// The commands of a page: a line that is continued, or the body of a loop, is part of one.
fn commands_of(journeys: &[&Journey]) -> Vec<String> {
    let lines = journeys.iter().flat_map(|journey| journey.commands.lines());
    let mut commands: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines {
        match commands
            .last_mut()
            .filter(|_| is_open || line.starts_with(' ') || line == "done")
        {
            Some(last) => *last = format!("{last}\n{line}"),
            None => commands.push(line.to_owned()),
        }
        is_open = line.ends_with(['\\', '|']);
    }
    commands
}

/// Commands with the ports of one run, and each coordinator reached before the next command.
fn script_of(journeys: &[&Journey]) -> String {
    let mut script = format!("set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n{REFUSED}");
    for command in commands_of(journeys) {
        script += &match command.split_once("# refused: ") {
            Some((command, text)) => format!("refused '{}' '{text}'\n", command.trim()),
            None => command + "\n",
        };
    }
    script = script.replace("\\\n", " ");
    let mut waiting = String::new();
    for line in script.lines() {
        waiting += &format!("{line}\n");
        let data = line.split_once("arena coordinator --data ");
        if let Some(data) = data.and_then(|(_, rest)| rest.split(' ').next()) {
            let socket = format!("[ -S {data}/coordinator.sock ]");
            waiting += &format!("until {socket}; do sleep 0.05; done\n");
        }
    }
    for (written, free) in ["7600", "7601", "7602"].iter().zip(free_ports(3)) {
        waiting = waiting.replace(&format!(":{written}"), &format!(":{free}"));
    }
    // Every service has its default port for metrics unless it names one.
    let metrics = |line: &str| {
        let is_service = line.starts_with("arena worker") || line.starts_with("arena coordinator");
        match line.strip_suffix('&') {
            Some(line) if is_service && !line.contains("--metrics") => {
                format!("{line} --metrics 127.0.0.1:0 &\n")
            }
            _ => format!("{line}\n"),
        }
    };
    waiting.lines().map(metrics).collect()
}

#[test]
fn arena_serves_other_people() {
    let page = fs::read_to_string(repository().join("deploy/OTHERS.md")).expect("a page");
    let journeys = journeys(&page);
    for name in ["class", "contest", "company"] {
        let parts: Vec<&Journey> = journeys.iter().filter(|it| it.name == name).collect();
        let mut commands = commands_of(&parts);
        commands.retain(|it| it.contains("arena ") || it.contains("curl "));
        assert!((12..=18).contains(&commands.len()), "{name}: {commands:#?}");
        let has_refusal = commands.iter().any(|it| it.contains("# refused: "));
        assert!(has_refusal, "{name} shows nothing that is refused");
        let world = World::with_python();
        let specs = [
            ("class", ["alice-cowry", "bob-cowry"]),
            ("final", ["aggressive", "team-7"]),
            ("gate", ["aggressive", "random"]),
        ];
        for (tournament, agents) in specs {
            let spec = spec(tournament, "cowry", 2, &agents, "");
            // The seed of the final is drawn.
            let spec = match tournament {
                "final" => spec.replace("seed = \"0x5eed\"\n", ""),
                _ => spec,
            };
            let _ = world.write(&format!("{tournament}.toml"), spec);
        }
        let bin = world.folder().join("bin");
        fs::create_dir(&bin).expect("a folder");
        symlink(arena(), bin.join("arena")).expect("a link");
        let script = world.write("others.sh", script_of(&parts));
        let mut command = world.command("bash");
        command
            .arg(&script)
            .env("PATH", format!("{}:{}", bin.display(), world.path()));
        let _ = world.run(command).ok();
        world.nothing_runs();
    }
}

/// The READMEs with commands.
fn readmes() -> Vec<String> {
    let files = [
        "README.md",
        "agents/README.md",
        "agents/docs/existing-bot.md",
        "agents/docs/first-agent.md",
        "agents/sdk/python/README.md",
        "agents/sdk/typescript/README.md",
        "deploy/OTHERS.md",
        "deploy/README.md",
        "deploy/local/README.md",
        "services/games/README.md",
        "services/model/README.md",
        "services/tournament/README.md",
        "tests/README.md",
        "tests/RESULTS.md",
        "tests/bench/README.md",
    ];
    let read = |file| fs::read_to_string(repository().join(file)).expect(file);
    files.map(read).to_vec()
}

/// Every `arena …` in a README, even if the test does not run it, is an existing command with
/// existing options.
#[test]
fn readme_commands_exist() {
    let world = World::new();
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for readme in readmes() {
        let texts = readme.split(['`', '\n', '|']);
        let commands = texts.filter_map(|text| text.trim().strip_prefix("arena "));
        for command in commands {
            let command = command
                .split(['#', '>', '&', '<'])
                .next()
                .unwrap_or_default();
            let is_word = |word: &&str| {
                let letters = |c: char| c.is_ascii_lowercase() || c == '-';
                word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(letters)
            };
            let words: Vec<&str> = command
                .split_whitespace()
                .take_while(is_word)
                .take(3)
                .collect();
            let Some(first) = words.first() else { continue };
            // A command may have sub-commands, or its second word is an argument.
            let groups = [
                "agent",
                "tournament",
                "game",
                "audit",
                "events",
                "paper",
                "rulesets",
                "store",
                "token",
                "tls",
            ];
            let depth = match words[..] {
                ["tournament", "agents", ..] => 3,
                _ if groups.contains(first) => 2,
                _ => 1,
            };
            let path: Vec<String> = words.iter().take(depth).map(|&it| it.to_owned()).collect();
            let help = helps.entry(path.clone()).or_insert_with(|| {
                let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
                arguments.push("--help");
                world.arena(&arguments).ok().stdout
            });
            // The words after `--` are for the agent.
            let options = command.split_whitespace().take_while(|word| *word != "--");
            for option in options.filter(|word| word.starts_with("--")) {
                let name = option.split('=').next().unwrap_or(option);
                let name = name.trim_end_matches([',', '.', ')', ';', ']']);
                assert!(help.contains(name), "arena {command}: no {name}");
            }
        }
    }
    assert!(helps.len() > 10, "{:?}", helps.keys());
}

/// The first agent of the Python README, exactly as written.
#[test]
fn commands_of_the_python_readme_work() {
    let readme = repository().join("agents/sdk/python/README.md");
    let readme = fs::read_to_string(readme).expect("a README");
    let block = |language: &str, nth: usize| {
        let fence = format!("```{language}\n");
        let mut blocks = readme.split(&fence).skip(nth);
        let block = blocks.next().and_then(|rest| rest.split("```").next());
        block.expect(language).to_owned()
    };
    let world = World::with_python();
    let agent = world.write("greedy.py", block("python", 1));
    fs::set_permissions(&agent, Permissions::from_mode(0o755)).expect("a file");
    let bin = world.folder().join("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(arena(), bin.join("arena")).expect("a link");
    let commands = block("sh", 2);
    assert!(commands.contains("arena agent register"), "{commands}");
    let script = world.write("python.sh", format!("set -euo pipefail\n{commands}"));
    let mut command = world.command("bash");
    let path = format!("{}:{}", bin.display(), arena_tests::python_path());
    command.arg(&script).env("PATH", path);
    command.env("ARENA_CONFIG", world.patient_checks());
    let _ = world.run(command).ok();
    world.nothing_runs();
}

#[test]
fn demo_and_its_commands_work() {
    let world = World::new();
    let demo = world.arena(&["demo"]).ok();
    world.nothing_runs();
    let typed: Vec<&str> = demo
        .stderr
        .lines()
        .skip_while(|line| !line.starts_with("Next, try"))
        .skip(1)
        .filter(|line| line.starts_with("  "))
        .collect();
    assert_eq!(typed.len(), 3, "{}", demo.transcript());
    for line in typed {
        let mut command = world.command("sh");
        command.args(["-c", line]);
        let _ = world.run(command).ok();
    }
    world.nothing_runs();
}
