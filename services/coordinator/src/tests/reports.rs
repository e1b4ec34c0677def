//! Results: once, durable, and compared where they come twice.

use arena_wire::{reasons, v1};
use tonic::Code;

use super::fixture::{Fixture, SPEC, memory, options, refused, won};
use crate::Options;

#[tokio::test]
async fn repeated_report_counts_once() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    for _ in 0..3 {
        let answer = worker.play(&lease).await;
        assert_eq!(answer.differing, Vec::<u64>::new());
    }
    let games = lease.games.len() as u64;
    assert_eq!(arena.tournament(&id).await.games_done, games);
    assert_eq!(arena.standings(&id).await.games, games);
}

#[tokio::test]
async fn repeated_game_in_report_counts_once() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let game = &lease.games[0];
    let answer = worker
        .report(&lease, vec![won(game, 0), won(game, 0)])
        .await;
    assert_eq!(answer.expect("taken").differing, Vec::<u64>::new());
    assert_eq!(arena.tournament(&id).await.games_done, 1);
    let game = &lease.games[1];
    let answer = worker
        .report(&lease, vec![won(game, 0), won(game, 1)])
        .await;
    assert_eq!(answer.expect("taken").differing, [game.index]);
    assert_eq!(arena.tournament(&id).await.games_done, 2);
}

#[tokio::test]
async fn first_record_is_kept() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let game = &lease.games[3];
    worker.differ(&lease, game).await;
    let found = arena.differences(&id).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].game_id, format!("{id}/{}", game.index));
    assert_eq!(found[0].durable_hash, "01".repeat(32));
    assert_eq!(found[0].other_hash, "02".repeat(32));
    assert_eq!(found[0].worker, "one");
    let standings = arena.standings(&id).await;
    assert_eq!(standings.games, 1);
}

/// Two plays of one Kalah game that part at the second move, by seat 1.
#[tokio::test]
async fn differing_move_marks_its_agent() {
    let mut arena = Fixture::with(Options {
        audit_share: 1.0,
        ..options(memory())
    })
    .await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut player = arena.join_as("one", 1).await;
    let lease = player.lease().await;
    let game = &lease.games[0];
    let played = |moves: [u32; 2], hash: u8| {
        let mut report = won(game, 0);
        if let Some(record) = &mut report.record {
            record.events = moves.iter().map(|id| id << 1 | 1).collect();
            record.hash = vec![hash; 32];
        }
        report
    };
    let taken = player.report(&lease, vec![played([0, 1], 7)]).await;
    taken.expect("taken");
    player.play_all().await;
    let mut auditor = arena.join_as("two", 2).await;
    let audited = loop {
        let lease = auditor.lease().await;
        if lease.games.iter().any(|it| it.index == game.index) {
            break lease;
        }
        auditor.play(&lease).await;
    };
    let taken = auditor.report(&audited, vec![played([0, 2], 8)]).await;
    taken.expect("taken");
    let found = arena.differences(&id).await;
    let agent = &lease.setup.as_ref().expect("sent").agents[game.seats[1] as usize].name;
    assert_eq!((found[0].event, &found[0].agent), (1, agent));
    let standings = arena.standings(&id).await;
    for standing in standings.agents {
        assert_eq!(standing.non_deterministic, standing.agent == *agent);
    }
}

#[tokio::test]
async fn wrong_dice_mark_no_agent() {
    let mut arena = Fixture::new().await;
    let spec = SPEC
        .replace("kalah", "cowry")
        .replace("minimax", "aggressive");
    let id = arena.start(&spec).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    // One of two throws at least is not that of the seed.
    for thrown in [0, 1] {
        let mut report = won(&lease.games[0], 0);
        if let Some(record) = &mut report.record {
            record.events = vec![thrown << 1];
            record.hash = vec![thrown as u8 + 1; 32];
        }
        worker.report(&lease, vec![report]).await.expect("taken");
    }
    let found = arena.differences(&id).await;
    assert_eq!((found[0].event, found[0].agent.as_str()), (0, ""));
    assert!(
        found[0].dice.contains("ply 0 (event 0): the seed draws"),
        "{}",
        found[0].dice
    );
}

