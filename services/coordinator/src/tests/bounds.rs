//! What requests may occupy while they are read, and what registrations may ask for.

use arena_wire::{
    reasons,
    v1::{self, AgentLimits, Role, agent::Source},
};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::{
    agents::{binary, endpoint, parts, register, sha256, upload},
    door::{Guarded, owners},
    fixture::{FakeWorker, Fixture, refused},
};
use crate::{binaries::OWN_UPLOADS_MAX, handle::TRANSFERS_MAX, principal::Principal};

#[tokio::test]
async fn stalled_uploads_of_one_owner_leave_places_for_others() {
    let arena = Guarded::new().await;
    let [owner, other] = [
        arena.create(Role::Submitter).await,
        arena.create(Role::Submitter).await,
    ];
    let mut open = JoinSet::new();
    for number in 0..=OWN_UPLOADS_MAX {
        let mut client = arena.user(&owner);
        let bytes = number.to_le_bytes();
        let header = parts(&sha256(&bytes), &bytes);
        let header = header.take(1);
        let stalled = header.chain(tokio_stream::pending());
        open.spawn(async move { client.upload_binary(stalled).await });
    }
    let first = open
        .join_next()
        .await
        .expect("an answer")
        .expect("no panic");
    refused(
        first.map(drop),
        Code::ResourceExhausted,
        reasons::OVERLOADED,
    );
    assert_eq!(open.len() as u32, OWN_UPLOADS_MAX);
    let parts = parts(&sha256(b"x"), b"x");
    let uploaded = arena.user(&other).upload_binary(parts).await;
    uploaded.expect("a place");
}

#[tokio::test]
async fn stalled_downloads_of_one_worker_token_leave_places_for_others() {
    let arena = Guarded::new().await;
    // Larger than what a connection takes without a reader.
    let program = vec![7; 16 << 20];
    let mut admin = arena.user(&arena.admin);
    let uploaded = admin
        .upload_binary(parts(&sha256(&program), &program))
        .await;
    uploaded.expect("uploaded");
    let agent = v1::RegisterAgentRequest {
        agent: Some(binary("mine", &program, "")),
        ..Default::default()
    };
    admin.register_agent(agent).await.expect("registered");
    let start = v1::StartTournamentRequest {
        spec_toml: owners::spec() + "[play]\nsandbox = \"none\"\n",
        ..Default::default()
    };
    admin.start_tournament(start).await.expect("started");
    let join = async |name, process| {
        let token = arena.create(Role::Worker).await;
        let mut worker = FakeWorker::join_with(arena.connection(&token), name, process).await;
        let request = v1::LeaseRequest {
            worker_id: worker.id.clone(),
            boot_epoch: worker.boot_epoch,
            session: worker.session.clone(),
            games: 1,
            ..Default::default()
        };
        let lease = worker.client.lease(request).await.expect("answered");
        lease.into_inner().lease.expect("a game");
        worker
    };
    let fetch = async |worker: &mut FakeWorker| {
        let request = v1::FetchBinaryRequest {
            sha256: sha256(&program),
            worker_id: worker.id.clone(),
            boot_epoch: worker.boot_epoch,
            session: worker.session.clone(),
        };
        worker.client.fetch_binary(request).await
    };
    let [mut one, mut other] = [join("one", 1).await, join("other", 2).await];
    let mut open = Vec::new();
    let refusal = loop {
        match fetch(&mut one).await {
            Ok(stream) => open.push(stream),
            Err(status) => break status,
        }
    };
    refused(
        Err::<(), _>(refusal),
        Code::ResourceExhausted,
        reasons::OVERLOADED,
    );
    assert_eq!(open.len(), TRANSFERS_MAX * 3 / 4);
    fetch(&mut other).await.expect("a place");
}

#[tokio::test]
async fn request_without_token_is_small() {
    let arena = Guarded::new().await;
    let mut client = HealthClient::new(arena.channel.clone());
    let mut check = async |bytes| {
        let service = "x".repeat(bytes);
        let answer = client.check(HealthCheckRequest { service }).await;
        answer.expect_err("no such service").code()
    };
    assert_eq!(check(4000).await, Code::NotFound);
    assert_eq!(check(5000).await, Code::OutOfRange);
}

#[tokio::test]
async fn long_targets_are_cut_in_the_trail() {
    let principal = Principal::anonymous();
    principal.on(&"é".repeat(1 << 20));
    assert_eq!(principal.target(), "é".repeat(128));
}

/// An agent with these limits of its processes.
fn limited(limits: AgentLimits) -> v1::Agent {
    let mut agent = binary("mine", b"program", "");
    if let Some(Source::Binary(binary)) = &mut agent.source {
        binary.limits = Some(limits);
    }
    agent
}

#[tokio::test]
async fn boundless_limits_of_agents_are_refused() {
    let mut arena = Fixture::new().await;
    upload(&mut arena, &sha256(b"program"), b"program")
        .await
        .expect("uploaded");
    let most = AgentLimits {
        start_timeout_us: 600_000_000,
        memory_bytes: 1 << 40,
        processes: 4096,
        output_bytes: 1 << 30,
        disk_bytes: 1 << 40,
        cpu_us: 365 * 86_400 * 1_000_000,
    };
    type Field = fn(&mut AgentLimits, u64);
    let fields: [(&str, u64, Field); 6] = [
        (
            "600 seconds to get ready",
            most.start_timeout_us,
            |it, value| {
                it.start_timeout_us = value;
            },
        ),
        ("1048576 MiB of memory", most.memory_bytes, |it, value| {
            it.memory_bytes = value;
        }),
        ("4096 processes", most.processes.into(), |it, value| {
            it.processes = u32::try_from(value).unwrap_or(u32::MAX);
        }),
        (
            "1073741824 bytes of output",
            most.output_bytes,
            |it, value| {
                it.output_bytes = value;
            },
        ),
        (
            "1048576 MiB of scratch folder",
            most.disk_bytes,
            |it, value| {
                it.disk_bytes = value;
            },
        ),
        ("31536000 seconds of CPU time", most.cpu_us, |it, value| {
            it.cpu_us = value;
        }),
    ];
    for (name, most, set) in fields {
        for value in [most + 1, u64::MAX] {
            let mut limits = AgentLimits::default();
            set(&mut limits, value);
            let answer = register(&mut arena, limited(limits), false).await;
            let text = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
            assert!(
                text.contains(&format!("\"mine\": at most {name}")),
                "{text}"
            );
        }
    }
    let request = v1::GetAgentRequest {
        name: "mine".to_owned(),
    };
    let unknown = arena.coordinator.get_agent(request).await;
    refused(unknown, Code::NotFound, reasons::UNKNOWN_AGENT);
    let agent = register(&mut arena, limited(most), false).await;
    assert_eq!(agent.expect("registered").source, limited(most).source);
}

#[tokio::test]
async fn large_registrations_are_refused() {
    let mut arena = Fixture::new().await;
    let mut agent = endpoint("large", "http://127.0.0.1:1");
    agent.version = "x".repeat(950 << 10);
    for _ in 0..2 {
        let answer = register(&mut arena, agent.clone(), false).await;
        let text = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
        assert!(text.contains("exceeds 131072 bytes"), "{text}");
    }
    let request = v1::GetAgentRequest {
        name: "large".to_owned(),
    };
    let unknown = arena.coordinator.get_agent(request).await;
    refused(unknown, Code::NotFound, reasons::UNKNOWN_AGENT);
}
