//! Writes documents while the state continues: results of audits.

use std::{mem::take, sync::Arc};

use arena_store::{Change, Store, StoreError};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{Command, Core};
use crate::{
    blocking::with_store,
    error::Error,
    messages::{AuditStatus, Reply, at_once},
};

/// Maximum requests that are written at once.
const AT_ONCE: usize = 64;

/// Changes, results that may be shown when they are durable, and the waiting caller.
type Waiting = (Vec<Change>, (String, AuditStatus), Reply<()>);

/// Writes documents in the order of arrival; all that wait are written at once.
pub(super) struct Writer {
    waiting: mpsc::UnboundedSender<Waiting>,
    writing: JoinHandle<()>,
}

impl Writer {
    pub(super) fn new(store: Arc<dyn Store>, signals: mpsc::UnboundedSender<Command>) -> Self {
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
                    // Without a receiver, the coordinator is gone, too.
                    let error = error.clone();
                    let _ = signals.send(at_once(move |core: &mut Core| core.store_failed(&error)));
                }
                for (_, (tournament, status), reply) in at_hand.drain(..) {
                    if result.is_ok() {
                        let shown =
                            move |core: &mut Core| core.compared_durably(&tournament, status);
                        let _ = signals.send(at_once(shown));
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

    /// Answers when these changes and all earlier ones are durable.
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

    /// Waits until all changes that were passed before are durable.
    pub(super) async fn written(&self) -> Result<(), Error> {
        let (reply, written) = oneshot::channel();
        self.put(Vec::new(), Default::default(), reply);
        written.await.unwrap_or(Err(Error::Draining))
    }

    /// Waits for all changes, and releases the store.
    pub(super) async fn close(self) {
        drop(self.waiting);
        // A panic was reported where it happened.
        let _ = self.writing.await;
    }
}
