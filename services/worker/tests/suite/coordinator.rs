//! A coordinator for tests. It leases its games and keeps the reports.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use arena_wire::v1::{
    self,
    join_response::Notice,
    worker_service_server::{WorkerService, WorkerServiceServer},
};
use arena_worker::{Builtin, Options, Service, WorkerError};
use tokio::{
    net::TcpListener,
    runtime::Builder,
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time,
};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Code, Request, Response, Status, transport::Server};

use crate::common::{fixture, registered};

/// The state of the coordinator.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) setup: v1::TournamentSetup,
    pub(crate) waiting: VecDeque<v1::GameAssignment>,
    pub(crate) reports: BTreeMap<u64, v1::GameReport>,
    /// Errors that answer the next reports.
    pub(crate) refusals: VecDeque<Code>,
    /// The game whose record is always refused.
    pub(crate) unwelcome: Option<u64>,
    /// Maximum number of games of a lease.
    pub(crate) lease_games: usize,
    pub(crate) epoch: u64,
    leases: u64,
    notices: Vec<mpsc::Sender<Result<v1::JoinResponse, Status>>>,
    pub(crate) beats: u64,
    /// Number of workers that took their leave.
    pub(crate) left: u64,
    /// Agents that leases report as given up.
    pub(crate) given_up: Vec<v1::UnreadyAgent>,
    /// The reported plies of each lease.
    pub(crate) plies: BTreeMap<u64, Vec<u64>>,
}

/// A coordinator that listens until it is dropped.
pub(crate) struct Coordinator {
    pub(crate) address: SocketAddr,
    shared: Arc<Mutex<State>>,
    /// Stops the runtime of the server, and so closes every connection.
    _stop: oneshot::Sender<()>,
}

impl Coordinator {
    pub(crate) async fn start(setup: v1::TournamentSetup, games: Vec<v1::GameAssignment>) -> Self {
        let state = State {
            setup,
            waiting: games.into(),
            lease_games: 512,
            epoch: 1,
            ..State::default()
        };
        Self::on("127.0.0.1:0", Arc::new(Mutex::new(state))).await
    }

