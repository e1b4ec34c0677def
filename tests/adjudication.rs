//! Games that end because the scores of both agents agree: `resign` and `draw` of `[play]`.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
};

use arena_access::Credentials;
use arena_model::{
    GameRecord,
    engine::{Score, ScoredMove, Termination},
    record::LineWriter,
};
use arena_report::records::TournamentRecords;
use arena_tests::{JoinedWorker, World, repository, sha256, spec};
use arena_wire::{
    reasons,
    v1::{self, coordinator_service_client::CoordinatorServiceClient},
};
use serde_json::Value;
use tokio::runtime::Builder;
use tonic::Code;
use tonic_types::StatusExt;

const RULES: &str = "resign = { score = 0.4, moves = 3 }\n\
                     draw = { score = 0.1, moves = 3, after_plies = 14 }\n";

/// A world in whose data folders an agent that reports scores is registered.
fn world(folders: &[&str]) -> World {
    let world = World::with_python();
    let agent = repository().join("tests/agents/scorer.py");
    let agent = world.write("scorer.py", fs::read(agent).expect("the agent"));
    let executable = Permissions::from_mode(0o755);
    fs::set_permissions(&agent, executable).expect("its permissions");
    for data in folders {
        let register = [
            "agent", "register", "scorer", "--binary", &agent, "--data", data,
        ];
        let _ = world.arena(&register).ok();
    }
    world
}

/// Two agents that report `says`, see `tests/agents/scorer.py`.
fn game(ruleset: &str, blocks: u64, says: [&str; 2], play: &str) -> String {
    let options = match ruleset {
        "kalah" => "options = { pits = 4, stones = 4 }\n",
        _ => "",
    };
    let agents = ["one", "two"];
    let variants = agents.iter().zip(says).map(|(name, says)| {
        format!(
            "[[agent]]\nname = \"{name}\"\nbot = \"scorer\"\nfrom = \"scorer\"\n\
             options = {{ says = \"{says}\" }}\n"
        )
    });
    let variants: String = variants.collect();
    let more = format!("{options}[play]\nopening_plies = 2\n{play}\n{variants}");
    spec("scores", ruleset, blocks, &agents, &more)
}

fn ended<'a>(games: &'a [Value], termination: &str) -> Vec<&'a Value> {
    let games = games.iter();
    games
        .filter(|it| it["termination"] == termination)
        .collect()
}

#[test]
fn games_end_early_with_the_same_records_for_any_number_of_workers() {
    let world = world(&["whole", "data-1", "data-3"]);
    let truth = ["truth", "truth"];
    let (_, _, whole) = world.tournament(&game("kalah", 30, truth, ""), "whole", &[]);
    assert!(!whole.text.contains("adjudication"), "the option is off");
    let mut exports = Vec::new();
    for workers in ["1", "3"] {
        let data = format!("data-{workers}");
        let more = ["--workers", workers];
        let (_, standings, games) =
            world.tournament(&game("kalah", 30, truth, RULES), &data, &more);
        assert_eq!(standings["games_clean"], standings["games"], "{standings}");
        exports.push(games);
    }
    assert_eq!(sha256(&exports[0].text), sha256(&exports[1].text));
    let mut placements = BTreeMap::new();
    for (early, whole) in exports[0].games.iter().zip(&whole.games) {
        let events = |game: &Value| game["events"].as_array().expect("events").clone();
        let (early_events, whole_events) = (events(early), events(whole));
        let is_early = early["termination"] == "adjudication";
        assert_eq!(early.get("adjudication").is_some(), is_early, "{early}");
        assert!(whole_events.starts_with(&early_events), "{early}");
        assert_eq!(early_events.len() < whole_events.len(), is_early, "{early}");
        if is_early {
            *placements
                .entry(early["placement"].to_string())
                .or_insert(0) += 1;
        }
    }
    let kinds: Vec<&String> = placements.keys().collect();
    assert_eq!(kinds, ["[1,1]", "[1,2]", "[2,1]"], "{placements:?}");
}

