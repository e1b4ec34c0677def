//! Simulated workers. Each joins a coordinator over its own connection, leases games, sends
//! heartbeats and reports real records, but plays nothing. One thread drives all of them.
//!
//! ```no_run
//! use std::{sync::Arc, time::Duration};
//! use arena_tests::fleet::{Book, Fleet, Until, tournament};
//!
//! let (url, id) = ("http://127.0.0.1:7600", "cup-3f9a0c1b22");
//! let book = Arc::new(Book::new(&tournament(url, id)?)?);
//! book.prepare(100_000, 2)?;
//! let measured = Fleet::new(url)
//!     .workers(1_000)
//!     .book(book)
//!     .run(&Until::Elapsed(Duration::from_secs(10)))?;
//! println!("{:.0} games/s, a lease p99 {:?}", measured.games_per_s(), measured.lease.p99());
//! # Ok::<(), arena_tests::fleet::FleetError>(())
//! ```

mod flood;
mod games;
mod measured;
mod pace;
mod tally;
mod usage;
mod worker;

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arena_access::{Connection, CredentialFiles, Credentials, DialError};
use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use tokio::{runtime, task::LocalSet, time};
use tonic::{Status, transport::Endpoint};

pub use flood::{Silent, huge_report, stalled_reports, watch};
pub use games::{Book, Played};
pub use measured::{Latencies, Measured, Process};
pub use usage::Usage;

use tally::Tally;
use worker::Worker;

/// A cheap tournament of `blocks` blocks with two games each. A game takes microseconds, and its
/// record has a few dozen bytes.
#[must_use]
pub fn cheap_spec(name: &str, blocks: u64) -> String {
    let players =
        "[[agent]]\nname = \"a\"\nbot = \"random\"\n[[agent]]\nname = \"b\"\nbot = \"random\"";
    let options = "[options]\npits = 2\nstones = 2";
    let more = format!("{players}\n{options}");
    crate::spec(name, "kalah", blocks, &["a", "b"], &more)
}

/// Failures of the fleet itself. Answers of the coordinator are counted and are no errors.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The coordinator's address is invalid, or a request to it failed.
    #[error("cannot query the coordinator: {0}")]
    Coordinator(String),
    /// Simulated workers cannot play the tournament.
    #[error("simulated workers cannot play {tournament}: {why}")]
    Unplayable {
        /// The tournament's id.
        tournament: String,
        /// The reason.
        why: String,
    },
    /// A system call failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// A condition did not hold in time.
    #[error("after {waited:?}: {what}")]
    Late {
        /// The condition.
        what: String,
        /// How long the fleet waited.
        waited: Duration,
    },
}

impl From<Status> for FleetError {
    fn from(status: Status) -> Self {
        Self::Coordinator(format!("{:?}: {}", status.code(), status.message()))
    }
}

impl From<DialError> for FleetError {
    fn from(error: DialError) -> Self {
        Self::Coordinator(error.to_string())
    }
}

/// When a fleet ends.
#[derive(Clone, Debug)]
pub enum Until {
    /// After this time, counted from when all workers had joined.
    Elapsed(Duration),
    /// When the tournament is finished, or with an error after a limit.
    Finished {
        /// The tournament's id.
        tournament: String,
        /// The limit.
        limit: Duration,
    },
    /// When the flag is set.
    Flagged(Arc<AtomicBool>),
}

/// The configuration of a fleet.
#[derive(Clone, Debug)]
pub struct Fleet {
    url: String,
    tls_ca: Option<PathBuf>,
    workers: usize,
    settings: Settings,
    books: BTreeMap<String, Arc<Book>>,
    process: Option<u32>,
}

/// How each worker behaves.
#[derive(Clone, Debug)]
struct Settings {
    lease_games: u32,
    report_games: usize,
    reports_in_flight: usize,
    play_time: Duration,
    /// Time between two due reports of a worker.
    pace: Option<Duration>,
    obedient: bool,
    remember: bool,
}

