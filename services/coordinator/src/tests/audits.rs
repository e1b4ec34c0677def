//! Audits: which games, and what a worker sees of them.

use std::{collections::BTreeSet, sync::Arc};

use arena_model::engine::FaultKind;
use arena_store::Store;
use arena_wire::v1;

use arena_wire::reasons;
use tonic::Code;

use super::fixture::{FakeWorker, Fixture, SPEC, memory, options, refused, unplayed, won};
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

/// A worker that saw which games were audited must not know it of the games that it plays again.
#[tokio::test]
async fn retry_draws_other_games_for_audits() {
    let mut arena = Fixture::with(half(&memory())).await;
    let spec = SPEC.replace("blocks", "unplayed_limit = 1\nblocks");
    let id = arena.start(&spec).await.tournament_id;
    let mut player = arena.join("player").await;
    while let Some(lease) = player.try_lease(0).await.expect("answered") {
        let report = |game: &v1::GameAssignment| match game.index {
            0 => unplayed(game, 1, FaultKind::Crash),
            _ => won(game, 0),
        };
        let games = lease.games.iter().map(report).collect();
        player.report(&lease, games).await.expect("taken");
    }
    let mut samples = [const { BTreeSet::new() }; 2];
    samples[0] = leased(&mut arena.join("auditor").await).await;
    let request = v1::RetryTournamentRequest {
        tournament_id: id,
        ..Default::default()
    };
    let retried = arena.coordinator.retry_tournament(request).await;
    retried.expect("a game to replay");
    samples[1] = leased(&mut arena.join("another").await).await;
    for sample in &mut samples {
        // The game to replay is leased as well.
        sample.remove(&0);
        assert!((5..35).contains(&sample.len()), "{sample:?}");
    }
    assert_ne!(samples[0], samples[1]);
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

/// Audits all games.
fn whole(store: &Arc<dyn Store>) -> Options {
    Options {
        audit_share: 1.0,
        ..options(Arc::clone(store))
    }
}

/// Plays while there is anything to play, and the winner is always this seat.
async fn play(worker: &mut FakeWorker, winner: usize) -> usize {
    let mut played = 0;
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        let games = lease.games.iter().map(|game| won(game, winner)).collect();
        worker.report(&lease, games).await.expect("taken");
        played += lease.games.len();
    }
    played
}

async fn audits(arena: &mut Fixture, id: &str) -> v1::Audits {
    arena.tournament(id).await.audits.expect("audited")
}

/// A tournament of which the first worker says that seat `winners[0]` wins, the second one that
/// the other seat does. It is restarted before the third one plays, and `winners[2]` wins.
async fn settled(winners: [usize; 3]) -> (Fixture, String, [FakeWorker; 3]) {
    let store = memory();
    let mut arena = Fixture::with(whole(&store)).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut first = arena.join_as("first", 1).await;
    assert_eq!(play(&mut first, winners[0]).await, 40);
    let mut second = arena.join_as("second", 2).await;
    assert_eq!(play(&mut second, winners[1]).await, 40);
    let shown = audits(&mut arena, &id).await;
    assert_eq!(
        (shown.differing, shown.disputed, shown.refuted),
        (40, 40, 0)
    );
    let standings = arena.standings(&id).await;
    let note = standings.notes.iter().find(|it| it.contains("disputed"));
    let note = note.expect("no third worker");
    assert!(
        note.contains("disputed games: 40") && note.contains("first against second"),
        "{note}"
    );
    assert_eq!(play(&mut first, 0).await, 0, "its own games");

    arena.kill().await;
    let mut arena = Fixture::with(whole(&store)).await;
    let shown = audits(&mut arena, &id).await;
    assert_eq!(
        (shown.differing, shown.disputed),
        (40, 40),
        "after a restart"
    );
    let first = arena.join_as("first", 1).await;
    let second = arena.join_as("second", 2).await;
    let mut third = arena.join_as("third", 3).await;
    assert_eq!(play(&mut third, winners[2]).await, 40);
    (arena, id, [first, second, third])
}

async fn is_quarantined(worker: &mut FakeWorker) -> bool {
    match worker.try_lease(0).await {
        Ok(_) => false,
        Err(status) => {
            refused::<()>(
                Err(status),
                Code::PermissionDenied,
                reasons::WORKER_QUARANTINED,
            );
            true
        }
    }
}

async fn third_plays(arena: &mut Fixture, id: &str) -> BTreeSet<v1::ThirdPlay> {
    let listed = arena.differences(id).await;
    listed.iter().map(v1::Difference::third_play).collect()
}

