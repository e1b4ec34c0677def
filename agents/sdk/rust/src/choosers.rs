//! Threads of decisions: the receiving thread, or a thinking thread.

use std::{
    future::Future,
    io,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use prost::{Message, bytes::Bytes};
use tokio::sync::{mpsc, oneshot, watch};
use tonic::Status;

use crate::{
    agent::Process,
    chooser::{Answered, Chooser},
};

/// Maximum number of questions that wait for the thinking thread.
const WAITING_MAX: usize = 256;

type Job<P> = Box<dyn FnOnce(&mut Chooser<P>) + Send>;

/// The choosers that all calls share: one on the receiving thread and one on the thinking
/// thread.
pub(crate) struct SharedChoosers<P> {
    /// The encoded answer to `Describe`.
    pub(crate) described: Bytes,
    /// For bots that answer quickly, on the receiving thread.
    quick: Mutex<Chooser<P>>,
    /// For all other bots, on the thinking thread.
    thinker: mpsc::Sender<Job<P>>,
    ending: watch::Receiver<bool>,
}

impl<P: Process> SharedChoosers<P> {
    pub(crate) fn new(process: P, ending: watch::Receiver<bool>) -> io::Result<Self> {
        let process = Arc::new(process);
        let (thinker, mut jobs) = mpsc::channel::<Job<P>>(WAITING_MAX);
        let mut chooser = Chooser::new(Arc::clone(&process));
        thread::Builder::new()
            .name("thinking".to_owned())
            .spawn(move || {
                while let Some(job) = jobs.blocking_recv() {
                    job(&mut chooser);
                }
            })?;
        Ok(Self {
            described: process.describe().encode_to_vec().into(),
            quick: Mutex::new(Chooser::new(process)),
            thinker,
            ending,
        })
    }

    fn quickly<T>(&self, work: impl FnOnce(&mut Chooser<P>) -> T) -> T {
        // A chooser that panicked outside of a player has no inconsistent state.
        work(&mut self.quick.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers an encoded batch at once, or returns `None` if one of its bots thinks long.
    pub(crate) fn answer_quickly(&self, request: &[u8]) -> Option<Result<Answered, Status>> {
        self.quickly(|chooser| chooser.answer_batch(request, true))
    }

    /// Answers an encoded batch on the thinking thread.
    pub(crate) async fn answer_batch(&self, request: Bytes) -> Result<Answered, Status> {
        self.think(move |chooser| chooser.answer_batch(&request, false))
            .await
    }

    /// Answers an encoded question.
    pub(crate) async fn answer(&self, request: Bytes) -> Result<Bytes, Status> {
        match self.quickly(|chooser| chooser.answer(&request, true)) {
            Some(answer) => answer,
            None => {
                self.think(move |chooser| chooser.answer(&request, false))
                    .await
            }
        }
    }

    /// Runs work on the thinking thread, after all queued work. Skips work whose caller has
    /// left.
    async fn think<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Chooser<P>) -> Option<Result<T, Status>> + Send + 'static,
    ) -> Result<T, Status> {
        let (reply, answer) = oneshot::channel();
        let job: Job<P> = Box::new(move |chooser| {
            if !reply.is_closed() {
                // The caller may have left meanwhile.
                let _ = reply.send(work(chooser));
            }
        });
        let gone = || Status::internal("the agent's thread has ended");
        self.thinker.send(job).await.map_err(|_| gone())?;
        answer.await.ok().flatten().unwrap_or_else(|| Err(gone()))
    }

    /// Waits until the process must end.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + use<P> {
        let mut ending = self.ending.clone();
        async move {
            // A dropped sender has the same meaning.
            let _ = ending.wait_for(|&ending| ending).await;
        }
    }
}
