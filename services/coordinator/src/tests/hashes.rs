//! Tournaments that keep only hashes.

use std::sync::Arc;

use arena_wire::{reasons, v1};
use prost::Message;
use tonic::Code;

use super::fixture::{Fixture, SPEC, memory, options, refused, won};

fn short() -> String {
    format!("records = \"hash\"\n{SPEC}")
}

/// The report of a game, with timing.
fn timed(game: &v1::GameAssignment) -> v1::GameReport {
    let mut report = won(game, 0);
    report.timing = Some(v1::GameTiming {
        started_unix_us: 1,
        duration_us: 2,
        latency: vec![v1::AgentLatency {
            agent: 0,
            buckets: vec![20],
            counts: vec![3],
            ..Default::default()
        }],
        ..Default::default()
    });
    report
}

#[tokio::test]
async fn records_setting_is_fixed_but_no_identity() {
    let mut arena = Fixture::new().await;
    let tournament = arena.start(&short()).await;
    let id = tournament.tournament_id;
    assert!(tournament.setup.expect("sent").hash_only);
    assert_eq!(arena.start(&short()).await.tournament_id, id);
    let text = refused(
        arena.try_start(SPEC, false).await,
        Code::InvalidArgument,
        reasons::SPEC_INVALID,
    );
    assert!(
        text.contains(&id) && text.contains("records = \"hash\""),
        "{text}"
    );
    arena.join("one").await.play_all().await;
    let again = arena.try_start(SPEC, true).await.expect("starts anew");
    let again = again.tournament.expect("a tournament");
    assert_eq!(again.tournament_id, format!("{id}-2"));
    assert!(!again.setup.expect("sent").hash_only);
}

#[tokio::test]
async fn hash_only_standings_are_the_same() {
    let store = memory();
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    let id = arena.start(&short()).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    assert!(lease.setup.as_ref().expect("sent").hash_only);
    let mut games: Vec<v1::GameReport> = lease.games.iter().map(timed).collect();
    // The first as a worker sends it, the others with events.
    games[0].record.as_mut().expect("a record").events.clear();
    worker.report(&lease, games.clone()).await.expect("taken");
    for game in store.games(&id, 0, usize::MAX).expect("readable") {
        let record = v1::GameRecord::decode(game.record.as_slice()).expect("a record");
        assert!(record.events.is_empty() && record.hash.is_empty());
        assert_eq!(game.hash, [1; 32]);
        let side = v1::GameReport::decode(game.side.as_slice()).expect("a side");
        let timing = side.timing.expect("latencies");
        assert_eq!((timing.started_unix_us, timing.duration_us), (0, 0));
        assert_eq!(timing.latency.len(), 1);
    }
    // The same report again is a duplicate, with or without events.
    let answer = worker.report(&lease, games).await.expect("taken");
    assert_eq!(answer.differing, [] as [u64; 0]);
    worker.play_all().await;
    let standings = arena.standings(&id).await;
    let game = arena.game(&format!("{id}/0")).await;
    assert!(game.setup.expect("sent").hash_only);
    let record = game.record.expect("a record");
    assert_eq!((record.hash, record.plies), (vec![1; 32], 30));

    let mut full = Fixture::new().await;
    assert_eq!(full.start(SPEC).await.tournament_id, id);
    let mut worker = full.join("one").await;
    let lease = worker.lease().await;
    let games = lease.games.iter().map(timed).collect();
    worker.report(&lease, games).await.expect("taken");
    worker.play_all().await;
    assert_eq!(full.standings(&id).await, standings);

    // The same after a restart.
    arena.kill().await;
    let mut arena = Fixture::with(options(store)).await;
    assert_eq!(arena.standings(&id).await, standings);
}

#[tokio::test]
async fn hash_only_difference_names_no_event() {
    let mut arena = Fixture::new().await;
    let id = arena.start(&short()).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let game = &lease.games[0];
    worker.differ(&lease, game).await;
    let found = arena.differences(&id).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].hash_only);
    assert_eq!((found[0].event, found[0].agent.as_str()), (0, ""));
    assert_eq!(found[0].durable_hash, "01".repeat(32));
    assert_eq!(found[0].other_hash, "02".repeat(32));
}
