use std::{fmt::Write, fs};

use arena_tests::{World, repository};

/// The path of the reference of commands.
const REFERENCE: &str = "services/cli/README.md";
const INTRODUCTION: &str = "\
# Commands

The help of every command of `arena`. This page is generated: after a change of a help text,
run `ARENA_UPDATE=1 cargo nextest run -p arena-tests -E 'test(help)'` and review the diff.
`arena man DIR` writes the same as manual pages, and `arena completions SHELL` a completion
script.
";

/// Adds the help of a command and of all commands below it.
fn add(world: &World, command: &mut Vec<String>, all: &mut String) {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = world.arena(&arguments).ok().stdout;
    let level = "#".repeat(2 + command.len().min(2));
    let title = [&["arena".to_owned()], &command[..]].concat().join(" ");
    write!(all, "\n{level} {title}\n\n```text\n{help}```\n").expect("room");
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return;
    };
    let list = list.split("\n\n").next().unwrap_or_default();
    // Deeper lines continue the line above.
    let names = list.lines().filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        command.push(name.to_owned());
        add(world, command, all);
        command.pop();
    }
}

#[test]
fn help_reference_has_every_command() {
    let mut all = INTRODUCTION.to_owned();
    add(&World::new(), &mut Vec::new(), &mut all);
    let path = repository().join(REFERENCE);
    if std::env::var_os("ARENA_UPDATE").is_some() {
        fs::write(&path, &all).expect("the reference can be written");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    for (at, (line, expected)) in known.lines().zip(all.lines()).enumerate() {
        assert_eq!(line, expected, "{REFERENCE}:{}: {INTRODUCTION}", at + 1);
    }
    assert_eq!(known.len(), all.len(), "{REFERENCE} is not current");
}

#[test]
fn completions_and_manuals_have_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.arena(&["completions", shell]).ok().stdout;
        for word in ["tournament", "standings", "--crosstable", "kalah-free"] {
            let expected = word != "kalah-free";
            assert_eq!(
                script.contains(word.trim_start_matches("--")),
                expected,
                "{shell}: {word}"
            );
        }
    }
    let folder = world.folder().join("man");
    let _ = world.arena(&["man", &folder.display().to_string()]).ok();
    for page in ["arena.1", "arena-run.1", "arena-tournament-start.1"] {
        let text = fs::read_to_string(folder.join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}
