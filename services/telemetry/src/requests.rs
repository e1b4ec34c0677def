//! Counts what a gRPC server answers.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::http::{Request, Response};
use tower::{Layer, Service};

use crate::CoordinatorMetrics;

/// The status of an answer that carries one ahead of its messages.
const STATUS: &str = "grpc-status";

/// A layer for `tonic::transport::Server::layer` that counts requests in
/// `arena_grpc_requests_total`.
///
/// An answer counts when it begins: an error of a unary method by its code, a
/// stream as OK, whatever ends it.
#[derive(Clone, Debug)]
pub struct CountRequests(Arc<CoordinatorMetrics>);

impl CountRequests {
    /// Counts there.
    #[must_use]
    pub fn new(metrics: Arc<CoordinatorMetrics>) -> Self {
        Self(metrics)
    }
}

impl<S> Layer<S> for CountRequests {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Counted {
            inner,
            metrics: Arc::clone(&self.0),
        }
    }
}

/// A service whose answers are counted.
#[derive(Clone, Debug)]
pub struct Counted<S> {
    inner: S,
    metrics: Arc<CoordinatorMetrics>,
}

impl<S, Asked, Answered> Service<Request<Asked>> for Counted<S>
where
    S: Service<Request<Asked>, Response = Response<Answered>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Asked>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let metrics = Arc::clone(&self.metrics);
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            metrics.grpc_request(&path, code(&answer));
            Ok(answer)
        })
    }
}

fn code<B>(answer: &Response<B>) -> i32 {
    const OK: i32 = 0;
    const UNKNOWN: i32 = 2;
    match answer.headers().get(STATUS) {
        None => OK,
        Some(code) => code
            .to_str()
            .ok()
            .and_then(|code| code.parse().ok())
            .unwrap_or(UNKNOWN),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used)]

    use std::convert::Infallible;

    use tower::{ServiceBuilder, ServiceExt, service_fn};

    use super::*;
    use crate::{Registry, TextEncoder};

    #[tokio::test]
    async fn answers_are_counted_by_method_and_status() {
        let registry = Registry::new();
        let metrics = Arc::new(CoordinatorMetrics::new(&registry, ["cowry"]).unwrap());
        let service = ServiceBuilder::new()
            .layer(CountRequests::new(metrics))
            .service(service_fn(async |request: Request<()>| {
                let mut answer = Response::new(());
                if request.uri().path().ends_with("Report") {
                    answer.headers_mut().insert(STATUS, 8.into());
                }
                Ok::<_, Infallible>(answer)
            }));
        for path in [
            "/arena.v1.W/Lease",
            "/arena.v1.W/Report",
            "/arena.v1.W/Lease",
        ] {
            let request = Request::builder().uri(path).body(()).unwrap();
            service.clone().oneshot(request).await.unwrap();
        }
        let page = TextEncoder::new()
            .encode_to_string(&registry.gather())
            .unwrap();
        for line in [
            "arena_grpc_requests_total{code=\"OK\",method=\"arena.v1.W/Lease\"} 2",
            "arena_grpc_requests_total{code=\"RESOURCE_EXHAUSTED\",method=\"arena.v1.W/Report\"} 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} in\n{page}");
        }
    }
}
