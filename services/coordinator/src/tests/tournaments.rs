//! Tournaments that start, pause, resume and end; refused specs.

use arena_wire::{reasons, v1};
use tonic::Code;

use super::fixture::{Fixture, SPEC, memory, options, refused, won};
use crate::Options;

#[tokio::test]
async fn again_makes_another_attempt() {
    let mut arena = Fixture::new().await;
    let first = arena.try_start(SPEC, false).await.expect("starts");
    assert!(first.created);
    let id = first.tournament.expect("it").tournament_id;
    assert!(id.starts_with("cup-") && id.len() == 14, "{id}");
    let running = arena.try_start(SPEC, true).await.expect("goes on");
    assert!(!running.created, "it runs already");
    arena.join("one").await.play_all().await;
    let shown = arena.try_start(SPEC, false).await.expect("shown");
    assert!(!shown.created);
    assert_eq!(
        shown.tournament.expect("it").state(),
        v1::TournamentState::Finished
    );
    for attempt in ["-2", "-3"] {
        let again = arena.try_start(SPEC, true).await.expect("starts");
        assert!(again.created);
        assert_eq!(
            again.tournament.expect("it").tournament_id,
            format!("{id}{attempt}")
        );
        arena.join("one").await.play_all().await;
    }
}

#[tokio::test]
async fn missing_seed_is_drawn() {
    let mut arena = Fixture::new().await;
    let spec = SPEC.replace("seed = \"0x5eed\"\n", "");
    let first = arena.start(&spec).await;
    let second = arena.start(&spec).await;
    assert_ne!(first.tournament_id, second.tournament_id);
    arena.join("one").await.play_all().await;
    let first = arena.tournament(&first.tournament_id).await;
    let again = arena.start(&first.spec_toml).await;
    assert_eq!(
        again.tournament_id, first.tournament_id,
        "{}",
        first.spec_toml
    );
}

#[tokio::test]
async fn repeated_request_id_changes_nothing() {
    let mut arena = Fixture::new().await;
    let spec = SPEC.replace("seed = \"0x5eed\"\n", "");
    let request = v1::StartTournamentRequest {
        request_id: "once".to_owned(),
        spec_toml: spec,
        ..Default::default()
    };
    let first = arena.coordinator.start_tournament(request.clone()).await;
    let second = arena.coordinator.start_tournament(request.clone()).await;
    assert_eq!(
        first.expect("starts").into_inner(),
        second.expect("the same").into_inner()
    );
    let other = v1::StartTournamentRequest {
        again: true,
        ..request
    };
    let answer = arena.coordinator.start_tournament(other).await;
    refused(answer, Code::InvalidArgument, reasons::REQUEST_ID_CONFLICT);
}

#[tokio::test]
async fn only_started_leaves_earlier_tournaments() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let id = arena.start(SPEC).await.tournament_id;
    arena.kill().await;
    let only_started = || Options {
        only_started: true,
        ..options(store.clone())
    };
    let mut arena = Fixture::with(only_started()).await;
    let mine = arena
        .start(&SPEC.replace("cup", "mine").replace("20", "3"))
        .await;
    arena.join("one").await.play_all().await;
    let state = |tournament: v1::Tournament| (tournament.state(), tournament.games_done);
    let finished = (v1::TournamentState::Finished, 6);
    assert_eq!(state(arena.tournament(&mine.tournament_id).await), finished);
    let waits = (v1::TournamentState::Running, 0);
    assert_eq!(state(arena.tournament(&id).await), waits);
    arena.resume(&id).await;
    arena.join("two").await.play_all().await;
    let finished = (v1::TournamentState::Finished, 40);
    assert_eq!(state(arena.tournament(&id).await), finished);
    arena.kill().await;
    // Starting the tournament again also resumes it.
    let mut arena = Fixture::with(only_started()).await;
    let again = SPEC.replace("0x5eed", "0xf00d");
    let id = arena.start(&again).await.tournament_id;
    arena.kill().await;
    let mut arena = Fixture::with(only_started()).await;
    arena.start(&again).await;
    arena.join("one").await.play_all().await;
    assert_eq!(state(arena.tournament(&id).await), finished);
}

#[tokio::test]
async fn plan_stores_nothing() {
    let mut arena = Fixture::new().await;
    let request = v1::PlanTournamentRequest {
        spec_toml: SPEC.to_owned(),
        seed: String::new(),
    };
    let planned = arena
        .coordinator
        .plan_tournament(request)
        .await
        .expect("planned");
    let planned = planned.into_inner().tournament.expect("it");
    assert_eq!(planned.games_total, 40);
    let list = arena
        .coordinator
        .list_tournaments(v1::ListTournamentsRequest::default())
        .await;
    assert!(list.expect("answered").into_inner().tournaments.is_empty());
    assert_eq!(arena.start(SPEC).await.tournament_id, planned.tournament_id);
}

