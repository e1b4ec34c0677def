//! Limits the results that wait for the disk. Further reports are refused before they are read,
//! so that a refusal costs almost nothing.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use arena_telemetry::CoordinatorMetrics;
use arena_wire::reasons;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{
    Code, Status,
    body::Body,
    codegen::{Bytes, Service, http},
};
use tonic_types::StatusExt;

use super::{
    answers::Answers,
    bodies::{Bounded, Permitted, READ_MAX},
    malformed::with_reason,
    refusals::Refusals,
    waiting::Waiting,
};
use crate::{
    accept::Peer,
    door::{Admission, Door, Refusal, role_name},
    error::Error,
    handle::COMMANDS_MAX,
    shares::Shares,
    trail::{Event, Trail},
};

/// What readers without gRPC request, as the audit trail names it.
pub(crate) const READER_OF_METRICS: &str = "metrics";
pub(crate) const READER_OF_WEB: &str = "web";
/// The only method with results.
const METHOD: &str = "/arena.v1.WorkerService/Report";
/// The only method with a stream of requests. It limits its chunks itself.
const UPLOAD: &str = "/arena.v1.CoordinatorService/UploadBinary";
/// Prefix of the methods of workers, which have small requests.
const WORKER_METHODS: &str = "/arena.v1.WorkerService/";
/// Methods whose requests contain a spec or a description.
const LARGE_METHODS: [&str; 4] = [
    "/arena.v1.CoordinatorService/PlanTournament",
    "/arena.v1.CoordinatorService/StartTournament",
    "/arena.v1.CoordinatorService/RegisterAgent",
    "/arena.v1.CoordinatorService/RegisterRuleset",
];
/// Maximum bytes of their requests, of all others but reports, and of those without a token.
const LARGE_BYTES_MAX: u64 = 4 << 20;
const SMALL_BYTES_MAX: u64 = 64 << 10;
const ANONYMOUS_BYTES_MAX: u64 = 4 << 10;
/// Maximum bytes of all requests that wait for the rest of their messages, without reports: of known callers,
/// and of those without a token.
const WAITING_MAX: [u64; 2] = [64 << 20, 4 << 20];
/// One viewer or submitter has at most one in so many connections, but always a few.
const OWNERS: usize = 4;
const OWN_CONNECTIONS_MIN: usize = 8;
/// Maximum encoded bytes of all open reports; decoded, they need several times as much.
const BYTES_MAX: u64 = 32 << 20;
/// A report is aborted while it is read if all of them exceed this.
const BYTES_HARD_MAX: u64 = 2 * BYTES_MAX;
/// Maximum silence while a report is read, which takes at most [`READ_MAX`] in all: a stalled report
/// must not occupy room.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Minimum and maximum delay for a refused worker.
const WAIT: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Minimum interval between log lines about refused requests.
const WARN_EVERY: Duration = Duration::from_secs(1);
/// A new measurement has one part in this many of the weight in the average.
const SMOOTHING: u32 = 8;

/// The open reports.
pub(crate) struct Gate {
    pub(crate) door: Door,
    pub(crate) trail: Arc<Trail>,
    games_max: u64,
    /// Connections of users.
    connections: Shares,
    held: Mutex<Held>,
    /// Requests that wait for the rest of their messages: of known callers, and of others.
    waiting: [Arc<Waiting>; 2],
    answers: Arc<Answers>,
    refusals: Refusals,
    /// Time of the last warning about refused requests, and their number since.
    warned: Mutex<(Option<Instant>, u64)>,
    metrics: Arc<CoordinatorMetrics>,
}

#[derive(Default)]
struct Held {
    reports: usize,
    /// Reports that are not read yet are estimated.
    games: u64,
    bytes: u64,
    /// Recent average of the games of a report.
    games_usual: u64,
    /// Recent average of the time from the start of a report to its answer.
    time_usual: Duration,
}

impl Gate {
    /// Limit for the games of all open reports.
    pub(crate) fn new(
        games_max: u64,
        connections_max: usize,
        metrics: Arc<CoordinatorMetrics>,
        door: Door,
        trail: Trail,
    ) -> Arc<Self> {
        Arc::new(Self {
            door,
            trail: Arc::new(trail),
            games_max,
            connections: Shares::new((connections_max / OWNERS).max(OWN_CONNECTIONS_MIN)),
            waiting: WAITING_MAX.map(Waiting::new),
            held: Mutex::default(),
            answers: Arc::default(),
            refusals: Refusals::default(),
            warned: Mutex::default(),
            metrics,
        })
    }

    /// True if a request of metrics or of the web page with these headers may be answered. Counts a
    /// refused one.
    pub(crate) fn admits_reader(
        &self,
        headers: &http::HeaderMap,
        peer: IpAddr,
        reader: &'static str,
    ) -> bool {
        let Err(refusal) = self.door.admit_reader(headers, peer) else {
            return true;
        };
        let reason = refusal.error.reason();
        match reader {
            READER_OF_METRICS => self.metrics.scrape_refused(reason),
            _ => self.metrics.request_refused(reason),
        }
        self.refused(&refusal, reader, peer.to_string());
        false
    }

