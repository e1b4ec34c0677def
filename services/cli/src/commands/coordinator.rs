//! `arena coordinator`, and the embedded coordinators of other commands.

mod standby;
mod store;
mod web;

use std::{
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use arena_access::{ADMIN_TOKEN_FILE, LocalToken, TlsFiles, keep_data_token};
use arena_coordinator::{Access, RoleLimits};
use arena_model::SandboxLevel;
use arena_wire::networks::AgentNetworks;
use clap::Args;
use serde_json::json;

use self::web::{Web, readers_max};
use crate::{
    embedded::{self, DEFAULT_DATA},
    failure::{Failure, Outcome},
    output::{self, note},
    signals::Interrupt,
};

/// Start a coordinator, which schedules games and stores results
#[derive(Debug, Args)]
#[command(after_help = "\
The first line on stdout is {\"listen\": \"…\", \"metrics\": \"…\", \"web\": \"…\"}; port 0 picks
a free port.
Every call needs a token (see arena token --help). Commands and workers of the same user
on this machine find theirs without being asked. For all others, the file admin.token in
the data folder has the first token of an administrator.
By default, the coordinator listens on loopback only. Another address needs a
certificate, or --insecure.

Examples:
  arena coordinator
  arena coordinator --data /var/lib/arena --listen 127.0.0.1:0 --metrics 127.0.0.1:0
  arena coordinator --data /var/lib/arena --store postgres://arena@localhost/arena
  arena coordinator --web 127.0.0.1:7680
  arena tls init tls --host arena.example
  arena coordinator --listen 0.0.0.0:7600 --tls-cert tls/server.pem --tls-key tls/server.key")]
pub(crate) struct CoordinatorArgs {
    /// Folder for agents and results
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,

    /// PostgreSQL database for agents and results, instead of the data folder
    ///
    /// The data folder then has only tokens, the audit trail and a cache of binaries. A
    /// database on another machine needs TLS: ?sslrootcert=FILE. If another coordinator owns
    /// the database, this one waits until that one ends or fails. PGPASSWORD may have the
    /// password.
    #[arg(long, env = "ARENA_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,

    /// Write a row for each game into the database, for SQL
    ///
    /// The tables arena.tournaments, arena.standings and arena.agents are always written, a few
    /// seconds behind the results. A row for each game, in arena.games, needs space and time.
    #[arg(long, env = "ARENA_COORDINATOR_SQL_GAMES", requires = "store")]
    sql_games: bool,

    /// Fail if the data folder contains no store, instead of making a new one
    ///
    /// So that a wrong path, or a disk that is not mounted, is noticed.
    #[arg(long, env = "ARENA_COORDINATOR_REQUIRE_STORE")]
    require_store: bool,

    /// Address to listen on for workers and clients; unix:PATH for a socket of this user
    #[arg(
        long,
        env = "ARENA_COORDINATOR_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:7600"
    )]
    listen: Listen,

    /// Address to serve /metrics (Prometheus) and /healthz on
    #[arg(
        long,
        env = "ARENA_COORDINATOR_METRICS",
        value_name = "ADDR",
        default_value = "127.0.0.1:7601"
    )]
    metrics: SocketAddr,

    /// Certificate for TLS as PEM, with those between it and the root
    ///
    /// When the files change, the coordinator uses the new ones at once.
    #[arg(
        long,
        env = "ARENA_COORDINATOR_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate
    #[arg(
        long,
        env = "ARENA_COORDINATOR_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,

    /// Certificate of the authority whose certificates clients may show instead of a token
    ///
    /// A URI arena:ROLE:NAME in such a certificate says what its holder may do.
    #[arg(
        long,
        env = "ARENA_COORDINATOR_TLS_CLIENT_CA",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_client_ca: Option<PathBuf>,

    /// Ask for no token: everyone who reaches the coordinator may do everything
    ///
    /// That includes programs that workers run. With --insecure, the coordinator listens
    /// on any address.
    #[arg(long, env = "ARENA_COORDINATOR_INSECURE")]
    insecure: bool,

    /// Let everyone who reaches the address of metrics read them
    ///
    /// Without it, an address that others can reach asks for the token of a viewer, as
    /// Prometheus sends it with credentials_file.
    #[arg(long, env = "ARENA_COORDINATOR_METRICS_PUBLIC")]
    metrics_public: bool,

    /// Address to serve read-only web pages on: tournaments, games, workers
    ///
    /// Without it, there are no pages. An address that others can reach asks for the token of a
    /// viewer, which a browser sends as the password, and needs a certificate.
    #[arg(long, env = "ARENA_COORDINATOR_WEB", value_name = "ADDR")]
    web: Option<SocketAddr>,

    /// Name of the web pages in URLs, in addition to their address and localhost
    ///
    /// Needed behind a proxy: requests with any other name are refused. With a name, the pages ask
    /// for the token of a viewer on loopback, too. Separated by commas, or repeated.
    #[arg(
        long,
        env = "ARENA_COORDINATOR_WEB_HOST",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "web"
    )]
    web_host: Vec<String>,

    /// Let everyone who reaches the address of the web pages read them
    #[arg(long, env = "ARENA_COORDINATOR_WEB_PUBLIC")]
    web_public: bool,

    /// Seconds without progress after which a lease expires
    #[arg(
        long,
        env = "ARENA_COORDINATOR_LEASE_DEADLINE",
        default_value_t = 10.0,
        value_name = "SECONDS"
    )]
    lease_deadline: f64,

    /// Seconds to wait for a lost worker to return before its agent is given up
    ///
    /// After that, an agent that starts on no worker loses its games. If the agent has
    /// run on a worker that has left, its games are void instead. If every game fails on
    /// the only worker, games are void after 30 % of this time.
    #[arg(
        long,
        alias = "host-patience",
        env = "ARENA_COORDINATOR_HOST_GRACE_PERIOD",
        default_value_t = default_grace_period(),
        value_name = "SECONDS"
    )]
    host_grace_period: f64,

    /// Share of games to play again on another worker and compare (audits)
    ///
    /// Of the games of a new worker process, at least 10 % are played again until ten of them
    /// agreed; also after a difference. 0: none.
    ///
    /// After a restart, the coordinator does not know which worker played the games that
    /// finished before. The same worker may audit those games.
    #[arg(
        long,
        alias = "audit",
        env = "ARENA_COORDINATOR_AUDIT_SHARE",
        default_value_t = 0.01,
        value_name = "0..1"
    )]
    audit_share: f64,

    /// Least level of the sandbox in which workers start registered binaries: none,
    /// kernel or strict
    ///
    /// A spec can ask for another one. [default: kernel; none if the coordinator listens
    /// on loopback, where workers use kernel if the machine has it]
    #[arg(long, env = "ARENA_COORDINATOR_SANDBOX", value_name = "LEVEL")]
    sandbox: Option<SandboxLevel>,

    /// Maximum number of reported games that wait to be written to disk. Above this
    /// number, the coordinator refuses reports until the queue is shorter, and workers
    /// slow down
    #[arg(long, env = "ARENA_COORDINATOR_REPORT_QUEUE", default_value_t = 65_536, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    report_queue: u64,

    /// Networks and ports at which agents may be endpoints [default: loopback only]
    ///
    /// Such as 10.0.0.0/8:5000, 10.0.0.7, [fd00::/8]:5000 or "unix" (Unix sockets),
    /// separated by commas. Link-local and multicast addresses and metadata services of
    /// clouds are always refused.
    #[arg(
        long = "allow-endpoint",
        alias = "agent-endpoints",
        env = "ARENA_COORDINATOR_AGENT_ENDPOINTS",
        value_name = "CIDR:PORT,…"
    )]
    agent_endpoints: Option<AgentNetworks>,

    /// Limits for each token of a role, such as submitter.agents=200
    ///
    /// Separated by commas, or repeated. See `arena token create --help` for the limits, and
    /// deploy/OTHERS.md for their defaults.
    #[arg(
        long,
        env = "ARENA_COORDINATOR_LIMIT",
        value_name = "ROLE.NAME=VALUE",
        value_delimiter = ','
    )]
    limit: Vec<String>,

    /// Remove tournaments this long after their end, such as 90d [default: keep them for ever]
    ///
    /// Their games, specs and standings are then gone; their names, times and results in short
    /// stay, and the audit trail names them. `arena store compact` gives the space back.
    #[arg(long, env = "ARENA_COORDINATOR_KEEP_TOURNAMENTS", value_name = "DURATION", value_parser = humantime::parse_duration)]
    keep_tournaments: Option<Duration>,

    /// Games of a tournament between two checkpoints of its sums; for tests
    #[arg(long, hide = true, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_games: Option<u64>,

    /// Free bytes on the disk below which nothing is written; for tests
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = arena_store::RESERVE_BYTES)]
    reserve: u64,
}

