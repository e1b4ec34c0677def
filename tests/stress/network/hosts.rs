//! The real coordinator and the real workers, each on a simulated host.

use std::{
    future::pending,
    net::Ipv4Addr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arena_wire::v1;
use arena_worker::WorkerError;
use tokio::{task, time};
use tonic::transport::Endpoint;
use turmoil::{Result, net::TcpListener};

use super::{
    case::{COORDINATOR, Case, Draws},
    disk::Disk,
    wire::{Incoming, PORT, Sockets},
};

/// How long a supervisor waits before it restarts a worker.
const RESTART: Duration = Duration::from_millis(500);
/// Games that a worker plays at once.
const CAPACITY: usize = 8;

/// The address of the coordinator.
pub(super) fn url() -> String {
    format!("http://{COORDINATOR}:{PORT}")
}

/// One run of the coordinator.
pub(super) async fn coordinator(
    case: Case,
    disk: Disk,
    native: v1::DescribeResponse,
    sockets: Sockets,
) -> Result {
    let address = (Ipv4Addr::UNSPECIFIED, PORT);
    let listener = TcpListener::bind(address).await?;
    let options = arena_coordinator::Options {
        lease_deadline: case.lease_deadline,
        audit_share: case.audit_share,
        ..arena_coordinator::Options::new(Arc::new(disk), address.into(), native)
    };
    let service = options.build_on(Incoming::new(listener, sockets)).await?;
    service.run_over(pending()).await?;
    Ok(())
}

/// One run of a worker with its supervisor.
pub(super) async fn worker(
    case: Case,
    number: usize,
    life: u64,
    temp: PathBuf,
    sockets: Sockets,
) -> Result {
    let seed = case.seed ^ (life << 8) ^ number as u64;
    let draws = Arc::new(Mutex::new(Draws::new(seed, 1)));
    loop {
        let options = arena_worker::Options {
            name: super::case::worker(number),
            capacity: CAPACITY,
            temp: temp.clone(),
            connect_timeout: case.connect_timeout,
            seed,
            // All agents are built in, so that no process starts.
            ..arena_worker::Options::new(&url(), "none".as_ref())
        };
        let service = options.build().await?;
        let (draws, (least, most)) = (draws.clone(), case.thinking);
        let think = move |job: arena_worker::Job| {
            let mut draws = draws.lock().unwrap_or_else(PoisonError::into_inner);
            let wait = draws.millis(least, most);
            task::spawn_local(async move {
                time::sleep(wait).await;
                job();
            });
        };
        let connect = |endpoint: &Endpoint| sockets.connect(endpoint);
        match service.run_here(connect, think, pending()).await {
            Ok(()) => return Ok(()),
            Err(WorkerError::Unreachable { .. }) => time::sleep(RESTART).await,
            Err(error) => return Err(error.into()),
        }
    }
}
