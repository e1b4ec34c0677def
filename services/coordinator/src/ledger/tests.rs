//! Tests of single guarantees of the ledger. `histories` tests all of them together.

mod audits;
mod fault_attribution;
mod histories;
mod hosts;
mod overdue;
mod shares;
mod starts;
mod suspects;
mod turns;
mod work;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::*;

const DEADLINE: Duration = Duration::from_secs(10);

fn settings(audit_ppm: u32) -> LedgerSettings {
    LedgerSettings {
        lease_deadline: DEADLINE,
        audit_ppm,
        doubts_workers: true,
        host_grace_period: Duration::from_secs(600),
    }
}

fn ledger() -> Ledger {
    Ledger::new(settings(0), 1)
}

fn running(ledger: &mut Ledger, games: u64) -> TournamentNo {
    ledger.add(
        Bitmap::new(games),
        State::Running,
        Continuation::Last,
        ProgressTimeouts::default(),
    )
}

fn grant(ledger: &mut Ledger, now: Duration, worker: WorkerId) -> Option<Grant> {
    ledger.grant(now, ask(worker, LEASE_GAMES_MAX), |_, _| true)
}

fn ask(worker: WorkerId, wanted: usize) -> Ask {
    let call = 0;
    Ask {
        sated: Vec::new(),
        worker,
        wanted,
        call,
    }
}

fn fail(ledger: &mut Ledger, now: Duration, grant: &Grant, index: u64) -> Option<u32> {
    let unready = None;
    ledger.failed(
        now,
        grant.tournament,
        grant.lease,
        Failed { index, unready },
    )
}

fn indices(grant: &Grant) -> Vec<u64> {
    grant.games.iter().map(|game| game.index).collect()
}

const START: Duration = Duration::ZERO;

#[test]
fn each_game_is_leased_once_in_order() {
    let mut ledger = ledger();
    running(&mut ledger, 1000);
    let worker = ledger.join(usize::MAX);
    let mut leased = Vec::new();
    while let Some(grant) = grant(&mut ledger, START, worker) {
        assert!(grant.games.len() <= LEASE_GAMES_MAX);
        leased.extend(indices(&grant));
    }
    assert_eq!(leased, (0..1000).collect::<Vec<_>>());
    assert_eq!(ledger.waiting(), 0);
}

#[test]
fn done_games_stay_done_after_restart() {
    let mut ledger = ledger();
    let mut done = Bitmap::new(20);
    for index in (0..20).filter(|index| index % 3 == 0) {
        done.insert(index);
    }
    ledger.add(
        done,
        State::Running,
        Continuation::Last,
        ProgressTimeouts::default(),
    );
    let worker = ledger.join(usize::MAX);
    let mut leased = Vec::new();
    while let Some(grant) = grant(&mut ledger, START, worker) {
        leased.extend(indices(&grant));
    }
    assert_eq!(
        leased,
        (0..20).filter(|index| index % 3 != 0).collect::<Vec<_>>()
    );
}

#[test]
fn leaving_worker_returns_games_at_once() {
    let mut ledger = ledger();
    running(&mut ledger, 16);
    let first = ledger.join(usize::MAX);
    let second = ledger.join(usize::MAX);
    let lost = grant(&mut ledger, START, first).expect("a lease");
    ledger.leave(first);
    let again = grant(&mut ledger, START, second).expect("a lease");
    assert_eq!(indices(&again), indices(&lost));
    assert_eq!(
        grant(&mut ledger, START, first),
        None,
        "a worker that left gets no games"
    );
}

#[test]
fn lease_needs_plies_not_calls() {
    let mut ledger = ledger();
    running(&mut ledger, 8);
    let worker = ledger.join(usize::MAX);
    let lease = grant(&mut ledger, START, worker).expect("a lease").lease;
    let second = Duration::from_secs(1);
    assert!(ledger.advance(second * 9, worker, lease, 100));
    assert!(ledger.expire(second * 18).is_empty());
    assert!(
        ledger.advance(second * 18, worker, lease, 100),
        "no more plies"
    );
    assert_eq!(ledger.expire(second * 19), [Ended { worker, lease }]);
    assert!(
        !ledger.advance(second * 19, worker, lease, 200),
        "it is gone"
    );
    assert_eq!(ledger.waiting(), 8);
}

