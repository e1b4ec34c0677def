//! Tournaments that are removed, by a user or because they are old.

use std::{path::Path, sync::Arc, time::Duration};

use arena_store::{Change, Collection, SledStore, Store, StoredGame};
use arena_wire::{
    reasons,
    v1::{self, TournamentState},
};
use tokio::time::sleep;
use tonic::{Code, Status};

use super::{
    fixture::{Fixture, SPEC, memory, options, refused, won},
    questions::page,
};
use crate::Options;

fn request(id: &str) -> v1::RemoveTournamentRequest {
    v1::RemoveTournamentRequest {
        tournament_id: id.to_owned(),
        ..Default::default()
    }
}

async fn remove(
    arena: &mut Fixture,
    request: v1::RemoveTournamentRequest,
) -> Result<v1::Tournament, Status> {
    let answer = arena.coordinator.remove_tournament(request).await?;
    Ok(answer.into_inner().tournament.expect("a tombstone"))
}

async fn listed(arena: &mut Fixture, removed: bool) -> Vec<v1::Tournament> {
    let request = v1::ListTournamentsRequest {
        removed,
        ..Default::default()
    };
    let list = arena.coordinator.list_tournaments(request).await;
    list.expect("answered").into_inner().tournaments
}

/// Plays a tournament to its end.
async fn finished(arena: &mut Fixture, spec: &str) -> String {
    let id = arena.start(spec).await.tournament_id;
    arena.join("player").await.play_all().await;
    let state = arena.tournament(&id).await.state();
    assert_eq!(state, TournamentState::Finished);
    id
}

#[expect(clippy::needless_update, reason = "some requests have more fields")]
/// What every method that names the tournament answers.
async fn answers(arena: &mut Fixture, id: &str) -> Vec<Result<(), Status>> {
    let client = &mut arena.coordinator;
    macro_rules! of {
        ($method:ident, $request:ident) => {{
            let request = v1::$request {
                tournament_id: id.to_owned(),
                ..Default::default()
            };
            client.$method(request).await.map(drop)
        }};
    }
    let game = v1::GetGameRequest {
        game_id: format!("{id}/0"),
        ..Default::default()
    };
    vec![
        of!(get_tournament, GetTournamentRequest),
        of!(get_standings, GetStandingsRequest),
        of!(list_games, ListGamesRequest),
        of!(list_differences, ListDifferencesRequest),
        of!(watch_tournament, WatchTournamentRequest),
        of!(pause_tournament, PauseTournamentRequest),
        of!(retry_tournament, RetryTournamentRequest),
        of!(change_agents, ChangeAgentsRequest),
        of!(remove_tournament, RemoveTournamentRequest),
        client.get_game(game).await.map(drop),
    ]
}

fn on_disk(folder: &Path) -> Arc<dyn Store> {
    let store = SledStore::open(folder, &arena_store::Options::default());
    Arc::new(store.expect("a store"))
}

/// Opens a store, after connections that still use it have ended.
async fn reopened(folder: &Path) -> Arc<dyn Store> {
    let folder = folder.to_owned();
    let opening = tokio::task::spawn_blocking(move || on_disk(&folder));
    opening.await.expect("no panic")
}

