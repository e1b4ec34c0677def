//! One bad host must not spoil a tournament.

use super::*;
use arena_wire::ATTEMPTS_MAX;

const SECOND: Duration = Duration::from_secs(1);

fn process(ledger: &mut Ledger, number: u64) -> WorkerId {
    ledger.join_as(Player::Process(number), usize::MAX)
}

/// A report of a present worker about one lease.
fn report<'a>(
    ledger: &mut Ledger,
    now: Duration,
    by: WorkerId,
    grant: &Grant,
    change: impl FnOnce(&mut Report<'a>),
) -> Taken {
    let mut report = Report {
        tournament: grant.tournament,
        by: Some(by),
        player: ledger.player(by, 1),
        lease: grant.lease,
        games: &[],
        voids: &[],
        failed: &[],
        agents: &[],
    };
    change(&mut report);
    let mut reports = Reports::default();
    let sorted = reports.sort(ledger, &report);
    let id = sorted.id;
    let taken = reports.take(ledger, now, &report, sorted);
    reports.written(ledger, id);
    taken
}

/// All games of a lease fail, or all are played.
fn end(ledger: &mut Ledger, now: Duration, by: WorkerId, grant: &Grant, fails: bool) {
    let failed = |index| Failed {
        index,
        unready: None,
    };
    let failed: Vec<Failed> = indices(grant).into_iter().map(failed).collect();
    let played: Vec<_> = indices(grant).into_iter().map(|it| (it, [1; 32])).collect();
    report(ledger, now, by, grant, |report| {
        if fails {
            report.failed = &failed;
        } else {
            report.games = &played;
        }
    });
}

#[test]
fn a_worker_that_fails_at_once_makes_no_game_void_while_another_plays() {
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
fn a_failed_attempt_rests_and_is_counted() {
    let mut ledger = ledger();
    running(&mut ledger, 1);
    let worker = ledger.join(usize::MAX);
    let mut now = START;
    let rests = [1, 4, 16, 64, 0].map(|times| Duration::from_millis(500) * times);
    for (failed, rest) in rests.into_iter().enumerate() {
        let lease = grant(&mut ledger, now, worker).expect("a lease");
        let before = lease.games[0].attempts;
        assert_eq!(before, failed.min(3) as u32, "it is to be played");
        let failed = failed as u32 + 1;
        assert_eq!(fail(&mut ledger, now, &lease, 0), Some(failed));
        assert_eq!(fail(&mut ledger, now, &lease, 0), None, "told twice");
        if !rest.is_zero() {
            assert_eq!(grant(&mut ledger, now, worker), None, "it rests");
        }
        now += rest;
    }
    let lease = grant(&mut ledger, now, worker).expect("to be void");
    assert_eq!(lease.games[0].attempts, ATTEMPTS_MAX);
    assert!(now > SECOND * 40, "nobody else is there: it takes its time");
}

#[test]
fn a_game_that_fails_everywhere_is_void_after_its_cap_of_attempts() {
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
    assert_eq!(tried.len(), 5, "each time another process");
}

#[test]
fn who_fails_is_tried_with_one_game_at_a_time_and_ever_more_seldom() {
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
        assert_eq!(probe.games[0].attempts, 0, "failed games are for others");
        assert_eq!(grant(&mut ledger, now, bad), None, "one at a time");
        end(&mut ledger, now, bad, &probe, true);
    }
    now += SECOND * 8;
    let probe = grant(&mut ledger, now, bad).expect("it is tried");
    end(&mut ledger, now, bad, &probe, false);
    let lease = grant(&mut ledger, now, bad).expect("it plays again");
    assert!(lease.games.len() > 100);
}

