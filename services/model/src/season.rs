//! Changes of the agents of an open ladder.
//!
//! An agent of a tournament has an entry: an index that it keeps. No entry is removed, so that
//! records and the schedule keep their meaning. A change applies at the first stage that is drawn
//! after a number of blocks. So the schedule follows from the spec, the changes and the results.

mod change;

pub use change::{AgentChange, ChangeKind, EntryState};

use crate::Tournament;

/// Maximum number of entries of an open ladder.
pub const ENTRIES_MAX: usize = 512;
/// Maximum number of changes of an open ladder.
pub const CHANGES_MAX: usize = 4096;
/// Maximum length of the reason of a ban, in bytes.
pub const REASON_MAX: usize = 500;

impl Tournament {
    /// Number of entries that the spec lists.
    #[must_use]
    pub fn listed_entries(&self) -> usize {
        let added = self.changes.iter().filter(|it| it.adds()).count();
        self.agents.len().saturating_sub(added)
    }

    /// The state of each entry after the changes up to a number of blocks.
    #[must_use]
    pub fn entry_states(&self, blocks: u64) -> Vec<EntryState> {
        let listed = self.listed_entries();
        let mut states = vec![EntryState::Waiting; self.agents.len()];
        states[..listed].fill(EntryState::Active);
        for change in self.changes.iter().filter(|it| it.at_blocks <= blocks) {
            change.apply(&mut states);
        }
        states
    }
}
