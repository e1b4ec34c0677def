//! Space on the disk: uploads leave room for results, and unneeded binaries are removed.

use std::{
    fs::File,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_store::{Options as StoreOptions, SledStore, Store, StoreError};
use arena_wire::{reasons, v1};
use tonic::Code;

use super::{
    agents::{binary, register, sha256, upload},
    fixture::{Fixture, SPEC, options, refused},
};

async fn coordinator(folder: &Path, reserve_bytes: u64) -> Fixture {
    let settings = StoreOptions {
        reserve_bytes,
        ..StoreOptions::default()
    };
    let store = SledStore::open(folder, &settings).expect("a store");
    Fixture::with(options(Arc::new(store))).await
}

#[tokio::test]
async fn upload_leaves_the_reserve_free() {
    let folder = tempfile::tempdir().expect("a folder");
    // Commits need the reserve. Uploads keep twice as much free.
    let store = SledStore::open(folder.path(), &StoreOptions::default()).expect("a store");
    let Err(StoreError::NoRoom { free, .. }) = store.reserve_upload(u64::MAX / 2) else {
        panic!("no disk is that large");
    };
    drop(store);
    let mut arena = coordinator(folder.path(), free / 4 * 3).await;
    let answer = upload(&mut arena, &sha256(b"bot"), b"bot").await;
    let text = refused(answer, Code::ResourceExhausted, reasons::STORE_FAILED);
    assert!(text.contains("make room"), "{text}");
    arena.start(SPEC).await;
    arena.stop().await;
}

#[tokio::test]
async fn changes_of_users_leave_the_last_space_for_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SledStore::open(folder.path(), &StoreOptions::default()).expect("a store");
    let Err(StoreError::NoRoom { free, .. }) = store.reserve_upload(u64::MAX / 2) else {
        panic!("no disk is that large");
    };
    drop(store);
    let mut arena = coordinator(folder.path(), free / 8 * 7).await;
    let agent = binary("mine", b"bot", "");
    let refusals = [
        register(&mut arena, agent, false).await.map(drop),
        { arena.coordinator }
            .start_tournament(v1::StartTournamentRequest {
                spec_toml: SPEC.to_owned(),
                ..Default::default()
            })
            .await
            .map(drop),
    ];
    for refusal in refusals {
        let text = refused(refusal, Code::ResourceExhausted, reasons::STORE_FAILED);
        assert!(text.contains("do not fit"), "{text}");
    }
}

#[tokio::test]
async fn unneeded_binaries_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let [registered, played, removed, young] = [&b"1"[..], b"2", b"3", b"4"];
    let mut arena = coordinator(folder.path(), 0).await;
    for bytes in [registered, played, removed, young] {
        let answer = upload(&mut arena, &sha256(bytes), bytes).await;
        answer.expect("taken");
    }
    for (name, bytes) in [
        ("registered", registered),
        ("played", played),
        ("removed", removed),
    ] {
        let agent = register(&mut arena, binary(name, bytes, ""), false).await;
        agent.expect("registered");
    }
    arena.start(&SPEC.replace("minimax", "played")).await;
    for name in ["played", "removed"] {
        let request = v1::RemoveAgentRequest {
            name: name.to_owned(),
            ..Default::default()
        };
        arena
            .coordinator
            .remove_agent(request)
            .await
            .expect("it is there");
    }
    arena.stop().await;
    let path = |bytes: &[u8]| folder.path().join("binaries").join(sha256(bytes));
    for bytes in [registered, played, removed] {
        let file = File::options()
            .write(true)
            .open(path(bytes))
            .expect("a binary");
        let then = SystemTime::now() - Duration::from_secs(7200);
        file.set_modified(then).expect("its time");
    }
    let mut arena = coordinator(folder.path(), 0).await;
    // The state's task has searched when it answers.
    let listed = arena
        .coordinator
        .list_agents(v1::ListAgentsRequest::default());
    listed.await.expect("answered");
    let kept = [registered, played, removed, young].map(|bytes| path(bytes).exists());
    assert_eq!(kept, [true, true, false, true]);
    arena.stop().await;
}
