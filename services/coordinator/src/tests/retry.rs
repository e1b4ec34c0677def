//! Replay of games that an agent lost without an answer.

use std::sync::Arc;

use arena_model::engine::FaultKind;
use arena_store::{SledStore, Store};
use arena_wire::{
    reasons,
    v1::{self, TournamentState},
};
use tonic::{Code, Status};

use super::{
    fixture::{FakeWorker, Fixture, SPEC, memory, options, refused, unplayed},
    stages::{self, played, straight},
};
use crate::Options;

fn limitless(spec: &str) -> String {
    spec.replace("blocks", "unplayed_limit = 1\nblocks")
}

/// Plays all games; in those that `lost` selects, seat 1 loses without an answer.
async fn play(worker: &mut FakeWorker, lost: impl Fn(&v1::GameAssignment) -> bool) -> Vec<u64> {
    let mut indices = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        let report = |game: &v1::GameAssignment| match lost(game) {
            true => unplayed(game, 1, FaultKind::Crash),
            false => played(game),
        };
        let reports = lease.games.iter().map(report).collect();
        worker.report(&lease, reports).await.expect("taken");
        indices.extend(lease.games.iter().map(|game| game.index));
    }
    indices.sort_unstable();
    indices
}

async fn retry(arena: &mut Fixture, id: &str) -> Result<v1::Tournament, Status> {
    let request = v1::RetryTournamentRequest {
        tournament_id: id.to_owned(),
        ..Default::default()
    };
    let answer = arena.coordinator.retry_tournament(request).await?;
    Ok(answer.into_inner().tournament.expect("a tournament"))
}

async fn hashes(arena: &mut Fixture, id: &str, generation: u32) -> Vec<(u64, Vec<u8>)> {
    let request = v1::ListGamesRequest {
        tournament_id: id.to_owned(),
        page_size: 500,
        generation,
        ..Default::default()
    };
    let answer = arena.coordinator.list_games(request).await.expect("games");
    let games = answer.into_inner().games.into_iter();
    let records = games.map(|game| game.record.expect("a record"));
    records.map(|record| (record.index, record.hash)).collect()
}

async fn standings(arena: &mut Fixture, id: &str, generation: u32) -> v1::Standings {
    let request = v1::GetStandingsRequest {
        tournament_id: id.to_owned(),
        generation,
        ..Default::default()
    };
    let answer = arena.coordinator.get_standings(request).await;
    answer.expect("known").into_inner().standings.expect("some")
}

fn on_disk(folder: &tempfile::TempDir) -> Arc<dyn Store> {
    let store = SledStore::open(folder.path(), &arena_store::Options::default());
    Arc::new(store.expect("a store"))
}

#[tokio::test]
async fn retry_replays_unanswered_games() {
    let (_, undisturbed) = straight(SPEC).await;
    let folder = tempfile::tempdir().expect("a folder");
    let store = on_disk(&folder);
    let few = |store: &Arc<dyn Store>| Options {
        checkpoint_games: 7,
        ..options(Arc::clone(store))
    };
    let mut arena = Fixture::with(few(&store)).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    play(&mut worker, |game| game.index % 3 == 0).await;
    let paused = arena.tournament(&id).await;
    assert_eq!(paused.state(), TournamentState::Paused, "{paused:?}");
    let before = hashes(&mut arena, &id, 0).await;
    let shown = standings(&mut arena, &id, 0).await;
    let lost: Vec<u64> = before.iter().map(|(index, _)| *index).collect();
    let lost: Vec<u64> = lost.into_iter().filter(|index| index % 3 == 0).collect();

    let running = retry(&mut arena, &id).await.expect("it is paused");
    assert_eq!(running.state(), TournamentState::Running);
    assert_eq!((running.generation, running.pause), (2, None));
    let earlier = &running.earlier[0];
    let reported = (
        earlier.number,
        earlier.games,
        earlier.unplayed,
        earlier.replaced,
    );
    let (games, unplayed) = (before.len() as u64, lost.len() as u64);
    assert_eq!(reported, (1, games, unplayed, unplayed));
    assert_eq!(running.games_done, games - unplayed);

    // A kill at any time keeps it.
    drop(worker);
    arena.kill().await;
    let mut arena = Fixture::with(few(&store)).await;
    assert_eq!(arena.tournament(&id).await.games_done, games - unplayed);
    let mut worker = arena.join("one").await;
    let again = play(&mut worker, |_| false).await;
    let missing: Vec<u64> = (0..40)
        .filter(|index| !before.iter().any(|it| it.0 == *index))
        .collect();
    let mut expected = [lost, missing].concat();
    expected.sort_unstable();
    assert_eq!(again, expected);
    let finished = arena.tournament(&id).await;
    assert_eq!(finished.state(), TournamentState::Finished);

    for round in 0..2 {
        assert_eq!(hashes(&mut arena, &id, 1).await, before, "round {round}");
        let newest = standings(&mut arena, &id, 0).await;
        assert_eq!((newest.generation, newest.generations), (2, 2));
        let same = v1::Standings {
            generation: 1,
            generations: 1,
            ..newest
        };
        assert_eq!(same, undisturbed, "as if nothing had been lost");
        let old = standings(&mut arena, &id, 1).await;
        assert_eq!((old.generation, old.generations), (1, 2));
        assert_eq!(old.agents.len(), shown.agents.len());
        let unplayed = |standings: &v1::Standings| -> Vec<(String, u64)> {
            let agents = standings.agents.iter();
            agents.map(|it| (it.agent.clone(), it.unplayed)).collect()
        };
        assert_eq!(unplayed(&old), unplayed(&shown));
        arena.kill().await;
        arena = Fixture::with(few(&store)).await;
    }
}

