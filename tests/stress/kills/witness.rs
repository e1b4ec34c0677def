//! A worker that does not play: it reports the known records of the games that it leases, and
//! remembers each acknowledged one.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arena_access::{Connection, Credentials};
use arena_wire::{
    AgentRng,
    v1::{
        self, coordinator_service_client::CoordinatorServiceClient, join_response::Notice,
        worker_service_client::WorkerServiceClient,
    },
};
use tokio::time::{sleep, timeout};
use tonic::Code;

use crate::stress::Broken;

const NAME: &str = "witness";
/// The largest number of games in a report.
const GAMES: u32 = 5;
/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Known records by tournament, in index order.
pub(in crate::stress) type Records = BTreeMap<String, Vec<v1::GameRecord>>;

/// An acknowledged game.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    hash: Vec<u8>,
    /// The worker and the start time, from the coordinator after the acknowledgement: another play
    /// of the game has another time.
    played: Option<(String, u64)>,
    /// The time of the acknowledgement, by the system's clock in microseconds and by the witness's
    /// own. The durable play cannot have begun later.
    acknowledged: (u64, u64),
}

impl Kept {
    /// Whether the durable game may be the acknowledged play.
    fn is(&self, durable: &Play) -> bool {
        let begun_before = match durable.played.0 == NAME {
            true => durable.played.1 <= self.acknowledged.1,
            false => durable.played.1 <= self.acknowledged.0,
        };
        let same = self.played.as_ref();
        self.hash == durable.hash && same.map_or(begun_before, |same| *same == durable.played)
    }
}

/// A durable game: its hash, its worker, and its time.
#[derive(Clone, Debug, PartialEq)]
struct Play {
    hash: Vec<u8>,
    played: (String, u64),
}

#[derive(Default)]
struct Shared {
    records: Mutex<Records>,
    acknowledged: Mutex<BTreeMap<(String, u64), Kept>>,
    finished: Mutex<BTreeSet<String>>,
    /// An acknowledged game is missing.
    lost: Mutex<Option<String>>,
    /// The number of acknowledged games after which it stops reporting.
    most: AtomicUsize,
    stop: AtomicBool,
}

/// The worker, on its own thread.
pub(in crate::stress) struct Witness {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Witness {
    /// Joins the coordinator at `url`, again after each disconnection.
    pub(in crate::stress) fn start(url: &str, seed: u64) -> Self {
        let shared = Arc::new(Shared {
            most: AtomicUsize::new(usize::MAX),
            ..Shared::default()
        });
        let stay = Stay {
            url: url.to_owned(),
            shared: Arc::clone(&shared),
            rng: AgentRng::new(seed),
            unanswered: None,
            clock: 0,
        };
        let watch = watch(url.to_owned(), Arc::clone(&shared));
        let thread = thread::spawn(move || {
            runtime().block_on(async { tokio::join!(stay.stay(), watch) });
        });
        Self {
            shared,
            thread: Some(thread),
        }
    }

    /// Adds the games of a tournament.
    pub(in crate::stress) fn learn(&self, records: Records) {
        lock(&self.shared.records).extend(records);
    }

    /// Stops reporting after this number of acknowledged games, until there is another limit.
    pub(in crate::stress) fn pause_at(&self, games: usize) {
        self.shared.most.store(games, Ordering::Relaxed);
    }

    /// The number of acknowledged games.
    pub(in crate::stress) fn acknowledged(&self) -> usize {
        lock(&self.shared.acknowledged).len()
    }

    /// Whether a known tournament was finished at the last successful request.
    pub(in crate::stress) fn finished(&self, tournament: &str) -> bool {
        lock(&self.shared.finished).contains(tournament)
    }

