//! How questions reach an agent: by gRPC, or as lines. Both take and return encoded gRPC messages.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use arena_wire::v1;
use prost::bytes::Bytes;
use tokio::{sync::mpsc, time};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, client::Grpc, transport::Channel};

use super::codec::{CHOOSE_MOVE, CHOOSE_MOVES, Raw, answer_bytes_max};
use crate::lines::{Answers, Lines};

type Opening = Pin<Box<dyn Future<Output = Result<Response<Streaming<Bytes>>, Status>>>>;

/// A connection to an agent.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    Grpc(Channel),
    /// With the agent's description.
    Lines(Lines, Arc<v1::DescribeResponse>),
}

impl Link {
    /// Calls `Describe`.
    pub(crate) async fn describe(&self) -> Result<v1::DescribeResponse, Status> {
        match self {
            Self::Grpc(channel) => {
                let mut client = v1::agent_service_client::AgentServiceClient::new(channel.clone());
                let described = client.describe(v1::DescribeRequest {}).await;
                described.map(Response::into_inner)
            }
            Self::Lines(_, description) => Ok(v1::DescribeResponse::clone(description)),
        }
    }

    /// Calls `ChooseMove`.
    pub(crate) async fn choose_move(
        self,
        message: Bytes,
        timeout: Duration,
    ) -> Result<Bytes, Status> {
        match self {
            Self::Grpc(channel) => {
                let mut grpc = Grpc::new(channel).max_decoding_message_size(answer_bytes_max(1));
                let ready = grpc.ready().await;
                ready.map_err(|error| Status::from_error(error.into()))?;
                let mut request = Request::new(message);
                request.set_timeout(timeout);
                let answer = grpc.unary(request, CHOOSE_MOVE, Raw).await;
                answer.map(Response::into_inner)
            }
            Self::Lines(lines, _) => {
                let answer = time::timeout(timeout, lines.choose_move(&message)).await;
                answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer in time")))
            }
        }
    }

    /// Opens a stream of `ChooseMoves` for at most `at_once` batches of this many `decisions`.
    pub(crate) fn stream(&self, at_once: usize, decisions: usize) -> Stream {
        match self {
            Self::Grpc(channel) => {
                let (messages, stream) = mpsc::channel(at_once);
                let mut grpc = Grpc::new(channel.clone())
                    .max_decoding_message_size(answer_bytes_max(decisions));
                let opening = async move {
                    let ready = grpc.ready().await;
                    ready.map_err(|error| Status::from_error(error.into()))?;
                    let request = Request::new(ReceiverStream::new(stream));
                    grpc.streaming(request, CHOOSE_MOVES, Raw).await
                };
                Stream::Grpc {
                    messages,
                    opening: Some(Box::pin(opening)),
                    answers: None,
                }
            }
            Self::Lines(lines, _) => {
                let (sender, answers) = mpsc::unbounded_channel();
                Stream::Lines {
                    lines: lines.clone(),
                    sender,
                    answers,
                }
            }
        }
    }
}

/// The stream of batches to one process.
pub(crate) enum Stream {
    Grpc {
        messages: mpsc::Sender<Bytes>,
        /// The call that opens the stream. Some servers answer it only with their first batch.
        opening: Option<Opening>,
        answers: Option<Box<Streaming<Bytes>>>,
    },
    Lines {
        lines: Lines,
        sender: mpsc::UnboundedSender<Result<Bytes, Status>>,
        answers: Answers,
    },
}

impl Stream {
    /// Sends a batch. If that fails, [`Stream::next`] fails.
    pub(crate) fn send(&self, message: &Bytes) {
        match self {
            // The channel has room for all batches in flight. If the receiver is gone, the stream
            // ends.
            Self::Grpc { messages, .. } => drop(messages.try_send(message.clone())),
            Self::Lines { lines, sender, .. } => lines.choose_moves(message, sender),
        }
    }

    /// The next message. The future may be dropped and the method called again.
    pub(crate) async fn next(&mut self) -> Result<Bytes, Status> {
        match self {
            Self::Grpc {
                opening, answers, ..
            } => {
                if let Some(call) = opening {
                    let answer = call.await;
                    *opening = None;
                    *answers = Some(Box::new(answer?.into_inner()));
                }
                match answers {
                    Some(answers) => answers.message().await?.ok_or_else(ended),
                    None => Err(ended()),
                }
            }
            // There is always a sender.
            Self::Lines { answers, .. } => answers.recv().await.unwrap_or_else(|| Err(ended())),
        }
    }
}

fn ended() -> Status {
    Status::aborted("the stream ended before its last answer")
}
