//! Batches over one stream, two on their way at a time.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use arena_telemetry::MoveTiming;
use arena_wire::batch::Answers;
use prost::bytes::Bytes;
use tokio::{sync::mpsc, time};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming, client::Grpc, transport::Channel};

use super::{
    Event, codec,
    line::{Attendant, Distrust},
    question::Batch,
};

/// Batches on their way at a time.
const IN_FLIGHT: usize = 2;
/// The longest a batch is waited for.
const TIMEOUT_MAX: Duration = Duration::from_secs(60);
/// One of so many decisions is timed.
const SAMPLED: usize = 8;

type Opening = Pin<Box<dyn Future<Output = Result<Response<Streaming<Bytes>>, Status>>>>;

/// The stream of one process.
struct Stream {
    messages: mpsc::Sender<Bytes>,
    /// Servers may answer the call itself only with their first batch.
    opening: Option<Opening>,
    answers: Option<Streaming<Bytes>>,
}

impl Stream {
    fn open(grpc: &Grpc<Channel>, decisions: usize) -> Self {
        let (messages, stream) = mpsc::channel(IN_FLIGHT);
        let mut grpc = grpc
            .clone()
            .max_decoding_message_size(codec::answer_bytes_max(decisions));
        let opening = async move {
            grpc.ready()
                .await
                .map_err(|error| Status::from_error(error.into()))?;
            let request = Request::new(ReceiverStream::new(stream));
            grpc.streaming(request, codec::CHOOSE_MOVES, codec::Raw)
                .await
        };
        Self {
            messages,
            opening: Some(Box::pin(opening)),
            answers: None,
        }
    }

    /// The next message; may be dropped and called again.
    async fn next(&mut self) -> Result<Bytes, Status> {
        if let Some(opening) = &mut self.opening {
            let answer = opening.await;
            self.opening = None;
            self.answers = Some(answer?.into_inner());
        }
        match &mut self.answers {
            Some(answers) => answers.message().await?.ok_or_else(ended),
            None => Err(ended()),
        }
    }
}

fn ended() -> Status {
    Status::aborted("the stream ended before its last answer")
}

/// A batch on its way.
struct Sent {
    number: u64,
    batch: Batch,
    message: Bytes,
    left: usize,
    /// When it was sent.
    since: Instant,
}

impl Attendant {
    /// Sends what waits and takes what comes until nothing is on its way, or a
    /// question has to be asked alone.
    pub(super) async fn ask_batches(&mut self) {
        let Some(link) = &mut self.link else { return };
        let rests = |again: Instant| again > Instant::now();
        if link.single || self.batches_again.is_some_and(rests) {
            return self.ask_single().await;
        }
        link.fresh = false;
        let grpc = link.grpc.clone();
        let mut stream = Stream::open(&grpc, self.batch_max);
        let mut sent: VecDeque<Sent> = VecDeque::with_capacity(IN_FLIGHT);
        let mut answers = Answers::default();
        // When the first one on its way began to be waited for.
        let mut since = Instant::now();
        let why = loop {
            while sent.len() < IN_FLIGHT
                && let Some(batch) = self.next_batch(sent.front())
            {
                if sent.is_empty() {
                    since = Instant::now();
                }
                let entry = self.send(batch, &stream.messages);
                sent.push_back(entry);
            }
            let Some(first) = sent.front() else {
                if self.line.inbox.borrow().has_alone() {
                    return;
                }
                self.show(Duration::ZERO);
                tokio::select! {
                    () = self.line.wake.notified() => continue,
                    // Nothing is due; a stream that ends is opened again.
                    _ = stream.next() => return,
                }
            };
            let limit = self.batch_timeout(first.batch.len());
            let number = first.number;
            let answer = tokio::select! {
                answer = stream.next() => answer,
                () = self.line.wake.notified() => continue,
                () = time::sleep_until((since + limit).into()) => break Distrust::Late(limit),
            };
            let read = match answer {
                Ok(bytes) => codec::read_moves(&bytes, &mut answers).map_err(garbled),
                Err(status) if status.code() == Code::Unimplemented => break Distrust::Single,
                Err(status) => break Distrust::Failed(status),
            };
            if let Err(status) = read.and_then(|()| self.take(&mut sent, &answers)) {
                break Distrust::Failed(status);
            }
            if sent.front().is_none_or(|first| first.number != number) {
                since = Instant::now();
            }
            self.show(Duration::from_millis(100));
        };
        let left = sent.iter().flat_map(|sent| &sent.batch.tokens);
        let unanswered = left.flatten().copied().collect();
        drop(stream);
        self.count_failed(&why);
        self.distrust(unanswered, why).await;
    }

