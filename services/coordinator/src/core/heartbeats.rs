//! Heartbeats of workers: the progress of their leases, what becomes of leases without it, and the
//! decisions that they count.

use arena_wire::v1;

use super::Core;
use crate::{
    error::Error,
    ledger::{Ended, LeaseId},
    messages::Caller,
};

/// Decisions of a game without a result that a worker may count.
const OPEN_DECISIONS_MAX: u64 = 4096;

/// Decisions that a worker counted in a tournament.
#[derive(Default)]
pub(super) struct Decisions {
    /// According to its heartbeats.
    counted: u64,
    /// Of leased games that it reported.
    pub(super) reported: u64,
}

impl Decisions {
    /// Counts `more` of them, as far as a worker that has this number of open games can have made
    /// them.
    fn count(&mut self, more: u64, open: u64) -> u64 {
        let possible = self.reported + open * OPEN_DECISIONS_MAX;
        let more = more.min(possible.saturating_sub(self.counted));
        self.counted += more;
        more
    }
}

impl Core {
    /// Warns of leases that take much longer than those of other owners; idle workers play their
    /// games too.
    pub(super) fn mark_overdue(&mut self) {
        for Ended { worker, lease } in self.ledger.mark_overdue(self.now()) {
            let present = self.workers.get(&worker);
            let name = present.map_or("", |present| &present.request.name);
            tracing::warn!(
                lease,
                worker,
                name,
                "a lease takes much longer than those of other workers; idle ones play its games too"
            );
            self.unpark = true;
        }
    }

    pub(super) fn expire(&mut self) {
        let ended = self.ledger.expire(self.now());
        if ended.is_empty() {
            return;
        }
        for Ended { worker, lease } in &ended {
            let present = self.workers.get(worker);
            let name = present.map_or("", |present| &present.request.name);
            tracing::warn!(lease, worker, name, "took back a lease without progress");
        }
        self.metrics.leases_expired.inc_by(ended.len() as u64);
        self.send_ended(&ended);
        self.unpark = true;
    }

    pub(crate) fn heartbeat(
        &mut self,
        request: &v1::HeartbeatRequest,
    ) -> Result<Vec<LeaseId>, Error> {
        let worker = self.known_worker(&Caller {
            worker_id: request.worker_id.clone(),
            boot_epoch: request.boot_epoch,
            session: request.session.clone(),
        })?;
        let now = self.now();
        let ledger = &mut self.ledger;
        let leases = request.leases.iter();
        let ended = leases.filter(|it| !ledger.advance(now, worker, it.lease_id, it.plies));
        let ended = ended.map(|it| it.lease_id).collect();
        for claimed in &request.decisions {
            let entry = self.tournaments.get_mut(&claimed.tournament_id);
            let number = entry.as_ref().and_then(|entry| entry.number);
            let known = number.zip(entry).zip(self.workers.get_mut(&worker));
            if let Some(((number, entry), present)) = known {
                let open = self.ledger.held(worker, number);
                let decisions = present.decisions.entry(number).or_default();
                entry.decisions += decisions.count(claimed.decisions, open);
                entry.touch();
            }
        }
        let held: Vec<LeaseId> = request.leases.iter().map(|it| it.lease_id).collect();
        let missing = self.ledger.holds(worker, request.settled_calls, &held);
        if !missing.is_empty() {
            tracing::info!(
                worker,
                leases = missing.len(),
                "took back leases that a worker does not have"
            );
            self.unpark = true;
        }
        Ok(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_those_of_leased_games() {
        let mut decisions = Decisions::default();
        assert_eq!(decisions.count(1, 0), 0, "no game");
        assert_eq!(decisions.count(100, 2), 100);
        assert_eq!(decisions.count(u64::MAX, 2), 2 * OPEN_DECISIONS_MAX - 100);
        assert_eq!(decisions.count(u64::MAX, 2), 0);
        decisions.reported += 60;
        assert_eq!(decisions.count(u64::MAX, 2), 60);
    }
}
