//! Requests a second, and refused ones.

use std::time::Duration;

use arena_wire::{
    limits, reasons,
    v1::{
        self, Role, coordinator_service_client::CoordinatorServiceClient,
        worker_service_client::WorkerServiceClient,
    },
};
use tokio::task::JoinSet;
use tonic::Code;
use tonic_types::StatusExt;

use super::{
    super::{door::Guarded, fixture::refused},
    guarded, limit_reached, limited, of_limit, register,
};

#[tokio::test]
async fn excess_requests_are_refused_with_a_delay() {
    let arena = guarded().await;
    let mut user = limited(&arena, &limits::REQUESTS, 1).await;
    let mut other = limited(&arena, &limits::REQUESTS, 1).await;
    let list = v1::ListAgentsRequest::default;
    user.list_agents(list()).await.expect("the first");
    // Each call takes far less than a second.
    let excess = loop {
        if let Err(status) = user.list_agents(list()).await {
            break status;
        }
    };
    let delay = excess.get_details_retry_info().expect("a RetryInfo");
    let delay = delay.retry_delay.expect("a delay");
    assert!(delay <= Duration::from_secs(1), "{delay:?}");
    limit_reached(Err::<(), _>(excess), &limits::REQUESTS, 1);
    other.list_agents(list()).await.expect("its own bucket");
    let text = metrics(&arena).await;
    let series = "arena_requests_refused_total{reason=\"LIMIT_REACHED\"} 1";
    assert!(text.contains(series), "{text}");
}

#[tokio::test]
async fn patient_connection_waits() {
    let arena = guarded().await;
    let token = arena.try_create(of_limit(&limits::REQUESTS, 20), 0).await;
    let connection = arena.connection(&token.expect("created")).patient();
    let mut user = CoordinatorServiceClient::new(connection);
    for _ in 0..30 {
        let list = v1::ListAgentsRequest::default();
        user.list_agents(list).await.expect("after a while");
    }
    // Other refusals are no reason to wait.
    let token = arena.try_create(of_limit(&limits::AGENTS, 0), 0).await;
    let connection = arena.connection(&token.expect("created")).patient();
    let mut user = CoordinatorServiceClient::new(connection);
    limit_reached(register(&mut user, "a").await, &limits::AGENTS, 0);
}

pub(in crate::tests) async fn metrics(arena: &Guarded) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(arena.arena.metrics).await;
    let stream = stream.as_mut().expect("it listens");
    let request = b"GET /metrics HTTP/1.0\r\n\r\n";
    stream.write_all(request).await.expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("it answers");
    text
}

#[tokio::test]
async fn refusals_of_the_state_are_counted() {
    let arena = guarded().await;
    let mut user = limited(&arena, &limits::AGENTS, 0).await;
    for _ in 0..3 {
        limit_reached(register(&mut user, "a").await, &limits::AGENTS, 0);
    }
    let text = metrics(&arena).await;
    let series = "arena_requests_refused_total{reason=\"LIMIT_REACHED\"} 3";
    assert!(text.contains(series), "{text}");
}

/// More calls than a worker makes in several seconds.
#[tokio::test]
async fn busy_worker_is_not_refused() {
    const CALLS: usize = 5_000;
    let arena = guarded().await;
    let token = arena.create(Role::Worker).await;
    let client = WorkerServiceClient::new(arena.connection(&token));
    let mut calls = JoinSet::new();
    for _ in 0..64 {
        let mut client = client.clone();
        calls.spawn(async move {
            for _ in 0..CALLS / 64 {
                let answer = client.heartbeat(v1::HeartbeatRequest::default()).await;
                refused(answer, Code::FailedPrecondition, reasons::UNKNOWN_WORKER);
            }
        });
    }
    calls.join_all().await;
}
