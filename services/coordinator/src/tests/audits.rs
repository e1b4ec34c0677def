//! Audits: which games, and what a worker sees of them.

use std::{collections::BTreeSet, sync::Arc};

use arena_store::Store;
use arena_wire::v1;

use super::fixture::{FakeWorker, Fixture, SPEC, memory, options};
use crate::Options;

/// Audits half of all games.
fn half(store: &Arc<dyn Store>) -> Options {
    Options {
        audit_share: 0.5,
        ..options(Arc::clone(store))
    }
}

/// The games that a worker is leased while there are any.
async fn leased(worker: &mut FakeWorker) -> BTreeSet<u64> {
    let mut games = BTreeSet::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        games.extend(lease.games.iter().map(|game| game.index));
    }
    games
}

#[tokio::test]
async fn audited_games_follow_from_the_store() {
    let stores = [memory(), memory()];
    let mut samples = Vec::new();
    for store in [&stores[0], &stores[0], &stores[1]] {
        let mut arena = Fixture::with(half(store)).await;
        if arena.start(SPEC).await.games_done == 0 {
            arena.join("player").await.play_all().await;
        }
        samples.push(leased(&mut arena.join("auditor").await).await);
        arena.kill().await;
    }
    assert!((5..35).contains(&samples[0].len()), "{samples:?}");
    assert_eq!(samples[0], samples[1], "after a restart");
    assert_ne!(samples[0], samples[2], "of another store");
}

#[tokio::test]
async fn spec_sets_the_audit_share() {
    let store = memory();
    let spec = |share: f64| format!("{SPEC}[play]\naudit_share = {share}\n");
    let mut arena = Fixture::with(half(&store)).await;
    let id = arena.start(&spec(1.0)).await.tournament_id;
    arena.join("player").await.play_all().await;
    let due = |tournament: v1::Tournament| tournament.audits.map_or(0, |audits| audits.due);
    assert_eq!(due(arena.tournament(&id).await), 40);
    arena.kill().await;
    let mut arena = Fixture::with(half(&store)).await;
    assert_eq!(due(arena.tournament(&id).await), 40, "after a restart");
    // The same tournament, whatever its share is.
    assert_eq!(arena.start(&spec(0.0)).await.tournament_id, id);
    assert_eq!(arena.start(SPEC).await.tournament_id, id);
    assert_eq!(arena.start(&spec(0.0)).await.games_done, 40);
    arena.kill().await;
    let mut arena = Fixture::with(half(&store)).await;
    assert_eq!(due(arena.tournament(&id).await), 0, "its new share");
}
