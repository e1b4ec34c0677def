//! A coordinator that listens, from start to stop.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use arena_store::Store;
use arena_telemetry::{CoordinatorMetrics, MetricsServer, Registry};
use arena_wire::{
    DESCRIPTORS,
    v1::{
        coordinator_service_server::CoordinatorServiceServer,
        worker_service_server::WorkerServiceServer,
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    task::AbortHandle,
};
use tokio_stream::Stream;
use tonic::transport::{Server, server::Connected};

use crate::{
    accept::Incoming,
    core::{self, Core},
    directory::Directory,
    error::{RunError, StartError},
    handle::{COMMANDS_MAX, Handle, with_store},
    ledger::LedgerSettings,
    messages::{Inbox, RunSummary, Signal},
    options::Options,
    rpc::{CoordinatorRpc, CountRequests, Figures, Gate, GateReports, WorkerRpc},
};

/// Maximum streams of one connection; tonic itself has no limit.
const STREAMS_MAX: u32 = 128;
/// Maximum streams that a connection may reset before it is closed.
const RESETS_MAX: usize = 256;
/// Maximum message of a worker: several hundred games.
const REPORT_BYTES_MAX: usize = 16 << 20;
/// Maximum message of a user: a chunk of a binary, a spec, a description.
const REQUEST_BYTES_MAX: usize = 2 << 20;
/// A connection that is silent for this time is pinged,
const KEEPALIVE: Duration = Duration::from_secs(5);
/// and closed if it does not answer within this time.
const KEEPALIVE_LIMIT: Duration = Duration::from_secs(10);
/// Maximum time for the server to end its connections.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// A coordinator that listens; `I` is the stream of its connections.
pub struct Service<I = Incoming> {
    /// Address of gRPC.
    pub listen: SocketAddr,
    /// Address of `/metrics` and `/healthz`.
    pub metrics: Option<SocketAddr>,
    incoming: I,
    metrics_server: Option<MetricsServer>,
    registry: Registry,
    counters: Arc<CoordinatorMetrics>,
    core: Core,
    inbox: Inbox,
    gate: Arc<Gate>,
    signals: mpsc::UnboundedReceiver<Signal>,
    handle: Handle,
    drain_limit: Duration,
}

impl Options {
    /// Loads the store and starts to listen. Requests are answered from [`Service::run`] on.
    ///
    /// # Errors
    /// [`StartError`] if a port is in use or the store cannot be read.
    pub async fn build(self) -> Result<Service, StartError> {
        build(self).await
    }

    /// Loads the store. Requests arrive over these connections and are answered from
    /// [`Service::run`] on.
    ///
    /// # Errors
    /// [`StartError`] if the store cannot be read.
    pub async fn build_on<I>(self, incoming: I) -> Result<Service<I>, StartError> {
        build_on(self, incoming).await
    }
}

/// Listens. Returns the address of the listener.
async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => StartError::InUse { address },
            _ => StartError::Bind { address, source },
        })?;
    let listen = listener
        .local_addr()
        .map_err(|source| StartError::Bind { address, source })?;
    Ok((listener, listen))
}

async fn build(mut options: Options) -> Result<Service, StartError> {
    // Before the store is read, so that a wrong address is reported at once.
    let (listener, address) = listen(options.listen).await?;
    options.listen = address;
    let counters = Counters::new()?;
    let incoming = Incoming::new(listener, options.connections_max, counters.metrics.clone());
    build_with(options, incoming, counters).await
}

async fn build_on<I>(options: Options, incoming: I) -> Result<Service<I>, StartError> {
    build_with(options, incoming, Counters::new()?).await
}

/// The metrics, and the server that shows them.
struct Counters {
    registry: Registry,
    metrics: Arc<CoordinatorMetrics>,
}

impl Counters {
    fn new() -> Result<Self, StartError> {
        let registry = Registry::new();
        let rulesets = arena_games::rulesets().iter().map(|info| info.name);
        let metrics = Arc::new(CoordinatorMetrics::new(&registry, rulesets)?);
        Ok(Self { registry, metrics })
    }
}

async fn build_with<I>(
    options: Options,
    incoming: I,
    counters: Counters,
) -> Result<Service<I>, StartError> {
    let share = options.audit_share;
    if !(0.0..=1.0).contains(&share) {
        return Err(StartError::AuditShare(share));
    }
    let metrics_server = options
        .metrics
        .map(|address| MetricsServer::bind(&address.to_string()))
        .transpose()?;
    let Counters {
        registry,
        metrics: counters,
    } = counters;
    let gate = Gate::new(options.report_queue_games, Arc::clone(&counters));
    let (command_sender, commands) = mpsc::channel(COMMANDS_MAX);
    let (report_sender, reports) = mpsc::channel(COMMANDS_MAX);
    let directory = Arc::<Directory>::default();
    let (signal_sender, signals) = mpsc::unbounded_channel();
    let stop = watch::Sender::new(false);
    let handle = Handle {
        commands: command_sender,
        reports: report_sender,
        directory: Arc::clone(&directory),
        store: Arc::clone(&options.store),
        stopping: stop.subscribe(),
    };
    let settings = LedgerSettings {
        lease_deadline: options.lease_deadline,
        audit_ppm: (share * 1e6) as u32,
        host_grace_period: options.host_grace_period,
    };
    let core = core::load(
        &options,
        Arc::clone(&counters),
        settings,
        directory,
        signal_sender,
        stop,
    )
    .await?;
    Ok(Service {
        listen: options.listen,
        metrics: metrics_server.as_ref().map(MetricsServer::local_addr),
        incoming,
        metrics_server,
        registry,
        counters,
        core,
        inbox: Inbox { commands, reports },
        gate,
        signals,
        handle,
        drain_limit: options.drain_limit,
    })
}

