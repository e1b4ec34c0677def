//! Chess engines that speak UCI, as agents: `agents/uci`.

use std::{fs, path::Path, process::Command, thread, time::Duration};

use arena_tests::{World, python, repository, spec, until};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

/// A world with the engine of `tests/chess`, whose interpreter has the package `chess`.
fn world() -> (World, String) {
    let world = World::with_python();
    let engine = repository().join("tests/chess/engine.py");
    let engine = fs::read_to_string(engine).expect("the engine");
    let engine = world.write("engine.py", engine);
    let mut executable = Command::new("chmod");
    executable.args(["+x", &engine]);
    assert!(executable.status().expect("chmod").success());
    (world, engine)
}

fn register(world: &World, name: &str, engine: &str, more: &[&str]) {
    let register = ["agent", "register", name, "--uci", engine, "--data", "data"];
    let _ = world.arena(&[&register, more].concat()).ok();
}

/// The commands that the engine's processes got in their first game, without positions.
fn commands(output: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in fs::read_dir(output).expect("outputs") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("an output");
        let got = text.lines().filter_map(|line| line.strip_prefix("got "));
        found.extend(got.map(str::to_owned));
    }
    found
}

#[test]
fn engine_gets_options_positions_and_clock() {
    let (world, engine) = world();
    register(&world, "engine", &engine, &["--option", "skill_level=3"]);
    let more = "options = { variant = \"chess960\" }\n[play]\ntiming = \"strict\"\nclock = \"40/20s+0.1s\"";
    let spec = world.write(
        "match.toml",
        spec("match", "chess", 1, &["engine", "random"], more),
    );
    let played = world.arena(&[
        "run",
        &spec,
        "--data",
        "data",
        "--agent-output",
        "output",
        "--output",
        "json",
    ]);
    let standings = played.ok().json();
    assert_eq!(standings["games_clean"], standings["games"], "{standings}");
    let got = commands(&world.folder().join("output"));
    let first_of = |word: &str| {
        let found = got.iter().find(|command| command.starts_with(word));
        found
            .unwrap_or_else(|| panic!("no {word} in {got:?}"))
            .as_str()
    };
    assert_eq!(got[0], "uci");
    let set: Vec<&String> = { got.iter() }
        .filter(|it| it.starts_with("setoption"))
        .collect();
    assert_eq!(set[0], "setoption name UCI_Chess960 value true");
    assert_eq!(set[1], "setoption name Skill Level value 3");
    assert!(got.contains(&"ucinewgame".to_owned()) && got.contains(&"isready".to_owned()));
    assert!(first_of("position").starts_with("position fen "));
    let go: Vec<&str> = first_of("go").split(' ').collect();
    let named = |name: &str| {
        let place = go.iter().position(|word| *word == name).expect(name);
        go[place + 1].parse::<u64>().expect("a number")
    };
    assert!((1..=20_000).contains(&named("wtime")) && (1..=20_000).contains(&named("btime")));
    assert_eq!((named("winc"), named("binc")), (100, 100));
    assert!((1..=40).contains(&named("movestogo")));
    // The log has everything that is not part of the search.
    let logs = fs::read_dir(world.folder().join("output")).expect("outputs");
    let logs: String = logs
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("an output"))
        .collect();
    assert!(logs.contains("Test engine, for tests alone") && logs.contains("info string thinking"));
    assert!(!logs.contains("info depth"), "{logs}");
    world.nothing_runs();
}

