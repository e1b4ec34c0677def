//! Failures of one host must not make games of a tournament void.

use arena_wire::ATTEMPTS_MAX;

use super::{hosts::*, *};

#[test]
fn failing_worker_voids_no_game_of_others() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 2659);
    let (good, bad) = (process(&mut ledger, 1), process(&mut ledger, 2));
    let mut held: Option<(Duration, Grant)> = None;
    let mut attempts = 0;
    for tick in 0..60_000_u32 {
        let now = Duration::from_millis(10) * tick;
        if let Some(lease) = grant(&mut ledger, now, bad) {
            attempts += lease.games.len();
            assert!(lease.games.iter().all(|game| game.attempts < ATTEMPTS_MAX));
            end(&mut ledger, now, bad, &lease, true);
        }
        match held.take() {
            Some((since, lease)) if now > since + SECOND => {
                end(&mut ledger, now, good, &lease, false);
            }
            None => held = grant(&mut ledger, now, good).map(|lease| (now, lease)),
            later => held = later,
        }
        if ledger.progress(tournament).expect("added").state == State::Finished {
            assert!(
                attempts < LEASE_GAMES_MAX + 100,
                "it hardly plays: {attempts}"
            );
            return;
        }
    }
    panic!("{:?}", ledger.progress(tournament));
}

#[test]
fn failed_attempt_rests_and_counts() {
    let mut ledger = ledger();
    running(&mut ledger, 1);
    let worker = ledger.join(usize::MAX);
    let mut now = START;
    let rests = [1, 4, 16, 64, 120, 120, 120, 120, 120, 120]
        .map(|times| Duration::from_millis(500) * times);
    for (failed, rest) in rests.into_iter().enumerate() {
        let lease = grant(&mut ledger, now, worker).expect("a lease");
        let before = lease.games[0].attempts;
        assert_eq!(before, failed.min(3) as u32, "it is to be played");
        let failed = failed as u32 + 1;
        assert_eq!(fail(&mut ledger, now, &lease, 0), Some(failed));
        assert_eq!(fail(&mut ledger, now, &lease, 0), None, "reported twice");
        assert_eq!(grant(&mut ledger, now, worker), None, "it rests");
        now += rest;
    }
    let lease = grant(&mut ledger, now, worker).expect("to be void");
    assert_eq!(lease.games[0].attempts, 2 * ATTEMPTS_MAX);
    assert!(
        now > SECOND * 300,
        "without another worker, the attempts take long"
    );
}

#[test]
fn other_games_are_leased_while_one_rests() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let worker = process(&mut ledger, 1);
    let mut now = START;
    for rest in
        [1, 4, 16, 64, 120, 120, 120, 120, 120, 120].map(|times| Duration::from_millis(500) * times)
    {
        let lease = one(&mut ledger, now, worker);
        assert_eq!(indices(&lease), [0]);
        fail(&mut ledger, now, &lease, 0);
        now += rest - Duration::from_millis(1);
        let other = one(&mut ledger, now, worker);
        assert_ne!(indices(&other), [0], "it rests");
        end(&mut ledger, now, worker, &other, false);
        now += Duration::from_millis(1);
    }
    let lease = one(&mut ledger, now, worker);
    assert_eq!(
        (indices(&lease), lease.games[0].attempts),
        (vec![0], 2 * ATTEMPTS_MAX)
    );
}

#[test]
fn short_trouble_of_lone_host_voids_no_game() {
    let mut ledger = ledger();
    running(&mut ledger, 1000);
    let worker = process(&mut ledger, 1);
    let first = one(&mut ledger, START, worker);
    end(&mut ledger, START, worker, &first, false);
    let mut played = 0;
    for tenth in 1..4000 {
        let now = START + SECOND * tenth / 10;
        let Some(lease) = ledger.grant(now, ask(worker, 8), |_, _| true) else {
            continue;
        };
        let void = |it: &Assigned| it.attempts >= ATTEMPTS_MAX;
        assert!(!lease.games.iter().any(void), "{now:?}");
        played += lease.games.len() * usize::from(tenth > 1800);
        end(&mut ledger, now, worker, &lease, tenth <= 1800);
    }
    assert_eq!(played, 999);
}

#[test]
fn game_failing_everywhere_becomes_void() {
    let mut ledger = ledger();
    running(&mut ledger, 1);
    let workers = [1, 2, 3, 4, 5, 6].map(|number| process(&mut ledger, number));
    let mut now = START;
    let mut tried = Vec::new();
    loop {
        let asks = |&worker: &WorkerId| Some((worker, grant(&mut ledger, now, worker)?));
        if let Some((worker, lease)) = workers.iter().find_map(asks) {
            if lease.games[0].attempts == ATTEMPTS_MAX {
                break;
            }
            tried.push(worker);
            fail(&mut ledger, now, &lease, 0);
        }
        now += SECOND / 10;
    }
    assert_eq!(tried.len(), 5);
    tried.dedup();
    assert_eq!(tried.len(), 5, "another process each time");
}

