//! Comparisons of the records of audits with the durable ones, and what follows from them.

use std::collections::BTreeSet;

use super::Audits;
use crate::ledger::{
    AuditRecord, Dispute, Settled, WorkerId, WorkerProcess,
    agent_starts::AgentStarts,
    disputes::{Charge, Charged, Confirmed, Played},
    waiting_audits::Players,
    worker_processes::WorkerProcesses,
};

impl Audits {
    /// Marks a game as being compared, because a worker sent its record.
    pub(in crate::ledger) fn reported(&mut self, index: u64, worker: WorkerId) {
        if let Some(by) = self.out.remove(&index) {
            self.compared.insert(index, (worker, by));
        }
    }

    /// Lists the games again that a worker reported before it left, because their comparison may
    /// never end.
    pub(in crate::ledger) fn left(&mut self, worker: WorkerId) {
        let of_worker = |_: &u64, (sender, _): &mut (WorkerId, Players)| *sender == worker;
        let again: Vec<_> = self.compared.extract_if(.., of_worker).collect();
        for (index, (_, by)) in again {
            self.list(index, by);
        }
    }

    /// Removes a game from the comparisons. Returns the processes that played it before; none if
    /// the game was not an audit of this worker.
    pub(super) fn take_compared(&mut self, index: u64, worker: WorkerId) -> Option<Players> {
        let compared = self.compared.get(&index);
        compared.filter(|(sender, _)| *sender == worker)?;
        self.compared.remove(&index).map(|(_, by)| by)
    }

    /// True if the record of a game that this worker sent is being compared.
    pub(in crate::ledger) fn is_compared(&self, index: u64, worker: WorkerId) -> bool {
        let compared = self.compared.get(&index);
        compared.is_some_and(|(sender, _)| *sender == worker)
    }

    /// Stores the result of comparing the record that a worker of process `of` sent.
    pub(in crate::ledger) fn settle(
        &mut self,
        index: u64,
        worker: WorkerId,
        of: WorkerProcess,
        record: AuditRecord,
        processes: &WorkerProcesses,
        agents: &AgentStarts,
    ) -> (Settled, WorkerProcess) {
        let owner = |process| processes.owner(process).cloned();
        let has_further = |among: &BTreeSet<_>| processes.has_further_owner(among, agents);
        let Some(by) = self.take_compared(index, worker) else {
            return (Settled::Nothing, WorkerProcess::Unknown);
        };
        if record == AuditRecord::LacksFault && self.disputes.contains(index) {
            // It confirms neither record.
            self.give_up(index);
            return (Settled::Nothing, WorkerProcess::Unknown);
        }
        self.forget_failures(index);
        let hash = match record {
            AuditRecord::Differs { hash, .. } => Some(hash),
            AuditRecord::Same | AuditRecord::Sample | AuditRecord::LacksFault => None,
        };
        let owners = (processes.owners(), has_further);
        match self.disputes.settle(index, hash, of, owner, owners) {
            None => {}
            Some(Played::Third(dispute)) => {
                self.list(index, Players::of(&dispute));
                return (Settled::Third(dispute), by.first);
            }
            Some(Played::Last(dispute, confirmed, charged)) => {
                // If the agent is charged, none of its records is the right one.
                if confirmed != Confirmed::Durable && charged != Charged::Agent {
                    self.refuted.insert(index);
                }
                return (Settled::Last(dispute, confirmed, charged), by.first);
            }
        }
        self.audited.insert(index);
        let is_own = processes.have_one_owner(by.first, of);
        let may_be_own = processes.may_have_one_owner(by.first, of);
        if is_own || self.claimed.contains(index) && may_be_own {
            self.own.insert(index);
        } else {
            self.claimed.remove(index);
        }
        let settled = match record {
            AuditRecord::Same => Settled::Agreed,
            AuditRecord::Sample | AuditRecord::LacksFault => {
                self.sampled.insert(index);
                Settled::Sampled
            }
            AuditRecord::Differs { hash, agent } => {
                self.differing.insert(index);
                let dispute = Dispute {
                    first: by.first,
                    second: of,
                    hash,
                    agent,
                    third: None,
                };
                match self.dispute(index, dispute) {
                    true => Settled::Disputed(dispute),
                    false => Settled::Differs,
                }
            }
        };
        let owners = BTreeSet::from([processes.owner(of).cloned()]);
        if self.claimed.contains(index) && processes.has_further_owner(&owners, agents) {
            // Another owner joined while the same one audited it.
            self.doubt_again(index);
        }
        (settled, by.first)
    }

    /// The games of the processes that were acquitted last. Their records stand.
    pub(in crate::ledger) fn take_acquitted(&mut self) -> Vec<Charge> {
        let charges = self.disputes.take_acquitted();
        for charge in &charges {
            self.refuted.remove(charge.index);
        }
        charges
    }

    /// Lists a game again whose record came from a process that is not believed any more.
    pub(in crate::ledger) fn repeat(&mut self, index: u64, worker: WorkerId) {
        if let Some(by) = self.take_compared(index, worker) {
            self.list(index, by);
        }
    }
}
