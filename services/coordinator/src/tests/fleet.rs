//! Joining, leases and leaving.

use std::time::Duration;

use arena_wire::{reasons, v1};
use tonic::Code;

use super::fixture::{Fixture, SPEC, memory, options, refused};

#[tokio::test]
async fn tournament_is_played_to_its_end() {
    let mut arena = Fixture::new().await;
    let tournament = arena.start(SPEC).await;
    assert_eq!(tournament.games_total, 40);
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let setup = lease.setup.clone().expect("the worker knew nothing");
    assert_eq!(setup.tournament_id, tournament.tournament_id);
    assert_eq!(setup.agents[1].options[0].value, "4", "resolved");
    worker.play(&lease).await;
    worker.play_all().await;
    let tournament = arena.tournament(&tournament.tournament_id).await;
    assert_eq!(tournament.state(), v1::TournamentState::Finished);
    assert_eq!(tournament.games_done, 40);
    let standings = arena.standings(&tournament.tournament_id).await;
    assert_eq!(standings.games, 40);
    for agent in &standings.agents {
        assert_eq!((agent.wins, agent.losses), (20, 20), "seat 0 always won");
    }
}

#[tokio::test]
async fn setup_is_sent_once() {
    let mut arena = Fixture::new().await;
    let tournament = arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let request = v1::LeaseRequest {
        worker_id: worker.id.clone(),
        boot_epoch: worker.boot_epoch,
        games: 8,
        wait_ms: 0,
        known_tournaments: vec![tournament.tournament_id],
        known_agents: Vec::new(),
        call: 0,
        session: worker.session.clone(),
        sated_tournaments: Vec::new(),
    };
    let lease = worker.client.lease(request).await.expect("answered");
    assert_eq!(lease.into_inner().lease.expect("games").setup, None);
}

#[tokio::test]
async fn closed_stream_returns_games() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut first = arena.join("first").await;
    let mut lost = Vec::new();
    while let Some(lease) = first.try_lease(0).await.expect("answered") {
        lost.extend(lease.games.iter().map(|game| game.index));
    }
    assert_eq!(lost.len(), 40);
    let mut second = arena.join("second").await;
    assert_eq!(second.try_lease(0).await.expect("answered"), None);
    drop(first);
    let again = second.lease().await;
    assert_eq!(again.games[0].index, 0);
    assert_eq!(
        again.games[0].attempts, 0,
        "a lost worker is no failed attempt"
    );
}

#[tokio::test]
async fn orderly_leaves_void_no_game() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    for _ in 0..15 {
        let mut worker = arena.join("stopped").await;
        let mut held = 0;
        while let Some(lease) = worker.try_lease(0).await.expect("answered") {
            assert!(lease.games.iter().all(|game| game.attempts == 0));
            assert!(lease.games.len() > 1, "in company");
            held += lease.games.len();
        }
        assert_eq!(held, 40);
        let request = v1::LeaveRequest {
            worker_id: worker.id.clone(),
            boot_epoch: worker.boot_epoch,
            session: worker.session.clone(),
        };
        worker.client.leave(request).await.expect("answered");
    }
}

#[tokio::test]
async fn waiting_worker_gets_games_at_once() {
    let mut arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    let waiting = tokio::spawn(async move { worker.lease().await });
    arena.start(SPEC).await;
    assert!(!waiting.await.expect("no panic").games.is_empty());
}

#[tokio::test]
async fn lease_without_progress_expires() {
    let mut arena = Fixture::with(crate::Options {
        lease_deadline: Duration::from_millis(50),
        ..options(memory())
    })
    .await;
    let spec = format!("{SPEC}\n[play]\nmove_timeout = \"1ms\"\n");
    arena.start(&spec).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let notice = worker.notice().await.expect("a notice");
    let v1::join_response::Notice::LeasesEnded(ended) = notice else {
        panic!("{notice:?}");
    };
    assert_eq!(ended.lease_ids, [lease.lease_id]);
    assert_eq!(worker.beat(&lease, 1000).await, [lease.lease_id]);
}

#[tokio::test]
async fn unknown_worker_is_asked_to_join() {
    let arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    worker.boot_epoch ^= 1;
    refused(
        worker.try_lease(0).await,
        Code::FailedPrecondition,
        reasons::UNKNOWN_WORKER,
    );
}

