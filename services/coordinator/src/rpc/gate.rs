//! Lets requests in: who may make them, how large they are, and how many wait.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use arena_telemetry::{CoordinatorMetrics, Denied, Permit, Reading, grpc_code};
use arena_wire::reasons;
use tokio::time::Instant;
use tonic::{
    Status,
    body::Body,
    codegen::{Service, http},
};

use super::{
    answers::Answers,
    bodies::{Bounded, Permitted},
    calls::{ABANDONED_MAX, Call, to_the_end},
    deadlines::Deadlines,
    malformed::with_reason,
    refusals::Refusals,
    reports::Reports,
    waiting::Waiting,
};
use crate::{
    accept::Peer,
    door::{Admission, Door},
    error::Error,
    principal::{Refusal, role_name},
    shares::{ConnectionShares, Shares},
    trail::{Event, Trail},
};

/// What readers without gRPC request, as the audit trail names it.
pub(crate) const READER_OF_METRICS: &str = "metrics";
pub(crate) const READER_OF_WEB: &str = "web";
/// Suggested delay of a reader for which no stream is free.
const READER_WAIT: Duration = Duration::from_secs(5);
/// The only method with results.
const METHOD: &str = "/arena.v1.WorkerService/Report";
/// The only method of workers with large answers.
const REPLAY: &str = "/arena.v1.WorkerService/Replay";
/// The only method with a stream of requests. It limits its chunks itself.
const UPLOAD: &str = "/arena.v1.CoordinatorService/UploadBinary";
/// Prefix of the methods of workers, which have small requests.
const WORKER_METHODS: &str = "/arena.v1.WorkerService/";
/// The only recorded method that changes nothing.
const PLAN: &str = "/arena.v1.CoordinatorService/PlanTournament";
/// Methods whose requests contain a spec, a description or a board.
const LARGE_METHODS: [&str; 5] = [
    REPLAY,
    PLAN,
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
/// One viewer or submitter has at most one in so many connections, but always a few; all of them together,
/// and the workers of one token, half as many more: so some stay free.
const OWNERS: usize = 4;
const OWN_CONNECTIONS_MIN: usize = 8;
/// Minimum interval between log lines about refused requests.
const WARN_EVERY: Duration = Duration::from_secs(1);

/// What every request passes.
pub(crate) struct Gate {
    pub(crate) door: Door,
    pub(crate) trail: Arc<Trail>,
    /// Connections of each user, of all users, and of each token of workers.
    connections: ConnectionShares,
    reports: Arc<Reports>,
    /// Requests that wait for the rest of their messages: of known callers, and of others.
    waiting: [Arc<Waiting>; 2],
    answers: Answers,
    deadlines: Deadlines,
    pub(super) refusals: Refusals,
    /// Calls that go on although their clients left.
    pub(super) abandoned: Shares,
    /// Time of the last warning about refused requests, and their number since.
    warned: Mutex<(Option<Instant>, u64)>,
    pub(super) metrics: Arc<CoordinatorMetrics>,
}

impl Gate {
    /// Limit for the games of all open reports.
    pub(crate) fn new(
        games_max: u64,
        connections_max: usize,
        metrics: Arc<CoordinatorMetrics>,
        door: Door,
        trail: Trail,
        deadlines: Deadlines,
    ) -> Arc<Self> {
        Arc::new(Self {
            door,
            trail: Arc::new(trail),
            connections: ConnectionShares::new((connections_max / OWNERS).max(OWN_CONNECTIONS_MIN)),
            waiting: WAITING_MAX.map(Waiting::new),
            reports: Reports::new(games_max, Arc::clone(&metrics)),
            answers: Answers::default(),
            deadlines,
            refusals: Refusals::default(),
            abandoned: Shares::new(ABANDONED_MAX),
            warned: Mutex::default(),
            metrics,
        })
    }

    /// Decides whether a request of metrics or of the web page with these headers may be answered. Counts
    /// a refused one.
    pub(crate) fn admit_reader(
        &self,
        headers: &http::HeaderMap,
        peer: IpAddr,
        reading: Reading,
        reader: &'static str,
    ) -> Result<Permit, Denied> {
        let refusal = match self.door.admit_reader(headers, peer, reading) {
            Ok(place) => return Ok(place.map(|place| Box::new(place) as Box<_>)),
            Err(refusal) => refusal,
        };
        let (reason, wait) = (refusal.error.reason(), refusal.error.wait());
        match reader {
            READER_OF_METRICS => self.metrics.scrape_refused(reason),
            _ => self.metrics.request_refused(reason),
        }
        self.refused(&refusal, reader, peer.to_string());
        let is_limit = reason == reasons::LIMIT_REACHED;
        Err(Denied {
            reason: match *refusal.error {
                Error::TokenMissing | Error::TokenInvalid => None,
                error => Some(error.to_string()),
            },
            retry: is_limit.then(|| wait.unwrap_or(READER_WAIT)),
        })
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
            code: grpc_code(refusal.error.code() as i32).to_owned(),
            reason: reason.to_owned(),
            ..Event::default()
        };
        for event in self.refusals.add(event, now) {
            self.trail.record(event);
        }
    }

    /// Records the refusals that were only counted.
    pub(crate) fn record_refusals(&self) {
        for event in self.refusals.rest() {
            self.trail.record(event);
        }
    }
}

