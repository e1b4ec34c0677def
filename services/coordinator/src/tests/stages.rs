//! Tournaments whose later games depend on results.

use std::sync::Arc;

use arena_store::{SledStore, Store};
use arena_wire::v1::{self, TournamentState};

use super::fixture::{Fixture, memory, options, won};

/// Seven agents, so that there are byes and several rounds.
pub(super) fn spec(format: &str) -> String {
    let (names, blocks) = match format {
        "sprt" => (&["a", "b"][..], 400),
        _ => (&["a", "b", "c", "d", "e", "f", "g"][..], 5),
    };
    let mut spec = format!(
        "name = \"cup\"\nruleset = \"kalah\"\nseed = \"0x5eed\"\nblocks = {blocks}\nformat = \"{format}\"\n\
         agents = {names:?}\n"
    );
    for name in names {
        spec += &format!("[[agent]]\nname = \"{name}\"\nbot = \"random\"\n");
    }
    spec
}

/// A report whose winner depends only on the game's seed.
pub(super) fn played(game: &v1::GameAssignment) -> v1::GameReport {
    won(game, (game.seed >> 7) as usize % game.seats.len())
}

pub(super) async fn play(worker: &mut super::fixture::FakeWorker, most: usize) -> usize {
    let mut games = 0;
    while games < most {
        let Some(lease) = worker.try_lease(0).await.expect("answered") else {
            break;
        };
        let reports = lease.games.iter().map(played).collect();
        worker.report(&lease, reports).await.expect("taken");
        games += lease.games.len();
    }
    games
}

pub(super) async fn straight(spec: &str) -> (v1::Tournament, v1::Standings) {
    let mut arena = Fixture::with(options(memory())).await;
    let id = arena.start(spec).await.tournament_id;
    play(&mut arena.join("one").await, usize::MAX).await;
    (arena.tournament(&id).await, arena.standings(&id).await)
}

#[tokio::test]
async fn kills_between_stages_change_nothing() {
    for format in ["knockout", "swiss", "ladder"] {
        let spec = spec(format);
        let (expected, standings) = straight(&spec).await;
        assert_eq!(expected.state(), TournamentState::Finished, "{format}");
        assert!(expected.verdict_json.contains("\"kind\""), "{expected:?}");
        let folder = tempfile::tempdir().expect("a folder");
        let store = SledStore::open(folder.path(), &arena_store::Options::default());
        let store: Arc<dyn Store> = Arc::new(store.expect("a new store"));
        let mut id = String::new();
        for _ in 0..1000 {
            let mut arena = Fixture::with(options(Arc::clone(&store))).await;
            id = arena.start(&spec).await.tournament_id;
            let mut worker = arena.join("one").await;
            let games = play(&mut worker, 24).await;
            drop(worker);
            arena.kill().await;
            if games == 0 {
                break;
            }
        }
        let mut arena = Fixture::with(options(Arc::clone(&store))).await;
        let found = arena.tournament(&id).await;
        assert_eq!(found.games_done, expected.games_done, "{format}");
        assert_eq!(found.games_total, expected.games_done, "{format}");
        assert_eq!(found.verdict_json, expected.verdict_json, "{format}");
        assert_eq!(arena.standings(&id).await, standings, "{format}");
        arena.kill().await;
    }
}

#[tokio::test]
async fn ladder_has_one_elo_scale() {
    let (_, standings) = straight(&spec("ladder")).await;
    let verdict: serde_json::Value =
        serde_json::from_str(&standings.verdict_json).expect("a verdict");
    let places = verdict["places"].as_array().expect("places");
    assert_eq!(places.len(), standings.agents.len());
    for (row, agent) in places.iter().zip(&standings.agents) {
        assert_eq!(row["agent"], *agent.agent);
        assert_eq!(row["place"].as_u64(), agent.place);
        assert_eq!(row["elo"].as_f64(), agent.rating, "{}", agent.agent);
    }
    let ratings = standings.agents.iter().map(|agent| agent.rating);
    assert!(ratings.is_sorted_by(|one, next| one >= next));
    assert_eq!(verdict["winner"], *standings.agents[0].agent);
}

#[tokio::test]
async fn later_stages_are_not_leased() {
    let mut arena = Fixture::with(options(memory())).await;
    let id = arena.start(&spec("knockout")).await.tournament_id;
    let mut worker = arena.join("one").await;
    // Six of the seven agents play in the first round, five blocks for each pair.
    let mut leases = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    let leased: usize = leases.iter().map(|lease| lease.games.len()).sum();
    assert_eq!(leased, 3 * 5 * 2);
    for (number, lease) in leases.iter().enumerate() {
        assert!(
            worker.try_lease(0).await.expect("answered").is_none(),
            "{number}"
        );
        let reports = lease.games.iter().map(played).collect();
        worker.report(lease, reports).await.expect("taken");
    }
    let next = worker.lease().await;
    assert!(next.games.iter().all(|game| game.index >= 30));
    let standings = arena.standings(&id).await;
    assert_eq!(standings.course.expect("a course").round, 2);
    assert_eq!(standings.games_total, 6 * 5 * 2, "the most there can be");
    assert!(standings.verdict_json.is_empty());
}

#[tokio::test]
async fn paused_round_continues_when_resumed() {
    let mut arena = Fixture::with(options(memory())).await;
    let id = arena.start(&spec("swiss")).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut leases = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    arena.pause(&id).await;
    for lease in &leases {
        let reports = lease.games.iter().map(played).collect();
        worker.report(lease, reports).await.expect("taken");
    }
    assert!(worker.try_lease(0).await.expect("answered").is_none());
    arena.resume(&id).await;
    play(&mut worker, usize::MAX).await;
    let found = arena.tournament(&id).await;
    assert_eq!(found.state(), TournamentState::Finished);
    assert_eq!(found.games_done, 3 * 3 * 5 * 2);
}

#[tokio::test]
async fn all_stages_are_audited_across_restart() {
    let store = memory();
    let audited = || crate::Options {
        audit_share: 1.0,
        ..options(Arc::clone(&store))
    };
    let mut arena = Fixture::with(audited()).await;
    let id = arena.start(&spec("knockout")).await.tournament_id;
    let mut one = arena.join("one").await;
    while let Some(lease) = one.try_lease(0).await.expect("answered") {
        one.report(&lease, lease.games.iter().map(played).collect())
            .await
            .expect("taken");
    }
    let games = arena.tournament(&id).await.games_done;
    assert_eq!(games, 6 * 5 * 2);
    arena.kill().await;
    let mut arena = Fixture::with(audited()).await;
    play(&mut arena.join("two").await, usize::MAX).await;
    let audits = arena.tournament(&id).await.audits.expect("audited");
    assert_eq!(
        (audits.due, audits.agreed, audits.waiting),
        (games, games, 0)
    );
}
