//! The worker's loop: informs the protocol of events, and carries out its actions.

mod reports;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_access::Connection;
use arena_engine::FaultKind;
use arena_telemetry::WorkerMetrics;
use arena_wire::{
    convert::fault_kind,
    v1::{self, join_response::Notice},
};
use prost::Message;
use tokio::{
    sync::{
        mpsc::{self, Receiver},
        oneshot,
    },
    task::{self, AbortHandle},
    time::{self, Instant},
};

use super::{
    Options, WorkerError,
    calls::{Calls, Heard, problem, refusal},
    replays::Replays,
    rulesets::rulesets,
};
use crate::{
    agent::FaultReport,
    binaries::CoordinatorBinaries,
    driver::Drivers,
    protocol::{
        Action, CallNo, Ending, LeaseNo, Playing, Protocol, ProtocolSettings, Refusal, ReportNo,
        StayNo,
    },
    record::void_report,
};

/// Agents of a tournament without games are ended after this time.
const IDLE: Duration = Duration::from_secs(15);
/// Maximum sleep.
const NAP: Duration = Duration::from_secs(1);
/// Capacity of the channel of events.
const HEARD_MAX: usize = 64;

pub(super) struct Fleet {
    options: Options,
    protocol: Protocol<v1::GameReport>,
    pub(super) drivers: Drivers,
    calls: Calls,
    binaries: Arc<CoordinatorBinaries>,
    news: Receiver<Heard>,
    metrics: Arc<WorkerMetrics>,
    joined: Arc<AtomicBool>,
    started: Instant,
    /// Time at which it last had games, or first joined.
    busy: Option<Duration>,
    /// The stream of the stay, and the open request for games.
    stay: Option<AbortHandle>,
    asking: Option<AbortHandle>,
    /// The task that replays records of packages.
    replaying: Option<AbortHandle>,
    channel: Connection,
    /// Reports without an answer.
    reports: BTreeMap<ReportNo, Rc<v1::ReportRequest>>,
    setups: BTreeMap<String, v1::TournamentSetup>,
    /// Fetched packages of rules, by SHA-256.
    pub(super) packages: BTreeMap<String, PathBuf>,
    /// The last warning about joining or leasing.
    warned: String,
}

impl Fleet {
    /// `joined` shows others whether the worker is joined.
    pub(super) fn new(
        options: Options,
        channel: Connection,
        metrics: Arc<WorkerMetrics>,
        drivers: Drivers,
        binaries: Arc<CoordinatorBinaries>,
        joined: Arc<AtomicBool>,
    ) -> Self {
        let capacity = options.capacity.max(1);
        let (heard, news) = mpsc::channel(HEARD_MAX);
        let protocol = Protocol::new(ProtocolSettings {
            capacity,
            connect_timeout: options.connect_timeout,
            drain_limit: options.drain_limit,
            seed: options.seed,
        });
        Self {
            metrics,
            drivers,
            calls: Calls::new(channel.clone(), heard),
            replaying: None,
            channel,
            binaries,
            news,
            started: Instant::now(),
            busy: None,
            options,
            protocol,
            joined,
            stay: None,
            asking: None,
            reports: BTreeMap::new(),
            setups: BTreeMap::new(),
            packages: BTreeMap::new(),
            warned: String::new(),
        }
    }

    /// Plays until the worker is drained or gives up.
    pub(super) async fn run(
        mut self,
        mut drains: oneshot::Receiver<()>,
    ) -> Result<(), WorkerError> {
        let mut draining = false;
        let ending = loop {
            if let Some(ending) = self.go_on() {
                break ending;
            }
            let now = self.now();
            if !draining && self.check_time(now) {
                draining = true;
                self.protocol.drain(now);
            }
            let wake = self.protocol.wake(now).unwrap_or(now + NAP).min(now + NAP);
            tokio::select! {
                // Games come last, since they always have work. Due actions are carried out before.
                biased;
                drained = &mut drains, if !draining => {
                    draining = true;
                    if drained.is_ok() {
                        tracing::info!(games = self.drivers.in_flight(), "draining");
                    }
                    self.protocol.drain(self.now());
                }
                Some(heard) = self.news.recv() => self.hear(heard),
                () = self.drivers.work() => {}
                () = time::sleep_until(self.started + wake) => {}
            }
        };
        for call in [self.stay, self.asking, self.replaying]
            .into_iter()
            .flatten()
        {
            call.abort();
        }
        self.drivers.close().await;
        match ending {
            Ending::Drained => Ok(()),
            Ending::Unreachable { waited, last } => Err(WorkerError::Unreachable {
                url: self.options.coordinator,
                waited,
                last,
            }),
            Ending::NoAccess { problem } => Err(WorkerError::NoAccess {
                url: self.options.coordinator,
                problem,
            }),
        }
    }