#[test]
fn only_who_has_a_lease_can_fail_its_games() {
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
fn a_void_record_is_taken_only_where_it_was_asked_for() {
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
        let told = lease.games[0].attempts;
        let taken = report(&mut ledger, now, worker, &lease, |it| {
            (it.games, it.voids) = (&games, &voids);
        });
        let done = ledger.progress(tournament).expect("added").done;
        if told == ATTEMPTS_MAX {
            assert_eq!(done, 1);
            break;
        }
        early += 1;
        assert_eq!(taken.failed, [(0, early)], "an attempt that failed");
        assert_eq!(done, 0);
    }
    assert_eq!(early, ATTEMPTS_MAX);
}

#[test]
fn a_void_game_is_not_audited() {
    let mut ledger = Ledger::new(settings(1_000_000), 1);
    let tournament = running(&mut ledger, 1);
    let worker = process(&mut ledger, 1);
    let mut now = START;
    let lease = loop {
        now += SECOND;
        match grant(&mut ledger, now, worker) {
            Some(lease) if lease.games[0].attempts == ATTEMPTS_MAX => break lease,
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
fn a_worker_that_leaves_in_order_costs_its_games_nothing() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    for number in 0..15 {
        let worker = process(&mut ledger, number);
        let lease = grant(&mut ledger, START, worker).expect("a lease");
        assert_eq!(lease.games.len(), 2, "in company still");
        assert!(lease.games.iter().all(|game| game.attempts == 0));
        assert_eq!(ledger.take_leave(worker).len(), 1);
    }
}

#[test]
fn what_a_worker_does_not_have_is_taken_back_with_its_next_beat() {
    let mut ledger = ledger();
    running(&mut ledger, 24);
    let worker = process(&mut ledger, 1);
    let lend = |ledger: &mut Ledger, call| {
        let ask = Ask {
            call,
            ..ask(worker, 8)
        };
        let lease = ledger.grant(START, ask, |_, _| true);
        lease.expect("a lease").lease
    };
    let [first, second] = [1, 2].map(|call| lend(&mut ledger, call));
    assert_eq!(ledger.holds(worker, 1, &[first]), [], "one is on its way");
    assert_eq!(ledger.holds(worker, 2, &[first, second]), []);
    let lease = second;
    assert_eq!(ledger.holds(worker, 2, &[first]), [Ended { worker, lease }]);
    let old = lend(&mut ledger, 0);
    assert_eq!(ledger.holds(worker, 9, &[first]), [], "{old}: not numbered");
}

/// Agents that are given up in what is lent at this time.
fn given_up_at(ledger: &mut Ledger, now: Duration, worker: WorkerId) -> Vec<u16> {
    let lease = ledger.grant(now, ask(worker, 1), |_, _| true);
    let lease = lease.expect("a lease");
    end(ledger, now, worker, &lease, false);
    lease.given_up
}

/// The same at once.
fn given_up(ledger: &mut Ledger, worker: WorkerId) -> Vec<u16> {
    given_up_at(ledger, START + SECOND, worker)
}

/// Agent 3 does not start at a worker; tells what the game's attempts come to.
fn unready(ledger: &mut Ledger, worker: WorkerId) -> Option<u32> {
    let lease = ledger.grant(START, ask(worker, 1), |_, _| true);
    let lease = lease.expect("a lease");
    let failed = Failed {
        index: lease.games[0].index,
        unready: Some(3),
    };
    ledger.failed(START, lease.tournament, lease.lease, failed)
}

/// Agent 3 plays at a worker.
fn ran(ledger: &mut Ledger, worker: WorkerId) {
    let lease = ledger.grant(START, ask(worker, 1), |_, _| true);
    let lease = lease.expect("a lease");
    let games = [(lease.games[0].index, [1; 32])];
    report(ledger, START, worker, &lease, |it| {
        (it.games, it.agents) = (&games, &[3]);
    });
}

const NOBODY: [u16; 0] = [];

#[test]
fn an_agent_that_does_not_start_at_the_only_worker_is_charged_at_once() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let worker = process(&mut ledger, 1);
    assert_eq!(
        unready(&mut ledger, worker),
        Some(0),
        "no attempt is counted"
    );
    assert_eq!(given_up(&mut ledger, worker), [3]);
}

#[test]
fn an_agent_that_does_not_start_again_at_the_only_worker_is_charged() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let worker = process(&mut ledger, 1);
    ran(&mut ledger, worker);
    assert_eq!(unready(&mut ledger, worker), Some(0));
    assert_eq!(given_up(&mut ledger, worker), [3]);
}

