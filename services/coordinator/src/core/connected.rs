//! A connected worker.

use std::collections::BTreeMap;

use arena_model::SandboxLevel;
use arena_wire::v1::{self, join_response::Notice};
use tokio::sync::mpsc;

use super::heartbeats::Decisions;
use crate::ledger::{TournamentNo, WorkerProcess};

/// A connected worker.
pub(super) struct ConnectedWorker {
    pub(super) request: v1::JoinRequest,
    pub(super) process: WorkerProcess,
    /// The level of its sandbox.
    pub(super) sandbox: SandboxLevel,
    /// SHA-256 of its session, bound to its owner.
    pub(super) session: [u8; 32],
    pub(super) notices: mpsc::Sender<v1::JoinResponse>,
    /// Its waiting request for games.
    pub(super) parked: Option<u64>,
    pub(super) games_reported: u64,
    /// Decisions by tournament.
    pub(super) decisions: BTreeMap<TournamentNo, Decisions>,
}

impl ConnectedWorker {
    pub(super) fn notify(&self, notice: Notice) {
        let notice = v1::JoinResponse {
            notice: Some(notice),
        };
        // The queue is full because the worker does not read.
        let _ = self.notices.try_send(notice);
    }
}
