//! Complete workers that lease games from a coordinator.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use arena_wire::v1::{self, join_response::Notice};
use arena_worker::{Builtin, Options, WorkerError};
use sha2::{Digest, Sha256};
use tonic::Code;

use crate::{
    common::{games, native, process, registered, setup},
    coordinator::{Coordinator, options, play, records, work},
};

fn pair(first: v1::AgentSetup, second: v1::AgentSetup) -> v1::TournamentSetup {
    setup("kalah", vec![first, second])
}

fn impatient(mut setup: v1::TournamentSetup) -> v1::TournamentSetup {
    if let Some(play) = &mut setup.play {
        play.move_timeout_us = 1_000_000;
    }
    setup
}

/// Checks that the records do not depend on the number of simultaneous games or on the call.
async fn check_same_games(setup: v1::TournamentSetup, count: u64) -> Vec<v1::GameRecord> {
    let one_by_one = play(setup.clone(), games(count), |options| options.capacity = 1).await;
    let together = play(setup.clone(), games(count), |_| {}).await;
    let single = play(setup, games(count), |options| options.unary = true).await;
    let records_one_by_one = records(&one_by_one);
    assert_eq!(records_one_by_one, records(&together));
    assert_eq!(records_one_by_one, records(&single));
    records_one_by_one
}

fn faults(records: &[v1::GameRecord]) -> usize {
    records.iter().map(|record| record.faults.len()).sum()
}

#[tokio::test]
async fn games_do_not_depend_on_the_setup() {
    for ruleset in ["kalah", "cowry"] {
        let mut setup = setup(ruleset, vec![native("random"), native("random")]);
        setup.agents[1].name = "other".into();
        let few = |options: &mut Options| (options.capacity, options.threads) = (1, 1);
        let inside = play(setup.clone(), games(60), few).await;
        let many = play(setup.clone(), games(60), |_| {}).await;
        let processes = |options: &mut Options| options.builtin = Builtin::Process;
        let outside = play(setup.clone(), games(60), processes).await;
        assert_eq!(records(&inside), records(&many));
        assert_eq!(records(&inside), records(&outside));
        let latencies = |reports: &std::collections::BTreeMap<u64, v1::GameReport>| {
            let timings = reports.values().filter_map(|report| report.timing.as_ref());
            timings.map(|timing| timing.latency.len()).sum::<usize>()
        };
        assert!(latencies(&many) > 0 && latencies(&outside) > 0);
    }
}

#[tokio::test]
async fn native_agent_plays_against_a_process() {
    let setup = pair(process("good", &["--mode", "good"]), native("random"));
    let records = check_same_games(setup, 40).await;
    assert_eq!(faults(&records), 0);
}

#[tokio::test]
async fn batch_crash_charges_no_innocent_game() {
    for (mode, kind) in [
        ("crash", v1::FaultKind::Crash),
        ("flood", v1::FaultKind::OutputLimit),
    ] {
        let bad = process("bad", &["--mode", mode, "--every", "150"]);
        let records = check_same_games(pair(bad, native("random")), 60).await;
        let faults = faults(&records);
        assert!((1..60).contains(&faults), "{mode}: {faults} faults");
        let mut all = records.iter().flat_map(|it| &it.faults);
        assert!(all.all(|it| it.kind() == kind), "{mode}");
    }
}

#[tokio::test]
async fn bad_answers_charge_their_game() {
    for mode in ["error", "illegal", "garbled"] {
        let bad = process("bad", &["--mode", mode, "--every", "150"]);
        let records = check_same_games(pair(bad, native("random")), 60).await;
        let faults = faults(&records);
        assert!((1..60).contains(&faults), "{mode}: {faults} faults");
    }
}

/// The messages of all reported faults.
fn details(reports: &BTreeMap<u64, v1::GameReport>) -> Vec<String> {
    let faults = reports.values().flat_map(|report| &report.fault_details);
    faults.map(|fault| fault.message.clone()).collect()
}