    /// Ends the thread.
    pub(in crate::stress) fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the witness does not panic");
        }
    }

    /// Compares the coordinator's games of a tournament with the games that were acknowledged
    /// before the request. Returns how many of them are known to be the acknowledged play.
    pub(in crate::stress) fn compare(&self, tournament: &str, url: &str) -> Result<u64, Broken> {
        // Games that are acknowledged from now on may be missing in the list.
        let acknowledged = lock(&self.shared.acknowledged).clone();
        let games = games(url, tournament);
        if let Some(lost) = &*lock(&self.shared.lost) {
            return Err(Broken::new(lost));
        }
        let durable: BTreeMap<u64, Play> = games
            .iter()
            .filter_map(|game| Some((game.record.as_ref()?.index, play(game)?)))
            .collect();
        let mut same = 0;
        for ((of, index), reported) in &acknowledged {
            if of != tournament {
                continue;
            }
            let Some(kept) = durable.get(index) else {
                return Err(Broken::new(format_args!(
                    "{tournament}/{index} was acknowledged, but is missing"
                )));
            };
            if !reported.is(kept) {
                return Err(Broken::new(format_args!(
                    "{tournament}/{index} was acknowledged as {reported:?}, but is now {kept:?}"
                )));
            }
            same += u64::from(reported.played.is_some());
        }
        Ok(same)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

fn play(game: &v1::GameReport) -> Option<Play> {
    let timing = game.timing.as_ref();
    let played = timing.map(|timing| (timing.worker.clone(), timing.started_unix_us));
    Some(Play {
        hash: game.record.as_ref()?.hash.clone(),
        played: played.unwrap_or_default(),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

/// Requests all games of a tournament from a coordinator.
pub(in crate::stress) fn games(url: &str, tournament: &str) -> Vec<v1::GameReport> {
    runtime().block_on(async {
        let channel = Credentials::found().connect_lazy(url).expect("a URL");
        let mut client = CoordinatorServiceClient::new(channel);
        let mut games = Vec::new();
        let mut token = String::new();
        loop {
            let request = v1::ListGamesRequest {
                tournament_id: tournament.to_owned(),
                page_token: token,
                with_timing: true,
                ..Default::default()
            };
            let page = client.list_games(request).await.expect("games");
            let page = page.into_inner();
            games.extend(page.games);
            token = page.next_page_token;
            if token.is_empty() {
                return games;
            }
        }
    })
}

/// Checks which of the known tournaments have finished.
async fn watch(url: String, shared: Arc<Shared>) {
    let channel = Credentials::found().connect_lazy(&url).expect("a URL");
    let mut user = CoordinatorServiceClient::new(channel);
    while !shared.stop.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(30)).await;
        let known: Vec<String> = lock(&shared.records).keys().cloned().collect();
        for tournament_id in known {
            if lock(&shared.finished).contains(&tournament_id) {
                continue;
            }
            let request = v1::GetTournamentRequest {
                tournament_id: tournament_id.clone(),
            };
            // If the coordinator cannot be reached, nothing is known.
            if let Ok(Ok(answer)) = timeout(TIMEOUT, user.get_tournament(request)).await
                && let Some(tournament) = answer.into_inner().tournament
                && tournament.state() == v1::TournamentState::Finished
            {
                lock(&shared.finished).insert(tournament_id);
            }
        }
    }
}

struct Stay {
    url: String,
    shared: Arc<Shared>,
    rng: AgentRng,
    /// A report without an answer, which is sent again, as a worker does.
    unanswered: Option<v1::ReportRequest>,
    /// The clock that gives each play its own time.
    clock: u64,
}

type Lost = Box<dyn Error>;

impl Stay {
    async fn stay(mut self) {
        while !self.over() {
            // Every error means that the coordinator was lost.
            let _ = self.visit().await;
            sleep(Duration::from_millis(20)).await;
        }
    }

    fn over(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    fn pauses(&self) -> bool {
        lock(&self.shared.acknowledged).len() >= self.shared.most.load(Ordering::Relaxed)
    }

    /// Joins, and reports until the coordinator is lost.
    async fn visit(&mut self) -> Result<(), Lost> {
        let channel = Credentials::found().connect_lazy(&self.url)?;
        let mut worker = WorkerServiceClient::new(channel.clone());
        let mut user = CoordinatorServiceClient::new(channel);
        let join = v1::JoinRequest {
            name: NAME.to_owned(),
            capacity: GAMES,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rulesets: arena_games::rulesets()
                .iter()
                .map(|info| (info.name.to_owned(), info.version))
                .collect(),
            process: 0,
            record_version: arena_model::RECORD_VERSION,
            ..v1::JoinRequest::default()
        };
        let mut notices = timeout(TIMEOUT, worker.join(join)).await??.into_inner();
        let notice = timeout(TIMEOUT, notices.message()).await??;
        let Some(Notice::Welcome(welcome)) = notice.and_then(|message| message.notice) else {
            return Ok(());
        };
        if let Some(report) = self.unanswered.clone() {
            self.report(report, &mut worker, &mut user).await?;
        }
        while !self.over() {
            let request = v1::LeaseRequest {
                worker_id: welcome.worker_id.clone(),
                boot_epoch: welcome.boot_epoch,
                games: 8,
                wait_ms: 200,
                known_tournaments: Vec::new(),
                known_agents: Vec::new(),
                call: 0,
                session: welcome.session.clone(),
                sated_tournaments: Vec::new(),
            };
            let answer = timeout(TIMEOUT, worker.lease(request)).await??;
            let Some(lease) = answer.into_inner().lease else {
                continue;
            };
            let mut games = self.play(&lease);
            while !games.is_empty() && !self.over() {
                if self.pauses() {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
                let count = 1 + self.rng.below(GAMES) as usize;
                let rest = games.split_off(count.min(games.len()));
                let report = v1::ReportRequest {
                    worker_id: welcome.worker_id.clone(),
                    boot_epoch: welcome.boot_epoch,
                    tournament_id: lease.tournament_id.clone(),
                    lease_id: lease.lease_id,
                    games,
                    session: welcome.session.clone(),
                    ticket: lease.ticket.clone(),
                };
                self.unanswered = Some(report.clone());
                self.report(report.clone(), &mut worker, &mut user).await?;
                if self.rng.below(10) == 0 {
                    // A duplicate report changes nothing.
                    self.report(report, &mut worker, &mut user).await?;
                }
                games = rest;
                sleep(Duration::from_millis(u64::from(20 + self.rng.below(80)))).await;
            }
        }
        Ok(())
    }

    /// The records of leased games.
    fn play(&mut self, lease: &v1::Lease) -> Vec<v1::GameReport> {
        let records = lock(&self.shared.records);
        let Some(records) = records.get(&lease.tournament_id) else {
            return Vec::new();
        };
        let of = |game: &v1::GameAssignment| records.get(game.index as usize).cloned();
        let played = lease.games.iter().filter_map(of).map(|record| {
            self.clock += 1;
            v1::GameReport {
                record: Some(record),
                timing: Some(v1::GameTiming {
                    worker: NAME.to_owned(),
                    started_unix_us: self.clock,
                    ..Default::default()
                }),
                ..Default::default()
            }
        });
        played.collect()
    }

    async fn report(
        &mut self,
        report: v1::ReportRequest,
        worker: &mut WorkerServiceClient<Connection>,
        user: &mut CoordinatorServiceClient<Connection>,
    ) -> Result<(), Lost> {
        let _answer = timeout(TIMEOUT, worker.report(report.clone())).await??;
        self.unanswered = None;
        let keys: Vec<_> = report
            .games
            .into_iter()
            .filter_map(|game| game.record)
            .map(|record| ((report.tournament_id.clone(), record.index), record.hash))
            .collect();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
        let acknowledged = (u64::try_from(unix)?, self.clock);
        for (key, hash) in &keys {
            let kept = Kept {
                hash: hash.clone(),
                played: None,
                acknowledged,
            };
            lock(&self.shared.acknowledged)
                .entry(key.clone())
                .or_insert(kept);
        }
        for (key, _) in keys {
            let game_id = format!("{}/{}", key.0, key.1);
            let request = v1::GetGameRequest {
                game_id: game_id.clone(),
                ..Default::default()
            };
            let game = timeout(TIMEOUT, user.get_game(request)).await?;
            if let Err(status) = &game
                && status.code() == Code::NotFound
            {
                let lost = format!("{game_id} was acknowledged, but is missing: {status}");
                lock(&self.shared.lost).get_or_insert(lost);
            }
            let timing = game?.into_inner().timing.unwrap_or_default();
            if let Some(kept) = lock(&self.shared.acknowledged).get_mut(&key)
                && kept.played.is_none()
            {
                kept.played = Some((timing.worker, timing.started_unix_us));
            }
        }
        Ok(())
    }
}
