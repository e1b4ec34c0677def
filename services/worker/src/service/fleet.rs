//! The worker's loop: leases in, games played, reports out.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use arena_telemetry::WorkerMetrics;
use arena_wire::v1::{self, worker_service_client::WorkerServiceClient};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task, time,
};
use tonic::{Code, Response, Status, transport::Channel};

use super::{
    Options, WorkerError,
    reports::{self, LeaseName, Reports},
    session::{self, Session, Told},
};
use crate::{driver::Driver, environment::Environment, native::Pool};

/// The fewest and the most games of a lease.
const LEASE_GAMES: (usize, usize) = (8, 512);
/// How long a request for games waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// How much longer its answer may take.
const LEASE_SLACK: Duration = Duration::from_secs(5);
/// After a request for games that failed.
const LEASE_PAUSE: Duration = Duration::from_millis(200);
/// Agents of a tournament without games are ended after this.
const IDLE: Duration = Duration::from_secs(15);
/// Unanswered games for each place at which no game is begun any more.
const BACKLOG: usize = 16;

/// Leases of a stay that the coordinator does not have any more.
type Ended = (Rc<Session>, Vec<u64>);
type LeaseCall = Pin<Box<dyn Future<Output = Result<Response<v1::LeaseResponse>, Status>>>>;

pub(super) async fn play(
    options: Options,
    channel: Channel,
    environment: Environment,
    pool: Pool,
    metrics: Arc<WorkerMetrics>,
    joined: Arc<AtomicBool>,
    drains: oneshot::Receiver<()>,
) -> Result<(), WorkerError> {
    let capacity = options.capacity.max(1);
    let (current, sessions) = watch::channel(None);
    let (told, news) = mpsc::channel(64);
    let request = v1::JoinRequest {
        name: options.name.clone(),
        capacity: capacity.try_into().unwrap_or(u32::MAX),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rulesets: arena_games::rulesets()
            .iter()
            .map(|info| (info.name.to_owned(), info.version))
            .collect(),
    };
    let presence = session::stay(
        channel.clone(),
        request,
        options.connect_timeout,
        joined,
        current,
        told,
    );
    let presence = task::spawn_local(presence);
    let fleet = Fleet {
        name: options.name.clone(),
        capacity,
        driver: Driver::new(environment, pool, capacity),
        reports: Reports::new(channel.clone(), metrics),
        client: WorkerServiceClient::new(channel),
        sessions,
        news,
        session: None,
        leases: BTreeMap::new(),
        last: 0,
        setups: BTreeMap::new(),
        pause_until: Instant::now(),
        drain: None,
    };
    fleet.run(options, presence, drains).await
}

struct Fleet {
    name: String,
    capacity: usize,
    driver: Driver,
    reports: Reports,
    client: WorkerServiceClient<Channel>,
    sessions: watch::Receiver<Option<Rc<Session>>>,
    news: mpsc::Receiver<Told>,
    session: Option<Rc<Session>>,
    /// By the worker's own number: the coordinator's begin anew with each of
    /// its starts.
    leases: BTreeMap<u64, LeaseName>,
    last: u64,
    setups: BTreeMap<String, v1::TournamentSetup>,
    pause_until: Instant,
    /// When the drain has to be over.
    drain: Option<Instant>,
}