#[test]
fn agent_that_lies_alone_or_reports_nothing_ends_no_game() {
    let folders = ["wins", "loses", "nothing", "unasked", "sometimes"];
    let world = world(&folders);
    for says in &folders[..3] {
        let text = game("kalah", 10, [says, "truth"], RULES);
        let (_, _, games) = world.tournament(&text, says, &[]);
        let wrong = ended(&games.games, "adjudication").into_iter().find(|it| {
            // A liar may be right.
            let evidence = it["adjudication"].as_array().expect("evidence");
            let scores = evidence.iter().map(|it| it["score"].as_f64());
            let scores: Option<Vec<f64>> = scores.collect();
            scores.is_none_or(|scores| scores.iter().all(|score| score.abs() == 1000.0))
        });
        assert_eq!(wrong, None, "{says}");
    }
    let text = game("kalah", 10, ["nothing", "nothing"], RULES);
    let (_, _, games) = world.tournament(&text, "nothing", &[]);
    assert_eq!(ended(&games.games, "normal").len(), 20);
    // A move without a score is part of the evidence, and only before the row of scores.
    let text = game("kalah", 20, ["sometimes", "truth"], RULES);
    let (_, _, games) = world.tournament(&text, "sometimes", &[]);
    let mut missing = 0;
    for game in ended(&games.games, "adjudication") {
        for seat in [0, 1] {
            let evidence = game["adjudication"].as_array().expect("evidence").iter();
            let mut of_seat = evidence.filter(|it| it["seat"] == seat);
            missing += usize::from(of_seat.next().expect("a score")["score"].is_null());
            assert!(of_seat.all(|it| it["score"].is_number()), "{game}");
        }
    }
    assert!(missing > 0);
    // Both agree, from the first moves on.
    let text = game("kalah", 10, ["wins", "loses"], RULES);
    let (_, standings, games) = world.tournament(&text, "unasked", &[]);
    assert_eq!(ended(&games.games, "adjudication").len(), 20);
    assert_eq!(standings["agents"][0]["agent"], "one");
    assert_eq!(standings["agents"][0]["wins"], 20);
}

#[test]
fn adjudicated_games_are_replayed_rerun_and_exported() {
    let world = world(&["data", "hashes", "chess"]);
    let text = game("kalah", 6, ["truth", "truth"], RULES);
    let (id, _, games) = world.tournament(&text, "data", &[]);
    let file = world.write("games.jsonl", &games.text);
    let replay = ["game", "replay", "--file", &file, "--output", "jsonl"];
    assert_eq!(world.arena(&replay).ok().stdout, games.text);
    let early = ended(&games.games, "adjudication");
    assert!(early.len() >= 3, "{}", early.len());
    let line = |game: &Value| {
        let index = game["index"].as_u64().expect("a number");
        games.text.lines().nth(index as usize).expect("a line")
    };
    for game in early.iter().take(2) {
        let name = game["game_id"].as_str().expect("an id");
        let rerun = ["game", "rerun", name, "--data", "data", "--output", "json"];
        assert_eq!(world.arena(&rerun).ok().stdout.trim(), line(game));
        let shown = world.arena(&["game", "show", name, "--data", "data"]).ok();
        assert!(
            shown.stdout.contains("plies: adjudication"),
            "{}",
            shown.stdout
        );
    }
    let _ = world.arena(&["store", "verify", "--data", "data"]).ok();
    let report = ["report", &id, "--data", "data", "--html", "report.html"];
    let _ = world.arena(&report).ok();
    let page = fs::read_to_string(world.folder().join("report.html")).expect("a page");
    assert!(
        page.contains("adjudication"),
        "the page counts terminations"
    );
    // Without its moves, a record has the same hash, and its evidence.
    let spec = world.write("hashes.toml", format!("records = \"hash\"\n{text}"));
    let run = ["run", &spec, "--data", "hashes", "--output", "json"];
    let id = world.arena(&run).ok().tournament_id();
    let export = ["export", &id, "--data", "hashes", "--records", "hash"];
    let hashes = world.arena(&export).ok().stdout;
    for (line, whole) in hashes.lines().zip(&games.games) {
        let hash: Value = serde_json::from_str(line).expect("a line");
        assert_eq!(hash["hash"], whole["hash"]);
        assert_eq!(hash.get("adjudication"), whole.get("adjudication"));
    }
    let name = format!("{id}/{}", early[0]["index"]);
    let rerun = ["game", "rerun", &name, "--data", "hashes"];
    let _ = world.arena(&rerun).ok();
    let draw = "draw = { score = 10, moves = 4, after_plies = 20 }";
    let (id, _, games) = world.tournament(&game("chess", 2, ["truth"; 2], draw), "chess", &[]);
    assert!(games.games.iter().all(|game| game["plies"] == 20));
    let export = ["export", &id, "--data", "chess", "--format", "pgn"];
    let export = world.arena(&export).ok().stdout;
    let count = |text: &str| export.matches(text).count();
    assert_eq!(count("[Termination \"adjudication\"]"), 4, "{export}");
    assert_eq!(count("[Result \"1/2-1/2\"]"), 4, "{export}");
}

#[test]
fn adjudication_of_four_seats_is_refused() {
    let world = World::new();
    let play = format!("seats = 4\n[play]\n{RULES}");
    let agents = ["random", "aggressive", "defensive", "mixed"];
    let spec = world.write("four.toml", spec("four", "cowry", 1, &agents, &play));
    for command in [
        &["tournament", "plan", &spec][..],
        &["run", &spec, "--data", "data"],
    ] {
        let expected = "resign and draw end games of two seats; this tournament has 4";
        let _ = world.arena(command).fails(2, &[expected]);
    }
}

type Lie = fn(&mut GameRecord);

