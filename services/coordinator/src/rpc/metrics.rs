//! Counts requests by method and status.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use arena_telemetry::CoordinatorMetrics;
use tonic::{
    Code,
    codegen::{Service, http},
};
use tower::Layer;

/// A layer that counts requests.
#[derive(Clone)]
pub(crate) struct CountRequests(pub(crate) Arc<CoordinatorMetrics>);

/// A service whose requests are counted.
#[derive(Clone)]
pub(crate) struct Counted<S> {
    inner: S,
    metrics: Arc<CoordinatorMetrics>,
}

impl<S> Layer<S> for CountRequests {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted {
            inner,
            metrics: Arc::clone(&self.0),
        }
    }
}

impl<S, Q, B> Service<http::Request<Q>> for Counted<S>
where
    S: Service<http::Request<Q>, Response = http::Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    B: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Q>) -> Self::Future {
        let metrics = Arc::clone(&self.metrics);
        let path = request.uri().path().to_owned();
        let answering = self.inner.call(request);
        Box::pin(async move {
            let answer = answering.await;
            if let Ok(response) = &answer {
                // Errors are in the headers; a stream that has started counts as answered.
                let code = response
                    .headers()
                    .get("grpc-status")
                    .map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
                metrics.grpc_request(&path, code as i32);
            }
            answer
        })
    }
}