#[test]
fn engine_without_clock_is_limited_by_nodes_depth_or_time() {
    for (option, play, expected) in [
        ("depth=0", "nodes = 500", "go nodes 500"),
        ("depth=4", "nodes = 500", "go nodes 500 depth 4"),
        ("depth=4", "", "go depth 4"),
        ("depth=0", "move_timeout = \"3s\"", "go movetime 2850"),
    ] {
        let (world, engine) = world();
        register(&world, "engine", &engine, &["--option", option]);
        let more = format!("[play]\n{play}");
        let spec = world.write(
            "match.toml",
            spec("match", "chess", 1, &["engine", "random"], &more),
        );
        let played = world.arena(&["run", &spec, "--data", "data", "--agent-output", "output"]);
        let _ = played.ok();
        let got = commands(&world.folder().join("output"));
        let searches: Vec<_> = { got.iter() }.filter(|it| it.starts_with("go")).collect();
        assert!(!searches.is_empty());
        assert!(
            searches.iter().all(|it| *it == expected),
            "{expected}: {searches:?}"
        );
    }
}

#[test]
fn program_that_speaks_no_uci_is_refused() {
    let world = World::new();
    for (program, more, problem) in [
        ("/bin/true", &[][..], "it ended"),
        ("/bin/echo", &["--", "hello"][..], "it ended"),
        ("/bin/cat", &["--start-timeout", "1"][..], "within"),
    ] {
        let start = [
            "agent", "register", "none", "--uci", program, "--data", "data",
        ];
        let refused = world.arena(&[&start[..], more].concat());
        let check = ["agent", "check", "--uci", program];
        let checked = world.arena(&[&check[..], more].concat());
        for (shown, code) in [(refused, 2), (checked, 3)] {
            let shown = shown.fails(code, &["uci", "uciok", problem]).transcript();
            for words in [
                "plays every ruleset",
                "hello on",
                "ARENA_LISTEN",
                "agents/PROTOCOL.md",
            ] {
                assert!(!shown.contains(words), "{words}: {shown}");
            }
        }
    }
    let listed = world.arena(&["agent", "list", "--data", "data"]).ok();
    assert!(!listed.stdout.contains("none"), "{}", listed.stdout);
}

#[test]
fn faults_of_an_engine_are_named() {
    for (mode, fault) in [
        ("crash", "crash"),
        ("resign", "illegal_move"),
        ("hang", "timeout"),
    ] {
        let (world, engine) = world();
        register(&world, mode, &engine, &["--", mode]);
        let more = "[play]\nmove_timeout = \"1s\"";
        let spec = world.write(
            "match.toml",
            spec(mode, "chess", 1, &[mode, "random"], more),
        );
        let played = world.arena(&["run", &spec, "--data", "data", "--output", "json"]);
        let standings = played.fails(1, &["ended with a fault"]).json();
        let agents = standings["agents"].as_array().expect("agents");
        let engine = agents.iter().find(|agent| agent["agent"] == mode);
        let engine = engine.unwrap_or_else(|| panic!("{mode} is not in {standings}"));
        assert_eq!(engine["faults"], 2, "{standings}");
        assert_eq!(engine["faults_by_kind"], json!({ fault: 2 }), "{standings}");
        world.nothing_runs();
    }
}

/// Debian's Stockfish, if it is installed.
#[expect(clippy::print_stderr, reason = "the output names what is skipped")]
fn stockfish() -> Option<&'static str> {
    let mut known = ["/usr/games/stockfish", "/usr/bin/stockfish"].into_iter();
    let found = known.find(|path| Path::new(path).exists());
    if found.is_none() {
        eprintln!("skipped: stockfish is not installed: tests/setup installs it on Debian");
    }
    found
}

/// The logs of the engine's processes, in the order of their first searches.
fn logs(world: &World) -> Vec<String> {
    let Ok(files) = fs::read_dir(world.folder().join("output")) else {
        return Vec::new();
    };
    let read = |file: Result<fs::DirEntry, _>| fs::read_to_string(file.ok()?.path()).ok();
    let mut logs: Vec<String> = files.filter_map(read).collect();
    logs.sort_by(|one, other| times(one).partial_cmp(&times(other)).expect("numbers"));
    logs
}

/// What a log says about each search: its time, and the cores that it may use.
fn searches(log: &str) -> impl DoubleEndedIterator<Item = (f64, &str)> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("at "));
    lines.filter_map(|line| {
        let (time, cores) = line.split_once(" on cores ")?;
        Some((time.parse().ok()?, cores))
    })
}