    async fn on(address: &str, shared: Arc<Mutex<State>>) -> Self {
        let service = WorkerServiceServer::new(Rpc(shared.clone()));
        // The previous coordinator may still use the port.
        let socket = loop {
            match std::net::TcpListener::bind(address) {
                Ok(socket) => break socket,
                Err(_) => time::sleep(Duration::from_millis(5)).await,
            }
        };
        socket.set_nonblocking(true).expect("a socket");
        let address = socket.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let socket = TcpListener::from_std(socket).expect("a socket");
                let server = Server::builder()
                    .add_service(service)
                    .serve_with_incoming(TcpListenerStream::new(socket));
                tokio::select! {
                    _ = stopped => {}
                    ended = server => ended.expect("a server"),
                }
            });
        });
        Self {
            address,
            shared,
            _stop: stop,
        }
    }

    /// Stops the coordinator and starts another one on the same port. It has the reports and
    /// leases all other games again.
    pub(crate) async fn restart(self, games: Vec<v1::GameAssignment>) -> Self {
        let (address, shared) = (self.address, self.shared.clone());
        drop(self);
        {
            let mut state = lock(&shared);
            state.notices.clear();
            state.epoch += 1;
            let open = |game: &v1::GameAssignment| !state.reports.contains_key(&game.index);
            let open = games.into_iter().filter(open).collect();
            state.waiting = open;
        }
        Self::on(&address.to_string(), shared).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared)
    }

    /// Sends a notice to all workers.
    pub(crate) fn notify(&self, notice: Notice) {
        for sender in &self.state().notices {
            let notice = Some(notice.clone());
            let _ = sender.try_send(Ok(v1::JoinResponse { notice }));
        }
    }

    /// Waits until this number of games is reported.
    pub(crate) async fn reported(&self, count: usize) {
        while self.state().reports.len() < count {
            time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().expect("no panic")
}

struct Rpc(Arc<Mutex<State>>);

impl Rpc {
    fn check(&self, epoch: u64) -> Result<(), Status> {
        if lock(&self.0).epoch == epoch {
            return Ok(());
        }
        Err(Status::failed_precondition("UNKNOWN_WORKER"))
    }
}

#[tonic::async_trait]
impl WorkerService for Rpc {
    type JoinStream = ReceiverStream<Result<v1::JoinResponse, Status>>;

    async fn join(
        &self,
        _: Request<v1::JoinRequest>,
    ) -> Result<Response<Self::JoinStream>, Status> {
        let (sender, notices) = mpsc::channel(8);
        let mut state = lock(&self.0);
        let welcome = v1::Welcome {
            worker_id: format!("w{}", state.notices.len()),
            boot_epoch: state.epoch,
            lease_deadline_ms: 1000,
            session: b"secret".to_vec(),
            missing_rulesets: Vec::new(),
        };
        let notice = Some(Notice::Welcome(welcome));
        let _ = sender.try_send(Ok(v1::JoinResponse { notice }));
        state.notices.push(sender);
        Ok(Response::new(ReceiverStream::new(notices)))
    }

    async fn lease(
        &self,
        request: Request<v1::LeaseRequest>,
    ) -> Result<Response<v1::LeaseResponse>, Status> {
        let request = request.into_inner();
        self.check(request.boot_epoch)?;
        let lease = {
            let mut state = lock(&self.0);
            let count = (request.games as usize)
                .min(state.lease_games)
                .min(state.waiting.len());
            state.leases += 1;
            let games: Vec<_> = state.waiting.drain(..count).collect();
            let id = state.setup.tournament_id.clone();
            (!games.is_empty()).then(|| v1::Lease {
                lease_id: state.leases,
                setup: (!request.known_tournaments.contains(&id)).then(|| state.setup.clone()),
                tournament_id: id,
                games,
                ticket: b"ticket".to_vec(),
                given_up: state.given_up.clone(),
            })
        };
        if lease.is_none() {
            time::sleep(Duration::from_millis(5)).await;
        }
        Ok(Response::new(v1::LeaseResponse { lease }))
    }

    /// As a coordinator of an earlier version.
    async fn replay(
        &self,
        _: Request<v1::ReplayRequest>,
    ) -> Result<Response<v1::ReplayResponse>, Status> {
        Err(Status::unimplemented("it replays nothing"))
    }

    async fn report(
        &self,
        request: Request<v1::ReportRequest>,
    ) -> Result<Response<v1::ReportResponse>, Status> {
        let mut state = lock(&self.0);
        if let Some(code) = state.refusals.pop_front() {
            return Err(Status::new(code, "not now"));
        }
        let games = request.into_inner().games;
        let unwelcome = games.iter().any(|game| {
            let index = game.record.as_ref().map(|record| record.index);
            game.void_reason.is_empty() && index == state.unwelcome && index.is_some()
        });
        if unwelcome {
            return Err(Status::invalid_argument("a game that is not wanted"));
        }
        for report in games {
            let index = report.record.as_ref().expect("a record").index;
            state.reports.entry(index).or_insert(report);
        }
        Ok(Response::new(v1::ReportResponse::default()))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let request = request.into_inner();
        self.check(request.boot_epoch)?;
        let mut state = lock(&self.0);
        state.beats += 1;
        for lease in request.leases {
            state
                .plies
                .entry(lease.lease_id)
                .or_default()
                .push(lease.plies);
        }
        Ok(Response::new(v1::HeartbeatResponse::default()))
    }

    async fn leave(
        &self,
        request: Request<v1::LeaveRequest>,
    ) -> Result<Response<v1::LeaveResponse>, Status> {
        self.check(request.into_inner().boot_epoch)?;
        lock(&self.0).left += 1;
        Ok(Response::new(v1::LeaveResponse {}))
    }

    type FetchBinaryStream = ReceiverStream<Result<v1::FetchBinaryResponse, Status>>;

    async fn fetch_binary(
        &self,
        _: Request<v1::FetchBinaryRequest>,
    ) -> Result<Response<Self::FetchBinaryStream>, Status> {
        let (sender, chunks) = mpsc::channel(2);
        tokio::spawn(async move {
            for chunk in registered().into_bytes().chunks(16) {
                let chunk = chunk.to_vec();
                let _ = sender.send(Ok(v1::FetchBinaryResponse { chunk })).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(chunks)))
    }
}

/// A running worker.
pub(crate) struct Worker {
    pub(crate) run: JoinHandle<Result<(), WorkerError>>,
    pub(crate) drain: oneshot::Sender<()>,
}

pub(crate) fn options(url: &str, builtin: Builtin) -> Options {
    let mut options = Options::new(url, &fixture());
    options.threads = 2;
    options.builtin = builtin;
    options
}

pub(crate) async fn work(options: Options) -> Worker {
    let service: Service = options.build().await.expect("a worker");
    let (drain, drains) = oneshot::channel();
    let run = service.run(async move {
        let _ = drains.await;
    });
    Worker {
        run: tokio::spawn(run),
        drain,
    }
}

impl Worker {
    pub(crate) async fn end(self) {
        let _ = self.drain.send(());
        self.run.await.expect("no panic").expect("a drained worker");
    }
}

/// Lets a worker play games; returns its reports.
pub(crate) async fn play(
    setup: v1::TournamentSetup,
    games: Vec<v1::GameAssignment>,
    change: impl FnOnce(&mut Options),
) -> BTreeMap<u64, v1::GameReport> {
    let count = games.len();
    let coordinator = Coordinator::start(setup, games).await;
    let mut options = options(&coordinator.url(), Builtin::InProcess);
    change(&mut options);
    let worker = work(options).await;
    coordinator.reported(count).await;
    worker.end().await;
    let mut state = coordinator.state();
    std::mem::take(&mut state.reports)
}

/// The records of reports.
pub(crate) fn records(reports: &BTreeMap<u64, v1::GameReport>) -> Vec<v1::GameRecord> {
    let records = reports.values().filter_map(|report| report.record.clone());
    records.collect()
}
