//! One test for each promise of the protocol. The simulation tests all of them together.

mod reports;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// The games of one lease that the worker has.
#[derive(Default)]
struct Hand {
    lease: LeaseNo,
    games: usize,
    /// Whether no game of the lease can start.
    held: bool,
    /// Games that wait for an agent without time.
    sated: usize,
}

impl Playing for Hand {
    fn unfinished(&self) -> usize {
        self.games
    }

    fn is_done(&self) -> bool {
        self.games == 0
    }

    fn sated(&self) -> usize {
        self.sated
    }

    fn progress(&mut self) -> Vec<Progress> {
        let some = (self.games > 0).then_some(Progress {
            lease: self.lease,
            reported: 1,
            plies: 1,
            waits: self.held,
        });
        some.into_iter().collect()
    }
}

struct Worker {
    protocol: Protocol<u64>,
    hand: Hand,
}

impl Worker {
    fn new() -> Self {
        Self {
            protocol: Protocol::new(ProtocolSettings {
                capacity: 8,
                connect_timeout: SECOND * 30,
                drain_limit: SECOND * 10,
                seed: 7,
            }),
            hand: Hand::default(),
        }
    }

    /// A worker that has joined and has a lease.
    fn leased(games: usize) -> Self {
        let mut worker = Self::new();
        worker.join(Duration::ZERO);
        let Some(Action::Ask { call, .. }) = worker.next(Duration::ZERO) else {
            panic!("it asks for games");
        };
        let lease = worker
            .protocol
            .leased(call, 5, "cup", Vec::new())
            .expect("it waits");
        worker.hand = Hand {
            lease,
            games,
            held: false,
            sated: 0,
        };
        worker
    }

    /// Asks for more games and gets lease 6.
    fn leased_another(&mut self) -> LeaseNo {
        let ask = self.all(Duration::ZERO).into_iter();
        let call = ask.into_iter().find_map(|it| match it {
            Action::Ask { call, .. } => Some(call),
            _ => None,
        });
        let call = call.expect("it asks for more");
        self.protocol
            .leased(call, 6, "cup", Vec::new())
            .expect("it waits")
    }

    fn next(&mut self, now: Duration) -> Option<Action<u64>> {
        self.protocol.next(now, &mut self.hand)
    }

    /// All actions that are due now, up to the end.
    fn all(&mut self, now: Duration) -> Vec<Action<u64>> {
        let mut ended = false;
        std::iter::from_fn(|| {
            let action = (!ended).then(|| self.next(now)).flatten();
            ended = matches!(action, Some(Action::End(_)));
            action
        })
        .collect()
    }

    fn join(&mut self, now: Duration) {
        let stay = self.tries_to_join(now).expect("it tries to join");
        self.protocol
            .welcomed(stay, "w1".to_owned(), 9, Vec::new(), SECOND * 10);
    }

    fn tries_to_join(&mut self, now: Duration) -> Option<StayNo> {
        self.all(now).iter().find_map(|action| match action {
            Action::Join { stay, .. } => Some(*stay),
            _ => None,
        })
    }
}

#[test]
fn unreachable_coordinator_is_given_up() {
    let mut worker = Worker::new();
    let mut now = Duration::ZERO;
    let mut refusals = [Refusal::Busy { after: None }; 40]
        .into_iter()
        .chain(std::iter::repeat(Refusal::Failed));
    let ended = loop {
        match worker.next(now) {
            Some(Action::Join { stay, .. }) => {
                let refusal = refusals.next().expect("endless");
                worker.protocol.parted(now, stay, refusal, "refused");
            }
            Some(Action::End(ending)) => break ending,
            Some(_) => {}
            None => now = worker.protocol.wake(now).expect("it tries again"),
        }
    };
    let Ending::Unreachable { waited, last } = ended else {
        panic!("{ended:?}");
    };
    assert!(waited <= SECOND * 30 && waited > SECOND * 28, "{waited:?}");
    assert!(now > SECOND * 100, "busy is not out of reach: {now:?}");
    assert_eq!(last, "refused");
}

