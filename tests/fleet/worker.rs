//! One simulated worker.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::{Duration, Instant},
};

use arena_access::Connection;
use arena_wire::v1::{self, join_response::Notice, worker_service_client::WorkerServiceClient};
use prost::{Message, bytes::Bytes};
use tokio::{
    sync::{Semaphore, watch},
    task::{AbortHandle, JoinSet, spawn_local},
    time,
};
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;

use super::{
    Book, FleetError,
    pace::Pace,
    tally::{Tally, micros},
};

/// How long a request for games waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// The first pause after a failed call; it doubles up to a maximum.
const RETRY_FIRST: Duration = Duration::from_millis(10);
const RETRY_LAST: Duration = Duration::from_secs(1);
/// The pause of workers that ignore the time to wait.
const RETRY_RUDE: Duration = Duration::from_millis(2);
/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(30);

/// `arena.v1.ReportRequest` with encoded games: a message has the wire format of `bytes`.
#[derive(Clone, PartialEq, Message)]
struct RawReport {
    #[prost(string, tag = "1")]
    worker_id: String,
    #[prost(fixed64, tag = "2")]
    boot_epoch: u64,
    #[prost(string, tag = "3")]
    tournament_id: String,
    #[prost(uint64, tag = "4")]
    lease_id: u64,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    games: Vec<Bytes>,
    #[prost(bytes = "vec", tag = "6")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "7")]
    ticket: Vec<u8>,
}

/// A report, and the games and hashes in it.
struct Prepared {
    message: RawReport,
    hashes: Vec<(u64, [u8; 32])>,
}

impl Prepared {
    fn new(
        session: &Session,
        lease: &v1::Lease,
        book: &Book,
        games: &[v1::GameAssignment],
    ) -> Result<Self, FleetError> {
        let mut hashes = Vec::with_capacity(games.len());
        let mut reports = Vec::with_capacity(games.len());
        for game in games {
            let played = book.game(game.index)?;
            hashes.push((game.index, played.hash));
            reports.push(played.report.clone());
        }
        let message = RawReport {
            worker_id: session.worker_id.clone(),
            boot_epoch: session.boot_epoch,
            tournament_id: lease.tournament_id.clone(),
            lease_id: lease.lease_id,
            games: reports,
            session: session.secret.clone(),
            ticket: lease.ticket.clone(),
        };
        Ok(Self { message, hashes })
    }
}

/// A session with the coordinator.
#[derive(Clone, PartialEq)]
struct Session {
    worker_id: String,
    boot_epoch: u64,
    secret: Vec<u8>,
    heartbeat: Duration,
}

/// A simulated worker. Dropping it ends it.
pub(super) struct Worker {
    inner: Rc<Inner>,
    tasks: [AbortHandle; 2],
}

impl Drop for Worker {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Worker {
    pub(super) fn start(number: usize, channel: Connection, tally: Rc<Tally>) -> Self {
        let (sender, session) = watch::channel(None);
        let worker = Rc::new(Inner {
            number,
            channel,
            tally,
            session,
            progress: RefCell::default(),
            pace: OnceCell::new(),
        });
        let stay = spawn_local(worker.clone().stay(sender));
        let work = spawn_local(worker.clone().work());
        Self {
            inner: worker,
            tasks: [stay.abort_handle(), work.abort_handle()],
        }
    }

    /// How long unanswered reports have been due; none without a pace.
    pub(super) fn overdue(&self, now: Instant) -> Vec<Duration> {
        let pace = self.inner.pace.get();
        pace.map(|pace| pace.overdue(now)).unwrap_or_default()
    }
}

struct Inner {
    number: usize,
    channel: Connection,
    tally: Rc<Tally>,
    session: watch::Receiver<Option<Session>>,
    /// Reported plies by lease.
    progress: RefCell<BTreeMap<u64, u64>>,
    /// When its reports are due, if it has a pace.
    pace: OnceCell<Pace>,
}

impl Inner {
    fn client(&self) -> WorkerServiceClient<Connection> {
        WorkerServiceClient::new(self.channel.clone())
    }

    /// Joins, sends heartbeats, and joins again, until it is dropped.
    async fn stay(self: Rc<Self>, current: watch::Sender<Option<Session>>) {
        let mut first = true;
        let mut wait = RETRY_FIRST;
        loop {
            let ended = self.visit(&current, &mut first, &mut wait).await;
            current.send_replace(None);
            self.progress.borrow_mut().clear();
            let hint = match &ended {
                Ok(()) => None,
                Err(status) => self.tally.refused(status),
            };
            self.rest(&mut wait, hint).await;
            if !first {
                self.tally.count(|counts| counts.rejoins += 1);
            }
        }
    }

