//! Documents that are written while the state goes on: what came of audits.

use std::{mem::take, sync::Arc};

use arena_store::{Change, Store, StoreError};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    error::Error,
    handle::with_store,
    messages::{AuditStatus, Reply, Signal},
};

/// Requests that are written at once.
const AT_ONCE: usize = 64;

/// Changes, what may be status of a tournament when they are durable, and who waits
/// for that.
type Waiting = (Vec<Change>, (String, AuditStatus), Reply<()>);

/// Writes documents in the order in which they were put, all that wait at once.
pub(super) struct Writer {
    waiting: mpsc::UnboundedSender<Waiting>,
    writing: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(store: Arc<dyn Store>, signals: mpsc::UnboundedSender<Signal>) -> Self {
        let (sender, mut receiver) = mpsc::unbounded_channel::<Waiting>();
        let writing = tokio::spawn(async move {
            let mut at_hand = Vec::with_capacity(AT_ONCE);
            while receiver.recv_many(&mut at_hand, AT_ONCE).await > 0 {
                let changes = at_hand.iter_mut().map(|(changes, ..)| take(changes));
                let changes: Vec<Change> = changes.flatten().collect();
                let result = if changes.is_empty() {
                    Ok(())
                } else {
                    let put = with_store(Arc::clone(&store), move |store| store.put_many(changes));
                    put.await.unwrap_or(Err(StoreError::Closed))
                };
                if let Err(error) = &result {
                    // Without a receiver the coordinator is gone as well.
                    let _ = signals.send(Signal::Unkept(error.clone()));
                }
                for (_, (tournament, status), reply) in at_hand.drain(..) {
                    if result.is_ok() {
                        let _ = signals.send(Signal::Kept(tournament, status));
                    }
                    // A caller that is gone needs no answer.
                    let _ = reply.send(result.clone().map_err(Error::Store));
                }
            }
        });
        Self {
            waiting: sender,
            writing,
        }
    }

    /// Answers when the changes are durable, and all that were put before them.
    pub(super) fn put(
        &self,
        changes: Vec<Change>,
        status: (String, AuditStatus),
        reply: Reply<()>,
    ) {
        let waiting = (changes, status, reply);
        if let Err(mpsc::error::SendError((.., reply))) = self.waiting.send(waiting) {
            let _ = reply.send(Err(Error::Defect));
        }
    }

    /// Waits for all that was put, and lets go of the store.
    pub(super) async fn close(self) {
        drop(self.waiting);
        // A panic was status where it happened.
        let _ = self.writing.await;
    }
}