#[test]
fn an_agent_is_not_charged_while_another_has_not_tried_it() {
    for bad in 1..4 {
        let mut ledger = ledger();
        running(&mut ledger, 100);
        let lacks: Vec<WorkerId> = (0..bad).map(|it| process(&mut ledger, it)).collect();
        let other = process(&mut ledger, 9);
        for &lacks in &lacks {
            assert_eq!(unready(&mut ledger, lacks), Some(1));
        }
        assert_eq!(given_up(&mut ledger, other), NOBODY, "{bad} lack it");
        assert_eq!(unready(&mut ledger, other), Some(0), "it starts nowhere");
        assert_eq!(given_up(&mut ledger, other), [3]);
    }
}

#[test]
fn who_never_tries_an_agent_is_not_waited_for_for_ever() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let (lacks, other) = (process(&mut ledger, 1), process(&mut ledger, 2));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 500, lacks), NOBODY);
    assert_eq!(given_up_at(&mut ledger, SECOND * 700, lacks), [3]);
    assert_eq!(given_up_at(&mut ledger, SECOND * 700, other), NOBODY);
    process(&mut ledger, 3);
    assert_eq!(given_up_at(&mut ledger, SECOND * 710, lacks), NOBODY);
}

#[test]
fn an_agent_is_not_charged_while_it_runs_at_a_worker_that_is_here() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let workers = [1, 2, 3].map(|number| process(&mut ledger, number));
    ran(&mut ledger, workers[0]);
    for &lacks in &workers[1..] {
        assert_eq!(unready(&mut ledger, lacks), Some(1));
    }
    let late = SECOND * 3600;
    assert_eq!(given_up_at(&mut ledger, late, workers[1]), NOBODY);
    ledger.take_leave(workers[0]);
    let mut given_up = |after| given_up_at(&mut ledger, late + SECOND * after, workers[1]);
    assert_eq!(given_up(20), NOBODY, "it may come back");
    assert_eq!(given_up(40), [3], "two lack it");
}

#[test]
fn what_failed_at_hosts_that_are_gone_charges_nobody() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let good = process(&mut ledger, 1);
    ran(&mut ledger, good);
    let bad = [2, 3].map(|number| process(&mut ledger, number));
    for bad in bad {
        assert_eq!(unready(&mut ledger, bad), Some(1));
    }
    for worker in [bad[0], bad[1], good] {
        ledger.take_leave(worker);
    }
    let again = process(&mut ledger, 4);
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, again), NOBODY);
}

#[test]
fn one_who_comes_has_an_agent_tried_that_was_given_up() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let bad = [1, 2].map(|number| process(&mut ledger, number));
    unready(&mut ledger, bad[0]);
    unready(&mut ledger, bad[1]);
    assert_eq!(given_up(&mut ledger, bad[1]), [3]);
    let good = process(&mut ledger, 3);
    assert_eq!(given_up(&mut ledger, bad[1]), NOBODY);
    ran(&mut ledger, good);
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, bad[1]), NOBODY);
}

#[test]
fn after_a_restart_nobody_is_charged_before_others_can_be_back() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    ledger.goes_on(tournament);
    let bad = process(&mut ledger, 1);
    assert_eq!(unready(&mut ledger, bad), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 20, bad), NOBODY);
    assert_eq!(given_up_at(&mut ledger, SECOND * 40, bad), [3]);
}

#[test]
fn however_many_were_here_it_is_known_where_an_agent_runs() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let good = process(&mut ledger, u64::MAX / 2);
    ran(&mut ledger, good);
    for number in 1..1000 {
        let other = process(&mut ledger, number << 50);
        ran(&mut ledger, other);
        ledger.take_leave(other);
    }
    for number in [3, 5] {
        let bad = process(&mut ledger, number);
        assert_eq!(unready(&mut ledger, bad), Some(1));
        assert_eq!(given_up_at(&mut ledger, SECOND * 3600, bad), NOBODY);
    }
}

