//! A coordinator that restarts on the same store.

use std::{path::Path, sync::Arc};

use arena_store::{SledStore, Store};
use arena_wire::v1;

use super::fixture::{Fixture, SPEC, options, won};

async fn open(folder: &Path) -> Arc<dyn Store> {
    let folder = folder.to_owned();
    // Waits for the lock while the connections of the last holder end.
    let opening = tokio::task::spawn_blocking(move || {
        SledStore::open(folder, &arena_store::Options::default())
    });
    Arc::new(opening.await.expect("no panic").expect("it opens"))
}

#[tokio::test]
async fn killed_coordinator_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arena = Fixture::with(options(open(folder.path()).await)).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let played = worker.lease().await;
    worker.play(&played).await;
    let leased = worker.lease().await;
    let (id_before, epoch_before) = (worker.id.clone(), worker.boot_epoch);
    drop(worker);
    arena.kill().await;

    let mut arena = Fixture::with(options(open(folder.path()).await)).await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), v1::TournamentState::Running);
    assert_eq!(tournament.games_done, played.games.len() as u64);
    let mut back = arena.join("one").await;
    assert_ne!(back.boot_epoch, epoch_before);
    // A report from before the kill counts.
    (back.id, back.boot_epoch) = (id_before, epoch_before);
    back.play(&leased).await;
    drop(back);
    let mut worker = arena.join("two").await;
    let rest = worker.play_all().await;
    assert_eq!(rest, 40 - played.games.len() - leased.games.len());
    assert_eq!(arena.standings(&id).await.games, 40);
    drop(worker);
    arena.stop().await;

    // A finished tournament is shown unchanged.
    let mut arena = Fixture::with(options(open(folder.path()).await)).await;
    assert_eq!(
        arena.tournament(&id).await.state(),
        v1::TournamentState::Finished
    );
    assert_eq!(arena.tournament(&id).await.games_done, 40);
    assert_eq!(arena.standings(&id).await.games, 40);
    let mut worker = arena.join("three").await;
    let late = worker
        .report(&leased, vec![won(&leased.games[0], 1)])
        .await
        .expect("taken");
    assert_eq!(late.differing, [leased.games[0].index]);
    drop(worker);
    arena.stop().await;
}

#[tokio::test]
async fn documents_survive_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arena = Fixture::with(options(open(folder.path()).await)).await;
    let agent = v1::Agent {
        name: "mine".to_owned(),
        source: Some(v1::agent::Source::Endpoint(v1::EndpointSource {
            url: "unix:/run/mine".to_owned(),
            ..v1::EndpointSource::default()
        })),
        ..Default::default()
    };
    let register = v1::RegisterAgentRequest {
        request_id: "once".to_owned(),
        agent: Some(agent),
        replace: false,
    };
    let registered = arena.coordinator.register_agent(register.clone()).await;
    let registered = registered.expect("new").into_inner();
    let id = arena.start(SPEC).await.tournament_id;
    arena.pause(&id).await;
    arena.kill().await;

    let mut arena = Fixture::with(options(open(folder.path()).await)).await;
    let again = arena.coordinator.register_agent(register).await;
    assert_eq!(again.expect("the same").into_inner(), registered);
    assert_eq!(
        arena.tournament(&id).await.state(),
        v1::TournamentState::Paused
    );
    let mut worker = arena.join("one").await;
    assert_eq!(worker.try_lease(0).await.expect("answered"), None);
    arena.start(SPEC).await;
    assert!(!worker.lease().await.games.is_empty());
}
