//! Sessions of workers, each of which counts only for the owner that joined with it.

use arena_wire::v1::{self, worker_service_server::WorkerService};
use tonic::Request;

use super::{Answer, principal};
use crate::messages::session_of;

/// The service for workers, which gets the sessions of its requests bound to the owners that show them. So no
/// method can forget the owner.
pub(crate) struct OwnSessions<S>(pub(crate) S);

/// A request whose session is bound to its owner.
fn bound<T>(mut request: Request<T>, of: impl FnOnce(&mut T) -> &mut Vec<u8>) -> Request<T> {
    let owner = principal(&request).owner;
    let session = of(request.get_mut());
    *session = session_of(session, &owner).to_vec();
    request
}

#[tonic::async_trait]
impl<S: WorkerService> WorkerService for OwnSessions<S> {
    type JoinStream = S::JoinStream;

    async fn join(&self, request: Request<v1::JoinRequest>) -> Answer<Self::JoinStream> {
        self.0.join(request).await
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Answer<v1::LeaseResponse> {
        self.0.lease(bound(request, |it| &mut it.session)).await
    }

    async fn replay(&self, request: Request<v1::ReplayRequest>) -> Answer<v1::ReplayResponse> {
        self.0.replay(bound(request, |it| &mut it.session)).await
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Answer<v1::ReportResponse> {
        self.0.report(bound(request, |it| &mut it.session)).await
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Answer<v1::HeartbeatResponse> {
        self.0.heartbeat(bound(request, |it| &mut it.session)).await
    }

    async fn leave(&self, request: Request<v1::LeaveRequest>) -> Answer<v1::LeaveResponse> {
        self.0.leave(bound(request, |it| &mut it.session)).await
    }

    type FetchBinaryStream = S::FetchBinaryStream;

    async fn fetch_binary(
        &self,
        request: Request<v1::FetchBinaryRequest>,
    ) -> Answer<Self::FetchBinaryStream> {
        let request = bound(request, |it| &mut it.session);
        self.0.fetch_binary(request).await
    }
}
