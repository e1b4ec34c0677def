//! A thread with a runtime of its own: what runs on it need not be `Send`,
//! and no call of it crosses threads.

use std::{future::Future, io, thread};

use tokio::{runtime::Builder, sync::oneshot, task::LocalSet};

/// Runs work on a thread of its own. Dropping the future ends the work where
/// it stands.
pub(crate) async fn on_own_thread<T, F>(
    name: &str,
    work: impl FnOnce() -> F + Send + 'static,
) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let runtime = Builder::new_current_thread().enable_all().build()?;
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
            // Whoever waits for the result finds nothing running any more.
            drop((local, runtime));
            if let Some(out) = out {
                let _ = result.send(out);
            }
        })?;
    done.await
        .map_err(|_| io::Error::other(format!("the thread {name} panicked")))
}