#[tokio::test]
async fn refuted_records_are_known_after_any_restart() {
    for is_cancelled in [true, false] {
        let store = memory();
        let mut arena = Fixture::with(whole(&store)).await;
        let id = arena.start(SPEC).await.tournament_id;
        let mut first = arena.join_as("first", 1).await;
        first.games = 8;
        let lease = first.lease().await;
        let games = lease.games.iter().map(|game| won(game, 1)).collect();
        first.report(&lease, games).await.expect("taken");
        let forged: BTreeSet<u64> = lease.games.iter().map(|game| game.index).collect();
        drop(first);
        let mut honest = Vec::new();
        for process in [2, 3] {
            let mut worker = arena.join_as("honest", process).await;
            // If it is cancelled, games that were not played before are still leased.
            while let Some(lease) = worker.try_lease(0).await.expect("answered") {
                if !is_cancelled || lease.games.iter().all(|game| forged.contains(&game.index)) {
                    let games = lease.games.iter().map(|game| won(game, 0)).collect();
                    worker.report(&lease, games).await.expect("taken");
                }
            }
            honest.push(worker);
        }
        assert_eq!(audits(&mut arena, &id).await.refuted, 8);
        if is_cancelled {
            let request = v1::CancelTournamentRequest {
                tournament_id: id.clone(),
                ..Default::default()
            };
            let cancelled = arena.coordinator.cancel_tournament(request).await;
            cancelled.expect("not finished");
        }
        drop(honest);
        arena.kill().await;
        for audit_share in [1.0, 0.0] {
            let options = Options {
                audit_share,
                ..options(Arc::clone(&store))
            };
            let mut arena = Fixture::with(options).await;
            let known = audits(&mut arena, &id).await;
            assert_eq!((known.refuted, known.pending), (8, 0), "{audit_share}");
            arena.kill().await;
        }
    }
}

#[tokio::test]
async fn third_play_refutes_the_first_worker() {
    let (mut arena, id, [mut first, mut second, mut third]) = settled([1, 0, 0]).await;
    let shown = audits(&mut arena, &id).await;
    assert_eq!((shown.disputed, shown.refuted), (0, 40));
    assert!(is_quarantined(&mut first).await);
    assert!(!is_quarantined(&mut second).await && !is_quarantined(&mut third).await);
    assert_eq!(
        third_plays(&mut arena, &id).await,
        [v1::ThirdPlay::Other].into()
    );
    let standings = arena.standings(&id).await;
    let notes = standings.notes.join("\n");
    assert!(
        notes.contains("not sound") && !notes.contains("disputed"),
        "{notes}"
    );
    assert!(!standings.agents.iter().any(|agent| agent.non_deterministic));

    // The games are replayed in another generation, and the first one keeps its records.
    let request = v1::RetryTournamentRequest {
        tournament_id: id.clone(),
        ..Default::default()
    };
    let again = arena.coordinator.retry_tournament(request).await;
    let again = again.expect("games to replay").into_inner();
    let before = &again.tournament.expect("a tournament").earlier[0];
    assert_eq!(
        (before.unsound, before.unplayed, before.replaced),
        (40, 0, 40)
    );
    assert_eq!(play(&mut second, 0).await, 40);
    let standings = arena.standings(&id).await;
    assert!(!standings.notes.join("\n").contains("not sound"));
    assert!(is_quarantined(&mut first).await);
    // The earlier generation is not sound.
    let request = v1::GetStandingsRequest {
        tournament_id: id,
        generation: 1,
        ..Default::default()
    };
    let earlier = arena.coordinator.get_standings(request).await;
    let earlier = earlier.expect("kept").into_inner().standings;
    let audits = earlier.expect("standings").audits.expect("refuted");
    assert_eq!(audits.refuted, 40);
}

#[tokio::test]
async fn retry_replaces_games_of_open_disputes() {
    let mut arena = Fixture::with(whole(&memory())).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut first = arena.join_as("first", 1).await;
    assert_eq!(play(&mut first, 1).await, 40);
    let mut second = arena.join_as("second", 2).await;
    let lease = second.lease().await;
    let games = lease.games.iter().map(|game| won(game, 0));
    second.report(&lease, games.collect()).await.expect("taken");
    let shown = audits(&mut arena, &id).await;
    assert!((1..40).contains(&shown.disputed), "{shown:?}");
    let request = v1::RetryTournamentRequest {
        tournament_id: id.clone(),
        ..Default::default()
    };
    let again = arena.coordinator.retry_tournament(request).await;
    let again = again.expect("games to replay").into_inner();
    // Of the first worker, nothing is known but that one of the two lies.
    let before = &again.tournament.expect("a tournament").earlier[0];
    assert_eq!((before.unsound, before.replaced), (40, 40));
    arena.kill().await;
}

#[tokio::test]
async fn third_play_refutes_the_auditor() {
    let (mut arena, id, [mut first, mut second, _third]) = settled([0, 1, 0]).await;
    let shown = audits(&mut arena, &id).await;
    assert_eq!((shown.differing, shown.disputed, shown.refuted), (40, 0, 0));
    assert!(is_quarantined(&mut second).await && !is_quarantined(&mut first).await);
    assert_eq!(
        third_plays(&mut arena, &id).await,
        [v1::ThirdPlay::Durable].into()
    );
    arena.kill().await;
}

