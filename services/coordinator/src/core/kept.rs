//! Standings that are kept because they take long.

use std::{sync::Arc, time::Duration};

use arena_tournament::Evidence;
use arena_wire::v1::{self, TournamentState};

/// Costly standings, with the evidence that compares agents.
pub(super) struct Kept {
    pub(super) at: Duration,
    pub(super) took: Duration,
    pub(super) changes: u64,
    pub(super) state: TournamentState,
    pub(super) standings: v1::Standings,
    pub(super) evidence: Arc<Evidence>,
}