#[test]
fn slow_games_extend_the_deadline() {
    let mut ledger = ledger();
    let second = Duration::from_secs(1);
    let progress_timeouts = ProgressTimeouts {
        first: second * 30,
        between: second * 5,
    };
    ledger.add(
        Bitmap::new(8),
        State::Running,
        Continuation::Last,
        progress_timeouts,
    );
    let worker = ledger.join(usize::MAX);
    let lease = grant(&mut ledger, START, worker).expect("a lease").lease;
    assert!(ledger.expire(second * 39).is_empty());
    assert!(ledger.advance(second * 39, worker, lease, 1));
    assert!(ledger.expire(second * 53).is_empty());
    assert_eq!(ledger.expire(second * 54).len(), 1);
}

#[test]
fn late_report_counts_and_ends_second_lease() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 8);
    let slow = ledger.join(usize::MAX);
    let late = grant(&mut ledger, START, slow).expect("a lease").lease;
    ledger.expire(DEADLINE);
    let quick = ledger.join(usize::MAX);
    let again = grant(&mut ledger, DEADLINE, quick).expect("a lease");
    for index in 0..8 {
        assert_eq!(
            ledger.report(DEADLINE, tournament, late, index, [1; 32]),
            RecordStatus::New
        );
    }
    assert_eq!(ledger.load(quick).expect("joined").games, 0);
    assert!(
        !ledger.advance(DEADLINE, quick, again.lease, 1),
        "the lease has no games left"
    );
}

#[test]
fn record_is_new_then_pending_then_done() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 2);
    let report =
        |ledger: &mut Ledger, index, hash| ledger.report(START, tournament, 0, index, [hash; 32]);
    assert_eq!(report(&mut ledger, 0, 1), RecordStatus::New);
    assert_eq!(report(&mut ledger, 0, 2), RecordStatus::Pending([1; 32]));
    assert_eq!(ledger.progress(tournament).expect("added").done, 0);
    assert_eq!(
        ledger.durable(tournament, 0, WorkerProcess::Unknown),
        AfterGame::Nothing
    );
    assert_eq!(report(&mut ledger, 0, 2), RecordStatus::Done);
    assert_eq!(report(&mut ledger, 2, 1), RecordStatus::Outside);
    assert_eq!(report(&mut ledger, 1, 1), RecordStatus::New);
    assert!(
        ledger.durable(tournament, 1, WorkerProcess::Unknown) == AfterGame::Finished,
        "the last game finishes it"
    );
    assert!(
        ledger.durable(tournament, 1, WorkerProcess::Unknown) == AfterGame::Nothing,
        "but only once"
    );
    assert_eq!(
        ledger.progress(tournament).expect("added").state,
        State::Finished
    );
}

#[test]
fn poisonous_game_is_leased_alone_until_cap() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 32);
    let poison = 5;
    let mut attempts_max = 0;
    for _ in 0..1000 {
        let worker = ledger.join(usize::MAX);
        while let Some(lease) = grant(&mut ledger, START, worker) {
            if let Some(game) = lease.games.iter().find(|game| game.index == poison) {
                attempts_max = attempts_max.max(game.attempts);
                break;
            }
            for index in indices(&lease) {
                ledger.report(START, tournament, lease.lease, index, [0; 32]);
                ledger.durable(tournament, index, WorkerProcess::Unknown);
            }
        }
        ledger.leave(worker);
        if attempts_max >= 5 {
            break;
        }
    }
    assert_eq!(attempts_max, 5, "the worker has to report it as void");
    assert_eq!(ledger.progress(tournament).expect("added").done, 31);
}

/// Reports a game of a lease after the time `took`.
fn report_after(ledger: &mut Ledger, lease: &Grant, took: Duration) {
    let index = lease.games[0].index;
    ledger.report(START + took, lease.tournament, lease.lease, index, [0; 32]);
    ledger.durable(lease.tournament, index, WorkerProcess::Unknown);
}

#[test]
fn worker_holds_no_idle_slow_games() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let busy = ledger.join(4);
    let hour = Duration::from_secs(3600);
    let first = grant(&mut ledger, START, busy).expect("a lease");
    assert_eq!(first.games.len(), 4, "the pace is still unknown");
    assert_eq!(grant(&mut ledger, START, busy), None);
    report_after(&mut ledger, &first, hour);
    let next = grant(&mut ledger, hour, busy).expect("a place is free");
    assert_eq!(next.games.len(), 1);
    let idle = ledger.join(4);
    let others = grant(&mut ledger, hour, idle).expect("a lease");
    assert_eq!(others.games.len(), 4);
}