#[tokio::test]
async fn three_different_records_charge_the_agent() {
    // The hash of a record is that of its winner.
    let (mut arena, id, workers) = settled([0, 1, 2]).await;
    let shown = audits(&mut arena, &id).await;
    assert_eq!((shown.differing, shown.disputed, shown.refuted), (40, 0, 0));
    for mut worker in workers {
        assert!(!is_quarantined(&mut worker).await);
    }
    let listed = arena.differences(&id).await;
    let of_audit = listed.iter().filter(|it| it.worker == "second");
    let of_audit: Vec<_> = of_audit.collect();
    assert_eq!(of_audit.len(), 40);
    assert!(
        of_audit
            .iter()
            .all(|it| it.charges_agent && it.durable_worker == "first")
    );
}

#[tokio::test]
async fn second_charged_worker_acquits_the_first() {
    let store = memory();
    let mut arena = Fixture::with(whole(&store)).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut first = arena.join_as("first", 1).await;
    let mut second = arena.join_as("second", 2).await;
    while let Some(lease) = first.try_lease(0).await.expect("answered") {
        let games = lease.games.iter().map(|game| won(game, 1)).collect();
        first.report(&lease, games).await.expect("taken");
    }
    play(&mut second, 0).await;
    let mut third = arena.join_as("third", 3).await;
    let mut settled = Vec::new();
    while let Some(lease) = third.try_lease(0).await.expect("answered") {
        for game in &lease.games {
            // It agrees with the second one in the first half of the games, then with the first.
            let winner = usize::from(settled.len() >= 20);
            settled.push(game.index);
            let report = vec![won(game, winner)];
            third.report(&lease, report).await.expect("taken");
            assert_eq!(
                is_quarantined(&mut arena.join_as("first", 1).await).await,
                settled.len() <= 20
            );
        }
    }
    assert_eq!(settled.len(), 40);
    for again in [false, true] {
        let shown = audits(&mut arena, &id).await;
        assert_eq!((shown.differing, shown.disputed, shown.refuted), (40, 0, 0));
        for (name, process) in [("first", 1), ("second", 2), ("third", 3)] {
            let mut worker = arena.join_as(name, process).await;
            assert!(!is_quarantined(&mut worker).await, "{name}, again: {again}");
        }
        let listed = arena.differences(&id).await;
        let charged = listed.iter().filter(|it| it.charges_agent).count();
        assert_eq!(charged, 40, "{listed:?}");
        let notes = arena.standings(&id).await.notes.join("\n");
        assert!(!notes.contains("not sound"), "{notes}");
        if !again {
            arena.kill().await;
            arena = Fixture::with(whole(&store)).await;
        }
    }
}

#[tokio::test]
async fn quarantine_after_third_play_survives_restart() {
    let store = memory();
    let mut arena = Fixture::with(whole(&store)).await;
    arena.start(SPEC).await;
    for (name, process, winner) in [("first", 1, 1), ("second", 2, 0), ("third", 3, 0)] {
        play(&mut arena.join_as(name, process).await, winner).await;
    }
    arena.kill().await;
    let arena = Fixture::with(whole(&store)).await;
    assert!(is_quarantined(&mut arena.join_as("first", 1).await).await);
    assert!(!is_quarantined(&mut arena.join_as("first", 4).await).await);
}

/// Plays while there is anything to play, and this agent always wins.
async fn win(worker: &mut FakeWorker, agent: u32) {
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        let seat = |game: &v1::GameAssignment| game.seats.iter().position(|it| *it == agent);
        let games = lease.games.iter();
        let games = games.map(|game| won(game, seat(game).expect("it plays")));
        worker.report(&lease, games.collect()).await.expect("taken");
    }
}

#[tokio::test]
async fn timed_agents_are_compared_by_worker() {
    let spec = SPEC.replace("blocks = 20", "blocks = 100");
    let spec = format!("{spec}[play]\ntiming = \"strict\"\n");
    let mut arena = Fixture::with(half(&memory())).await;
    let id = arena.start(&spec).await.tournament_id;
    win(&mut arena.join_as("one", 1).await, 0).await;
    assert_eq!(
        arena.standings(&id).await.workers_deviating,
        0,
        "one worker"
    );
    let mut other = arena.join_as("two", 2).await;
    win(&mut other, 1).await;
    let shown = audits(&mut arena, &id).await;
    assert_eq!((shown.sampled, shown.waiting), (shown.due, 0));
    assert_eq!((shown.agreed, shown.differing), (0, 0));
    assert!(shown.sampled % 2 == 0, "whole blocks");
    assert_eq!(arena.differences(&id).await.len(), 0);
    let standings = arena.standings(&id).await;
    assert_eq!(standings.workers_deviating, 4, "{:?}", standings.notes);
    let notes = standings.notes.join("\n");
    assert!(
        notes.contains("worker one") && notes.contains("worker two"),
        "{notes}"
    );
    // Second plays count in no score.
    let scores = standings
        .agents
        .iter()
        .map(|agent| agent.score.unwrap_or_default());
    assert_eq!(scores.collect::<Vec<_>>(), [1.0, 0.0]);
    assert!(!is_quarantined(&mut other).await);
}