/// Where a coordinator listens.
#[derive(Clone, Debug)]
enum Listen {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

/// A socket's file, removed with the coordinator.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The next coordinator replaces a file that stays.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Maximum length of a socket's path, less that of a draft's ending.
const SOCKET_PATH_BYTES: usize = 100;

/// The socket of a data folder, through which commands on this machine reach the coordinator.
fn local_socket(data: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(data).ok()?.join("coordinator.sock");
    (path.as_os_str().len() <= SOCKET_PATH_BYTES).then_some(path)
}

/// Files reserved for other purposes than these connections: 64 connections of metrics, 32 of the own
/// user, 68 uploads and downloads, backups, and the store.
const FILES_RESERVED: u64 = 256;
/// Maximum number of connections, whatever the file limit.
const CONNECTIONS_MAX: u64 = 65_536;

/// Minimum number of files for connections.
const CONNECTIONS_MIN: u64 = 16;

/// Raises the limit of open files to the maximum, and returns how many of them may be
/// connections. Fails if too few files are left for the store.
fn connections_max() -> Result<usize, Failure> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Ok(arena_coordinator::CONNECTIONS_MAX);
    };
    let files = match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => hard,
        Err(error) => {
            tracing::warn!(soft, hard, "cannot raise the limit of open files: {error}");
            soft
        }
    };
    let connections = files.saturating_sub(FILES_RESERVED);
    if connections < CONNECTIONS_MIN {
        return Err(Failure::failed(format!(
            "this process may open {files} files, and a coordinator needs {}: raise the limit (`ulimit -n`, \
             or LimitNOFILE of a systemd unit)",
            FILES_RESERVED + CONNECTIONS_MIN
        )));
    }
    Ok(connections.min(CONNECTIONS_MAX) as usize)
}