fn times(log: &str) -> Vec<f64> {
    searches(log).map(|(time, _)| time).collect()
}

/// The positions that a log has, as its lines.
fn positions(log: &str) -> Vec<&str> {
    let lines = log.lines();
    lines
        .filter(|line| line.starts_with("got position"))
        .collect()
}

/// The process of an engine, without its adapter and guard.
fn engine_process(world: &World, name: &str) -> Option<i32> {
    let is_engine = |line: &str| line.contains(name) && !line.contains(" agent ");
    let mut running = world.processes().into_iter();
    Some(running.find(|(_, line)| is_engine(line))?.0)
}

fn kill_engine(world: &World, name: &str) {
    let id = until("an engine", || engine_process(world, name));
    kill(Pid::from_raw(id), Signal::SIGKILL).expect("it runs");
}

const SLOW: [&str; 2] = ["--", "slow"];

#[test]
fn killed_engine_goes_on_with_its_game() {
    let (world, engine) = world();
    let more = "options = { max_plies = 50 }\n[play]\nreplicas = 1";
    let text = spec("killed", "chess", 1, &["engine", "random"], more);
    let path = world.write("killed.toml", text);
    let run = |data| {
        [
            "run",
            &path,
            "--data",
            data,
            "--workers",
            "1",
            "--output",
            "json",
        ]
    };
    let register = |data| {
        let register = [
            "agent", "register", "engine", "--uci", &engine, "--data", data,
        ];
        let _ = world.arena(&[&register[..], &SLOW].concat()).ok();
    };
    register("calm");
    let id = world.arena(&run("calm")).ok().tournament_id();
    register("disturbed");
    let output = ["--agent-output", "output"];
    let running = world.start(&[&run("disturbed")[..], &output].concat());
    let is_halfway = || logs(&world).iter().any(|log| times(log).len() >= 6);
    until("the middle of a game", || is_halfway().then_some(()));
    kill_engine(&world, "engine.py slow");
    let standings = running.output().ok().json();
    assert_eq!(standings["games_clean"], 2, "{standings}");
    let logs = logs(&world);
    let [killed, next] = &logs[..] else {
        panic!("{} processes: {logs:?}", logs.len());
    };
    // The position at which it was killed, or the next one: the moves so far are not lost.
    let (before, after) = (positions(killed), positions(next));
    assert!(
        before.len() >= 6 && !after[0].contains("w KQkq - 0 1"),
        "{logs:?}"
    );
    assert!(!before[..before.len() - 1].contains(&after[0]), "{logs:?}");
    let [calm, disturbed] = ["calm", "disturbed"].map(|data| world.export(&id, ["--data", data]));
    assert_eq!(calm.difference(&disturbed), None);
    world.nothing_runs();
}

#[test]
fn killed_stockfish_goes_on_with_its_game() {
    let Some(engine) = stockfish() else { return };
    let world = World::new();
    register(&world, "fish", engine, &[]);
    let more = "options = { max_plies = 60 }\n[play]\ntiming = \"strict\"\nmove_time = \"40ms\"\nreplicas = 1";
    let text = spec("killed", "chess", 1, &["fish", "random"], more);
    let path = world.write("killed.toml", text);
    let run = [
        "run",
        &path,
        "--data",
        "data",
        "--workers",
        "1",
        "--output",
        "json",
    ];
    let running = world.start(&run);
    let engine = || engine_process(&world, "stockfish");
    let first = until("an engine", engine);
    thread::sleep(Duration::from_millis(500));
    kill_engine(&world, "stockfish");
    let _ = until("another engine", || engine().filter(|it| *it != first));
    let output = running.output();
    let standings = output.json();
    assert_eq!(standings["games"], 2, "{}", output.transcript());
    let agents = standings["agents"].as_array().expect("agents");
    for agent in agents {
        let most = u64::from(agent["agent"] == "fish");
        assert!(agent["faults"].as_u64() <= Some(most), "{standings}");
    }
    world.nothing_runs();
}

