//! When checkpoints are written.

use std::sync::Arc;

use arena_store::{Change, Position};

use super::Core;
use crate::{blocking::with_store, checkpoint, messages::at_once};

impl Core {
    /// Stores the position of the chain before the next games are summed. All games committed up
    /// to there are summed, and no other ones, so a checkpoint may be written.
    pub(super) fn passed(&mut self, position: Option<Position>) {
        let (Some(before), Some(now)) = (self.position, position) else {
            return;
        };
        if before == now {
            return;
        }
        self.position = Some(now);
        let mut changes = Vec::new();
        for entry in self.tournaments.values_mut() {
            if let Some(results) = &mut entry.results
                && results.games() >= results.kept + self.checkpoint_games
            {
                results.kept = results.games();
                changes.extend(checkpoint::write(&entry.info, results, &before));
            }
        }
        if !changes.is_empty() {
            self.keep(changes);
        }
    }

    /// Writes a checkpoint.
    pub(super) fn keep(&mut self, changes: Vec<Change>) {
        // No request waits for it: without it, only the next start takes longer.
        let signals = self.signals.clone();
        let keeping = tokio::spawn(with_store(Arc::clone(&self.store), move |store| {
            if let Err(error) = store.put_many(changes) {
                tracing::warn!(%error, "cannot store sums of results");
                // Without a receiver, the coordinator is gone, too.
                let _ = signals.send(at_once(move |core: &mut Core| core.store_failed(&error)));
            }
        }));
        self.keeping = Some(keeping);
    }

    /// Waits for checkpoints that are being written, so that they do not replace newer ones.
    pub(super) async fn kept(&mut self) {
        if let Some(keeping) = self.keeping.take() {
            // Whether it succeeded does not matter here.
            let _ = keeping.await;
        }
    }

    /// The change that stores the sums of a tournament whose games are all durable and summed;
    /// none if they are stored already, or if there are few games.
    pub(super) fn last_checkpoint(&mut self, id: &str) -> Option<Change> {
        let position = self.position?;
        let entry = self.tournaments.get_mut(id)?;
        let results = entry.results.as_mut()?;
        if results.games() < self.checkpoint_games || results.games() == results.kept {
            return None;
        }
        results.kept = results.games();
        checkpoint::write(&entry.info, results, &position)
    }
}
