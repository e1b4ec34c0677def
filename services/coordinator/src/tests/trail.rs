//! What the audit trail has of changes and of forged calls.

use std::fs;

use arena_access::Token;
use arena_wire::v1::{
    self, Role, agent::Source, worker_service_client::WorkerServiceClient as Worker,
};

use super::{
    door::Guarded,
    fixture::{SPEC, memory, options},
};
use crate::Options;

/// A coordinator with its trail in this folder.
async fn recorded(folder: &tempfile::TempDir) -> Guarded {
    let options = Options {
        events: Some(folder.path().to_owned()),
        ..options(memory())
    };
    Guarded::with(options, Token::draw().expect("random numbers")).await
}

#[tokio::test]
async fn changes_and_forged_calls_are_in_the_trail() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = recorded(&folder).await;
    let mut user = arena.user(&arena.admin);
    for bot in ["random", "minimax"] {
        let agent = v1::Agent {
            name: "mine".to_owned(),
            bot: bot.to_owned(),
            source: Some(Source::Native(v1::NativeSource {})),
            ..Default::default()
        };
        let request = v1::RegisterAgentRequest {
            agent: Some(agent),
            replace: true,
            ..Default::default()
        };
        user.register_agent(request).await.expect("registered");
    }
    let start = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let started = user.start_tournament(start).await.expect("started");
    let tournament_id = started.into_inner().tournament.expect("one").tournament_id;
    let cancel = v1::CancelTournamentRequest {
        tournament_id: tournament_id.clone(),
        ..Default::default()
    };
    user.cancel_tournament(cancel).await.expect("cancelled");
    let token = arena.create(Role::Worker).await;
    let mut worker = Worker::new(arena.connection(&token));
    let leave = v1::LeaveRequest {
        worker_id: "w1".to_owned(),
        ..Default::default()
    };
    worker.leave(leave).await.expect_err("no session");
    let report = v1::ReportRequest {
        worker_id: "w2".to_owned(),
        tournament_id,
        ..Default::default()
    };
    worker.report(report).await.expect_err("no ticket");
    arena.arena.stop().await;

    let text = fs::read_to_string(folder.path().join("events.jsonl")).expect("lines");
    let events = text.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        ["method", "outcome"].map(|key| event[key].as_str().expect("text").to_owned())
    });
    let expected = [
        ["RegisterAgent", "Ok"],
        ["RegisterAgent", "Ok"],
        ["StartTournament", "Ok"],
        ["CancelTournament", "Ok"],
        ["CreateToken", "Ok"],
        ["Leave", "FailedPrecondition"],
        ["Report", "PermissionDenied"],
    ];
    assert_eq!(events.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn changes_of_clients_that_left_are_in_the_trail() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = recorded(&folder).await;
    let mut user = arena.user(&arena.admin);
    for number in 0..200 {
        let agent = v1::Agent {
            name: format!("mine-{number}"),
            bot: "random".to_owned(),
            source: Some(Source::Native(v1::NativeSource {})),
            ..Default::default()
        };
        let request = v1::RegisterAgentRequest {
            agent: Some(agent),
            ..Default::default()
        };
        let mut leaves = user.clone();
        let call = tokio::spawn(async move { leaves.register_agent(request).await });
        for _ in 0..number % 40 {
            tokio::task::yield_now().await;
        }
        call.abort();
        let _ = call.await;
    }
    let request = v1::ListAgentsRequest {
        page_size: 1_000,
        ..Default::default()
    };
    let listed = user.list_agents(request).await.expect("a list");
    let agents = listed.into_inner().agents.into_iter().map(|it| it.name);
    let mut registered: Vec<String> = agents.filter(|it| it.starts_with("mine-")).collect();
    arena.arena.stop().await;
    assert!(!registered.is_empty());

    let text = fs::read_to_string(folder.path().join("events.jsonl")).expect("lines");
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        registered.retain(|name| event["target"] != **name);
    }
    assert_eq!(registered, [""; 0], "without a trace");
}