#[test]
fn engine_plays_several_games_at_once() {
    let (world, engine) = world();
    register(&world, "engine", &engine, &SLOW);
    let more = "options = { max_plies = 30 }\n[play]\nreplicas = 2";
    let text = spec("several", "chess", 3, &["engine", "random"], more);
    let output = ["--workers", "1", "--agent-output", "output"];
    let (_, standings, games) = world.tournament(&text, "data", &output);
    assert_eq!(standings["games_clean"], 6, "{standings}");
    assert_eq!(games.games.len(), 6);
    let logs = logs(&world);
    let [one, other] = &logs[..] else {
        panic!("{} processes", logs.len());
    };
    let games = |log: &str| log.matches("got ucinewgame").count();
    assert_eq!(games(one) + games(other), 6, "{logs:?}");
    // Both search for moves of games at the same time.
    let (end, start) = (times(one).pop(), times(other).first().copied());
    assert!(end > start, "{logs:?}");
    world.nothing_runs();
}

#[test]
fn strictly_timed_engine_has_a_core_of_its_own() {
    let (world, engine) = world();
    register(&world, "engine", &engine, &[]);
    let more = "options = { max_plies = 20 }\n[play]\ntiming = \"strict\"\nmove_time = \"500ms\"";
    let text = spec("strict", "chess", 1, &["engine", "random"], more);
    let output = ["--workers", "1", "--agent-output", "output"];
    let (_, standings, _) = world.tournament(&text, "data", &output);
    assert_eq!(standings["games_clean"], 2, "{standings}");
    let logs = logs(&world);
    let cores = logs
        .iter()
        .flat_map(|log| searches(log))
        .map(|(_, cores)| cores);
    let cores: Vec<&str> = cores.collect();
    assert!(cores.len() >= 20, "{cores:?}");
    let are_numbers = cores.iter().all(|core| core.parse::<u32>().is_ok());
    assert!(are_numbers, "one core each: {cores:?}");
}

/// What the package `chess` says about games in PGN: their results by its rules, and what is wrong.
const JUDGE: &str = "\
import json, re, sys, chess.pgn
found = []
for game in iter(lambda: chess.pgn.read_game(sys.stdin), None):
    assert not game.errors, game.errors
    tags, board, scores = game.headers, game.board(), []
    for node in game.mainline():
        assert node.move in board.legal_moves
        board.push(node.move)
        note = re.fullmatch(r'([+-]\\d+\\.\\d\\d)/(\\d+) (\\d+\\.\\d{3})s', node.comment)
        if note:
            score, depth, seconds = map(float, note.groups())
            assert depth >= 1 and 0 <= seconds < 60, node.comment
            scores.append(score)
    outcome = board.outcome(claim_draw=False)
    if outcome is None and (board.is_repetition(3) or board.halfmove_clock >= 100):
        outcome = chess.Outcome(chess.Termination.FIFTY_MOVES, None)
    found.append({
        'white': tags['White'], 'result': tags['Result'], 'clock': tags['TimeControl'],
        'termination': tags['Termination'], 'rules': outcome and outcome.result(),
        'last': scores[-6:], 'scores': len(scores), 'plies': board.ply(),
    })
print(json.dumps(found))
";