#[tokio::test]
async fn record_outside_schedule_is_refused() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    type Change = (fn(&mut v1::GameRecord), &'static str);
    let changes: [Change; 5] = [
        (|record| record.block += 1, reasons::RECORD_INVALID),
        (|record| record.seed ^= 1, reasons::RECORD_INVALID),
        (|record| record.seats.reverse(), reasons::RECORD_INVALID),
        (|record| record.hash.truncate(31), reasons::REQUEST_INVALID),
        (
            |record| record.placement.truncate(1),
            reasons::REQUEST_INVALID,
        ),
    ];
    for (change, reason) in changes {
        let mut report = won(&lease.games[0], 0);
        change(report.record.as_mut().expect("a record"));
        let answer = worker
            .report(&lease, vec![won(&lease.games[1], 0), report])
            .await;
        refused(answer, Code::InvalidArgument, reason);
    }
    assert_eq!(arena.tournament(&id).await.games_done, 0, "all or nothing");
}

#[tokio::test]
async fn failed_game_is_leased_again() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let failed = v1::GameReport {
        record: Some(v1::GameRecord {
            index: lease.games[0].index,
            ..Default::default()
        }),
        void_reason: "no memory to start an agent".to_owned(),
        ..Default::default()
    };
    let mut games: Vec<v1::GameReport> = lease.games[1..].iter().map(|game| won(game, 0)).collect();
    games.push(failed);
    worker.report(&lease, games).await.expect("taken");
    worker.play_all().await;
    let again = worker.lease().await;
    assert_eq!(again.games.len(), 1);
    assert_eq!(again.games[0].index, lease.games[0].index);
    assert_eq!(again.games[0].attempts, 1);
}

#[tokio::test]
async fn audits_run_on_another_worker() {
    let mut arena = Fixture::with(crate::Options {
        audit_share: 1.0,
        ..options(memory())
    })
    .await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut player = arena.join("player").await;
    assert_eq!(player.play_all().await, 40);
    let mut auditor = arena.join("auditor").await;
    let lease = auditor.lease().await;
    let games = lease.games.iter().map(|game| won(game, 1)).collect();
    let answer = auditor.report(&lease, games).await.expect("taken");
    assert_eq!(answer.differing.len(), lease.games.len());
    assert_eq!(arena.differences(&id).await.len(), lease.games.len());
}

#[tokio::test]
async fn simultaneous_reports_count_each_game_once() {
    let mut arena = Fixture::new().await;
    let id = arena.start(SPEC).await.tournament_id;
    let mut leases = Vec::new();
    let mut first = arena.join("first").await;
    while let Some(lease) = first.try_lease(0).await.expect("answered") {
        leases.push(lease);
    }
    let mut reporting = Vec::new();
    for number in 0..8 {
        let mut worker = arena.join(&format!("worker-{number}")).await;
        let leases = leases.clone();
        reporting.push(tokio::spawn(async move {
            for lease in &leases {
                worker.play(lease).await;
            }
        }));
    }
    for report in reporting {
        report.await.expect("no panic");
    }
    assert_eq!(arena.standings(&id).await.games, 40);
    assert_eq!(
        arena.tournament(&id).await.state(),
        v1::TournamentState::Finished
    );
}

/// Both pages and the rest of the differences of a tournament.
async fn counted(arena: &mut Fixture, id: &str) -> (usize, u64) {
    let mut request = v1::ListDifferencesRequest {
        tournament_id: id.to_owned(),
        ..Default::default()
    };
    let mut listed = 0;
    loop {
        let answer = arena.coordinator.list_differences(request.clone()).await;
        let page = answer.expect("known").into_inner();
        listed += page.differences.len();
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return (listed, page.unlisted);
        }
    }
}

#[tokio::test]
async fn unlisted_differences_survive_restart() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let spec = SPEC.replace("blocks = 20", "blocks = 520");
    let id = arena.start(&spec).await.tournament_id;
    let mut worker = arena.join("one").await;
    let mut leases = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        worker.play(&lease).await;
        leases.push(lease);
    }
    for twice in [true, false] {
        for lease in &leases {
            let games = lease.games.iter().map(|game| won(game, 1)).collect();
            let answer = worker.report(lease, games).await.expect("taken");
            assert_eq!(answer.differing.len(), lease.games.len());
        }
        assert_eq!(counted(&mut arena, &id).await, (1000, 40));
        if twice {
            arena.kill().await;
            arena = Fixture::with(options(store.clone())).await;
            worker = arena.join("one").await;
        }
    }
}
