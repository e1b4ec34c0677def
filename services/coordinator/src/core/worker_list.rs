//! The connected workers, for people.

use std::ops::Bound;

use arena_wire::v1;

use super::{
    Core,
    workers::{worker_number, worker_text},
};
use crate::{error::Error, ledger::WorkerId};

impl Core {
    /// Up to `most` workers after the one with this id, in the order in which they joined, with the number
    /// of all workers and of games that none has; from the first one if the id is empty.
    pub(crate) fn list_workers(
        &self,
        after: &str,
        most: usize,
    ) -> Result<v1::ListWorkersResponse, Error> {
        let after = match after {
            "" => Bound::Unbounded,
            id => Bound::Excluded(worker_number(id).ok_or(Error::PageToken)?),
        };
        let rest = self.workers.range((after, Bound::Unbounded)).take(most);
        Ok(v1::ListWorkersResponse {
            workers: rest.map(|(&number, _)| self.worker(number)).collect(),
            games_waiting: self.ledger.waiting(),
            next_page_token: String::new(),
            workers_total: self.workers.len() as u64,
        })
    }

    /// A connected worker.
    fn worker(&self, number: WorkerId) -> v1::Worker {
        let load = self.ledger.load(number).unwrap_or_default();
        let owner = self.ledger.owner_of(number);
        let mut worker = v1::Worker {
            worker_id: worker_text(number),
            leases: load.leases,
            games_leased: load.games,
            quarantined: self.ledger.is_worker_quarantined(number),
            owner: owner.map_or_else(String::new, |it| it.to_string()),
            ..v1::Worker::default()
        };
        if let Some(present) = self.workers.get(&number) {
            worker.name.clone_from(&present.request.name);
            worker.version.clone_from(&present.request.version);
            worker.capacity = present.request.capacity;
            worker.games_reported = present.games_reported;
            worker.sandbox = present.sandbox.to_string();
        }
        worker
    }
}
