//! The network calls of the protocol: each is a task of its own that informs the worker's loop
//! of its result.

use std::{future::Future, path::PathBuf, rc::Rc, sync::Arc, time::Duration};

use arena_access::{Connection, tls_advice};
use arena_telemetry::grpc_code;
use arena_wire::networks::causes;
use arena_wire::{
    reasons,
    v1::{self, join_response::Notice, worker_service_client::WorkerServiceClient},
};
use tokio::{
    sync::mpsc::Sender,
    task::{self, AbortHandle},
    time,
};
use tonic::{Code, Response, Status};
use tonic_types::StatusExt;

use crate::{
    binaries::CoordinatorBinaries,
    environment::BinaryProvider,
    protocol::{CallNo, Refusal, ReportNo, StayNo},
};

/// An event from the network.
pub(super) enum Heard {
    Notice(StayNo, Notice),
    /// A stay ended, or the attempt to join failed.
    Parted(StayNo, Status),
    Lease(CallNo, Box<Result<Leased, Status>>),
    Reported(ReportNo, Result<v1::ReportResponse, Status>),
    Beaten(StayNo, Result<v1::HeartbeatResponse, Status>),
    /// The coordinator knows that the worker leaves, or does not.
    TookLeave,
}

/// The answer to a request for games, and the package of its rules with its SHA-256, if it was
/// fetched.
pub(super) type Leased = (v1::LeaseResponse, Option<(String, PathBuf)>);

/// The coordinator, and where its messages go.
pub(super) struct Calls {
    client: WorkerServiceClient<Connection>,
    heard: Sender<Heard>,
}

impl Calls {
    pub(super) fn new(channel: Connection, heard: Sender<Heard>) -> Self {
        Self {
            client: WorkerServiceClient::new(channel),
            heard,
        }
    }

    /// Joins, and receives the coordinator's notices until the stream ends.
    pub(super) fn join(
        &self,
        stay: StayNo,
        request: v1::JoinRequest,
        timeout: Duration,
    ) -> AbortHandle {
        let (client, heard) = (self.client.clone(), self.heard.clone());
        let stream = async move {
            let end = notices(client, stay, request, timeout, &heard).await;
            let _ = heard.send(Heard::Parted(stay, end)).await;
        };
        task::spawn_local(stream).abort_handle()
    }

    pub(super) fn lease(
        &self,
        call: CallNo,
        request: v1::LeaseRequest,
        timeout: Duration,
        binaries: Arc<CoordinatorBinaries>,
    ) -> AbortHandle {
        let (mut client, heard) = (self.client.clone(), self.heard.clone());
        let call = async move {
            let answer = in_time(timeout, client.lease(request)).await;
            let answer = match answer.map(Response::into_inner) {
                Ok(answer) => {
                    let package = package_of(&answer, &binaries).await;
                    Ok((answer, package))
                }
                Err(status) => Err(status),
            };
            let _ = heard.send(Heard::Lease(call, Box::new(answer))).await;
        };
        task::spawn_local(call).abort_handle()
    }

    pub(super) fn report(
        &self,
        report: ReportNo,
        request: &Rc<v1::ReportRequest>,
        timeout: Duration,
    ) {
        let (mut client, request) = (self.client.clone(), request.clone());
        let answer = async move { client.report(v1::ReportRequest::clone(&request)).await };
        self.spawn(timeout, answer, move |it| Heard::Reported(report, it));
    }

    pub(super) fn beat(&self, stay: StayNo, request: v1::HeartbeatRequest, timeout: Duration) {
        let mut client = self.client.clone();
        let answer = async move { client.heartbeat(request).await };
        self.spawn(timeout, answer, move |it| Heard::Beaten(stay, it));
    }

    pub(super) fn leave(&self, request: v1::LeaveRequest, timeout: Duration) {
        let mut client = self.client.clone();
        let answer = async move { client.leave(request).await };
        self.spawn(timeout, answer, |_| Heard::TookLeave);
    }

