//! Logs, metrics and the pages `/metrics` and `/healthz`.
//!
//! ```
//! use arena_telemetry::{CoordinatorMetrics, MetricsServer, Outcome, Registry};
//!
//! let registry = Registry::new();
//! let metrics = CoordinatorMetrics::new(&registry, ["cowry", "kalah"])?;
//! metrics.prepare("cowry", ["random", "aggressive"]);
//! metrics.game_finished("cowry", "normal", 118);
//! metrics.agent_finished("random", "cowry", Outcome::Loss);
//! metrics.agent_finished("aggressive", "cowry", Outcome::Win);
//!
//! let server = MetricsServer::bind("127.0.0.1:0")?;
//! println!("http://{}/metrics", server.local_addr());
//! // server.run(registry, || Ok(()), shutdown).await
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every metric is listed in [`catalogue`]. A test compares the list with `deploy/`.

pub mod catalogue;
mod coordinator;
mod http;
mod labels;
mod latency;
pub mod logs;
mod page;
mod places;
mod server;
mod stalled;
#[cfg(test)]
mod tests;
mod tournaments;
mod unread;
mod weighted;
mod worker;

pub use coordinator::{
    AuditOutcome, CoordinatorMetrics, FORBIDDEN, Outcome, ReportOutcome, grpc_code,
};
pub use http::{Acceptor, HttpLimits, HttpServer, ServeError, UNREAD_TIMEOUT};
pub use labels::{MAX_AGENTS, OTHER};
pub use latency::{LatencyBucketError, LatencyHistogram};
pub use places::{Place, Places, Seat};
pub use prometheus::{Histogram, IntCounter, IntGauge, Registry, TextEncoder};
pub use server::{Denied, MetricsServer, Permit, Permits, Reading};
pub use tournaments::{Series, TournamentGauges, TournamentSeries};
pub use unread::{PART_BYTES, UNREAD_BYTES_MAX, UnreadAnswer, UnreadAnswers};
pub use weighted::WeightedHistogram;
pub use worker::{MoveLatency, MoveMeter, MoveTiming, WorkerMetrics};

/// A metric that could not be registered: each registry takes a group only once.
pub type MetricsError = prometheus::Error;