#[tokio::test]
async fn retry_starts_at_first_affected_round() {
    for format in ["swiss", "ladder", "knockout", "sprt"] {
        let spec = stages::spec(format);
        let (expected, undisturbed) = straight(&spec).await;
        let mut arena = Fixture::with(options(memory())).await;
        let id = arena.start(&limitless(&spec)).await.tournament_id;
        let mut worker = arena.join("one").await;
        // Two games of the second round fail, so that later rounds have other games.
        let first = arena.tournament(&id).await;
        let mut round = 0;
        while let Some(lease) = worker.try_lease(0).await.expect("answered") {
            round += 1;
            let lost = |game: &v1::GameAssignment| game.index % 2 == 1 && game.index > 20;
            let report = |game: &v1::GameAssignment| match lost(game) {
                true => unplayed(game, 1, FaultKind::NotReady),
                false => played(game),
            };
            let reports = lease.games.iter().map(report).collect();
            worker.report(&lease, reports).await.expect("taken");
        }
        assert!(round > 1, "{first:?}");
        let before = hashes(&mut arena, &id, 0).await;
        let finished = arena.tournament(&id).await;
        assert_eq!(finished.state(), TournamentState::Finished, "{format}");
        let running = retry(&mut arena, &id).await.expect("it is finished");
        let earlier = &running.earlier[0];
        assert_eq!(earlier.verdict_json, finished.verdict_json);
        assert!(
            earlier.replaced > earlier.unplayed,
            "later rounds too: {earlier:?}"
        );
        assert!(
            running.games_done >= 10,
            "the first round is kept: {running:?}"
        );
        play(&mut worker, |_| false).await;
        let finished = arena.tournament(&id).await;
        assert_eq!(finished.state(), TournamentState::Finished, "{format}");
        assert_eq!(finished.verdict_json, expected.verdict_json, "{format}");
        let newest = standings(&mut arena, &id, 0).await;
        let same = v1::Standings {
            generation: 1,
            generations: 1,
            ..newest
        };
        assert_eq!(same, undisturbed, "{format}");
        assert_eq!(hashes(&mut arena, &id, 1).await, before, "{format}");
    }
}

#[tokio::test]
async fn retry_repeats_failed_games_only() {
    let mut arena = Fixture::new().await;
    let id = arena.start(&limitless(SPEC)).await.tournament_id;
    let mut worker = arena.join("one").await;
    let answer = retry(&mut arena, &id).await;
    let said = refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert!(said.contains("tournament pause"), "{said}");
    let leased = worker.lease().await;
    arena.pause(&id).await;
    let answer = retry(&mut arena, &id).await;
    let said = refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert!(said.contains("nothing to replay"), "{said}");
    arena.resume(&id).await;
    play(&mut worker, |game| game.index < 6).await;
    retry(&mut arena, &id).await.expect("finished");
    // A late report of games that the retry replaces does not count.
    let late = leased.games.iter().filter(|game| game.index < 6);
    let late = late
        .map(|game| unplayed(game, 1, FaultKind::Crash))
        .collect();
    let answer = worker.report(&leased, late).await;
    refused(answer, Code::PermissionDenied, reasons::NOT_LEASED);
    let again = play(&mut worker, |game| game.index == 4).await;
    assert_eq!(again, [0, 1, 2, 3, 4, 5]);
    let tournament = retry(&mut arena, &id).await.expect("finished");
    assert_eq!((tournament.generation, tournament.games_done), (3, 39));
    assert_eq!(play(&mut worker, |_| false).await, [4]);
    let answer = retry(&mut arena, &id).await;
    refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    assert_eq!(hashes(&mut arena, &id, 0).await.len(), 40);
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    let retried: Vec<u64> = tournament.earlier.iter().map(|it| it.replaced).collect();
    assert_eq!(retried, [6, 1]);
}
