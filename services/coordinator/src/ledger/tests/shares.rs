//! How tournaments share the workers.

use super::{hosts::*, *};

#[test]
fn tournaments_share_the_workers() {
    let mut ledger = ledger();
    let first = running(&mut ledger, 10_000);
    let second = running(&mut ledger, 10_000);
    let worker = ledger.join(usize::MAX);
    let mut leased = BTreeMap::new();
    for _ in 0..4 {
        let lease = grant(&mut ledger, START, worker).expect("a lease");
        *leased.entry(lease.tournament).or_insert(0) += lease.games.len();
    }
    assert_eq!(leased[&first], leased[&second]);
}

#[test]
fn sated_tournament_is_not_leased() {
    let mut ledger = ledger();
    let first = running(&mut ledger, 100);
    let second = running(&mut ledger, 100);
    let worker = ledger.join(64);
    let sated = |tournaments: &[TournamentNo]| Ask {
        sated: tournaments.to_vec(),
        ..ask(worker, 8)
    };
    for _ in 0..3 {
        let lease = ledger.grant(START, sated(&[first]), |_, _| true);
        assert_eq!(lease.expect("a lease").tournament, second);
    }
    assert_eq!(
        ledger.grant(START, sated(&[first, second]), |_, _| true),
        None
    );
}

#[test]
fn silent_worker_holds_its_capacity_only() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let [plays, silent] = [1, 2].map(|_| ledger.join(16));
    let lease = grant(&mut ledger, START, plays).expect("a lease");
    report_after(&mut ledger, &lease, SECOND);
    let held = |ledger: &mut Ledger, worker| {
        while grant(ledger, START, worker).is_some() {}
        ledger.load(worker).expect("it is here").games
    };
    assert_eq!(held(&mut ledger, silent), 16);
    assert_eq!(held(&mut ledger, plays), 32 * 16);
}

#[test]
fn worker_holds_no_more_games_than_it_has_reported() {
    let mut ledger = ledger();
    running(&mut ledger, 100_000);
    let worker = ledger.join(usize::MAX);
    let mut leases = Vec::new();
    while let Some(lease) = ledger.grant(START, ask(worker, usize::MAX), |_, _| true) {
        leases.push(lease);
    }
    assert_eq!(ledger.load(worker).expect("it is here").games, 2048);
    for lease in &leases {
        report_after(&mut ledger, lease, SECOND);
    }
    // It has reported 2048 games, and may hold as many again.
    while ledger
        .grant(START, ask(worker, usize::MAX), |_, _| true)
        .is_some()
    {}
    assert_eq!(ledger.load(worker).expect("it is here").games, 2048);
}

#[test]
fn worker_holds_no_more_games_in_several_tournaments() {
    let mut ledger = ledger();
    let tournaments = [(); 4].map(|()| running(&mut ledger, 100_000));
    let worker = ledger.join(usize::MAX);
    for tournament in tournaments.into_iter().cycle() {
        let suits = |_, number| number == tournament;
        if ledger
            .grant(START, ask(worker, usize::MAX), suits)
            .is_none()
        {
            break;
        }
    }
    assert_eq!(ledger.load(worker).expect("it is here").games, 2048);
}

#[test]
fn worker_gets_suitable_games_only() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let second = running(&mut ledger, 100);
    let worker = ledger.join(usize::MAX);
    for _ in 0..3 {
        let lease = ledger.grant(START, ask(worker, 8), |_, number| number == second);
        assert_eq!(lease.expect("a lease").tournament, second);
    }
}

#[test]
fn last_games_are_spread_over_workers() {
    let mut ledger = ledger();
    running(&mut ledger, 160);
    let workers: Vec<WorkerId> = (0..4).map(|_| ledger.join(usize::MAX)).collect();
    let lease = grant(&mut ledger, START, workers[0]).expect("a lease");
    assert_eq!(lease.games.len(), 20);
}
