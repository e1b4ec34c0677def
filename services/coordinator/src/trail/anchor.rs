//! The end of the audit trail in the store, so that a trail that was cut or removed is noticed.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_access::data_token;
use arena_store::{Collection, Store, StoreError};

use super::Last;

/// Prefix of the documents.
const PREFIX: &str = "trail/";
/// Time from an event until the store has it.
const EVERY: Duration = Duration::from_secs(10);

/// Name of the document in [`Collection::Meta`] that has the end of the trail in a data folder. Folders
/// that share a database differ by their `admin.token`; without one, no end is kept.
#[must_use]
pub fn anchor_key(data: &Path) -> Option<String> {
    data_token(data).map(|token| format!("{PREFIX}{}", token.id()))
}

/// Keeps the end of a trail in a store.
pub(super) struct Anchor {
    store: Arc<dyn Store>,
    key: String,
    /// The newest end that is not stored, and when it has to be.
    open: Option<(Last, Instant)>,
}

impl Anchor {
    /// That of the trail in a data folder.
    pub(super) fn of(data: &Path, store: &Arc<dyn Store>) -> Option<Self> {
        Some(Self {
            store: Arc::clone(store),
            key: anchor_key(data)?,
            open: None,
        })
    }

    /// The end as it was stored last.
    pub(super) fn read(&self) -> Result<Option<Last>, StoreError> {
        let document = self.store.get(Collection::Meta, &self.key)?;
        Ok(document.and_then(|document| decode(&document)))
    }

    /// Notes an end that is on disk.
    pub(super) fn set(&mut self, last: &Last) {
        let due = self.open.as_ref().map(|(_, due)| *due);
        self.open = Some((last.clone(), due.unwrap_or_else(|| Instant::now() + EVERY)));
        if self.due().is_some_and(|due| due.is_zero()) {
            self.put();
        }
    }

    /// Time until the end has to be stored, if it is not.
    pub(super) fn due(&self) -> Option<Duration> {
        let (_, due) = self.open.as_ref()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Stores the end.
    pub(super) fn put(&mut self) {
        let Some((last, _)) = self.open.take() else {
            return;
        };
        let stored = self
            .store
            .put(Collection::Meta, &self.key, encode(&last).as_bytes());
        if let Err(error) = stored {
            // The one before is on disk as well.
            tracing::warn!("cannot store the end of the audit trail: {error}");
        }
    }
}

fn encode(last: &Last) -> String {
    format!("{} {}", last.number, last.hash)
}

/// Reads a document; none if another release wrote it.
pub(super) fn decode(document: &[u8]) -> Option<Last> {
    let (number, hash) = str::from_utf8(document).ok()?.split_once(' ')?;
    Some(Last {
        number: number.parse().ok()?,
        hash: hash.to_owned(),
    })
}
