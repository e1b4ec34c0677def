//! Metrics of the coordinator.

use std::time::Duration;

use prometheus::{
    Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry,
};
use strum::{IntoStaticStr, VariantNames};

use crate::{
    MetricsError,
    catalogue::{self, register_common},
    labels::{Labels, OTHER, one_of},
    tournaments::TournamentGauges,
};

const TERMINATIONS: &[&str] = &[
    "normal",
    "forfeit",
    "void",
    "deadlock",
    "repetition",
    "cap",
    "adjudication",
];
const FAULTS: &[&str] = &[
    "illegal_move",
    "timeout",
    "crash",
    "not_ready",
    "disconnected",
    "garbled",
    "output_limit",
    "memory_limit",
    "process_limit",
    "disk_limit",
    "cpu_limit",
];
/// gRPC status codes by number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Name of a status code of gRPC.
#[must_use]
pub fn grpc_code(code: i32) -> &'static str {
    let known = usize::try_from(code).ok();
    let known = known.and_then(|code| CODES.get(code));
    known.copied().unwrap_or("UNKNOWN")
}

const STATES: &[&str] = &["running", "paused", "finished", "cancelled"];
const PAUSES: &[&str] = &[
    "user",
    "agent_does_not_start",
    "unplayed_games",
    "rules_failed",
];

/// Result of a game for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// Sole first place.
    Win,
    /// Shared first place.
    Draw,
    /// Neither.
    Loss,
    /// The game does not count.
    Void,
}

/// Reasons why the caller of an admitted request may not do what it asks for.
pub const FORBIDDEN: &[&str] = &[
    "LIMIT_REACHED",
    "NOT_LEASED",
    "NOT_OWNER",
    "UNKNOWN_WORKER",
    "WORKER_QUARANTINED",
];

/// Reasons why a request is refused before it is read.
const REFUSALS: &[&str] = &[
    "TOKEN_MISSING",
    "TOKEN_INVALID",
    "TOKEN_EXPIRED",
    "TOKEN_REVOKED",
    "TOKEN_USED",
    "TOKEN_ADDRESS",
    "ROLE_INSUFFICIENT",
    "LIMIT_REACHED",
];

/// Result of reporting a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ReportOutcome {
    /// The first record of its game.
    New,
    /// The same record again.
    Duplicate,
    /// A record that differs from the durable one.
    Differing,
    /// Not accepted: unknown, damaged, or the queue was full.
    Rejected,
}

/// Result of replaying a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum AuditOutcome {
    /// The same record.
    Agreed,
    /// Another record.
    Differing,
    /// Without a fault of the first record, on a worker of another owner.
    Contradicted,
}

/// The coordinator's metrics. Metrics without labels are set directly.
#[derive(Debug)]
pub struct CoordinatorMetrics {
    labels: Labels,
    agent_games: IntCounterVec,
    games: IntCounterVec,
    game_plies: HistogramVec,
    faults: IntCounterVec,
    tournaments: IntGaugeVec,
    paused: IntGaugeVec,
    reports: IntCounterVec,
    audits: IntCounterVec,
    /// Finished games that wait for an audit.
    pub audits_waiting: IntGauge,
    grpc_requests: IntCounterVec,
    store_commit: Histogram,
    store_commit_phase: HistogramVec,
    store_records: IntCounter,
    /// Games of running tournaments that wait for a worker.
    pub queue_depth: IntGauge,
    /// Games leased to workers and not yet durable.
    pub games_in_flight: IntGauge,
    /// Workers that are present.
    pub workers: IntGauge,
    /// Worker processes in quarantine.
    pub quarantined: IntGauge,
    /// Leases that workers hold.
    pub leases: IntGauge,
    leases_granted: IntCounter,
    lease_wait: Histogram,
    report_duration: Histogram,
    /// Reports refused because too many games wait.
    pub reports_refused: IntCounter,
    /// Reported games that are not acknowledged yet.
    pub report_queue_games: IntGauge,
    /// Requests that wait for the core.
    pub command_queue: IntGauge,
    /// Open connections.
    pub connections: IntGauge,
    /// Connections closed because of the limit.
    pub connections_refused: IntCounter,
    requests_refused: IntCounterVec,
    scrapes_refused: IntCounterVec,
    certificate_expiry: IntGaugeVec,
    /// 1 if everyone may do everything.
    pub insecure: IntGauge,
    /// Leases taken back.
    pub leases_expired: IntCounter,
    /// Size of the store on disk, bytes.
    pub store_bytes: IntGauge,
    /// Records that wait for the store's writer.
    pub store_queue_depth: IntGauge,
    /// Standings of tournaments.
    pub standings: TournamentGauges,
}

