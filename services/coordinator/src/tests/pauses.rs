//! Tournaments that pause themselves.

use arena_model::engine::FaultKind;
use arena_wire::v1::{self, TournamentState};

use super::fixture::{FakeWorker, Fixture, SPEC, memory, options, unplayed, unready, won};
use crate::{
    Options,
    ledger::WorkerProcess,
    principal::Principal,
    random,
    tickets::{self, Tickets},
};

/// Reports a lease: the agent of place 1 loses each of these games without an answer.
async fn lose(worker: &mut FakeWorker, lease: &v1::Lease, lost: impl Fn(u64) -> bool) {
    let report = |game: &v1::GameAssignment| {
        let seat = game.seats.iter().position(|&agent| agent == 1);
        let seat = seat.expect("two agents") as u8;
        match lost(game.index) {
            true => unplayed(game, seat, FaultKind::Crash),
            false => won(game, 0),
        }
    };
    let games = lease.games.iter().map(report).collect();
    worker.report(lease, games).await.expect("taken");
}

async fn lose_all(worker: &mut FakeWorker, lost: impl Fn(u64) -> bool) {
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        lose(worker, &lease, &lost).await;
    }
}

async fn fail(worker: &mut FakeWorker, lease: &v1::Lease) {
    let games = lease.games.iter().map(|game| unready(game, 1)).collect();
    worker.report(lease, games).await.expect("taken");
}

fn pause(tournament: &v1::Tournament) -> &v1::Pause {
    assert_eq!(
        tournament.state(),
        TournamentState::Paused,
        "{tournament:?}"
    );
    tournament.pause.as_ref().expect("it says why")
}

#[tokio::test]
async fn agent_that_starts_nowhere_pauses_tournament() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut other = arena.join("two").await;
    let lease = worker.lease().await;
    fail(&mut worker, &lease).await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(
        tournament.state(),
        TournamentState::Running,
        "another can try"
    );
    let lease = other.lease().await;
    fail(&mut other, &lease).await;
    let tournament = arena.tournament(&id).await;
    let why = pause(&tournament);
    assert_eq!(
        (&*why.kind, &*why.agent),
        ("agent_does_not_start", "minimax")
    );
    assert_eq!(why.workers, ["one", "two"]);
    assert!(why.error.contains("exit code 1"), "{why:?}");
    assert!(why.error.contains("no module named weights"), "{why:?}");
    assert!(
        why.advice.contains(&format!("tournament resume {id}")),
        "{why:?}"
    );
    assert_eq!(tournament.games_done, 0, "no game is charged");
    assert!(worker.try_lease(0).await.expect("answered").is_none());
    let standings = arena.standings(&id).await;
    assert_eq!(standings.pause.as_ref(), Some(why));
    assert!(standings.agents.iter().all(|agent| agent.place.is_none()));
    // It stays so over a restart.
    drop((worker, other));
    arena.kill().await;
    let mut arena = Fixture::with(options(store)).await;
    pause(&arena.tournament(&id).await);
    arena.resume(&id).await;
    let mut worker = arena.join("one").await;
    assert_eq!(worker.play_all().await, 40);
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    assert_eq!(tournament.pause, None);
}

#[tokio::test]
async fn resume_retries_and_pauses_again() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    for _ in 0..3 {
        let lease = worker.lease().await;
        fail(&mut worker, &lease).await;
        pause(&arena.tournament(&id).await);
        arena.resume(&id).await;
    }
    assert_eq!(worker.play_all().await, 40);
}

#[tokio::test]
async fn unplayed_limit_one_charges_the_agent() {
    let mut arena = Fixture::new().await;
    let spec = SPEC.replace("blocks", "unplayed_limit = 1\nblocks");
    let id = arena.start(&spec).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    fail(&mut worker, &lease).await;
    let lease = worker.lease().await;
    assert_eq!(lease.given_up.len(), 1, "{lease:?}");
    lose(&mut worker, &lease, |_| true).await;
    lose_all(&mut worker, |_| true).await;
    let standings = arena.standings(&id).await;
    assert_eq!(standings.state(), TournamentState::Finished);
    // It did not play, so no agent is better than it.
    let last = &standings.agents[1];
    assert_eq!(
        (&*last.agent, last.place, last.rating),
        ("minimax", None, None)
    );
    assert_eq!((last.unplayed, standings.games_clean), (40, 0));
    let text = standings
        .notes
        .iter()
        .any(|note| note.contains("not ranked: minimax"));
    assert!(text, "{:?}", standings.notes);
}