impl Fleet {
    async fn run(
        mut self,
        options: Options,
        mut presence: task::JoinHandle<(Duration, String)>,
        mut drains: oneshot::Receiver<()>,
    ) -> Result<(), WorkerError> {
        let mut lease: Option<LeaseCall> = None;
        let mut beat = Instant::now();
        let (ended_sender, mut ended) = mpsc::unbounded_channel::<Ended>();
        let outcome = loop {
            let draining = self.drain.is_some();
            if lease.is_none() && !draining && Instant::now() >= self.pause_until {
                lease = self.lease_call();
            }
            let tick = self.tick(beat);
            tokio::select! {
                () = self.driver.work() => {}
                Some(told) = self.news.recv() => self.hear(told),
                answer = async { lease.as_mut().expect("checked").await }, if lease.is_some() => {
                    lease = None;
                    self.take_lease(answer);
                }
                () = self.reports.changed() => {}
                Some((session, leases)) = ended.recv() => self.end_leases(&session, &leases),
                () = time::sleep_until(tick.into()) => {}
                drained = &mut drains, if !draining => {
                    if drained.is_ok() {
                        tracing::info!(games = self.driver.in_flight(), "draining");
                    }
                    self.drain = Some(Instant::now() + options.drain_limit);
                    self.driver.drop_waiting();
                    lease = None;
                }
                lost = &mut presence => {
                    let (waited, last) = lost.unwrap_or_default();
                    let url = options.coordinator.clone();
                    break Err(WorkerError::Unreachable { url, waited, last });
                }
            }
            // Before the beat, which forgets leases that are over.
            self.report();
            if let Some(session) = self.session.clone()
                && beat.elapsed() >= session.heartbeat
            {
                beat = Instant::now();
                self.beat(session, ended_sender.clone());
            }
            self.driver
                .hold(draining || self.reports.unanswered() > BACKLOG * self.capacity);
            self.driver.start();
            self.driver.forget_idle(IDLE);
            if let Some(limit) = self.drain {
                let over = self.driver.is_done() && self.reports.unanswered() == 0;
                let lost = self.sessions.borrow().is_none();
                if over || lost || Instant::now() >= limit {
                    break Ok(());
                }
            }
        };
        presence.abort();
        self.driver.close().await;
        outcome
    }

    /// When to look up though nothing happens.
    fn tick(&self, beat: Instant) -> Instant {
        let mut tick = Instant::now() + Duration::from_secs(1);
        if let Some(session) = &self.session {
            tick = tick.min(beat + session.heartbeat);
        }
        if self.reports.unanswered() > 0 {
            tick = tick.min(Instant::now() + reports::WAIT);
        }
        if let Some(drain) = self.drain {
            tick = tick.min(drain);
        }
        if self.pause_until > Instant::now() {
            tick = tick.min(self.pause_until);
        }
        tick
    }

    fn hear(&mut self, told: Told) {
        match told {
            Told::Welcome(session) => {
                // What began is played on: whoever reports a game first has it.
                self.driver.drop_waiting();
                self.session = Some(session);
            }
            Told::Ended(leases) => {
                if let Some(session) = self.session.clone() {
                    self.end_leases(&session, &leases);
                }
            }
            Told::Drain | Told::Lost => {
                self.driver.drop_waiting();
                self.session = None;
            }
        }
    }

    fn end_leases(&mut self, session: &Rc<Session>, leases: &[u64]) {
        let ended: Vec<u64> = self
            .leases
            .iter()
            .filter(|(_, lease)| {
                Rc::ptr_eq(&lease.session, session) && leases.contains(&lease.lease_id)
            })
            .map(|(&number, _)| number)
            .collect();
        for number in ended {
            tracing::info!(lease = self.leases[&number].lease_id, "a lease ended");
            self.driver.end_lease(number);
        }
    }

    /// A request for games, where there is room for some.
    fn lease_call(&mut self) -> Option<LeaseCall> {
        let session = self.session.clone()?;
        // One lease is played while the next is fetched.
        let target = 2 * self.capacity;
        let games = target.saturating_sub(self.driver.unfinished());
        let (least, most) = LEASE_GAMES;
        if games < least.min(target / 2) || self.reports.unanswered() > BACKLOG * self.capacity {
            return None;
        }
        // Only now: an answer on its way may rely on what was known.
        self.setups.retain(|id, _| self.driver.knows(id));
        let request = v1::LeaseRequest {
            worker_id: session.worker_id.clone(),
            boot_epoch: session.boot_epoch,
            games: games.clamp(least, most) as u32,
            wait_ms: LEASE_WAIT.as_millis() as u32,
            known_tournaments: self.setups.keys().cloned().collect(),
        };
        let mut client = self.client.clone();
        let mut sessions = self.sessions.clone();
        Some(Box::pin(async move {
            let gone = sessions.wait_for(|now| now.as_ref() != Some(&session));
            tokio::select! {
                answer = time::timeout(LEASE_WAIT + LEASE_SLACK, client.lease(request)) => {
                    answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
                }
                _ = gone => Err(Status::aborted("the coordinator was lost")),
            }
        }))
    }