impl CoordinatorMetrics {
    /// Registers them; `rulesets` are the names that may become labels.
    ///
    /// # Errors
    /// If the registry already has them.
    pub fn new<R: Into<String>>(
        registry: &Registry,
        rulesets: impl IntoIterator<Item = R>,
    ) -> Result<Self, MetricsError> {
        register_common(registry)?;
        let made = Self {
            labels: Labels::new(rulesets),
            agent_games: catalogue::AGENT_GAMES.counters(registry)?,
            games: catalogue::GAMES.counters(registry)?,
            game_plies: catalogue::GAME_PLIES.histograms(registry)?,
            faults: catalogue::FAULTS.counters(registry)?,
            tournaments: catalogue::TOURNAMENTS.gauges(registry)?,
            paused: catalogue::TOURNAMENTS_PAUSED.gauges(registry)?,
            reports: catalogue::REPORTS.counters(registry)?,
            audits: catalogue::AUDITS.counters(registry)?,
            audits_waiting: catalogue::AUDITS_WAITING.gauge(registry)?,
            grpc_requests: catalogue::GRPC_REQUESTS.counters(registry)?,
            store_commit: catalogue::STORE_COMMIT.histogram(registry)?,
            store_commit_phase: catalogue::STORE_COMMIT_PHASE.histograms(registry)?,
            store_records: catalogue::STORE_RECORDS.counter(registry)?,
            queue_depth: catalogue::QUEUE_DEPTH.gauge(registry)?,
            games_in_flight: catalogue::GAMES_IN_FLIGHT.gauge(registry)?,
            workers: catalogue::WORKERS.gauge(registry)?,
            quarantined: catalogue::WORKERS_QUARANTINED.gauge(registry)?,
            leases: catalogue::LEASES.gauge(registry)?,
            leases_granted: catalogue::LEASES_GRANTED.counter(registry)?,
            lease_wait: catalogue::LEASE_WAIT.histogram(registry)?,
            report_duration: catalogue::REPORT_DURATION.histogram(registry)?,
            reports_refused: catalogue::REPORTS_REFUSED.counter(registry)?,
            report_queue_games: catalogue::REPORT_QUEUE.gauge(registry)?,
            command_queue: catalogue::COMMAND_QUEUE.gauge(registry)?,
            connections: catalogue::CONNECTIONS.gauge(registry)?,
            connections_refused: catalogue::CONNECTIONS_REFUSED.counter(registry)?,
            requests_refused: catalogue::REQUESTS_REFUSED.counters(registry)?,
            scrapes_refused: catalogue::SCRAPES_REFUSED.counters(registry)?,
            certificate_expiry: catalogue::CERTIFICATE_EXPIRY.gauges(registry)?,
            insecure: catalogue::INSECURE.gauge(registry)?,
            leases_expired: catalogue::LEASES_EXPIRED.counter(registry)?,
            store_bytes: catalogue::STORE_BYTES.gauge(registry)?,
            store_queue_depth: catalogue::STORE_QUEUE_DEPTH.gauge(registry)?,
            standings: TournamentGauges::new(registry)?,
        };
        // A rate needs a zero to start from.
        for state in STATES {
            made.tournaments.with_label_values(&[*state]);
        }
        made.set_paused(std::iter::empty());
        for outcome in AuditOutcome::VARIANTS {
            made.audits.with_label_values(&[*outcome]);
        }
        for reason in REFUSALS {
            made.requests_refused.with_label_values(&[*reason]);
            made.scrapes_refused.with_label_values(&[*reason]);
        }
        for reason in FORBIDDEN {
            made.requests_refused.with_label_values(&[*reason]);
        }
        for outcome in ReportOutcome::VARIANTS {
            made.reports.with_label_values(&[*outcome]);
        }
        Ok(made)
    }

