//! Calls of the store that may block.

use std::sync::Arc;

use arena_store::Store;

/// Runs work on a store, on another thread if its calls block. Returns none if the program
/// ends first.
pub(crate) async fn with_store<T: Send + 'static>(
    store: Arc<dyn Store>,
    work: impl FnOnce(&dyn Store) -> T + Send + 'static,
) -> Option<T> {
    if !store.blocks() {
        return Some(work(store.as_ref()));
    }
    let work = tokio::task::spawn_blocking(move || work(store.as_ref()));
    work.await.ok()
}
