//! A thread with a runtime of its own: its work need not be `Send`, and no call crosses threads.

use std::{future::Future, io, thread};

use tokio::{runtime::Builder, sync::oneshot, task::LocalSet};

use crate::clock::{on_sleep, on_wake};

/// Runs work on a thread of its own. Dropping the future stops the work.
pub(crate) async fn on_own_thread<T, F>(
    name: &str,
    work: impl FnOnce() -> F + Send + 'static,
) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_thread_park(on_sleep)
        .on_thread_unpark(on_wake)
        .build()?;
    let (mut result, done) = oneshot::channel();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let local = LocalSet::new();
            let out = local.block_on(&runtime, async {
                tokio::select! {
                    () = result.closed() => None,
                    out = work() => Some(out),
                }
            });
            // When the result arrives, nothing runs any more.
            drop((local, runtime));
            if let Some(out) = out {
                let _ = result.send(out);
            }
        })?;
    done.await
        .map_err(|_| io::Error::other(format!("the thread {name} panicked")))
}