    /// One session, from joining to the end of the stream.
    async fn visit(
        &self,
        current: &watch::Sender<Option<Session>>,
        first: &mut bool,
        wait: &mut Duration,
    ) -> Result<(), Status> {
        let request = v1::JoinRequest {
            name: format!("simulated-{}", self.number),
            capacity: 512,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rulesets: arena_games::rulesets()
                .iter()
                .map(|info| (info.name.to_owned(), info.version))
                .collect(),
            process: 0,
            record_version: arena_model::RECORD_VERSION,
            ..v1::JoinRequest::default()
        };
        let mut notices = self.client().join(request).await?.into_inner();
        let mut beat = time::interval(Duration::from_secs(3600));
        let mut session = None;
        loop {
            tokio::select! {
                notice = notices.message() => match notice?.and_then(|one| one.notice) {
                    Some(Notice::Welcome(welcome)) => {
                        let deadline = Duration::from_millis(welcome.lease_deadline_ms.into());
                        let joined = Session {
                            worker_id: welcome.worker_id,
                            boot_epoch: welcome.boot_epoch,
                            secret: welcome.session,
                            heartbeat: (deadline / 5)
                                .clamp(Duration::from_millis(20), Duration::from_secs(1)),
                        };
                        beat = time::interval(joined.heartbeat);
                        beat.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
                        current.send_replace(Some(joined.clone()));
                        session = Some(joined);
                        *wait = RETRY_FIRST;
                        if std::mem::take(first) {
                            self.tally.one_joined();
                        }
                    }
                    Some(Notice::LeasesEnded(ended)) => self.ended(&ended.lease_ids),
                    Some(Notice::Drain(v1::Drain {})) => {}
                    None => return Ok(()),
                },
                _ = beat.tick() => if let Some(session) = &session {
                    self.beat(session).await;
                },
            }
        }
    }

    /// Reports the progress of its leases. Each advances by some plies, as if the worker had
    /// played.
    async fn beat(&self, session: &Session) {
        let leases: Vec<v1::LeaseProgress> = self
            .progress
            .borrow_mut()
            .iter_mut()
            .map(|(&lease_id, plies)| {
                *plies += 1;
                v1::LeaseProgress {
                    lease_id,
                    plies: *plies,
                }
            })
            .collect();
        let request = v1::HeartbeatRequest {
            worker_id: session.worker_id.clone(),
            boot_epoch: session.boot_epoch,
            leases,
            settled_calls: 0,
            decisions: Vec::new(),
            session: session.secret.clone(),
        };
        let asked = Instant::now();
        let mut client = self.client();
        let call = time::timeout(session.heartbeat * 10, client.heartbeat(request));
        match call.await {
            Ok(Ok(answer)) => {
                let took = micros(asked.elapsed());
                self.tally.count(|counts| counts.heartbeat_us.push(took));
                // A lease that was reported is over, too. Only notices name revoked leases.
                let mut progress = self.progress.borrow_mut();
                for ended in answer.into_inner().ended_leases {
                    progress.remove(&ended);
                }
            }
            Ok(Err(status)) => drop(self.tally.refused(&status)),
            Err(_) => self.tally.count(|counts| counts.retries += 1),
        }
    }

    fn ended(&self, leases: &[u64]) {
        let mut progress = self.progress.borrow_mut();
        let known = leases.iter().filter(|id| progress.remove(id).is_some());
        let known = known.count() as u64;
        self.tally.count(|counts| counts.leases_ended += known);
    }

    /// Leases and reports, until it is dropped.
    async fn work(self: Rc<Self>) {
        let mut begun = self.tally.begun.subscribe();
        // If the tally is gone, this task ends, too.
        let _ = begun.wait_for(|begun| *begun).await;
        if let Some(every) = self.tally.settings.pace {
            // Workers do not start at the same time.
            let first = Instant::now() + every.mul_f64(self.tally.draw());
            self.pace.get_or_init(|| Pace::new(first, every));
        }
        let mut wait = RETRY_FIRST;
        loop {
            match self.lease().await {
                Ok(lease) => {
                    wait = RETRY_FIRST;
                    if let Some((session, lease)) = lease
                        && let Err(error) = self.play(&session, lease).await
                    {
                        self.tally.fail(error);
                        return;
                    }
                }
                Err(status) => {
                    let hint = self.tally.refused(&status);
                    self.rest(&mut wait, hint).await;
                }
            }
        }
    }

