//! A worker: joins a coordinator, plays leased games, reports them.

mod calls;
mod fleet;
mod folder;
mod package_rules;
mod replays;
mod rulesets;

use std::{
    collections::hash_map::RandomState,
    fs, future,
    hash::BuildHasher,
    net::SocketAddr,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_access::{Connection, Credentials, Token};
use arena_telemetry::{Denied, MetricsServer, Registry, WorkerMetrics};
use arena_wire::networks::AgentNetworks;
use tokio::sync::oneshot;
use tonic::{
    codegen::BoxFuture,
    transport::{Channel, Endpoint},
};

use fleet::Fleet;
use folder::Folder;

use crate::{
    WorkerError,
    binaries::CoordinatorBinaries,
    driver::Drivers,
    endpoint::endpoints,
    environment::{AgentOptions, Builtin, Environment},
    machine::{CoreSet, Machine},
    native::{Job, Pool},
    runtime::on_own_thread,
    supervise::{Listen, SOCKET_PATH_BYTES, Sandbox, open_to_agents, socket_path_bytes},
};

/// Default number of games at once.
const CAPACITY: usize = 512;

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct Options {
    /// `http://host:port` of the coordinator. Of several that share a store, separated by commas, the
    /// one that answers.
    pub coordinator: String,
    /// The executable that serves as guard and as the papers' agents; see
    /// [`AgentOptions::of_executable`].
    pub program: PathBuf,
    /// A name for people.
    pub name: String,
    /// Address of `/metrics` and `/healthz`, if any.
    pub metrics: Option<SocketAddr>,
    /// Games at once.
    pub capacity: usize,
    /// Threads for built-in agents; 0: one for each core.
    pub threads: usize,
    /// Drivers, each of which plays games on a thread of its own; 0: one for each core.
    pub drivers: usize,
    /// The cores that it uses; none: all that the affinity mask and the control group give.
    pub cores: Option<CoreSet>,
    /// Use also cores that share execution units with each other (SMT).
    pub smt: bool,
    /// A token that requests for metrics have to show; none: everyone may read them.
    pub metrics_token: Option<Token>,
    /// The worker's token and certificate.
    pub credentials: Credentials,
    /// How the papers' agents are run.
    pub builtin: Builtin,
    /// Never ask agents in batches.
    pub unary: bool,
    /// Where child processes have to listen.
    pub listen: Listen,
    /// Folder in which the worker creates one for sockets and other files.
    pub temp: PathBuf,
    /// Folder for fetched binaries; none: in a folder that is removed with the worker.
    pub binaries: Option<PathBuf>,
    /// How agents are confined.
    pub sandbox: Sandbox,
    /// Where agents may be endpoints.
    pub agent_networks: AgentNetworks,
    /// A folder, created if missing, in which every agent process gets a file with its output.
    pub agent_output: Option<PathBuf>,
    /// How long the coordinator may be out of reach before the first contact.
    pub connect_timeout: Duration,
    /// Time for started games after the worker is asked to stop.
    pub drain_limit: Duration,
    /// It ends by itself after this time without a game, once it has joined.
    pub idle_exit: Option<Duration>,
    /// It ends by itself at most this time after its start, with the time for started games.
    pub lifetime: Option<Duration>,
    /// Seed of the jitter of retries, which also identifies this process.
    pub seed: u64,
}

impl Options {
    /// The defaults, for a coordinator and an executable.
    #[must_use]
    pub fn new(coordinator: &str, program: &Path) -> Self {
        let host = nix::unistd::gethostname().ok();
        let host = host.and_then(|name| name.into_string().ok());
        Self {
            coordinator: coordinator.to_owned(),
            credentials: Credentials::found(),
            program: program.to_owned(),
            name: host.unwrap_or_else(|| "worker".to_owned()),
            metrics: None,
            metrics_token: None,
            capacity: CAPACITY,
            threads: 0,
            drivers: 0,
            cores: None,
            smt: true,
            builtin: Builtin::default(),
            unary: false,
            listen: Listen::default(),
            temp: std::env::temp_dir(),
            binaries: None,
            sandbox: Sandbox::default(),
            agent_networks: AgentNetworks::default(),
            agent_output: None,
            connect_timeout: Duration::from_secs(30),
            drain_limit: Duration::from_secs(10),
            idle_exit: None,
            lifetime: None,
            seed: RandomState::new().hash_one(()),
        }
    }

    fn agents(&self, temp: &Path, machine: Machine) -> AgentOptions {
        AgentOptions {
            machine,
            builtin: self.builtin,
            unary: self.unary,
            listen: self.listen,
            temp: temp.to_owned(),
            threads: self.threads,
            drivers: self.drivers,
            sandbox: self.sandbox.clone(),
            networks: self.agent_networks.clone(),
            discreet: true,
            output_folder: self.agent_output.clone(),
            ..AgentOptions::of_executable(self.program.clone())
        }
    }

    /// The best sandbox of this machine, for agents of the user that starts them.
    #[must_use]
    pub fn best_sandbox(&self) -> Sandbox {
        let guard = AgentOptions::of_executable(self.program.clone()).guard;
        // If this worker is killed meanwhile, the next one removes the folder.
        let folder = Folder::new(&self.temp);
        let temp = folder.as_ref().map_or(&*self.temp, Folder::path);
        Sandbox::best(&guard, temp)
    }

    /// Listens for metrics. [`Service::run`] starts threads and contacts the coordinator.
    ///
    /// # Errors
    /// [`WorkerError`].
    pub async fn build(self) -> Result<Service, WorkerError> {
        let endpoints = endpoints(&self.coordinator, &self.credentials)?;
        let machine = Machine::confined(self.cores.as_ref(), self.smt)?;
        let failed = |folder: &Path| {
            let path = folder.to_owned();
            |source| WorkerError::Folder { path, source }
        };
        if let Some(folder) = &self.agent_output {
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let server = self.metrics.map(|it| MetricsServer::bind(&it.to_string()));
        let server = server.transpose()?;
        let server = server.map(|server| match self.metrics_token.clone() {
            Some(token) => server.guarded(Arc::new(move |headers, _, _| {
                let shown = headers.get("authorization").and_then(Token::of_header);
                match shown.is_some_and(|shown| shown == token) {
                    true => Ok(None),
                    false => Err(Denied::default()),
                }
            })),
            None => server,
        });
        let registry = Registry::new();
        let rulesets = arena_games::rulesets().iter().map(|info| info.name);
        let metrics = WorkerMetrics::new(&registry, rulesets)?;
        let temp = Folder::new(&self.temp).map_err(failed(&self.temp))?;
        let bytes = socket_path_bytes(temp.path());
        if self.listen == Listen::Unix && bytes > SOCKET_PATH_BYTES {
            return Err(WorkerError::LongPath {
                path: temp.path().to_owned(),
                bytes,
            });
        }
        if self.sandbox.user.is_some() {
            open_to_agents(temp.path()).map_err(failed(temp.path()))?;
        }
        let guard = AgentOptions::of_executable(self.program.clone()).guard;
        self.sandbox.check(&guard, temp.path())?;
        Ok(Service {
            metrics: server.as_ref().map(MetricsServer::local_addr),
            agents: self.agents(temp.path(), machine),
            options: self,
            endpoints,
            server,
            registry,
            counters: Arc::new(metrics),
            temp,
        })
    }
}

/// A worker that is ready to join.
pub struct Service {
    /// Address of `/metrics` and `/healthz`.
    pub metrics: Option<SocketAddr>,
    options: Options,
    agents: AgentOptions,
    endpoints: Vec<Endpoint>,
    server: Option<MetricsServer>,
    registry: Registry,
    counters: Arc<WorkerMetrics>,
    temp: Folder,
}

impl Service {
    /// Plays until `drain` completes; then no game starts any more, and started games are played
    /// and reported until the drain limit. Nothing is left running afterwards. Dropping the future
    /// stops everything.
    ///
    /// The future is boxed, so that the worker is compiled with this crate and not again with each
    /// crate that awaits it.
    ///
    /// # Errors
    /// [`WorkerError::Unreachable`], [`WorkerError::Threads`].
    pub fn run(
        self,
        drain: impl Future<Output = ()> + Send + 'static,
    ) -> BoxFuture<(), WorkerError> {
        self.run_until(Box::pin(drain))
    }

    fn run_until(
        self,
        drain: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> BoxFuture<(), WorkerError> {
        Box::pin(async move {
            let pool = Pool::new(self.agents.threads())?;
            let (drain_sender, drains) = oneshot::channel();
            let work = on_own_thread("worker", move || {
                let connection = self.options.credentials.dial_lazy(&self.endpoints);
                self.play(connection, pool, Drivers::on_threads, drains)
            });
            until_drained(work, drain, drain_sender).await?
        })
    }

    /// As [`Service::run`], on the caller's thread, which must be in a
    /// [`LocalSet`](tokio::task::LocalSet). `connect` connects to the coordinator, and `think` runs
    /// the jobs of built-in agents. If the future is dropped, the set ends what was started.
    ///
    /// # Errors
    /// [`WorkerError::Unreachable`].
    pub async fn run_here(
        self,
        connect: impl FnOnce(&Endpoint) -> Channel,
        think: impl Fn(Job) + Send + 'static,
        drain: impl Future<Output = ()>,
    ) -> Result<(), WorkerError> {
        let bearer = self.options.credentials.bearer.clone();
        let connection = Connection::new(connect(&self.endpoints[0]), bearer);
        let (drain_sender, drains) = oneshot::channel();
        let work = self.play(connection, Pool::given(think), Drivers::here, drains);
        until_drained(work, drain, drain_sender).await
    }

    async fn play(
        self,
        connection: Connection,
        pool: Pool,
        drivers: fn(Environment, Pool, usize, usize) -> Drivers,
        drains: oneshot::Receiver<()>,
    ) -> Result<(), WorkerError> {
        let binaries = self.options.binaries.clone();
        let binaries = binaries.unwrap_or_else(|| self.temp.path().join("binaries"));
        let binaries = Arc::new(CoordinatorBinaries::on(connection.clone(), binaries));
        let agents = self.agents;
        let count = agents.drivers();
        let metrics = self.counters;
        let environment = Environment::new(agents, binaries.clone(), metrics.clone());
        let drivers = drivers(environment, pool, self.options.capacity.max(1), count);
        let joined = Arc::new(AtomicBool::new(false));
        if let Some(server) = self.server {
            let (joined, url) = (joined.clone(), self.options.coordinator.clone());
            let ready = move || match joined.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(format!("not connected to the coordinator at {url}")),
            };
            let (update, never) = (|| future::ready(()), future::pending());
            let serving = server.run(self.registry, update, ready, never);
            tokio::spawn(async move {
                if let Err(error) = serving.await {
                    tracing::error!("{error}");
                }
            });
        }
        let fleet = Fleet::new(self.options, connection, metrics, drivers, binaries, joined);
        fleet.run(drains).await
    }
}

/// Waits for the end of work that is notified of the drain.
async fn until_drained<T>(
    work: impl Future<Output = T>,
    drain: impl Future<Output = ()>,
    drain_sender: oneshot::Sender<()>,
) -> T {
    tokio::pin!(drain, work);
    let mut drain_sender = Some(drain_sender);
    loop {
        tokio::select! {
            biased;
            ended = &mut work => return ended,
            () = &mut drain, if drain_sender.is_some() => {
                // A worker that has ended needs no message.
                let _ = drain_sender.take().map(|sender| sender.send(()));
            }
        }
    }
}
