//! Counts of what happened: a failure that never occurs is not tested.

macro_rules! happenings {
    ($($name:ident: $text:literal),+ $(,)?) => {
        /// An event that a schedule may have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Happening { $($name),+ }

        impl Happening {
            pub(super) const ALL: &[Self] = &[$(Self::$name),+];

            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

happenings! {
    Drop: "messages dropped",
    Duplicate: "messages duplicated",
    Delay: "messages delayed for seconds",
    Reorder: "messages that overtook another",
    Partition: "partitions",
    HalfPartition: "partitions in one direction",
    Reset: "connections reset",
    CoordinatorForward: "clock of the coordinator jumped forward",
    CoordinatorBack: "clock of the coordinator jumped back",
    WorkerForward: "clock of a worker jumped forward",
    WorkerBack: "clock of a worker jumped back",
    CoordinatorCrash: "crashes of the coordinator",
    CrashInWrite: "crashes of the coordinator during a write",
    TornWrite: "writes of which a crash left a part",
    CrashInRequest: "crashes of the coordinator while a user waited",
    CoordinatorStop: "orderly restarts of the coordinator",
    WorkerCrash: "crashes of a worker",
    WorkerDrain: "orderly restarts of a worker",
    WorkerGaveUp: "workers that gave up an unreachable coordinator",
    DiskFull: "writes that found the disk full",
    SyncFailed: "failed fsyncs",
    SlowWrite: "writes that took seconds",
    Busy: "requests refused because of too much to do",
    Stuck: "workers stuck with a heartbeat",
    Expired: "leases revoked without progress",
    LostAnswer: "leases whose worker had stopped waiting",
    LateReport: "reports from before a restart of the coordinator",
    DuplicateReport: "reports of games that had a record",
    PendingReport: "reports of games on the way to the disk",
    UnwantedReport: "reports to a cancelled tournament",
    UnknownWorker: "calls of workers that were not known any more",
    FailedAttempt: "games that could not be played at first",
    Unready: "games whose agent did not start",
    Forfeit: "games whose agent was charged with that",
    BadHost: "workers at which every attempt fails",
    LackingHost: "workers at which an agent does not start",
    BesideUnsuited: "leases while a worker was there that cannot play the tournament",
    HostChange: "workers at which an agent starts no more, or does again",
    Missing: "leases revoked because the worker does not have them",
    Leave: "workers that left in order with games in hand",
    Poisoned: "workers killed by a game",
    Void: "games that were void",
    Refused: "results that were refused",
    Split: "reports cut in halves to find such a result",
    Audit: "leases of audits",
    Audited: "audits that agreed",
    AuditGivenUp: "audits given up",
    AuditAgain: "workers that left before their records were compared",
    LostComparison: "reports whose worker had left when they were compared",
    Stage: "stages that followed from the games before them",
    Pause: "tournaments paused",
    Resume: "tournaments resumed",
    Cancel: "tournaments cancelled",
    CancelInWrite: "tournaments cancelled with games on the way to the disk",
    Again: "tournaments started again",
    UserRetry: "users that had to ask again",
}

/// The count of each event.
#[derive(Clone)]
pub(super) struct Counts {
    pub(super) of: [u64; Happening::ALL.len()],
    pub(super) schedules: u64,
    pub(super) events: u64,
    pub(super) games: u64,
    pub(super) virtual_us: u64,
    /// Schedules in which the coordinator crashed during a write.
    pub(super) crashed_in_write: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            of: [0; Happening::ALL.len()],
            schedules: 0,
            events: 0,
            games: 0,
            virtual_us: 0,
            crashed_in_write: 0,
        }
    }
}

impl Counts {
    pub(super) fn add(&mut self, happening: Happening) {
        self.of[happening as usize] += 1;
    }

    pub(super) fn get(&self, happening: Happening) -> u64 {
        self.of[happening as usize]
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.of.iter_mut().zip(other.of) {
            *sum += more;
        }
        self.schedules += other.schedules;
        self.events += other.events;
        self.games += other.games;
        self.virtual_us += other.virtual_us;
        self.crashed_in_write += other.crashed_in_write;
    }
}
