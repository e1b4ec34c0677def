//! A server of the agents' service that ignores requests and sends empty answers.

use std::path::Path;

pub(super) use arena_wire::v1::{
    ChooseMoveRequest, ChooseMovesRequest, Decision, agent_service_client::AgentServiceClient,
};
use arena_wire::v1::{
    ChooseMoveResponse, ChooseMovesResponse, DescribeRequest, DescribeResponse,
    agent_service_server::{AgentService, AgentServiceServer},
};
use tokio::net::UnixListener;
use tokio_stream::{StreamExt, adapters::Map, wrappers::UnixListenerStream};
use tonic::{Request, Response, Status, Streaming, transport::Server};

struct Empty;

type Answered = Result<ChooseMovesResponse, Status>;
type Answers =
    Map<Streaming<ChooseMovesRequest>, fn(Result<ChooseMovesRequest, Status>) -> Answered>;

#[tonic::async_trait]
impl AgentService for Empty {
    type ChooseMovesStream = Answers;

    async fn describe(
        &self,
        _: Request<DescribeRequest>,
    ) -> Result<Response<DescribeResponse>, Status> {
        Ok(Response::new(DescribeResponse::default()))
    }

    async fn choose_move(
        &self,
        _: Request<ChooseMoveRequest>,
    ) -> Result<Response<ChooseMoveResponse>, Status> {
        Ok(Response::new(ChooseMoveResponse::default()))
    }

    async fn choose_moves(
        &self,
        request: Request<Streaming<ChooseMovesRequest>>,
    ) -> Result<Response<Answers>, Status> {
        Ok(Response::new(request.into_inner().map(answer)))
    }
}

fn answer(asked: Result<ChooseMovesRequest, Status>) -> Answered {
    asked.map(|_| ChooseMovesResponse::default())
}

pub(super) async fn serve(socket: &Path) -> anyhow::Result<()> {
    let connections = UnixListenerStream::new(UnixListener::bind(socket)?);
    Server::builder()
        .add_service(AgentServiceServer::new(Empty))
        .serve_with_incoming(connections)
        .await?;
    Ok(())
}
