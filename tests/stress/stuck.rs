//! A connected worker that plays nothing.

use std::time::{Duration, Instant};

use arena_access::Credentials;
use arena_wire::v1::{
    self, coordinator_service_client::CoordinatorServiceClient, join_response::Notice,
    worker_service_client::WorkerServiceClient,
};
use nix::sys::signal::Signal;
use tokio::time::sleep;
use tonic::Status;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{DEADLINE, Games, World, spec};

/// A lease without progress for this long is revoked; the move timeout comes on top.
const DEADLINE_S: &str = "0.5";

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Stuck {
    /// Blocks of the tournament, of two games each.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
}

impl StressTest for Stuck {
    const PROMISE: &'static str = "a worker that heartbeats without progress, or is stopped, \
                                   loses its lease, and others play its games";

    fn quick() -> Self {
        Self { blocks: 40 }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::new();
        let spec = spec(
            "stuck",
            "cowry",
            self.blocks,
            &["random", "aggressive"],
            "[play]\nmove_timeout = \"500ms\"",
        );
        let (id, _, expected) = world.tournament(&spec, "undisturbed", &[]);
        let coordinator = world.coordinator("data", &["--lease-deadline", DEADLINE_S]);
        let url = coordinator.url();
        let started = world.start_tournament("stuck", &spec, &url);
        if started != id {
            return Err(Broken::new(format_args!("{started} should be {id}")));
        }
        // A real worker that is stopped while it plays. It is slow, because it asks processes for
        // one game at a time.
        let stopped = world.worker(
            &coordinator,
            &["--builtin", "process", "--capacity", "1", "--unary"],
        );
        crate::until("the worker to have games", || {
            (coordinator.metric("arena_leases_granted_total", &[]) > 0.0).then_some(())
        });
        stopped.signal(Signal::SIGSTOP);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let seen = runtime
            .expect("a runtime")
            .block_on(heartbeat(&url, &id))
            .map_err(|status| Broken::new(format_args!("the stuck worker got {status}")))??;
        let worker = world.worker(&coordinator, &[]);
        world.finish_tournament(&id, &url);
        let expired = coordinator.metric("arena_leases_expired_total", &[]);
        same(&expected, &world.export(&id, ["--coordinator", &url]))?;
        // Its reports after it continues are accepted, and change nothing.
        stopped.signal(Signal::SIGCONT);
        stopped.stop();
        same(&expected, &world.export(&id, ["--coordinator", &url]))?;
        if expired < 2.0 {
            return Err(Broken::new(format_args!("{expired} leases expired, not 2")));
        }
        worker.stop();
        coordinator.stop();
        world.nothing_runs();
        Ok(Outcome::Holds(vec![
            Figure::new("games", expected.games.len()),
            Figure::new("games of the lease without progress", seen.games),
            Figure::new("heartbeats until it was taken back", seen.beats),
            Figure::new("seconds until then", seen.after.as_secs_f64()),
            Figure::new("leases that expired, also of the stopped worker", expired),
        ]))
    }
}

fn same(expected: &Games, found: &Games) -> Result<(), Broken> {
    expected
        .difference(found)
        .map_or(Ok(()), |difference| Err(Broken::new(difference)))
}

/// What a stuck worker observed.
struct Seen {
    games: usize,
    beats: u32,
    after: Duration,
}

/// Joins, leases games, and sends heartbeats until the leases are revoked.
async fn heartbeat(url: &str, tournament: &str) -> Result<Result<Seen, Broken>, Status> {
    let channel = Credentials::found().connect_lazy(url).expect("a URL");
    let mut worker = WorkerServiceClient::new(channel.clone());
    let mut user = CoordinatorServiceClient::new(channel);
    let join = v1::JoinRequest {
        name: "stuck".to_owned(),
        capacity: 16,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rulesets: arena_games::rulesets()
            .iter()
            .map(|info| (info.name.to_owned(), info.version))
            .collect(),
        process: 0,
        record_version: arena_model::RECORD_VERSION,
        ..v1::JoinRequest::default()
    };
    let mut notices = worker.join(join).await?.into_inner();
    let notice = notices.message().await?.and_then(|message| message.notice);
    let Some(Notice::Welcome(welcome)) = notice else {
        return Ok(Err(Broken::new("no welcome")));
    };
    let request = v1::LeaseRequest {
        worker_id: welcome.worker_id.clone(),
        boot_epoch: welcome.boot_epoch,
        games: 16,
        wait_ms: 1000,
        known_tournaments: Vec::new(),
        known_agents: Vec::new(),
        call: 0,
        session: welcome.session.clone(),
        sated_tournaments: Vec::new(),
    };
    let Some(lease) = worker.lease(request).await?.into_inner().lease else {
        return Ok(Err(Broken::new("no games were leased")));
    };
    let since = Instant::now();
    let mut beats = 0;
    loop {
        let request = v1::HeartbeatRequest {
            worker_id: welcome.worker_id.clone(),
            boot_epoch: welcome.boot_epoch,
            leases: vec![v1::LeaseProgress {
                lease_id: lease.lease_id,
                plies: 7,
            }],
            settled_calls: 0,
            decisions: Vec::new(),
            session: welcome.session.clone(),
        };
        beats += 1;
        let answer = worker.heartbeat(request).await?.into_inner();
        if answer.ended_leases.contains(&lease.lease_id) {
            break;
        }
        if since.elapsed() > DEADLINE {
            return Ok(Err(Broken::new("the lease is never revoked")));
        }
        sleep(Duration::from_millis(50)).await;
    }
    // It is still connected, but its games are leased to another worker.
    let fleet = user.list_workers(v1::ListWorkersRequest::default()).await?;
    let fleet = fleet.into_inner().workers;
    let own = fleet.iter().find(|other| other.name == "stuck");
    if own.is_none_or(|own| own.games_leased > 0) {
        return Ok(Err(Broken::new(format_args!(
            "{tournament}: the fleet is {fleet:?}"
        ))));
    }
    Ok(Ok(Seen {
        games: lease.games.len(),
        beats,
        after: since.elapsed(),
    }))
}
