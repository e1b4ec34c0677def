//! What the protocol promises, one by one; the simulation tries it all at once.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// Games at hand: so many of one lease.
#[derive(Default)]
struct Hand {
    lease: LeaseNo,
    games: usize,
}

impl Playing for Hand {
    fn unfinished(&self) -> usize {
        self.games
    }

    fn is_done(&self) -> bool {
        self.games == 0
    }

    fn progress(&mut self) -> Vec<Progress> {
        let some = (self.games > 0).then_some(Progress {
            lease: self.lease,
            told: 1,
            plies: 1,
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
            protocol: Protocol::new(Settings {
                capacity: 8,
                connect_timeout: SECOND * 30,
                drain_limit: SECOND * 10,
                seed: 7,
            }),
            hand: Hand::default(),
        }
    }

    /// One that has joined and was lent games.
    fn lent(games: usize) -> Self {
        let mut worker = Self::new();
        worker.join(Duration::ZERO);
        let Some(Action::Ask { call, .. }) = worker.next(Duration::ZERO) else {
            panic!("it asks for games");
        };
        let lease = worker.protocol.lent(call, 5, "cup").expect("it waits");
        worker.hand = Hand { lease, games };
        worker
    }

    fn next(&mut self, now: Duration) -> Option<Action<u64>> {
        self.protocol.next(now, &mut self.hand)
    }

    /// All there is to do now, up to the end.
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
            .welcomed(stay, "w1".to_owned(), 9, SECOND * 10);
    }

    fn tries_to_join(&mut self, now: Duration) -> Option<StayNo> {
        self.all(now).iter().find_map(|action| match action {
            Action::Join { stay, .. } => Some(*stay),
            _ => None,
        })
    }
}

#[test]
fn a_coordinator_out_of_reach_is_given_up_and_a_busy_one_is_not() {
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
fn a_busy_coordinator_gets_no_report_before_it_wants_one() {
    let mut worker = Worker::lent(0);
    let lease = worker.hand.lease;
    worker.protocol.finished(Duration::ZERO, lease, 1);
    let Some(Action::Report { report, games, .. }) = worker.next(Duration::ZERO) else {
        panic!("it reports");
    };
    assert_eq!(games, [1]);
    let after = Some(SECOND * 2);
    let busy = Refusal::Busy { after };
    assert!(worker.protocol.not_reported(Duration::ZERO, report, busy));
    worker.protocol.finished(Duration::ZERO, lease, 2);
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
fn a_worker_that_is_not_known_any_more_joins_again_and_plays_on_what_began() {
    let mut worker = Worker::lent(8);
    let now = SECOND * 2;
    let beat = worker.all(now).into_iter().find_map(|action| match action {
        Action::Beat { stay, leases, .. } => Some((stay, leases)),
        _ => None,
    });
    let (stay, leases) = beat.expect("it tells of progress");
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
    // Reported under the lease it came from, and no progress of the new stay.
    worker.protocol.finished(now + SECOND, worker.hand.lease, 3);
    let actions = worker.all(now + SECOND * 3);
    let told = actions.iter().any(|action| match action {
        Action::Report { lease, .. } => lease.lease_id == 5 && lease.stay == stay,
        _ => false,
    });
    assert!(told, "{actions:?}");
    let silent = |it: &Action<u64>| matches!(it, Action::Beat { leases, .. } if leases.is_empty());
    assert!(actions.iter().any(silent), "{actions:?}");
}

#[test]
fn a_lease_that_comes_too_late_is_not_played() {
    let mut worker = Worker::new();
    worker.join(Duration::ZERO);
    let Some(Action::Ask { call, stay, .. }) = worker.next(Duration::ZERO) else {
        panic!("it asks for games");
    };
    worker
        .protocol
        .parted(Duration::ZERO, stay.number, Refusal::Failed, "lost");
    assert_eq!(worker.protocol.lent(call, 5, "cup"), None);
}

#[test]
fn a_drain_waits_for_results_to_be_durable_and_not_for_ever() {
    let mut worker = Worker::lent(1);
    worker.protocol.drain(SECOND);
    assert!(worker.protocol.holds());
    let ends = |worker: &mut Worker, now| {
        let actions = worker.all(now);
        actions
            .iter()
            .any(|it| matches!(it, Action::End(Ending::Drained)))
    };
    assert!(!ends(&mut worker, SECOND));
    worker.protocol.finished(SECOND, worker.hand.lease, 1);
    worker.hand.games = 0;
    assert!(!ends(&mut worker, SECOND * 2), "its result is on the way");
    assert!(ends(&mut worker, SECOND * 11), "but not for ever");
}
