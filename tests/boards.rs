//! Boards of rules that are a package, on terminals and on web pages.

use std::{fs, io::Write, process::Stdio};

use arena_tests::{Server, World, arena, repository, spec};

use crate::web::{WEB, get, page};

/// Registers rules whose boards have this problem.
fn register(world: &World, url: &str, mode: &str) {
    let folder = world.folder().join("drawing");
    if !folder.exists() {
        fs::create_dir(&folder).expect("a folder");
        let copy = |from: &str, name: &str| {
            fs::copy(repository().join(from), folder.join(name)).expect(from);
        };
        copy("tests/data/drawing_rules.py", "game.py");
        copy("services/games/kits/python/arena_game.py", "arena_game.py");
        let manifest = "command = [\"python3\", \"game.py\"]\n";
        fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
    }
    let package = ["rulesets", "register", mode, "--package", "drawing"];
    let of = ["--coordinator", url, "--", mode];
    let _ = world.arena(&[&package[..], &of].concat()).ok();
}

fn started(world: &World) -> (Server, Server) {
    let coordinator = world.coordinator("data", &WEB);
    let worker = world.worker(&coordinator, &[]);
    (coordinator, worker)
}

/// Plays two games by these rules, and returns the id of the tournament.
fn played(world: &World, url: &str, mode: &str) -> String {
    register(world, url, mode);
    let text = spec(mode, mode, 1, &["random", "second"], "");
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let id = world.start_tournament(mode, &text, url);
    world.finish_tournament(&id, url);
    let standings = world.standings(&id, ["--coordinator", url]);
    assert_eq!(standings["state"], "finished", "{standings}");
    for agent in standings["agents"].as_array().expect("agents") {
        let charged = (&agent["faults"], &agent["voids"]);
        assert_eq!(charged, (&0.into(), &0.into()), "{agent}");
    }
    id
}

/// The pictures of a page, decoded.
fn pictures(page: &str) -> Vec<String> {
    let urls = page.split("src=\"data:image/svg+xml;base64,").skip(1);
    let decoded = urls.map(|url| {
        let text = url.split('"').next().unwrap_or_default();
        String::from_utf8(base64(text)).expect("UTF-8")
    });
    decoded.collect()
}

