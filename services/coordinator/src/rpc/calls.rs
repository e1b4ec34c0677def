//! Calls until their outcome is counted and recorded, also if the client does not wait for it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use arena_telemetry::{FORBIDDEN, grpc_code};
use tokio::{
    task::{AbortHandle, JoinHandle},
    time::Instant,
};
use tonic::{Code, Status, codegen::http};
use tonic_types::StatusExt;

use super::gate::{Gate, method_name};
use crate::{
    principal::{Principal, role_name},
    shares::Share,
    trail::Event,
};

/// Calls of one owner that go on at a time after their clients left. A further one is stopped.
pub(super) const ABANDONED_MAX: usize = 64;

/// A call that passed the door. If it is dropped before it ends, the client left.
pub(super) struct Call {
    gate: Arc<Gate>,
    path: String,
    by: Principal,
    peer: Option<SocketAddr>,
    /// True if the call belongs into the audit trail.
    is_recorded: bool,
    is_worker: bool,
    is_over: bool,
}

impl Call {
    pub(super) fn new(
        gate: Arc<Gate>,
        path: String,
        by: Principal,
        peer: Option<SocketAddr>,
        [is_recorded, is_worker]: [bool; 2],
    ) -> Self {
        Self {
            gate,
            path,
            by,
            peer,
            is_recorded,
            is_worker,
            is_over: false,
        }
    }

    /// The call has this answer.
    pub(super) fn answered<B>(mut self, response: &http::Response<B>) {
        // Errors are in the headers; a stream that has started counts as answered.
        let status = response.headers().get("grpc-status");
        let code = status.map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
        self.end(code, reason_of(response.headers()));
    }

    fn end(&mut self, code: Code, reason: String) {
        self.is_over = true;
        let metrics = &self.gate.metrics;
        if FORBIDDEN.contains(&&*reason) {
            metrics.request_refused(&reason);
        }
        metrics.grpc_request(self.gate.door.label(&self.path), code as i32);
        if !self.is_recorded && !self.is_worker {
            return;
        }
        let event = Event {
            actor: self.by.actor.to_string(),
            role: role_name(self.by.role).to_owned(),
            peer: self.peer.map(|peer| peer.to_string()),
            method: method_name(&self.path),
            target: self.by.target(),
            detail: self.by.detail(),
            outcome: format!("{code:?}"),
            code: grpc_code(code as i32).to_owned(),
            reason,
            ..Event::default()
        };
        // Failures are counted. What was stopped may have been done. Workers call often, so only what they
        // must not do is recorded.
        let events = match self.is_recorded {
            true if [Code::Ok, Code::Cancelled].contains(&code) => vec![event],
            false if !is_wrong(code) => Vec::new(),
            _ => self.gate.refusals.add(event, Instant::now()),
        };
        events
            .into_iter()
            .for_each(|event| self.gate.trail.record(event));
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(Code::Cancelled, String::new());
        }
    }
}

/// The reason in the headers of a failure.
fn reason_of(headers: &http::HeaderMap) -> String {
    let info = Status::from_header_map(headers).and_then(|it| it.get_details_error_info());
    info.map(|info| info.reason).unwrap_or_default()
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

/// Runs a call that changes something. It goes on if the client leaves, so that it is done and recorded, or
/// neither. If too many calls of its owner do, it is stopped, and that is recorded.
pub(super) async fn to_the_end<T: Send + 'static>(
    gate: &Gate,
    by: &Principal,
    call: impl Future<Output = T> + Send + 'static,
) -> T {
    let share = Arc::<Mutex<Option<Share>>>::default();
    let kept = Arc::clone(&share);
    let task = tokio::spawn(async move {
        let out = call.await;
        drop(kept);
        out
    });
    let mut client = Client {
        abandoned: gate,
        by,
        task: Some(task.abort_handle()),
        share,
    };
    let out = joined(task).await;
    client.task = None;
    out
}

/// The result of a task that is never stopped while it is awaited.
async fn joined<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(out) => out,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => std::future::pending().await,
        },
    }
}

/// A client that waits for a call.
struct Client<'a> {
    abandoned: &'a Gate,
    by: &'a Principal,
    task: Option<AbortHandle>,
    /// The share of the call in those without a client, until the call ends.
    share: Arc<Mutex<Option<Share>>>,
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else {
            return;
        };
        match self.abandoned.abandoned.take(self.by) {
            Ok(share) => {
                // If the call has ended meanwhile, this is the last reference.
                *self.share.lock().unwrap_or_else(PoisonError::into_inner) = Some(share);
            }
            Err(_) => task.abort(),
        }
    }
}
