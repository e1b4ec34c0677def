//! Games that a worker holds much longer than workers of other owners need.

use super::{hosts::*, *};

const GAMES: u64 = 8;

/// A worker of this owner, which plays any number of games at once.
fn worker_of(ledger: &mut Ledger, owner: &str) -> WorkerId {
    ledger.join_of(Some(owner.into()), WorkerProcess::Unknown, usize::MAX)
}

/// A ledger with a tournament, all of whose games a worker of "first" was leased.
fn held_by_first() -> (Ledger, WorkerId, Grant) {
    let mut ledger = ledger();
    running(&mut ledger, GAMES);
    let first = worker_of(&mut ledger, "first");
    let lease = grant(&mut ledger, START, first).expect("a lease");
    assert_eq!(lease.games.len() as u64, GAMES);
    (ledger, first, lease)
}

/// Takes back and marks leases, while the workers of these leases claim
/// progress every second from `from` to `to`.
fn wait(
    ledger: &mut Ledger,
    (from, to): (Duration, Duration),
    held: &[(WorkerId, &Grant)],
) -> Vec<LeaseId> {
    let mut marked = Vec::new();
    for now in (from.as_secs()..=to.as_secs()).map(Duration::from_secs) {
        for (worker, lease) in held {
            ledger.advance(now, *worker, lease.lease, now.as_secs());
        }
        assert_eq!(ledger.expire(now), []);
        marked.extend(ledger.mark_overdue(now).iter().map(|it| it.lease));
    }
    marked
}

/// Reports all games of a lease.
fn report_all(ledger: &mut Ledger, lease: &Grant, now: Duration) {
    for index in indices(lease) {
        ledger.report(now, lease.tournament, lease.lease, index, [0; 32]);
    }
}

#[test]
fn idle_worker_of_another_owner_plays_overdue_games_too() {
    let (mut ledger, first, held) = held_by_first();
    let second = worker_of(&mut ledger, "second");
    let marked = wait(&mut ledger, (START, DEADLINE - SECOND), &[(first, &held)]);
    assert_eq!(marked, [] as [LeaseId; 0]);
    assert_eq!(grant(&mut ledger, DEADLINE - SECOND, second), None);
    let marked = wait(&mut ledger, (DEADLINE, 2 * DEADLINE), &[(first, &held)]);
    assert_eq!(marked, [held.lease], "it is marked once");
    let now = 2 * DEADLINE;
    let lease = grant(&mut ledger, now, second).expect("the overdue games");
    assert_eq!(indices(&lease), indices(&held));
    assert_eq!(grant(&mut ledger, now, second), None);
    assert!(
        ledger.advance(now, first, held.lease, 1000),
        "the first worker keeps them"
    );
    report_all(&mut ledger, &lease, now);
    let tournament = held.tournament;
    assert!(
        !ledger.advance(now, first, held.lease, 2000),
        "now it does not"
    );
    let progress = ledger.progress(tournament).expect("added");
    assert_eq!((progress.leased, progress.waiting), (0, 0));
    assert_eq!(ledger.leases(), 0);
}

#[test]
fn first_record_of_an_overdue_game_counts() {
    let (mut ledger, first, held) = held_by_first();
    let second = worker_of(&mut ledger, "second");
    wait(&mut ledger, (START, DEADLINE), &[(first, &held)]);
    let lease = grant(&mut ledger, DEADLINE, second).expect("the overdue games");
    let mut report = |lease: &Grant, index| {
        ledger.report(DEADLINE, held.tournament, lease.lease, index, [1; 32])
    };
    assert_eq!(report(&held, 0), RecordStatus::New);
    assert_eq!(report(&lease, 0), RecordStatus::Pending([1; 32]));
    assert_eq!(report(&lease, 1), RecordStatus::New);
    assert!(!ledger.is_in_lease(lease.lease, 0));
    assert!(!ledger.is_in_lease(held.lease, 1));
}

#[test]
fn each_owner_gets_an_overdue_game_once() {
    let (mut ledger, first, held) = held_by_first();
    let again = worker_of(&mut ledger, "first");
    let [second, third] = ["second", "third"].map(|owner| worker_of(&mut ledger, owner));
    wait(&mut ledger, (START, DEADLINE), &[(first, &held)]);
    assert_eq!(grant(&mut ledger, DEADLINE, again), None, "the same owner");
    let lease = grant(&mut ledger, DEADLINE, second).expect("the overdue games");
    assert_eq!(
        grant(&mut ledger, DEADLINE, third),
        None,
        "they are not overdue at the second"
    );
    wait(
        &mut ledger,
        (DEADLINE, 2 * DEADLINE),
        &[(first, &held), (second, &lease)],
    );
    assert_eq!(grant(&mut ledger, 2 * DEADLINE, first), None);
    assert!(grant(&mut ledger, 2 * DEADLINE, third).is_some());
}

