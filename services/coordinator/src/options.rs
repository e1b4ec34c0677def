//! Options of a coordinator.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use arena_store::Store;
use arena_wire::v1;

use crate::{agents::CheckNative, checkpoint::CHECKPOINT_GAMES};

/// Connections where nobody says how many there may be.
pub const CONNECTIONS_MAX: usize = 16_384;

/// How a coordinator is to run.
pub struct Options {
    /// Where everything durable is kept. The caller opens and closes it.
    pub store: Arc<dyn Store>,
    /// Where gRPC listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where `/metrics` and `/healthz` listen; none: nowhere.
    pub metrics: Option<SocketAddr>,
    /// The bots built into workers. Each is an agent of its own name that is
    /// always there.
    pub native: v1::DescribeResponse,
    /// What the native bots say of a game before it is scheduled.
    pub check_native: CheckNative,
    /// A lease without progress for this long is taken back. Tournaments whose
    /// agents have to start or may think for long are given more.
    pub lease_deadline: Duration,
    /// How long hosts may take to come back before games are charged or void because
    /// of what they lack: see `ARCHITECTURE.md`.
    pub host_grace_period: Duration,
    /// Share of games played again on another worker and compared, 0 to 1.
    pub audit_share: f64,
    /// How long a stop waits for open reports.
    pub drain_limit: Duration,
    /// How many connections may be open at a time; more are closed as they
    /// come. Each takes a file.
    pub connections_max: usize,
    /// How many reported games may wait to become durable; reports above that
    /// are refused with RESOURCE_EXHAUSTED and a time to come again after.
    pub report_queue_games: u64,
    /// After so many games of a tournament its sums are kept anew, at least 1.
    /// Standings are the same whatever it is; a start takes longer with more.
    pub checkpoint_games: u64,
    /// Play only tournaments that are started or resumed by a request to this
    /// coordinator; those of earlier starts stay as they are.
    pub only_started: bool,
}

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, listen: SocketAddr, native: v1::DescribeResponse) -> Self {
        Self {
            store,
            listen,
            metrics: None,
            native,
            check_native: |_, _, _, _, _| Ok(()),
            lease_deadline: Duration::from_secs(10),
            host_grace_period: Duration::from_secs(600),
            audit_share: 0.01,
            drain_limit: Duration::from_secs(10),
            connections_max: CONNECTIONS_MAX,
            report_queue_games: 65_536,
            checkpoint_games: CHECKPOINT_GAMES,
            only_started: false,
        }
    }
}
