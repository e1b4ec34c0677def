use arena_tests::{Games, World, spec};
use serde_json::Value;

/// The agent's decision at which it misbehaves.
const DUE: usize = 5;

/// A tournament of a misbehaving agent against a correct one.
struct Played {
    world: World,
    standings: Value,
    games: Games,
    /// The coordinator's metrics at the end.
    metrics: String,
}

fn play(mode: &str, play: &str) -> Played {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let agent = world.misbehave();
    let _ = world
        .arena(&[
            "agent",
            "register",
            mode,
            "--binary",
            &agent,
            "--start-timeout",
            "3",
            "--coordinator",
            &url,
            "--",
            mode,
        ])
        .ok();
    let worker = world.worker(&coordinator, &[]);
    let more = format!("unplayed_limit = 1\n[play]\nmove_timeout = \"1s\"\n{play}");
    let spec = spec(mode, "cowry", 2, &[mode, "random"], &more);
    let id = world.start_tournament(mode, &spec, &url);
    world.end_tournament(&id, &url);
    let standings = world
        .arena(&["standings", &id, "--coordinator", &url, "--output", "json"])
        .ok()
        .json();
    let games = world.export(&id, ["--coordinator", &url]);
    let metrics = coordinator.metrics();
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
    Played {
        world,
        standings,
        games,
        metrics,
    }
}

impl Played {
    fn agent(&self, name: &str) -> &Value {
        let agents = self.standings["agents"].as_array().expect("agents");
        let found = agents.iter().find(|agent| agent["agent"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {}", self.standings))
    }

    /// Kinds and places of all faults in the records: game, seat's name, kind, and the number of
    /// earlier decisions of that seat.
    fn faults(&self) -> Vec<(String, String, usize)> {
        let mut found = Vec::new();
        for game in &self.games.games {
            for fault in game["fault"].as_array().into_iter().flatten() {
                let seat = &fault["seat"];
                let ply = fault["ply"].as_u64().expect("a ply") as usize;
                let events = game["events"].as_array().expect("events");
                let actions = events.iter().filter(|event| !event["action"].is_null());
                let before = actions.take(ply).filter(|event| event["seat"] == *seat);
                let name = &game["seats"][seat.as_u64().expect("a seat") as usize];
                found.push((
                    name.as_str().expect("a name").to_owned(),
                    fault["kind"].as_str().expect("a kind").to_owned(),
                    before.count(),
                ));
            }
        }
        found
    }
}

/// An agent of this mode is charged only with faults of this kind, in standings, records and
/// metrics. Its opponent has no faults.
#[track_caller]
fn check(mode: &str, kind: &str) -> Played {
    let played = play(mode, "");
    let faults = played.faults();
    assert!(!faults.is_empty(), "no fault in {}", played.games.text);
    for (agent, found, _) in &faults {
        assert_eq!((agent.as_str(), found.as_str()), (mode, kind));
    }
    let count = faults.len() as u64;
    let bad = played.agent(mode);
    assert_eq!(bad["faults"], count, "{bad}");
    assert_eq!(bad["faults_by_kind"][kind], count, "{bad}");
    assert!(bad["last_fault"].is_string(), "{bad}");
    assert_eq!(played.agent("random")["faults"], 0);
    let line = format!("arena_faults_total{{agent=\"{mode}\",kind=\"{kind}\"}} {count}");
    assert!(
        played.metrics.contains(&line),
        "{line} is not in {}",
        played.metrics
    );
    // A game of two with a fault ends by forfeit.
    for game in &played.games.games {
        let forfeit = game["termination"] == "forfeit";
        assert_eq!(forfeit, !game["fault"].is_null(), "{game}");
    }
    played
}

/// Like [`check`], for a fault at a decision: no earlier decision is charged.
#[track_caller]
fn check_at_decision(mode: &str, kind: &str) {
    for (_, _, before) in check(mode, kind).faults() {
        assert_eq!(before, DUE);
    }
}

/// An agent of this mode has no faults.
#[track_caller]
fn check_innocent(mode: &str) {
    let played = play(mode, "");
    assert_eq!(played.faults(), []);
    assert_eq!(played.agent(mode)["faults"], 0);
    assert_eq!(played.agent(mode)["games"], 4);
}

#[test]
fn crash_is_charged_to_its_decision() {
    check_at_decision("crash", "crash");
}

#[test]
fn error_answer_is_charged_as_crash() {
    check_at_decision("error", "crash");
}

#[test]
fn hang_is_charged_as_timeout() {
    check_at_decision("hang", "timeout");
}

#[test]
fn illegal_id_is_charged_as_illegal_move() {
    check_at_decision("illegal", "illegal_move");
}

#[test]
fn rubbish_is_charged_as_garbled() {
    check_at_decision("garbled", "garbled");
}

#[test]
fn output_flood_is_charged() {
    check_at_decision("flood", "output_limit");
}

#[test]
fn never_ready_agent_loses_every_game() {
    let played = check("never-ready", "not_ready");
    assert_eq!(played.faults().len(), 4);
}

#[test]
fn early_exit_shows_last_output() {
    let played = check("crash-at-start", "not_ready");
    let text = played.agent("crash-at-start")["last_fault"].to_string();
    assert!(text.contains("exit code 1"), "{text}");
    assert!(text.contains("no weights found"), "{text}");
    let game = played.games.games[0]["game_id"].as_str().expect("an id");
    let shown = played
        .world
        .arena(&["game", "show", game, "--data", "data"])
        .ok();
    assert!(
        shown.stderr.contains("no weights found"),
        "{}",
        shown.transcript()
    );
}

#[test]
fn batch_crash_charges_no_agent() {
    check_innocent("crash-in-batch");
}

#[test]
fn unanswered_questions_are_asked_again() {
    check_innocent("half-batch");
}

#[test]
fn unary_agent_plays() {
    check_innocent("only-choose-move");
}

#[test]
fn random_move_policy_costs_one_move() {
    let played = play("illegal", "on_fault = \"random-move\"");
    assert!(!played.faults().is_empty());
    for game in &played.games.games {
        assert_eq!(game["termination"], "normal", "{game}");
    }
    let file = played.world.write("games.jsonl", &played.games.text);
    let _ = played
        .world
        .arena(&["game", "replay", "--file", &file])
        .ok();
}