    fn take_lease(&mut self, answer: Result<Response<v1::LeaseResponse>, Status>) {
        let lease = match answer {
            Ok(answer) => answer.into_inner().lease,
            Err(status) => {
                if status.code() != Code::Aborted {
                    tracing::warn!("no games were lent: {}", status.message());
                }
                self.pause_until = Instant::now() + LEASE_PAUSE;
                return;
            }
        };
        let (Some(lease), Some(session)) = (lease, self.session.clone()) else {
            return;
        };
        if let Some(setup) = lease.setup {
            self.setups.insert(lease.tournament_id.clone(), setup);
        }
        let Some(setup) = self.setups.get(&lease.tournament_id) else {
            tracing::error!(
                tournament = lease.tournament_id,
                "a lease came without setup"
            );
            self.pause_until = Instant::now() + LEASE_PAUSE;
            return;
        };
        self.last += 1;
        let number = self.last;
        let name = LeaseName {
            session,
            lease_id: lease.lease_id,
        };
        if let Err(error) = self.driver.add_tournament(setup.clone()) {
            tracing::error!(tournament = lease.tournament_id, "{error}");
            for game in &lease.games {
                let report = v1::GameReport {
                    record: Some(v1::GameRecord {
                        index: game.index,
                        ..Default::default()
                    }),
                    void_reason: error.to_string(),
                    ..Default::default()
                };
                let id = lease.tournament_id.clone();
                self.reports.add(id, number, &name, report);
            }
            self.pause_until = Instant::now() + LEASE_PAUSE;
            return;
        }
        self.leases.insert(number, name);
        self.driver
            .add_lease(&lease.tournament_id, number, lease.games);
        self.driver.start();
    }

    fn beat(&mut self, session: Rc<Session>, ended: mpsc::UnboundedSender<Ended>) {
        let mut progress = self.driver.progress();
        let live: Vec<u64> = progress.iter().map(|lease| lease.lease_id).collect();
        self.leases.retain(|number, _| live.contains(number));
        progress.retain_mut(|lease| match self.leases.get(&lease.lease_id) {
            Some(name) if Rc::ptr_eq(&name.session, &session) => {
                lease.lease_id = name.lease_id;
                true
            }
            _ => false,
        });
        let request = v1::HeartbeatRequest {
            worker_id: session.worker_id.clone(),
            boot_epoch: session.boot_epoch,
            leases: progress,
        };
        let mut client = self.client.clone();
        task::spawn_local(async move {
            let call = time::timeout(session.heartbeat * 10, client.heartbeat(request));
            if let Ok(Ok(answer)) = call.await {
                let leases = answer.into_inner().ended_leases;
                if !leases.is_empty() {
                    // Without a worker nobody plays them.
                    let _ = ended.send((session, leases));
                }
            }
        });
    }

    fn report(&mut self) {
        for mut done in self.driver.take_done() {
            if let Some(timing) = &mut done.report.timing {
                timing.worker.clone_from(&self.name);
            }
            if let Some(name) = self.leases.get(&done.lease) {
                self.reports
                    .add(done.tournament, done.lease, name, done.report);
            }
        }
        let driver = &self.driver;
        let all = self.drain.is_some() || driver.unfinished() == 0;
        self.reports
            .send(all, |tournament| driver.latencies(tournament));
    }
}
