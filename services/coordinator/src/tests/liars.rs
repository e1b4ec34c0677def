//! Workers of several owners, some of which lie or refuse.

use arena_model::engine::{FaultKind, SeatFault};
use arena_wire::v1;

use super::{
    contest::{Contest, seat},
    fixture::{FakeWorker, SPEC, memory, options, unplayed, won},
};
use crate::Options;

/// All games are audited.
async fn contest(spec: &str) -> Contest {
    let options = Options {
        audit_share: 1.0,
        ..options(memory())
    };
    Contest::of(spec, options).await
}

/// Plays while there is anything to play; `report` makes the report of a game.
async fn play(
    worker: &mut FakeWorker,
    report: impl Fn(&v1::GameAssignment) -> v1::GameReport,
) -> bool {
    let mut played = false;
    while let Ok(Some(lease)) = worker.try_lease(0).await {
        let games = lease.games.iter().map(&report).collect();
        worker.report(&lease, games).await.expect("taken");
        played = true;
    }
    played
}

/// The report of a game that a worker could not play.
fn failed(game: &v1::GameAssignment) -> v1::GameReport {
    v1::GameReport {
        record: Some(v1::GameRecord {
            index: game.index,
            ..Default::default()
        }),
        void_reason: "the sandbox cannot be set up".to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn owner_that_fails_audits_does_not_end_them() {
    let contest = contest(SPEC).await;
    let mut player = contest.join("player", 1).await;
    play(&mut player, |game| won(game, 0)).await;
    let mut honest = contest.join("honest", 2).await;
    // One game at a time, so that it fails each audit as often as it is asked.
    for process in 10..40 {
        let mut spoiler = contest.join("spoiler", process).await;
        for _ in 0..5 {
            let Ok(Some(lease)) = spoiler.try_lease(0).await else {
                break;
            };
            let games = lease.games.iter().map(failed).collect();
            spoiler.report(&lease, games).await.expect("taken");
        }
    }
    let audits = contest.audits().await;
    assert_eq!((audits.given_up, audits.agreed), (0, 0), "{audits:?}");
    play(&mut honest, |game| won(game, 0)).await;
    let audits = contest.audits().await;
    assert_eq!((audits.agreed, audits.waiting), (40, 0), "{audits:?}");
}

#[tokio::test]
async fn two_liars_of_four_owners_cannot_charge_an_agent() {
    let contest = contest(SPEC).await;
    let mut workers = Vec::new();
    for (name, process) in [("one", 1), ("two", 2), ("three", 3), ("four", 4)] {
        workers.push(contest.join(name, process).await);
    }
    let [one, two, three, four] = &mut workers[..] else {
        panic!("four workers");
    };
    // The hash of a record is that of its winner.
    let leases = play_all_but_audits(one).await;
    for lease in leases {
        let games = lease.games.iter().map(|game| won(game, 1)).collect();
        let _ = two.reporting(&lease, games).await;
    }
    play(two, |game| won(game, 1)).await;
    for honest in [three, four] {
        play(honest, |game| won(game, 2)).await;
    }
    let audits = contest.audits().await;
    assert_eq!((audits.disputed, audits.refuted), (0, 40), "{audits:?}");
    assert_eq!(contest.quarantined().await, ["one", "two"]);
    assert_eq!(contest.non_deterministic().await, 0);
    let notes = contest.notes().await;
    assert!(notes.contains("not sound"), "{notes}");
}

/// Plays all games, seat 0 having won. Returns the leases.
async fn play_all_but_audits(worker: &mut FakeWorker) -> Vec<v1::Lease> {
    let mut leases = Vec::new();
    while let Some(lease) = worker.try_lease(0).await.expect("answered") {
        worker.play(&lease).await;
        leases.push(lease);
    }
    leases
}

/// Reports a lease; one agent crashes in the first games before it answers.
async fn crash(worker: &mut FakeWorker, crashes: usize) {
    worker.games = 8;
    let lease = worker.lease().await;
    let games = lease.games.iter().enumerate();
    let reports = games.map(|(place, game)| match place < crashes {
        true => unplayed(game, seat(game) as u8, FaultKind::Crash),
        false => won(game, seat(game)),
    });
    let reports = reports.collect();
    worker.report(&lease, reports).await.expect("taken");
}

#[tokio::test]
async fn agent_that_fails_with_everyone_brings_no_worker_into_quarantine() {
    for crashes_elsewhere in [1, 0] {
        let contest = contest(&SPEC.replace("blocks = 20", "blocks = 200")).await;
        let mut one = contest.join("one", 1).await;
        let mut others = [contest.join("two", 2).await, contest.join("three", 3).await];
        for other in &mut others {
            crash(other, crashes_elsewhere).await;
        }
        for _ in 0..3 {
            crash(&mut one, 8).await;
        }
        for _ in 0..4 {
            for other in &mut others {
                crash(other, 0).await;
            }
        }
        let expected: &[&str] = if crashes_elsewhere == 0 {
            &["one"]
        } else {
            &[]
        };
        assert_eq!(contest.quarantined().await, expected);
    }
}

#[tokio::test]
async fn moves_after_a_fault_are_compared_by_worker() {
    let spec = SPEC.replace("blocks = 20", "blocks = 100");
    let spec = format!("{spec}[play]\non_fault = \"random-move\"\n");
    for has_fault in [true, false] {
        let options = Options {
            audit_share: 0.01,
            ..options(memory())
        };
        let contest = Contest::of(&spec, options).await;
        let mut one = contest.join("one", 1).await;
        let mut two = contest.join("two", 2).await;
        let report = |game: &v1::GameAssignment, winner: u32| {
            let seat = game.seats.iter().position(|&agent| agent == winner);
            let mut record = super::fixture::record(game, seat.expect("it plays"));
            if has_fault {
                let (ply, seat, kind) = (0, 0, FaultKind::IllegalMove);
                record.faults = vec![SeatFault { ply, seat, kind }];
            }
            v1::GameReport {
                record: Some((&record).into()),
                ..Default::default()
            }
        };
        for _ in 0..2 {
            let lease = one.lease().await;
            let reports = lease.games.iter().map(|game| report(game, 0)).collect();
            one.report(&lease, reports).await.expect("taken");
        }
        play(&mut two, |game| report(game, 1)).await;
        let notes = contest.notes().await;
        assert_eq!(notes.contains("not sound"), has_fault, "{notes}");
        assert_eq!(contest.deviating().await > 0, has_fault);
    }
}
