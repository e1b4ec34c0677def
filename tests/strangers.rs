use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use arena_tests::{Output, World, get, spec};

/// An agent that puts control characters, changes of the writing direction and a formula into each
/// text that it can send.
const EVIL: &str = r#"#!/usr/bin/env python3
import sys
from arena_agent import Agent, Choice, Option, serve
from arena_agent.service import Service

TEXT = "=HYPERLINK(1)\x1b]0;owned\x07\x1b[2J\x00\x9b31m\x7f\u202e\u2066\u200b\u2028\ufeff\r-"


class Evil(Agent):
    name = "evil"
    version = author = summary = TEXT
    rulesets = ("kalah",)
    options = (
        Option("word", "plain", TEXT, choices=("plain", TEXT)),
        Option("free", "", TEXT),
    )
    deterministic = True

    def choose(self, decision):
        if decision.number == 0:
            print(TEXT, file=sys.stderr, flush=True)
        if decision.number == 2 and decision.seat == 0:
            raise ValueError(TEXT)
        return Choice(decision.legal[0], variation=(TEXT,))


init = Service.__init__


def named(self, agents):
    init(self, agents)
    self._description.name = TEXT


Service.__init__ = named
serve(Evil())
"#;

/// A name of a worker, as a command line can have it.
const WORKER: &str = "=1+1\u{1b}[2J\u{9b}\u{202e}\r";

fn hidden(text: &str) -> Option<char> {
    text.chars().find(|&it| {
        it.is_control() && !matches!(it, '\n' | '\t')
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(it, '\u{2066}'..='\u{2069}' | '\u{feff}')
    })
}

#[track_caller]
fn harmless(what: &str, text: &str) {
    let found = hidden(text);
    assert_eq!(found, None, "{what}:\n{}", text.escape_debug());
}

/// The cells of a CSV document.
fn cells(csv: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in csv.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().expect("a cell").push(c),
        }
    }
    cells
}

#[track_caller]
fn checked(output: Output) -> Output {
    harmless(&output.command, &output.stdout);
    harmless(&output.command, &output.stderr);
    if output.command.contains(" csv") {
        let formula = cells(&output.stdout)
            .into_iter()
            .find(|cell| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err());
        let is_raw = output.command.contains(" --raw");
        assert_eq!(
            formula.is_some(),
            is_raw,
            "{formula:?} in {}",
            output.command
        );
    }
    output
}

fn evil(world: &World) -> String {
    let path = world.write("evil.py", EVIL);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a file");
    path
}

#[test]
fn texts_of_strangers_are_shown_not_sent() {
    let world = World::with_python();
    let path = evil(&world);
    let coordinator = world.coordinator("data", &["--web", "127.0.0.1:0"]);
    let url = coordinator.url();
    let formats = ["table", "json", "jsonl", "csv"];
    let mut shown = String::new();
    let mut arena = |arguments: &str| {
        let words = arguments.split(' ').collect::<Vec<_>>();
        let output = checked(world.arena(&words));
        shown += &format!("{}\n{}\n", output.stdout, output.stderr);
        output
    };
    for format in formats {
        arena(&format!(
            "agent check {path} --show-output --output {format}"
        ));
        arena(&format!(
            "agent register evil --binary {path} --coordinator {url} --output {format}"
        ));
        arena(&format!("agent list --coordinator {url} --output {format}"));
        arena(&format!(
            "agent show evil --coordinator {url} --output {format}"
        ));
    }
    let worker = world.worker(&coordinator, &["--name", WORKER, "--capacity", "1"]);
    let variant =
        "[[agent]]\nname = \"x\"\nbot = \"evil\"\nfrom = \"evil\"\noptions.free = \"\\u202e\"";
    let hidden = world.write(
        "hidden.toml",
        spec("x", "kalah", 1, &["x", "random"], variant),
    );
    let refused = arena(&format!("tournament start {hidden} --coordinator {url}"));
    let _ = refused.fails(2, &["free = \\u{202e}", "invisible"]);
    let spec = spec("evil", "kalah", 4, &["evil", "random", "greedy"], "");
    let spec = world.write("evil.toml", spec);
    arena(&format!("tournament plan {spec} --coordinator {url}"));
    arena(&format!("tournament start {spec} --coordinator {url}"));
    let _ = arena(&format!("tournament watch @last --coordinator {url}")).ok();
    let ids = arena(&format!(
        "game list @last --coordinator {url} --output jsonl"
    ))
    .ok();
    let first = ids.stdout.lines().next().expect("a game");
    let first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let game = first["game_id"].as_str().expect("an id").to_owned();
    for format in formats {
        for command in [
            "tournament show @last",
            "tournament list",
            "standings @last --crosstable",
            "standings @last",
            "game list @last",
            "audit list @last",
            &format!("game show {game}"),
            &format!("game replay {game}"),
            &format!("game rerun {game}"),
        ] {
            arena(&format!("{command} --coordinator {url} --output {format}"));
        }
    }
    for command in [
        "standings @last --wide",
        "report @last --html -",
        "report @last --markdown",
        "report @last --junit",
        "export @last --with-timing",
        "export @last --with-timing --format csv",
        "export @last --table decisions --format csv",
        "export @last --table standings --format csv",
        "export @last --table standings --format jsonl",
        "export @last --format csv --with-timing --raw",
    ] {
        let _ = arena(&format!("{command} --coordinator {url}")).ok();
    }
    let events = arena(&format!("events list --coordinator {url}")).ok();
    for line in events.stdout.lines() {
        let event: serde_json::Result<serde_json::Value> = serde_json::from_str(line);
        let _ = event.unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    assert!(
        events.stdout.contains("=1+1\\u001b[2J"),
        "{}",
        events.stdout
    );
    for seat in ["0", "1"] {
        let _ = arena(&format!(
            "game show {game} --output-of {seat} --coordinator {url}"
        ))
        .ok();
    }
    for text in [
        "=HYPERLINK(1)\\x1b]0;owned",
        "'=1+1\\x1b[2J",
        "\\u{202e}",
        "\\u202e",
    ] {
        assert!(shown.contains(text), "{text} is not shown:\n{shown}");
    }
    let of = game.split_once('/').expect("a tournament").0;
    let mut pages = String::new();
    for path in [
        "/".to_owned(),
        "/workers".to_owned(),
        "/agents".to_owned(),
        "/api/workers".to_owned(),
        "/api/agents".to_owned(),
        format!("/t/{of}"),
        format!("/t/{of}/games"),
        format!("/t/{}", game.replace('/', "/games/")),
        format!("/t/{of}/report"),
        format!("/t/{of}/badge.svg"),
        format!("/api/tournaments/{of}"),
    ] {
        let page = get(coordinator.web_address(), &path).expect("a page");
        harmless(&path, &page);
        pages += &page;
    }
    for text in ["=1+1\\x1b[2J", "\\u{202e}", "\\u202e"] {
        assert!(pages.contains(text), "{text} is not shown:\n{pages}");
    }
    for server in [&coordinator, &worker] {
        harmless("log", &server.log());
        harmless("metrics", &server.metrics());
    }
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}
