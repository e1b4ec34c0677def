//! Tournaments and leases, as all drivers of a worker see them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use arena_telemetry::WorkerMetrics;

use crate::{
    agent::FaultReport,
    context::TournamentContext,
    lock,
    native::{NativeRunner, PlyCounter, PoolJob},
};

/// Minimum time between two drivers that start to play a tournament: each of them starts agents.
const NEXT_DRIVER: Duration = Duration::from_millis(100);

/// Agents of a lease that are given up, with the fault that they are charged with.
pub(crate) type GivenUp = Arc<BTreeMap<u16, FaultReport>>;

/// A tournament, as all drivers see it.
pub(super) struct SharedTournament {
    /// Its number among those of this worker.
    pub(super) number: u64,
    context: Arc<TournamentContext>,
    runner: Arc<NativeRunner>,
    /// The drivers that may play it, in the order in which they start to.
    drivers: Vec<usize>,
    /// How many of them play it, and since when.
    active: AtomicUsize,
    grown: Mutex<Instant>,
    /// Games in play whose questions are asked one after another.
    playing: AtomicUsize,
    /// Decisions since the last report.
    decisions: AtomicU64,
}

impl SharedTournament {
    pub(super) fn new(
        number: u64,
        context: TournamentContext,
        metrics: &Arc<WorkerMetrics>,
        drivers: Vec<usize>,
    ) -> Self {
        let context = Arc::new(context);
        Self {
            number,
            runner: NativeRunner::new(number, context.clone(), metrics.clone()),
            context,
            drivers,
            active: AtomicUsize::new(1),
            grown: Mutex::new(Instant::now()),
            playing: AtomicUsize::new(0),
            decisions: AtomicU64::new(0),
        }
    }

    pub(super) fn context(&self) -> &Arc<TournamentContext> {
        &self.context
    }

    /// Plays whole games among its built-in agents.
    pub(super) fn runner(&self) -> &Arc<NativeRunner> {
        &self.runner
    }

    fn active(&self) -> &[usize] {
        let active = self.active.load(Ordering::Relaxed);
        &self.drivers[..active.min(self.drivers.len())]
    }

    /// Number of drivers that play it.
    pub(super) fn active_count(&self) -> usize {
        self.active().len()
    }

    /// The drivers that play it, one bit for each.
    pub(super) fn active_drivers(&self) -> u64 {
        self.active().iter().map(|driver| 1 << driver).sum()
    }

    /// True if a driver plays it.
    pub(super) fn is_active(&self, driver: usize) -> bool {
        self.active().contains(&driver)
    }

    /// Number of drivers that may play it, and the place of a driver among them.
    pub(super) fn place(&self, driver: usize) -> (usize, usize) {
        let place = self.drivers.iter().position(|&it| it == driver);
        (place.unwrap_or_default(), self.drivers.len())
    }

    /// One more driver plays it, if it may and the last one did not start a moment ago. Returns
    /// the driver.
    pub(super) fn add_driver(&self) -> Option<usize> {
        let mut grown = lock(&self.grown);
        let &next = self.drivers.get(self.active_count())?;
        if grown.elapsed() < NEXT_DRIVER {
            return None;
        }
        *grown = Instant::now();
        self.active.fetch_add(1, Ordering::Relaxed);
        Some(next)
    }

    /// Games in play whose questions are asked one after another.
    pub(super) fn playing(&self) -> usize {
        self.playing.load(Ordering::Relaxed)
    }

    pub(super) fn count_playing(&self) {
        self.playing.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_played(&self) {
        self.playing.fetch_sub(1, Ordering::Relaxed);
    }

    /// Games in the pool.
    pub(super) fn pooled(&self) -> usize {
        self.runner.pooled()
    }

    /// This many decisions were made.
    pub(super) fn count_decisions(&self, count: u64) {
        if count > 0 {
            self.decisions.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Decisions since the last call.
    pub(super) fn take_decisions(&self) -> u64 {
        self.decisions.swap(0, Ordering::Relaxed)
    }
}

/// The games of a lease.
pub(super) struct LeasedGames {
    pub(super) number: u64,
    pub(super) tournament: Arc<SharedTournament>,
    pub(super) job: PoolJob,
    pub(super) given_up: GivenUp,
    /// Plies of its games on each driver: each counts on cache lines of its own.
    played: Vec<PlyCounter>,
    /// Plies of its games in the pool.
    pooled: Mutex<Vec<Arc<PlyCounter>>>,
    /// Progress of its open questions on each driver, at the last look; none if nothing works on
    /// them.
    attended: Mutex<Vec<Option<u64>>>,
}

impl LeasedGames {
    pub(super) fn new(
        number: u64,
        tournament: Arc<SharedTournament>,
        drivers: usize,
        given_up: GivenUp,
    ) -> Self {
        let job = PoolJob {
            lease: number,
            plies: Arc::default(),
            unwanted: Arc::new(AtomicBool::new(false)),
        };
        Self {
            number,
            tournament,
            job,
            given_up,
            played: (0..drivers).map(|_| PlyCounter::default()).collect(),
            pooled: Mutex::default(),
            attended: Mutex::new(vec![None; drivers]),
        }
    }

    /// True if its games are not wanted any more.
    pub(super) fn is_unwanted(&self) -> bool {
        self.job.unwanted.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self) {
        self.job.unwanted.store(true, Ordering::Relaxed);
    }

    /// A driver played a ply.
    #[inline]
    pub(super) fn count_ply(&self, driver: usize) {
        self.played[driver].count_alone();
    }

    pub(super) fn add_pooled(&self, counters: Vec<Arc<PlyCounter>>) {
        lock(&self.pooled).extend(counters);
    }

    /// Its plies, and whether a thread of the pool plays one of its games.
    pub(super) fn plies(&self) -> (u64, bool) {
        let pooled = lock(&self.pooled);
        let plies: u64 = pooled.iter().map(|plies| plies.get()).sum();
        let at_work = pooled.iter().any(|plies| plies.is_at_work());
        let played: u64 = self.played.iter().map(PlyCounter::get).sum();
        (played + plies, at_work)
    }

    /// Stores the progress of its open questions on a driver.
    pub(super) fn set_attended(&self, driver: usize, attended: Option<u64>) {
        if let Some(entry) = lock(&self.attended).get_mut(driver) {
            *entry = attended;
        }
    }

    /// Progress of its open questions on all drivers.
    pub(super) fn attended(&self) -> Option<u64> {
        let attended = lock(&self.attended);
        attended.iter().flatten().copied().reduce(u64::wrapping_add)
    }
}