#[tokio::test]
async fn never_asked_agent_is_unranked() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    // Agent 0 forfeits every game before agent 1 has a turn.
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        let report = |game: &v1::GameAssignment| {
            let seat = game.seats.iter().position(|&agent| agent == 0);
            let seat = seat.expect("two agents") as u8;
            v1::GameReport {
                answered: Vec::new(),
                ..unplayed(game, seat, FaultKind::IllegalMove)
            }
        };
        let games = lease.games.iter().map(report).collect();
        worker.report(&lease, games).await.expect("taken");
    }
    let standings = arena.standings(&id).await;
    let ranks: Vec<_> = standings
        .agents
        .iter()
        .map(|it| (&*it.agent, it.place, it.rating.is_some(), it.unasked))
        .collect();
    let places = [("random", Some(1), true, 0), ("minimax", None, false, 40)];
    assert_eq!(ranks, places, "{:?}", standings.notes);
    let note = "not ranked: minimax was never asked for a move in any game";
    assert!(
        standings.notes.iter().any(|it| it == note),
        "{:?}",
        standings.notes
    );
}

#[tokio::test]
async fn unplayed_games_pause_until_accepted() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    // Of 20 games two are no more than a tenth.
    lose_all(&mut worker, |index| index < 2).await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);

    let spec = SPEC.replace("0x5eed", "0xf00d");
    let id = arena.start(&spec).await.tournament_id;
    lose_all(&mut worker, |index| index % 4 == 0).await;
    let tournament = arena.tournament(&id).await;
    let why = pause(&tournament);
    assert_eq!((&*why.kind, &*why.agent), ("unplayed_games", "minimax"));
    assert!(why.reason.contains("before their first answer"), "{why:?}");
    assert!(
        why.advice.contains(&format!("tournament retry {id}")),
        "{why:?}"
    );
    assert!(why.error.contains("crash"), "{why:?}");
    // To start it again is no word of a user that they count.
    arena.start(&spec).await;
    pause(&arena.tournament(&id).await);
    drop(worker);
    arena.kill().await;
    let mut arena = Fixture::with(options(store)).await;
    pause(&arena.tournament(&id).await);
    arena.resume(&id).await;
    let mut worker = arena.join("one").await;
    worker.play_all().await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    assert_eq!(tournament.games_done, 40);
}

#[tokio::test]
async fn accepted_games_do_not_count_again() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut held = 0;
    for _ in 0..100 {
        lose_all(&mut worker, |_| true).await;
        let tournament = arena.tournament(&id).await;
        if tournament.state() == TournamentState::Finished {
            break;
        }
        let new = tournament.games_done - held;
        let which = match held {
            0 => format!("lost {new} of the first {new} games"),
            _ => format!("lost {new} of {new} games since the last resume"),
        };
        held = tournament.games_done;
        assert!(held >= 20, "{tournament:?}");
        let reason = &pause(&tournament).reason;
        assert!(reason.contains(&which), "{reason}");
        arena.resume(&id).await;
    }
    assert!(held <= 40);
    let spec = SPEC.replace("0x5eed", "0xf00d");
    let id = arena.start(&spec).await.tournament_id;
    lose_all(&mut worker, |_| true).await;
    pause(&arena.tournament(&id).await);
    let spec = spec.replace("blocks", "unplayed_limit = 1.0\nblocks");
    assert_eq!(
        arena.start(&spec).await.tournament_id,
        id,
        "it changes no record"
    );
    lose_all(&mut worker, |_| true).await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(
        tournament.state(),
        TournamentState::Finished,
        "{tournament:?}"
    );
}

#[tokio::test]
async fn paused_tournament_does_not_finish() {
    let store = memory();
    let mut arena = Fixture::with(Options {
        checkpoint_games: 5,
        ..options(store.clone())
    })
    .await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    // All in one report: nothing was known before the last game.
    let mut lease = worker.lease().await;
    while let Some(more) = worker.try_lease(0).await.expect("answered") {
        lease.games.extend(more.games);
    }
    assert_eq!(lease.games.len(), 40);
    let tickets = Tickets::new(random::stored_key(&*store, tickets::KEY).expect("a key"), 0);
    lease.ticket = tickets.issue(
        &id,
        WorkerProcess::Unknown,
        (&Principal::local().owner, "one"),
        0..40,
    );
    lose(&mut worker, &lease, |index| index % 2 == 0).await;
    let tournament = arena.tournament(&id).await;
    pause(&tournament);
    assert_eq!(
        (tournament.games_done, tournament.finished_unix_us),
        (40, 0)
    );
    drop(worker);
    arena.kill().await;
    let mut arena = Fixture::with(options(store)).await;
    pause(&arena.tournament(&id).await);
    arena.resume(&id).await;
    let tournament = arena.tournament(&id).await;
    assert_eq!(tournament.state(), TournamentState::Finished);
    assert_ne!(tournament.verdict_json, "");
}
