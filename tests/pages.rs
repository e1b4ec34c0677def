use std::{fmt::Write, fs, os::unix::fs::symlink, path::Path, process::Command};

use arena_tests::{World, arena, python, repository};

/// A fenced block of a page, after `<!-- test -->`, `<!-- file: PATH -->` or `<!-- output -->`.
struct Block {
    role: String,
    text: String,
}

/// All blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut before = "";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let role = before
                .strip_prefix("<!-- ")
                .and_then(|role| role.strip_suffix(" -->"));
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let text = text.join("\n");
            let role = role.unwrap_or_else(|| panic!("no role above the block:\n{text}"));
            found.push(Block {
                role: role.to_owned(),
                text,
            });
        }
        before = line;
    }
    found
}

/// The sections of a page, from one heading of the second level to the next.
fn sections(page: &str) -> Vec<String> {
    let page = fs::read_to_string(repository().join(page)).expect(page);
    page.split("\n## ").map(str::to_owned).collect()
}

/// Writes all files of a page and runs all its commands, in order, in one shell. The lines of
/// its outputs must occur in what the commands print.
fn follow(world: &World, page: &str) {
    follow_with(world, page, "arena", &arena());
}

/// The same, with another program in the search path. Commands that build it are not run.
fn follow_with(world: &World, page: &str, name: &str, program: &Path) {
    let mut script = String::from("set -euo pipefail\n");
    let (mut expected, mut commands) = (Vec::new(), 0);
    let blocks = blocks(page);
    for Block { role, text } in &blocks {
        match role.as_str() {
            "test" => {
                script += &format!("{text}\n");
                commands += 1;
            }
            "output" => expected.extend(text.lines()),
            "build" => {}
            role => {
                let file = role.strip_prefix("file: ").expect("test, output or file");
                write!(
                    script,
                    "mkdir -p \"$(dirname {file})\"\ncat > {file} <<'END_OF_FILE'\n{text}\nEND_OF_FILE\n"
                )
                .expect("room");
            }
        }
    }
    assert!(commands > 1 && !expected.is_empty(), "{script}");
    let bin = world.folder().join("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(program, bin.join(name)).expect("a link");
    let script = world.write("page.sh", script);
    let mut command = world.command("bash");
    let path = world.path();
    command
        .arg(&script)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("ARENA_CONFIG", world.patient_checks());
    let run = world.run(command).ok();
    for line in expected {
        let is_printed = run.stdout.lines().any(|printed| printed == line);
        assert!(is_printed, "not printed: {line}\n{}", run.transcript());
    }
    world.nothing_runs();
}

#[test]
fn own_ruleset_is_written_as_the_page_says() {
    let page = "services/games/docs/own-ruleset.md";
    let text = fs::read_to_string(repository().join(page)).expect(page);
    let source = blocks(&text)
        .into_iter()
        .find(|block| block.role == "file: src/main.rs");
    let built = fs::read_to_string(repository().join("services/cli/examples/pig.rs"));
    let (_, built) = built
        .as_deref()
        .expect("the example")
        .split_once("\n\n")
        .expect("a comment first");
    assert_eq!(source.expect("a source").text.trim_end(), built.trim_end());
    let program = arena().with_file_name("examples").join("pig");
    follow_with(&World::new(), &text, "pig", &program);
}

#[test]
fn own_game_in_python_is_written_as_the_page_says() {
    follow(
        &World::with_python(),
        &sections("services/games/docs/own-python.md").concat(),
    );
}

#[test]
fn first_agent_is_written_as_the_page_says() {
    follow(
        &World::new(),
        &sections("agents/docs/first-agent.md").concat(),
    );
}

#[test]
fn existing_bot_is_wrapped_as_the_page_says() {
    let mut sections = sections("agents/docs/existing-bot.md");
    sections.retain(|section| !section.starts_with(OPENSPIEL));
    follow(&World::new(), &sections.concat());
}

#[test]
fn chess_engine_is_tested_as_the_page_says() {
    let mut sections = sections(CHESS_ENGINES);
    sections.retain(|section| !section.starts_with(CHESS_BOOK));
    follow(&World::with_python(), &sections.concat());
}

/// The page about chess engines.
const CHESS_ENGINES: &str = "agents/docs/chess-engines.md";
/// The section whose test is as long as that of all others.
const CHESS_BOOK: &str = "A book\n";

#[test]
fn chess_book_is_played_as_the_page_says() {
    let mut sections = sections(CHESS_ENGINES);
    sections
        .retain(|section| section.starts_with("The engine\n") || section.starts_with(CHESS_BOOK));
    assert_eq!(sections.len(), 2);
    follow(&World::with_python(), &sections.concat());
}

/// The section whose commands need OpenSpiel.
const OPENSPIEL: &str = "An OpenSpiel bot\n";
/// The section of OpenSpiel's page about games in which seats do not see everything.
const HIDDEN: &str = "Hidden information\n";

#[test]
fn openspiel_bot_plays_as_the_page_says() {
    let sections = sections("agents/docs/existing-bot.md");
    let section = { sections.iter() }.find(|section| section.starts_with(OPENSPIEL));
    let section = section.expect("a section");
    if has_modules("arena_openspiel") {
        follow(&World::with_python(), section);
    }
}

#[test]
fn openspiel_bots_are_rated_as_the_page_says() {
    if has_modules("arena_openspiel") {
        let sections = sections("agents/docs/openspiel.md");
        let page = { sections.iter() }.filter(|it| !it.starts_with(HIDDEN));
        follow(&World::with_python(), &page.cloned().collect::<String>());
    }
}

#[test]
fn poker_is_played_as_the_page_says() {
    let sections = sections("agents/docs/openspiel.md");
    let section = { sections.iter() }.find(|section| section.starts_with(HIDDEN));
    let section = section.expect("a section");
    if has_modules("arena_openspiel") {
        follow(&World::with_python(), section);
    }
}

#[test]
fn pettingzoo_environments_are_played_as_the_page_says() {
    if has_modules("arena_pettingzoo, pygame") {
        let page = sections("agents/docs/pettingzoo.md").concat();
        follow(&World::with_python(), &page);
    }
}

/// False, with a note, if modules of Python are not installed.
#[expect(clippy::print_stderr, reason = "the output names what is skipped")]
fn has_modules(modules: &str) -> bool {
    let mut probe = Command::new(python().expect("Python"));
    probe.args(["-c", &format!("import {modules}")]);
    let has = probe.output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: {modules} not installed: tests/setup installs them where pip can");
    }
    has
}

