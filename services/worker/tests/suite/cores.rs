//! Several drivers, several processes of an agent, and cores.

use std::{collections::BTreeMap, sync::Arc};

use arena_model::GameRecord;
use arena_wire::v1;
use arena_worker::{AgentOptions, Builtin, play_games, supervise::Outputs};

use crate::common::{Fixture, agents, games, process, setup};

/// The hash of each game, and the number of processes that played.
async fn played(
    setup: v1::TournamentSetup,
    count: u64,
    change: impl FnOnce(&mut AgentOptions),
) -> (BTreeMap<u64, String>, usize) {
    let outputs = Outputs::default();
    let mut options = agents(Builtin::InProcess);
    options.outputs = Some(outputs.clone());
    change(&mut options);
    let reports = play_games(setup, games(count), 64, Arc::new(Fixture), options).await;
    let hash = |report: v1::GameReport| {
        assert_eq!(report.void_reason, "");
        let record = report.record.expect("a record");
        let record = GameRecord::try_from(&record).expect("a record");
        (record.index, format!("{:?}", record.hash))
    };
    let hashes = reports.expect("games").into_iter().map(hash).collect();
    (hashes, outputs.processes().len())
}

fn with_replicas(mut agents: Vec<v1::AgentSetup>, replicas: u32) -> v1::TournamentSetup {
    for agent in &mut agents {
        agent.replicas = replicas;
    }
    setup("kalah", agents)
}

#[tokio::test]
async fn drivers_and_replicas_change_no_record() {
    // The processes of one of the agents die again and again.
    let agents = || {
        let dies = process(
            "dies",
            &["--mode", "crash", "--every", "97", "--takes-ms", "1"],
        );
        vec![dies, process("lives", &[])]
    };
    let mut expected: Option<BTreeMap<u64, String>> = None;
    for (drivers, replicas) in [(1, 1), (1, 3), (2, 1), (2, 3)] {
        let setup = with_replicas(agents(), replicas);
        let (hashes, processes) = played(setup, 24, |options| options.drivers = drivers).await;
        assert_eq!(hashes.len(), 24);
        let of = format!("{drivers} drivers, {replicas} replicas");
        assert!(processes > 2, "no process died: {of}");
        match &expected {
            None => expected = Some(hashes),
            Some(expected) => assert_eq!(*expected, hashes, "{of}"),
        }
    }
}

#[tokio::test]
async fn slow_agent_gets_all_its_replicas() {
    for (drivers, replicas) in [(1, 3), (2, 3), (2, 1)] {
        let slow = |name| process(name, &["--takes-ms", "20"]);
        let setup = with_replicas(vec![slow("a"), slow("b")], replicas);
        let (_, processes) = played(setup, 12, |options| options.drivers = drivers).await;
        let of = format!("{drivers} drivers, {replicas} replicas");
        assert_eq!(processes, 2 * replicas as usize, "{of}");
    }
}

#[tokio::test]
async fn sticky_process_plays_one_game_at_a_time() {
    for timing in [v1::Timing::Throughput, v1::Timing::Strict] {
        let agent = |name| v1::AgentSetup {
            sticky: true,
            ..process(
                name,
                &["--mode", "sticky", "--every", "0", "--takes-ms", "1"],
            )
        };
        let mut setup = with_replicas(vec![agent("a"), agent("b")], 2);
        if let Some(play) = &mut setup.play {
            play.set_timing(timing);
        }
        let reports = play_games(
            setup,
            games(8),
            64,
            Arc::new(Fixture),
            AgentOptions {
                drivers: 1,
                ..agents(Builtin::InProcess)
            },
        );
        for report in reports.await.expect("games") {
            assert_eq!(report.fault_details, [], "{timing:?}");
        }
    }
}

#[tokio::test]
async fn strict_timing_gives_each_process_its_cores() {
    let agent = |name| process(name, &["--mode", "on-one-core", "--every", "0"]);
    let mut setup = with_replicas(vec![agent("a"), agent("b")], 0);
    if let Some(play) = &mut setup.play {
        play.set_timing(v1::Timing::Strict);
    }
    let options = agents(Builtin::InProcess);
    let reports = play_games(setup, games(4), 64, Arc::new(Fixture), options);
    for report in reports.await.expect("games") {
        assert_eq!(report.fault_details, []);
    }
}

#[tokio::test]
async fn agent_that_needs_more_memory_than_there_is_is_not_played() {
    let mut agent = process("large", &[]);
    if let Some(v1::agent_setup::Source::Binary(binary)) = &mut agent.source {
        binary.limits = Some(v1::AgentLimits {
            memory_bytes: 1 << 60,
            ..Default::default()
        });
    }
    let setup = with_replicas(vec![agent, process("b", &[])], 0);
    let options = agents(Builtin::InProcess);
    let reports = play_games(setup, games(1), 1, Arc::new(Fixture), options).await;
    let reason = reports.expect("a report").remove(0).void_reason;
    assert!(
        reason.contains("each process needs 1099511627776 MiB"),
        "{reason}"
    );
}

#[tokio::test]
async fn agent_that_needs_more_cores_than_there_are_is_not_played() {
    let mut agent = process("wide", &[]);
    agent.cpus = 1_000;
    let mut setup = with_replicas(vec![agent, process("b", &[])], 0);
    if let Some(play) = &mut setup.play {
        play.set_timing(v1::Timing::Strict);
    }
    let options = agents(Builtin::InProcess);
    let reports = play_games(setup, games(1), 1, Arc::new(Fixture), options).await;
    let reason = reports.expect("a report").remove(0).void_reason;
    assert!(reason.contains("needs 1000 cores"), "{reason}");
}