/// Ends with the time of a request.
async fn late(deadline: Option<Duration>) -> Duration {
    match deadline {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}

/// The last part of a path.
pub(super) fn method_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
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
            let error = Box::new(error);
            let (actor, role) = (Arc::clone(&principal.actor), principal.role);
            if peer.is_first_refusal() {
                metrics.connections_refused.inc();
            }
            let refusal = Refusal {
                error,
                by: Some((actor, role)),
            };
            let address = peer.address.map(|it| it.to_string()).unwrap_or_default();
            self.gate.refused(&refusal, &path, address);
            let refusal = Status::from(*refusal.error);
            metrics.grpc_request(&path, refusal.code() as i32);
            return Box::pin(async { Ok(refusal.into_http()) });
        }
        let open = peer.as_ref().map(Peer::open);
        let peer = peer.and_then(|peer| peer.address);
        let gate = Arc::clone(&self.gate);
        request.extensions_mut().insert(principal.clone());
        let admitted = match (path == METHOD)
            .then(|| self.gate.reports.admit(&principal.actor))
            .transpose()
        {
            Ok(admitted) => admitted,
            Err(wait) => {
                metrics.reports_refused.inc();
                let refusal = Status::from(Error::Overloaded { wait });
                metrics.grpc_request(&path, refusal.code() as i32);
                return Box::pin(async { Ok(refusal.into_http()) });
            }
        };
        if let Some(admitted) = &admitted {
            request = request.map(|body| admitted.metered(body, &principal.actor));
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
        let deadline = (gate.deadlines)(&path);
        let answering = self.inner.call(request);
        let is_worker = path.starts_with(WORKER_METHODS);
        let is_counted = !is_worker || path == REPLAY;
        // A plan changes nothing, and takes long.
        let goes_on = is_recorded && path != PLAN;
        let call = Call::new(
            Arc::clone(&gate),
            path,
            principal.clone(),
            peer,
            [is_recorded, is_worker],
        );
        let (by, gate) = (principal.clone(), Arc::clone(&self.gate));
        let answer = async move {
            let permitted = async {
                match counted {
                    Some(counted) => counted.await,
                    None => Ok(()),
                }
            };
            let mut ended = Box::pin(principal.ended());
            let answer = match permitted.await {
                Ok(()) => tokio::select! {
                    biased;
                    answer = answering => answer.map(with_reason),
                    // What is dropped with it stops its work.
                    limit = late(deadline) => {
                        Ok(Status::from(Error::Deadline { limit }).into_http())
                    }
                    error = &mut ended => Ok(Status::from(error).into_http()),
                },
                Err(error) => Ok(Status::from(error).into_http()),
            };
            drop(admitted);
            let answer = match answer {
                Ok(response) if streams => Ok(response.map(|body| {
                    Body::new(Permitted {
                        body,
                        ended,
                        place,
                        _open: open,
                    })
                })),
                // Other answers to workers are small.
                Ok(response) if is_counted => Ok(gate.answers.count(response).await),
                other => other,
            };
            if let Ok(response) = &answer {
                call.answered(response);
            }
            answer
        };
        let gate = Arc::clone(&self.gate);
        match goes_on {
            true => Box::pin(async move { to_the_end(&gate, &by, answer).await }),
            false => Box::pin(answer),
        }
    }
}
