//! Options of a coordinator.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use arena_access::TlsFiles;
use arena_model::SandboxLevel;
use arena_store::Store;
use arena_wire::{networks::AgentNetworks, v1};

use crate::{
    agents::CheckNative,
    checkpoint::CHECKPOINT_GAMES,
    door::Access,
    limits::RoleLimits,
    rpc::deadlines::{self, Deadlines},
};

/// Default for the maximum number of connections.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Default for the maximum time of a connection without a request.
const IDLE_MAX: Duration = Duration::from_secs(300);

/// Settings of a coordinator.
pub struct Options {
    /// Store of everything durable. The caller opens and closes it.
    pub store: Arc<dyn Store>,
    /// Address for gRPC, if any; port 0 takes a free one.
    pub listen: Option<SocketAddr>,
    /// A Unix socket for programs of this user, which need no token.
    pub socket: Option<PathBuf>,
    /// Address for `/metrics` and `/healthz`, if any.
    pub metrics: Option<SocketAddr>,
    /// True if everyone who reaches the address of metrics may read them. Else, where tokens are
    /// asked for, they need that of a viewer.
    pub metrics_public: bool,
    /// Who may use it.
    pub access: Access,
    /// What tokens and certificates may use.
    pub limits: RoleLimits,
    /// Folder of the audit trail, if it is kept.
    pub events: Option<PathBuf>,
    /// The certificate; without one, connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// The bots built into workers. Each is always available as an agent of its own name.
    pub native: v1::DescribeResponse,
    /// Checks a game of a built-in bot before it is scheduled.
    pub check_native: CheckNative,
    /// A lease without progress for this time is taken back. Tournaments add to it if their agents
    /// have to start or may think for a long time.
    pub lease_deadline: Duration,
    /// Time for lost workers to return before games are charged or void; see `ARCHITECTURE.md`.
    pub host_grace_period: Duration,
    /// Share of games replayed on another worker and compared, from 0 to 1.
    pub audit_share: f64,
    /// Least level of the sandbox of tournaments that ask for none.
    pub sandbox: SandboxLevel,
    /// Where agents may be endpoints.
    pub agent_networks: AgentNetworks,
    /// Maximum time that a stop waits for open reports.
    pub drain_limit: Duration,
    /// Maximum number of open connections; further ones are closed. Each needs a file.
    pub connections_max: usize,
    /// Maximum time of a connection without a request; clients open a new one.
    pub idle_max: Duration,
    /// Maximum number of reported games that wait for the disk; further reports are refused with
    /// RESOURCE_EXHAUSTED and a delay.
    pub report_queue_games: u64,
    /// Games of a tournament after which a checkpoint is written, at least 1. It does not change
    /// standings; a start takes longer with more.
    pub checkpoint_games: u64,
    /// Write a row for each game, if the store has tables that people query.
    pub sql_games: bool,
    /// Remove tournaments that ended longer ago than this; none if they stay for ever.
    pub keep_tournaments: Option<Duration>,
    /// Play only tournaments that are started or resumed by a request to this coordinator; those
    /// of earlier starts stay as they are.
    pub only_started: bool,
    /// Accept records without replaying them.
    #[cfg(test)]
    pub(crate) trusts_records: bool,
    /// Tests of requests that are not answered do not wait long.
    #[cfg(test)]
    pub(crate) deadlines: Deadlines,
}

impl Options {
    /// The default settings.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, listen: SocketAddr, native: v1::DescribeResponse) -> Self {
        Self {
            store,
            listen: Some(listen),
            socket: None,
            metrics: None,
            metrics_public: true,
            access: Access::Open,
            limits: RoleLimits::default(),
            events: None,
            tls: None,
            native,
            check_native: |_, _, _, _, _| Ok(()),
            lease_deadline: Duration::from_secs(10),
            host_grace_period: Duration::from_secs(600),
            audit_share: 0.01,
            sandbox: SandboxLevel::None,
            agent_networks: AgentNetworks::default(),
            drain_limit: Duration::from_secs(10),
            connections_max: CONNECTIONS_MAX,
            idle_max: IDLE_MAX,
            report_queue_games: 65_536,
            checkpoint_games: CHECKPOINT_GAMES,
            sql_games: false,
            keep_tournaments: None,
            only_started: false,
            #[cfg(test)]
            trusts_records: false,
            #[cfg(test)]
            deadlines: deadlines::of,
        }
    }

    /// The time in which methods answer.
    #[cfg_attr(
        not(test),
        expect(clippy::unused_self, reason = "tests choose the time")
    )]
    pub(crate) fn deadlines(&self) -> Deadlines {
        #[cfg(test)]
        return self.deadlines;
        #[cfg(not(test))]
        deadlines::of
    }
}
