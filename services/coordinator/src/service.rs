//! A coordinator that listens, from start to stop.

use std::{future::pending, io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use arena_access::ServerTls;
use arena_store::Store;
use arena_telemetry::{Acceptor, CoordinatorMetrics, MetricsServer, Registry};
use arena_wire::{
    DESCRIPTORS,
    keda::external_scaler_server::ExternalScalerServer,
    v1::{
        admin_service_server::AdminServiceServer,
        coordinator_service_server::CoordinatorServiceServer,
        worker_service_server::WorkerServiceServer,
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
};
use tokio_stream::Stream;
use tonic::{
    codegen::BoxFuture,
    transport::{Server, server::Connected},
};
use tower::layer::layer_fn;

use crate::{
    accept::{Incoming, Listener},
    blocking::with_store,
    computations::Computations,
    core::{self, Core, Inbox},
    directory::Directory,
    door::Door,
    error::{RunError, StartError},
    handle::{
        ADMIN_UPLOADS_MAX, BACKUPS_MAX, COMMANDS_MAX, Handle, OWN_DOWNLOADS_MAX, OWN_STANDINGS_MAX,
        PAGES_MAX, TRANSFERS_MAX, UPLOADS_MAX,
    },
    ledger::{LedgerSettings, ppm},
    messages::RunSummary,
    options::Options,
    retention::Retention,
    rpc::{
        AdminRpc, CoordinatorRpc, Figures, Gate, Gated, OwnSessions, READER_OF_METRICS, ScalerRpc,
        WorkerRpc, reports::REPORT_BYTES_MAX,
    },
    shares::Shares,
    tables::Following,
    trail::Trail,
};

/// Maximum streams of one connection; tonic itself has no limit.
const STREAMS_MAX: u32 = 128;
/// Maximum streams that a connection may reset before it is closed.
const RESETS_MAX: usize = 256;
/// Maximum message of a user: a chunk of a binary, a spec, a description.
const REQUEST_BYTES_MAX: usize = 2 << 20;
/// A connection that is silent for this time is pinged,
const KEEPALIVE: Duration = Duration::from_secs(5);
/// and closed if it does not answer within this time.
const KEEPALIVE_LIMIT: Duration = Duration::from_secs(10);
/// Why reflection can be built.
const DESCRIBED: &str = "our own descriptors are well formed";
/// Maximum time for the server to end its connections.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// A coordinator that listens; `I` is the stream of its connections.
pub struct Service<I = Incoming> {
    /// Address of gRPC, unless it is only a Unix socket.
    pub listen: Option<SocketAddr>,
    /// Address of `/metrics` and `/healthz`.
    pub metrics: Option<SocketAddr>,
    incoming: I,
    metrics_server: Option<MetricsServer>,
    registry: Registry,
    counters: Arc<CoordinatorMetrics>,
    core: Core,
    inbox: Inbox,
    pub(crate) gate: Arc<Gate>,
    handle: Handle,
    drain_limit: Duration,
    sql_games: bool,
    keep_tournaments: Option<Duration>,
    /// To be read again when the files change.
    tls: Vec<Arc<ServerTls>>,
    /// The certificate for HTTP.
    pub(crate) http_acceptor: Option<Acceptor>,
    /// Takes connections of the web page in this process.
    pub(crate) viewers: mpsc::Sender<DuplexStream>,
}

impl Options {
    /// Loads the store and starts to listen. Requests are answered from [`Service::run`] on.
    ///
    /// # Errors
    /// [`StartError`] if a port is in use or the store cannot be read.
    pub fn build(self) -> BoxFuture<Service, StartError> {
        Box::pin(self.listen())
    }

    async fn listen(mut self) -> Result<Service, StartError> {
        // Before the store is read, so that a wrong address is reported at once.
        let mut listeners = Vec::new();
        if let Some(address) = self.listen {
            let (listen, listener) =
                Listener::tcp(address).map_err(|source| match source.kind() {
                    io::ErrorKind::AddrInUse => StartError::InUse { address },
                    _ => StartError::Bind { address, source },
                })?;
            self.listen = Some(listen);
            listeners.push(listener);
        }
        if let Some(path) = &self.socket {
            let socket = Listener::unix(path).map_err(|source| StartError::Socket {
                path: path.clone(),
                source,
            })?;
            listeners.push(socket);
        }
        let (viewers, connections) = mpsc::channel(1);
        listeners.push(Listener::Viewers(connections));
        let (connections_max, idle_max) = (self.connections_max, self.idle_max);
        let tls = self.tls.clone().map(|files| ServerTls::load(files, "h2"));
        let tls = tls.transpose()?;
        let accepting = tls.clone();
        let incoming = |metrics: Arc<CoordinatorMetrics>| {
            Incoming::new(listeners, connections_max, idle_max, accepting, metrics)
        };
        let mut service = self.build_with(incoming).await?;
        service.tls.extend(tls);
        service.viewers = viewers;
        Ok(service)
    }

    /// Loads the store. Requests arrive over these connections and are answered from
    /// [`Service::run`] on.
    ///
    /// # Errors
    /// [`StartError`] if the store cannot be read.
    pub async fn build_on<I>(self, incoming: I) -> Result<Service<I>, StartError> {
        self.build_with(|_| incoming).await
    }

    async fn build_with<I>(
        self,
        incoming: impl FnOnce(Arc<CoordinatorMetrics>) -> I,
    ) -> Result<Service<I>, StartError> {
        let share = self.audit_share;
        if !(0.0..=1.0).contains(&share) {
            return Err(StartError::AuditShare(share));
        }
        let registry = Registry::new();
        let rulesets = arena_games::rulesets().iter().map(|info| info.name);
        let counters = Arc::new(CoordinatorMetrics::new(&registry, rulesets)?);
        let metrics_server = self
            .metrics
            .map(|address| MetricsServer::bind(&address.to_string()))
            .transpose()?;
        let (command_sender, commands) = mpsc::channel(COMMANDS_MAX);
        let (report_sender, reports) = mpsc::channel(COMMANDS_MAX);
        let directory = Arc::<Directory>::default();
        let (signal_sender, signals) = mpsc::unbounded_channel();
        let stop = watch::Sender::new(false);
        let stopping = stop.subscribe();
        let settings = LedgerSettings {
            lease_deadline: self.lease_deadline,
            audit_ppm: ppm(share),
            // A command with its own coordinator starts its own workers.
            doubts_workers: !self.only_started,
            host_grace_period: self.host_grace_period,
        };
        let door = Door::load(&self.access, &self.limits, &self.store)?;
        counters.insecure.set(i64::from(door.tokens.is_none()));
        let metrics = Arc::clone(&counters);
        let shared = Arc::clone(&directory);
        let core = core::load(&self, metrics, settings, shared, signal_sender, stop).await?;
        let gate = Gate::new(
            self.report_queue_games,
            self.connections_max,
            Arc::clone(&counters),
            door,
            Trail::open(self.events.as_deref(), &self.store)?,
            self.deadlines(),
        );
        let http_tls = self
            .tls
            .clone()
            .map(|files| ServerTls::load(files, "http/1.1"));
        let http_tls = http_tls.transpose()?;
        let http_acceptor = http_tls
            .clone()
            .map(|tls| -> Acceptor { Arc::new(move || tls.acceptor()) });
        let metrics_server = metrics_server.map(|server| {
            let server = match &http_acceptor {
                Some(acceptor) => server.encrypted(Arc::clone(acceptor)),
                None => server,
            };
            let door = Arc::clone(&gate);
            match self.metrics_public {
                true => server,
                false => server.guarded(Arc::new(move |headers, peer, reading| {
                    door.admit_reader(headers, peer, reading, READER_OF_METRICS)
                })),
            }
        });
        let handle = Handle {
            commands: command_sender,
            reports: report_sender,
            directory,
            store: Arc::clone(&self.store),
            tickets: core.tickets.clone(),
            uploads: core.uploads.clone(),
            computations: Computations::new(),
            comparisons: Arc::default(),
            pages: Arc::new(Semaphore::new(PAGES_MAX)),
            incoming: Arc::new(Semaphore::new(UPLOADS_MAX)),
            incoming_of_admins: Arc::new(Semaphore::new(ADMIN_UPLOADS_MAX)),
            outgoing: Arc::new(Semaphore::new(TRANSFERS_MAX)),
            outgoing_to_users: Arc::new(Semaphore::new(TRANSFERS_MAX)),
            backups: Arc::new(Semaphore::new(BACKUPS_MAX)),
            downloads: Shares::new(OWN_DOWNLOADS_MAX),
            worker_downloads: Shares::new(TRANSFERS_MAX * 3 / 4),
            standings: Shares::new(OWN_STANDINGS_MAX),
            #[cfg(test)]
            trusts_records: self.trusts_records,
            active: core.active.subscribe(),
            stopping,
        };
        Ok(Service {
            listen: self.listen,
            metrics: metrics_server.as_ref().map(MetricsServer::local_addr),
            incoming: incoming(Arc::clone(&counters)),
            metrics_server,
            registry,
            gate,
            counters,
            core,
            inbox: Inbox {
                commands,
                reports,
                signals,
            },
            handle,
            drain_limit: self.drain_limit,
            sql_games: self.sql_games,
            keep_tournaments: self.keep_tournaments,
            tls: http_tls.into_iter().collect(),
            http_acceptor,
            viewers: mpsc::channel(1).0,
        })
    }
}

impl Service {
    /// Answers requests until `drain` completes, then stops: no more games are leased, workers are
    /// notified, open reports are completed, and the store is flushed.
    ///
    /// The future is boxed, so that the services are compiled with this crate and not again with
    /// each crate that awaits it.
    ///
    /// # Errors
    /// [`RunError`] if it stops by itself.
    pub fn run(
        self,
        drain: impl Future<Output = ()> + Send + 'static,
    ) -> BoxFuture<RunSummary, RunError> {
        self.run_until(Box::pin(drain))
    }

    fn run_until(
        self,
        drain: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> BoxFuture<RunSummary, RunError> {
        Box::pin(self.run_over(drain))
    }
}

impl<I, C> Service<I>
where
    I: Stream<Item = io::Result<C>> + Send + 'static,
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    /// As [`Service::run`], for any stream of connections.
    ///
    /// # Errors
    /// [`RunError`] if it stops by itself.
    pub async fn run_over(
        self,
        drain: impl Future<Output = ()> + Send,
    ) -> Result<RunSummary, RunError> {
        let store = Arc::clone(&self.handle.store);
        let (drain_core, core_drains) = oneshot::channel();
        let (end_server, server_ends) = oneshot::channel();
        let figures = Figures::new(self.handle.clone(), self.counters.standings.clone());
        let stopping = self.handle.stopping.clone();
        // Dropping them ends everything.
        let mut tasks = JoinSet::new();
        let core = self.core.run(self.inbox, core_drains, self.drain_limit);
        tasks.spawn(core);
        let metrics = self.metrics_server.map(|server| {
            let store = Arc::clone(&store);
            let served = serve_metrics(server, self.registry, figures, stopping, store);
            tasks.spawn(async { served.await.map_err(RunError::from).and(STOPPED) })
        });
        let tables = Following::new(self.handle.clone(), self.sql_games);
        let trail = Arc::clone(&self.gate.trail);
        let retention = self
            .keep_tournaments
            .map(|keep| Retention::new(self.handle.clone(), trail, keep));
        let (handle, gate) = (self.handle, self.gate);
        let counters = Arc::clone(&self.counters);
        let recorder = Arc::clone(&gate);
        let served = serve(self.incoming, handle, self.counters, gate, server_ends);
        tasks.spawn(async { served.await.map_err(RunError::from).and(STOPPED) });
        let mut following = JoinSet::new();
        following.spawn(tables.run());
        retention.map(|retention| following.spawn(retention.run()));
        for tls in self.tls {
            show_expiry(&tls, &counters);
            let (shown, counters) = (Arc::clone(&tls), Arc::clone(&counters));
            let replaced = move || {
                tracing::info!("the certificate was replaced");
                show_expiry(&shown, &counters);
            };
            let failed = |error| tracing::error!("the certificate stays as it is: {error}");
            following.spawn(tls.follow(replaced, failed));
        }
        let mut drain_core = Some(drain_core);
        tokio::pin!(drain);
        let outcome = loop {
            tokio::select! {
                () = &mut drain, if drain_core.is_some() => {
                    // Without a receiver, the state has ended by itself.
                    let _ = drain_core.take().map(|sender| sender.send(()));
                }
                Some(ended) = tasks.join_next() => break ended.unwrap_or(STOPPED),
            }
        };
        let _ = end_server.send(());
        if let Some(metrics) = metrics {
            metrics.abort();
        }
        following.abort_all();
        // Connections that are still open after this are closed.
        let closed = async { while tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(CLOSE_LIMIT, closed).await;
        recorder.record_refusals();
        // An event of a request that was cut off is not kept.
        let _ = tokio::task::spawn_blocking(move || recorder.trail.finish()).await;
        let summary = outcome?;
        let flushed = with_store(store, |store| store.flush()).await;
        flushed.ok_or(RunError::State)??;
        Ok(summary)
    }
}

/// The result of a task that ended by itself, which only the core does.
const STOPPED: Result<RunSummary, RunError> = Err(RunError::State);

/// Shows in metrics when the certificates in use expire.
fn show_expiry(tls: &ServerTls, metrics: &CoordinatorMetrics) {
    for expiry in tls.expiries() {
        metrics.set_certificate_expiry(expiry.certificate, expiry.unix_seconds);
    }
}

async fn serve_metrics(
    server: MetricsServer,
    registry: Registry,
    figures: Figures,
    stopping: watch::Receiver<bool>,
    store: Arc<dyn Store>,
) -> Result<(), arena_telemetry::ServeError> {
    let ready = move || match *stopping.borrow() {
        false => store.health().map_err(|error| error.to_string()),
        true => Err("the coordinator is stopping".to_owned()),
    };
    // Tournaments that ended before this start are read once, before the first request.
    tokio::spawn(figures.clone().refresh());
    let refresh = move || figures.clone().refresh();
    server.run(registry, refresh, ready, pending()).await
}

async fn serve<C>(
    incoming: impl Stream<Item = io::Result<C>>,
    handle: Handle,
    metrics: Arc<CoordinatorMetrics>,
    gate: Arc<Gate>,
    end: oneshot::Receiver<()>,
) -> Result<(), tonic::transport::Error>
where
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let (health, health_service) = tonic_health::server::health_reporter();
    let worker = WorkerServiceServer::new(OwnSessions(WorkerRpc {
        tokens: gate.door.tokens.clone(),
        handle: handle.clone(),
        metrics,
    }))
    .max_decoding_message_size(REPORT_BYTES_MAX);
    let scaler = ExternalScalerServer::new(ScalerRpc {
        handle: handle.clone(),
    })
    .max_decoding_message_size(REQUEST_BYTES_MAX);
    let coordinator = CoordinatorServiceServer::new(CoordinatorRpc { handle })
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    health
        .set_serving::<CoordinatorServiceServer<CoordinatorRpc>>()
        .await;
    health.set_serving::<WorkerServiceServer<WorkerRpc>>().await;
    health.set_serving::<AdminServiceServer<AdminRpc>>().await;
    health
        .set_serving::<ExternalScalerServer<ScalerRpc>>()
        .await;
    let admin = AdminRpc::new(gate.door.tokens.clone(), Arc::clone(&gate.trail));
    let admin = AdminServiceServer::new(admin).max_decoding_message_size(REQUEST_BYTES_MAX);
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .http2_max_pending_accept_reset_streams(Some(RESETS_MAX))
        .http2_max_local_error_reset_streams(Some(RESETS_MAX))
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE_LIMIT))
        .layer(layer_fn(move |inner| Gated {
            inner,
            gate: Arc::clone(&gate),
        }))
        .add_service(health_service)
        .add_service(reflection().build_v1().expect(DESCRIBED))
        .add_service(reflection().build_v1alpha().expect(DESCRIBED))
        .add_service(coordinator)
        .add_service(worker)
        .add_service(admin)
        .add_service(scaler)
        .serve_with_incoming_shutdown(incoming, async {
            // A dropped sender is an end, too.
            let _ = end.await;
        })
        .await
}
