//! The service for administrators.

use std::{sync::Arc, time::Duration};

use arena_access::Token;
use arena_wire::v1::{self, TokenInfo, admin_service_server::AdminService};
use prost::Message;
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
    time,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::{Answer, pages, principal};
use crate::{
    door::{Tokens, place_of},
    error::Error,
    principal::role_name,
    trail::Trail,
};

/// Maximum readers of the trail at the same time.
const READERS_MAX: usize = 8;
/// Maximum time for which a reader takes nothing.
const READ_MAX: Duration = Duration::from_secs(30);
/// Suggested delay of a reader for which there is no place.
const READER_WAIT: Duration = Duration::from_secs(2);
/// Maximum number of events that wait for a slow reader.
const EVENTS_WAITING: usize = 64;

/// The service.
pub(crate) struct AdminRpc {
    /// None if everyone may do everything.
    tokens: Option<Arc<Tokens>>,
    trail: Arc<Trail>,
    /// Places for readers of the trail.
    readers: Arc<Semaphore>,
}

impl AdminRpc {
    pub(crate) fn new(tokens: Option<Arc<Tokens>>, trail: Arc<Trail>) -> Self {
        Self {
            tokens,
            trail,
            readers: Arc::new(Semaphore::new(READERS_MAX)),
        }
    }

    fn tokens(&self) -> Result<&Tokens, Error> {
        self.tokens.as_deref().ok_or_else(|| {
            Error::State("this coordinator asks for no tokens: everyone may do everything".into())
        })
    }
}

#[tonic::async_trait]
impl AdminService for AdminRpc {
    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Answer<v1::CreateTokenResponse> {
        let by = principal(&request);
        let created = self.tokens()?.create(request.into_inner()).await?;
        if let Some(token) = &created.token {
            by.on(&token.id);
            by.did(&role_and_limits(token));
            let (id, role) = (&token.id, role_name(token.role()));
            tracing::info!(id, role, label = ?token.label, "token created");
        }
        Ok(Response::new(created))
    }

    async fn list_tokens(
        &self,
        request: Request<v1::ListTokensRequest>,
    ) -> Answer<v1::ListTokensResponse> {
        let request = request.into_inner();
        let tokens = self.tokens()?;
        let (tokens, more) = tokens.after(&request.page_token, |tokens| {
            pages::first(tokens, request.page_size, TokenInfo::encoded_len)
        });
        let next = tokens.last().filter(|_| more);
        Ok(Response::new(v1::ListTokensResponse {
            next_page_token: next.map_or_else(String::new, place_of),
            tokens,
        }))
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Answer<v1::RevokeTokenResponse> {
        let by = principal(&request);
        // People have the whole token at hand.
        let id = request.into_inner().id;
        let id = id.parse().map_or(id, |token: Token| token.id());
        by.on(&id);
        let token = self.tokens()?.revoke(&id).await?;
        tracing::info!(id = token.id, "token revoked");
        Ok(Response::new(v1::RevokeTokenResponse {
            token: Some(token),
        }))
    }

    type ListEventsStream = ReceiverStream<Result<v1::ListEventsResponse, Status>>;

    async fn list_events(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Answer<Self::ListEventsStream> {
        let (sender, lines) = mpsc::channel(EVENTS_WAITING);
        let trail = Arc::clone(&self.trail);
        // Each reader occupies a thread.
        let place = Arc::clone(&self.readers).try_acquire_owned();
        let place = place.map_err(|_| Error::Overloaded { wait: READER_WAIT })?;
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let _place = place;
            let send = |line| {
                let event = Ok(v1::ListEventsResponse { line });
                // One that does not read is given up.
                let sent = time::timeout(READ_MAX, sender.send(event));
                matches!(runtime.block_on(sent), Ok(Ok(())))
            };
            if let Err(problem) = trail.list(request.get_ref().since_unix_us, send) {
                // A reader that is gone needs no reason.
                let _ = sender.try_send(Err(Status::data_loss(problem)));
            }
        });
        Ok(Response::new(ReceiverStream::new(lines)))
    }
}

/// What a token allows, for the audit trail.
fn role_and_limits(token: &v1::TokenInfo) -> String {
    let mut text = format!("role {}", role_name(token.role()));
    if token.expires_unix_us > 0 {
        text += &format!(", until {} µs", token.expires_unix_us);
    }
    if token.uses > 0 {
        text += &format!(", uses {}", token.uses);
    }
    if !token.from.is_empty() {
        text += &format!(", from {}", token.from.join(" "));
    }
    if let Some(limits) = token.limits.filter(|it| it.entries().next().is_some()) {
        text += &format!(", {limits}");
    }
    text
}
