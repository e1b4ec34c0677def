//! Owners with several processes, one of which lies.

use super::*;

fn join(ledger: &mut Ledger, owner: &str, number: u64) -> (WorkerId, WorkerProcess) {
    let process = WorkerProcess::of_owner(number, owner);
    let worker = ledger.join_of(Some(owner.into()), process, usize::MAX);
    (worker, process)
}

/// Adds durable games of a process.
fn play(
    ledger: &mut Ledger,
    tournament: TournamentNo,
    games: std::ops::Range<u64>,
    by: WorkerProcess,
) {
    for index in games {
        ledger.report(START, tournament, 0, index, [0; 32]);
        ledger.durable(tournament, index, by);
    }
}

/// The next lease of an audit for a worker.
fn audit_of(ledger: &mut Ledger, worker: WorkerId) -> Grant {
    loop {
        let lease = grant(ledger, START, worker).expect("an audit");
        if lease.audit {
            return lease;
        }
    }
}

#[test]
fn number_of_a_process_shows_its_owner() {
    let mut ledger = ledger();
    let gone = WorkerProcess::of_owner(1, "anna");
    assert_ne!(gone, WorkerProcess::of_owner(1, "ben"));
    assert_eq!(ledger.owner_of_process(gone), None);
    // It did not join since this start, or was forgotten.
    join(&mut ledger, "anna", 2);
    assert_eq!(ledger.owner_of_process(gone).map(|it| &**it), Some("anna"));
    let other = WorkerProcess::of_owner(1, "ben");
    assert_eq!(ledger.owner_of_process(other), None);
}

#[test]
fn owner_settles_no_dispute_of_a_process_of_its_own_that_is_gone() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 8);
    let [first, second] =
        [(1, "anna"), (2, "ben")].map(|(number, owner)| WorkerProcess::of_owner(number, owner));
    let dispute = Dispute {
        first,
        second,
        hash: [1; 32],
        agent: Some(0),
        third: None,
    };
    // As after a restart: neither process is known.
    join(&mut ledger, "anna", 3);
    assert!(!ledger.has_third(tournament, &dispute));
    join(&mut ledger, "ben", 4);
    assert!(!ledger.has_third(tournament, &dispute));
    join(&mut ledger, "carl", 5);
    assert!(ledger.has_third(tournament, &dispute));
}

#[test]
fn all_games_of_an_owner_are_audited_and_replaced_after_one_process_lied() {
    for others in [true, false] {
        let mut ledger = Ledger::new(settings(1), 1);
        let tournament = running(&mut ledger, 100);
        let liar = join(&mut ledger, "anna", 1).1;
        let sibling = join(&mut ledger, "anna", 2).1;
        let other = match others {
            true => join(&mut ledger, "ben", 3).1,
            false => join(&mut ledger, "anna", 3).1,
        };
        play(&mut ledger, tournament, 0..10, liar);
        play(&mut ledger, tournament, 10..20, sibling);
        play(&mut ledger, tournament, 20..30, other);
        let unsound = |ledger: &Ledger| ledger.unsound(tournament).len();
        assert_eq!(unsound(&ledger), 0);
        ledger.quarantine(liar, Suspicion::ThirdPlay);
        // Without another owner, audits of this one would prove nothing more.
        let concerned = if others { 20 } else { 10 };
        assert_eq!(unsound(&ledger), concerned);
        let due = |ledger: &Ledger| ledger.audited(tournament).expect("added").due;
        let before = due(&ledger);
        assert!(before >= concerned as u64, "{before}");
        let new = join(&mut ledger, "anna", 4).1;
        play(&mut ledger, tournament, 30..40, new);
        assert_eq!(due(&ledger) == before + 10, others);
    }
}

#[test]
fn audits_are_pending_while_two_owners_can_replay() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 20);
    let process = join(&mut ledger, "anna", 1).1;
    join(&mut ledger, "anna", 2);
    play(&mut ledger, tournament, 0..20, process);
    let shown = |ledger: &Ledger| ledger.audited(tournament).expect("added");
    assert_eq!(
        (shown(&ledger).waiting(), shown(&ledger).awaited),
        (20, false)
    );
    let other = join(&mut ledger, "ben", 3).0;
    assert!(shown(&ledger).awaited);
    ledger.leave(other);
    assert!(!shown(&ledger).awaited);
}

#[test]
fn no_number_of_claims_counts_without_confirmation() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 6_000);
    let process = join(&mut ledger, "anna", 1).1;
    join(&mut ledger, "ben", 2);
    for index in 0..6_000 {
        play(&mut ledger, tournament, index..index + 1, process);
        ledger.count_faults(tournament, index, &[0, 1], &[1], true);
    }
    assert_eq!(ledger.unconfirmed(tournament), 6_000);
}

#[test]
fn claim_that_its_own_owner_audited_is_audited_by_one_that_joined_meanwhile() {
    let mut ledger = Ledger::new(settings(1), 1);
    let tournament = running(&mut ledger, 2);
    let process = join(&mut ledger, "anna", 1).1;
    let sibling = join(&mut ledger, "anna", 2).0;
    play(&mut ledger, tournament, 0..1, process);
    ledger.count_faults(tournament, 0, &[0, 1], &[1], false);
    assert_eq!(ledger.claimed(tournament), [0]);
    let other = join(&mut ledger, "ben", 3).0;
    ledger.leave(other);
    let lease = audit_of(&mut ledger, sibling);
    ledger.report(START, tournament, lease.lease, 0, [0; 32]);
    let other = join(&mut ledger, "ben", 4).0;
    ledger.settle_audit(tournament, 0, sibling, AuditRecord::Same);
    assert_eq!(ledger.claimed(tournament), [0]);
    let lease = audit_of(&mut ledger, other);
    ledger.report(START, tournament, lease.lease, 0, [0; 32]);
    ledger.settle_audit(tournament, 0, other, AuditRecord::Same);
    assert_eq!(ledger.claimed(tournament), [0; 0]);
}
