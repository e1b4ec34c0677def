//! What requests may occupy while they are read.

use arena_wire::{reasons, v1::Role};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::{
    agents::{parts, sha256},
    door::Guarded,
    fixture::refused,
};
use crate::{door::Principal, handle::OWN_UPLOADS_MAX};

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
