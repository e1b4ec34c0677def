//! Bytes of uploads.

use std::{future::pending, pin::Pin, time::Duration};

use arena_wire::{
    limits,
    v1::{self, Role, upload_binary_request::Part, worker_service_client::WorkerServiceClient},
};
use tokio::task::JoinSet;
use tokio_stream::{Stream, StreamExt};
use tonic::Code;

use super::{
    super::agents::{parts, sha256},
    BYTES, content, guarded, limit_reached, limited, of_limit, upload,
};
use crate::handle::{OWN_DOWNLOADS_MAX, UPLOADS_MAX};

/// An upload that stands still ends within this time.
const UPLOAD_MAX: Duration = Duration::from_secs(30);

#[tokio::test]
async fn stored_binaries_count() {
    let arena = guarded().await;
    let mut user = limited(&arena, &limits::UPLOAD_BYTES, BYTES as u64).await;
    upload(&mut user, "a").await.expect("room");
    upload(&mut user, "a").await.expect("it is known");
    let excess = upload(&mut user, "b").await;
    limit_reached(excess, &limits::UPLOAD_BYTES, BYTES as u64);
    // A small file occupies a block of the disk.
    let token = of_limit(&limits::UPLOAD_BYTES, 4_096);
    let token = arena.try_create(token, 0).await.expect("created");
    let mut user = arena.user(&token);
    for (bytes, fits) in [(b"1", true), (b"2", false)] {
        let answer = user.upload_binary(parts(&sha256(bytes), bytes)).await;
        assert_eq!(answer.is_ok(), fits);
    }
}

#[tokio::test]
async fn idle_upload_ends_and_frees_its_room() {
    let arena = guarded().await;
    let mut token = of_limit(&limits::UPLOAD_BYTES, BYTES as u64);
    limits::UPLOAD_IDLE.set(token.limits.get_or_insert_default(), Some(1));
    let token = arena.try_create(token, 0).await.expect("created");
    let mut user = arena.user(&token);
    // Only the header, the header and a part, and then chunks without a byte.
    for (streams, drips) in [(1, false), (2, false), (2, true)] {
        let bytes = content("idle");
        let started = parts(&sha256(&bytes), &bytes).take(streams);
        let drip = || v1::UploadBinaryRequest {
            part: Some(Part::Chunk(Vec::new())),
        };
        let empty = tokio_stream::iter(std::iter::repeat_with(drip));
        let empty = empty.throttle(Duration::from_millis(50));
        let parts: Pin<Box<dyn Stream<Item = _> + Send>> = match drips {
            true => Box::pin(started.chain(empty)),
            // The rest never arrives.
            false => Box::pin(started.chain(tokio_stream::once(()).then(|()| pending()))),
        };
        let ended = tokio::time::timeout(UPLOAD_MAX, user.upload_binary(parts)).await;
        limit_reached(ended.expect("in time").map(drop), &limits::UPLOAD_IDLE, 1);
    }
    upload(&mut user, "whole").await.expect("room again");
}

/// An upload counts from its header on.
#[tokio::test]
async fn open_uploads_count() {
    let arena = guarded().await;
    let user = limited(&arena, &limits::UPLOAD_BYTES, BYTES as u64).await;
    let part = |part| v1::UploadBinaryRequest { part: Some(part) };
    let mut uploads = JoinSet::new();
    let mut senders = Vec::new();
    for name in ["one", "two"] {
        let bytes = content(name);
        let header = Part::Header(v1::BinaryHeader {
            sha256: sha256(&bytes),
            size_bytes: BYTES as u64,
        });
        let (sender, parts) = tokio::sync::mpsc::channel(2);
        sender.send(part(header)).await.expect("room");
        senders.push((sender, bytes));
        let mut user = user.clone();
        uploads.spawn(async move {
            let parts = tokio_stream::wrappers::ReceiverStream::new(parts);
            user.upload_binary(parts).await.map(drop)
        });
    }
    // Neither sends its content, so that one of them is in the way of the other.
    let excess = uploads.join_next().await.expect("two").expect("no panic");
    limit_reached(excess, &limits::UPLOAD_BYTES, BYTES as u64);
    for (sender, bytes) in senders {
        // That of the refused one has no receiver.
        let _ = sender.send(part(Part::Chunk(bytes))).await;
    }
    let first = uploads.join_next().await.expect("the other");
    first.expect("no panic").expect("its own room");
}

#[tokio::test]
async fn open_uploads_of_others_leave_room_for_administrators() {
    let arena = guarded().await;
    let mut open = Vec::new();
    for number in 0..UPLOADS_MAX {
        let token = arena.create(Role::Submitter).await;
        let mut user = arena.user(&token);
        let bytes = content(&number.to_string());
        let header = parts(&sha256(&bytes), &bytes).take(1);
        let parts = header.chain(tokio_stream::once(()).then(|()| pending()));
        open.push(tokio::spawn(async move {
            user.upload_binary(parts).await.map(drop)
        }));
    }
    let token = arena.create(Role::Submitter).await;
    let mut user = arena.user(&token);
    // Until all of them have a place.
    while upload(&mut user, "another").await.is_ok() {
        tokio::task::yield_now().await;
    }
    let mut admin = arena.user(&arena.admin);
    upload(&mut admin, "own").await.expect("a place");
    assert!(!open.iter().any(|it| it.is_finished()));
}

#[tokio::test]
async fn stalled_downloads_of_one_owner_leave_room_for_others() {
    let arena = guarded().await;
    let bytes = vec![7; 16 << 20];
    let request = || v1::FetchBinaryRequest {
        sha256: sha256(&bytes),
        ..Default::default()
    };
    // Before the streams stand still, because those of one connection share its flow control.
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let token = arena.create(Role::Submitter).await;
        let mut user = arena.user(&token);
        let uploaded = user.upload_binary(parts(&sha256(&bytes), &bytes)).await;
        uploaded.expect("room");
        tokens.push(token);
    }
    let mut streams = Vec::new();
    let mut refused = 0;
    for (owner, token) in tokens.iter().enumerate() {
        let mut user = WorkerServiceClient::new(arena.connection(token));
        for _ in 0..=OWN_DOWNLOADS_MAX {
            match user.fetch_binary(request()).await {
                Ok(stream) => streams.push(stream.into_inner()),
                Err(status) => {
                    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
                    refused += 1;
                }
            }
        }
        assert_eq!(streams.len(), (owner + 1) * OWN_DOWNLOADS_MAX);
    }
    assert_eq!(refused, 2);
}