#[tokio::test]
async fn removal_leaves_only_the_identity() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut arena = Fixture::with(options(on_disk(folder.path()))).await;
    let started = arena.start(SPEC).await;
    let id = started.tournament_id.clone();
    let running = remove(&mut arena, request(&id)).await;
    let running = refused(running, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert!(running.contains("is running"), "{running}");
    assert!(running.contains("arena tournament cancel"), "{running}");
    assert_eq!(finished(&mut arena, SPEC).await, id);
    let series = format!("tournament=\"{id}\"");
    assert!(page(arena.metrics, "/metrics").await.contains(&series));

    let archived = v1::RemoveTournamentRequest {
        request_id: "once".to_owned(),
        archive_sha256: "ab".repeat(32),
        ..request(&id)
    };
    let broken = v1::RemoveTournamentRequest {
        archive_sha256: "ab".to_owned(),
        ..request(&id)
    };
    let broken = remove(&mut arena, broken).await;
    refused(broken, Code::InvalidArgument, reasons::REQUEST_INVALID);
    let tombstone = remove(&mut arena, archived.clone()).await.expect("removed");
    let again = remove(&mut arena, archived.clone()).await;
    assert_eq!(again.expect("the same request"), tombstone);
    assert!(!page(arena.metrics, "/metrics").await.contains(&series));
    arena.kill().await;

    // A kill right after the answer changes nothing.
    let mut arena = Fixture::with(options(reopened(folder.path()).await)).await;
    assert_eq!(listed(&mut arena, false).await, []);
    assert_eq!(
        listed(&mut arena, true).await,
        std::slice::from_ref(&tombstone)
    );
    let again = remove(&mut arena, archived).await;
    assert_eq!(again.expect("the same request"), tombstone);
    for answer in answers(&mut arena, &id).await {
        let text = refused(answer, Code::NotFound, reasons::TOURNAMENT_REMOVED);
        assert!(text.contains(" was removed on 20"), "{text}");
        assert!(text.contains("Z by local, after it was archived"), "{text}");
    }
    let removal = tombstone.removal.clone().expect("removed");
    assert_eq!(
        removal.spec_sha256,
        super::agents::sha256(started.spec_json.as_bytes())
    );
    assert_eq!(
        (&*removal.by, removal.archive_sha256),
        ("local", "ab".repeat(32))
    );
    let expected = (id.as_str(), "cup", "kalah", "round-robin", 40, 40);
    let found = (
        &*tombstone.tournament_id,
        &*tombstone.name,
        &*tombstone.ruleset,
        &*tombstone.format,
        tombstone.games_total,
        tombstone.games_done,
    );
    assert_eq!(found, expected);
    assert_eq!(tombstone.state(), TournamentState::Finished);
    assert!(tombstone.setup.is_none() && tombstone.spec_json.is_empty());

    // Its id is not used again.
    let same = arena.try_start(SPEC, false).await;
    let same = refused(same, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert!(
        same.contains("was removed") && same.contains("--again"),
        "{same}"
    );
    let anew = arena.try_start(SPEC, true).await.expect("it starts");
    let anew = anew.tournament.expect("a tournament");
    assert_eq!(
        (anew.tournament_id, anew.games_done),
        (format!("{id}-2"), 0)
    );
}

#[tokio::test]
async fn failed_removal_leaves_everything() {
    let store = super::failing::Failing::new();
    let mut arena = Fixture::with(options(store.clone())).await;
    let id = finished(&mut arena, SPEC).await;
    store.set(super::failing::FULL_DOCUMENTS);
    remove(&mut arena, request(&id))
        .await
        .expect_err("the disk is full");
    store.set(super::failing::WELL);
    drop(arena.ended().await);
    let mut arena = Fixture::with(options(store)).await;
    assert_eq!(listed(&mut arena, true).await, []);
    assert_eq!(arena.standings(&id).await.games, 40);
    assert_eq!(
        arena
            .game(&format!("{id}/39"))
            .await
            .record
            .expect("a game")
            .index,
        39
    );
}

/// Documents whose keys name a tournament.
fn belongings(store: &dyn Store, id: &str) -> Vec<String> {
    let all = [
        Collection::Meta,
        Collection::Differences,
        Collection::Tournaments,
    ];
    let keys = all.into_iter().flat_map(|of| store.list(of).expect("read"));
    let keys = keys.map(|(key, _)| key);
    keys.filter(|key| key.contains(id)).collect()
}

#[tokio::test]
async fn audits_of_a_removed_tournament_end() {
    let store = memory();
    let mut arena = Fixture::with(Options {
        audit_share: 1.0,
        ..options(Arc::clone(&store))
    })
    .await;
    let id = finished(&mut arena, SPEC).await;
    let mut auditor = arena.join("auditor").await;
    let lease = auditor.lease().await;
    auditor.differ(&lease, &lease.games[0]).await;
    assert!(
        belongings(&*store, &id).len() > 2,
        "{:?}",
        belongings(&*store, &id)
    );
    remove(&mut arena, request(&id)).await.expect("removed");
    assert_eq!(belongings(&*store, &id), [format!("removed/{id}")]);
    // At once, not when the lease has made no progress for a while.
    assert_eq!(auditor.beat(&lease, 1).await, [lease.lease_id]);
    let late = auditor.report(&lease, vec![won(&lease.games[1], 0)]).await;
    refused(late, Code::NotFound, reasons::TOURNAMENT_REMOVED);
    // Other tournaments go on.
    let other = SPEC.replace("cup", "league");
    let id = arena.start(&other).await.tournament_id;
    auditor.play_all().await;
    assert_eq!(arena.standings(&id).await.games, 40);
    assert!(belongings(&*store, &id).contains(&id));
}

#[tokio::test]
async fn old_tournaments_are_removed_by_the_coordinator() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = memory();
    let mut arena = Fixture::with(options(Arc::clone(&store))).await;
    let mut ids = Vec::new();
    for name in ["cup", "league", "trophy"] {
        ids.push(finished(&mut arena, &SPEC.replace("cup", name)).await);
    }
    let young = arena
        .start(&SPEC.replace("cup", "running"))
        .await
        .tournament_id;
    arena.stop().await;
    // One of them ended long ago, one is not removed because of its age.
    for (id, age) in [(&ids[0], 4), (&ids[1], 2), (&ids[2], 4)] {
        let document = store.get(Collection::Tournaments, id).expect("read");
        let mut document: v1::Tournament =
            prost::Message::decode(&*document.expect("it exists")).expect("a tournament");
        document.finished_unix_us -= age * 3_600_000_000;
        let value = Some(prost::Message::encode_to_vec(&document));
        let (collection, key) = (Collection::Tournaments, id.clone());
        store
            .put_many(vec![Change {
                collection,
                key,
                value,
            }])
            .expect("written");
    }
    let mut arena = Fixture::with(Options {
        keep_tournaments: Some(Duration::from_secs(3 * 3600)),
        events: Some(folder.path().to_owned()),
        ..options(store)
    })
    .await;
    while listed(&mut arena, true).await.len() < 2 {
        sleep(Duration::from_millis(20)).await;
    }
    let left: Vec<String> = { listed(&mut arena, false).await.into_iter() }
        .map(|it| it.tournament_id)
        .collect();
    assert_eq!(left, [ids[1].clone(), young]);
    let removed = listed(&mut arena, true).await;
    let by = removed
        .iter()
        .map(|it| it.removal.as_ref().map(|it| &*it.by));
    assert_eq!(by.collect::<Vec<_>>(), [Some("retention"); 2]);
    arena.stop().await;
    let trail = std::fs::read_to_string(folder.path().join("events.jsonl")).expect("a trail");
    for id in [&ids[0], &ids[2]] {
        let line = trail.lines().find(|line| line.contains(&**id)).expect(id);
        for part in [
            "\"actor\":\"retention\"",
            "RemoveTournament",
            "ended more than 3h ago",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    assert!(!trail.contains(&ids[1]), "{trail}");
}

#[test]
fn compaction_keeps_other_tournaments_alone() {
    use crate::WithoutRemoved;
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let with = |checkpoint_games| Options {
        checkpoint_games,
        ..options(on_disk(folder.path()))
    };
    let [other, first] = runtime.block_on(async {
        let mut arena = Fixture::with(with(8)).await;
        let first = finished(&mut arena, SPEC).await;
        let other = finished(&mut arena, &SPEC.replace("cup", "league")).await;
        remove(&mut arena, request(&first)).await.expect("removed");
        arena.stop().await;
        [other, first]
    });
    let games = |id: &str| -> Vec<StoredGame> {
        let store = on_disk(folder.path());
        store.games(id, 0, usize::MAX).expect("read")
    };
    let (before, gone) = (games(&other), games(&first));
    assert_eq!(
        (before.len(), gone.len()),
        (40, 40),
        "their space is still used"
    );
    let location = folder.path().to_str().expect("a path").into();
    let report = arena_store::compact(&location, &mut WithoutRemoved::default());
    let report = report.expect("compacted");
    assert_eq!((report.games, report.games_removed), (40, 40));
    assert_eq!((games(&other), games(&first)), (before, Vec::new()));
    let store = on_disk(folder.path());
    let checkpoints = store.list_with(Collection::Meta, "checkpoint/");
    assert_eq!(
        checkpoints,
        Ok(Vec::new()),
        "their positions are others now"
    );
    drop(store);
    runtime.block_on(async {
        let mut arena = Fixture::with(with(8)).await;
        assert_eq!(arena.standings(&other).await.games, 40);
        assert_eq!(listed(&mut arena, true).await.len(), 1);
    });
}
