//! Stores that have lost games. The games are played again, with the same result.

use std::sync::Arc;

use arena_store::{Change, Collection, MemoryStore, Store};
use arena_wire::v1::{self, TournamentState};

use super::{
    fixture::{FakeWorker, Fixture, SPEC, memory, options},
    stages::{play, played, spec, straight},
};
use crate::Options;

/// A copy of a store without these games of a tournament.
fn without(store: &dyn Store, tournament: &str, lost: impl Fn(u64) -> bool) -> Arc<dyn Store> {
    let left = MemoryStore::new().expect("a memory store");
    for &collection in Collection::ALL {
        for (key, value) in store.list(collection).expect("readable") {
            left.put(collection, &key, &value).expect("room");
        }
    }
    let mut games = Vec::new();
    store
        .scan(tournament, &mut |game| games.push(game))
        .expect("readable");
    games.retain(|game| !lost(game.index));
    left.append_and_wait(games).expect("room");
    Arc::new(left)
}

fn audited(store: &Arc<dyn Store>) -> Options {
    Options {
        audit_share: 1.0,
        ..options(Arc::clone(store))
    }
}

async fn play_first(worker: &mut FakeWorker) {
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        let reports = lease.games.iter().map(played).collect();
        worker.report(&lease, reports).await.expect("taken");
    }
}

#[tokio::test]
async fn finished_tournament_replays_lost_games() {
    let store = memory();
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    let id = arena.start(SPEC).await.tournament_id;
    play(&mut arena.join("one").await, usize::MAX).await;
    let expected = arena.standings(&id).await;
    arena.kill().await;

    let store = without(&*store, &id, |index| (7..12).contains(&index));
    for time in 0..2 {
        let mut arena = Fixture::with(options(Arc::clone(&store))).await;
        let found = arena.tournament(&id).await;
        assert_eq!(found.state(), TournamentState::Running, "start {time}");
        assert_eq!((found.games_done, found.finished_unix_us), (35, 0));
        arena.kill().await;
    }
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    assert!(
        !arena
            .try_start(SPEC, false)
            .await
            .expect("it goes on")
            .created
    );
    assert_eq!(play(&mut arena.join("two").await, usize::MAX).await, 5);
    let found = arena.tournament(&id).await;
    assert_eq!(found.state(), TournamentState::Finished);
    assert!(found.finished_unix_us > 0);
    assert_eq!(arena.standings(&id).await, expected);
    assert_eq!(store.count(&id), 40);
}

#[tokio::test]
async fn lost_games_of_stages_keep_the_verdict() {
    for format in ["knockout", "swiss", "ladder"] {
        let spec = spec(format);
        let (expected, standings) = straight(&spec).await;
        let whole = memory();
        let mut arena = Fixture::with(options(Arc::clone(&whole))).await;
        let id = arena.start(&spec).await.tournament_id;
        play(&mut arena.join("one").await, usize::MAX).await;
        arena.kill().await;
        let last = expected.games_done - 1;
        let lost: [fn(u64, u64) -> bool; 4] = [
            |index, _| index < 3,
            |index, last| index == 4 || index == last,
            |index, last| index == last / 2,
            |_, _| true,
        ];
        for (case, lost) in lost.into_iter().enumerate() {
            let case = format!("{format}, case {case}");
            let store = without(&*whole, &id, |index| lost(index, last));
            let missing = (0..=last).filter(|&index| lost(index, last)).count();
            let mut arena = Fixture::with(options(Arc::clone(&store))).await;
            let found = arena.tournament(&id).await;
            assert_eq!(found.state(), TournamentState::Running, "{case}");
            assert_eq!(found.verdict_json, "", "{case}");
            arena.kill().await;
            let mut arena = Fixture::with(options(Arc::clone(&store))).await;
            let again = play(&mut arena.join("two").await, usize::MAX).await;
            assert_eq!(again, missing, "{case}");
            let found = arena.tournament(&id).await;
            assert_eq!(found.state(), TournamentState::Finished, "{case}");
            assert_eq!(found.games_done, expected.games_done, "{case}");
            assert_eq!(found.games_total, expected.games_total, "{case}");
            assert_eq!(found.verdict_json, expected.verdict_json, "{case}");
            assert_eq!(arena.standings(&id).await, standings, "{case}");
            arena.kill().await;
        }
    }
}

#[tokio::test]
async fn lost_document_keeps_games() {
    let whole = memory();
    let mut arena = Fixture::with(options(Arc::clone(&whole))).await;
    let id = arena.start(SPEC).await.tournament_id;
    play(&mut arena.join("one").await, usize::MAX).await;
    let expected = arena.standings(&id).await;
    arena.kill().await;
    let store = without(&*whole, &id, |index| index >= 30);
    let removal = Change {
        collection: Collection::Tournaments,
        key: id.clone(),
        value: None,
    };
    store.put_many(vec![removal]).expect("there");
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    assert_eq!(arena.start(SPEC).await.tournament_id, id);
    assert_eq!(arena.tournament(&id).await.games_done, 30);
    assert_eq!(play(&mut arena.join("two").await, usize::MAX).await, 10);
    assert_eq!(arena.standings(&id).await, expected);
}

#[tokio::test]
async fn lost_game_is_audited_again() {
    let store = memory();
    let mut arena = Fixture::with(audited(&store)).await;
    let id = arena.start(SPEC).await.tournament_id;
    play_first(&mut arena.join("one").await).await;
    play(&mut arena.join("two").await, usize::MAX).await;
    let reported = |audits: v1::Audits| (audits.due, audits.agreed, audits.waiting);
    let audits = arena.tournament(&id).await.audits.expect("audited");
    assert_eq!(reported(audits), (40, 40, 0));
    arena.kill().await;

    let store = without(&*store, &id, |index| index >= 34);
    for _ in 0..2 {
        let mut arena = Fixture::with(audited(&store)).await;
        let audits = arena.tournament(&id).await.audits.expect("audited");
        assert_eq!(
            reported(audits),
            (34, 34, 0),
            "no worker agreed on what is lost"
        );
        arena.kill().await;
    }
    let mut arena = Fixture::with(audited(&store)).await;
    play_first(&mut arena.join("one").await).await;
    let audits = arena.tournament(&id).await.audits.expect("audited");
    assert_eq!(reported(audits), (40, 34, 6));
    play(&mut arena.join("two").await, usize::MAX).await;
    let audits = arena.tournament(&id).await.audits.expect("audited");
    assert_eq!(reported(audits), (40, 40, 0));
}
