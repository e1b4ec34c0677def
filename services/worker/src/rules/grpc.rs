//! A process that serves `arena.v1.RulesService`.
//!
//! Calls run on the runtime that watches the process. The thread that asks waits for them, and encodes
//! and decodes the messages itself.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use arena_model::rules::RULES_PROTOCOL;
use arena_wire::{raw::Raw, v1};
use prost::{Message, bytes::Bytes};
use tokio::{runtime::Handle, task::AbortHandle, time};
use tonic::{
    Code, Request as Call, Status, client::Grpc, codegen::http::uri::PathAndQuery,
    transport::Channel,
};

use super::{
    failure::{MESSAGE_BYTES_MAX, ProcessError, has_ended},
    messages::{Reply, Request},
    protobuf,
};
use crate::{
    agent::{connection, is_garbled},
    supervise::{Guarded, RawSocket, serving},
};

/// Interval at which a process that starts is looked at, and between its health checks.
const POLL: Duration = Duration::from_millis(5);
/// Maximum time of one health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum time for the end of a process to be reported after its connection broke.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The connection to a process.
pub(super) struct GrpcLink {
    runtime: Handle,
    /// Until it is connected.
    socket: Option<RawSocket>,
    channel: Option<Channel>,
}

/// A task that ends with its caller.
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl GrpcLink {
    pub(super) fn new(socket: RawSocket, runtime: Handle) -> Self {
        Self {
            runtime,
            socket: Some(socket),
            channel: None,
        }
    }

    /// Waits until the process is ready. Returns its description as JSON.
    pub(super) fn describe(
        &mut self,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<String, ProcessError> {
        if let Some(RawSocket { url, input }) = self.socket.take() {
            self.channel = Some(self.connect(&url, guarded, deadline)?);
            drop(input);
        }
        let request = v1::DescribeRulesRequest {
            protocol: RULES_PROTOCOL,
        };
        let answer = self.call("DescribeRules", &request, guarded, deadline)?;
        protobuf::description(answer).map_err(ProcessError::Garbled)
    }

    fn connect(
        &self,
        url: &str,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<Channel, ProcessError> {
        let (sender, receiver) = mpsc::channel();
        let url = url.to_owned();
        let task = self.runtime.spawn(async move {
            loop {
                let answer = time::timeout(HEALTH_TIMEOUT, serving(&url)).await;
                let answer =
                    answer.unwrap_or_else(|_| Err(Some("no answer to the check".to_owned())));
                let is_ready = answer.is_ok();
                if sender.send(answer).is_err() || is_ready {
                    return;
                }
                time::sleep(POLL).await;
            }
        });
        let _task = Task(task.abort_handle());
        let mut last = "it does not listen on ARENA_LISTEN".to_owned();
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(Ok(channel)) => return Ok(channel),
                Ok(Err(problem)) => last = problem.unwrap_or(last),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
            }
            if has_ended(guarded) {
                return Err(ProcessError::Closed);
            }
            if Instant::now() >= deadline {
                return Err(ProcessError::NotReady(last));
            }
        }
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(
        &self,
        request: &Request<'_>,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<Reply, ProcessError> {
        let reply = match request {
            Request::Game(opened) => {
                let request = protobuf::start_game(opened);
                let answer = self.call("StartGame", &request, guarded, deadline)?;
                protobuf::initial(answer)
            }
            Request::Apply {
                game,
                states,
                events,
                ..
            } => {
                let request = v1::ApplyRequest {
                    game: *game,
                    states: owned(states),
                    events: events.clone(),
                };
                let answer: v1::ApplyResponse = self.call("Apply", &request, guarded, deadline)?;
                protobuf::nodes(answer.nodes)
            }
            Request::Look { game, states, .. } => {
                let (game, states) = (*game, owned(states));
                let request = v1::LookRequest { game, states };
                let answer: v1::LookResponse = self.call("Look", &request, guarded, deadline)?;
                protobuf::nodes(answer.nodes)
            }
            Request::Draw { game, states, .. } => {
                let (game, states) = (*game, owned(states));
                let request = v1::DrawRequest { game, states };
                let answer = self.call("Draw", &request, guarded, deadline)?;
                Ok(protobuf::drawings(answer))
            }
        };
        reply.map_err(ProcessError::Garbled)
    }

    /// Calls a method of the service.
    fn call<Answer: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
        guarded: &Guarded,
        deadline: Instant,
    ) -> Result<Answer, ProcessError> {
        let channel = self.channel.clone().ok_or_else(stopped)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let message = request.encode_to_vec().into();
        let task = self.runtime.spawn(async move {
            // The caller may have gone.
            drop(sender.send(unary(channel, method, message).await));
        });
        let _task = Task(task.abort_handle());
        let left = deadline.saturating_duration_since(Instant::now());
        let bytes = match receiver.recv_timeout(left) {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(status)) => return Err(failure(method, &status, guarded)),
            Err(RecvTimeoutError::Timeout) => return Err(ProcessError::Late),
            Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
        };
        let wrong = |problem| ProcessError::Garbled(format!("the answer to {method} {problem}"));
        protobuf::check_fields(&bytes).map_err(wrong)?;
        Answer::decode(bytes).map_err(|error| wrong(format!("is not its message: {error}")))
    }
}

async fn unary(channel: Channel, method: &str, message: Bytes) -> Result<Bytes, Status> {
    let path = format!("/arena.v1.RulesService/{method}");
    let path = PathAndQuery::try_from(path);
    let path = path.map_err(|error| Status::internal(error.to_string()))?;
    let mut grpc = Grpc::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let ready = grpc.ready().await;
    ready.map_err(|error| Status::from_error(error.into()))?;
    let answer = grpc.unary(Call::new(message), path, Raw).await?;
    Ok(answer.into_inner())
}

/// What a call that failed says of its process.
fn failure(method: &str, status: &Status, guarded: &Guarded) -> ProcessError {
    if is_garbled(status) {
        let problem = match status.code() {
            Code::OutOfRange => format!("a message exceeds {MESSAGE_BYTES_MAX} bytes"),
            _ => format!("the answer to {method} is not gRPC: {}", status.message()),
        };
        return ProcessError::Garbled(problem);
    }
    if connection::may_be_dead(status) {
        // The connection breaks before the guard's report arrives.
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while Instant::now() < deadline {
            if has_ended(guarded) {
                return ProcessError::Closed;
            }
            std::thread::sleep(POLL);
        }
    }
    match status.code() {
        _ if connection::is_lost(status) => ProcessError::Lost(connection::status_text(status)),
        Code::Unimplemented => ProcessError::Garbled(format!(
            "it answers UNIMPLEMENTED to arena.v1.RulesService/{method}"
        )),
        _ => ProcessError::Reported(connection::status_text(status)),
    }
}

/// The runtime that watches the process has ended.
fn stopped() -> ProcessError {
    ProcessError::Lost("the host of the rules has stopped".to_owned())
}

fn owned(states: &[&str]) -> Vec<String> {
    states.iter().map(|&state| state.to_owned()).collect()
}
