//! Valid requests with hostile values, to every method, by every kind of caller.

mod callers;
mod messages;

use std::{
    collections::BTreeMap,
    fs,
    panic::resume_unwind,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use arena_access::Token;
use arena_test_isolation::leave_network;
use arena_wire::{raw::Raw, reasons, v1};
use prost::Message;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use tokio::{task::JoinSet, time::timeout};
use tonic::{
    Code, Request, Status,
    codegen::{Bytes, http::uri::PathAndQuery},
    transport::Endpoint,
};
use tonic_types::StatusExt;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, fleet::Usage};
use callers::{Arena, CALLERS, Session, WORKER};
use messages::Protocol;

/// Connections, each shared by callers of every kind.
const CONNECTIONS: usize = 4;
/// Requests at a time.
const TASKS: usize = 16;
/// Requests of a session, until its worker joins again as another process.
const SESSION_REQUESTS: usize = 100;
/// Maximum time until a request is answered. Usually it takes less than a millisecond.
const ANSWERED_MAX: Duration = Duration::from_secs(20);
/// A request for games or records may wait for them: after this time, the client gives it up.
const WAIT_MAX: Duration = Duration::from_millis(300);
/// Maximum growth of the memory of a coordinator from the first tenth of the requests to their end.
const GROWTH_MIB_MAX: u64 = 32;
/// Maximum time until the workers of ended sessions have left.
const LEFT_MAX: Duration = Duration::from_secs(20);
/// Maximum bytes of a request that an error shows.
const SHOWN_BYTES: usize = 2_000;
/// Methods that make objects. What they refuse leaves nothing.
const MAKING: [&str; 5] = [
    "RegisterAgent",
    "RegisterRuleset",
    "StartTournament",
    "RetryTournament",
    "CreateToken",
];

/// The number of requests.
#[derive(Debug, clap::Args)]
pub struct Hostile {
    /// Requests
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,
    /// Seed of the requests
    #[arg(long, default_value_t = 19)]
    seed: u64,
}

impl StressTest for Hostile {
    const PROMISE: &'static str = "valid requests with hostile values, to every method and by every \
        kind of caller, are answered in time, and refused with a reason; the coordinator does not \
        grow";