/// Lies about a game in which seat 1 resigned, by name.
fn lies() -> BTreeMap<&'static str, Lie> {
    fn entries(it: &mut GameRecord) -> &mut Vec<ScoredMove> {
        &mut it.adjudication
    }
    fn raise(it: &mut GameRecord, place: usize) {
        let score = it.adjudication[place].score.expect("a score");
        let score = Score::from_thousandths(-score.thousandths());
        it.adjudication[place].score = Some(score);
    }
    BTreeMap::from([
        ("the winner loses", (|it| it.placement.reverse()) as Lie),
        ("a draw", |it| it.placement = vec![1, 1]),
        ("no evidence", |it| entries(it).clear()),
        ("the first score is missing", |it| {
            let _ = entries(it).remove(0);
        }),
        ("the last score is missing", |it| {
            let _ = entries(it).pop();
        }),
        ("a score is no score", |it| {
            entries(it).last_mut().expect("a score").score = None;
        }),
        ("the last score is another one", |it| {
            let last = it.adjudication.len() - 1;
            raise(it, last);
        }),
        ("a score twice", |it| {
            let first = it.adjudication[0];
            entries(it).insert(0, first);
        }),
        ("scores in another order", |it| entries(it).reverse()),
        ("scores of an earlier ply", |it| {
            entries(it).iter_mut().for_each(|it| it.ply -= 1);
        }),
        ("scores of the other seat", |it| {
            entries(it).iter_mut().for_each(|it| it.seat = 1 - it.seat);
            it.placement.reverse();
        }),
        ("too many scores", |it| {
            let first = it.adjudication[0];
            *entries(it) = vec![first; 300];
        }),
        ("a normal end", |it| it.termination = Termination::Normal),
        ("a normal end without evidence", |it| {
            it.termination = Termination::Normal;
            entries(it).clear();
        }),
        ("a forfeit", |it| it.termination = Termination::Forfeit),
    ])
}

/// A worker reports an adjudicated game with each of these lies to a tournament with the options `play`,
/// and is refused and named.
fn are_refused(play: &str, lies: &BTreeMap<&'static str, Lie>) {
    let world = world(&["truth", "data"]);
    let says = ["wins", "loses"];
    let (id, _, _) = world.tournament(&game("kalah", 1, says, RULES), "truth", &[]);
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let page = {
        let coordinator = world.coordinator("truth", &[]);
        let request = v1::ListGamesRequest {
            tournament_id: id,
            ..Default::default()
        };
        let url = coordinator.url();
        let page = runtime.block_on(async {
            let channel = Credentials::found().connect_lazy(&url).expect("a URL");
            CoordinatorServiceClient::new(channel)
                .list_games(request)
                .await
        });
        page.expect("games").into_inner()
    };
    let truth = page.games[0].clone();
    let message = truth.record.clone().expect("a record");
    let record = GameRecord::try_from(&message).expect("a record");
    assert_eq!(record.placement, [1, 2]);
    assert_eq!(record.termination, Termination::Adjudication);

    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let _ = world.start_tournament("data", &game("kalah", 1, says, play), &url);
    runtime.block_on(async {
        let mut liar = JoinedWorker::join(&url, "liar", 1).await.expect("joins");
        let lease = liar.lease(16, 10_000).await.expect("answered");
        let lease = lease.expect("games");
        let rules = TournamentRecords::new(&lease.setup.clone().expect("new to it"));
        let rules = rules.expect("known rules");
        for (name, lie) in lies {
            let mut forged = record.clone();
            lie(&mut forged);
            let sealed = LineWriter::new(&rules.header).seal(&mut forged, &*rules.game);
            sealed.expect("its moves are legal");
            let with_hash = v1::GameRecord::from(&forged);
            let without = v1::GameRecord {
                hash: Vec::new(),
                ..with_hash.clone()
            };
            for message in [with_hash, without] {
                let report = v1::GameReport {
                    record: Some(message),
                    ..truth.clone()
                };
                let status = liar.report(&lease, vec![report]).await.expect_err(name);
                assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status}");
                let info = status.get_details_error_info().expect("a reason");
                let known = [reasons::RECORD_INVALID, reasons::REQUEST_INVALID];
                assert!(known.contains(&&*info.reason), "{name}: {status}");
            }
        }
        // From its first false record on, none of its records counts.
        let status = liar.report(&lease, vec![truth]).await;
        let status = status.expect_err("refused");
        let info = status.get_details_error_info().expect("a reason");
        let expected = match play {
            RULES => reasons::WORKER_QUARANTINED,
            _ => reasons::RECORD_INVALID,
        };
        assert_eq!(info.reason, expected, "{status}");
    });
    let log = coordinator.log();
    assert!(
        log.contains("a worker process is in quarantine") && log.contains("name=\"liar\""),
        "{log}"
    );
}

#[test]
fn false_adjudications_are_refused() {
    are_refused(RULES, &lies());
}

#[test]
fn adjudication_without_the_option_is_refused() {
    let is_true: Lie = |_| ();
    are_refused("", &BTreeMap::from([("adjudication", is_true)]));
    let draws = "draw = { score = 0.1, moves = 3 }";
    are_refused(draws, &BTreeMap::from([("resigned", is_true)]));
}
