//! Reports of games, before their records are replayed.

use std::{collections::BTreeMap, sync::Arc};

use arena_wire::v1;

use crate::{
    info::Info,
    ledger::{LeaseId, Owner, WorkerProcess},
    messages::Caller,
    tickets::Leased,
};

/// Reported records, each with the rest of its report.
pub(super) type Finished = Vec<(v1::GameRecord, v1::GameReport)>;

/// The worker that replayed each game.
pub(super) type ReplayedBy = BTreeMap<u64, Arc<str>>;

/// Who played reported games.
pub(super) struct PlayedBy {
    /// Name of the worker.
    pub(super) worker: String,
    pub(super) process: WorkerProcess,
    pub(super) owner: Owner,
}

/// A report whose games others replay.
pub(super) struct Reporting<'a> {
    pub(super) info: &'a Arc<Info>,
    pub(super) leased: &'a Leased,
    pub(super) by: &'a Caller,
    pub(super) owner: Owner,
    pub(super) lease: LeaseId,
}
