//! Simulated workers: each joins a coordinator over a connection of its own,
//! leases, heartbeats and reports true records, as real workers do, and plays
//! nothing meanwhile. One thread drives all of them.
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
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

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

/// A cheap tournament: its games take microseconds, its records are a few
/// dozen bytes. Of `blocks` blocks with two games each.
#[must_use]
pub fn cheap_spec(name: &str, blocks: u64) -> String {
    let players =
        "[[agent]]\nname = \"a\"\nbot = \"random\"\n[[agent]]\nname = \"b\"\nbot = \"random\"";
    let options = "[options]\npits = 2\nstones = 2";
    let more = format!("{players}\n{options}");
    crate::spec(name, "kalah", blocks, &["a", "b"], &more)
}

/// What can go wrong with a fleet itself; what the coordinator answers is
/// counted, not an error.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The coordinator's address is none, or a question to it failed.
    #[error("the coordinator cannot be asked: {0}")]
    Coordinator(String),
    /// A tournament that simulated workers cannot play.
    #[error("simulated workers cannot play {tournament}: {why}")]
    Unplayable {
        /// Its id.
        tournament: String,
        /// Why not.
        why: String,
    },
    /// Something of the system.
    #[error("{0}")]
    System(#[from] io::Error),
    /// What was waited for did not come.
    #[error("after {waited:?}: {what}")]
    Late {
        /// What was waited for.
        what: String,
        /// For how long.
        waited: Duration,
    },
}

impl From<Status> for FleetError {
    fn from(status: Status) -> Self {
        Self::Coordinator(format!("{:?}: {}", status.code(), status.message()))
    }
}

impl From<tonic::transport::Error> for FleetError {
    fn from(error: tonic::transport::Error) -> Self {
        Self::Coordinator(error.to_string())
    }
}

/// When a fleet ends.
#[derive(Clone, Debug)]
pub enum Until {
    /// After this long, counted from when all had joined.
    Elapsed(Duration),
    /// When the tournament is finished; too late after this long.
    Finished {
        /// Its id.
        tournament: String,
        /// The longest it may take.
        limit: Duration,
    },
    /// When somebody sets it.
    Flagged(Arc<AtomicBool>),
}

/// Simulated workers, to be configured and run.
#[derive(Clone, Debug)]
pub struct Fleet {
    url: String,
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
    /// From when a report is due to when the next is.
    pace: Option<Duration>,
    obedient: bool,
    remember: bool,
}

impl Fleet {
    /// Ten workers that ask for 512 games, report 100 at a time, one report
    /// after the other, and take no time to play.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
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

    /// How many workers.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// How many games each asks for at a time, 8 to 512.
    #[must_use]
    pub fn lease_games(mut self, games: u32) -> Self {
        self.settings.lease_games = games;
        self
    }

    /// How many games go into a report.
    #[must_use]
    pub fn report_games(mut self, games: usize) -> Self {
        self.settings.report_games = games.max(1);
        self
    }

    /// How many reports of a worker may wait for their answers.
    #[must_use]
    pub fn reports_in_flight(mut self, reports: usize) -> Self {
        self.settings.reports_in_flight = reports.max(1);
        self
    }

    /// How long each pretends to play the games of a lease.
    #[must_use]
    pub fn play_time(mut self, time: Duration) -> Self {
        self.settings.play_time = time;
        self
    }

    /// How many reports of each are due in a second, whether those before were
    /// answered in time or not. Times count from when a report was due.
    #[must_use]
    pub fn reports_per_second(mut self, reports: f64) -> Self {
        self.settings.pace = Some(Duration::from_secs_f64(1.0 / reports));
        self
    }

    /// Workers that come again at once, whatever they are reported.
    #[must_use]
    pub fn rude(mut self) -> Self {
        self.settings.obedient = false;
        self
    }

    /// Keeps every acknowledged game and its hash.
    #[must_use]
    pub fn remember(mut self) -> Self {
        self.settings.remember = true;
        self
    }

    /// Games that were played beforehand.
    ///
    /// Tournaments without a book get one when they are leased first.
    #[must_use]
    pub fn book(mut self, book: Arc<Book>) -> Self {
        self.books.insert(book.tournament().to_owned(), book);
        self
    }

    /// The coordinator's process: its CPU time and memory are measured.
    #[must_use]
    pub fn process(mut self, id: u32) -> Self {
        self.process = Some(id);
        self
    }

    /// Runs them on the calling thread.
    ///
    /// # Errors
    /// [`FleetError`] where it cannot be run; refusals and lost connections
    /// are what it is there to count.
    pub fn run(self, until: &Until) -> Result<Measured, FleetError> {
        raise_file_limit();
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        LocalSet::new().block_on(&runtime, self.drive(until))
    }

    async fn drive(self, until: &Until) -> Result<Measured, FleetError> {
        let endpoint = endpoint(&self.url)?;
        let tally = Rc::new(Tally::new(self.settings, self.books, &self.url)?);
        let joining = Instant::now();
        let workers: Vec<_> = (0..self.workers)
            .map(|number| Worker::start(number, endpoint.clone(), tally.clone()))
            .collect();
        tally.all_joined(self.workers).await?;
        let joining = joining.elapsed();
        let mut process = self.process.map(Process::joined).transpose()?;
        let own = own_cpu();
        tally.begin();
        let started = Instant::now();
        let ended = wait(until, started, &self.url, &tally, &mut process).await;
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

/// Waits for the end, and looks at the coordinator's process meanwhile.
async fn wait(
    until: &Until,
    started: Instant,
    url: &str,
    tally: &Tally,
    process: &mut Option<Process>,
) -> Result<(), FleetError> {
    let mut tick = time::interval(Duration::from_millis(50));
    let mut client = CoordinatorServiceClient::new(endpoint(url)?.connect_lazy());
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
                // The coordinator may be down for a while.
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

/// Asks a coordinator for a tournament.
///
/// # Errors
/// [`FleetError::Coordinator`].
pub fn tournament(url: &str, id: &str) -> Result<v1::Tournament, FleetError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut client = CoordinatorServiceClient::new(endpoint(url)?.connect().await?);
        let request = v1::GetTournamentRequest {
            tournament_id: id.to_owned(),
        };
        let answer = client.get_tournament(request).await?.into_inner();
        answer
            .tournament
            .ok_or_else(|| FleetError::Coordinator(format!("it has no {id}")))
    })
}

/// As a real worker connects.
fn endpoint(url: &str) -> Result<Endpoint, FleetError> {
    Ok(Endpoint::from_shared(url.to_owned())?
        .connect_timeout(Duration::from_secs(30))
        .http2_keep_alive_interval(Duration::from_secs(5))
        .keep_alive_timeout(Duration::from_secs(30))
        .keep_alive_while_idle(true))
}

/// Takes as many files as this process may have: each worker needs one.
pub fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Where it is refused, connections fail and say so.
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