#[test]
fn failures_of_one_owner_leave_a_game_to_another() {
    let mut ledger = ledger();
    running(&mut ledger, 1);
    let mut join = |owner: &str, number| {
        let process = WorkerProcess::Process(number);
        ledger.join_of(Some(owner.into()), process, usize::MAX)
    };
    let failing = [1, 2, 3, 4].map(|number| join("failing", number));
    let other = join("other", 5);
    let mut now = START;
    let mut failed = 0;
    while failed < 12 {
        let asks = |&worker: &WorkerId| grant(&mut ledger, now, worker);
        if let Some(lease) = failing.iter().find_map(asks) {
            assert!(lease.games[0].attempts < ATTEMPTS_MAX, "after {failed}");
            fail(&mut ledger, now, &lease, 0);
            failed += 1;
        }
        now += SECOND;
    }
    let lease = grant(&mut ledger, now + 60 * SECOND, other).expect("the game");
    assert!(lease.games[0].attempts < ATTEMPTS_MAX);
}

#[test]
fn only_lease_holder_can_fail_games() {
    let mut ledger = ledger();
    running(&mut ledger, 16);
    let (one, two) = (process(&mut ledger, 1), process(&mut ledger, 2));
    let lease = grant(&mut ledger, START, one).expect("a lease");
    let failed = [Failed {
        index: 0,
        unready: None,
    }];
    let taken = report(&mut ledger, START, two, &lease, |it| it.failed = &failed);
    assert_eq!(taken.failed, []);
    assert_eq!(ledger.load(one).expect("joined").games, 8);
    let taken = report(&mut ledger, START, one, &lease, |it| it.failed = &failed);
    assert_eq!(taken.failed, [(0, 1)]);
}

#[test]
fn unrequested_void_record_is_an_attempt() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 1);
    let worker = process(&mut ledger, 1);
    let (games, voids) = ([(0, [9; 32])], [0]);
    let mut now = START;
    let mut early = 0;
    loop {
        let Some(lease) = grant(&mut ledger, now, worker) else {
            now += SECOND;
            continue;
        };
        let reported = lease.games[0].attempts;
        let taken = report(&mut ledger, now, worker, &lease, |it| {
            (it.games, it.voids) = (&games, &voids);
        });
        let done = ledger.progress(tournament).expect("added").done;
        if reported >= ATTEMPTS_MAX {
            assert_eq!(done, 1);
            break;
        }
        early += 1;
        assert_eq!(taken.failed, [(0, early)], "an attempt that failed");
        assert_eq!(done, 0);
    }
    assert_eq!(early, 2 * ATTEMPTS_MAX);
}

#[test]
fn void_game_is_not_audited() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 1);
    let worker = process(&mut ledger, 1);
    let mut now = START;
    let lease = loop {
        now += SECOND;
        match grant(&mut ledger, now, worker) {
            Some(lease) if lease.games[0].attempts >= ATTEMPTS_MAX => break lease,
            Some(lease) => drop(fail(&mut ledger, now, &lease, 0)),
            None => {}
        }
    };
    let (games, voids) = ([(0, [9; 32])], [0]);
    report(&mut ledger, now, worker, &lease, |it| {
        (it.games, it.voids) = (&games, &voids);
    });
    assert_eq!(ledger.progress(tournament).expect("added").done, 1);
    assert_eq!(ledger.audited(tournament).expect("added").due, 0);
}

#[test]
fn orderly_leave_costs_no_attempt() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    for number in 0..15 {
        let worker = process(&mut ledger, number);
        let lease = grant(&mut ledger, START, worker).expect("a lease");
        assert_eq!(lease.games.len(), 2, "still leased together");
        assert!(lease.games.iter().all(|game| game.attempts == 0));
        assert_eq!(ledger.take_leave(worker).len(), 1);
    }
}

#[test]
fn heartbeat_reveals_lost_leases() {
    let mut ledger = ledger();
    running(&mut ledger, 24);
    let worker = process(&mut ledger, 1);
    let assign = |ledger: &mut Ledger, call| {
        let ask = Ask {
            call,
            ..ask(worker, 8)
        };
        let lease = ledger.grant(START, ask, |_, _| true);
        lease.expect("a lease").lease
    };
    let [first, second] = [1, 2].map(|call| assign(&mut ledger, call));
    assert_eq!(
        ledger.holds(worker, 1, &[first]),
        [],
        "the answer to request 2 may still arrive"
    );
    assert_eq!(ledger.holds(worker, 2, &[first, second]), []);
    let lease = second;
    assert_eq!(ledger.holds(worker, 2, &[first]), [Ended { worker, lease }]);
    let old = assign(&mut ledger, 0);
    assert_eq!(ledger.holds(worker, 9, &[first]), [], "{old}: not numbered");
}

