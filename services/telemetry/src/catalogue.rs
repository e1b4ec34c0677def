//! All metrics: names, types, labels, meanings.
//!
//! The metric groups are built only from these values, so the list is always complete.

use std::collections::HashMap;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
    core::{Collector, Desc},
    proto,
};
use strum::IntoStaticStr;

use crate::MetricsError;

/// Parts of a move, 100 ns to 60 s, in seconds: a bot in process may take less than a
/// microsecond, an agent elsewhere as long as it is given.
const MOVE_BUCKETS: &[f64] = &[
    100e-9, 250e-9, 500e-9, 1e-6, 2.5e-6, 5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
    2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];
/// Overhead of a move, 100 ns to 1 s, in seconds.
const OVERHEAD_BUCKETS: &[f64] = &[
    100e-9, 250e-9, 500e-9, 1e-6, 2.5e-6, 5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
    2.5e-3, 5e-3, 10e-3, 25e-3, 0.1, 0.25, 1.0,
];
/// A durable write, 250 µs to 10 s, in seconds.
const COMMIT_BUCKETS: &[f64] = &[
    250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];
/// A request that may wait, 500 µs to 60 s, in seconds.
const WAIT_BUCKETS: &[f64] = &[
    500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    60.0,
];
/// Length of a game, in plies.
const PLY_BUCKETS: &[f64] = &[
    10.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0, 125.0, 150.0, 200.0, 300.0, 500.0, 1000.0, 2000.0,
];
/// Decisions sent in one message.
const BATCH_BUCKETS: &[f64] = &[
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by upper bounds.
    Histogram(&'static [f64]),
}

impl MetricKind {
    /// The word Prometheus has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Full name.
    pub name: &'static str,
    /// What it is.
    pub kind: MetricKind,
    /// Names of its labels, in order.
    pub labels: &'static [&'static str],
    /// What it counts, in one line.
    pub help: &'static str,
}

type Text = &'static str;

