//! `arena.v1.AgentService` over encoded messages.

use std::{convert::Infallible, future, pin::Pin, sync::Arc};

use futures_util::{Stream, stream};
use prost::bytes::Bytes;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Context, Poll, Service, http},
    server::{Grpc, NamedService},
};
use tower::service_fn;

use arena_wire::raw::Raw;

use crate::{agent::Process, choosers::SharedChoosers};

/// Maximum size of a message. Nested messages take many times their encoded size, so this
/// bounds memory.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// The service of an agent.
pub(crate) struct AgentService<P>(pub(crate) Arc<SharedChoosers<P>>);

impl<P> Clone for AgentService<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P> NamedService for AgentService<P> {
    const NAME: &'static str = "arena.v1.AgentService";
}

impl<P: Process> Service<http::Request<Body>> for AgentService<P> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        let mut grpc = Grpc::new(Raw)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let method = request.uri().path().rsplit('/').next();
        match method {
            Some("ChooseMoves") => Box::pin(async move {
                let service = service_fn(|questions: Request<Streaming<Bytes>>| {
                    let answers = answers(Arc::clone(&shared), questions.into_inner());
                    future::ready(Ok::<_, Status>(Response::new(answers)))
                });
                Ok(grpc.streaming(service, request).await)
            }),
            Some("ChooseMove") => Box::pin(async move {
                let shared = &*shared;
                let service = service_fn(|question: Request<Bytes>| async move {
                    let answer = shared.answer(question.into_inner()).await;
                    answer.map(Response::new)
                });
                Ok(grpc.unary(service, request).await)
            }),
            Some("Describe") => Box::pin(async move {
                let service = service_fn(|_: Request<Bytes>| {
                    let described = Response::new(shared.described.clone());
                    future::ready(Ok::<_, Status>(described))
                });
                Ok(grpc.unary(service, request).await)
            }),
            _ => Box::pin(async { Ok(Status::unimplemented("no such method").into_http()) }),
        }
    }
}

type Answers = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// Answers each message of a stream with one message, in order, until the process must end.
fn answers<P: Process>(shared: Arc<SharedChoosers<P>>, questions: Streaming<Bytes>) -> Answers {
    let ending = Box::pin(shared.ended());
    let start = (shared, questions, ending, None);
    Box::pin(stream::try_unfold(start, |state| async {
        let (shared, mut questions, mut ending, failed) = state;
        if let Some(status) = failed {
            return Err(status);
        }
        let request = tokio::select! {
            biased;
            request = questions.message() => request?,
            () = &mut ending => None,
        };
        let Some(request) = request else {
            return Ok(None);
        };
        let (response, failed) = match shared.answer_quickly(&request) {
            Some(answered) => answered?,
            None => shared.answer_batch(request).await?,
        };
        Ok(Some((response, (shared, questions, ending, failed))))
    }))
}