impl Fleet {
    /// Ten workers without play time. Each leases 512 games and reports 100 at a time, one report
    /// after another.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            tls_ca: None,
            workers: 10,
            settings: Settings {
                lease_games: 512,
                report_games: 100,
                reports_in_flight: 1,
                play_time: Duration::ZERO,
                pace: None,
                obedient: true,
                remember: false,
            },
            books: BTreeMap::new(),
            process: None,
        }
    }

    /// Sets the authority of a coordinator with TLS.
    #[must_use]
    pub fn tls_ca(mut self, ca: PathBuf) -> Self {
        self.tls_ca = Some(ca);
        self
    }

    /// Sets the number of workers.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the number of games that a worker requests at a time, 8 to 512.
    #[must_use]
    pub fn lease_games(mut self, games: u32) -> Self {
        self.settings.lease_games = games;
        self
    }

    /// Sets the number of games in a report.
    #[must_use]
    pub fn report_games(mut self, games: usize) -> Self {
        self.settings.report_games = games.max(1);
        self
    }

    /// Sets how many reports of a worker may wait for their answers.
    #[must_use]
    pub fn reports_in_flight(mut self, reports: usize) -> Self {
        self.settings.reports_in_flight = reports.max(1);
        self
    }

    /// Sets the simulated time to play the games of a lease.
    #[must_use]
    pub fn play_time(mut self, time: Duration) -> Self {
        self.settings.play_time = time;
        self
    }

    /// Sets how many reports of each worker are due per second, even if earlier reports have no
    /// answer yet. Times count from when a report was due.
    #[must_use]
    pub fn reports_per_second(mut self, reports: f64) -> Self {
        self.settings.pace = Some(Duration::from_secs_f64(1.0 / reports));
        self
    }

    /// Lets refused workers retry immediately and ignore the time to wait.
    #[must_use]
    pub fn rude(mut self) -> Self {
        self.settings.obedient = false;
        self
    }

    /// Keeps every acknowledged game with its hash.
    #[must_use]
    pub fn remember(mut self) -> Self {
        self.settings.remember = true;
        self
    }

    /// Adds games that are already played.
    ///
    /// Other tournaments get a book when they are first leased.
    #[must_use]
    pub fn book(mut self, book: Arc<Book>) -> Self {
        self.books.insert(book.tournament().to_owned(), book);
        self
    }

    /// Measures CPU time and memory of the coordinator's process.
    #[must_use]
    pub fn process(mut self, id: u32) -> Self {
        self.process = Some(id);
        self
    }

    /// Runs the fleet on the calling thread.
    ///
    /// # Errors
    /// [`FleetError`] if the fleet cannot run. Refusals and lost connections are counted instead.
    pub fn run(self, until: &Until) -> Result<Measured, FleetError> {
        raise_file_limit();
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, self.drive(until))
    }

    async fn drive(self, until: &Until) -> Result<Measured, FleetError> {
        let files = CredentialFiles {
            ca: self.tls_ca,
            ..CredentialFiles::default()
        };
        let credentials = Credentials::of_files(&files)?;
        let endpoints = endpoints(&credentials, &self.url)?;
        let connection = credentials.dial_lazy(&endpoints);
        let tally = Rc::new(Tally::new(self.settings, self.books, connection.clone()));
        let joining = Instant::now();
        let workers: Vec<_> = (0..self.workers)
            .map(|number| {
                let connection = credentials.dial_lazy(&endpoints);
                Worker::start(number, connection, tally.clone())
            })
            .collect();
        tally.all_joined(self.workers).await?;
        let joining = joining.elapsed();
        let mut process = self.process.map(Process::joined).transpose()?;
        let own = own_cpu();
        tally.begin();
        let started = Instant::now();
        let ended = wait(until, started, connection, &tally, &mut process).await;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(process) = &mut process {
            process.end()?;
        }
        let own = own_cpu().saturating_sub(own);
        let now = Instant::now();
        for worker in &workers {
            tally.overdue(&worker.overdue(now));
        }
        drop(workers);
        ended?;
        Ok(tally.measured(self.workers, joining, seconds, own, process))
    }
}

/// Waits for the end, and samples the coordinator's process.
async fn wait(
    until: &Until,
    started: Instant,
    connection: Connection,
    tally: &Tally,
    process: &mut Option<Process>,
) -> Result<(), FleetError> {
    let mut tick = time::interval(Duration::from_millis(50));
    let mut client = CoordinatorServiceClient::new(connection);
    loop {
        tick.tick().await;
        if let Some(process) = process.as_mut() {
            process.sample();
        }
        tally.problem()?;
        match until {
            Until::Elapsed(time) if started.elapsed() >= *time => return Ok(()),
            Until::Flagged(reported) if reported.load(Ordering::Relaxed) => return Ok(()),
            Until::Elapsed(_) | Until::Flagged(_) => {}
            Until::Finished { tournament, limit } => {
                let request = v1::GetTournamentRequest {
                    tournament_id: tournament.clone(),
                };
                // The coordinator may be down for some time.
                let asked = client.get_tournament(request).await.ok();
                let state = asked
                    .and_then(|answer| answer.into_inner().tournament)
                    .map(|tournament| tournament.state());
                if state == Some(v1::TournamentState::Finished) {
                    return Ok(());
                }
                if started.elapsed() > *limit {
                    return Err(FleetError::Late {
                        what: format!("{tournament} is not finished"),
                        waited: *limit,
                    });
                }
            }
        }
    }
}

/// Requests a tournament from a coordinator.
///
/// # Errors
/// [`FleetError::Coordinator`].
pub fn tournament(url: &str, id: &str) -> Result<v1::Tournament, FleetError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut client = CoordinatorServiceClient::new(connection(url)?);
        let request = v1::GetTournamentRequest {
            tournament_id: id.to_owned(),
        };
        let answer = client.get_tournament(request).await?.into_inner();
        answer
            .tournament
            .ok_or_else(|| FleetError::Coordinator(format!("no tournament {id}")))
    })
}

/// A connection with the local coordinator's token.
fn connection(url: &str) -> Result<Connection, FleetError> {
    let credentials = Credentials::found();
    Ok(credentials.dial_lazy(&endpoints(&credentials, url)?))
}

/// Connects like a real worker.
fn endpoints(credentials: &Credentials, url: &str) -> Result<Vec<Endpoint>, FleetError> {
    let endpoints = credentials.endpoints(url)?.into_iter().map(|endpoint| {
        endpoint
            .connect_timeout(Duration::from_secs(30))
            .http2_keep_alive_interval(Duration::from_secs(5))
            .keep_alive_timeout(Duration::from_secs(30))
            .keep_alive_while_idle(true)
    });
    Ok(endpoints.collect())
}

/// Raises the limit of open files to its maximum: each worker needs one.
pub fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // If the system refuses, connections fail with an error.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// CPU time of the calling thread.
fn own_cpu() -> Duration {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(Duration::ZERO, |usage| {
        let time = |value: nix::sys::time::TimeVal| {
            Duration::from_secs(value.tv_sec().unsigned_abs())
                + Duration::from_micros(value.tv_usec().unsigned_abs())
        };
        time(usage.user_time()) + time(usage.system_time())
    })
}
