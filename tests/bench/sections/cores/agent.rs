//! An agent that burns CPU time for each move, in one thread, and has no batches.

use std::{
    env,
    time::{Duration, Instant},
};

use anyhow::Context;
use arena_wire::v1::{
    ChooseMoveRequest, ChooseMoveResponse, ChooseMovesRequest, ChooseMovesResponse,
    DescribeRequest, DescribeResponse,
    agent_service_server::{AgentService, AgentServiceServer},
};
use tokio::net::UnixListener;
use tokio_stream::{Empty, wrappers::UnixListenerStream};
use tonic::{Request, Response, Status, Streaming, transport::Server};

struct Burner(Duration);

#[tonic::async_trait]
impl AgentService for Burner {
    type ChooseMovesStream = Empty<Result<ChooseMovesResponse, Status>>;

    async fn describe(
        &self,
        _: Request<DescribeRequest>,
    ) -> Result<Response<DescribeResponse>, Status> {
        Ok(Response::new(DescribeResponse::default()))
    }

    async fn choose_move(
        &self,
        request: Request<ChooseMoveRequest>,
    ) -> Result<Response<ChooseMoveResponse>, Status> {
        burn(self.0);
        let decision = request.into_inner().decision.unwrap_or_default();
        let moves = decision.legal_moves;
        let chosen = moves.get(decision.seed as usize % moves.len().max(1));
        Ok(Response::new(ChooseMoveResponse {
            move_id: *chosen.ok_or_else(|| Status::invalid_argument("no legal move"))?,
            info: None,
        }))
    }

    async fn choose_moves(
        &self,
        _: Request<Streaming<ChooseMovesRequest>>,
    ) -> Result<Response<Self::ChooseMovesStream>, Status> {
        Err(Status::unimplemented("ChooseMoves"))
    }
}

/// A longer step was interrupted: the thread had no core meanwhile.
const STEP: Duration = Duration::from_micros(50);

/// Uses the CPU for this long. The system's own counters are as coarse as its ticks.
fn burn(time: Duration) {
    let (mut used, mut last) = (Duration::ZERO, Instant::now());
    while used < time {
        let now = Instant::now();
        used += Some(now - last)
            .filter(|&step| step < STEP)
            .unwrap_or_default();
        last = now;
    }
}

/// Serves the agent where the worker wants it.
pub(crate) fn serve(time: Duration) -> anyhow::Result<()> {
    let listen = env::var("ARENA_LISTEN").context("ARENA_LISTEN")?;
    let socket = listen
        .strip_prefix("unix:")
        .context("a Unix socket in ARENA_LISTEN")?;
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build()?.block_on(async {
        let (_, health) = tonic_health::server::health_reporter();
        let connections = UnixListenerStream::new(UnixListener::bind(socket)?);
        Server::builder()
            .add_service(health)
            .add_service(AgentServiceServer::new(Burner(time)))
            .serve_with_incoming(connections)
            .await?;
        Ok(())
    })
}
