//! Fault attribution for agents that do not start.

use arena_wire::ATTEMPTS_MAX;

use super::{hosts::*, *};

#[test]
fn only_worker_decides_about_start() {
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
fn failed_restart_on_only_worker_is_charged() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let worker = process(&mut ledger, 1);
    ran(&mut ledger, worker);
    assert_eq!(unready(&mut ledger, worker), Some(0));
    assert_eq!(given_up(&mut ledger, worker), [3]);
}

#[test]
fn untried_worker_delays_the_charge() {
    for bad in 1..4 {
        let mut ledger = ledger();
        running(&mut ledger, 100);
        let lacks: Vec<WorkerId> = (0..bad).map(|it| process(&mut ledger, it)).collect();
        let other = process(&mut ledger, 9);
        for &lacks in &lacks {
            assert_eq!(unready(&mut ledger, lacks), Some(1));
        }
        assert_eq!(given_up(&mut ledger, other), NO_AGENTS, "{bad} lack it");
        assert_eq!(unready(&mut ledger, other), Some(0), "it starts nowhere");
        assert_eq!(given_up(&mut ledger, other), [3]);
    }
}

#[test]
fn waiting_for_untried_worker_ends() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let (lacks, other) = (process(&mut ledger, 1), process(&mut ledger, 2));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 500, lacks), NO_AGENTS);
    assert_eq!(given_up_at(&mut ledger, SECOND * 700, lacks), [3]);
    assert_eq!(given_up_at(&mut ledger, SECOND * 700, other), NO_AGENTS);
    process(&mut ledger, 3);
    assert_eq!(given_up_at(&mut ledger, SECOND * 710, lacks), NO_AGENTS);
}

#[test]
fn running_agent_is_not_charged() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let workers = [1, 2, 3].map(|number| process(&mut ledger, number));
    ran(&mut ledger, workers[0]);
    for &lacks in &workers[1..] {
        assert_eq!(unready(&mut ledger, lacks), Some(1));
    }
    let late = SECOND * 3600;
    assert_eq!(given_up_at(&mut ledger, late, workers[1]), NO_AGENTS);
    ledger.take_leave(workers[0]);
    let mut given_up = |after| given_up_at(&mut ledger, late + SECOND * after, workers[1]);
    assert_eq!(given_up(500), NO_AGENTS, "the host may return");
    assert_eq!(given_up(3600), NO_AGENTS, "the agent ran elsewhere");
}

#[test]
fn failures_of_lost_hosts_charge_no_agent() {
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
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, again), NO_AGENTS);
}

#[test]
fn new_worker_retries_given_up_agent() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let bad = [1, 2].map(|number| process(&mut ledger, number));
    unready(&mut ledger, bad[0]);
    unready(&mut ledger, bad[1]);
    assert_eq!(given_up(&mut ledger, bad[1]), [3]);
    let good = process(&mut ledger, 3);
    assert_eq!(given_up(&mut ledger, bad[1]), NO_AGENTS);
    ran(&mut ledger, good);
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, bad[1]), NO_AGENTS);
}

#[test]
fn restart_gives_workers_time_to_return() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    ledger.goes_on(tournament);
    let bad = process(&mut ledger, 1);
    assert_eq!(unready(&mut ledger, bad), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 100, bad), NO_AGENTS);
    assert_eq!(given_up_at(&mut ledger, SECOND * 130, bad), [3]);
}

#[test]
fn places_of_agents_are_remembered() {
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
        assert_eq!(given_up_at(&mut ledger, SECOND * 3600, bad), NO_AGENTS);
    }
}

#[test]
fn agent_running_elsewhere_is_not_charged() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let (good, lacks) = (process(&mut ledger, 1), process(&mut ledger, 2));
    ran(&mut ledger, good);
    ledger.take_leave(good);
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    assert_eq!(given_up_at(&mut ledger, SECOND * 3600, lacks), NO_AGENTS);
}

#[test]
fn late_report_shows_no_running_agent() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [gone, bad] = [1, 2].map(|number| process(&mut ledger, number));
    let late = grant(&mut ledger, START, gone).expect("a lease");
    ledger.leave(gone);
    let games = [(late.games[0].index, [1; 32])];
    report(&mut ledger, START, gone, &late, |it| {
        (it.games, it.agents) = (&games, &[3]);
        it.process = WorkerProcess::Process(1);
    });
    assert_eq!(unready(&mut ledger, bad), Some(0), "it starts nowhere");
    assert_eq!(given_up(&mut ledger, bad), [3]);
}