#[test]
fn another_worker_of_the_only_owner_plays_overdue_games_too() {
    let (mut ledger, first, held) = held_by_first();
    let again = worker_of(&mut ledger, "first");
    wait(&mut ledger, (START, DEADLINE), &[(first, &held)]);
    let lease = grant(&mut ledger, DEADLINE, again).expect("the overdue games");
    assert_eq!(indices(&lease), indices(&held));
}

#[test]
fn second_worker_of_an_owner_plays_overdue_games_that_no_other_owner_takes() {
    let (mut ledger, first, held) = held_by_first();
    let [again, third] = [(); 2].map(|()| worker_of(&mut ledger, "first"));
    // It never asks for games.
    worker_of(&mut ledger, "second");
    wait(&mut ledger, (START, 2 * DEADLINE), &[(first, &held)]);
    let lease = grant(&mut ledger, 2 * DEADLINE, again).expect("the overdue games");
    assert_eq!(indices(&lease), indices(&held));
    let both = [(first, &held), (again, &lease)];
    wait(&mut ledger, (2 * DEADLINE, 5 * DEADLINE), &both);
    assert_eq!(
        grant(&mut ledger, 5 * DEADLINE, third),
        None,
        "it is the third"
    );
    let other = worker_of(&mut ledger, "second");
    assert!(grant(&mut ledger, 5 * DEADLINE, other).is_some());
}

#[test]
fn games_of_the_only_owner_are_overdue_after_four_times_its_own_pace() {
    let minute = Duration::from_secs(60);
    let mut ledger = ledger();
    running(&mut ledger, 2 * GAMES);
    let workers = [(); 2].map(|()| worker_of(&mut ledger, "first"));
    let [held, other] = workers.map(|it| grant(&mut ledger, START, it).expect("a lease"));
    report_all(&mut ledger, &other, minute);
    let held_by = [(workers[0], &held)];
    let marked = wait(&mut ledger, (START, 4 * minute - SECOND), &held_by);
    assert_eq!(marked, [] as [LeaseId; 0]);
    let marked = wait(&mut ledger, (4 * minute, 4 * minute), &held_by);
    assert_eq!(marked, [held.lease]);
}

#[test]
fn slow_games_are_overdue_after_four_times_the_pace_of_the_fastest_other_owner() {
    let minute = Duration::from_secs(60);
    let mut ledger = ledger();
    running(&mut ledger, 3 * GAMES);
    let [first, second] = ["first", "second"].map(|owner| worker_of(&mut ledger, owner));
    let [held, other] = [first, second].map(|it| grant(&mut ledger, START, it).expect("a lease"));
    report_all(&mut ledger, &other, minute);
    let marked = wait(&mut ledger, (START, 4 * minute - SECOND), &[(first, &held)]);
    assert_eq!(marked, [] as [LeaseId; 0]);
    let marked = wait(&mut ledger, (4 * minute, 4 * minute), &[(first, &held)]);
    assert_eq!(marked, [held.lease]);
    let lease = grant(&mut ledger, 4 * minute, second).expect("a lease");
    assert!(
        indices(&lease)
            .iter()
            .all(|index| !indices(&held).contains(index)),
        "waiting games first"
    );
}

#[test]
fn overdue_game_of_a_worker_that_leaves_is_queued_once() {
    let (mut ledger, first, held) = held_by_first();
    let second = worker_of(&mut ledger, "second");
    wait(&mut ledger, (START, DEADLINE), &[(first, &held)]);
    let lease = grant(&mut ledger, DEADLINE, second).expect("the overdue games");
    ledger.leave(first);
    assert_eq!(
        ledger.progress(held.tournament).expect("added").leased,
        GAMES
    );
    ledger.leave(second);
    assert_eq!(
        ledger.progress(held.tournament).expect("added").waiting,
        GAMES
    );
    let third = worker_of(&mut ledger, "first");
    let next = grant(&mut ledger, DEADLINE, third).expect("a lease");
    assert_eq!(indices(&next), indices(&lease));
}