    /// True if the worker ends by itself, after a time without games or at the end of its lifetime.
    fn check_time(&mut self, now: Duration) -> bool {
        let has_games = self.drivers.unfinished() > 0 || self.protocol.unanswered() > 0;
        if has_games || (self.busy.is_none() && self.protocol.joined()) {
            self.busy = Some(now);
        }
        let idle = self.busy.zip(self.options.idle_exit);
        let idle = idle.is_some_and(|(busy, limit)| now >= busy + limit);
        let drain = self.options.drain_limit;
        let over = self.options.lifetime.map(|life| life.saturating_sub(drain));
        let is_over = over.is_some_and(|over| now >= over);
        if idle || is_over {
            tracing::info!(idle, games = self.drivers.in_flight(), "ending by itself");
        }
        idle || is_over
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Plays and carries out actions until something has to happen. Returns the end if there is
    /// one.
    fn go_on(&mut self) -> Option<Ending> {
        self.drivers.hold(self.protocol.holds());
        self.drivers.forget_idle(IDLE);
        let now = self.now();
        for mut done in self.drivers.take_done() {
            if let Some(timing) = &mut done.report.timing {
                timing.worker.clone_from(&self.options.name);
            }
            self.finished(now, done.lease, done.report);
        }
        while let Some(action) = self.protocol.next(now, &mut self.drivers) {
            if let Action::End(ending) = action {
                return Some(ending);
            }
            self.perform(action);
        }
        self.joined.store(self.protocol.joined(), Ordering::Relaxed);
        None
    }

    fn finished(&mut self, now: Duration, lease: LeaseNo, report: v1::GameReport) {
        let bytes = report.encoded_len();
        self.protocol.finished(now, lease, report, bytes);
    }

    fn perform(&mut self, action: Action<v1::GameReport>) {
        match action {
            Action::Join { stay, timeout } => {
                let request = v1::JoinRequest {
                    name: self.options.name.clone(),
                    capacity: self.options.capacity.try_into().unwrap_or(u32::MAX),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    rulesets: rulesets(),
                    process: self.options.seed,
                    record_version: arena_model::RECORD_VERSION,
                    sandbox: self.options.sandbox.level.to_string(),
                };
                self.stay = Some(self.calls.join(stay, request, timeout));
            }
            Action::Leave(_) => {
                if let Some(stay) = self.stay.take() {
                    tracing::warn!("the coordinator does not know this worker any more");
                    stay.abort();
                }
            }
            Action::Ask {
                call,
                stay,
                games,
                wait,
                timeout,
            } => {
                // Only now: an answer in flight may rely on earlier knowledge.
                self.setups.retain(|id, _| self.drivers.knows(id));
                let request = v1::LeaseRequest {
                    worker_id: stay.worker_id.clone(),
                    boot_epoch: stay.boot_epoch,
                    games: games as u32,
                    wait_ms: wait.as_millis() as u32,
                    known_tournaments: self.setups.keys().cloned().collect(),
                    known_agents: { self.setups.values() }
                        .map(|setup| setup.agents.len() as u32)
                        .collect(),
                    call,
                    session: stay.session.clone(),
                    sated_tournaments: self.drivers.sated_tournaments(),
                };
                let lease = self
                    .calls
                    .lease(call, request, timeout, self.binaries.clone());
                self.asking = Some(lease);
            }
            Action::TakeLeave { stay, timeout } => {
                let request = v1::LeaveRequest {
                    worker_id: stay.worker_id.clone(),
                    boot_epoch: stay.boot_epoch,
                    session: stay.session.clone(),
                };
                self.calls.leave(request, timeout);
            }
            Action::AskNoMore => {
                self.asking.take().inspect(AbortHandle::abort);
            }
            Action::DropWaiting => self.drivers.drop_waiting(),
            Action::Drop(lease) => {
                tracing::info!(lease, "the coordinator took back a lease");
                self.drivers.end_lease(lease);
            }
            Action::Report {
                report,
                lease,
                mut games,
                timeout,
            } => {
                let timed = games.iter_mut().find_map(|game| game.timing.as_mut());
                if let Some(timing) = timed {
                    timing.latency = self.drivers.latencies(&lease.tournament);
                }
                let request = Rc::new(v1::ReportRequest {
                    worker_id: lease.stay.worker_id.clone(),
                    boot_epoch: lease.stay.boot_epoch,
                    tournament_id: lease.tournament.clone(),
                    lease_id: lease.lease_id,
                    games,
                    session: lease.stay.session.clone(),
                    ticket: lease.ticket.clone(),
                });
                self.calls.report(report, &request, timeout);
                self.reports.insert(report, request);
            }
            Action::ReportAgain { report, timeout } => {
                if let Some(request) = self.reports.get(&report) {
                    self.calls.report(report, request, timeout);
                }
            }
            Action::Beat {
                stay,
                leases,
                settled,
                timeout,
            } => {
                let reported = |(lease_id, plies)| v1::LeaseProgress { lease_id, plies };
                let request = v1::HeartbeatRequest {
                    worker_id: stay.worker_id.clone(),
                    boot_epoch: stay.boot_epoch,
                    leases: leases.into_iter().map(reported).collect(),
                    settled_calls: settled,
                    decisions: self.drivers.take_decisions(),
                    session: stay.session.clone(),
                };
                self.calls.beat(stay.number, request, timeout);
            }
            // The end of the loop.
            Action::End(_) => {}
        }
    }

    fn hear(&mut self, heard: Heard) {
        let now = self.now();
        match heard {
            Heard::Notice(stay, notice) => self.hear_notice(stay, notice),
            Heard::Parted(stay, status) => {
                let problem = problem(&status);
                // The coordinator releases a leaving worker, which may notice that before the
                // answer.
                if self.protocol.joined() && !self.protocol.takes_leave() {
                    tracing::warn!("lost the connection to the coordinator: {problem}");
                } else if !self.protocol.takes_leave() {
                    self.warn_once(format!(
                        "cannot join the coordinator, trying again: {problem}"
                    ));
                }
                self.protocol.parted(now, stay, refusal(&status), &problem);
            }
            Heard::Lease(call, answer) => match *answer {
                Ok((answer, package)) => {
                    self.packages.extend(package);
                    self.take_lease(call, answer.lease);
                }
                Err(status) => {
                    self.warn_once(format!("cannot lease games: {}", problem(&status)));
                    self.protocol.not_leased(now, call, refusal(&status));
                }
            },
            Heard::Reported(report, answer) => self.hear_of_report(report, answer),
            Heard::Beaten(stay, Ok(answer)) => {
                self.protocol.leases_ended(stay, &answer.ended_leases);
            }
            Heard::TookLeave => self.protocol.took_leave(now),
            Heard::Beaten(stay, Err(status)) => {
                self.protocol.not_beaten(now, stay, refusal(&status));
            }
        }
    }

    /// Logs a warning, unless it is the same as the last one.
    fn warn_once(&mut self, warning: String) {
        if self.warned != warning {
            tracing::warn!("{warning}");
            self.warned = warning;
        }
    }

    fn hear_notice(&mut self, stay: StayNo, notice: Notice) {
        match notice {
            Notice::Welcome(welcome) => {
                tracing::info!(worker = welcome.worker_id, "joined");
                self.warned.clear();
                for ruleset in &welcome.missing_rulesets {
                    tracing::warn!(
                        "this worker gets no games of {}, which the coordinator has: it is another \
                         program",
                        arena_model::printable(ruleset)
                    );
                }
                let deadline = Duration::from_millis(welcome.lease_deadline_ms.into());
                let (worker, epoch) = (welcome.worker_id, welcome.boot_epoch);
                self.binaries.joined(&worker, epoch, &welcome.session);
                self.replay_for(v1::ReplayRequest {
                    worker_id: worker.clone(),
                    boot_epoch: epoch,
                    session: welcome.session.clone(),
                    ..Default::default()
                });
                self.protocol
                    .welcomed(stay, worker, epoch, welcome.session, deadline);
            }
            Notice::LeasesEnded(ended) => self.protocol.leases_ended(stay, &ended.lease_ids),
            Notice::Drain(v1::Drain {}) => self.protocol.coordinator_stops(stay),
        }
    }

    /// Replays records of packages in this session.
    fn replay_for(&mut self, request: v1::ReplayRequest) {
        if let Some(earlier) = self.replaying.take() {
            earlier.abort();
        }
        let (channel, binaries) = (self.channel.clone(), self.binaries.clone());
        let replays = Replays::new(channel, binaries, self.drivers.rules_starter());
        let task = task::spawn_local(replays.run(request));
        self.replaying = Some(task.abort_handle());
    }

    fn take_lease(&mut self, call: CallNo, lease: Option<v1::Lease>) {
        let Some(lease) = lease else {
            self.protocol.nothing_leased(call);
            return;
        };
        let id = lease.tournament_id;
        if let Some(setup) = lease.setup {
            self.setups.insert(id.clone(), setup);
        }
        let now = self.now();
        let Some(setup) = self.setups.get(&id) else {
            tracing::error!(tournament = id, "a lease has no setup");
            self.protocol.not_leased(now, call, Refusal::Failed);
            return;
        };
        let Some(number) = self
            .protocol
            .leased(call, lease.lease_id, &id, lease.ticket)
        else {
            return;
        };
        let rules = match self.drivers.knows(&id) {
            true => Ok(None),
            false => self.rules(setup),
        };
        let added = rules.and_then(|rules| self.drivers.add_tournament(setup.clone(), rules));
        if let Err(error) = added {
            tracing::error!(tournament = id, "{error}");
            for game in &lease.games {
                self.finished(now, number, void_report(game.index, error.to_string()));
            }
            self.protocol.pause(now, Refusal::Failed);
            return;
        }
        let given_up = lease.given_up.into_iter().map(given_up).collect();
        self.drivers
            .add_lease(&id, number, lease.games, Arc::new(given_up));
    }
}

/// An agent that is given up, and the fault that it is charged with.
fn given_up(unready: v1::UnreadyAgent) -> (u16, FaultReport) {
    let fault_report = FaultReport {
        kind: fault_kind(unready.kind()).unwrap_or(FaultKind::NotReady),
        message: unready.message,
        tail: unready.stderr_tail,
    };
    (unready.agent as u16, fault_report)
}
