//! Removal of binaries that nothing refers to, and of books that no lease needs.

use std::{collections::HashSet, sync::Arc, time::Duration};

use arena_wire::v1::agent_setup::Source;

use super::Core;
use crate::{binaries::remove_unneeded, blocking::with_store};

/// Interval of the search.
const INTERVAL: Duration = Duration::from_secs(3600);

impl Core {
    /// Removes binaries and books that are not needed, at the start and every hour. Registrations wait for
    /// it, so that none refers to a binary that is being removed.
    pub(super) async fn remove_binaries(&mut self) {
        let now = self.now();
        if self.binaries_due > now {
            return;
        }
        self.binaries_due = now + INTERVAL;
        self.free_books();
        let mut needed: HashSet<String> = self.agents.binaries().map(str::to_owned).collect();
        needed.extend(self.rulesets.binaries().map(str::to_owned));
        for entry in self.tournaments.values() {
            needed.extend(entry.info.package().map(|package| package.sha256.clone()));
            let sources = entry.info.setup.agents.iter().map(|agent| &agent.source);
            needed.extend(sources.filter_map(|source| match source {
                Some(Source::Binary(binary)) => Some(binary.sha256.clone()),
                _ => None,
            }));
        }
        let store = Arc::clone(&self.store);
        let removed = with_store(store, move |store| remove_unneeded(store, &needed)).await;
        match removed {
            Some(Ok(removed)) => {
                self.uploads.forget(&removed);
                for sha256 in removed {
                    tracing::info!(sha256, "removed a binary that nothing refers to");
                }
            }
            Some(Err(error)) => tracing::warn!(%error, "cannot remove unneeded binaries"),
            None => {}
        }
    }
}
