//! Calls of those who are not the worker that they name.

use arena_wire::{reasons, v1};
use prost::Message;
use tonic::Code;

use super::{
    agents::{sha256, upload},
    fixture::{FakeWorker, Fixture, SPEC, memory, options, refused, unready, won},
};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A worker that knows everything of another one but its session.
async fn impostor(arena: &Fixture, victim: &FakeWorker) -> FakeWorker {
    let mut impostor = arena.join("impostor").await;
    impostor.id.clone_from(&victim.id);
    impostor.boot_epoch = victim.boot_epoch;
    impostor
}

#[tokio::test]
async fn report_without_ticket_is_refused() {
    let mut arena = Fixture::new().await;
    let tournament = arena.start(SPEC).await;
    let mut victim = arena.join("one").await;
    let lease = victim.lease().await;
    // Everything but the ticket can be known: it follows from the spec.
    let reports = |forged: &v1::Lease| -> Vec<v1::GameReport> {
        forged.games.iter().map(|game| won(game, 0)).collect()
    };
    let mut flipped = lease.ticket.clone();
    flipped[0] ^= 1;
    for ticket in [Vec::new(), vec![0; 64], flipped] {
        let forged = v1::Lease {
            ticket,
            ..lease.clone()
        };
        for mut stranger in [impostor(&arena, &victim).await, arena.join("two").await] {
            let answer = stranger.report(&forged, reports(&forged)).await;
            refused(answer, Code::PermissionDenied, reasons::NOT_LEASED);
        }
    }
    let now = arena.tournament(&tournament.tournament_id).await;
    assert_eq!(now.games_done, 0);
    victim.play(&lease).await;
}

#[tokio::test]
async fn ticket_does_not_cover_games_of_others() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut one = arena.join("one").await;
    let mut two = arena.join("two").await;
    let (first, second) = (one.lease().await, two.lease().await);
    let theirs = &second.games[0];
    for report in [won(theirs, 0), unready(theirs, 0)] {
        let both = vec![won(&first.games[0], 0), report];
        let answer = one.report(&first, both).await;
        refused(answer, Code::PermissionDenied, reasons::NOT_LEASED);
    }
}

#[tokio::test]
async fn impostor_can_neither_lease_nor_end_leases() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut victim = arena.join("one").await;
    let lease = victim.lease().await;
    let mut impostor = impostor(&arena, &victim).await;
    let unknown = |answer: Result<(), tonic::Status>| {
        refused(answer, Code::FailedPrecondition, reasons::UNKNOWN_WORKER);
    };
    unknown(impostor.try_lease(0).await.map(|_| ()));
    let heartbeat = v1::HeartbeatRequest {
        worker_id: impostor.id.clone(),
        boot_epoch: impostor.boot_epoch,
        session: impostor.session.clone(),
        ..Default::default()
    };
    unknown(impostor.client.heartbeat(heartbeat).await.map(|_| ()));
    let leave = v1::LeaveRequest {
        worker_id: impostor.id.clone(),
        boot_epoch: impostor.boot_epoch,
        session: impostor.session.clone(),
    };
    unknown(impostor.client.leave(leave).await.map(|_| ()));
    assert!(victim.beat(&lease, 1).await.is_empty(), "the lease ended");
    victim.play(&lease).await;
}

#[tokio::test]
async fn made_up_records_are_refused() {
    let mut arena = Fixture::with(crate::Options {
        trusts_records: false,
        ..options(memory())
    })
    .await;
    let tournament = arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let made_up = vec![won(&lease.games[0], 0)];
    let answer = worker.report(&lease, made_up).await;
    refused(answer, Code::InvalidArgument, reasons::RECORD_INVALID);
    let now = arena.tournament(&tournament.tournament_id).await;
    assert_eq!(now.games_done, 0);
}

#[tokio::test]
async fn liar_is_quarantined() {
    let mut arena = Fixture::with(crate::Options {
        trusts_records: false,
        ..options(memory())
    })
    .await;
    arena.start(SPEC).await;
    let mut liar = arena.join("liar").await;
    let lease = liar.lease().await;
    let made_up = vec![won(&lease.games[0], 0)];
    let answer = liar.report(&lease, made_up).await;
    refused(answer, Code::InvalidArgument, reasons::RECORD_INVALID);
    let quarantined = |answer| {
        refused(answer, Code::PermissionDenied, reasons::WORKER_QUARANTINED);
    };
    quarantined(liar.try_lease(0).await.map(|_| ()));
    quarantined(liar.report(&lease, Vec::new()).await.map(|_| ()));
    let mut honest = arena.join("honest").await;
    let again = honest.lease().await;
    assert_eq!(again.games[0].index, lease.games[0].index);
    let fleet = arena
        .coordinator
        .list_workers(v1::ListWorkersRequest::default());
    let fleet = fleet.await.expect("answered").into_inner().workers;
    let marks = fleet.iter().map(|it| (&*it.name, it.quarantined));
    assert_eq!(
        marks.collect::<Vec<_>>(),
        [("liar", true), ("honest", false)]
    );
}