#[test]
fn worker_that_loses_access_ends() {
    let mut worker = Worker::new();
    worker.join(Duration::ZERO);
    let stay = worker.protocol.presence.stay().map(|stay| stay.number);
    let stay = stay.expect("it has joined");
    let refusal = Refusal::NoAccess;
    worker.protocol.parted(SECOND, stay, refusal, "revoked");
    let end = worker.all(SECOND).pop();
    let Some(Action::End(Ending::NoAccess { problem })) = end else {
        panic!("{end:?}");
    };
    assert_eq!(problem, "revoked");
}

#[test]
fn first_access_is_awaited() {
    let mut worker = Worker::new();
    let mut now = Duration::ZERO;
    let ended = loop {
        match worker.next(now) {
            Some(Action::Join { stay, .. }) => {
                let refusal = Refusal::NoAccess;
                worker.protocol.parted(now, stay, refusal, "no token");
            }
            Some(Action::End(ending)) => break ending,
            Some(_) => {}
            None => now = worker.protocol.wake(now).expect("it tries again"),
        }
    };
    assert!(matches!(ended, Ending::NoAccess { .. }), "{ended:?}");
    assert!(now > SECOND * 20 && now <= SECOND * 30, "{now:?}");
}

#[test]
fn lost_coordinator_is_awaited() {
    let mut worker = Worker::new();
    worker.join(Duration::ZERO);
    let Some(Stay { number, .. }) = worker.protocol.presence.stay().map(|stay| (**stay).clone())
    else {
        panic!("it has joined");
    };
    let mut now = SECOND;
    let gone = "it closed the connection";
    worker.protocol.parted(now, number, Refusal::Failed, gone);
    while now < SECOND * 100_000 {
        match worker.next(now) {
            Some(Action::Join { stay, timeout }) => {
                assert!(timeout > SECOND, "there is time for an answer");
                worker.protocol.parted(now, stay, Refusal::Failed, gone);
            }
            Some(Action::End(ending)) => panic!("{ending:?} at {now:?}"),
            Some(_) => {}
            None => now = worker.protocol.wake(now).expect("it tries again"),
        }
    }
    worker.join(now + SECOND * 60);
    assert!(worker.protocol.joined());
}

#[test]
fn busy_coordinator_gets_no_early_report() {
    let mut worker = Worker::leased(0);
    let lease = worker.hand.lease;
    worker.protocol.finished(Duration::ZERO, lease, 1, 100);
    let Some(Action::Report { report, games, .. }) = worker.next(Duration::ZERO) else {
        panic!("it reports");
    };
    assert_eq!(games, [1]);
    let after = Some(SECOND * 2);
    let busy = Refusal::Busy { after };
    let fate = worker.protocol.not_reported(Duration::ZERO, report, busy);
    assert_eq!(fate, RefusedReport::Again);
    worker.protocol.finished(Duration::ZERO, lease, 2, 100);
    let reports = |worker: &mut Worker, now| {
        let actions = worker.all(now);
        let is_report =
            |it: &&Action<u64>| matches!(it, Action::Report { .. } | Action::ReportAgain { .. });
        actions.iter().filter(is_report).count()
    };
    assert_eq!(reports(&mut worker, SECOND * 2), 0);
    assert_eq!(reports(&mut worker, SECOND * 3), 2);
}

#[test]
fn refused_results_keep_their_lease() {
    // 12 s are longer than a lease may be without progress.
    for after in [None, Some(SECOND * 12)] {
        let mut worker = Worker::leased(1);
        let lease = worker.hand.lease;
        worker.protocol.finished(Duration::ZERO, lease, 1, 100);
        worker.hand.games = 0;
        let (report, shown) = beats_while_refused(&mut worker, after);
        assert_grows(&shown, 5);
        worker.protocol.reported(report);
        let after = worker.all(SECOND * 40).into_iter().find_map(|it| match it {
            Action::Beat { leases, .. } => Some(leases),
            _ => None,
        });
        assert_eq!(after, Some(Vec::new()), "over once it is answered");
    }
}