#[test]
fn busy_host_is_waited_for() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 40);
    let bad = [1, 2, 3, 4].map(|number| process(&mut ledger, number));
    let good = ledger.join_as(WorkerProcess::Process(9), 8);
    let mut held: Vec<(Duration, Grant)> = Vec::new();
    for tick in 0..8 * 3600 {
        let now = SECOND * tick;
        for bad in bad {
            let Some(lease) = grant(&mut ledger, now, bad) else {
                continue;
            };
            assert_eq!(lease.given_up, NO_AGENTS, "{tick} s");
            for game in &lease.games {
                assert!(game.attempts < ATTEMPTS_MAX, "{tick} s: {game:?}");
                not_started(&mut ledger, now, &lease, (game.index, 3));
            }
        }
        // The good worker needs five minutes for a game.
        while let Some(lease) = grant(&mut ledger, now, good) {
            held.push((now, lease));
        }
        for (_, lease) in &held {
            ledger.advance(now, good, lease.lease, u64::from(tick));
        }
        for (_, lease) in held.extract_if(.., |(since, _)| now > *since + SECOND * 300) {
            let played: Vec<_> = indices(&lease)
                .into_iter()
                .map(|it| (it, [1; 32]))
                .collect();
            report(&mut ledger, now, good, &lease, |it| {
                (it.games, it.agents) = (&played, &[3]);
            });
        }
        if ledger.progress(tournament).expect("added").state == State::Finished {
            return;
        }
    }
    panic!("{:?}", ledger.progress(tournament));
}

#[test]
fn agents_that_start_nowhere_are_all_charged() {
    let mut ledger = ledger();
    running(&mut ledger, 1);
    let workers = [1, 2].map(|number| process(&mut ledger, number));
    let mut now = START;
    for agent in 0..4 {
        let mut tried = Vec::new();
        while tried.len() < workers.len() {
            now += SECOND;
            for worker in workers {
                let Some(lease) = grant(&mut ledger, now, worker) else {
                    continue;
                };
                tried.push(worker);
                let count = not_started(&mut ledger, now, &lease, (0, agent));
                let expected = u32::from(tried.len() == 1);
                assert_eq!(count, Some(expected), "agent {agent}, tried by {tried:?}");
            }
        }
        assert_ne!(
            tried[0], tried[1],
            "agent {agent}: the other worker tries it next"
        );
    }
    let lease = workers.map(|worker| grant(&mut ledger, now + SECOND, worker));
    let lease = lease.into_iter().flatten().next().expect("a lease");
    assert_eq!(lease.given_up, [0, 1, 2, 3]);
    assert_eq!(lease.games[0].attempts, 0);
}

#[test]
fn lost_host_gets_its_grace_period() {
    let mut ledger = ledger();
    running(&mut ledger, 40);
    let good = process(&mut ledger, 99);
    ran(&mut ledger, good);
    let bad: Vec<WorkerId> = (0..8).map(|number| process(&mut ledger, number)).collect();
    let mut failures = [0; 40];
    for tick in 0..10_290 {
        let now = START + SECOND * tick / 10;
        if tick == 10_000 {
            ledger.expire(now);
            ledger.leave(good);
        }
        for &bad in &bad {
            while let Some(lease) = grant(&mut ledger, now, bad) {
                assert_eq!(lease.given_up, NO_AGENTS, "{now:?}");
                for game in &lease.games {
                    assert!(game.attempts < ATTEMPTS_MAX, "{now:?}: {game:?}");
                    not_started(&mut ledger, now, &lease, (game.index, 3));
                    failures[game.index as usize] += 1;
                }
            }
        }
    }
    let most = failures.iter().max();
    assert!(most >= Some(&ATTEMPTS_MAX), "{failures:?}");
}

#[test]
fn simultaneous_expiries_are_one_failure() {
    let mut ledger = ledger();
    running(&mut ledger, 1000);
    let [slow, lacks] = [1, 2].map(|number| process(&mut ledger, number));
    for _ in 0..3 {
        ledger
            .grant(START, ask(slow, 8), |_, _| true)
            .expect("a lease");
    }
    ledger.expire(SECOND * 60);
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 61, lacks), NO_AGENTS);
}

#[test]
fn agents_without_a_common_worker_void_a_game() {
    let mut ledger = ledger();
    running(&mut ledger, 10);
    let workers = [1, 2].map(|number| process(&mut ledger, number));
    for (agent, worker) in (3..).zip(workers) {
        let lease = one(&mut ledger, START, worker);
        let games = [(lease.games[0].index, [1; 32])];
        let agents = [agent];
        report(&mut ledger, START, worker, &lease, |it| {
            (it.games, it.agents) = (&games, &agents);
        });
    }
    let mut void = None;
    for second in 1..3600 {
        let now = START + SECOND * second;
        for (unready, worker) in [4, 3].into_iter().zip(workers) {
            let Some(lease) = ledger.grant(now, ask(worker, 1), |_, _| true) else {
                continue;
            };
            assert_eq!(lease.given_up, NO_AGENTS);
            let game = lease.games[0];
            if game.attempts >= ATTEMPTS_MAX {
                void.get_or_insert(second);
            }
            not_started(&mut ledger, now, &lease, (game.index, unready));
        }
    }
    assert!(void.is_some_and(|second| second > 60), "{void:?}");
}