#[test]
fn rulesets_show_prints_the_page() {
    let world = World::new();
    for info in arena_games::rulesets() {
        let shown = world.arena(&["rulesets", "show", info.name]).ok().stdout;
        let file = format!("services/games/docs/{}.md", info.name);
        let page = fs::read_to_string(repository().join(&file)).expect(&file);
        for heading in page.lines().filter(|line| line.starts_with('#')) {
            assert!(shown.contains(&format!("{heading}\n")), "{heading}");
        }
        assert!(page.contains(".svg)") && !shown.contains(".svg"), "{file}");
        assert!(!shown.contains(".md)"), "{shown}");
        // Without `show`, the options in a table.
        let listed = world.arena(&["rulesets", info.name]).ok().stdout;
        assert!(listed.starts_with(&format!("{} (", info.name)), "{listed}");
    }
}

#[test]
fn rulesets_show_suggests_the_nearest_name() {
    let world = World::new();
    for arguments in [&["rulesets", "show", "kahla"][..], &["rulesets", "kahla"]] {
        let error = "unknown ruleset \"kahla\", did you mean \"kalah\"?";
        let _ = world.arena(arguments).fails(2, &[error]);
    }
    // An option of the list does not go with a page.
    let arguments = ["rulesets", "--output", "json", "show", "kalah"];
    let _ = world.arena(&arguments).fails(2, &["cannot be used"]);
}