#[test]
fn waiting_lease_is_reported_too() {
    let mut worker = Worker::leased(1);
    let first = worker.hand.lease;
    worker.protocol.finished(Duration::ZERO, first, 1, 100);
    worker.hand.games = 0;
    let lease = worker.leased_another();
    // No game of this lease can start, so it makes no progress.
    worker.hand = Hand {
        lease,
        games: 8,
        held: true,
        sated: 0,
    };
    worker.protocol.finished(Duration::ZERO, first, 2, 100);
    let (_, reported) = beats_while_refused(&mut worker, Some(SECOND * 12));
    assert_grows(&reported, 5);
    assert_grows(&reported, 6);
}

#[test]
fn refused_results_keep_no_other_lease() {
    let mut worker = Worker::leased(1);
    let first = worker.hand.lease;
    let lease = worker.leased_another();
    worker.hand = Hand {
        lease,
        games: 1,
        held: false,
        sated: 0,
    };
    worker.protocol.finished(Duration::ZERO, first, 1, 100);
    let (_, shown) = beats_while_refused(&mut worker, Some(SECOND * 12));
    assert_grows(&shown, 5);
    let hangs = shown.iter().flatten().filter(|(id, _)| *id == 6);
    let plies: Vec<u64> = hangs.map(|it| it.1).collect();
    assert!(plies.len() > 20, "reported at each beat: {shown:?}");
    assert!(plies.iter().all(|it| *it == 1), "{plies:?}");
}

/// Refuses every report for half a minute. Returns one of the reports, and the leases of
/// each heartbeat.
fn beats_while_refused(
    worker: &mut Worker,
    after: Option<Duration>,
) -> (ReportNo, Vec<Vec<(u64, u64)>>) {
    let mut report = None;
    let mut reported = Vec::new();
    for second in 0..30 {
        let now = SECOND * second;
        for action in worker.all(now) {
            match action {
                Action::Report { report: number, .. } => report = Some(number),
                Action::ReportAgain { .. } => {}
                Action::Beat { leases, .. } => {
                    reported.push(leases);
                    continue;
                }
                _ => continue,
            }
            if let Some(report) = report {
                let busy = Refusal::Busy { after };
                worker.protocol.not_reported(now, report, busy);
            }
        }
    }
    (report.expect("it reports"), reported)
}

/// Checks that a lease reports progress at least every ten seconds.
fn assert_grows(reported: &[Vec<(u64, u64)>], lease_id: u64) {
    let of_lease = |beat: &Vec<(u64, u64)>| beat.iter().find(|(id, _)| *id == lease_id).copied();
    let plies: Vec<u64> = reported
        .iter()
        .filter_map(of_lease)
        .map(|it| it.1)
        .collect();
    assert!(plies.len() > 20, "reported at each beat: {reported:?}");
    let grows = plies.windows(10).all(|ten| ten[9] > ten[0]);
    assert!(grows, "a sign of life within the deadline: {plies:?}");
}

#[test]
fn unknown_worker_rejoins_and_continues() {
    let mut worker = Worker::leased(8);
    let now = SECOND * 2;
    let beat = worker.all(now).into_iter().find_map(|action| match action {
        Action::Beat { stay, leases, .. } => Some((stay, leases)),
        _ => None,
    });
    let (stay, leases) = beat.expect("it reports progress");
    assert_eq!(leases, [(5, 1)]);
    worker
        .protocol
        .not_beaten(now, stay.number, Refusal::UnknownWorker);
    let actions = worker.all(now);
    let left = |it: &Action<u64>| matches!(it, Action::Leave(number) if *number == stay.number);
    assert!(actions.iter().any(left), "{actions:?}");
    assert!(
        actions.iter().any(|it| matches!(it, Action::DropWaiting)),
        "{actions:?}"
    );
    worker.join(now + SECOND);
    // The game is reported under its own lease and is no progress of the new stay.
    let lease = worker.hand.lease;
    worker.protocol.finished(now + SECOND, lease, 3, 100);
    let actions = worker.all(now + SECOND * 3);
    let reported = actions.iter().any(|action| match action {
        Action::Report { lease, .. } => lease.lease_id == 5 && lease.stay == stay,
        _ => false,
    });
    assert!(reported, "{actions:?}");
    let silent = |it: &Action<u64>| matches!(it, Action::Beat { leases, .. } if leases.is_empty());
    assert!(actions.iter().any(silent), "{actions:?}");
}