#[tokio::test]
async fn worker_without_ruleset_gets_no_games() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let request = v1::JoinRequest {
        name: "of another version".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rulesets: [("kalah".to_owned(), 999)].into(),
        record_version: arena_model::RECORD_VERSION,
        ..Default::default()
    };
    let mut notices = worker
        .client
        .join(request)
        .await
        .expect("joins")
        .into_inner();
    let welcome = notices.message().await.expect("open").expect("a welcome");
    let Some(v1::join_response::Notice::Welcome(welcome)) = welcome.notice else {
        panic!("{welcome:?}");
    };
    worker.id = welcome.worker_id;
    worker.session = welcome.session;
    assert_eq!(worker.try_lease(0).await.expect("answered"), None);
}

#[tokio::test]
async fn worker_that_does_not_adjudicate_gets_no_such_games() {
    let mut arena = Fixture::new().await;
    let rules = "\n[play]\nresign = { score = 600, moves = 3 }\n";
    let id = arena.start(&format!("{SPEC}{rules}")).await.tournament_id;
    // The workers of these tests do not name `@adjudication`.
    let mut worker = arena.join("one").await;
    assert_eq!(worker.try_lease(0).await.expect("answered"), None);
    let notes = arena.standings(&id).await.notes;
    let expected = "no connected worker knows the options resign and draw";
    assert!(
        notes.iter().any(|note| note.contains(expected)),
        "{notes:?}"
    );
}

/// A release before openings would begin every game from the start.
#[tokio::test]
async fn other_releases_may_not_join() {
    let arena = Fixture::new().await;
    let mut worker = arena.join("one").await;
    let join = |version: &str, record_version| v1::JoinRequest {
        name: "old".to_owned(),
        version: version.to_owned(),
        record_version,
        ..Default::default()
    };
    let cases = [
        (join("0.0.9", 0), "old (version 0.0.9)"),
        (join("0.99.0", 99), "old (version 0.99.0)"),
        (join("", 99), "old (version unknown)"),
        (
            join(env!("CARGO_PKG_VERSION"), 1),
            "writes records of version 1, but this coordinator needs 2",
        ),
        (
            join(env!("CARGO_PKG_VERSION"), 3),
            "writes records of version 3, but this coordinator needs 2",
        ),
    ];
    for (request, words) in cases {
        let answer = worker.client.join(request).await.map(|_| ());
        let text = refused(answer, Code::FailedPrecondition, reasons::WORKER_OUTDATED);
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn fleet_is_listed() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let fleet = arena
        .coordinator
        .list_workers(v1::ListWorkersRequest::default())
        .await;
    let fleet = fleet.expect("answered").into_inner();
    let games = lease.games.len() as u64;
    assert_eq!(fleet.games_waiting, 40 - games);
    assert_eq!(fleet.workers.len(), 1);
    assert_eq!(fleet.workers[0].name, "one");
    assert_eq!(
        (fleet.workers[0].leases, fleet.workers[0].games_leased),
        (1, games)
    );
}

#[tokio::test]
async fn workers_are_listed_in_pages() {
    let mut arena = Fixture::new().await;
    let mut workers = Vec::new();
    for name in ["one", "two", "three", "four", "five"] {
        workers.push(arena.join(name).await);
    }
    let mut request = v1::ListWorkersRequest {
        page_size: 2,
        ..Default::default()
    };
    let mut pages = Vec::new();
    loop {
        let page = arena.coordinator.list_workers(request.clone()).await;
        let page = page.expect("answered").into_inner();
        assert_eq!(page.workers_total, 5);
        let names = page.workers.into_iter().map(|worker| worker.name);
        pages.push(names.collect::<Vec<_>>());
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(
        pages,
        [vec!["one", "two"], vec!["three", "four"], vec!["five"]]
    );
    request.page_token = "no such page".to_owned();
    let answer = arena.coordinator.list_workers(request).await;
    refused(answer, Code::InvalidArgument, reasons::PAGE_TOKEN_INVALID);
}

#[tokio::test]
async fn stop_takes_last_reports() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let games = lease.games.len() as u64;
    let last = tokio::spawn(async move {
        let notice = worker.notice().await.expect("a notice");
        assert!(
            matches!(notice, v1::join_response::Notice::Drain(_)),
            "{notice:?}"
        );
        assert_eq!(worker.try_lease(10_000).await.expect("answered"), None);
        worker.play(&lease).await;
    });
    let summary = arena.stop().await;
    last.await.expect("no panic");
    assert_eq!(summary.games, games);
    assert_eq!(summary.tournaments_open, 1);
}
