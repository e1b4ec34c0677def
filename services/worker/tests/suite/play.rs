//! Single games with agents of every kind.

use std::{sync::Arc, time::Duration};

use crate::common::{Fixture, agents, endpoint, fixture, games, native, process, setup};
use arena_engine::{FaultKind, Termination};
use arena_wire::{networks::AgentNetworks, v1};
use arena_worker::{
    AgentOptions, BinaryProvider, Builtin, PlayError, Played, Provided, describe, play_games,
    play_one,
};

async fn play(setup: v1::TournamentSetup, builtin: Builtin) -> Result<Played, PlayError> {
    play_one(
        setup,
        games(1).remove(0),
        Arc::new(Fixture),
        agents(builtin),
    )
    .await
}

async fn faulty(args: &[&str], change: impl FnOnce(&mut v1::TournamentSetup)) -> Played {
    let mut setup = setup("kalah", vec![process("bad", args), native("random")]);
    change(&mut setup);
    play(setup, Builtin::InProcess).await.expect("a game")
}

async fn check_fault(mode: &str, kind: FaultKind, reported: &str) {
    // Time limits are short only if the test waits for their end.
    let limits = |setup: &mut v1::TournamentSetup| match kind {
        FaultKind::NotReady => {
            if let Some(v1::agent_setup::Source::Binary(binary)) = &mut setup.agents[0].source {
                binary.limits = Some(v1::AgentLimits {
                    start_timeout_us: 400_000,
                    ..Default::default()
                });
            }
        }
        FaultKind::Timeout => {
            if let Some(play) = &mut setup.play {
                play.move_timeout_us = 300_000;
            }
        }
        _ => {}
    };
    let played = faulty(&["--mode", mode], limits).await;
    assert_eq!(played.record.termination, Termination::Forfeit, "{mode}");
    let faults: Vec<_> = played
        .record
        .faults
        .iter()
        .map(|it| (it.seat, it.kind))
        .collect();
    assert_eq!(faults, [(0, kind)], "{mode}");
    let detail = &played.fault_details[0];
    let all = format!("{} | {}", detail.message, detail.stderr_tail);
    assert!(all.contains(reported), "{mode}: {all}");
}

#[tokio::test]
async fn every_fault_kind_is_named() {
    for (mode, kind, reported) in [
        (
            "crash",
            FaultKind::Crash,
            "SIGABRT ended the process | dying of seed",
        ),
        ("hang", FaultKind::Timeout, "no answer within 300ms"),
        (
            "illegal",
            FaultKind::IllegalMove,
            "action 99999 is not legal",
        ),
        ("error", FaultKind::Crash, "error 1 of this process"),
        ("garbled", FaultKind::Garbled, "too large"),
        (
            "flood",
            FaultKind::OutputLimit,
            "output limit of 16777216 bytes",
        ),
        (
            "flood-and-report",
            FaultKind::OutputLimit,
            "output limit of 16777216 bytes",
        ),
        (
            "never-ready",
            FaultKind::NotReady,
            "the health check answers NOT_SERVING",
        ),
    ] {
        check_fault(mode, kind, reported).await;
    }
}

struct Lost;

impl BinaryProvider for Lost {
    fn provide<'a>(&'a self, _: &'a v1::BinarySource) -> Provided<'a> {
        Box::pin(async { Ok("/no/such/agent".into()) })
    }
}

#[tokio::test]
async fn missing_program_is_no_agent_fault() {
    let setup = setup("kalah", vec![process("lost", &[]), native("random")]);
    let game = games(1).remove(0);
    let played = play_one(setup, game, Arc::new(Lost), agents(Builtin::InProcess)).await;
    let error = played.expect_err("no file");
    assert!(matches!(error, PlayError::Void(_)), "{error}");
    assert!(error.to_string().contains("/no/such/agent"), "{error}");
}

#[tokio::test]
async fn dead_endpoint_is_disconnected() {
    let agents = vec![endpoint("far", "http://127.0.0.1:9"), native("random")];
    let played = play(setup("kalah", agents), Builtin::InProcess)
        .await
        .expect("a game");
    assert_eq!(played.record.faults[0].kind, FaultKind::Disconnected);
}