#[test]
fn stockfish_plays_against_itself_with_clock_and_adjudication() {
    let Some(engine) = stockfish() else { return };
    let world = World::with_python();
    register(&world, "strong", engine, &[]);
    register(&world, "weak", engine, &["--option", "skill_level=0"]);
    let more = "[play]\ntiming = \"strict\"\nclock = \"0.5s+0.01s\"\nopening_plies = 6\n\
                resign = { score = 600, moves = 3 }\ndraw = { score = 10, moves = 8, after_plies = 60 }";
    let text = spec("clocks", "chess", 2, &["strong", "weak"], more);
    let (id, standings, _) = world.tournament(&text, "data", &[]);
    assert_eq!(standings["games_clean"], 4, "no time is lost: {standings}");
    assert_eq!(standings["agents"][0]["agent"], "strong", "{standings}");
    let judged = judge(&world, &id, &["--with-timing"]);
    let games = judged.as_array().expect("games");
    assert_eq!(games.len(), 4);
    let mut adjudicated = 0;
    for game in games {
        assert_eq!(game["clock"], "0.5+0.01", "{game}");
        // Each move after the opening has the score and depth of its search, except forced ones.
        let [scores, plies] = ["scores", "plies"].map(|key| game[key].as_u64().expect("a number"));
        assert!(
            scores + 6 <= plies && scores * 4 > (plies - 6) * 3,
            "{game}"
        );
        match game["termination"].as_str().expect("text") {
            "normal" => assert_eq!(game["rules"], game["result"], "{game}"),
            "adjudication" => {
                adjudicated += 1;
                assert_eq!(game["rules"], json!(null), "{game}");
                let last = game["last"].as_array().expect("scores").iter();
                let last: Vec<f64> = last.map(|it| it.as_f64().expect("a score")).collect();
                match game["result"].as_str() {
                    Some("1/2-1/2") => assert!(last.iter().all(|it| it.abs() <= 0.1), "{game}"),
                    // Three moves of each side, each at least six pawns.
                    _ => assert!(last.iter().all(|it| it.abs() >= 6.0), "{game}"),
                }
            }
            other => panic!("{other}: {game}"),
        }
    }
    assert!(adjudicated > 0, "{judged}");
    let jsonl = ["export", &id, "--with-timing", "--data", "data"];
    let line = world.arena(&jsonl).ok().stdout;
    let line: serde_json::Value =
        serde_json::from_str(line.lines().next().expect("a game")).expect("JSON");
    let timing = &line["timing"];
    let count = |key: &str| timing[key].as_array().expect("an array").len();
    assert_eq!(count("searches"), count("latencies_us"), "{timing}");
    assert!(
        timing["searches"][0]["depth"].as_u64() > Some(0),
        "{timing}"
    );
    assert!(
        timing["searches"][0]["nodes"].as_u64() > Some(0),
        "{timing}"
    );
    assert!(timing["searches"][0]["score"].is_number(), "{timing}");
}

/// What the package `chess` says about the exported games.
fn judge(world: &World, id: &str, more: &[&str]) -> serde_json::Value {
    let export = ["export", id, "--format", "pgn", "--data", "data"];
    let export = [&export[..], more, &["--out", "games.pgn"]].concat();
    let _ = world.arena(&export).ok();
    let mut read = Command::new(python().expect("Python"));
    let pgn = fs::File::open(world.folder().join("games.pgn")).expect("the games");
    let read = read.args(["-c", JUDGE]).stdin(pgn).output();
    let read = read.expect("a result");
    let error = String::from_utf8_lossy(&read.stderr);
    serde_json::from_slice(&read.stdout).unwrap_or_else(|_| panic!("{error}"))
}

#[test]
fn stockfish_wins_against_itself_at_its_lowest_level() {
    let Some(engine) = stockfish() else { return };
    let world = World::with_python();
    register(&world, "strong", engine, &[]);
    register(
        &world,
        "weak",
        engine,
        &["--option", "skill_level=0", "--option", "depth=1"],
    );
    let more = "[play]\nnodes = 3000\nopening_plies = 4";
    let text = spec("levels", "chess", 6, &["strong", "weak"], more);
    let (id, standings, games) = world.tournament(&text, "data", &[]);
    assert_eq!(games.games.len(), 12);
    assert_eq!(standings["games_clean"], 12, "{standings}");
    assert_eq!(standings["agents"][0]["agent"], "strong", "{standings}");
    let judged = judge(&world, &id, &[]);
    assert_eq!(judged.as_array().map(Vec::len), Some(12), "{judged}");
}