    fn quick() -> Self {
        Self {
            requests: 12_000,
            seed: 19,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        // Some requests register endpoints elsewhere, and start tournaments with them. Only this thread
        // and what it starts leave the network.
        let alone = || match leave_network("hostile") {
            true => self.send_all(),
            false => Ok(Outcome::Skipped(
                "there is no network namespace for it".to_owned(),
            )),
        };
        let done = thread::scope(|scope| scope.spawn(alone).join());
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Hostile {
    fn send_all(&self) -> Result<Outcome, Broken> {
        let world = World::new();
        // Without limits of the rate, which would refuse most requests before they are read.
        let limits = ["viewer", "submitter", "worker"]
            .map(|role| format!("{role}.requests-per-second=unlimited"))
            .join(",");
        let coordinator = world.coordinator("data", &["--limit", &limits]);
        let token = fs::read_to_string(world.folder().join("data/admin.token"));
        let token: Token = token
            .map_err(Broken::new)?
            .trim()
            .parse()
            .map_err(Broken::new)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(Broken::new)?;
        let url = coordinator.url();
        let started = Instant::now();
        let memory = || {
            let usage = Usage::of(coordinator.id()).map_err(Broken::new)?;
            Ok::<_, Broken>(usage.rss_bytes >> 20)
        };
        let mut tally = Tally::default();
        let (early, late, made) = runtime.block_on(async {
            let endpoint = Endpoint::from_shared(url).map_err(Broken::new)?;
            let mut channels = Vec::new();
            for _ in 0..CONNECTIONS {
                channels.push(endpoint.connect().await.map_err(Broken::new)?);
            }
            let arena = Arc::new(Arena::new(channels, token).await?);
            let before = arena.objects().await.map_err(Broken::new)?;
            let tenth = (self.requests / 10).max(1);
            tally.add(self.send(&arena, 0..tenth).await?);
            let early = memory()?;
            tally.add(self.send(&arena, tenth..self.requests).await?);
            let late = memory()?;
            arena.workers_leave(LEFT_MAX).await?;
            let after = arena.objects().await.map_err(Broken::new)?;
            Ok::<_, Broken>((early, late, before.into_iter().zip(after)))
        })?;
        let seconds = started.elapsed().as_secs_f64();
        let mut figures = vec![
            Figure::new("requests", self.requests),
            Figure::new("requests/s", (self.requests as f64 / seconds).round()),
            Figure::new("slowest answer", format!("{:?}", tally.slowest)),
            Figure::new("memory after a tenth, MiB", early),
            Figure::new("memory at the end, MiB", late),
        ];
        let mut wrong = Vec::new();
        if late.saturating_sub(early) > GROWTH_MIB_MAX {
            wrong.push(format!(
                "memory grew from {early} to {late} MiB, by more than {GROWTH_MIB_MAX}"
            ));
        }
        let mut grown = 0;
        for ((name, before), (_, after)) in made {
            figures.push(Figure::new(
                &format!("{name} before and after"),
                format!("{before}, {after}"),
            ));
            grown += after.saturating_sub(before);
        }
        if grown > tally.made {
            wrong.push(format!(
                "{grown} objects more, but only {} requests that make one succeeded",
                tally.made
            ));
        }
        for (name, count) in &tally.outcomes {
            figures.push(Figure::new(name, *count));
        }
        // Every caller is refused and, with a token, answered.
        for (caller, [answered, refused]) in CALLERS.iter().zip(tally.callers) {
            figures.push(Figure::new(
                &format!("{caller}: answered, refused"),
                format!("{answered}, {refused}"),
            ));
            if refused == 0 || (answered == 0) != (*caller == CALLERS[0]) {
                wrong.push(format!("{caller}: {answered} answered, {refused} refused"));
            }
        }
        let log = coordinator.log();
        if let Some(panic) = log.lines().find(|line| line.contains("panicked")) {
            wrong.push(panic.to_owned());
        }
        coordinator.stop();
        match wrong.is_empty() {
            true => Ok(Outcome::Holds(figures)),
            false => Err(Broken::new(wrong.join("\n"))),
        }
    }
}

/// What the requests were answered with.
#[derive(Default)]
struct Tally {
    /// Numbers of answers by code and reason.
    outcomes: BTreeMap<String, u64>,
    /// Numbers of answered and refused requests of each caller.
    callers: [[u64; 2]; CALLERS.len()],
    /// Successful requests that may have made an object.
    made: usize,
    slowest: Duration,
}

impl Tally {
    fn add(&mut self, other: Self) {
        for (name, count) in other.outcomes {
            *self.outcomes.entry(name).or_default() += count;
        }
        for (sum, more) in self.callers.iter_mut().zip(other.callers) {
            sum[0] += more[0];
            sum[1] += more[1];
        }
        self.made += other.made;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl Hostile {
    /// Sends the requests of these numbers.
    async fn send(
        &self,
        arena: &Arc<Arena>,
        numbers: std::ops::Range<u64>,
    ) -> Result<Tally, Broken> {
        let protocol = Arc::new(Protocol::new());
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let sender = Sender {
                arena: Arc::clone(arena),
                protocol: Arc::clone(&protocol),
                seed: self.seed,
                task,
                session: None,
                session_requests: 0,
                tally: Tally::default(),
            };
            tasks.spawn(sender.run(numbers.clone().skip(task).step_by(TASKS)));
        }
        let mut tally = Tally::default();
        while let Some(ended) = tasks.join_next().await {
            tally.add(ended.map_err(Broken::new)??);
        }
        Ok(tally)
    }
}

/// Sends a share of the requests, one after another.
struct Sender {
    arena: Arc<Arena>,
    protocol: Arc<Protocol>,
    seed: u64,
    task: usize,
    session: Option<Session>,
    session_requests: usize,
    tally: Tally,
}

impl Sender {
    async fn run(mut self, numbers: impl Iterator<Item = u64>) -> Result<Tally, Broken> {
        for number in numbers {
            self.send(number).await?;
        }
        Ok(self.tally)
    }

    /// Sends a request. Its number decides method, caller and content.
    async fn send(&mut self, number: u64) -> Result<(), Broken> {
        let protocol = Arc::clone(&self.protocol);
        let place = number as usize;
        let method = &protocol.methods[place % protocol.methods.len()];
        let caller = place / protocol.methods.len() % CALLERS.len();
        let known = match caller {
            WORKER => self.session().await?.known.clone(),
            _ => self.arena.known(caller),
        };
        let rng = ChaCha8Rng::seed_from_u64(self.seed.wrapping_add(number << 32));
        let body = Bytes::from(protocol.request(method, &known, rng));
        let name = method.path.rsplit('/').next().unwrap_or_default();
        let may_wait = match name {
            "Lease" => v1::LeaseRequest::decode(&*body).is_ok_and(|it| it.wait_ms > 0),
            "Replay" => v1::ReplayRequest::decode(&*body).is_ok_and(|it| it.wait_ms > 0),
            _ => false,
        };
        let limit = if may_wait { WAIT_MAX } else { ANSWERED_MAX };
        let started = Instant::now();
        let answer = timeout(limit, self.call(caller, &method.path, body.clone())).await;
        let took = started.elapsed();
        let is_refused = matches!(answer, Ok(Err(_)));
        let outcome = match answer {
            Err(_) if may_wait => Ok("waits for games or records".to_owned()),
            Err(_) => Err(format!("no answer within {limit:?}")),
            Ok(Ok(())) => Ok("OK".to_owned()),
            Ok(Err(status)) => reason(&status),
        };
        let outcome = outcome.map_err(|problem| {
            let shown = &body[..body.len().min(SHOWN_BYTES)];
            let shown = hex::encode(shown);
            let (caller, path) = (CALLERS[caller], &method.path);
            Broken::new(format!(
                "request {number}, {caller}: {path}: {problem}; the request: {shown}"
            ))
        })?;
        *self.tally.outcomes.entry(outcome).or_default() += 1;
        self.tally.callers[caller][usize::from(is_refused)] += 1;
        self.tally.made += usize::from(!is_refused && MAKING.contains(&name));
        if !may_wait {
            self.tally.slowest = self.tally.slowest.max(took);
        }
        Ok(())
    }

    /// The session of this sender's worker, which joins again from time to time.
    async fn session(&mut self) -> Result<&Session, Broken> {
        if self.session_requests.is_multiple_of(SESSION_REQUESTS) {
            self.session = None;
        }
        self.session_requests += 1;
        let session = match self.session.take() {
            Some(session) => session,
            None => self.arena.join(self.task).await.map_err(|status| {
                Broken::new(format!("a worker cannot join and lease games: {status}"))
            })?,
        };
        Ok(self.session.insert(session))
    }

    /// Sends a request, and waits for the first message of its answer.
    async fn call(&self, caller: usize, path: &str, body: Bytes) -> Result<(), Status> {
        let mut client = tonic::client::Grpc::new(self.arena.connection(self.task, caller));
        client
            .ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let path: PathAndQuery = path.parse().expect("a path");
        let answer = client.server_streaming(Request::new(body), path, Raw);
        answer.await?.into_inner().message().await.map(drop)
    }
}

/// The code and reason of a refusal, or what is wrong with it.
fn reason(status: &Status) -> Result<String, String> {
    let defects = [Code::Unknown, Code::Internal, Code::DataLoss];
    let info = status.get_details_error_info();
    match info.filter(|info| info.domain == reasons::DOMAIN && !info.reason.is_empty()) {
        Some(info) if !defects.contains(&status.code()) && !status.message().is_empty() => {
            Ok(format!("{:?} {}", status.code(), info.reason))
        }
        _ => Err(format!("refused with {status:?}")),
    }
}
