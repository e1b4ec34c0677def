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

/// Three openings: two start positions and moves.
const GIVEN: &str = "name = \"given\"\nruleset = \"chess\"\nseed = 1\nblocks = 3\n\
                     agents = [\"random\", \"random2\"]\n\
                     [[agent]]\nname = \"random2\"\nbot = \"random\"\n\
                     [play]\nbook_order = \"sequential\"\nbook = [\"[4k3/8/8/8/8/8/4P3/4K3 w - -]\", \
                     \"[4k3/8/8/8/8/8/3P4/4K3 w - -]\", \"e4 e5\"]\n";

#[tokio::test]
async fn records_of_other_openings_are_refused() {
    let mut arena = Fixture::new().await;
    let started = arena.start(GIVEN).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    assert_eq!(lease.tournament_id, started.tournament_id);
    let starts: Vec<&str> = lease.games.iter().map(|game| &*game.start).collect();
    let [pawn, other] = ["4P3", "3P4"].map(|rank| format!("4k3/8/8/8/8/8/{rank}/4K3 w - - 0 1"));
    assert_eq!(starts, [&*pawn, &pawn, &other, &other, "", ""]);
    assert!(lease.games[..4].iter().all(|game| game.opening.is_empty()));
    assert!(lease.games[4..].iter().all(|game| game.opening.len() == 2));
    let report = |game: &v1::GameAssignment, start: &str, opening: usize| {
        let mut of = record(game, 0);
        of.start = Some(start).filter(|start| !start.is_empty()).map(Box::from);
        let moves = game.opening.iter().map(|&action| action as u16);
        of.events.splice(0..0, moves.map(Event::action));
        of.opening_plies = opening as u32;
        v1::GameReport {
            record: Some((&of).into()),
            ..v1::GameReport::default()
        }
    };
    for (game, start, opening) in [
        (0, "", 0),
        (0, &*other, 0),
        (0, "4k3/8/8/8/8/8/4P3/4K3 w - -", 0),
        (0, "nonsense", 0),
        (0, &pawn, 1),
        (2, &pawn, 0),
        (4, &pawn, 2),
        (4, "", 0),
        (4, "", 1),
    ] {
        let game = &lease.games[game];
        let wrong = worker
            .report(&lease, vec![report(game, start, opening)])
            .await;
        let text = refused(wrong, Code::InvalidArgument, reasons::RECORD_INVALID);
        assert!(
            text.contains("does not start with the opening of its block"),
            "{text}"
        );
        // Each lie ends the session.
        worker = arena.join("one").await;
    }
    arena.stop().await;
}

#[tokio::test]
async fn books_of_a_spec_are_checked_and_are_part_of_the_id() {
    let mut arena = Fixture::new().await;
    let mut plan = async |spec: &str| arena.coordinator.plan_tournament(request(spec)).await;
    let planned = plan(GIVEN).await.expect("planned").into_inner();
    let tournament = planned.tournament.expect("a tournament");
    let shown: serde_json::Value = serde_json::from_str(&tournament.spec_json).expect("JSON");
    let openings = "[4k3/8/8/8/8/8/4P3/4K3 w - - 0 1]\n[4k3/8/8/8/8/8/3P4/4K3 w - - 0 1]\ne4 e5\n";
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(openings));
    assert_eq!(shown["play"]["book"], format!("sha256:{digest}"));
    assert_eq!(shown["openings"]["size"], 3);
    assert_eq!(shown["options"]["fen"], "");
    let id = tournament.tournament_id;
    // Another notation is the same book, and so is the coordinator's own text.
    for same in [GIVEN.replace("e4 e5", "e2e4 e7-e5"), tournament.spec_toml] {
        let planned = plan(&same).await.expect("planned").into_inner();
        assert_eq!(planned.tournament.expect("a tournament").tournament_id, id);
    }
    for other in [
        GIVEN.replace("e4 e5", "e4 e6"),
        GIVEN.replace("sequential", "random"),
    ] {
        let planned = plan(&other).await.expect("planned").into_inner();
        assert_ne!(planned.tournament.expect("a tournament").tournament_id, id);
    }
    let list = |opening: &str, times: usize| {
        let list = vec![format!("\"{opening}\""); times].join(", ");
        format!(
            "{}book = [{list}]\n",
            &GIVEN[..GIVEN.find("book = ").expect("a book")]
        )
    };
    for (spec, problem) in [
        (
            list("e4 e4", 1),
            "opening 1: \"e4\" is not a legal move after e4",
        ),
        (list("e4", 2), "openings 1 and 2 lead to the same position"),
        (list("[4k3/8/8/8/8/8/8/4K3 w - -]", 1), "the game is over"),
        (
            list("f3 e5 g4 Qh4#", 1),
            "the game is over after f3 e5 g4 Qh4#",
        ),
        (list("[4k3", 1), "is missing after the start position"),
        (list("e4", 16_385), "the limits are 16384 openings"),
        (
            list(&"e4 ".repeat(3000), 1),
            "opening 1 of book has 9000 bytes; the limit is 8192",
        ),
        (
            list(&"Nf3 Nf6 Ng1 Ng8 ".repeat(500), 100),
            "the limits are 16384 openings",
        ),
        (list(&"Nf3 Nf6 Ng1 Ng8 ".repeat(251), 1), "the game is over"),
        (
            GIVEN.replace("chess", "kalah"),
            "kalah has no start positions as text",
        ),
        (
            GIVEN.replace("chess", "cowry"),
            "cowry has no start positions as text",
        ),
        (
            list("0", 1).replace("chess", "cowry"),
            "the game has chance",
        ),
        (
            GIVEN.replace(
                "[play]",
                "[options]\nfen = \"4k3/8/8/8/8/8/4P3/4K3 w - -\"\n[play]",
            ),
            "it has start positions, as option fen",
        ),
        (
            GIVEN.replace("[play]", "[play]\nopening_plies = 2"),
            "exclude each other",
        ),
        (
            GIVEN.replace("[play]", "[play]\nbook_plies = 2"),
            "book_plies needs the file",
        ),
    ] {
        let status = plan(&spec).await.expect_err(problem);
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        assert!(
            status.message().contains(problem),
            "{problem}: {}",
            status.message()
        );
    }
    let file = &GIVEN[..GIVEN.find("book = ").expect("a book")];
    let status = plan(&format!("{file}book = \"a.epd\"\n")).await;
    let text = status.expect_err("a file").message().to_owned();
    assert!(text.contains("write the openings as a list"), "{text}");
    arena.stop().await;
}

#[tokio::test]
async fn book_is_known_after_a_restart() {
    let store = memory();
    let mut arena = Fixture::with(options(store.clone())).await;
    arena.start(GIVEN).await;
    let first = arena.join("one").await.lease().await;
    arena.stop().await;
    let arena = Fixture::with(options(store)).await;
    let again = arena.join("two").await.lease().await;
    assert_eq!(first.games, again.games);
    arena.stop().await;
}