#[test]
fn an_agent_that_ran_elsewhere_is_not_charged_for_one_host() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let (good, lacks) = (process(&mut ledger, 1), process(&mut ledger, 2));
    ran(&mut ledger, good);
    ledger.take_leave(good);
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, lacks), NOBODY);
}

#[test]
fn hosts_that_lack_an_agent_make_no_game_void_that_one_who_is_busy_can_play() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 40);
    let bad = [1, 2, 3, 4].map(|number| process(&mut ledger, number));
    let good = ledger.join_as(Player::Process(9), 8);
    let mut held: Vec<(Duration, Grant)> = Vec::new();
    for tick in 0..8 * 3600 {
        let now = SECOND * tick;
        for bad in bad {
            let Some(lease) = grant(&mut ledger, now, bad) else {
                continue;
            };
            assert_eq!(lease.given_up, NOBODY, "{tick} s");
            for game in &lease.games {
                assert!(game.attempts < ATTEMPTS_MAX, "{tick} s: {game:?}");
                let failed = Failed {
                    index: game.index,
                    unready: Some(3),
                };
                ledger.failed(now, lease.tournament, lease.lease, failed);
            }
        }
        // A game takes it five minutes.
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
fn a_game_of_agents_that_start_nowhere_is_played_with_all_of_them_charged() {
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
                let failed = Failed {
                    index: 0,
                    unready: Some(agent),
                };
                let count = ledger.failed(now, lease.tournament, lease.lease, failed);
                let expected = u32::from(tried.len() == 1);
                assert_eq!(count, Some(expected), "agent {agent}, tried by {tried:?}");
            }
        }
        assert_ne!(tried[0], tried[1], "agent {agent}: another tries it next");
    }
    let lease = workers.map(|worker| grant(&mut ledger, now + SECOND, worker));
    let lease = lease.into_iter().flatten().next().expect("a lease");
    assert_eq!(lease.given_up, [0, 1, 2, 3]);
    assert_eq!(lease.games[0].attempts, 0);
}

#[test]
fn a_report_of_who_is_gone_does_not_make_an_agent_run() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [gone, bad] = [1, 2].map(|number| process(&mut ledger, number));
    let late = grant(&mut ledger, START, gone).expect("a lease");
    ledger.leave(gone);
    let games = [(late.games[0].index, [1; 32])];
    report(&mut ledger, START, gone, &late, |it| {
        (it.games, it.agents) = (&games, &[3]);
        it.player = Player::Process(1);
    });
    assert_eq!(unready(&mut ledger, bad), Some(0), "it starts nowhere");
    assert_eq!(given_up(&mut ledger, bad), [3]);
}

#[test]
fn a_pause_is_no_time_in_which_somebody_could_have_tried() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    let [lacks, _other] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    ledger.pause(tournament);
    ledger.expire(SECOND * 700);
    ledger.resume(tournament);
    assert_eq!(given_up_at(&mut ledger, SECOND * 701, lacks), NOBODY);
}

