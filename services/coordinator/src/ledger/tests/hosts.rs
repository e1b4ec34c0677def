//! Helpers of the tests with hosts that play, fail, or cannot start an agent.

use super::*;

impl Ledger {
    /// Adds a worker with a separate process.
    pub(super) fn join(&mut self, capacity: usize) -> WorkerId {
        self.join_as(WorkerProcess::Unknown, capacity)
    }
}

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const NO_AGENTS: [u16; 0] = [];

/// Leases one game to a worker.
pub(super) fn one(ledger: &mut Ledger, now: Duration, worker: WorkerId) -> Grant {
    let lease = ledger.grant(now, ask(worker, 1), |_, _| true);
    lease.expect("a lease")
}

/// Reports that an agent of a game did not start. Returns the number of the game's attempts.
pub(super) fn not_started(
    ledger: &mut Ledger,
    now: Duration,
    lease: &Grant,
    (index, agent): (u64, u16),
) -> Option<u32> {
    let unready = Some(agent);
    ledger.failed(
        now,
        lease.tournament,
        lease.lease,
        Failed { index, unready },
    )
}

/// Adds a worker of the process with this number.
pub(super) fn process(ledger: &mut Ledger, number: u64) -> WorkerId {
    ledger.join_as(WorkerProcess::Process(number), usize::MAX)
}

/// Sends a report of a connected worker about one lease.
pub(super) fn report<'a>(
    ledger: &mut Ledger,
    now: Duration,
    by: WorkerId,
    grant: &Grant,
    change: impl FnOnce(&mut ReportedGames<'a>),
) -> Taken {
    let mut report = ReportedGames {
        tournament: grant.tournament,
        by: Some(by),
        process: ledger.process(by, 1),
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

/// Reports all games of a lease as failed, or all as played.
pub(super) fn end(ledger: &mut Ledger, now: Duration, by: WorkerId, grant: &Grant, fails: bool) {
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

/// Agents that are given up in a lease granted at this time.
pub(super) fn given_up_at(ledger: &mut Ledger, now: Duration, worker: WorkerId) -> Vec<u16> {
    let lease = one(ledger, now, worker);
    end(ledger, now, worker, &lease, false);
    lease.given_up
}

/// Agents that are given up in a lease granted one second after the start.
pub(super) fn given_up(ledger: &mut Ledger, worker: WorkerId) -> Vec<u16> {
    given_up_at(ledger, START + SECOND, worker)
}

/// Reports that agent 3 did not start on a worker. Returns the number of the game's attempts.
pub(super) fn unready(ledger: &mut Ledger, worker: WorkerId) -> Option<u32> {
    let lease = one(ledger, START, worker);
    not_started(ledger, START, &lease, (lease.games[0].index, 3))
}

/// Reports a game that agent 3 played on a worker.
pub(super) fn ran(ledger: &mut Ledger, worker: WorkerId) {
    let lease = one(ledger, START, worker);
    let games = [(lease.games[0].index, [1; 32])];
    report(ledger, START, worker, &lease, |it| {
        (it.games, it.agents) = (&games, &[3]);
    });
}