#[tokio::test]
async fn pause_resume_and_cancel() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let pause = v1::PauseTournamentRequest {
        request_id: "p".to_owned(),
        tournament_id: id.clone(),
    };
    let paused = arena
        .coordinator
        .pause_tournament(pause.clone())
        .await
        .expect("paused");
    let paused = paused.into_inner().tournament.expect("it");
    assert_eq!(paused.state(), v1::TournamentState::Paused);
    let notice = worker.notice().await.expect("a notice");
    assert!(matches!(notice, v1::join_response::Notice::LeasesEnded(_)));
    assert_eq!(worker.try_lease(0).await.expect("answered"), None);
    worker
        .report(&lease, vec![won(&lease.games[0], 0)])
        .await
        .expect("late, and taken");

    // Starting a paused tournament resumes it.
    assert_eq!(
        arena.start(SPEC).await.state(),
        v1::TournamentState::Running
    );
    let retried = arena
        .coordinator
        .pause_tournament(pause)
        .await
        .expect("known");
    let retried = retried.into_inner().tournament.expect("it");
    assert_eq!(
        retried.state(),
        v1::TournamentState::Running,
        "a retry changes nothing"
    );
    let again = worker.lease().await;
    assert!(
        again
            .games
            .iter()
            .all(|game| game.index != lease.games[0].index)
    );

    let cancel = v1::CancelTournamentRequest {
        tournament_id: id.clone(),
        ..Default::default()
    };
    arena
        .coordinator
        .cancel_tournament(cancel.clone())
        .await
        .expect("cancelled");
    arena
        .coordinator
        .cancel_tournament(cancel)
        .await
        .expect("cancelled already");
    worker.play(&again).await;
    assert_eq!(
        arena.tournament(&id).await.games_done,
        1,
        "nothing is taken any more"
    );
    let resume = v1::ResumeTournamentRequest {
        tournament_id: id.clone(),
        ..Default::default()
    };
    let answer = arena.coordinator.resume_tournament(resume).await;
    refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    let answer = arena.try_start(SPEC, false).await;
    refused(answer, Code::FailedPrecondition, reasons::STATE_CONFLICT);
    let anew = arena.try_start(SPEC, true).await.expect("starts");
    assert_eq!(
        anew.tournament.expect("it").tournament_id,
        format!("{id}-2")
    );
}

#[tokio::test]
async fn invalid_spec_is_refused_with_reason() {
    let mut arena = Fixture::new().await;
    let agents = |agents: &str| SPEC.replace("[\"random\", \"minimax\"]", agents);
    let variant = |options: &str| {
        let listed = agents("[\"random\", \"deep\"]");
        format!("{listed}\n[[agent]]\nname = \"deep\"\n{options}\n")
    };
    let cases = [
        (
            format!("{SPEC}blokcs = 3"),
            reasons::SPEC_INVALID,
            "\"blocks\"",
        ),
        (SPEC.replace("20", "0"), reasons::SPEC_INVALID, "blocks"),
        (
            SPEC.replace("20", "1000000000"),
            reasons::SPEC_INVALID,
            "blocks",
        ),
        (
            SPEC.replace("kalah", "kalha"),
            reasons::UNKNOWN_RULESET,
            "\"kalah\"",
        ),
        (
            format!("{SPEC}[options]\nseedz = 3"),
            reasons::OPTION_INVALID,
            "seedz",
        ),
        (
            agents("[\"random\", \"minimaxx\"]"),
            reasons::UNKNOWN_AGENT,
            "\"minimax\"",
        ),
        (agents("[\"random\"]"), reasons::SPEC_INVALID, "agents"),
        (
            agents("[\"random\", \"aggressive\"]"),
            reasons::RULESET_UNSUPPORTED,
            "cowry",
        ),
        (
            variant("bot = \"minmax\""),
            reasons::UNKNOWN_BOT,
            "\"minimax\"",
        ),
        (
            variant("bot = \"minimax\"\nfrom = \"nobody\""),
            reasons::UNKNOWN_AGENT,
            "nobody",
        ),
        (
            variant("bot = \"minimax\"\noptions = { depht = 3 }"),
            reasons::OPTION_INVALID,
            "\"depth\"",
        ),
        (
            variant("bot = \"minimax\"\noptions = { depth = 99 }"),
            reasons::OPTION_INVALID,
            "from 1 to 20",
        ),
        (
            variant("bot = \"minimax\"\noptions = { depth = 13 }"),
            reasons::OPTION_INVALID,
            "minimax plays kalah with 2 seats, but not at depth 13",
        ),
    ];
    for (spec, reason, named) in cases {
        let message = refused(
            arena.try_start(&spec, false).await,
            Code::InvalidArgument,
            reason,
        );
        assert!(message.contains(named), "{message}");
    }
    let list = arena
        .coordinator
        .list_tournaments(v1::ListTournamentsRequest::default())
        .await;
    assert!(list.expect("answered").into_inner().tournaments.is_empty());
}

#[tokio::test]
async fn unknown_id_names_the_nearest() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let request = v1::GetTournamentRequest {
        tournament_id: id.replace("cup", "cap"),
    };
    let answer = arena.coordinator.get_tournament(request).await;
    let message = refused(answer, Code::NotFound, reasons::UNKNOWN_TOURNAMENT);
    assert!(message.contains(&id), "{message}");
}
