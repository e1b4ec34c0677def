//! Records: their dice are checked against their seed, and one line is enough to play its game
//! again.

use std::path::Path;

use arena_store::{Change, Collection, Options, SledStore, Store, StoredGame};
use arena_tests::{World, sha256, spec};
use arena_wire::v1;
use prost::Message;
use serde_json::Value;

/// The line with the hash of its content.
pub(crate) fn sealed(line: &str) -> String {
    let (content, _) = line.rsplit_once(",\"hash\":").expect("a hash");
    format!(
        "{content},\"hash\":\"{}\"}}",
        sha256(&format!("{content}}}"))
    )
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// The line of a game with the index, the block and the seed of another game.
fn renamed(line: &str, of: &Value, to: &Value) -> String {
    let head = |game: &Value| {
        format!(
            "{{\"game_id\":\"{}\",\"index\":{},\"block\":{},",
            text(&game["game_id"]),
            game["index"],
            game["block"]
        )
    };
    let line = line.replacen(&head(of), &head(to), 1);
    let line = line.replacen(text(&of["seed"]), text(&to["seed"]), 1);
    sealed(&line)
}

/// Copies a store, and changes its tournaments and games with these functions.
pub(crate) fn copy_store(
    from: &Path,
    to: &Path,
    document: impl Fn(&mut v1::Tournament),
    change: impl Fn(&mut StoredGame),
) {
    let open = |path| SledStore::open(path, &Options::default()).expect("a store");
    let (old, new) = (open(from), open(to));
    let mut tournaments = Vec::new();
    for collection in Collection::ALL {
        let documents = old.list(collection).expect("documents");
        for (key, mut value) in documents {
            if collection == Collection::Tournaments {
                tournaments.push(key.clone());
                let mut changed = v1::Tournament::decode(&value[..]).expect("a tournament");
                document(&mut changed);
                value = changed.encode_to_vec();
            }
            let value = Some(value);
            let change = Change {
                collection,
                key,
                value,
            };
            new.put_many(vec![change]).expect("space");
        }
    }
    for tournament in tournaments {
        let mut games = Vec::new();
        old.scan(&tournament, &mut |game| games.push(game))
            .expect("games");
        games.iter_mut().for_each(&change);
        new.append_and_wait(games).expect("space");
    }
}

/// Each change keeps the line well-formed, and gives it the hash of its content.
#[test]
fn impossible_faults_and_ends_are_refused() {
    let world = World::new();
    let spec = spec("faults", "oware-abapa", 4, &["random", "greedy"], "");
    let (_, _, games) = world.tournament(&spec, "data", &[]);
    let line = games.text.lines().nth(5).expect("a game");
    let game = &games.games[5];
    let plies = game["plies"].as_u64().expect("a number");
    let end = "\"termination\":\"normal\"";
    let fault = |seat: u64, ply: u64| {
        format!("\"fault\":[{{\"ply\":{ply},\"seat\":{seat},\"kind\":\"crash\"}}]")
    };
    assert!(
        line.contains("\"fault\":null") && line.contains(end),
        "{line}"
    );
    let forfeit = |fault: String| {
        line.replacen("\"fault\":null", &fault, 1)
            .replacen(end, "\"termination\":\"forfeit\"", 1)
    };
    let forged = [
        (
            "far",
            forfeit(fault(7, 9999)),
            "crash of seat 7 at ply 9999",
        ),
        ("goes-on", forfeit(fault(1, 3)), "it ends the game"),
        ("other-seat", forfeit(fault(0, 3)), "seat 1 decides"),
        ("end", forfeit(fault(0, plies)), "no seat decides"),
        (
            "replaced",
            line.replacen("\"fault\":null", &fault(1, 3), 1),
            "termination",
        ),
        (
            "no-fault",
            line.replacen(end, "\"termination\":\"forfeit\"", 1),
            "termination",
        ),
        (
            "block",
            line.replacen(&format!("\"block\":{}", game["block"]), "\"block\":77", 1),
            "block is 77",
        ),
        (
            "option",
            line.replacen("\"skip_origin\":true,", "", 1)
                .replacen(",\"skip_origin\":true", "", 1),
            "option \"skip_origin\" is missing",
        ),
    ];
    for (name, forged, said) in forged {
        assert_ne!(forged, line, "{name} changes it");
        let file = world.write(&format!("{name}.json"), sealed(&forged));
        world
            .arena(&["game", "replay", "--file", &file])
            .fails(3, &[said]);
    }
}

#[test]
fn wrong_dice_are_refused() {
    for (name, ruleset, agents) in [
        ("dice", "cowry", ["random", "aggressive"]),
        ("ludo", "chinese-ludo", ["random", "ludo-threat"]),
    ] {
        let world = World::new();
        let spec = spec(name, ruleset, 2, &agents, "");
        let (id, _, games) = world.tournament(&spec, "data", &[]);
        let lines: Vec<&str> = games.text.lines().collect();
        let (first, third) = (&games.games[0], &games.games[2]);
        assert_eq!(first["seats"], third["seats"]);
        let forged = renamed(lines[0], first, third);
        let file = world.write("forged.json", &forged);
        let said = ["ply ", "the seed draws \"", "the record has \""];
        world
            .arena(&["game", "replay", "--file", &file])
            .fails(3, &said);
        // The unchanged text has its hash, and replays.
        let file = world.write("same.json", sealed(lines[0]));
        let _ = world.arena(&["game", "replay", "--file", &file]).ok();

        let forged: Value = serde_json::from_str(&forged).expect("JSON");
        let packed = |index: u64, store: &Path| {
            let store = SledStore::open(store, &Options::default()).expect("a store");
            store.game(&id, index).expect("readable").expect("there")
        };
        let data = world.folder().join("data");
        let donor = packed(0, &data);
        let forged_store = world.folder().join("forged");
        copy_store(
            &data,
            &forged_store,
            |_| {},
            |game| {
                if game.index != 2 {
                    return;
                }
                let read =
                    |game: &StoredGame| v1::GameRecord::decode(&game.record[..]).expect("packed");
                let own = read(game);
                let record = v1::GameRecord {
                    index: own.index,
                    block: own.block,
                    seed: own.seed,
                    ..read(&donor)
                };
                game.record = record.encode_to_vec();
                hex::decode_to_slice(text(&forged["hash"]), &mut game.hash).expect("a hash");
            },
        );
        let game = format!("{id}/2");
        let named = [&[game.as_str()], &said[..]].concat();
        let at = ["--data", "forged"];
        world
            .arena(&[&["store", "verify"], &at[..]].concat())
            .fails(3, &named);
        for arguments in [["game", "replay", &game], ["game", "rerun", &game]] {
            world
                .arena(&[&arguments[..], &at[..]].concat())
                .fails(3, &named);
        }
        world
            .arena(&[&["report", &id, "--markdown"], &at[..]].concat())
            .fails(3, &named);
        let others = format!("{id}/1");
        let _ = world
            .arena(&[&["game", "replay", &others], &at[..]].concat())
            .ok();
        let verified = world
            .arena(&["store", "verify", "--data", "data", "--output", "json"])
            .ok()
            .json();
        let count = games.games.len();
        assert_eq!(verified["records"]["records"], count, "{verified}");
        assert_eq!(verified["records"]["unsound"], 0, "{verified}");
        world.nothing_runs();
    }
}

/// A tournament of variants with an opening.
fn variants(name: &str, more: &str) -> String {
    let tables = "[play]\nopening_plies = 3\non_fault = \"random-move\"\n\n\
                  [[agent]]\nname = \"deep\"\nbot = \"kalah-alphabeta\"\noptions = { depth = 3 }\n";
    spec(
        name,
        "kalah",
        2,
        &["deep", "random"],
        &format!("{more}\n{tables}"),
    )
}

#[test]
fn line_alone_plays_its_game_again() {
    let world = World::new();
    let (id, _, games) = world.tournament(&variants("alone", ""), "data", &[]);
    for game in &games.games {
        assert_eq!(game["record"], 2, "{game}");
        let seats = game["seats"].as_array().expect("seats");
        for (name, agent) in seats.iter().zip(game["agents"].as_array().expect("agents")) {
            assert_eq!(agent["program"], "native", "{game}");
            match text(name) {
                "deep" => {
                    assert_eq!(agent["bot"], "kalah-alphabeta");
                    assert_eq!(agent["options"]["depth"], 3);
                }
                name => assert_eq!(agent["bot"], name),
            }
        }
        assert_eq!(game["play"]["on_fault"], "random-move");
    }
    let short = ["export", &id, "--data", "data", "--records", "hash"];
    let short = world.arena(&short).ok().stdout;
    let spec = world.write("short.toml", variants("alone", "records = \"hash\""));
    let run = ["run", &spec, "--data", "short", "--output", "json"];
    assert_eq!(world.arena(&run).ok().tournament_id(), id);
    let kept = ["export", &id, "--data", "short", "--records", "hash"];
    assert_eq!(world.arena(&kept).ok().stdout, short, "an opening is kept");

    // In another folder, without a store or a coordinator.
    let elsewhere = World::new();
    for lines in [&games.text, &short] {
        let file = elsewhere.write("games.jsonl", lines);
        let again = ["game", "rerun", "--file", &file, "--output", "jsonl"];
        assert_eq!(elsewhere.arena(&again).ok().stdout, games.text);
    }
    // With another search depth, the same line gives another game.
    let found = games.text.lines().any(|line| {
        let line = sealed(&line.replacen("\"depth\":3", "\"depth\":1", 1));
        let file = elsewhere.write("other.jsonl", line);
        let again = elsewhere.arena(&["game", "rerun", "--file", &file]);
        again.code == Some(3) && again.stderr.contains("differs: expected")
    });
    assert!(found, "depth 1 plays all games as depth 3 does");
    // Another opening makes another game, which only its hash shows.
    let line = short.lines().next().expect("a game");
    let (head, opening) = line.split_once("\"opening\":[").expect("an opening");
    let (_, tail) = opening.split_once(']').expect("a list");
    let file = elsewhere.write("unopened.jsonl", format!("{head}\"opening\":[]{tail}"));
    elsewhere
        .arena(&["game", "rerun", "--file", &file])
        .fails(3, &["the hash of the rerun is"]);
    let file = elsewhere.write("illegal.jsonl", format!("{head}\"opening\":[77]{tail}"));
    elsewhere
        .arena(&["game", "rerun", "--file", &file])
        .fails(3, &["action 77 is not legal"]);
    elsewhere.nothing_runs();
}

#[test]
fn registered_program_is_known_by_content() {
    let world = World::new();
    let program = arena_tests::arena();
    let program = program.to_str().expect("a path");
    let register = [
        "agent", "register", "served", "--binary", program, "--bot", "greedy", "--data", "data",
        "--", "agent", "serve",
    ];
    let _ = world.arena(&register).ok();
    let spec = spec("program", "kalah", 1, &["served", "random"], "");
    let (_, _, games) = world.tournament(&spec, "data", &[]);
    let line = games.text.lines().next().expect("a game");
    let file = world.write("game.json", line);
    let rerun = ["game", "rerun", "--file", &file];
    world
        .arena(&rerun)
        .fails(2, &["agent served", "--agent served=PATH", "--data"]);
    let other = world.write("other", "#!/bin/sh\n");
    let given = format!("served={other}");
    world
        .arena(&[&rerun[..], &["--agent", &given]].concat())
        .fails(2, &["SHA-256 is", "was played by"]);
    let given = format!("served={program}");
    for more in [["--agent", given.as_str()], ["--data", "data"]] {
        let again = [&rerun[..], &more, &["--output", "json"]].concat();
        assert_eq!(world.arena(&again).ok().stdout.trim(), line);
    }
    world.nothing_runs();
}

/// The line in the format before records named their agents.
fn of_version_1(line: &str) -> String {
    let (head, tail) = line.split_once(",\"agents\":[").expect("agents");
    let (_, tail) = tail.split_once(",\"events\":").expect("events");
    let line = format!("{head},\"events\":{tail}");
    sealed(&line.replacen(",\"record\":2", "", 1))
}

#[test]
fn old_tournament_keeps_its_lines() {
    let world = World::new();
    let spec = variants("before", "");
    let (id, _, games) = world.tournament(&spec, "data", &[]);
    let old: Vec<String> = games.text.lines().map(of_version_1).collect();
    let from = world.folder().join("data");
    copy_store(
        &from,
        &world.folder().join("old"),
        |document| {
            let setup = document.setup.as_mut().expect("a setup");
            setup.play_json.clear();
            setup
                .agents
                .iter_mut()
                .for_each(|agent| agent.record_json.clear());
        },
        |game| {
            let line: Value = serde_json::from_str(&old[game.index as usize]).expect("JSON");
            hex::decode_to_slice(text(&line["hash"]), &mut game.hash).expect("a hash");
        },
    );
    let exported = world.export(&id, ["--data", "old"]);
    assert_eq!(exported.text.lines().collect::<Vec<_>>(), old);
    let _ = world.arena(&["store", "verify", "--data", "old"]).ok();
    let game = format!("{id}/1");
    for command in ["replay", "rerun"] {
        let _ = world.arena(&["game", command, &game, "--data", "old"]).ok();
    }
    let file = world.write("old.json", &old[1]);
    let _ = world.arena(&["game", "replay", "--file", &file]).ok();
    world
        .arena(&["game", "rerun", "--file", &file])
        .fails(2, &["version 1", "--data"]);
    world.nothing_runs();
}
