//! The next worker that tries a failed game, and the time of this attempt.

use arena_wire::ATTEMPTS_MAX;

use super::{hosts::*, *};

#[test]
fn failing_worker_gets_single_rare_games() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let (_good, bad) = (process(&mut ledger, 1), process(&mut ledger, 2));
    let first = grant(&mut ledger, START, bad).expect("a lease");
    assert!(first.games.len() > 100);
    end(&mut ledger, START, bad, &first, true);
    let mut now = START;
    for rest in [1, 2, 4, 8].map(|times| Duration::from_millis(500) * times) {
        assert_eq!(grant(&mut ledger, now, bad), None);
        now += rest;
        let probe = grant(&mut ledger, now, bad).expect("it is tried");
        assert_eq!(probe.games.len(), 1);
        assert_eq!(
            probe.games[0].attempts, 0,
            "failed games go to other workers"
        );
        assert_eq!(grant(&mut ledger, now, bad), None, "one at a time");
        end(&mut ledger, now, bad, &probe, true);
    }
    now += SECOND * 8;
    let probe = grant(&mut ledger, now, bad).expect("it is tried");
    end(&mut ledger, now, bad, &probe, false);
    let lease = grant(&mut ledger, now, bad).expect("it plays again");
    assert!(lease.games.len() > 100);
}

/// A game has failed once on a working worker, and a second worker always requests games and plays
/// none. Returns the second at which the working worker gets the game again.
fn played_beside(ends: impl Fn(&mut Ledger, Duration, &Grant)) -> u32 {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    let [well, useless] = [1, 2].map(|number| process(&mut ledger, number));
    let mut failed = one(&mut ledger, START, well);
    assert_eq!(indices(&failed), [0]);
    fail(&mut ledger, START, &failed, 0);
    for second in 0..10_000 {
        let now = SECOND * second;
        ledger.expire(now);
        if let Some(lease) = ledger.grant(now, ask(useless, 1), |_, _| true) {
            ends(&mut ledger, now, &lease);
        }
        failed = match ledger.grant(now, ask(well, 1), |_, _| true) {
            Some(lease) if indices(&lease) == [0] => return second,
            Some(lease) => lease,
            None => continue,
        };
        end(&mut ledger, now, well, &failed, false);
    }
    panic!("it is never leased again");
}

#[test]
fn idle_worker_has_no_priority() {
    let hangs = played_beside(|_, _, _| {});
    let fails = played_beside(|ledger, now, lease| {
        fail(ledger, now, lease, lease.games[0].index);
    });
    assert_eq!(
        hangs, 31,
        "after three leases of the hanging worker expired"
    );
    assert_eq!(fails, 11, "after the game failed on both workers");
}

#[test]
fn unsuitable_worker_is_no_candidate() {
    let mut ledger = ledger();
    let [fails, other] = [running(&mut ledger, 1), running(&mut ledger, 100)];
    let [able, unsuited] = [1, 2].map(|number| process(&mut ledger, number));
    let suits = |worker, tournament| (worker == unsuited) == (tournament == other);
    let mut attempts = 0;
    for second in 0..1000 {
        let now = SECOND * second;
        if let Some(lease) = ledger.grant(now, ask(unsuited, 1), suits) {
            end(&mut ledger, now, unsuited, &lease, false);
        }
        let Some(lease) = ledger.grant(now, ask(able, 1), suits) else {
            continue;
        };
        assert_eq!(lease.tournament, fails);
        if lease.games[0].attempts >= ATTEMPTS_MAX {
            break;
        }
        attempts += 1;
        fail(&mut ledger, now, &lease, 0);
    }
    assert_eq!(attempts, 2 * ATTEMPTS_MAX, "as with a single worker");
}

/// The first worker failed a game three times. The second lacks an agent that runs on the first.
#[test]
fn worker_without_agent_has_no_priority() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    let failed = process(&mut ledger, 1);
    ran(&mut ledger, failed);
    for attempt in 0..3 {
        let now = START + SECOND * 100 * attempt;
        let lease = one(&mut ledger, now, failed);
        fail(&mut ledger, now, &lease, 1);
    }
    let lacks = process(&mut ledger, 2);
    for second in 400..1000 {
        let now = SECOND * second;
        if let Some(lease) = ledger.grant(now, ask(lacks, 1), |_, _| true) {
            not_started(&mut ledger, now, &lease, (1, 3));
        }
        if let Some(lease) = ledger.grant(now, ask(failed, 1), |_, _| true) {
            assert!(lease.games[0].attempts < ATTEMPTS_MAX, "it is to be played");
            return;
        }
    }
    panic!("the game is never leased to the worker on which its agents start");
}

#[test]
fn suitable_game_is_found_behind_others() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 601);
    let [bad, good, _idle] = [1, 2, 3].map(|number| process(&mut ledger, number));
    let mut leases = Vec::new();
    let mut left = 600;
    while left > 0 {
        let lease = ledger.grant(START, ask(bad, left), |_, _| true);
        let lease = lease.expect("a lease");
        left -= lease.games.len();
        leases.push(lease);
    }
    for lease in leases {
        for game in &lease.games {
            let failed = Failed {
                index: game.index,
                unready: None,
            };
            ledger.failed(START, tournament, lease.lease, failed);
        }
    }
    let lease = grant(&mut ledger, START, good).expect("a lease");
    assert_eq!(indices(&lease), [600]);
    let failed = Failed {
        index: 600,
        unready: None,
    };
    ledger.failed(START, tournament, lease.lease, failed);
    let mut later = (1..81).map(|after| START + SECOND * after);
    let found = later.find_map(|now| ledger.grant(now, ask(bad, 1), |_, _| true));
    assert_eq!(indices(&found.expect("once it has rested")), [600]);
}

#[test]
fn new_worker_tries_games_due_to_be_void() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    let [good, lacks] = [1, 2].map(|number| process(&mut ledger, number));
    ran(&mut ledger, good);
    ledger.leave(good);
    let mut now = START + SECOND * 31;
    let lease = loop {
        now += SECOND;
        let Some(lease) = grant(&mut ledger, now, lacks) else {
            continue;
        };
        if lease.games[0].attempts >= ATTEMPTS_MAX {
            break lease;
        }
        not_started(&mut ledger, now, &lease, (lease.games[0].index, 3));
    };
    ledger.take_leave(lacks);
    let comes = process(&mut ledger, 3);
    let again = grant(&mut ledger, now + SECOND, comes).expect("a lease");
    assert_eq!(indices(&again), indices(&lease));
    assert!(again.games[0].attempts < ATTEMPTS_MAX, "{again:?}");
}

#[test]
fn game_goes_where_its_agents_started() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 1);
    let [lacks, other] = [1, 2].map(|number| process(&mut ledger, number));
    let fail = |ledger: &mut Ledger, worker, now, unready| {
        let lease = grant(ledger, now, worker).expect("a lease");
        let failed = Failed { index: 0, unready };
        ledger.failed(now, tournament, lease.lease, failed);
    };
    fail(&mut ledger, lacks, START, Some(3));
    fail(&mut ledger, other, START + SECOND, None);
    // Both workers have tried the game. It goes to the second one, even if the first one asks before.
    for second in 4..65 {
        assert!(grant(&mut ledger, START + SECOND * second, lacks).is_none());
    }
    assert!(grant(&mut ledger, START + SECOND * 65, other).is_some());
}