    fn spawn<T: 'static>(
        &self,
        timeout: Duration,
        call: impl Future<Output = Result<Response<T>, Status>> + 'static,
        message: impl FnOnce(Result<T, Status>) -> Heard + 'static,
    ) -> AbortHandle {
        let heard = self.heard.clone();
        let call = async move {
            let answer = in_time(timeout, call).await.map(Response::into_inner);
            // Without a loop, no one needs to know.
            let _ = heard.send(message(answer)).await;
        };
        task::spawn_local(call).abort_handle()
    }
}

/// Fetches the package of a lease's rules, if they are one. Threads that play cannot wait for it.
async fn package_of(
    answer: &v1::LeaseResponse,
    binaries: &CoordinatorBinaries,
) -> Option<(String, PathBuf)> {
    let setup = answer.lease.as_ref()?.setup.as_ref()?;
    let package = setup.rules.as_ref()?.package.as_ref()?;
    match binaries.provide(package).await {
        Ok(path) => Some((package.sha256.clone(), path)),
        Err(error) => {
            tracing::error!(ruleset = setup.ruleset, "{error}");
            None
        }
    }
}

async fn in_time<T>(
    timeout: Duration,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let answer = time::timeout(timeout, call).await;
    answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")))
}

/// Receives notices until the stream ends. Returns the reason of the end.
async fn notices(
    mut client: WorkerServiceClient<Connection>,
    stay: StayNo,
    request: v1::JoinRequest,
    timeout: Duration,
    heard: &Sender<Heard>,
) -> Status {
    let opened = in_time(timeout, async {
        let mut stream = client.join(request).await?.into_inner();
        let first = stream.message().await?;
        Ok((stream, first))
    });
    let (mut stream, mut next) = match opened.await {
        Ok(opened) => opened,
        Err(status) => return status,
    };
    while let Some(message) = next {
        if let Some(notice) = message.notice
            && heard.send(Heard::Notice(stay, notice)).await.is_err()
        {
            break;
        }
        next = match stream.message().await {
            Ok(next) => next,
            Err(status) => return status,
        };
    }
    Status::unavailable("it closed the connection")
}

/// The failure of the protocol for an error.
pub(super) fn refusal(status: &Status) -> Refusal {
    let details = status.get_error_details();
    let after = details.retry_info().and_then(|hint| hint.retry_delay);
    let reason = details.error_info().map(|info| info.reason.as_str());
    match status.code() {
        Code::ResourceExhausted => Refusal::Busy { after },
        Code::FailedPrecondition if reason == Some(reasons::UNKNOWN_WORKER) => {
            Refusal::UnknownWorker
        }
        Code::InvalidArgument | Code::OutOfRange => Refusal::Contents,
        // Other refusals of tokens can follow from a coordinator that just starts.
        Code::Unauthenticated | Code::PermissionDenied if has_no_access(reason) => {
            Refusal::NoAccess
        }
        Code::NotFound
        | Code::FailedPrecondition
        | Code::PermissionDenied
        | Code::Unimplemented => Refusal::Never,
        _ if after.is_some() => Refusal::Busy { after },
        _ => Refusal::Failed,
    }
}

/// True if the worker's token was withdrawn, or never allowed it to play.
fn has_no_access(reason: Option<&str>) -> bool {
    let final_reasons = [
        reasons::TOKEN_REVOKED,
        reasons::TOKEN_EXPIRED,
        reasons::ROLE_INSUFFICIENT,
    ];
    reason.is_some_and(|reason| final_reasons.contains(&reason))
}

/// The text of an error for people.
pub(super) fn problem(status: &Status) -> String {
    let text = status.message();
    match std::error::Error::source(status) {
        Some(source) => {
            let causes = causes(source);
            match tls_advice(&causes) {
                Some(advice) => format!("{causes}; {advice}"),
                None => causes,
            }
        }
        None if text.is_empty() => {
            format!("gRPC status {}", grpc_code(status.code() as i32))
        }
        None => text.to_owned(),
    }
}