/// A registrant must not explore the network of a worker.
#[tokio::test]
async fn faults_do_not_describe_other_servers() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let server = format!("http://{}", listener.local_addr().expect("an address"));
    let pages = axum::Router::new().fallback(|| async { axum::http::StatusCode::NOT_FOUND });
    let serving = tonic::transport::Server::builder()
        .add_routes(pages.into())
        .serve_with_incoming(tokio_stream::wrappers::TcpListenerStream::new(listener));
    tokio::spawn(serving);
    for url in [&server, "http://127.0.0.1:9"] {
        check_discreet_fault(url, AgentNetworks::default()).await;
    }
}

#[tokio::test]
async fn faults_do_not_describe_link_local_addresses() {
    if !arena_test_isolation::leave_network("faults_do_not_describe_link_local_addresses") {
        return;
    }
    // The resolver reads the number as 169.254.169.254.
    for networks in [AgentNetworks::default(), AgentNetworks::everywhere()] {
        check_discreet_fault("http://2852039166:1", networks).await;
    }
}

async fn check_discreet_fault(url: &str, networks: AgentNetworks) {
    let options = AgentOptions {
        networks,
        discreet: true,
        ..agents(Builtin::InProcess)
    };
    let setup = setup("kalah", vec![endpoint("far", url), native("random")]);
    let played = play_one(setup, games(1).remove(0), Arc::new(Fixture), options).await;
    let played = played.expect("a game");
    let kind = played.record.faults[0].kind;
    assert_eq!(kind, FaultKind::Disconnected, "{url}");
    let message = &played.fault_details[0].message;
    let text = format!("cannot reach {url}: the endpoint did not answer");
    assert!(message.ends_with(&text), "{message}");
}

#[tokio::test]
async fn endpoint_agent_plays() {
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("unix:{}", dir.path().join("agent.sock").display());
    let mut server = std::process::Command::new(fixture())
        .args(["fake", "--mode", "good"])
        .env("ARENA_LISTEN", &url)
        .spawn()
        .expect("an agent");
    while !dir.path().join("agent.sock").exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let agents = vec![endpoint("near", &url), native("random")];
    let played = play(setup("kalah", agents), Builtin::InProcess).await;
    server.kill().expect("its end");
    server.wait().expect("its end");
    let played = played.expect("a game");
    assert_eq!(played.record.faults, []);
    assert_eq!(played.record.termination, Termination::Normal);
}

#[tokio::test]
async fn builtin_modes_play_same_games() {
    for ruleset in ["kalah", "cowry"] {
        let both = || setup(ruleset, vec![native("random"), native("random")]);
        let mut named = both();
        named.agents[1].name = "other".into();
        let inside = play(named.clone(), Builtin::InProcess)
            .await
            .expect("a game");
        let outside = play(named, Builtin::Process).await.expect("a game");
        assert_eq!(inside.record, outside.record);
        assert!(inside.record.plies > 10);
    }
}

#[tokio::test]
async fn forfeiting_seat_of_four_is_last() {
    let mut setup = setup(
        "cowry",
        vec![
            native("random"),
            process("bad", &["--mode", "illegal"]),
            native("move-first"),
            native("move-last"),
        ],
    );
    setup.seats = 4;
    let game = v1::GameAssignment {
        seats: vec![0, 1, 2, 3],
        ..games(1).remove(0)
    };
    let played = play_one(setup, game, Arc::new(Fixture), agents(Builtin::InProcess))
        .await
        .expect("a game");
    assert_eq!(played.record.placement[1], 4);
    assert_eq!(played.record.faults.len(), 1);
}