/// The default of `--host-grace-period`. The environment variable had another name until
/// 0.1.
fn default_grace_period() -> f64 {
    let before = std::env::var("ARENA_COORDINATOR_HOST_PATIENCE");
    before.map_or(600.0, |text| text.parse().unwrap_or(f64::NAN))
}

impl CoordinatorArgs {
    /// The files of TLS, if there are any.
    fn tls_files(&self) -> Option<TlsFiles> {
        let files = self.tls_cert.clone().zip(self.tls_key.clone());
        files.map(|(certificate, key)| TlsFiles {
            certificate,
            key,
            client_ca: self.tls_client_ca.clone(),
        })
    }

    pub(crate) async fn run(self) -> Outcome {
        let wrong = |range: &str| Err(Failure::usage(range));
        if !(0.05..=86_400.0).contains(&self.lease_deadline) {
            return wrong("--lease-deadline must be from 0.05 to 86400 seconds");
        }
        if !(1.0..=86_400.0).contains(&self.host_grace_period) {
            return wrong("--host-grace-period must be from 1 to 86400 seconds");
        }
        if !(0.0..=1.0).contains(&self.audit_share) {
            return wrong("--audit-share must be from 0 to 1");
        }
        let mut limits = RoleLimits::default();
        for text in &self.limit {
            let set = limits.set(text);
            set.map_err(|problem| Failure::usage(format!("--limit: {problem}")))?;
        }
        let tls = self.tls_files();
        let is_open = matches!(self.listen, Listen::Tcp(address) if !address.ip().is_loopback());
        if !self.insecure && tls.is_none() && is_open {
            return Err(Failure::usage(format!(
                "--listen {}: an address that others can reach needs a certificate: make one with \
                 `arena tls init`, and name it with --tls-cert and --tls-key. With --insecure, \
                 the coordinator needs none, and everyone may do everything",
                self.listen
            )));
        }
        if !(self.insecure
            || self.metrics_public
            || tls.is_some()
            || self.metrics.ip().is_loopback())
        {
            tracing::warn!(
                "--metrics {}: tokens travel in plain text, and everyone between can use them: name \
                 a certificate with --tls-cert and --tls-key, or listen on loopback",
                self.metrics
            );
        }
        let mut web = self.bind_web(tls.is_some())?;
        let mut interrupt = Interrupt::listen()?;
        // While it stands by, the pages would not answer.
        let standing_by = || web = None;
        let Some(store) = self.open_store(&mut interrupt, standing_by).await? else {
            return Ok(());
        };
        let web = match web {
            Some(web) => Some(web),
            None => self.bind_web(tls.is_some())?,
        };
        let mut options = embedded::options(store.clone(), ([127, 0, 0, 1], 0).into());
        options.listen = match self.listen {
            Listen::Tcp(address) => Some(address),
            Listen::Unix(_) => None,
        };
        options.socket = match &self.listen {
            Listen::Tcp(_) => local_socket(&self.data),
            Listen::Unix(path) => Some(path.clone()),
        };
        let socket = options.socket.clone();
        options.metrics = Some(self.metrics);
        options.tls = tls;
        options.metrics_public = self.metrics_public || self.metrics.ip().is_loopback();
        options.sql_games = self.sql_games;
        options.keep_tournaments = self.keep_tournaments;
        options.events = Some(self.data.clone());
        let is_tls = options.tls.is_some();
        let unwritten = |error| Failure::failed(format!("admin token: {error}"));
        let admin = keep_data_token(&self.data).map_err(unwritten)?;
        if self.insecure {
            tracing::warn!(
                "--insecure: everyone who reaches {} may do everything",
                self.listen
            );
        } else {
            options.access = Access::Tokens {
                admin: admin.clone(),
            };
        }
        options.lease_deadline = Duration::from_secs_f64(self.lease_deadline);
        options.host_grace_period = Duration::from_secs_f64(self.host_grace_period);
        options.audit_share = self.audit_share;
        options.sandbox = self.sandbox.unwrap_or(match is_open {
            true => SandboxLevel::Kernel,
            false => SandboxLevel::None,
        });
        options.agent_networks = self.agent_endpoints.unwrap_or_default();
        options.limits = limits;
        options.connections_max = connections_max()?;
        let readers_max = web
            .as_ref()
            .map_or(0, |_| readers_max(options.connections_max));
        options.connections_max -= readers_max;
        options.report_queue_games = self.report_queue;
        if let Some(games) = self.checkpoint_games {
            options.checkpoint_games = games;
        }
        let service = options.build().await.map_err(Failure::failed)?;
        // From now on it is the socket of this process.
        let socket = socket.map(SocketFile);
        let scheme = if is_tls { "https" } else { "http" };
        let url = match (&socket, service.listen) {
            (Some(socket), _) => format!("unix:{}", socket.0.display()),
            (None, Some(mut listen)) => {
                if listen.ip().is_unspecified() {
                    listen.set_ip([127, 0, 0, 1].into());
                }
                format!("{scheme}://{listen}")
            }
            (None, None) => String::new(),
        };
        // First, because clients may connect already.
        let local = service
            .listen
            .map(|listen| LocalToken::write(listen, &admin));
        let local = local.transpose();
        let address = embedded::Address::write(&self.data, url)?;
        if let Err(error) = &local {
            let file = self.data.join(ADMIN_TOKEN_FILE);
            tracing::warn!(
                "commands on this machine need --token-file {}: {error}",
                file.display()
            );
        }
        output::json_line(&json!({
            "listen": service.listen.map_or_else(|| self.listen.to_string(), |it| it.to_string()),
            "metrics": service.metrics.map(|address| address.to_string()),
            "web": web.as_ref().map(Web::address),
        }))?;
        let web = web.map(|web| web.start(&service, readers_max));
        let summary = service.run(async move { interrupt.asked().await }).await;
        drop(web);
        drop((address, local, socket));
        store.close().map_err(Failure::failed)?;
        let summary = summary.map_err(Failure::failed)?;
        note(format!(
            "stopped; {} unfinished tournaments continue at the next start",
            summary.tournaments_open
        ));
        Ok(())
    }
}