impl<I, C> Service<I>
where
    I: Stream<Item = io::Result<C>> + Send + 'static,
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    /// Answers requests until `drain` completes, then stops: no more games are leased, workers are
    /// notified, open reports are completed, and the store is flushed.
    ///
    /// # Errors
    /// [`RunError`] if it stops by itself.
    pub async fn run(self, drain: impl Future<Output = ()> + Send) -> Result<RunSummary, RunError> {
        let store = Arc::clone(&self.handle.store);
        let (drain_core, core_drains) = oneshot::channel();
        let (end_server, server_ends) = oneshot::channel();
        let (end_metrics, metrics_end) = oneshot::channel::<()>();
        let standings = self.counters.standings.clone();
        let mut metrics = tokio::spawn(serve_metrics(
            self.metrics_server,
            self.registry,
            Figures::new(self.handle.clone(), standings),
            self.handle.stopping.clone(),
            metrics_end,
        ));
        let mut server = tokio::spawn(serve(
            self.incoming,
            self.handle,
            self.counters,
            self.gate,
            server_ends,
        ));
        let core = self
            .core
            .run(self.inbox, self.signals, core_drains, self.drain_limit);
        let mut core = tokio::spawn(core);
        // Dropping this future ends everything.
        let _tasks = AbortOnDrop([
            core.abort_handle(),
            server.abort_handle(),
            metrics.abort_handle(),
        ]);
        let mut drain_core = Some(drain_core);
        tokio::pin!(drain);
        let outcome = loop {
            tokio::select! {
                () = &mut drain, if drain_core.is_some() => {
                    // Without a receiver, the state has ended by itself.
                    let _ = drain_core.take().map(|sender| sender.send(()));
                }
                ended = &mut core => break ended.unwrap_or(Err(RunError::State)),
                ended = &mut server => break match ended {
                    Ok(Err(error)) => Err(error.into()),
                    Ok(Ok(())) | Err(_) => Err(RunError::State),
                },
                ended = &mut metrics => break match ended {
                    Ok(Err(error)) => Err(error.into()),
                    Ok(Ok(())) | Err(_) => Err(RunError::State),
                },
            }
        };
        let _ = (end_server.send(()), end_metrics.send(()));
        if !server.is_finished()
            && tokio::time::timeout(CLOSE_LIMIT, &mut server)
                .await
                .is_err()
        {
            server.abort();
        }
        metrics.abort();
        let summary = outcome?;
        flush(store).await?;
        Ok(summary)
    }
}

/// Tasks that end with their owner.
struct AbortOnDrop([AbortHandle; 3]);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

async fn flush(store: Arc<dyn Store>) -> Result<(), RunError> {
    let flushed = with_store(store, |store| store.flush()).await;
    flushed.ok_or(RunError::State)?.map_err(RunError::from)
}

/// Serves metrics if there is a server for them; else waits for the end.
async fn serve_metrics(
    server: Option<MetricsServer>,
    registry: Registry,
    figures: Figures,
    stopping: watch::Receiver<bool>,
    end: oneshot::Receiver<()>,
) -> Result<(), arena_telemetry::ServeError> {
    let end = async {
        // A dropped sender is an end, too.
        let _ = end.await;
    };
    let Some(server) = server else {
        end.await;
        return Ok(());
    };
    let ready = move || match *stopping.borrow() {
        false => Ok(()),
        true => Err("the coordinator is stopping".to_owned()),
    };
    // Tournaments that ended before this start are read once, before the first request.
    tokio::spawn(figures.clone().refresh());
    let refresh = move || figures.clone().refresh();
    server.run(registry, refresh, ready, end).await
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
    let worker = WorkerServiceServer::new(WorkerRpc {
        handle: handle.clone(),
        metrics: Arc::clone(&metrics),
    })
    .max_decoding_message_size(REPORT_BYTES_MAX);
    let coordinator = CoordinatorServiceServer::new(CoordinatorRpc { handle })
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    health
        .set_serving::<CoordinatorServiceServer<CoordinatorRpc>>()
        .await;
    health.set_serving::<WorkerServiceServer<WorkerRpc>>().await;
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
        .layer(CountRequests(metrics))
        .layer(GateReports(gate))
        .add_service(health_service)
        .add_service(
            reflection()
                .build_v1()
                .expect("our own descriptors are well formed"),
        )
        .add_service(
            reflection()
                .build_v1alpha()
                .expect("our own descriptors are well formed"),
        )
        .add_service(coordinator)
        .add_service(worker)
        .serve_with_incoming_shutdown(incoming, async {
            // A dropped sender is an end, too.
            let _ = end.await;
        })
        .await
}
