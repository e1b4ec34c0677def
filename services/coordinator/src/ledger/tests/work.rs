//! The estimate of the work that is left.

use super::{hosts::report, *};

/// Seconds of work for one worker.
const PER_WORKER: f64 = 60.0;

/// Workers that an autoscaler runs.
fn workers(ledger: &Ledger) -> f64 {
    (ledger.work_seconds(PER_WORKER) / PER_WORKER).ceil()
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Reports these games of a lease.
fn played(ledger: &mut Ledger, now: Duration, by: WorkerId, lease: &Grant, games: &[u64]) {
    let games: Vec<_> = games.iter().map(|&index| (index, [1; 32])).collect();
    report(ledger, now, by, lease, |it| it.games = &games);
}

/// Leases exactly so many games.
fn take(ledger: &mut Ledger, now: Duration, worker: WorkerId, games: usize) -> Grant {
    let lease = ledger.grant(now, ask(worker, games), |_, _| true);
    let lease = lease.expect("games are queued");
    assert_eq!(lease.games.len(), games);
    lease
}

/// A worker plays `slots` games at once, each for `took`, one after the other in each slot. Returns when
/// `games` are finished.
fn play(ledger: &mut Ledger, worker: WorkerId, slots: u64, took: Duration, games: u64) -> Duration {
    let step = took / slots as u32;
    let mut leases: std::collections::VecDeque<_> =
        (0..slots).map(|_| take(ledger, START, worker, 1)).collect();
    let mut now = START + took;
    for _ in 0..games {
        now += step;
        let lease = leases.pop_front().expect("a lease");
        played(ledger, now, worker, &lease, &indices(&lease));
        leases.push_back(take(ledger, now, worker, 1));
    }
    now
}

#[test]
fn slow_games_need_more_workers_than_fast_ones() {
    for (took, games, expected) in [
        // 0.2 s of the worker for each game: 200 s.
        (ms(2_000), 1_000, 4.0),
        // 6 s.
        (ms(60_000), 1_000, 100.0),
        // 0.002 s.
        (ms(20), 1_000, 1.0),
        (ms(20), 1_000_000, 34.0),
    ] {
        let mut ledger = ledger();
        running(&mut ledger, games + 2_000);
        let worker = ledger.join(10);
        play(&mut ledger, worker, 10, took, 2_000);
        let found = workers(&ledger);
        let error = found / expected;
        assert!((0.9..=1.1).contains(&error), "{took:?}, {games}: {found}");
    }
}

#[test]
fn games_reported_together_count_like_others() {
    let mut ledger = ledger();
    running(&mut ledger, 1_050);
    let worker = ledger.join(10);
    for round in 0..5 {
        let now = START + ms(2_000) * round;
        let lease = take(&mut ledger, now, worker, 10);
        played(
            &mut ledger,
            now + ms(2_000),
            worker,
            &lease,
            &indices(&lease),
        );
    }
    let work = ledger.work_seconds(PER_WORKER);
    assert!((work - 200.0).abs() < 1e-6, "{work}");
}

#[test]
fn queued_games_of_a_worker_do_not_slow_it_down() {
    // One game at a time, 0.02 s each, from leases of 50, reported in groups.
    let mut ledger = ledger();
    running(&mut ledger, 401);
    let worker = ledger.join(1);
    let mut now = START;
    for games in [1, 50, 50] {
        let lease = take(&mut ledger, now, worker, games);
        for group in indices(&lease).chunks(7) {
            now += ms(20) * group.len() as u32;
            played(&mut ledger, now, worker, &lease, group);
        }
    }
    let work = ledger.work_seconds(PER_WORKER);
    assert!((work - 6.0).abs() < 1e-6, "{work}");

    // Most of what a worker holds waits there, for much longer than the worker has existed.
    let mut ledger = self::ledger();
    running(&mut ledger, 100_000);
    let worker = ledger.join(64);
    let mut now = START + ms(18);
    let first = take(&mut ledger, START, worker, 1);
    played(&mut ledger, now, worker, &first, &[0]);
    let leases: Vec<Grant> = (0..4)
        .map(|_| take(&mut ledger, now, worker, 500))
        .collect();
    for &index in &indices(&leases[0])[..250] {
        now += ms(18);
        played(&mut ledger, now, worker, &leases[0], &[index]);
    }
    let game = ledger.work_seconds(1e9) / 99_749.0;
    assert!((game / 0.018 - 1.0).abs() < 0.05, "{game}");
}

#[test]
fn bursts_of_reports_change_little() {
    // Four reports of 250 games each come together, every half second.
    let mut ledger = ledger();
    running(&mut ledger, 100_000);
    let worker = ledger.join(64);
    let first = take(&mut ledger, START, worker, 1);
    played(&mut ledger, START + ms(1), worker, &first, &[0]);
    for burst in 0..60 {
        let now = START + ms(500) * burst;
        let leases: Vec<Grant> = (0..4)
            .map(|_| take(&mut ledger, now, worker, 250))
            .collect();
        for (place, lease) in leases.iter().enumerate() {
            let now = now + ms(490 + place as u64);
            played(&mut ledger, now, worker, lease, &indices(lease));
            if burst > 10 {
                let left = 99_999.0 - 1_000.0 * f64::from(burst) - 250.0 * (place + 1) as f64;
                let game = ledger.work_seconds(1e9) / left;
                assert!(
                    (game / 0.0005 - 1.0).abs() < 0.1,
                    "{burst}, {place}: {game}"
                );
            }
        }
    }
}

#[test]
fn first_results_of_slow_games_do_not_ask_for_too_many_workers() {
    let mut ledger = ledger();
    running(&mut ledger, 1_000);
    let workers = [10, 10].map(|capacity| ledger.join(capacity));
    let mut leases: Vec<(WorkerId, Grant)> = Vec::new();
    for worker in workers {
        leases.extend((0..10).map(|_| (worker, take(&mut ledger, START, worker, 1))));
    }
    // All are finished after about a minute: 6 s of a worker for each.
    for (place, (worker, lease)) in leases.iter().enumerate() {
        let now = START + ms(50_000 + 1_000 * place as u64);
        played(&mut ledger, now, *worker, lease, &indices(lease));
        take(&mut ledger, now, *worker, 1);
        let game = ledger.work_seconds(1e9) / (999.0 - place as f64);
        assert!((3.0..12.0).contains(&game), "{place}: {game}");
    }
}

#[test]
fn tournaments_on_one_worker_are_measured_apart() {
    let mut ledger = ledger();
    let [fast, slow] = [100_000, 1_000].map(|games| running(&mut ledger, games));
    let worker = ledger.join(10);
    let now = START;
    let lease = |ledger: &mut Ledger, tournament, now| {
        let lease = ledger.grant(now, ask(worker, 5), |_, it| it == tournament);
        lease.expect("games are queued")
    };
    let long = lease(&mut ledger, slow, now);
    let mut end = now;
    // Five slots have fast games, of 0.1 s, and five have slow games, of 10 s.
    for _ in 0..100 {
        let short = lease(&mut ledger, fast, end);
        end += ms(100);
        played(&mut ledger, end, worker, &short, &indices(&short));
    }
    played(&mut ledger, end, worker, &long, &indices(&long));
    ledger.pause(fast);
    // Half of the worker for 10 s, for five games.
    let work = ledger.work_seconds(PER_WORKER) / 995.0;
    assert!((work - 1.0).abs() < 1e-6, "{work}");
    ledger.resume(fast);
    ledger.pause(slow);
    let work = ledger.work_seconds(PER_WORKER) / 99_500.0;
    assert!((work - 0.01).abs() < 1e-6, "{work}");
}

#[test]
fn idle_time_and_games_that_wait_on_a_worker_are_no_work() {
    let mut ledger = ledger();
    let [fast, slow] = [1_000, 1_000].map(|games| running(&mut ledger, games));
    let worker = ledger.join(10);
    let lease = |ledger: &mut Ledger, tournament, now, games| {
        let lease = ledger.grant(now, ask(worker, games), |_, it| it == tournament);
        lease.expect("games are queued")
    };
    let mut now = START;
    for _ in 0..2 {
        let short = lease(&mut ledger, fast, now, 10);
        now += ms(1_000);
        played(&mut ledger, now, worker, &short, &indices(&short));
        // Without games.
        now += ms(100_000);
    }
    let game = ledger.work_seconds(PER_WORKER) / 1_980.0;
    assert!(game < 0.1, "{game}");

    // The worker holds many fast games, and plays ten of them at most.
    let short = lease(&mut ledger, fast, now, 200);
    assert_eq!(short.games.len(), 200);
    let long = lease(&mut ledger, slow, now, 5);
    now += ms(9_000);
    played(&mut ledger, now, worker, &long, &indices(&long));
    ledger.pause(fast);
    let game = ledger.work_seconds(PER_WORKER) / 995.0;
    assert!(
        (game - 3.0 / 5.0).abs() < 1e-6,
        "a third of the time: {game}"
    );
}

#[test]
fn at_least_one_worker_is_needed_before_the_first_game_is_finished() {
    let mut ledger = ledger();
    assert!(!ledger.has_work());
    assert_eq!(workers(&ledger), 0.0);
    let tournament = running(&mut ledger, 1);
    assert!(ledger.has_work());
    assert_eq!(workers(&ledger), 1.0);
    let worker = ledger.join(10);
    let lease = take(&mut ledger, START, worker, 1);
    assert!(ledger.has_work());
    assert_eq!(workers(&ledger), 1.0, "a leased game needs its worker");
    ledger.pause(tournament);
    assert!(!ledger.has_work());
    assert_eq!(workers(&ledger), 0.0);
    ledger.resume(tournament);
    assert_eq!(workers(&ledger), 1.0);
    let lease = ledger
        .grant(START, ask(worker, 1), |_, _| true)
        .unwrap_or(lease);
    played(&mut ledger, START, worker, &lease, &[0]);
    assert!(!ledger.has_work(), "it is finished");
    assert_eq!(workers(&ledger), 0.0);
}

#[test]
fn no_more_workers_are_asked_for_than_can_play() {
    // Games of 1,000 s, one at a time.
    let mut ledger = ledger();
    running(&mut ledger, 5);
    let worker = ledger.join(1);
    let end = ms(1_000_000);
    let lease = take(&mut ledger, START, worker, 1);
    played(&mut ledger, end, worker, &lease, &[0]);
    assert_eq!(workers(&ledger), 4.0, "a worker for each game");

    // Ten at a time: what is leased is played where it is.
    let mut ledger = self::ledger();
    running(&mut ledger, 20);
    let wide = ledger.join(10);
    let lease = take(&mut ledger, START, wide, 10);
    played(&mut ledger, end, wide, &lease, &indices(&lease));
    assert_eq!(workers(&ledger), 10.0);
    for _ in 0..10 {
        take(&mut ledger, end, wide, 1);
    }
    assert_eq!(workers(&ledger), 1.0);
}