#[test]
fn an_agent_that_is_given_up_is_tried_again_once_a_minute() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let bad = [1, 2].map(|number| process(&mut ledger, number));
    for bad in bad {
        unready(&mut ledger, bad);
    }
    let mut tried = Vec::new();
    for tick in 1..200 {
        for (place, bad) in bad.into_iter().enumerate() {
            let now = START + SECOND * tick;
            let lease = ledger.grant(now, ask(bad, 1), |_, _| true);
            let lease = lease.expect("a lease");
            if lease.given_up.is_empty() {
                tried.push((tick, place));
                let failed = Failed {
                    index: lease.games[0].index,
                    unready: Some(3),
                };
                let count = ledger.failed(now, lease.tournament, lease.lease, failed);
                assert_eq!(count, Some(0), "no attempt is counted");
            }
            end(&mut ledger, now, bad, &lease, false);
        }
    }
    assert_eq!(tried, [(61, 0), (121, 1), (181, 0)], "in turn");
    let now = START + SECOND * 241;
    let lease = ledger.grant(now, ask(bad[1], 1), |_, _| true);
    let lease = lease.expect("a lease");
    assert_eq!(lease.given_up, NOBODY);
    let games = [(lease.games[0].index, [1; 32])];
    report(&mut ledger, now, bad[1], &lease, |it| {
        (it.games, it.agents) = (&games, &[3]);
    });
    for bad in bad {
        assert_eq!(given_up_at(&mut ledger, now + SECOND, bad), NOBODY);
    }
}

#[test]
fn an_agent_that_ran_at_the_only_host_is_charged_there_after_it_joined_again() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let lone = process(&mut ledger, 1);
    ran(&mut ledger, lone);
    ledger.leave(lone);
    let again = process(&mut ledger, 1);
    unready(&mut ledger, again);
    assert_eq!(given_up_at(&mut ledger, SECOND * 20, again), NOBODY);
    assert_eq!(given_up_at(&mut ledger, SECOND * 40, again), [3]);
}

#[test]
fn who_cannot_play_a_tournament_is_not_waited_for() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [lacks, other] = [1, 2].map(|number| process(&mut ledger, number));
    assert!(ledger.grant(START, ask(other, 1), |_, _| false).is_none());
    assert_eq!(unready(&mut ledger, lacks), Some(0));
    assert_eq!(given_up(&mut ledger, lacks), [3]);
}

#[test]
fn however_many_fail_to_start_an_agent_no_game_is_void_before_its_host_can_be_back() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 40);
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
                assert_eq!(lease.given_up, NOBODY, "{now:?}");
                for game in &lease.games {
                    assert!(game.attempts < ATTEMPTS_MAX, "{now:?}: {game:?}");
                    let failed = Failed {
                        index: game.index,
                        unready: Some(3),
                    };
                    ledger.failed(now, tournament, lease.lease, failed);
                    failures[game.index as usize] += 1;
                }
            }
        }
    }
    let most = failures.iter().max();
    assert!(most >= Some(&ATTEMPTS_MAX), "{failures:?}");
}

#[test]
fn what_failed_because_of_an_agent_that_is_given_up_waits_for_nobody() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    let [one, other] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, one), Some(1));
    assert_eq!(unready(&mut ledger, other), Some(0), "it starts nowhere");
    let busy = ledger.grant(START, ask(other, 1), |_, _| true);
    assert_eq!(indices(&busy.expect("a lease")), [1]);
    // The other one never had game 0, and is likelier to play what failed.
    let lease = ledger.grant(START + SECOND, ask(one, 1), |_, _| true);
    let lease = lease.expect("a lease");
    assert_eq!((indices(&lease), lease.given_up), (vec![0], vec![3]));
}

#[test]
fn a_game_that_one_may_try_is_found_behind_any_number_that_it_may_not() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 601);
    let [bad, good] = [1, 2].map(|number| process(&mut ledger, number));
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
    let mut later = (5..15).map(|after| START + SECOND * after);
    let found = later.find_map(|now| ledger.grant(now, ask(bad, 1), |_, _| true));
    assert_eq!(indices(&found.expect("within ten seconds")), [600]);
}

#[test]
fn who_fails_at_everything_is_not_waited_for() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [lacks, broken] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    let mut now = START;
    for failures in 0..3 {
        now += SECOND * 40;
        assert_eq!(given_up_at(&mut ledger, now, lacks), NOBODY, "{failures}");
        let lease = ledger.grant(now, ask(broken, 1), |_, _| true);
        let lease = lease.expect("a lease");
        fail(&mut ledger, now, &lease, lease.games[0].index);
    }
    assert_eq!(given_up_at(&mut ledger, now, lacks), [3]);
    // One that does play is waited for again.
    now += SECOND * 40;
    let lease = ledger.grant(now, ask(broken, 1), |_, _| true);
    end(&mut ledger, now, broken, &lease.expect("a lease"), false);
    assert_eq!(given_up_at(&mut ledger, now, lacks), NOBODY);
}

