//! Tests of audits: which process replays which games, and what its leases look like.

use super::*;

/// A ledger with a tournament of which process 7 has played the first games.
fn played_by_7(games: u64, played: u64) -> (Ledger, TournamentNo) {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, games);
    let process = WorkerProcess::Process(7);
    let worker = ledger.join_as(process, usize::MAX);
    for index in 0..played {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, process);
    }
    ledger.leave(worker);
    (ledger, tournament)
}

#[test]
fn audit_lease_has_size_of_others() {
    for played in [100, 600] {
        let (mut ledger, _) = played_by_7(4_000, played);
        let other = ledger.join_as(WorkerProcess::Process(8), usize::MAX);
        let lease = ledger.grant(START, ask(other, LEASE_GAMES_MIN), |_, _| true);
        let lease = lease.expect("a lease");
        // Quick games: a worker may hold as many as it wants.
        for index in indices(&lease) {
            ledger.report(START, lease.tournament, lease.lease, index, [0; 32]);
        }
        let mut sizes = BTreeMap::new();
        for _ in 0..3 {
            let lease = grant(&mut ledger, START, other).expect("a lease");
            assert!(indices(&lease).is_sorted());
            sizes.insert(lease.audit, lease.games.len());
        }
        assert_eq!(sizes[&false], LEASE_GAMES_MAX);
        let audits = sizes.get(&true).copied();
        assert_eq!(audits, (played == 600).then_some(LEASE_GAMES_MAX));
    }
}

#[test]
fn audits_take_room_like_other_games() {
    let (mut ledger, _) = played_by_7(100, 40);
    let other = ledger.join_as(WorkerProcess::Process(8), 4);
    let lease = grant(&mut ledger, START, other).expect("a lease");
    assert!(lease.audit);
    assert_eq!(lease.games.len(), 4);
    assert_eq!(grant(&mut ledger, START, other), None);
}

#[test]
fn quarantined_process_gets_no_games() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 40);
    let liar = WorkerProcess::Process(7);
    let worker = ledger.join_as(liar, usize::MAX);
    let other = ledger.join_as(WorkerProcess::Process(8), usize::MAX);
    for index in 0..10 {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, liar);
    }
    ledger.report(START, tournament, 0, 10, [0; 32]);
    let held = grant(&mut ledger, START, worker).expect("a lease");
    let ended = ledger
        .quarantine(liar, Suspicion::Impossible)
        .expect("not before");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].lease, held.lease);
    assert_eq!(
        ledger.quarantine(liar, Suspicion::Impossible),
        None,
        "in quarantine already"
    );
    // A game that was being written meanwhile.
    ledger.durable(tournament, 10, liar);
    assert_eq!(grant(&mut ledger, START, worker), None);
    let again = ledger.join_as(liar, usize::MAX);
    assert_eq!(grant(&mut ledger, START, again), None, "it joined again");
    assert_eq!(ledger.audited(tournament).expect("added").due, 11);
    let mut audited = BTreeSet::new();
    while let Some(lease) = grant(&mut ledger, START, other) {
        for index in indices(&lease) {
            ledger.report(START, tournament, lease.lease, index, [0; 32]);
            if lease.audit {
                let settled = ledger.settle_audit(tournament, index, other, AuditRecord::Same);
                assert_eq!(settled, Settled::Agreed);
                audited.insert(index);
            } else {
                ledger.durable(tournament, index, WorkerProcess::Process(8));
            }
        }
    }
    assert_eq!(audited, (0..11).collect());
    let shown = ledger.audited(tournament).expect("added");
    assert_eq!((shown.agreed, shown.waiting()), (11, 0));
}

/// Makes games of a process durable. Returns how many of them are audited.
fn audits_of(
    ledger: &mut Ledger,
    tournament: TournamentNo,
    games: std::ops::Range<u64>,
    by: WorkerProcess,
) -> u64 {
    let due = |ledger: &Ledger| ledger.audited(tournament).expect("added").due;
    let before = due(ledger);
    for index in games {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, by);
    }
    due(ledger) - before
}