const fn metric(kind: MetricKind, name: Text, labels: &'static [Text], help: Text) -> Metric {
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

const fn counter(name: Text, labels: &'static [Text], help: Text) -> Metric {
    metric(MetricKind::Counter, name, labels, help)
}

const fn gauge(name: Text, labels: &'static [Text], help: Text) -> Metric {
    metric(MetricKind::Gauge, name, labels, help)
}

const fn histogram(
    name: Text,
    labels: &'static [Text],
    buckets: &'static [f64],
    help: Text,
) -> Metric {
    metric(MetricKind::Histogram(buckets), name, labels, help)
}

/// The help of a metric: the last argument.
macro_rules! help {
    ($help:literal) => { $help };
    ($first:tt $($others:tt)+) => { help!($($others)+) };
}

/// Makes the constants and the list of them at once, so that none is left out. The help of a metric also documents
/// its constant.
macro_rules! metrics {
    ($(#[$doc:meta])* $list:ident: $($name:ident = $kind:ident($($argument:tt)+);)*) => {
        $(
            #[doc = help!($($argument)+)]
            pub const $name: Metric = $kind($($argument)+);
        )*
        $(#[$doc])*
        pub const $list: &[Metric] = &[$($name,)*];
    };
}

metrics! {
    /// On the coordinator and on workers.
    COMMON:
    BUILD_INFO = gauge("arena_build_info", &["version", "profile", "target"],
        "Always 1; the labels are version, profile and target of the program");
}

metrics! {
    /// On the coordinator: counted when a game is durable.
    COORDINATOR:
    AGENT_GAMES = counter("arena_agent_games_total", &["agent", "ruleset", "result"],
        "Durable games of an agent by result: win (sole first), draw (shared first), loss, void");
    GAMES = counter("arena_games_total", &["ruleset", "termination"],
        "Durable games by how they ended: normal, forfeit, void, deadlock, repetition, cap, adjudication");
    GAME_PLIES = histogram("arena_game_plies", &["ruleset"], PLY_BUCKETS,
        "Plies of a durable game");
    FAULTS = counter("arena_faults_total", &["agent", "kind"],
        "Faults of agents in durable games by kind");
    QUEUE_DEPTH = gauge("arena_queue_depth", &[],
        "Games of running tournaments that wait for a worker; scale workers by it");
    GAMES_IN_FLIGHT = gauge("arena_games_in_flight", &[],
        "Games leased to workers and not yet durable");
    TOURNAMENTS = gauge("arena_tournaments", &["state"],
        "Tournaments by state: running, paused, finished, cancelled");
    TOURNAMENTS_PAUSED = gauge("arena_tournaments_paused", &["reason"],
        "Paused tournaments by reason: user, agent_does_not_start, unplayed_games, rules_failed");
    WORKERS = gauge("arena_workers", &[], "Connected workers");
    WORKERS_QUARANTINED = gauge("arena_workers_quarantined", &[],
        "Worker processes in quarantine, because they sent a record that cannot have happened or \
         that a third play refuted");
    LEASES = gauge("arena_leases", &[], "Leases held by workers");
    LEASES_GRANTED = counter("arena_leases_granted_total", &[], "Leases granted to workers");
    LEASE_WAIT = histogram("arena_lease_wait_seconds", &[], WAIT_BUCKETS,
        "Time from a worker's request for games to its lease, including the wait for games");
    LEASES_EXPIRED = counter("arena_leases_expired_total", &[],
        "Leases revoked because their games made no progress before the deadline");
    REPORTS = counter("arena_reports_total", &["outcome"],
        "Games reported by workers: new, duplicate, differing (not the durable record), rejected");
    AUDITS = counter("arena_audits_total", &["outcome"],
        "Games replayed by another worker, by outcome: agreed, differing, contradicted (without a fault \
         of the first record, on a worker of another owner)");
    AUDITS_WAITING = gauge("arena_audits_waiting", &[],
        "Finished games that wait for a replay by another worker");
    REPORT_DURATION = histogram("arena_report_duration_seconds", &[], WAIT_BUCKETS,
        "Time from the start of a report to its answer, which is sent when all of it is durable");
    REPORTS_REFUSED = counter("arena_reports_refused_total", &[],
        "Reports refused with RESOURCE_EXHAUSTED because too many games wait; workers slow down \
         and report again");
    REPORT_QUEUE = gauge("arena_report_queue_games", &[],
        "Reported games that are not yet acknowledged");
    COMMAND_QUEUE = gauge("arena_command_queue_depth", &[],
        "Requests that wait for the coordinator's state");
    CONNECTIONS = gauge("arena_connections", &[], "Open gRPC connections");
    CONNECTIONS_REFUSED = counter("arena_connections_refused_total", &[],
        "gRPC connections rejected: the limit of all connections, or of those of a token, is reached");
    REQUESTS_REFUSED = counter("arena_requests_refused_total", &["reason"],
        "Requests refused for lack of a permission or by a limit of their token, by reason: \
         TOKEN_MISSING, TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED, TOKEN_USED, TOKEN_ADDRESS, \
         ROLE_INSUFFICIENT, LIMIT_REACHED, NOT_LEASED, NOT_OWNER, UNKNOWN_WORKER, \
         WORKER_QUARANTINED");
    SCRAPES_REFUSED = counter("arena_scrapes_refused_total", &["reason"],
        "Requests of metrics refused by the coordinator for lack of a permission, by reason, as in \
         arena_requests_refused_total");
    CERTIFICATE_EXPIRY = gauge("arena_tls_certificate_expiry_timestamp_seconds", &["certificate"],
        "Time at which the first certificate of a file in use expires, in Unix time: server \
         (--tls-cert), client_ca (--tls-client-ca); absent without TLS");
    INSECURE = gauge("arena_insecure", &[],
        "1 if everyone who reaches the coordinator may do everything (--insecure), else 0");
    STORE_COMMIT = histogram("arena_store_commit_seconds", &[], COMMIT_BUCKETS,
        "Duration of a group commit, including fdatasync");
    STORE_COMMIT_PHASE = histogram("arena_store_commit_phase_seconds", &["phase"], COMMIT_BUCKETS,
        "Parts of the time until a result is durable: waiting for the previous commit (wait), \
         for more results (gather), packing (pack), the database (apply), its file (write), \
         fdatasync (sync) and the commit marker (receipt)");
    STORE_RECORDS = counter("arena_store_records_total", &[], "Game records made durable");
    STORE_BYTES = gauge("arena_store_bytes", &[], "Size of the store on disk");
    STORE_QUEUE_DEPTH = gauge("arena_store_queue_depth", &[],
        "Game records that wait for the store's writer");
    GRPC_REQUESTS = counter("arena_grpc_requests_total", &["method", "code"],
        "gRPC requests that the coordinator answered, or whose clients left before (CANCELLED); \
         unknown methods count as other");
}

metrics! {
    /// On the coordinator: how tournaments stand, taken from the store and not counted by
    /// the process. Of tournaments that go on and of those that ended last.
    TOURNAMENT:
    TOURNAMENT_INFO = gauge("arena_tournament_info", &["tournament", "ruleset", "format", "state"],
        "Always 1; the labels are ruleset, format and state of a tournament");
    TOURNAMENT_STARTED = gauge("arena_tournament_started_timestamp_seconds", &["tournament"],
        "Time at which a tournament was started, in Unix time");
    TOURNAMENT_FINISHED = gauge("arena_tournament_finished_timestamp_seconds", &["tournament"],
        "Time at which a tournament finished or was cancelled, in Unix time; absent until then");
    TOURNAMENT_DEVIATING = gauge("arena_tournament_workers_deviating", &["tournament"],
        "Pairs of a worker and an agent whose games have another score than the other workers lead \
         to expect (p < 0.001), if agents are timed or not deterministic");
    TOURNAMENT_REFUTED = gauge("arena_tournament_games_refuted", &["tournament"],
        "Games that count although a third play refuted their records, or a worker of another owner did \
         not have their faults");
    TOURNAMENT_GAMES = gauge("arena_tournament_games", &["tournament", "state"],
        "Known games of a tournament by state: done (durable, including void games), in_flight, \
         waiting");
    FIRST_SEAT_SCORE = gauge("arena_tournament_first_seat_score", &["tournament", "ruleset"],
        "Mean score of the first seat");
    FIRST_SEAT_LOW = gauge("arena_tournament_first_seat_score_low", &["tournament", "ruleset"],
        "Lower end of the 95 % confidence interval of the first seat's score for a fixed number of \
         blocks");
    FIRST_SEAT_HIGH = gauge("arena_tournament_first_seat_score_high", &["tournament", "ruleset"],
        "Upper end of the 95 % confidence interval of the first seat's score for a fixed number of \
         blocks");
    FIRST_SEAT_ANYTIME_LOW = gauge("arena_tournament_first_seat_score_anytime_low",
        &["tournament", "ruleset"],
        "Lower end of the 95 % anytime-valid interval of the first seat's score");
    FIRST_SEAT_ANYTIME_HIGH = gauge("arena_tournament_first_seat_score_anytime_high",
        &["tournament", "ruleset"],
        "Upper end of the 95 % anytime-valid interval of the first seat's score");
    AGENT_RANK = gauge("arena_tournament_agent_rank", &["tournament", "ruleset", "agent"],
        "Place of an agent in the standings, from 1");
    AGENT_PLAYED = gauge("arena_tournament_agent_games", &["tournament", "ruleset", "agent"],
        "Games of an agent that have a placement");
    AGENT_RESULTS = gauge("arena_tournament_agent_results",
        &["tournament", "ruleset", "agent", "result"],
        "Games of an agent by result: win (sole first), draw (shared first), loss, void");
    AGENT_SCORE = gauge("arena_tournament_agent_score", &["tournament", "ruleset", "agent"],
        "Mean game score of an agent, as in the standings");
    AGENT_SCORE_LOW = gauge("arena_tournament_agent_score_low",
        &["tournament", "ruleset", "agent"],
        "Lower end of the score's 95 % confidence interval for a fixed number of blocks");
    AGENT_SCORE_HIGH = gauge("arena_tournament_agent_score_high",
        &["tournament", "ruleset", "agent"],
        "Upper end of the score's 95 % confidence interval for a fixed number of blocks");
    AGENT_SCORE_ANYTIME_LOW = gauge("arena_tournament_agent_score_anytime_low",
        &["tournament", "ruleset", "agent"],
        "Lower end of the score's 95 % anytime-valid interval");
    AGENT_SCORE_ANYTIME_HIGH = gauge("arena_tournament_agent_score_anytime_high",
        &["tournament", "ruleset", "agent"],
        "Upper end of the score's 95 % anytime-valid interval");
    AGENT_WIN_RATE = gauge("arena_tournament_agent_win_rate", &["tournament", "ruleset", "agent"],
        "Share of an agent's games that it won, as in the standings");
    AGENT_WIN_RATE_LOW = gauge("arena_tournament_agent_win_rate_low",
        &["tournament", "ruleset", "agent"],
        "Lower end of the win rate's 95 % confidence interval for a fixed number of blocks");
    AGENT_WIN_RATE_HIGH = gauge("arena_tournament_agent_win_rate_high",
        &["tournament", "ruleset", "agent"],
        "Upper end of the win rate's 95 % confidence interval for a fixed number of blocks");
    AGENT_PLIES = gauge("arena_tournament_agent_plies_mean", &["tournament", "ruleset", "agent"],
        "Mean number of plies in an agent's games");
    AGENT_FAULTS = gauge("arena_tournament_agent_faults",
        &["tournament", "ruleset", "agent", "kind"],
        "Faults of an agent by kind; kinds without a fault are absent");
    AGENT_THINKING = gauge("arena_tournament_agent_move_thinking_seconds",
        &["tournament", "ruleset", "agent", "percentile"],
        "Percentiles (50 and 99) of the thinking time of an agent's moves");
    AGENT_WAITING = gauge("arena_tournament_agent_move_waiting_seconds",
        &["tournament", "ruleset", "agent", "percentile"],
        "Percentiles (50 and 99) of the waiting time of an agent's moves");
    AGENTS_LEFT_OUT = gauge("arena_tournament_agents_left_out", &[],
        "Agents of these tournaments without series, because the number of series is limited");
}

/// All lists, in order.
pub const ALL: [&[Metric]; 4] = [COMMON, COORDINATOR, TOURNAMENT, WORKER];

metrics! {
    /// On workers.
    WORKER:
    MOVE_THINKING = histogram("arena_move_thinking_seconds", &["agent", "ruleset"], MOVE_BUCKETS,
        "Thinking time of a move: what the agent reports, else the move's share of the round \
         trip; a timeout counts with the time until its detection");
    MOVE_WAITING = histogram("arena_move_waiting_seconds", &["agent", "ruleset"], MOVE_BUCKETS,
        "Time that a move waits until the agent starts on it: in the queue, for a batch, and for \
         other decisions of its batch");
    MOVE_ROUND_TRIP = histogram("arena_move_round_trip_seconds", &["agent", "ruleset"],
        MOVE_BUCKETS,
        "A move's share of the round trip to the agent, thinking included: the time that the \
         connection was busy with the batch, divided by the decisions of the batch");
    MOVE_TRANSPORT = histogram("arena_move_transport_seconds", &["agent", "ruleset"],
        MOVE_BUCKETS,
        "Round trip without thinking: encoding and network; only if the agent reports its own \
         time");
    MOVE_DURATION = histogram("arena_move_duration_seconds", &["agent", "ruleset"], MOVE_BUCKETS,
        "Time from the request of a move to its answer: waiting and round trip");
    MOVE_AGENT = histogram("arena_move_agent_seconds", &["agent", "ruleset"], MOVE_BUCKETS,
        "Former name of arena_move_thinking_seconds, with the same values; will be removed in \
         the next release");
    MOVE_OVERHEAD = histogram("arena_move_manager_seconds", &["ruleset"], OVERHEAD_BUCKETS,
        "Overhead of a move in the worker, without the agent: rules, chance, recording, the next \
         request");
    DECISIONS = counter("arena_decisions_total", &["agent", "ruleset"],
        "Decisions requested from an agent, answered or not");
    WORKER_GAMES = counter("arena_worker_games_total", &["ruleset"],
        "Games that this worker finished");
    WORKER_GAMES_IN_FLIGHT = gauge("arena_worker_games_in_flight", &[],
        "Games that this worker is playing");
    AGENT_PROCESSES = gauge("arena_agent_processes", &["agent"],
        "Agent processes that this worker supervises");
    AGENT_RESTARTS = counter("arena_agent_restarts_total", &["agent"],
        "Restarts of an agent's process");
    AGENT_BATCH_SIZE = histogram("arena_agent_batch_size", &[], BATCH_BUCKETS,
        "Decisions sent to an agent in one message");
    REPORT_RETRIES = counter("arena_worker_report_retries_total", &[],
        "Reports sent again because the coordinator did not answer or was full");
}

/// Names of the metrics of every process, on Linux.
pub const PROCESS: &[&str] = &[
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_threads",
    "process_virtual_memory_bytes",
];

impl Metric {
    /// Its descriptor, for a collector of our own.
    pub(crate) fn desc(&self) -> Result<Desc, MetricsError> {
        let labels = self.labels.iter().map(ToString::to_string).collect();
        let (name, help) = (self.name.to_owned(), self.help.to_owned());
        Desc::new(name, help, labels, HashMap::new())
    }

    fn opts(&self) -> Opts {
        Opts::new(self.name, self.help)
    }

    /// The upper bounds of a histogram's buckets.
    pub(crate) fn buckets(&self) -> &'static [f64] {
        match self.kind {
            MetricKind::Histogram(buckets) => buckets,
            MetricKind::Counter | MetricKind::Gauge => &[],
        }
    }

    fn histogram_opts(&self) -> HistogramOpts {
        HistogramOpts::from(self.opts()).buckets(self.buckets().to_vec())
    }

    pub(crate) fn counter(&self, registry: &Registry) -> Result<IntCounter, MetricsError> {
        register(registry, IntCounter::with_opts(self.opts())?)
    }

    pub(crate) fn counters(&self, registry: &Registry) -> Result<IntCounterVec, MetricsError> {
        register(registry, IntCounterVec::new(self.opts(), self.labels)?)
    }

    pub(crate) fn gauge(&self, registry: &Registry) -> Result<IntGauge, MetricsError> {
        register(registry, IntGauge::with_opts(self.opts())?)
    }

    pub(crate) fn gauges(&self, registry: &Registry) -> Result<IntGaugeVec, MetricsError> {
        register(registry, IntGaugeVec::new(self.opts(), self.labels)?)
    }

    pub(crate) fn histogram(&self, registry: &Registry) -> Result<Histogram, MetricsError> {
        register(registry, Histogram::with_opts(self.histogram_opts())?)
    }

    pub(crate) fn histograms(&self, registry: &Registry) -> Result<HistogramVec, MetricsError> {
        register(
            registry,
            HistogramVec::new(self.histogram_opts(), self.labels)?,
        )
    }
}

fn register<C: Collector + Clone + 'static>(
    registry: &Registry,
    collector: C,
) -> Result<C, MetricsError> {
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}

/// The values of a metric.
pub(crate) fn family(metric: &Metric, values: Vec<proto::Metric>) -> proto::MetricFamily {
    let mut family = proto::MetricFamily::default();
    family.set_name(metric.name.to_owned());
    family.set_help(metric.help.to_owned());
    family.set_field_type(match metric.kind {
        MetricKind::Counter => proto::MetricType::COUNTER,
        MetricKind::Gauge => proto::MetricType::GAUGE,
        MetricKind::Histogram(_) => proto::MetricType::HISTOGRAM,
    });
    family.set_metric(values);
    family
}

/// Labels of a series: names of the metric with these values.
pub(crate) fn labelled(metric: &Metric, values: &[&str]) -> proto::Metric {
    let mut pairs: Vec<proto::LabelPair> = metric
        .labels
        .iter()
        .zip(values)
        .map(|(name, value)| {
            let mut pair = proto::LabelPair::default();
            pair.set_name((*name).to_owned());
            pair.set_value((*value).to_owned());
            pair
        })
        .collect();
    pairs.sort_by(|a, b| a.name().cmp(b.name()));
    proto::Metric::from_label(pairs)
}

/// Registers what every process has: build information and, on Linux, the
/// process itself. A process that is coordinator and worker has them once.
pub(crate) fn register_common(registry: &Registry) -> Result<(), MetricsError> {
    let build = match BUILD_INFO.gauges(registry) {
        Err(MetricsError::AlreadyReg) => return Ok(()),
        other => other?,
    };
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    build
        .with_label_values(&[env!("CARGO_PKG_VERSION"), profile, &target])
        .set(1);
    #[cfg(target_os = "linux")]
    registry.register(Box::new(
        prometheus::process_collector::ProcessCollector::for_self(),
    ))?;
    Ok(())
}