#[tokio::test]
async fn erroring_process_continues() {
    // Without batches, the question is asked once more alone, which is a second error.
    for (mode, unary, errors) in [("error-alone", false, 1), ("error", true, 2)] {
        let bad = process("bad", &["--mode", mode, "--every", "100"]);
        let one_by_one = |options: &mut Options| (options.capacity, options.unary) = (1, unary);
        let reports = play(pair(bad, native("random")), games(40), one_by_one).await;
        let details = details(&reports);
        assert!(details.len() > 2, "{details:?}");
        for (game, detail) in (1..).zip(&details) {
            let wanted = format!("error {} of this process", errors * game);
            assert!(detail.contains(&wanted), "{mode}: {details:?}");
        }
    }
}

#[tokio::test]
async fn fatal_error_costs_one_game() {
    let play = async |mode: &str| {
        let bad = process("bad", &["--mode", mode, "--every", "100"]);
        let setup = pair(bad, native("random"));
        records(&play(setup, games(40), |options| options.capacity = 1).await)
    };
    let expected = play("error-alone").await;
    assert!((2..40).contains(&faults(&expected)));
    assert_eq!(play("error-for-good").await, expected);
}

#[tokio::test]
async fn batch_hang_charges_no_innocent_game() {
    let mut bad = process("bad", &["--mode", "hang", "--every", "500"]);
    bad.batch_size = 2;
    let setup = impatient(pair(bad, native("random")));
    let together = play(setup.clone(), games(24), |_| {}).await;
    let alone = play(setup, games(24), |options| options.capacity = 1).await;
    assert_eq!(records(&alone), records(&together));
    let faults = faults(&records(&together));
    assert!((1..24).contains(&faults), "{faults} faults");
}

#[tokio::test]
async fn missing_answers_are_asked_again() {
    let half = pair(process("half", &["--mode", "half"]), native("random"));
    let good = pair(process("half", &["--mode", "good"]), native("random"));
    let halved = play(half, games(30), |_| {}).await;
    let whole = play(good, games(30), |_| {}).await;
    assert_eq!(records(&halved), records(&whole));
}

#[tokio::test]
async fn unary_agent_plays_same_games() {
    let single = pair(process("it", &["--mode", "unary"]), native("random"));
    let batched = pair(process("it", &["--mode", "good"]), native("random"));
    let single = play(single, games(40), |_| {}).await;
    let batched = play(batched, games(40), |_| {}).await;
    assert_eq!(records(&single), records(&batched));
}

/// With two simultaneous games, the agent has two seconds for an answer. It takes 2.4
/// seconds and answers the other game meanwhile.
#[tokio::test]
async fn late_answer_is_charged() {
    let late = process("late", &["--mode", "overtaken", "--every", "37"]);
    let setup = impatient(pair(late, native("random")));
    let together = play(setup, games(4), |options| options.capacity = 2).await;
    let kinds: Vec<_> = records(&together)
        .iter()
        .flat_map(|record| record.faults.iter().map(|fault| fault.kind()))
        .collect();
    assert_eq!(kinds, [v1::FaultKind::Timeout]);
}

#[tokio::test]
async fn unstartable_agent_forfeits_with_cause() {
    let setup = pair(
        process("bad", &["--mode", "dies-at-start"]),
        native("random"),
    );
    let reports = play(setup.clone(), games(50), |_| {}).await;
    let given_up = reports[&0].unready.clone().expect("the agent is named");
    for report in reports.values() {
        assert!(report.void_reason.contains("bad does not start here"));
        assert_eq!(report.unready.as_ref(), Some(&given_up));
    }
    assert_eq!(given_up.agent, 0);
    // The coordinator reports that the agent starts nowhere.
    let coordinator = Coordinator::start(setup, games(50)).await;
    coordinator.state().given_up = vec![given_up];
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    coordinator.reported(50).await;
    worker.end().await;
    let reports = std::mem::take(&mut coordinator.state().reports);
    assert_eq!(faults(&records(&reports)), 50);
    for report in reports.values() {
        let record = report.record.as_ref().expect("a record");
        assert_eq!(record.faults[0].kind(), v1::FaultKind::NotReady);
        assert_eq!(report.fault_details[0].stderr_tail, "no licence");
    }
}