    /// Logs and records a refused request from time to time.
    fn refused(&self, refusal: &Refusal, path: &str, peer: String) {
        let reason = refusal.error.reason();
        let now = Instant::now();
        let (actor, role) = match &refusal.by {
            Some((actor, role)) => (&**actor, role_name(*role)),
            None => ("", ""),
        };
        let mut last = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        last.1 += 1;
        if last.0.is_none_or(|at| at + WARN_EVERY <= now) {
            let refused = last.1;
            tracing::warn!(refused, reason, ?path, actor, peer, "refusing requests");
            *last = (Some(now), 0);
        }
        drop(last);
        let event = Event {
            actor: actor.to_owned(),
            role: role.to_owned(),
            peer: Some(peer),
            method: match path {
                READER_OF_METRICS | READER_OF_WEB => path.to_owned(),
                path => method_name(self.door.label(path)),
            },
            outcome: reason.to_owned(),
            ..Event::default()
        };
        if let Some(event) = self.refusals.add(event, now) {
            self.trail.record(event);
        }
    }

    /// Records the refusals that were only counted.
    pub(crate) fn record_refusals(&self) {
        for event in self.refusals.rest() {
            self.trail.record(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a report, or returns the delay.
    fn admit(self: &Arc<Self>) -> Result<Arc<Admitted>, Duration> {
        let mut held = self.lock();
        // A report larger than the whole limit is admitted if it is the only one.
        let full =
            held.reports >= COMMANDS_MAX || held.games >= self.games_max || held.bytes >= BYTES_MAX;
        if full && held.reports > 0 {
            return Err(held.time_usual.clamp(WAIT.0, WAIT.1));
        }
        let games = held.games_usual;
        held.reports += 1;
        held.games += games;
        self.metrics.report_queue_games.set(held.games as i64);
        drop(held);
        Ok(Arc::new(Admitted {
            gate: Arc::clone(self),
            since: Instant::now(),
            part: Mutex::new(Part {
                games,
                bytes: 0,
                read: false,
            }),
        }))
    }
}

/// True if the headers of a refusal name a limit of the token.
fn is_limit(headers: &http::HeaderMap) -> bool {
    let info = Status::from_header_map(headers).and_then(|it| it.get_details_error_info());
    info.is_some_and(|info| info.reason == reasons::LIMIT_REACHED)
}

/// True if a caller is at fault, and not the time of its call.
fn is_wrong(code: Code) -> bool {
    use Code::{FailedPrecondition, InvalidArgument, NotFound, PermissionDenied, Unauthenticated};
    [
        FailedPrecondition,
        InvalidArgument,
        NotFound,
        PermissionDenied,
        Unauthenticated,
    ]
    .contains(&code)
}

/// The last part of a path.
fn method_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// An admitted report; its room is free again when it is dropped.
pub(crate) struct Admitted {
    gate: Arc<Gate>,
    since: Instant,
    part: Mutex<Part>,
}

struct Part {
    games: u64,
    bytes: u64,
    /// True if its games were counted.
    read: bool,
}

impl Admitted {
    fn lock(&self) -> MutexGuard<'_, Part> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the number of games of the report.
    pub(crate) fn has(&self, games: u64) {
        let mut part = self.lock();
        let mut held = self.gate.lock();
        held.games = held.games - part.games + games;
        held.games_usual = smooth(held.games_usual, games);
        self.gate.metrics.report_queue_games.set(held.games as i64);
        (part.games, part.read) = (games, true);
    }

    /// More of the report was read. Returns false if that is too much.
    fn read(&self, bytes: u64) -> bool {
        self.lock().bytes += bytes;
        let mut held = self.gate.lock();
        held.bytes += bytes;
        held.bytes < BYTES_HARD_MAX
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let part = self.part.get_mut().unwrap_or_else(PoisonError::into_inner);
        let took = self.since.elapsed();
        let mut held = self.gate.lock();
        held.reports -= 1;
        held.games -= part.games;
        held.bytes -= part.bytes;
        self.gate.metrics.report_queue_games.set(held.games as i64);
        if part.read {
            held.time_usual = (held.time_usual * (SMOOTHING - 1) + took.min(WAIT.1)) / SMOOTHING;
            self.gate.metrics.report_answered(took);
        }
    }
}

/// Moves a part of the way towards a target, and finally reaches it.
fn smooth(usual: u64, now: u64) -> u64 {
    (usual * u64::from(SMOOTHING - 1) + now).div_ceil(u64::from(SMOOTHING))
}

/// A service whose requests are counted, by method and status, and whose reports pass a gate.
#[derive(Clone)]
pub(crate) struct Gated<S> {
    pub(crate) inner: S,
    pub(crate) gate: Arc<Gate>,
}

type Answer<E> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, E>> + Send>>;

impl<S> Service<http::Request<Body>> for Gated<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let metrics = Arc::clone(&self.gate.metrics);
        let path = request.uri().path().to_owned();
        let peer = request.extensions().get::<Peer>().cloned();
        let Admission {
            principal,
            streams,
            is_recorded,
            place,
            counted,
        } = match self.gate.door.admit(&request, peer.as_ref()) {
            Ok(admission) => admission,
            Err(refusal) => {
                let peer = peer.and_then(|peer| peer.address);
                let peer = peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
                metrics.request_refused(refusal.error.reason());
                self.gate.refused(&refusal, &path, peer);
                let refusal = Status::from(*refusal.error);
                let path = self.gate.door.label(&path);
                metrics.grpc_request(path, refusal.code() as i32);
                return Box::pin(async { Ok(refusal.into_http()) });
            }
        };
        // What is open to all keeps no connection open.
        if let Some(peer) = &peer
            && !principal.is_anonymous()
            && let Err(error) = peer.served(&principal, &self.gate.connections)
        {
            let refusal = Status::from(error);
            metrics.grpc_request(&path, refusal.code() as i32);
            return Box::pin(async { Ok(refusal.into_http()) });
        }
        let peer = peer.and_then(|peer| peer.address);
        let gate = Arc::clone(&self.gate);
        request.extensions_mut().insert(principal.clone());
        let admitted = match (path == METHOD).then(|| self.gate.admit()).transpose() {
            Ok(admitted) => admitted,
            Err(wait) => {
                metrics.reports_refused.inc();
                let refusal = Status::from(Error::Overloaded { wait });
                metrics.grpc_request(&path, refusal.code() as i32);
                return Box::pin(async { Ok(refusal.into_http()) });
            }
        };
        if let Some(admitted) = &admitted {
            request = request.map(|body| Body::new(Metered::new(body, Arc::clone(admitted))));
            request.extensions_mut().insert(Arc::clone(admitted));
        } else if path != UPLOAD {
            let (bytes_max, waiting) = match principal.is_anonymous() {
                true => (ANONYMOUS_BYTES_MAX, &self.gate.waiting[1]),
                false if LARGE_METHODS.contains(&&*path) => {
                    (LARGE_BYTES_MAX, &self.gate.waiting[0])
                }
                false => (SMALL_BYTES_MAX, &self.gate.waiting[0]),
            };
            let (waiting, caller) = (Arc::clone(waiting), Arc::clone(&principal.actor));
            request = request.map(|body| Body::new(Bounded::new(body, bytes_max, caller, waiting)));
        }
        let answering = self.inner.call(request);
        Box::pin(async move {
            let permitted = async {
                match counted {
                    Some(counted) => counted.await,
                    None => Ok(()),
                }
            };
            let is_worker = path.starts_with(WORKER_METHODS);
            let recorded = (is_recorded || is_worker).then(|| (principal.clone(), peer));
            let mut ended = Box::pin(principal.ended());
            let answer = match permitted.await {
                Ok(()) => tokio::select! {
                    biased;
                    answer = answering => answer.map(with_reason),
                    error = &mut ended => Ok(Status::from(error).into_http()),
                },
                Err(error) => Ok(Status::from(error).into_http()),
            };
            drop(admitted);
            let answer = match answer {
                Ok(response) if streams => {
                    Ok(response.map(|body| Body::new(Permitted { body, ended, place })))
                }
                // The answers to workers are small.
                Ok(response) if !is_worker => Ok(gate.answers.count(response).await),
                other => other,
            };
            if let Ok(response) = &answer {
                // Errors are in the headers; a stream that has started counts as answered.
                let status = response.headers().get("grpc-status");
                let code = status.map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
                if code == Code::ResourceExhausted && is_limit(response.headers()) {
                    metrics.request_refused(reasons::LIMIT_REACHED);
                }
                metrics.grpc_request(&path, code as i32);
                if let Some((by, peer)) = recorded {
                    let event = Event {
                        actor: by.actor.to_string(),
                        role: role_name(by.role).to_owned(),
                        peer: peer.map(|peer| peer.to_string()),
                        method: method_name(&path),
                        target: by.target(),
                        outcome: format!("{code:?}"),
                        ..Event::default()
                    };
                    // Failures are counted. Workers call often, so only what they must not do is recorded.
                    let event = match is_recorded {
                        true if code == Code::Ok => Some(event),
                        false if !is_wrong(code) => None,
                        _ => gate.refusals.add(event, Instant::now()),
                    };
                    event.into_iter().for_each(|event| gate.trail.record(event));
                }
            }
            answer
        })
    }
}

/// A body whose bytes are counted as they are read, and that must make progress.
struct Metered {
    body: Body,
    admitted: Arc<Admitted>,
    deadline: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(body: Body, admitted: Arc<Admitted>) -> Self {
        Self {
            body,
            deadline: Box::pin(sleep_until(admitted.since + PAUSE_MAX)),
            admitted,
        }
    }
}

impl http_body::Body for Metered {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.deadline.as_mut().poll(context));
            let late = "the report stopped arriving, or arrived too slowly";
            return Poll::Ready(Some(Err(Status::deadline_exceeded(late))));
        };
        let last = self.admitted.since + READ_MAX;
        self.deadline
            .as_mut()
            .reset(last.min(Instant::now() + PAUSE_MAX));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && !self.admitted.read(data.len() as u64)
        {
            return Poll::Ready(Some(Err(Error::Overloaded { wait: WAIT.1 }.into())));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
