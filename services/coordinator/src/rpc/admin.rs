//! The service for administrators.

use std::sync::Arc;

use arena_wire::v1::{self, admin_service_server::AdminService};
use tonic::{Request, Response};

use super::Answer;
use crate::{
    door::{Tokens, role_name},
    error::Error,
};

/// The service.
pub(crate) struct AdminRpc {
    /// None if everyone may do everything.
    pub(crate) tokens: Option<Arc<Tokens>>,
}

impl AdminRpc {
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
        let created = self.tokens()?.create(request.into_inner()).await?;
        if let Some(token) = &created.token {
            let (id, role) = (&token.id, role_name(token.role()));
            tracing::info!(id, role, label = ?token.label, "token created");
        }
        Ok(Response::new(created))
    }

    async fn list_tokens(
        &self,
        _: Request<v1::ListTokensRequest>,
    ) -> Answer<v1::ListTokensResponse> {
        let tokens = self.tokens()?.list();
        Ok(Response::new(v1::ListTokensResponse { tokens }))
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Answer<v1::RevokeTokenResponse> {
        let token = self.tokens()?.revoke(&request.get_ref().id).await?;
        tracing::info!(id = token.id, "token revoked");
        Ok(Response::new(v1::RevokeTokenResponse {
            token: Some(token),
        }))
    }
}