#[test]
fn games_that_are_to_be_void_are_tried_by_one_who_comes() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 2);
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
        let failed = Failed {
            index: lease.games[0].index,
            unready: Some(3),
        };
        ledger.failed(now, tournament, lease.lease, failed);
    };
    ledger.take_leave(lacks);
    let comes = process(&mut ledger, 3);
    let again = grant(&mut ledger, now + SECOND, comes).expect("a lease");
    assert_eq!(indices(&again), indices(&lease));
    assert!(again.games[0].attempts < ATTEMPTS_MAX, "{again:?}");
}

#[test]
fn who_makes_no_progress_keeps_nobody_waiting_for_an_agent_that_ran_there() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    let [hangs, lacks] = [1, 2].map(|number| process(&mut ledger, number));
    ran(&mut ledger, hangs);
    grant(&mut ledger, START, hangs).expect("a lease");
    ledger.expire(SECOND * 60);
    let mut kept = 0;
    for tick in 61..4 * 3600 {
        let now = SECOND * tick;
        let Some(lease) = ledger.grant(now, ask(lacks, 1), |_, _| true) else {
            continue;
        };
        // Nobody knows whose fault it is: one host alone does not charge it.
        if lease.games[0].attempts >= ATTEMPTS_MAX {
            kept = tick;
            break;
        }
        let failed = Failed {
            index: lease.games[0].index,
            unready: Some(3),
        };
        ledger.failed(now, tournament, lease.lease, failed);
    }
    assert!(kept > 600, "{kept}");
}

#[test]
fn leases_that_expire_at_one_time_are_one_failure() {
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
    assert_eq!(given_up_at(&mut ledger, SECOND * 61, lacks), NOBODY);
}

#[test]
fn those_who_come_and_never_try_are_not_waited_for_for_ever() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let lacks = process(&mut ledger, 1);
    let _idle = process(&mut ledger, 2);
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    let mut charged = Vec::new();
    // Every five minutes another one comes and goes.
    for tick in (10..60 * 60).step_by(10) {
        let now = SECOND * tick;
        ledger.expire(now);
        if tick % 300 == 0 {
            let comes = process(&mut ledger, 100 + u64::from(tick));
            ledger.take_leave(comes);
            process(&mut ledger, 200 + u64::from(tick));
        }
        if given_up_at(&mut ledger, now, lacks) == [3] {
            charged.push(tick);
        }
    }
    assert_eq!(charged.first(), Some(&720), "{charged:?}");
    assert!(charged.len() > 150, "{charged:?}");
}

#[test]
fn a_game_goes_to_whom_no_agent_of_it_failed_to_start_at() {
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
    // Both have tried; whoever asks first, it is the other's.
    for second in 4..60 {
        assert!(grant(&mut ledger, START + SECOND * second, lacks).is_none());
    }
    assert!(grant(&mut ledger, START + SECOND * 60, other).is_some());
}

#[test]
fn a_game_whose_agents_run_at_no_one_process_together_is_void_after_a_while() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 10);
    let workers = [1, 2].map(|number| process(&mut ledger, number));
    for (agent, worker) in (3..).zip(workers) {
        let lease = ledger.grant(START, ask(worker, 1), |_, _| true);
        let lease = lease.expect("a lease");
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
            assert_eq!(lease.given_up, NOBODY);
            let game = lease.games[0];
            if game.attempts >= ATTEMPTS_MAX {
                void.get_or_insert(second);
            }
            let failed = Failed {
                index: game.index,
                unready: Some(unready),
            };
            ledger.failed(now, tournament, lease.lease, failed);
        }
    }
    assert!(void.is_some_and(|second| second > 60), "{void:?}");
}