#[test]
fn new_process_is_audited_more() {
    let mut ledger = Ledger::new(settings(1_000), 1);
    let tournament = running(&mut ledger, 30_000);
    let new = WorkerProcess::Process(7);
    ledger.join_as(new, usize::MAX);
    let auditor = ledger.join_as(WorkerProcess::Process(8), 16);
    let tenth = 900..1_100;
    assert!(tenth.contains(&audits_of(&mut ledger, tournament, 0..10_000, new)));
    let other = AuditRecord::Differs {
        hash: [1; 32],
        agent: None,
    };
    let audit = |ledger: &mut Ledger, count: u32, record: AuditRecord| {
        for _ in 0..count {
            let taken = ledger.grant(START, ask(auditor, 1), |_, _| true);
            let lease = taken.expect("a lease");
            let index = lease.games[0].index;
            assert!(lease.audit);
            ledger.report(START, tournament, lease.lease, index, [0; 32]);
            let settled = ledger.settle_audit(tournament, index, auditor, record);
            assert_ne!(settled, Settled::Nothing);
        }
    };
    audit(&mut ledger, 10, AuditRecord::Same);
    let trusted = audits_of(&mut ledger, tournament, 10_000..20_000, new);
    assert!(trusted < 50, "{trusted}");
    audit(&mut ledger, 1, other);
    assert!(tenth.contains(&audits_of(&mut ledger, tournament, 20_000..30_000, new)));
}

#[test]
fn share_zero_audits_no_new_process() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 1_000);
    let new = WorkerProcess::Process(7);
    ledger.join_as(new, usize::MAX);
    assert_eq!(audits_of(&mut ledger, tournament, 0..1_000, new), 0);
}

#[test]
fn audit_runs_on_another_worker() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 16);
    let process = ledger.join(usize::MAX);
    while let Some(lease) = grant(&mut ledger, START, process) {
        assert!(!lease.audit, "no process audits its own games");
        for index in indices(&lease) {
            ledger.report(START, tournament, lease.lease, index, [0; 32]);
            ledger.durable(tournament, index, ledger.process(process, 1));
        }
    }
    let auditor = ledger.join(usize::MAX);
    let mut audited = BTreeSet::new();
    while let Some(lease) = grant(&mut ledger, START, auditor) {
        assert!(lease.audit);
        for index in indices(&lease) {
            assert!(audited.insert(index), "once each");
            assert_eq!(
                ledger.report(START, tournament, lease.lease, index, [0; 32]),
                RecordStatus::Done
            );
        }
    }
    assert_eq!(audited, (0..16).collect());
    assert_eq!(ledger.leases(), 0);
}

#[test]
fn rejoined_process_does_not_audit_itself() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 16);
    let process = WorkerProcess::Process(7);
    let before = ledger.join_as(process, usize::MAX);
    let lease = grant(&mut ledger, START, before).expect("a lease");
    ledger.leave(before);
    assert_eq!(ledger.process(before, 1), process, "known after it left");
    assert_eq!(
        ledger.process(before, 2),
        WorkerProcess::Unknown,
        "of another start"
    );
    let after = ledger.join_as(process, usize::MAX);
    for index in indices(&lease) {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, ledger.process(before, 1));
    }
    while let Some(lease) = grant(&mut ledger, START, after) {
        assert!(!lease.audit, "no process audits its own games");
    }
    let other = ledger.join_as(WorkerProcess::Process(8), usize::MAX);
    assert!(grant(&mut ledger, START, other).expect("a lease").audit);
}

#[test]
fn lost_audits_are_leased_one_at_a_time() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 8);
    for index in 0..8 {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, WorkerProcess::Unknown);
    }
    let first = ledger.join(usize::MAX);
    let company = grant(&mut ledger, START, first).expect("a lease");
    assert_eq!(company.games.len(), LEASE_GAMES_MIN);
    ledger.leave(first);
    let second = ledger.join(usize::MAX);
    let alone = grant(&mut ledger, START, second).expect("a lease");
    assert!(alone.audit);
    assert_eq!(alone.games.len(), 1);
    assert_eq!(grant(&mut ledger, START, second), None, "one at a time");
    assert_eq!(ledger.audited(tournament).expect("added").given_up, 0);
}

/// Adds a worker of this owner.
fn owned(ledger: &mut Ledger, owner: &str, number: u64) -> WorkerId {
    let process = WorkerProcess::Process(number);
    ledger.join_of(Some(owner.into()), process, usize::MAX)
}