#[test]
fn paused_time_does_not_count_as_waiting() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    let [lacks, _other] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    ledger.pause(tournament);
    ledger.expire(SECOND * 700);
    ledger.resume(tournament);
    assert_eq!(given_up_at(&mut ledger, SECOND * 701, lacks), NO_AGENTS);
}

#[test]
fn resume_gives_lost_host_time_to_return() {
    let mut ledger = ledger();
    let tournament = running(&mut ledger, 100);
    let [only, again] = [1, 2].map(|number| process(&mut ledger, number));
    ran(&mut ledger, only);
    ran(&mut ledger, again);
    ledger.pause(tournament);
    ledger.take_leave(only);
    ledger.take_leave(again);
    let back = process(&mut ledger, 2);
    ledger.expire(SECOND * 3600);
    ledger.resume(tournament);
    let lease = one(&mut ledger, SECOND * 3600, back);
    not_started(
        &mut ledger,
        SECOND * 3600,
        &lease,
        (lease.games[0].index, 3),
    );
    assert_eq!(given_up_at(&mut ledger, SECOND * 3660, back), NO_AGENTS);
    assert_eq!(given_up_at(&mut ledger, SECOND * 3730, back), [3]);
}

#[test]
fn rejoined_only_host_decides_again() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let lone = process(&mut ledger, 1);
    ran(&mut ledger, lone);
    ledger.leave(lone);
    let again = process(&mut ledger, 1);
    unready(&mut ledger, again);
    assert_eq!(given_up_at(&mut ledger, SECOND * 500, again), NO_AGENTS);
    assert_eq!(given_up_at(&mut ledger, SECOND * 700, again), [3]);
}

#[test]
fn unsuitable_worker_is_not_waited_for() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [lacks, other] = [1, 2].map(|number| process(&mut ledger, number));
    assert!(ledger.grant(START, ask(other, 1), |_, _| false).is_none());
    assert_eq!(unready(&mut ledger, lacks), Some(0));
    assert_eq!(given_up(&mut ledger, lacks), [3]);
}

#[test]
fn given_up_agent_delays_no_game() {
    let mut ledger = ledger();
    running(&mut ledger, 2);
    let [first, other] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, first), Some(1));
    assert_eq!(unready(&mut ledger, other), Some(0), "it starts nowhere");
    let busy = ledger.grant(START, ask(other, 1), |_, _| true);
    assert_eq!(indices(&busy.expect("a lease")), [1]);
    // The other worker never had game 0, so it would be the better candidate.
    let lease = one(&mut ledger, START + SECOND, first);
    assert_eq!((indices(&lease), lease.given_up), (vec![0], vec![3]));
}

#[test]
fn always_failing_worker_is_not_waited_for() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
    let [lacks, broken] = [1, 2].map(|number| process(&mut ledger, number));
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    let mut now = START;
    for failures in 0..3 {
        now += SECOND * 40;
        assert_eq!(
            given_up_at(&mut ledger, now, lacks),
            NO_AGENTS,
            "{failures}"
        );
        let lease = one(&mut ledger, now, broken);
        fail(&mut ledger, now, &lease, lease.games[0].index);
    }
    assert_eq!(given_up_at(&mut ledger, now, lacks), [3]);
    // The ledger waits again for a worker that plays games.
    now += SECOND * 40;
    let lease = ledger.grant(now, ask(broken, 1), |_, _| true);
    end(&mut ledger, now, broken, &lease.expect("a lease"), false);
    assert_eq!(given_up_at(&mut ledger, now, lacks), NO_AGENTS);
}

#[test]
fn stuck_worker_delays_no_game() {
    let mut ledger = ledger();
    running(&mut ledger, 100);
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
        // It is unknown whether the agent or the host is at fault, so the agent is not charged.
        if lease.games[0].attempts >= ATTEMPTS_MAX {
            kept = tick;
            break;
        }
        not_started(&mut ledger, now, &lease, (lease.games[0].index, 3));
    }
    assert!(kept > 600, "{kept}");
}

#[test]
fn waiting_for_new_workers_ends() {
    let mut ledger = ledger();
    running(&mut ledger, 10_000);
    let lacks = process(&mut ledger, 1);
    let _idle = process(&mut ledger, 2);
    assert_eq!(unready(&mut ledger, lacks), Some(1));
    let mut charged = Vec::new();
    // Every five minutes, one worker joins and leaves, and another one joins and stays.
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
