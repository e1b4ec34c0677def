//! Results on their way to the coordinator: in batches, again and again until
//! they are answered.

use std::{
    cell::Cell,
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_telemetry::WorkerMetrics;
use arena_wire::v1::{self, worker_service_client::WorkerServiceClient};
use tokio::{sync::Notify, task, time};
use tonic::{Code, transport::Channel};

use super::session::Session;

/// Games of one report.
const GAMES: usize = 256;
/// How long a game waits for others of its lease.
pub(super) const WAIT: Duration = Duration::from_millis(20);
/// Reports on their way at a time.
const IN_FLIGHT: usize = 4;
/// After a report that was not taken: the first wait, doubled up to the last.
const RETRY_FIRST: Duration = Duration::from_millis(10);
const RETRY_LAST: Duration = Duration::from_secs(1);
/// The longest a report is waited for; it is sent again then.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A lease as reports name it.
#[derive(Clone, Debug)]
pub(super) struct LeaseName {
    pub(super) session: Rc<Session>,
    pub(super) lease_id: u64,
}

struct Group {
    lease: LeaseName,
    games: Vec<v1::GameReport>,
    since: Instant,
}

#[derive(Default)]
struct Shared {
    /// Games that are not answered for.
    unanswered: Cell<usize>,
    calls: Cell<usize>,
    changed: Notify,
}

/// Reports results.
pub(super) struct Reports {
    client: WorkerServiceClient<Channel>,
    metrics: Arc<WorkerMetrics>,
    /// By tournament and the worker's own number of the lease.
    groups: BTreeMap<(String, u64), Group>,
    shared: Rc<Shared>,
}

impl Reports {
    pub(super) fn new(channel: Channel, metrics: Arc<WorkerMetrics>) -> Self {
        Self {
            client: WorkerServiceClient::new(channel),
            metrics,
            groups: BTreeMap::new(),
            shared: Rc::default(),
        }
    }

    /// Adds a result; nothing is sent before [`Reports::send`].
    pub(super) fn add(
        &mut self,
        tournament: String,
        number: u64,
        lease: &LeaseName,
        report: v1::GameReport,
    ) {
        self.shared.unanswered.set(self.shared.unanswered.get() + 1);
        let group = self.groups.entry((tournament, number));
        let group = group.or_insert_with(|| Group {
            lease: lease.clone(),
            games: Vec::with_capacity(GAMES),
            since: Instant::now(),
        });
        if group.games.is_empty() {
            group.since = Instant::now();
        }
        group.games.push(report);
    }

    /// Games that are not answered for.
    pub(super) fn unanswered(&self) -> usize {
        self.shared.unanswered.get()
    }

    /// Waits until a report was answered.
    pub(super) async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Sends what is enough for a report or waited long; everything where
    /// `all` says so. `latencies` gives those that go with a tournament.
    pub(super) fn send(
        &mut self,
        all: bool,
        mut latencies: impl FnMut(&str) -> Vec<v1::AgentLatency>,
    ) {
        while self.shared.calls.get() < IN_FLIGHT {
            let due = self.groups.iter().find(|(_, group)| {
                all || group.games.len() >= GAMES || group.since.elapsed() >= WAIT
            });
            let Some((key, _)) = due else { return };
            let key = key.clone();
            let Some(mut group) = self.groups.remove(&key) else {
                return;
            };
            let rest = group.games.split_off(group.games.len().min(GAMES));
            if !rest.is_empty() {
                let (lease, since) = (group.lease.clone(), group.since);
                let games = rest;
                self.groups.insert(
                    key.clone(),
                    Group {
                        lease,
                        games,
                        since,
                    },
                );
            }
            let timed = group.games.iter_mut().find_map(|game| game.timing.as_mut());
            if let Some(timing) = timed {
                timing.latency = latencies(&key.0);
            }
            self.call(key.0, group);
        }
    }

    fn call(&mut self, tournament_id: String, group: Group) {
        let request = v1::ReportRequest {
            worker_id: group.lease.session.worker_id.clone(),
            boot_epoch: group.lease.session.boot_epoch,
            tournament_id,
            lease_id: group.lease.lease_id,
            games: group.games,
        };
        let count = request.games.len();
        self.shared.calls.set(self.shared.calls.get() + 1);
        let call = deliver(self.client.clone(), request, self.metrics.clone());
        let shared = self.shared.clone();
        task::spawn_local(async move {
            call.await;
            shared.calls.set(shared.calls.get() - 1);
            shared.unanswered.set(shared.unanswered.get() - count);
            shared.changed.notify_one();
        });
    }
}

/// Reports until there is an answer.
async fn deliver(
    mut client: WorkerServiceClient<Channel>,
    request: v1::ReportRequest,
    metrics: Arc<WorkerMetrics>,
) {
    let mut wait = RETRY_FIRST;
    loop {
        let status = match time::timeout(TIMEOUT, client.report(request.clone())).await {
            Ok(Ok(answer)) => {
                let differing = answer.into_inner().differing;
                if !differing.is_empty() {
                    tracing::warn!(
                        tournament = request.tournament_id,
                        ?differing,
                        "games came out otherwise than their durable records"
                    );
                }
                return;
            }
            Ok(Err(status)) => Some(status),
            Err(_) => None,
        };
        let refused = status.as_ref().is_some_and(|status| {
            matches!(
                status.code(),
                Code::NotFound
                    | Code::InvalidArgument
                    | Code::FailedPrecondition
                    | Code::Unimplemented
                    | Code::OutOfRange
            )
        });
        if let Some(status) = status.filter(|_| refused) {
            tracing::error!(
                tournament = request.tournament_id,
                games = request.games.len(),
                "a report was refused: {}",
                status.message()
            );
            return;
        }
        metrics.report_retries.inc();
        time::sleep(wait).await;
        wait = (wait * 2).min(RETRY_LAST);
    }
}
