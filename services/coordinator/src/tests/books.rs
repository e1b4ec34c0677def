//! Opening books that take long to draw.

use std::{
    sync::{Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use arena_model::engine::Event;
use arena_wire::{reasons, v1};
use tonic::{Code, Status};

use super::fixture::{Fixture, SPEC, memory, options, record, refused, won};

/// Takes some seconds to draw in a debug build.
const LARGE: &str = "name = \"large\"\nruleset = \"chess\"\nseed = 1\nblocks = 4000\n\
                     agents = [\"random\", \"random2\"]\n[play]\nopening_plies = 30\n\
                     [[agent]]\nname = \"random2\"\nbot = \"random\"\n";
/// A call is answered within this time, whatever is drawn meanwhile.
const SOON: Duration = Duration::from_millis(1500);

fn request(spec_toml: &str) -> v1::PlanTournamentRequest {
    v1::PlanTournamentRequest {
        spec_toml: spec_toml.to_owned(),
        ..Default::default()
    }
}

/// Lists tournaments until the end of a call; the longest time that a list took, and their number.
async fn list_until(arena: &mut Fixture, over: impl Fn() -> bool) -> (Duration, u32) {
    let (mut longest, mut lists) = (Duration::ZERO, 0);
    while !over() {
        let start = Instant::now();
        let list = v1::ListTournamentsRequest::default();
        arena
            .coordinator
            .list_tournaments(list)
            .await
            .expect("a list");
        longest = longest.max(start.elapsed());
        lists += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    (longest, lists)
}

#[tokio::test]
async fn calls_are_answered_while_a_book_is_drawn() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    let large = arena.start(LARGE).await.tournament_id;
    for restarted in [false, true] {
        if restarted {
            arena.stop().await;
            let start = Instant::now();
            arena = Fixture::with(options(store.clone())).await;
            assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        }
        let mut worker = arena.join("one").await;
        let leasing = tokio::spawn(async move {
            let lease = worker.try_lease(60_000).await.expect("answered");
            (worker, lease.expect("a game"))
        });
        let (longest, lists) = list_until(&mut arena, || leasing.is_finished()).await;
        assert!(longest < SOON && lists > 20, "{longest:?} in {lists} lists");
        let (mut worker, lease) = leasing.await.expect("no panic");
        assert_eq!(lease.tournament_id, large);
        assert!(lease.games.iter().all(|game| game.opening.len() == 30));
        // A game that is stored is read at the restart.
        let game = &lease.games[0];
        let wrong = worker.report(&lease, vec![won(game, 0)]).await;
        refused(wrong, Code::InvalidArgument, reasons::RECORD_INVALID);
        let mut right = record(game, 0);
        let moves = game.opening.iter().map(|&action| action as u16);
        right.events = moves.map(Event::action).collect();
        right.opening_plies = game.opening.len() as u32;
        let report = v1::GameReport {
            record: Some((&right).into()),
            ..v1::GameReport::default()
        };
        worker.report(&lease, vec![report]).await.expect("taken");
    }
    arena.stop().await;
}

#[tokio::test]
async fn other_tournaments_do_not_wait_for_a_book() {
    let mut arena = Fixture::new().await;
    let large = arena.start(LARGE).await.tournament_id;
    let small = arena.start(SPEC).await.tournament_id;
    let mut worker = arena.join("one").await;
    let start = Instant::now();
    let lease = worker.lease().await;
    assert_eq!(lease.tournament_id, small, "its book is there first");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    let mut next = lease;
    while next.tournament_id == small {
        worker.play(&next).await;
        next = worker
            .try_lease(60_000)
            .await
            .expect("answered")
            .expect("a game");
    }
    assert_eq!(next.tournament_id, large);
    arena.stop().await;
}

#[tokio::test]
async fn books_of_much_work_are_refused() {
    let mut arena = Fixture::new().await;
    let spec = LARGE
        .replace("= 4000", "= 1000000")
        .replace("= 30", "= 100");
    let check = |answer: Result<(), Status>| {
        let text = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
        assert_eq!(
            text,
            "opening_plies = 100 in [play]: the opening book takes more than 4000000 moves to draw; \
             lower opening_plies or blocks: up to 65536 blocks have openings of their own"
        );
    };
    let planned = arena.coordinator.plan_tournament(request(&spec)).await;
    check(planned.map(drop));
    check(arena.try_start(&spec, false).await.map(drop));
    arena.stop().await;
}

#[tokio::test]
async fn plans_whose_callers_left_give_their_places_back() {
    let arena = Fixture::new().await;
    // Takes at least half a minute in a debug build.
    let spec = LARGE.replace("= 4000", "= 65536").replace("= 30", "= 54");
    for _ in 0..2 * crate::computations::COMPUTATIONS_MAX {
        let mut planner = arena.coordinator.clone();
        let plan = planner.plan_tournament(request(&spec));
        let gone = tokio::time::timeout(Duration::from_millis(300), plan).await;
        assert!(gone.is_err(), "it is not ready so soon");
    }
    let mut planner = arena.coordinator.clone();
    let small = tokio::time::timeout(
        Duration::from_secs(5),
        planner.plan_tournament(request(SPEC)),
    );
    small.await.expect("in time").expect("planned");
    arena.stop().await;
}

/// A plan waits for this lock while it checks its agents.
static CHECK: Mutex<()> = Mutex::new(());

#[tokio::test]
async fn requests_have_a_deadline() {
    let mut arena = Fixture::with(crate::Options {
        check_native: |_, _, _, _, _| {
            drop(CHECK.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(())
        },
        deadlines: |path| {
            path.ends_with("/PlanTournament")
                .then_some(Duration::from_secs(1))
        },
        ..options(memory())
    })
    .await;
    let (release, released) = mpsc::channel::<()>();
    let (locked, is_locked) = mpsc::channel();
    let holder = thread::spawn(move || {
        let _lock = CHECK.lock();
        locked.send(()).expect("the test waits");
        // A failed test releases it, too.
        let _ = released.recv_timeout(Duration::from_secs(20));
    });
    is_locked.recv().expect("locked");
    let late = arena.coordinator.plan_tournament(request(SPEC)).await;
    let text = refused(late, Code::DeadlineExceeded, reasons::DEADLINE_EXCEEDED);
    assert!(text.starts_with("no answer within 1 seconds"), "{text}");
    release.send(()).expect("it waits");
    holder.join().expect("no panic");
    let planned = arena.coordinator.plan_tournament(request(SPEC)).await;
    planned.expect("planned");
    arena.stop().await;
}