#[tokio::test]
async fn stopped_worker_leaves() {
    let coordinator = Coordinator::start(setup_of_random(), games(40)).await;
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    coordinator.reported(40).await;
    worker.end().await;
    assert_eq!(coordinator.state().left, 1);
}

#[tokio::test]
async fn long_socket_path_is_refused_at_start() {
    let temp = tempfile::tempdir().expect("a folder");
    let long = temp.path().join("x".repeat(90));
    std::fs::create_dir(&long).expect("a folder");
    let mut options = options("http://127.0.0.1:1", Builtin::InProcess);
    options.temp = long;
    let refused = options.build().await.err().expect("it does not start");
    let text = refused.to_string();
    assert!(text.contains("107") && text.contains("TMPDIR"), "{text}");
}

#[tokio::test]
async fn reports_are_repeated_until_accepted() {
    let coordinator = Coordinator::start(setup_of_random(), games(40)).await;
    let busy = [Code::ResourceExhausted, Code::Unavailable, Code::Unknown];
    coordinator.state().refusals = VecDeque::from(busy);
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    coordinator.reported(40).await;
    worker.end().await;
    assert!(coordinator.state().refusals.is_empty());
}

#[tokio::test]
async fn refused_result_delays_no_other() {
    let coordinator = Coordinator::start(setup_of_random(), games(40)).await;
    coordinator.state().unwelcome = Some(17);
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    coordinator.reported(40).await;
    worker.end().await;
    for (index, report) in &coordinator.state().reports {
        let refused = report.void_reason.contains("a game that is not wanted");
        assert_eq!(refused, *index == 17, "game {index}: {report:?}");
    }
}

fn setup_of_random() -> v1::TournamentSetup {
    let mut setup = pair(native("random"), native("random"));
    setup.agents[1].name = "other".into();
    setup
}

#[tokio::test]
async fn restarted_coordinator_gets_open_results() {
    let setup = setup_of_random();
    let coordinator = Coordinator::start(setup.clone(), games(200)).await;
    coordinator.state().refusals = VecDeque::from(vec![Code::Unavailable; 3]);
    coordinator.state().lease_games = 64;
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    while coordinator.state().refusals.len() == 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let coordinator = coordinator.restart(games(200)).await;
    coordinator.state().refusals.clear();
    coordinator.reported(200).await;
    worker.end().await;
    let expected = play(setup, games(200), |_| {}).await;
    assert_eq!(records(&coordinator.state().reports), records(&expected));
}