#[tokio::test]
async fn broken_messages_do_not_quarantine() {
    let mut arena = Fixture::with(crate::Options {
        trusts_records: false,
        ..options(memory())
    })
    .await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let mut short = won(&lease.games[0], 0);
    short.record.as_mut().expect("a record").hash.truncate(31);
    let answer = worker.report(&lease, vec![short]).await;
    refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    assert!(worker.try_lease(0).await.is_ok());
}

#[tokio::test]
async fn large_requests_of_workers_are_refused() {
    let arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    let request = v1::LeaseRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
        known_tournaments: vec![String::new(); 100 * KIB],
        ..Default::default()
    };
    let answer = worker.client.lease(request).await;
    assert_eq!(answer.expect_err("too large").code(), Code::OutOfRange);
    let long = "x".repeat(KIB);
    let join = v1::JoinRequest {
        name: "one".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        record_version: arena_model::RECORD_VERSION,
        ..Default::default()
    };
    let version = format!("{}-{long}", env!("CARGO_PKG_VERSION"));
    for join in [
        v1::JoinRequest {
            name: long.clone(),
            ..join.clone()
        },
        v1::JoinRequest {
            version,
            ..join.clone()
        },
        v1::JoinRequest {
            rulesets: [(long, 1)].into(),
            ..join
        },
    ] {
        let answer = worker.client.join(join).await.map(|_| ());
        refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    }
    assert!(worker.try_lease(0).await.is_ok(), "the connection stays");
}

#[tokio::test]
async fn leases_joins_and_heartbeats_have_up_to_64_kib() {
    let arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    // A message follows five bytes with its length.
    for (bytes, fits) in [(64 * KIB - 5, true), (64 * KIB - 4, false)] {
        // Tag and length of a text of this size take four bytes.
        let worker_id = "w".repeat(bytes - 4);
        let lease = v1::LeaseRequest {
            worker_id: worker_id.clone(),
            ..Default::default()
        };
        let heartbeat = v1::HeartbeatRequest {
            worker_id: worker_id.clone(),
            ..Default::default()
        };
        let join = v1::JoinRequest {
            name: worker_id,
            ..Default::default()
        };
        let sizes = [
            lease.encoded_len(),
            heartbeat.encoded_len(),
            join.encoded_len(),
        ];
        assert_eq!(sizes, [bytes; 3]);
        let answers = [
            worker.client.lease(lease).await.map(drop),
            worker.client.heartbeat(heartbeat).await.map(drop),
            worker.client.join(join).await.map(drop),
        ];
        for answer in answers {
            let code = answer.expect_err("an unknown worker").code();
            assert_eq!(code == Code::OutOfRange, !fits, "{bytes}: {code:?}");
        }
    }
}

#[tokio::test]
async fn requests_that_need_far_more_memory_than_bytes_are_refused() {
    let arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    let report = v1::ReportRequest {
        games: vec![v1::GameReport::default(); MIB],
        ..Default::default()
    };
    refused(
        worker.client.report(report).await,
        Code::InvalidArgument,
        reasons::REQUEST_INVALID,
    );
    let replay = v1::ReplayRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        session: worker.session.clone(),
        known_tournaments: vec![String::new(); 2 * MIB - KIB],
        ..Default::default()
    };
    refused(
        worker.client.replay(replay).await,
        Code::InvalidArgument,
        reasons::REQUEST_INVALID,
    );
    assert!(worker.try_lease(0).await.is_ok(), "the connection stays");
}

#[tokio::test]
async fn stalled_downloads_leave_room_for_other_calls() {
    let mut arena = Fixture::new().await;
    let bytes = vec![7; 16 << 20];
    let sha256 = sha256(&bytes);
    upload(&mut arena, &sha256, &bytes).await.expect("uploaded");
    // Its streams share the flow control of one connection.
    let mut stalling = arena.join("stalling").await;
    let mut open = Vec::new();
    let mut refusals = 0;
    for _ in 0..2 * crate::handle::TRANSFERS_MAX {
        let request = v1::FetchBinaryRequest {
            sha256: sha256.clone(),
            ..Default::default()
        };
        match stalling.client.fetch_binary(request).await {
            Ok(stream) => open.push(stream.into_inner()),
            Err(status) => {
                refused(
                    Err::<(), _>(status),
                    Code::ResourceExhausted,
                    reasons::OVERLOADED,
                );
                refusals += 1;
            }
        }
    }
    assert_eq!(open.len(), crate::handle::TRANSFERS_MAX);
    assert!(refusals > 0);
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    worker.play(&lease).await;
}