    /// The next batch to send: whatever there is where nothing is on its way,
    /// else one that is worth it.
    fn next_batch(&self, first: Option<&Sent>) -> Option<Batch> {
        let mut inbox = self.line.inbox.borrow_mut();
        if inbox.has_alone() {
            return None;
        }
        let at_least = first.map_or(1, |first| first.batch.len().div_ceil(2));
        inbox.take_batch(at_least)
    }

    fn send(&mut self, mut batch: Batch, messages: &mpsc::Sender<Bytes>) -> Sent {
        self.batches += 1;
        let count = batch.len();
        self.count_batch(count);
        let budget = self.batch_timeout(count).as_micros();
        let budget = budget.try_into().unwrap_or(u64::MAX);
        let message = batch.take_message(budget, self.batches);
        // There is room for as many as may be on their way. A receiver that is
        // gone shows as the end of the stream.
        let _ = messages.try_send(message.clone());
        Sent {
            number: self.batches,
            left: count,
            batch,
            message,
            since: Instant::now(),
        }
    }

    fn take(&mut self, sent: &mut VecDeque<Sent>, answer: &Answers) -> Result<(), Status> {
        let Some(place) = sent.iter().position(|sent| sent.number == answer.batch) else {
            return Err(garbled(format!(
                "it answered batch {}, which is not open",
                answer.batch
            )));
        };
        let entry = &mut sent[place];
        let (since, asked) = (entry.since, entry.batch.len());
        let total = since.elapsed();
        let count = answer.choices.len();
        let thinking = answer
            .thinking_us
            .map(|all| Duration::from_micros(all) / u32::try_from(count.max(1)).unwrap_or(1));
        let mut moves = Vec::with_capacity(count);
        let mut wrong = None;
        for (position, choice) in answer.choices.iter().enumerate() {
            let token = entry
                .batch
                .tokens
                .get_mut(choice.slot as usize)
                .and_then(Option::take);
            let Some(token) = token else {
                wrong = Some(choice.slot);
                break;
            };
            if position.is_multiple_of(SAMPLED) {
                let own = choice.thinking_us.map(Duration::from_micros);
                let agent = own.or(thinking);
                self.meter.timed(MoveTiming { total, agent });
            }
            moves.push((token, choice.move_id));
        }
        entry.left -= moves.len();
        self.meter
            .decided((moves.len() - moves.len().div_ceil(SAMPLED)) as u64);
        if entry.left == 0 {
            if let Some(Sent {
                mut batch, message, ..
            }) = sent.remove(place)
            {
                batch.return_message(message);
                self.line.inbox.borrow_mut().keep(batch);
            }
            // One alone shows nothing of batches.
            if asked > 1 {
                self.batches_failed = 0;
            }
            let now = Instant::now();
            self.answered(asked, now - since.max(self.served));
            self.served = now;
        }
        if !moves.is_empty() {
            self.tell(Event::Moves(moves));
        }
        match wrong {
            Some(slot) => Err(garbled(format!(
                "it answered slot {slot}, which is not open"
            ))),
            None => Ok(()),
        }
    }

    /// How long so many decisions may take together.
    pub(super) fn batch_timeout(&self, decisions: usize) -> Duration {
        let count = u32::try_from(decisions).unwrap_or(u32::MAX);
        self.move_timeout
            .saturating_mul(count)
            .min(TIMEOUT_MAX.max(self.move_timeout))
    }
}

fn garbled(problem: String) -> Status {
    Status::data_loss(problem)
}
