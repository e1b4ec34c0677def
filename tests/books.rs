//! Opening books from files.

use std::{collections::BTreeSet, fs, process::Command};

use arena_tests::{World, python, repository, sha256, spec};
use serde_json::{Value, json};

use crate::check_steps::changed_agent;

/// A folder with the books of `tests/data/books`.
fn world() -> World {
    let world = World::new();
    for book in ["positions.epd", "games.pgn", "chess960.epd", "chess960.pgn"] {
        let _ = world.write(book, data(book));
    }
    world
}

fn data(name: &str) -> Vec<u8> {
    fs::read(repository().join("tests/data/books").join(name)).expect(name)
}

/// A match of two bots that use their seeds.
fn chess(blocks: u64, play: &str) -> String {
    let options = "options = { max_plies = 40 }\n";
    spec(
        "books",
        "chess",
        blocks,
        &["random", "greedy"],
        &format!("{options}[play]\n{play}"),
    )
}

/// What a script of `tests/chess` prints.
fn script(name: &str, arguments: &[&str], input: &str) -> Value {
    let world = World::new();
    let mut command = Command::new(python().expect("Python"));
    let input = world.write("input", input);
    command
        .arg(repository().join("tests/chess").join(name))
        .args(arguments)
        .stdin(fs::File::open(input).expect("the input"));
    let output = command.output().expect("Python starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The openings in the spec of a tournament, as the coordinator has it.
fn openings(world: &World, id: &str, data: &str) -> Vec<Value> {
    let show = ["tournament", "show", id, "--data", data, "--output", "json"];
    let shown = world.arena(&show).ok().json();
    let spec: toml::Table = shown["spec"]
        .as_str()
        .expect("a spec")
        .parse()
        .expect("TOML");
    let book = spec["play"]["book"].as_array().expect("a list");
    book.iter().map(|it| json!(it.as_str())).collect()
}

fn lines(world: &World, id: &str, data: &str) -> (String, Vec<Value>) {
    let text = world.arena(&["export", id, "--data", data]).ok().stdout;
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"));
    (sha256(&text), lines.collect())
}

/// The opening of a record as a spec has it.
fn opening(record: &Value) -> String {
    let events = record["events"].as_array().expect("events").iter();
    let moves = events.filter(|event| event["opening"] == true);
    let moves: Vec<_> = moves
        .map(|it| it["move"].as_str().expect("a move"))
        .collect();
    match record["options"]["fen"].as_str().expect("a text") {
        "" => moves.join(" "),
        fen if moves.is_empty() => format!("[{fen}]"),
        fen => format!("[{fen}] {}", moves.join(" ")),
    }
}

#[test]
fn openings_are_those_of_another_program() {
    let world = world();
    for (book, plies, variant) in [
        ("positions.epd", None, "standard"),
        ("games.pgn", Some(12), "standard"),
        ("games.pgn", None, "standard"),
        ("chess960.epd", None, "chess960"),
        ("chess960.pgn", Some(9), "chess960"),
    ] {
        let more = plies.map_or_else(String::new, |plies| format!("book_plies = {plies}\n"));
        let spec = spec(
            "read",
            "chess",
            1,
            &["random", "greedy"],
            &format!("options = {{ variant = \"{variant}\" }}\n[play]\nbook = \"{book}\"\n{more}"),
        );
        let spec = world.write("read.toml", spec);
        let run = [
            "run", &spec, "--data", "read", "--again", "--output", "json",
        ];
        let id = world.arena(&run).ok().tournament_id();
        let plies = plies.unwrap_or(1000).to_string();
        let file = world.folder().join(book);
        let expected = script(
            "books.py",
            &[&file.display().to_string(), &plies, variant],
            "",
        );
        let expected = expected.as_array().expect("a list");
        assert!(expected.len() >= 30, "{book}: {}", expected.len());
        assert_eq!(&openings(&world, &id, "read"), expected, "{book}");
    }
}

#[test]
fn books_give_one_result_and_each_opening_once() {
    let world = world();
    for (name, book, order, size) in [
        ("epd", "positions.epd", "random", 150),
        ("pgn", "games.pgn", "random", 60),
        ("in-order", "positions.epd", "sequential", 150),
    ] {
        let plies = if book.ends_with("pgn") {
            "book_plies = 10\n"
        } else {
            ""
        };
        let play = format!("book = \"{book}\"\nbook_order = \"{order}\"\n{plies}");
        let spec = world.write(&format!("{name}.toml"), chess(size + 5, &play));
        let mut hashes = BTreeSet::new();
        let mut found = Vec::new();
        let mut id = String::new();
        for workers in ["1", "3"] {
            let data = format!("{name}-{workers}");
            let run = [
                "run",
                &spec,
                "--workers",
                workers,
                "--data",
                &data,
                "--output",
                "json",
            ];
            let ran = world.arena(&run).ok();
            id = ran.tournament_id();
            let note = &ran.json()["notes"][0];
            let note = note.as_str().expect("a note");
            assert!(
                note.contains(&format!("which has {size} openings")),
                "{note}"
            );
            assert!(
                note.contains(&format!("5 of {} blocks", size + 5)),
                "{note}"
            );
            let (hash, records) = lines(&world, &id, &data);
            hashes.insert(hash);
            found = records;
        }
        assert_eq!(hashes.len(), 1, "{name}");
        let given = openings(&world, &id, &format!("{name}-1"));
        let blocks = found.chunks(2).map(|block| {
            let both = [0, 1].map(|game| opening(&block[game]));
            assert_eq!(both[0], both[1], "{name}");
            json!(both[0])
        });
        let blocks: Vec<Value> = blocks.collect();
        let first = &blocks[..given.len()];
        let distinct: BTreeSet<_> = first.iter().map(Value::as_str).collect();
        assert_eq!(distinct.len(), given.len(), "{name}: each once");
        assert!(first.iter().all(|it| given.contains(it)), "{name}");
        assert_eq!(first == given, order == "sequential", "{name}");
        assert_eq!(
            blocks[given.len()..],
            blocks[..5],
            "{name}: then from the first on"
        );
    }
}

#[test]
fn games_of_a_book_are_shown_replayed_and_exported() {
    let world = world();
    let play = "book = \"positions.epd\"\nbook_order = \"sequential\"";
    let spec = world.write("shown.toml", chess(5, play));
    let run = ["run", &spec, "--data", "data", "--output", "json"];
    let id = world.arena(&run).ok().tournament_id();
    let text = world.arena(&["export", &id, "--data", "data"]).ok().stdout;
    let (_, records) = lines(&world, &id, "data");
    for (record, line) in records.iter().zip(text.lines()) {
        let game = record["game_id"].as_str().expect("an id");
        let fen = record["options"]["fen"].as_str().expect("a text");
        let data = ["--data", "data"];
        let shown = world
            .arena(&[&["game", "show", game][..], &data].concat())
            .ok();
        assert!(
            shown.stdout.contains(&format!("  start: {fen}\n")),
            "{}",
            shown.stdout
        );
        for command in ["replay", "rerun"] {
            let again = ["game", command, game, "--output", "json"];
            let again = world.arena(&[&again[..], &data].concat()).ok();
            assert_eq!(again.stdout.trim(), line, "{command}");
        }
    }
    let line = text.lines().next().expect("a game");
    let file = world.write("game.json", line);
    for command in ["replay", "rerun"] {
        let again = world
            .arena(&["game", command, "--file", &file, "--output", "json"])
            .ok();
        assert_eq!(again.stdout.trim(), line, "{command}");
    }
    let fen = records[0]["options"]["fen"].as_str().expect("a text");
    let other = records[2]["options"]["fen"].as_str().expect("a text");
    let forged = world.write("forged.json", line.replace(fen, other));
    for command in ["replay", "rerun"] {
        let _ = world
            .arena(&["game", command, "--file", &forged])
            .fails(3, &["hash"]);
    }
    let pgn = world
        .arena(&["export", &id, "--data", "data", "--format", "pgn"])
        .ok()
        .stdout;
    let read = script("games.py", &[], &pgn);
    let expected = records.iter().map(|record| {
        let events = record["events"].as_array().expect("events").iter();
        let moves: Vec<_> = events.map(|event| &event["move"]).collect();
        json!({ "fen": record["options"]["fen"], "moves": moves })
    });
    assert_eq!(read, expected.collect::<Value>());
}

#[test]
fn books_of_other_games_are_lines_of_moves() {
    let world = World::new();
    let _ = world.write("book.txt", "# Kalah\n2 5\n0\n3 3\n");
    let play = "[play]\nbook = \"book.txt\"\nbook_order = \"sequential\"";
    let text = spec("lines", "kalah", 3, &["random", "greedy"], play);
    let path = world.write("lines.toml", text);
    let run = ["run", &path, "--data", "data", "--output", "json"];
    let id = world.arena(&run).ok().tournament_id();
    let (_, records) = lines(&world, &id, "data");
    let found = records.iter().map(|record| {
        let events = record["events"].as_array().expect("events").iter();
        let moves = events.filter(|event| event["opening"] == true);
        let moves: Vec<_> = moves
            .map(|it| it["move"].as_str().expect("a move"))
            .collect();
        moves.join(" ")
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, ["2 5", "2 5", "0", "0", "3 3", "3 3"]);
}

#[test]
fn stored_hashes_and_agent_processes_give_the_same_games() {
    let world = world();
    let play = "book = \"chess960.epd\"\nbook_order = \"sequential\"";
    let text = chess(3, play).replace("{ max", "{ variant = \"chess960\", max");
    let short = text.replace("options = {", "records = \"hash\"\noptions = {");
    let mut hashes = BTreeSet::new();
    for (data, text, more) in [
        ("whole", &text, &[][..]),
        ("processes", &text, &["--builtin", "process"]),
        ("short", &short, &[]),
    ] {
        let spec = world.write(&format!("{data}.toml"), text);
        let run = ["run", &spec, "--data", data, "--output", "json"];
        let id = world.arena(&[&run, more].concat()).ok().tournament_id();
        let export = ["export", &id, "--data", data, "--records", "hash"];
        let text = world.arena(&export).ok().stdout;
        let records = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a record"));
        let records: Vec<Value> = records.collect();
        let all = records
            .iter()
            .map(|it| it["hash"].as_str().expect("a hash").to_owned());
        hashes.insert(all.collect::<Vec<_>>());
        let starts: BTreeSet<_> = records
            .iter()
            .map(|it| it["options"]["fen"].as_str())
            .collect();
        assert_eq!(starts.len(), 3, "{starts:?}");
        for record in &records {
            assert_eq!(record["options"]["start"], 518, "{record}");
            let game = record["game_id"].as_str().expect("an id");
            let _ = world.arena(&["game", "rerun", game, "--data", data]).ok();
        }
    }
    assert_eq!(hashes.len(), 1);
}

/// An agent that needs all moves of a game.
const STICKY: &str = "
bot['rulesets'] = ['chess']
plain = say
def say(message):
    plain({**message, 'sticky': True} if message['type'] == 'hello' else message)
before = choose
def choose(decision):
    if len(decision['moves']) != decision['position']['plies']:
        sys.exit('moves are missing')
    return before(decision)
";

#[test]
fn sticky_agents_get_the_moves_since_the_opening() {
    let world = World::with_python();
    let _ = changed_agent(&world, STICKY);
    let register = [
        "agent", "register", "mine", "--binary", "agent.py", "--data", "data",
    ];
    let _ = world.arena(&register).ok();
    for book in ["positions.epd", "games.pgn"] {
        let _ = world.write(book, data(book));
        let text = chess(2, &format!("book = \"{book}\"")).replace("greedy", "mine");
        let spec = world.write(&format!("{book}.toml"), text);
        let run = ["run", &spec, "--data", "data", "--output", "json"];
        let run = world.arena(&run).ok();
        assert!(!run.stderr.contains("ERROR"), "{}", run.stderr);
        let agents = run.json()["agents"].as_array().expect("a list").clone();
        assert!(
            agents.iter().all(|agent| agent["faults"] == 0),
            "{agents:?}"
        );
    }
}

#[test]
fn agents_that_repeat_play_each_opening_once() {
    let world = World::new();
    let _ = world.write("book.txt", "0\n1\n2\n3\n");
    let text = "name = \"once\"\nruleset = \"kalah\"\nseed = 1\nformat = \"sprt\"\nblocks = 50\n\
                agents = [\"d2\", \"d4\"]\n\
                [[agent]]\nname = \"d2\"\nbot = \"kalah-alphabeta\"\noptions = { depth = 2 }\n\
                [[agent]]\nname = \"d4\"\nbot = \"kalah-alphabeta\"\noptions = { depth = 4 }\n\
                [play]\nbook = \"book.txt\"\n";
    let spec = world.write("once.toml", text);
    let ran = world
        .arena(&["run", &spec, "--data", "data", "--output", "json"])
        .ok();
    let standings = ran.json();
    assert_eq!(standings["verdict"]["kind"], "inconclusive", "{standings}");
    let pair = &standings["pairs"][0];
    let found = ["blocks", "blocks_played"].map(|key| pair[key].as_u64());
    assert_eq!(found, [Some(4), Some(4)], "{pair}");
    let openings = json!({ "plies": 0, "size": 4, "complete": false, "from_book": true });
    assert_eq!(standings["openings"], openings);
}

#[test]
fn one_game_starts_from_an_opening_that_its_seed_draws() {
    let world = world();
    let play = |book: &str, seed: &str, more: &[&str]| {
        let command = [
            &[
                "play",
                "--ruleset",
                "chess",
                "--seats",
                "greedy,random",
                "--book",
                book,
            ][..],
            &["--seed", seed, "--output", "json"],
            more,
        ];
        let record = world.arena(&command.concat()).ok().stdout;
        let replayed = world.write("played.json", &record);
        let _ = world.arena(&["game", "replay", "--file", &replayed]).ok();
        opening(&serde_json::from_str(&record).expect("a record"))
    };
    for (book, more) in [
        ("positions.epd", &["--option", "max_plies=20"][..]),
        ("games.pgn", &["--book-plies", "6"]),
        ("chess960.epd", &["--option", "variant=chess960"]),
    ] {
        let path = world.folder().join(book);
        let path = path.to_str().expect("UTF-8");
        let drawn = ["1", "2", "3"].map(|seed| play(path, seed, more));
        let distinct: BTreeSet<_> = drawn.iter().collect();
        assert!(
            distinct.len() > 1 && !distinct.contains(&String::new()),
            "{drawn:?}"
        );
        assert_eq!(play(path, "1", more), drawn[0]);
    }
}

#[test]
fn wrong_books_are_refused() {
    let world = world();
    let _ = world.write(
        "over.epd",
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -\n",
    );
    let _ = world.write("moves.txt", "0 1\n");
    let run = |ruleset: &str, play: &str, words: &[&str]| {
        let text = spec("wrong", ruleset, 1, &["random", "greedy"], play);
        let spec = world.write("wrong.toml", text);
        for command in [
            &["run"][..],
            &["tournament", "plan"],
            &["tournament", "start"],
        ] {
            let failed = world.arena(&[command, &[&spec, "--data", "data"]].concat());
            let _ = failed.fails(2, words);
        }
    };
    let book = "[play]\nbook = \"positions.epd\"\n";
    run(
        "chess",
        "[play]\nbook = \"none.epd\"",
        &["none.epd", "cannot read it"],
    );
    run(
        "chess",
        "[play]\nbook = \"over.epd\"",
        &["over.epd:1: the game is over"],
    );
    run("kalah", book, &["EPD and PGN are formats for chess"]);
    run(
        "cowry",
        "[play]\nbook = \"moves.txt\"",
        &["moves.txt:1: the game has chance"],
    );
    run(
        "chess",
        &format!("{book}opening_plies = 3"),
        &["exclude each other"],
    );
    run(
        "chess",
        &format!("{book}book_order = \"alphabetic\""),
        &["random", "sequential"],
    );
    run(
        "chess",
        "[play]\nbook_plies = 3",
        &["book_plies needs book"],
    );
    run(
        "chess",
        "[play]\nbook_order = \"sequential\"",
        &["book_order needs book"],
    );
    run("chess", "[play]\nbook = 3", &["must be the path of a file"]);
    run("chess", "[play]\nbook = []", &["the book has no opening"]);
    run(
        "chess",
        "[play]\nbook = [\"e4 e4\"]",
        &["opening 1: \"e4\" is not a legal move after e4"],
    );
    run(
        "chess",
        "[play]\nbook = [\"e4\", \"e2e4\"]",
        &["openings 1 and 2 lead to the same position"],
    );
    let fen = "options = { fen = \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\" }\n";
    run(
        "chess",
        &format!("{fen}{book}"),
        &["book in [play]: it has start positions, as option fen"],
    );
}