#[test]
fn quick_games_are_leased_ahead() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let worker = ledger.join(1);
    let first = grant(&mut ledger, START, worker).expect("a lease");
    assert_eq!(first.games.len(), 1);
    report_after(&mut ledger, &first, Duration::from_millis(5));
    for _ in 0..2 {
        let next = grant(&mut ledger, START, worker).expect("a lease");
        assert!(next.games.len() >= LEASE_GAMES_MIN);
    }
}

#[test]
fn slow_tail_is_leased_in_single_games() {
    let mut ledger = ledger();
    running(&mut ledger, 9);
    let workers: Vec<WorkerId> = (0..4).map(|_| ledger.join(8)).collect();
    let first = ledger.grant(START, ask(workers[0], 1), |_, _| true);
    let first = first.expect("a lease");
    report_after(&mut ledger, &first, Duration::from_secs(60));
    for &worker in workers.iter().cycle().take(8) {
        let lease = grant(&mut ledger, START, worker).expect("a lease");
        assert_eq!(lease.games.len(), 1);
    }
}

#[test]
fn report_waits_for_pending_games() {
    let mut ledger = ledger();
    let mut reports = Reports::default();
    let tournament = running(&mut ledger, 3);
    let take = |ledger: &mut Ledger, reports: &mut Reports, games: &[(u64, [u8; 32])]| {
        let report = ReportedGames {
            tournament,
            by: None,
            process: WorkerProcess::Unknown,
            lease: 0,
            games,
            voids: &[],
            failed: &[],
            agents: &[],
        };
        let sorted = reports.sort(ledger, &report);
        let fresh = sorted.fresh.clone();
        let id = sorted.id;
        (
            id,
            fresh,
            reports.take(ledger, START, &report, sorted).answer,
        )
    };
    let (first, fresh, answer) = take(
        &mut ledger,
        &mut reports,
        &[(0, [0; 32]), (1, [1; 32]), (0, [0; 32])],
    );
    assert_eq!((fresh, answer), (vec![0, 1], None));
    let (second, fresh, answer) = take(&mut ledger, &mut reports, &[(1, [1; 32]), (2, [2; 32])]);
    assert_eq!((fresh, answer), (vec![1], None));
    assert!(reports.writes(tournament));
    let written = reports.written(&mut ledger, second).expect("on the way");
    assert_eq!(
        (written.came, written.acknowledged),
        (AfterGame::Nothing, vec![])
    );
    let written = reports.written(&mut ledger, first).expect("on the way");
    assert_eq!(written.came, AfterGame::Finished);
    assert_eq!(
        written.acknowledged,
        [(first, vec![0]), (second, vec![1])],
        "with the games that have an earlier record"
    );
    assert!(!reports.writes(tournament));
    let (_, fresh, answer) = take(&mut ledger, &mut reports, &[(2, [2; 32])]);
    assert_eq!((fresh, answer), (vec![], Some(vec![2])), "durable already");
}

#[test]
fn worker_is_identified_by_number_and_epoch() {
    let mut ledger = ledger();
    let worker = ledger.join(1);
    assert_eq!(ledger.present(worker, 1), Some(worker));
    assert_eq!(ledger.present(worker, 2), None);
    ledger.leave(worker);
    assert_eq!(ledger.present(worker, 1), None);
}

#[test]
fn pause_revokes_leases_until_resume() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 8);
    let worker = ledger.join(usize::MAX);
    let lease = grant(&mut ledger, START, worker).expect("a lease").lease;
    assert_eq!(ledger.pause(tournament), [Ended { worker, lease }]);
    assert_eq!(grant(&mut ledger, START, worker), None);
    assert_eq!(
        ledger.report(START, tournament, lease, 3, [0; 32]),
        RecordStatus::New,
        "late results are taken"
    );
    ledger.resume(tournament);
    let again = grant(&mut ledger, START, worker).expect("a lease");
    assert_eq!(indices(&again), [0, 1, 2, 4, 5, 6, 7]);
}

#[test]
fn cancelled_tournament_takes_no_results() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 8);
    let worker = ledger.join(usize::MAX);
    let lease = grant(&mut ledger, START, worker).expect("a lease").lease;
    assert_eq!(ledger.cancel(tournament).len(), 1);
    assert_eq!(
        ledger.report(START, tournament, lease, 3, [0; 32]),
        RecordStatus::Unwanted
    );
    ledger.resume(tournament);
    assert_eq!(grant(&mut ledger, START, worker), None);
}
