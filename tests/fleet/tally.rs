//! State that all workers of a fleet share: settings, books and counts.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_access::Connection;
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use tokio::sync::{Notify, watch};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::{Book, FleetError, Latencies, Measured, Process, Settings};

/// The limit for all workers to join.
const JOINING_MAX: Duration = Duration::from_secs(120);

pub(super) struct Tally {
    pub(super) settings: Settings,
    books: RefCell<BTreeMap<String, Arc<Book>>>,
    client: CoordinatorServiceClient<Connection>,
    /// Workers that joined for the first time.
    joined: Cell<usize>,
    another: Notify,
    pub(super) begun: watch::Sender<bool>,
    problem: RefCell<Option<FleetError>>,
    counts: RefCell<Counts>,
    drawn: Cell<u64>,
    started: Cell<Instant>,
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) lease_us: Vec<u32>,
    pub(super) leases_empty: u64,
    pub(super) report_us: Vec<u32>,
    pub(super) late_us: Vec<u32>,
    overdue: u64,
    busy: Duration,
    pub(super) heartbeat_us: Vec<u32>,
    pub(super) games: u64,
    pub(super) games_leased: u64,
    pub(super) leases_ended: u64,
    pub(super) retries: u64,
    pub(super) rejoins: u64,
    pub(super) rejected: BTreeMap<String, u64>,
    refusals: u64,
    refusals_with_hint: u64,
    acknowledged: BTreeMap<String, BTreeMap<u64, [u8; 32]>>,
}

impl Tally {
    pub(super) fn new(
        settings: Settings,
        books: BTreeMap<String, Arc<Book>>,
        connection: Connection,
    ) -> Self {
        Self {
            settings,
            books: RefCell::new(books),
            client: CoordinatorServiceClient::new(connection),
            joined: Cell::new(0),
            another: Notify::new(),
            begun: watch::Sender::new(false),
            problem: RefCell::default(),
            counts: RefCell::default(),
            drawn: Cell::new(0),
            started: Cell::new(Instant::now()),
        }
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.borrow_mut());
    }

    /// Counts a refusal, and returns the time to wait.
    pub(super) fn refused(&self, status: &Status) -> Option<Duration> {
        if status.code() != Code::ResourceExhausted {
            self.count(|counts| counts.retries += 1);
            return None;
        }
        let hint = status
            .get_details_retry_info()
            .and_then(|info| info.retry_delay);
        self.count(|counts| {
            counts.refusals += 1;
            counts.refusals_with_hint += u64::from(hint.is_some());
        });
        hint
    }

    pub(super) fn acknowledged(&self, tournament: &str, games: &[(u64, [u8; 32])], took: Duration) {
        let mut counts = self.counts.borrow_mut();
        counts.report_us.push(micros(took));
        counts.busy = self.started.get().elapsed();
        counts.games += games.len() as u64;
        if self.settings.remember {
            let known = counts
                .acknowledged
                .entry(tournament.to_owned())
                .or_default();
            known.extend(games.iter().copied());
        }
    }

    /// Counts reports that are due and not answered at the end.
    pub(super) fn overdue(&self, times: &[Duration]) {
        self.count(|counts| {
            counts.overdue += times.len() as u64;
            counts.report_us.extend(times.iter().copied().map(micros));
        });
    }

    /// Returns the book of a tournament. Requests an unknown tournament from the coordinator.
    pub(super) async fn book(&self, tournament: &str) -> Result<Arc<Book>, FleetError> {
        if let Some(book) = self.books.borrow().get(tournament) {
            return Ok(book.clone());
        }
        let request = v1::GetTournamentRequest {
            tournament_id: tournament.to_owned(),
        };
        let answer = self.client.clone().get_tournament(request).await?;
        let found = answer.into_inner().tournament.unwrap_or_default();
        let book = Arc::new(Book::new(&found)?);
        let mut books = self.books.borrow_mut();
        // Another worker may have added it in the meantime.
        Ok(books.entry(tournament.to_owned()).or_insert(book).clone())
    }

    /// Tournaments whose setup workers know.
    pub(super) fn known(&self) -> Vec<String> {
        self.books.borrow().keys().cloned().collect()
    }

    /// Returns a number from 0 to below 1, so that workers that were refused together do not retry
    /// together.
    pub(super) fn draw(&self) -> f64 {
        // Multiples of the golden ratio are spread evenly for any count.
        let next = self.drawn.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.drawn.set(next);
        (next >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn one_joined(&self) {
        self.joined.set(self.joined.get() + 1);
        self.another.notify_one();
    }

    pub(super) async fn all_joined(&self, workers: usize) -> Result<(), FleetError> {
        let started = Instant::now();
        while self.joined.get() < workers {
            let another = tokio::time::timeout(Duration::from_secs(1), self.another.notified());
            // The loop checks again after the event and after the timeout.
            let _ = another.await;
            if started.elapsed() > JOINING_MAX {
                return Err(FleetError::Late {
                    what: format!("{} of {workers} workers have joined", self.joined.get()),
                    waited: JOINING_MAX,
                });
            }
        }
        Ok(())
    }

    /// Lets the workers work, and resets all counts.
    pub(super) fn begin(&self) {
        self.counts.replace(Counts::default());
        self.started.set(Instant::now());
        self.begun.send_replace(true);
    }

    pub(super) fn fail(&self, error: FleetError) {
        self.problem.borrow_mut().get_or_insert(error);
    }

    pub(super) fn problem(&self) -> Result<(), FleetError> {
        self.problem.borrow_mut().take().map_or(Ok(()), Err)
    }

    pub(super) fn measured(
        &self,
        workers: usize,
        joining: Duration,
        seconds: f64,
        own_cpu: Duration,
        process: Option<Process>,
    ) -> Measured {
        let counts = self.counts.take();
        Measured {
            workers,
            joining,
            seconds,
            seconds_busy: counts.busy.as_secs_f64(),
            own_cpu,
            lease: Latencies::new(counts.lease_us),
            leases_empty: counts.leases_empty,
            report: Latencies::new(counts.report_us),
            overdue: counts.overdue,
            late: Latencies::new(counts.late_us),
            games: counts.games,
            games_leased: counts.games_leased,
            heartbeat: Latencies::new(counts.heartbeat_us),
            leases_ended: counts.leases_ended,
            refusals: counts.refusals,
            refusals_with_hint: counts.refusals_with_hint,
            retries: counts.retries,
            rejected: counts.rejected,
            rejoins: counts.rejoins,
            process,
            acknowledged: counts.acknowledged,
        }
    }
}

pub(super) fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}