#[tokio::test]
async fn late_builtin_bot_is_charged() {
    let slow = || v1::AgentSetup {
        options: arena_wire::convert::options_to_wire(&[("depth".to_owned(), 20i64.into())].into()),
        bot: "kalah-minimax".into(),
        ..native("slow")
    };
    // Against another native bot, and against a process.
    for other in [native("random"), process("other", &[])] {
        for timing in [v1::Timing::Throughput, v1::Timing::Strict] {
            let setup = || {
                let mut setup = setup("kalah", vec![slow(), other.clone()]);
                if let Some(play) = &mut setup.play {
                    play.move_timeout_us = 500_000;
                    play.timing = timing.into();
                }
                setup
            };
            let within = play(setup(), Builtin::InProcess).await.expect("a game");
            let faults: Vec<_> = within.record.faults.iter().collect();
            assert_eq!(
                (faults[0].seat, faults[0].kind, faults.len()),
                (0, FaultKind::Timeout, 1)
            );
            assert_eq!(within.record.termination, Termination::Forfeit);
            assert_eq!(within.fault_details[0].message, "no answer within 500ms");
            let process = play(setup(), Builtin::Process).await.expect("a game");
            assert_eq!(within.record, process.record, "{timing:?}");
        }
    }
}

#[tokio::test]
async fn strict_timing_measures_each_asked_decision() {
    for builtin in [Builtin::InProcess, Builtin::Process] {
        let mut setup = setup("kalah", vec![native("random"), native("random")]);
        setup.agents[1].name = "other".into();
        if let Some(play) = &mut setup.play {
            play.set_timing(v1::Timing::Strict);
        }
        let played = play(setup, builtin).await.expect("a game");
        let asked = played.timing.latencies_us.len();
        assert!(asked > 10 && asked as u32 <= played.record.plies);
    }
}

#[tokio::test]
async fn strict_timing_shows_a_timeout_with_its_time() {
    let played = faulty(&["--mode", "hang"], |setup| {
        if let Some(play) = &mut setup.play {
            play.set_timing(v1::Timing::Strict);
            play.move_timeout_us = 300_000;
        }
    });
    let played = played.await;
    let asked = &played.timing.latencies_us;
    assert_eq!(played.record.faults[0].kind, FaultKind::Timeout);
    assert!(asked.last() >= Some(&300_000), "{asked:?}");
}

/// The seats that answered in a game of Kalah with this number of pits.
async fn answered(pits: i64, opponent: v1::AgentSetup) -> Vec<u32> {
    let mut setup = setup("kalah", vec![native("random"), opponent]);
    let (options, _) =
        arena_games::resolve("kalah", &[("pits".to_owned(), pits.into())].into(), None)
            .expect("options");
    setup.options = arena_wire::convert::options_to_wire(&options);
    let options = agents(Builtin::InProcess);
    let reports = play_games(setup, games(1), 1, Arc::new(Fixture), options).await;
    let report = reports.expect("a game").remove(0);
    let record = report.record.expect("a record");
    assert!(record.plies > 0 && record.faults.is_empty(), "{record:?}");
    report.answered
}

#[tokio::test]
async fn answered_seats_are_reported() {
    for opponent in [native("greedy"), process("good", &["--mode", "good"])] {
        assert_eq!(answered(6, opponent.clone()).await, [0, 1]);
        assert_eq!(answered(1, opponent).await, [0; 0]);
    }
}

#[tokio::test]
async fn foreign_rules_are_refused() {
    let mut setup = setup("kalah", vec![native("random"), native("random")]);
    setup.rules_version += 1;
    let error = play(setup, Builtin::InProcess)
        .await
        .expect_err("another version");
    assert!(matches!(error, PlayError::Setup(_)), "{error}");
}

#[tokio::test]
async fn description_or_error_is_returned() {
    let ask = async |agent: v1::AgentSetup| {
        let source = agent.source.expect("a source");
        describe(source, Arc::new(Fixture), agents(Builtin::InProcess)).await
    };
    let described = ask(process("good", &["--mode", "good"])).await;
    assert_eq!(described.expect("a description").name, "fixture");
    let nameless = ask(process("unary", &["--mode", "unary"])).await;
    assert_eq!(
        nameless.expect("a description"),
        v1::DescribeResponse::default()
    );
    let error = ask(process("none", &["--mode", "dies-at-start"])).await;
    assert_eq!(error.expect_err("3").kind, Some(FaultKind::NotReady));
    let far = endpoint("far", "http://127.0.0.1:9");
    let error = ask(far).await.expect_err("no agent");
    assert_eq!(error.kind, Some(FaultKind::Disconnected));
    assert!(error.message.contains("http://127.0.0.1:9"), "{error}");
}