    /// Prepares for a tournament: its agents get labels while there is room, and all series start
    /// at zero, so that a rate shows the first game. Names that were never prepared count as
    /// `other`.
    pub fn prepare<'a>(&self, ruleset: &str, agents: impl IntoIterator<Item = &'a str>) {
        let ruleset = self.labels.ruleset(ruleset);
        self.game_plies.with_label_values(&[ruleset]);
        for termination in TERMINATIONS {
            self.games.with_label_values(&[ruleset, termination]);
        }
        for agent in agents {
            let agent = self.labels.admit(agent);
            for outcome in Outcome::VARIANTS {
                self.agent_games
                    .with_label_values(&[agent, ruleset, outcome]);
            }
            for kind in FAULTS {
                self.faults.with_label_values(&[agent, kind]);
            }
        }
    }

    /// Counts a game by how it ended, as its record says. Must be called once per game, when it is
    /// durable.
    pub fn game_finished(&self, ruleset: &str, termination: &str, plies: u32) {
        let ruleset = self.labels.ruleset(ruleset);
        let termination = one_of(termination, TERMINATIONS);
        self.games.with_label_values(&[ruleset, termination]).inc();
        self.game_plies
            .with_label_values(&[ruleset])
            .observe(f64::from(plies));
    }

    /// Counts the result of a durable game for one of its agents.
    pub fn agent_finished(&self, agent: &str, ruleset: &str, outcome: Outcome) {
        let (agent, ruleset) = (self.labels.agent(agent), self.labels.ruleset(ruleset));
        self.agent_games
            .with_label_values(&[agent, ruleset, outcome.into()])
            .inc();
    }

    /// Counts a fault of an agent in a durable game, by its kind: `illegal_move`, `timeout`, …
    pub fn agent_failed(&self, agent: &str, kind: &str) {
        let agent = self.labels.agent(agent);
        self.faults
            .with_label_values(&[agent, one_of(kind, FAULTS)])
            .inc();
    }

    /// Counts reported games.
    pub fn reported(&self, outcome: ReportOutcome, games: u64) {
        let outcome: &str = outcome.into();
        self.reports.with_label_values(&[outcome]).inc_by(games);
    }

    /// Counts replayed games.
    pub fn audited(&self, outcome: AuditOutcome, games: u64) {
        let outcome: &str = outcome.into();
        self.audits.with_label_values(&[outcome]).inc_by(games);
    }

    /// Counts a lease that was granted this long after its request.
    pub fn lease_granted(&self, waited: Duration) {
        self.leases_granted.inc();
        self.lease_wait.observe(waited.as_secs_f64());
    }

    /// Counts a report that was answered this long after its start.
    pub fn report_answered(&self, took: Duration) {
        self.report_duration.observe(took.as_secs_f64());
    }

    /// Sets the number of paused tournaments by reason: `user`, `agent_does_not_start`,
    /// `unplayed_games` or `rules_failed`.
    pub fn set_paused<'a>(&self, reasons: impl Iterator<Item = &'a str>) {
        let reasons: Vec<&str> = reasons.map(|reason| one_of(reason, PAUSES)).collect();
        for known in PAUSES {
            let count = reasons.iter().filter(|reason| *reason == known).count();
            self.paused.with_label_values(&[*known]).set(count as i64);
        }
    }

    /// Sets the number of tournaments by state: `running`, `paused`, `finished` or `cancelled`.
    pub fn set_tournaments(&self, state: &str, count: i64) {
        self.tournaments
            .with_label_values(&[one_of(state, STATES)])
            .set(count);
    }

    /// Counts one group commit of the store.
    pub fn store_committed(&self, took: Duration, records: u64) {
        self.store_commit.observe(took.as_secs_f64());
        self.store_records.inc_by(records);
    }

    /// Counts the duration of a part of a group commit; the catalogue names the parts.
    pub fn store_phase(&self, phase: &'static str, took: Duration) {
        self.store_commit_phase
            .with_label_values(&[phase])
            .observe(took.as_secs_f64());
    }

    /// Counts a request that was refused for lack of a permission, or by a limit.
    pub fn request_refused(&self, reason: &str) {
        self.requests_refused.with_label_values(&[reason]).inc();
    }

    /// Counts a request of metrics that was refused for lack of a permission.
    pub fn scrape_refused(&self, reason: &str) {
        self.scrapes_refused.with_label_values(&[reason]).inc();
    }

    /// Sets when certificates expire, in Unix time, by the file in use: `server` or `client_ca`.
    pub fn set_certificate_expiry(&self, certificate: &str, unix_seconds: i64) {
        self.certificate_expiry
            .with_label_values(&[certificate])
            .set(unix_seconds);
    }

    /// Counts a gRPC request by its path (`/package.Service/Method`) and its status code, 0 to 16.
    /// Clients may request any path, so UNIMPLEMENTED counts as the method `other`.
    pub fn grpc_request(&self, path: &str, code: i32) {
        let code = grpc_code(code);
        let method = match code {
            "UNIMPLEMENTED" => OTHER,
            _ => path.trim_start_matches('/'),
        };
        self.grpc_requests.with_label_values(&[method, code]).inc();
    }
}