#[tokio::test]
async fn unreachable_coordinator_ends_worker() {
    let mut options = options("http://127.0.0.1:9", Builtin::InProcess);
    options.connect_timeout = Duration::from_millis(200);
    let worker = work(options).await;
    let error = worker
        .run
        .await
        .expect("no panic")
        .expect_err("no coordinator");
    assert!(matches!(error, WorkerError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("http://127.0.0.1:9"), "{error}");
}

fn hanging() -> v1::TournamentSetup {
    let mut hang = pair(process("bad", &["--mode", "hang"]), native("random"));
    if let Some(play) = &mut hang.play {
        play.move_timeout_us = 60_000_000;
    }
    hang
}

#[tokio::test]
async fn unwanted_games_are_dropped() {
    let coordinator = Coordinator::start(hanging(), games(8)).await;
    let worker = work(options(&coordinator.url(), Builtin::InProcess)).await;
    while coordinator.state().beats < 3 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let lease_ids = vec![1, 2, 3];
    coordinator.notify(Notice::LeasesEnded(v1::LeasesEnded { lease_ids }));
    // A drain waits for started games; there are none left.
    worker.end().await;
    assert!(coordinator.state().reports.is_empty());
}

#[tokio::test]
async fn drain_without_coordinator_is_quick() {
    let coordinator = Coordinator::start(hanging(), games(8)).await;
    let mut options = options(&coordinator.url(), Builtin::InProcess);
    options.drain_limit = Duration::from_secs(1000);
    options.connect_timeout = Duration::from_secs(1000);
    let worker = work(options).await;
    while coordinator.state().plies.is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop(coordinator);
    worker.end().await;
}

#[tokio::test]
async fn long_search_counts_as_progress() {
    let mut setup = pair(native("kalah-minimax"), native("kalah-minimax"));
    setup.agents[1].name = "other".into();
    let depth = arena_engine::options::Options::from([("depth".to_owned(), 11i64.into())]);
    for agent in &mut setup.agents {
        agent.options = arena_wire::convert::options_to_wire(&depth);
    }
    let coordinator = Coordinator::start(setup, games(2)).await;
    coordinator.state().lease_games = 1;
    let mut options = options(&coordinator.url(), Builtin::InProcess);
    options.capacity = 1;
    let worker = work(options).await;
    // One game is played; the other one waits.
    let reported = |lease| coordinator.state().plies.get(&lease).map_or(0, Vec::len);
    while reported(1) < 5 || reported(2) < 5 {
        assert!(coordinator.state().reports.is_empty(), "not long enough");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for (lease, plies) in &coordinator.state().plies {
        let grows = plies.is_sorted_by(|one, next| one < next);
        assert!(grows, "lease {lease}: {plies:?}");
    }
    let lease_ids = vec![1, 2];
    coordinator.notify(Notice::LeasesEnded(v1::LeasesEnded { lease_ids }));
    worker.end().await;
    assert!(coordinator.state().reports.is_empty());
}

#[tokio::test]
async fn game_is_void_after_last_attempt() {
    let nowhere = v1::AgentSetup {
        source: None,
        ..native("random")
    };
    let setup = pair(nowhere, native("random"));
    let mut three = games(3);
    for (game, attempts) in three.iter_mut().zip([0, 4, 5]) {
        // The coordinator makes a game void after five attempts.
        game.attempts = attempts;
    }
    let reports = play(setup, three, |_| {}).await;
    for index in [0, 1] {
        let why = &reports[&index].void_reason;
        assert!(why.contains("the source of agent random"), "{why}");
    }
    let record = reports[&2].record.clone().expect("a record");
    assert_eq!(record.termination(), v1::Termination::Void);
    // The coordinator computes the hash.
    assert_eq!((record.hash.len(), record.placement.len()), (0, 0));
    assert_eq!(reports[&2].void_reason, "");
}

#[tokio::test]
async fn registered_binary_is_fetched_and_run() {
    let with_hash = |sha256: String| {
        let mut agent = process("it", &["--mode", "good"]);
        if let Some(v1::agent_setup::Source::Binary(binary)) = &mut agent.source {
            binary.sha256 = sha256;
        }
        pair(agent, native("random"))
    };
    let right = hex::encode(Sha256::digest(registered()));
    let reports = play(with_hash(right), games(4), |_| {}).await;
    assert_eq!(faults(&records(&reports)), 0);
    assert!(reports.values().all(|report| report.void_reason.is_empty()));
    let reports = play(with_hash("0".repeat(64)), games(4), |_| {}).await;
    for report in reports.values() {
        assert!(
            report.void_reason.contains("SHA-256"),
            "{}",
            report.void_reason
        );
    }
}

#[tokio::test]
async fn one_binary_under_two_names_serves_both_agents() {
    let one = process("one", &["--mode", "good"]);
    let mut two = process("two", &["--mode", "good"]);
    if let Some(v1::agent_setup::Source::Binary(binary)) = &mut two.source {
        binary.file_name = "renamed".into();
    }
    let reports = play(pair(one, two), games(4), |_| {}).await;
    assert_eq!(faults(&records(&reports)), 0);
}

#[tokio::test]
async fn every_game_names_its_worker() {
    let reports = play(setup_of_random(), games(9), |options| {
        options.name = "here".into();
    })
    .await;
    assert!(reports.values().all(|report| {
        let timing = report.timing.as_ref();
        timing.is_some_and(|timing| timing.worker == "here")
    }));
}

#[tokio::test]
async fn single_game_has_both_latencies() {
    let reports = play(setup_of_random(), games(1), |_| {}).await;
    let timing = reports[&0].timing.as_ref().expect("a timing");
    let agents: Vec<u32> = timing.latency.iter().map(|it| it.agent).collect();
    assert_eq!(agents, [0, 1]);
}