#[test]
fn late_lease_is_not_played() {
    let mut worker = Worker::new();
    worker.join(Duration::ZERO);
    let Some(Action::Ask { call, stay, .. }) = worker.next(Duration::ZERO) else {
        panic!("it asks for games");
    };
    worker
        .protocol
        .parted(Duration::ZERO, stay.number, Refusal::Failed, "lost");
    assert_eq!(worker.protocol.leased(call, 5, "cup", Vec::new()), None);
}

#[test]
fn drain_waits_for_results_with_a_limit() {
    let mut worker = Worker::leased(1);
    worker.protocol.drain(SECOND);
    assert!(worker.protocol.holds());
    let ends = |worker: &mut Worker, now| {
        let actions = worker.all(now);
        actions
            .iter()
            .any(|it| matches!(it, Action::End(Ending::Drained)))
    };
    assert!(!ends(&mut worker, SECOND));
    worker.protocol.finished(SECOND, worker.hand.lease, 1, 100);
    worker.hand.games = 0;
    assert!(!ends(&mut worker, SECOND * 2), "its result is on the way");
    assert!(!ends(&mut worker, SECOND * 11), "it takes its leave");
    assert!(ends(&mut worker, SECOND * 12), "but not for ever");
}

#[test]
fn stopping_worker_leaves_once() {
    let mut worker = Worker::leased(0);
    worker.protocol.drain(SECOND);
    let actions = worker.all(SECOND);
    let leaves = |it: &&Action<u64>| matches!(it, Action::TakeLeave { .. });
    assert_eq!(actions.iter().filter(leaves).count(), 1);
    assert!(worker.all(SECOND).is_empty(), "it waits for the answer");
    assert!(worker.protocol.wake(SECOND).is_some_and(|at| at > SECOND));
    worker.protocol.took_leave(SECOND);
    assert!(matches!(
        worker.all(SECOND)[..],
        [Action::End(Ending::Drained)]
    ));
}

#[test]
fn leaving_worker_ends_despite_clock() {
    let mut worker = Worker::leased(8);
    worker.protocol.drain(SECOND);
    let late = worker.all(SECOND * 11);
    assert!(
        late.iter().any(|it| matches!(it, Action::TakeLeave { .. })),
        "{late:?}"
    );
    // The clock is before the time at which the worker stops waiting for games.
    assert!(worker.protocol.takes_leave());
    worker.protocol.took_leave(SECOND * 5);
    let ended = worker.all(SECOND * 5);
    assert!(
        matches!(ended[..], [Action::End(Ending::Drained)]),
        "{ended:?}"
    );
}

#[test]
fn heartbeat_names_settled_calls() {
    let mut worker = Worker::leased(1);
    let beat = |worker: &mut Worker, now| {
        let actions = worker.all(now);
        actions.into_iter().find_map(|action| match action {
            Action::Beat {
                leases, settled, ..
            } => Some((leases.len(), settled)),
            _ => None,
        })
    };
    // The worker asks for more games at once; that request is not settled.
    assert_eq!(beat(&mut worker, SECOND), Some((1, 1)));
    worker.protocol.nothing_leased(2);
    assert_eq!(beat(&mut worker, SECOND * 2), Some((1, 2)));
    worker.protocol.not_leased(SECOND * 2, 3, Refusal::Failed);
    assert_eq!(beat(&mut worker, SECOND * 3), Some((1, 3)), "it is lost");
}

#[test]
fn sated_games_take_no_room() {
    // Two leases of eight games are the most.
    let mut full = Worker::leased(16);
    let asks = |worker: &mut Worker| {
        let next = std::iter::from_fn(|| worker.next(SECOND)).take(8);
        next.into_iter().find_map(|action| match action {
            Action::Ask { wait, .. } => Some(wait),
            _ => None,
        })
    };
    assert_eq!(asks(&mut full), None);
    full.hand.sated = 13;
    assert_eq!(asks(&mut full), Some(SATED_WAIT));
}