/// Reports all audits that a worker is leased. Returns their number.
fn audit_all(ledger: &mut Ledger, worker: WorkerId, record: AuditRecord) -> usize {
    let mut audited = 0;
    while let Some(lease) = grant(ledger, START, worker) {
        assert!(lease.audit);
        for index in indices(&lease) {
            ledger.report(START, lease.tournament, lease.lease, index, [0; 32]);
            let settled = ledger.settle_audit(lease.tournament, index, worker, record);
            assert_ne!(settled, Settled::Nothing);
            audited += 1;
        }
    }
    audited
}

#[test]
fn audit_runs_at_another_owner_if_one_is_connected() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 20);
    owned(&mut ledger, "anna", 1);
    let second = owned(&mut ledger, "anna", 2);
    let other = owned(&mut ledger, "ben", 3);
    audits_of(&mut ledger, tournament, 0..20, WorkerProcess::Process(1));
    assert_eq!(grant(&mut ledger, START, second), None, "of the same owner");
    let lease = ledger.grant(START, ask(other, 8), |_, _| true);
    assert!(lease.expect("of another owner").audit);
    assert_eq!(grant(&mut ledger, START, second), None);
    ledger.leave(other);
    assert_eq!(audit_all(&mut ledger, second, AuditRecord::Same), 20);
    let shown = ledger.audited(tournament).expect("added");
    assert_eq!((shown.agreed, shown.own), (20, 20));
}

#[test]
fn processes_of_one_owner_do_not_outvote_another() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 20);
    owned(&mut ledger, "anna", 1);
    let second = owned(&mut ledger, "anna", 2);
    let other = owned(&mut ledger, "ben", 3);
    audits_of(&mut ledger, tournament, 0..20, WorkerProcess::Process(1));
    let differs = AuditRecord::Differs {
        hash: [1; 32],
        agent: None,
    };
    assert_eq!(audit_all(&mut ledger, other, differs), 20);
    assert_eq!(grant(&mut ledger, START, second), None, "anna, twice");
    let again = owned(&mut ledger, "ben", 4);
    assert_eq!(grant(&mut ledger, START, again), None, "ben, twice");
    let settles = |ledger: &Ledger| {
        let mut disputes = ledger.disputes(tournament);
        disputes.all(|(_, dispute)| ledger.has_third(tournament, dispute))
    };
    assert!(!settles(&ledger));
    let third = owned(&mut ledger, "carl", 5);
    assert!(settles(&ledger));
    assert_eq!(audit_all(&mut ledger, third, differs), 20);
    let shown = ledger.audited(tournament).expect("added");
    assert_eq!((shown.disputed, shown.refuted, shown.own), (0, 20, 0));
}

#[test]
fn disagreeing_processes_of_one_owner_are_settled() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 20);
    owned(&mut ledger, "anna", 1);
    let second = owned(&mut ledger, "anna", 2);
    audits_of(&mut ledger, tournament, 0..20, WorkerProcess::Process(1));
    let differs = AuditRecord::Differs {
        hash: [1; 32],
        agent: None,
    };
    assert_eq!(audit_all(&mut ledger, second, differs), 20);
    let third = owned(&mut ledger, "anna", 3);
    let other = owned(&mut ledger, "ben", 4);
    assert_eq!(grant(&mut ledger, START, third), None, "ben is connected");
    ledger.leave(other);
    assert_eq!(audit_all(&mut ledger, third, differs), 20);
}

#[test]
fn audits_by_its_owner_end_no_doubt_while_another_owner_is_connected() {
    let mut ledger = Ledger::new(settings(1_000), 1);
    let tournament = running(&mut ledger, 30_000);
    let new = WorkerProcess::Process(1);
    owned(&mut ledger, "anna", 1);
    let second = owned(&mut ledger, "anna", 2);
    let mut audited = audits_of(&mut ledger, tournament, 0..10_000, new);
    assert!((900..1_100).contains(&audited), "{audited}");
    for _ in 0..10 {
        let lease = ledger.grant(START, ask(second, 1), |_, _| true);
        let lease = lease.expect("a lease");
        let index = lease.games[0].index;
        ledger.report(START, tournament, lease.lease, index, [0; 32]);
        ledger.settle_audit(tournament, index, second, AuditRecord::Same);
    }
    audited = audits_of(&mut ledger, tournament, 10_000..20_000, new);
    assert!(audited < 50, "{audited}");
    owned(&mut ledger, "ben", 3);
    audited = audits_of(&mut ledger, tournament, 20_000..30_000, new);
    assert!((900..1_100).contains(&audited), "{audited}");
}