    async fn lease(&self) -> Result<Option<(Session, v1::Lease)>, Status> {
        let mut sessions = self.session.clone();
        let session = sessions
            .wait_for(Option::is_some)
            .await
            .map_err(|_| Status::aborted("the worker ended"))?
            .clone()
            .ok_or_else(|| Status::aborted("the worker ended"))?;
        let request = v1::LeaseRequest {
            worker_id: session.worker_id.clone(),
            boot_epoch: session.boot_epoch,
            games: self.tally.settings.lease_games,
            wait_ms: LEASE_WAIT.as_millis() as u32,
            known_tournaments: self.tally.known(),
            known_agents: Vec::new(),
            call: 0,
            session: session.secret.clone(),
            sated_tournaments: Vec::new(),
        };
        let asked = Instant::now();
        let mut client = self.client();
        let call = time::timeout(TIMEOUT, client.lease(request));
        let answer = call
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))?;
        let lease = answer.into_inner().lease;
        self.tally.count(|counts| match &lease {
            Some(lease) => {
                counts.lease_us.push(micros(asked.elapsed()));
                counts.games_leased += lease.games.len() as u64;
            }
            None => counts.leases_empty += 1,
        });
        Ok(lease.map(|lease| (session, lease)))
    }

    /// Reports all games of a lease.
    async fn play(self: &Rc<Self>, session: &Session, lease: v1::Lease) -> Result<(), FleetError> {
        let book = self.tally.book(&lease.tournament_id).await?;
        let lease_id = lease.lease_id;
        self.progress.borrow_mut().insert(lease_id, 0);
        let settings = &self.tally.settings;
        if !settings.play_time.is_zero() {
            time::sleep(settings.play_time).await;
        }
        let places = Rc::new(Semaphore::new(settings.reports_in_flight));
        let mut reports = JoinSet::new();
        for games in lease.games.chunks(settings.report_games) {
            let message = Prepared::new(session, &lease, &book, games)?;
            let (worker, places) = (self.clone(), places.clone());
            reports.spawn_local(async move {
                // The semaphore is never closed.
                let _place = places.acquire().await;
                let due = worker.turn().await;
                worker.report(message, due).await;
                if let (Some(pace), Some(due)) = (worker.pace.get(), due) {
                    pace.answered(due);
                }
            });
        }
        while let Some(reported) = reports.join_next().await {
            reported.map_err(|error| FleetError::System(error.into()))?;
        }
        self.progress.borrow_mut().remove(&lease_id);
        Ok(())
    }

    /// Waits until its next report is due, if it has a pace.
    async fn turn(&self) -> Option<Instant> {
        let due = self.pace.get()?.take();
        time::sleep_until(due.into()).await;
        let late = micros(due.elapsed());
        self.tally.count(|counts| counts.late_us.push(late));
        Some(due)
    }

    /// Reports games until there is an answer, and measures the time: with a pace from when the
    /// report was due, else from sending it.
    async fn report(&self, report: Prepared, due: Option<Instant>) {
        let Prepared { message, hashes } = report;
        let mut wait = RETRY_FIRST;
        loop {
            let asked = Instant::now();
            let call = time::timeout(TIMEOUT, self.send(message.clone()));
            let answer = call
                .await
                .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
            let status = match answer {
                Ok(answer) => {
                    if !answer.differing.is_empty() {
                        let what = format!("differing {}", answer.differing.len());
                        self.tally
                            .count(|counts| *counts.rejected.entry(what).or_default() += 1);
                    }
                    let took = due.unwrap_or(asked).elapsed();
                    self.tally
                        .acknowledged(&message.tournament_id, &hashes, took);
                    return;
                }
                Err(status) => status,
            };
            let hint = self.tally.refused(&status);
            if matches!(
                status.code(),
                Code::NotFound | Code::InvalidArgument | Code::FailedPrecondition
            ) {
                let what = format!("{:?}: {}", status.code(), status.message());
                self.tally
                    .count(|counts| *counts.rejected.entry(what).or_default() += 1);
                return;
            }
            self.rest(&mut wait, hint).await;
        }
    }

    async fn send(&self, message: RawReport) -> Result<v1::ReportResponse, Status> {
        let mut client = Grpc::new(self.channel.clone());
        client
            .ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let path = PathAndQuery::from_static("/arena.v1.WorkerService/Report");
        let codec = ProstCodec::<RawReport, v1::ReportResponse>::default();
        let answer = client.unary(Request::new(message), path, codec).await?;
        Ok(answer.into_inner())
    }

    /// Pauses before the next attempt: longer each time, never less than the coordinator asks, and
    /// different for each worker.
    async fn rest(&self, wait: &mut Duration, hint: Option<Duration>) {
        if !self.tally.settings.obedient {
            time::sleep(RETRY_RUDE).await;
            return;
        }
        let jitter = wait.mul_f64(self.tally.draw());
        time::sleep(hint.unwrap_or_default() + *wait / 2 + jitter / 2).await;
        *wait = (*wait * 2).min(RETRY_LAST);
    }
}