fn base64(text: &str) -> Vec<u8> {
    let letters = (b'A'..=b'Z')
        .chain(b'a'..=b'z')
        .chain(b'0'..=b'9')
        .chain(*b"+/");
    let letters: Vec<u8> = letters.collect();
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.trim_end_matches('=').bytes() {
        let value = letters.iter().position(|&it| it == letter).expect("base64");
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

#[test]
fn boards_of_a_package_are_drawn() {
    let world = World::with_python();
    let (coordinator, worker) = started(&world);
    let (url, web) = (coordinator.url(), coordinator.web_address().to_owned());
    let id = played(&world, &url, "none");
    for (query, moves) in [("?ply=0", 0), ("?ply=3", 3), ("", 6), ("?ply=6", 6)] {
        let shown = page(&web, &format!("/t/{id}/games/1{query}"));
        let text = format!("moves so far: {moves}");
        assert_eq!(shown.matches(&text).count(), 1, "{query}: {shown}");
        let pictures = pictures(&shown);
        assert_eq!(pictures.len(), 1, "{shown}");
        assert!(
            pictures[0].contains(&format!("moves-{moves}")),
            "{pictures:?}"
        );
    }

    let of = ["--coordinator", &*url];
    let game = format!("{id}/1");
    let boards = |text: &str| text.matches("moves so far: ").count();
    let arena = |arguments: &[&str]| world.arena(&[arguments, &of].concat()).ok().stdout;
    let shown = arena(&["game", "show", &game]);
    assert!(
        boards(&shown) == 1 && shown.contains("moves so far: 6"),
        "{shown}"
    );
    assert_eq!(boards(&arena(&["game", "show", &game, "--watch"])), 7);
    let play = ["play", "--ruleset", "none", "--seed", "7"];
    let seats = ["--seats", "random,other=random", "--watch"];
    assert_eq!(boards(&arena(&[&play[..], &seats].concat())), 7);

    let report = [&["report", &*id, "--html", "-"], &of[..]].concat();
    let report = world.arena(&report).ok().stdout;
    assert!(report.contains("moves so far: 4"), "{report}");

    // Without a worker, the page has the moves and a note.
    worker.stop();
    let shown = page(&web, &format!("/t/{id}/games/1"));
    assert!(shown.contains("no connected worker can start"), "{shown}");
    assert!(
        shown.contains("left") && pictures(&shown).is_empty(),
        "{shown}"
    );
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn rules_without_boards_are_shown_by_their_moves() {
    let world = World::with_python();
    let (coordinator, worker) = started(&world);
    let (url, web) = (coordinator.url(), coordinator.web_address().to_owned());
    let id = played(&world, &url, "plain");
    // No worker is asked for what the rules do not have.
    worker.stop();
    let shown = page(&web, &format!("/t/{id}/games/1"));
    assert!(
        shown.contains("Board: the rules draw no boards."),
        "{shown}"
    );
    assert!(shown.contains("left"), "{shown}");
    let show = ["game", "show", &format!("{id}/1"), "--watch"];
    let shown = world.arena(&[&show[..], &["--coordinator", &url]].concat());
    let shown = shown.ok();
    let note = "no boards: the rules of plain draw none";
    assert!(shown.stderr.contains(note), "{}", shown.stderr);
    assert!(shown.stdout.contains("left"), "{}", shown.stdout);
}

#[test]
fn person_plays_by_rules_of_a_package() {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    register(&world, &url, "none");
    let mut command = world.command(arena());
    command.args([
        "play",
        "--ruleset",
        "none",
        "--seed",
        "7",
        "--seats",
        "human,random",
    ]);
    command.args(["--coordinator", &url]);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut playing = command.spawn().expect("arena");
    let mut typed = playing.stdin.take().expect("stdin");
    typed
        .write_all(b"?\nleft\nright\nleft\n")
        .expect("it reads");
    drop(typed);
    let played = playing.wait_with_output().expect("its output");
    let [shown, asked] = [&played.stdout, &played.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(
        shown.contains("ended after 6 plies: normal"),
        "{shown}\n{asked}"
    );
    assert!(shown.contains("human                right"), "{shown}");
    assert!(asked.contains("moves:\n"), "{asked}");
    assert!(asked.contains("moves: l"), "{asked}");
}

/// Boards that harm readers, or that take too much: the games count, no agent is charged, and the board
/// is left out with a note.
#[test]
fn harmful_boards_are_left_out() {
    let world = World::with_python();
    let (coordinator, worker) = started(&world);
    let (url, web) = (coordinator.url(), coordinator.web_address().to_owned());
    for (mode, board, note) in [
        (
            "escapes",
            "]0;ownedmoves so far: 6\n",
            "not printable ASCII",
        ),
        ("script", "moves so far: 6\n", ""),
        ("large", "", "1048"),
        ("error", "", "no paint is left"),
        ("hang", "", "it did not answer in time"),
        ("crash", "", "the brush broke"),
    ] {
        let id = played(&world, &url, mode);
        let answer = get(&web, &format!("/t/{id}/games/1"));
        assert_eq!(answer.status, 200, "{mode}: {}", answer.body);
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("script-src 'self'; img-src 'self' data:"),
            "{policy}"
        );
        for harmful in [
            "<script>",
            "alert",
            "http://127",
            "\u{1b}",
            "\u{202e}",
            "\u{7}",
            "xxxxx",
        ] {
            assert!(!answer.body.contains(harmful), "{mode}: {}", answer.body);
        }
        assert!(answer.body.contains(board), "{mode}: {}", answer.body);
        assert!(answer.body.contains(note), "{mode}: {}", answer.body);

        let show = [
            "game",
            "show",
            &format!("{id}/1"),
            "--watch",
            "--coordinator",
            &url,
        ];
        let shown = world.arena(&show).ok();
        for harmful in ['\u{1b}', '\u{202e}', '\u{7}'] {
            assert!(
                !shown.transcript().contains(harmful),
                "{}",
                shown.transcript()
            );
        }
        assert!(shown.stdout.contains("left"), "{mode}: {}", shown.stdout);
        match board {
            "" => assert!(shown.stdout.contains("(no board: "), "{}", shown.stdout),
            board => assert!(shown.stdout.contains(board), "{}", shown.stdout),
        }

        let check = ["rulesets", "check", "drawing", "--games", "2", "--", mode];
        let checked = world.arena(&check);
        match mode {
            // A picture runs no scripts.
            "script" => {
                let _ = checked.ok();
            }
            _ => {
                let checked = checked.fails(3, &[]).stdout;
                let mut failed = checked.lines().filter(|line| line.contains("FAILED"));
                let board = failed.next().expect("a failed step");
                assert!(
                    board.contains("board") && failed.next().is_none(),
                    "{checked}"
                );
                assert!(checked.contains(note), "{checked}");
            }
        }
    }
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}
