//! `arena.v1.AgentService` over encoded messages.

use std::{
    convert::Infallible,
    future::{self, Ready},
    pin::Pin,
    sync::Arc,
};

use futures_util::{Stream, stream};
use prost::bytes::Bytes;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Context, Poll, Service, http},
    server::{Grpc, NamedService, StreamingService, UnaryService},
};

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
            Some("ChooseMoves") => {
                Box::pin(async move { Ok(grpc.streaming(ChooseMoves(shared), request).await) })
            }
            Some("ChooseMove") => {
                Box::pin(async move { Ok(grpc.unary(ChooseMove(shared), request).await) })
            }
            Some("Describe") => {
                Box::pin(async move { Ok(grpc.unary(Describe(shared), request).await) })
            }
            _ => Box::pin(async { Ok(Status::unimplemented("no such method").into_http()) }),
        }
    }
}

struct Describe<P>(Arc<SharedChoosers<P>>);

impl<P: Process> UnaryService<Bytes> for Describe<P> {
    type Response = Bytes;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        future::ready(Ok(Response::new(self.0.described.clone())))
    }
}

struct ChooseMove<P>(Arc<SharedChoosers<P>>);

impl<P: Process> UnaryService<Bytes> for ChooseMove<P> {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move { shared.answer(request.into_inner()).await.map(Response::new) })
    }
}

struct ChooseMoves<P>(Arc<SharedChoosers<P>>);

impl<P: Process> StreamingService<Bytes> for ChooseMoves<P> {
    type Response = Bytes;
    type ResponseStream = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;
    type Future = Ready<Result<Response<Self::ResponseStream>, Status>>;

    /// Answers each message of the stream with one message, in order, until the process must end.
    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (shared, questions) = (Arc::clone(&self.0), request.into_inner());
        let ending = Box::pin(shared.ended());
        let start = (shared, questions, ending, None);
        let answers = stream::try_unfold(start, |state| async {
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
        });
        future::ready(Ok(Response::new(Box::pin(answers))))
    }
}
