//! Trust in worker processes: results of audits change how many of their games are audited. A
//! process that sent a record that cannot have happened, or that a third play refuted, gets no more
//! games, and other processes replay its games: it is in quarantine.

use std::collections::BTreeSet;

use super::{
    AuditRecord, Audited, Charge, Dispute, Ended, Ledger, Owner, RestoredAudits, Settled,
    TournamentNo, WorkerId, WorkerProcess,
    game_queue::GameQueue,
    waiting_audits::{Auditor, Players},
};

/// Why a process is in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    /// A third play refuted one of its records; a second process can acquit it.
    ThirdPlay,
    /// It sent a record that cannot have happened.
    Impossible,
}

/// Maximum number of processes in quarantine that are remembered.
const QUARANTINED_MAX: usize = 1 << 16;

impl Ledger {
    /// Restores the audits of an earlier start, and sets the sample of audits, which is the same
    /// for a tournament in every start.
    pub fn restore_audits(&mut self, tournament: TournamentNo, before: RestoredAudits) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.restore_audits(before);
        }
        self.update_sets(tournament);
    }

    /// State of the audits of a tournament.
    #[must_use]
    pub fn audited(&self, tournament: TournamentNo) -> Option<Audited> {
        let entry = self.tournaments.get(&tournament)?;
        let audited = entry.queue.audits.so_far();
        let has_others = self.processes.has_two_owners();
        let here = || self.processes.owners_here(&entry.queue.agents);
        Some(Audited {
            awaited: has_others && here().iter().flatten().count() > 1,
            claims: if has_others { audited.claims } else { 0 },
            ..audited
        })
    }

    /// The sets of a tournament that contain a game: audited, differing, sampled and refuted games, those
    /// audited by the same owner, contradicted and claimed ones, and those of processes in doubt.
    #[must_use]
    pub fn audit_sets(&self, tournament: TournamentNo, index: u64) -> [bool; 8] {
        let entry = self.tournaments.get(&tournament);
        entry.map_or([false; 8], |entry| entry.queue.audits.sets(index))
    }

    /// The open disputes of a tournament, by game.
    pub fn disputes(&self, tournament: TournamentNo) -> impl Iterator<Item = (u64, &Dispute)> {
        let entry = self.tournaments.get(&tournament);
        entry
            .into_iter()
            .flat_map(|it| it.queue.audits.disputes.iter())
    }

    /// True if a connected process may settle a dispute of a tournament: one that played the game
    /// neither time, of a third owner if two owners disagree.
    #[must_use]
    pub fn has_third(&self, tournament: TournamentNo, dispute: &Dispute) -> bool {
        let Some(entry) = self.tournaments.get(&tournament) else {
            return false;
        };
        let players = Players::of(dispute);
        let workers = self.workers.values().map(|worker| worker.process);
        let mut able = workers.filter(|it| !self.is_quarantined(*it));
        able.any(|it| Auditor::new(it, &self.processes, &entry.queue.agents).may_replay(players))
    }

    /// The owner of a connected worker; none if it is unknown.
    #[must_use]
    pub fn owner_of(&self, worker: WorkerId) -> Option<&Owner> {
        self.processes.owner(self.workers.get(&worker)?.process)
    }

    /// The owner of a process; none if it is unknown.
    #[must_use]
    pub fn owner_of_process(&self, process: WorkerProcess) -> Option<&Owner> {
        self.processes.owner(process)
    }

    /// The process that played a game, if it is known.
    #[must_use]
    pub fn player(&self, tournament: TournamentNo, index: u64) -> WorkerProcess {
        let entry = self.tournaments.get(&tournament);
        entry.map_or(WorkerProcess::Unknown, |it| it.queue.audits.process(index))
    }

    /// The connected workers of this process. There are several while one has lost its connection
    /// and the coordinator does not know it yet.
    pub fn workers_of(&self, process: WorkerProcess) -> impl Iterator<Item = WorkerId> {
        let of = self.workers.iter();
        of.filter(move |(_, it)| it.process == process)
            .map(|(&worker, _)| worker)
    }

    /// Games of a tournament that have to be replaced: those whose record a third play refuted, those of
    /// processes in an open dispute, those with a fault that another owner contradicted, and those of processes in
    /// quarantine, and of others of their owners, that no other owner has confirmed.
    #[must_use]
    pub fn unsound(&self, tournament: TournamentNo) -> BTreeSet<u64> {
        let Some(entry) = self.tournaments.get(&tournament) else {
            return BTreeSet::new();
        };
        let audits = &entry.queue.audits;
        let with_own = self.processes.owners() < 2;
        let suspects = audits.unconfirmed(|by| self.is_suspect(by), with_own);
        let mut unsound: BTreeSet<u64> = suspects.into_iter().collect();
        unsound.extend(audits.refuted().iter());
        unsound.extend(audits.contradicted.iter());
        // Which of the two lied is unknown, and so is what else it reported.
        unsound.extend(audits.disputes.iter().map(|(index, _)| index));
        let disputes = audits.disputes.iter().map(|(_, dispute)| dispute);
        let processes: BTreeSet<_> = disputes.flat_map(Dispute::processes).collect();
        unsound.extend(audits.unconfirmed(|by| processes.contains(&by), with_own));
        unsound
    }

    /// Stores the result of comparing a reported record with the durable one, and doubts the
    /// processes that it concerns.
    pub fn settle_audit(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        worker: WorkerId,
        record: AuditRecord,
    ) -> Settled {
        let of = self.process_of(worker);
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return Settled::Nothing;
        };
        let GameQueue { audits, agents, .. } = &mut entry.queue;
        if self.quarantined.contains_key(&of) {
            audits.repeat(index, worker);
            return Settled::Nothing;
        }
        let processes = &mut self.processes;
        let (settled, first) = audits.settle(index, worker, of, record, processes, agents);
        match settled {
            Settled::Agreed => {
                let own = processes.have_one_owner(first, of);
                processes.mark_agreed(first, own);
            }
            Settled::Differs | Settled::Disputed(_) => {
                processes.mark_differing(first);
                processes.mark_differing(of);
            }
            Settled::Nothing | Settled::Sampled | Settled::Third(_) | Settled::Last(..) => {}
        }
        self.update_sets(tournament);
        settled
    }

    /// Records the owner of a process that may have left, or joined an earlier start.
    pub fn know_owner(&mut self, process: WorkerProcess, owner: &Owner) {
        if matches!(process, WorkerProcess::Process(_)) {
            self.processes.set_owner(process, owner.clone());
        }
    }

    /// Disputes a durable game of which a process reported another record, although it had no audit of it: who
    /// lied, or which agent, is settled by a third play. Of the two processes, the store names the first one,
    /// and the ticket the second one. If the first one has no number, both count as one: the ticket says that
    /// it was leased the game. [`Settled::Nothing`] if another record is there
    /// already, or an audit is under way; [`Settled::Differs`] if no game is audited, so that none is played
    /// again.
    pub fn dispute_report(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        [player, of]: [WorkerProcess; 2],
        record: AuditRecord,
    ) -> Settled {
        let entry = self.tournaments.get_mut(&tournament);
        let (Some(entry), AuditRecord::Differs { hash, agent }) = (entry, record) else {
            return Settled::Nothing;
        };
        if self.quarantined.contains_key(&of) {
            return Settled::Nothing;
        }
        let audits = &mut entry.queue.audits;
        let first = match (audits.process(index), player) {
            (WorkerProcess::Unknown, WorkerProcess::Unknown) => of,
            (WorkerProcess::Unknown, player) => player,
            (known, _) => known,
        };
        let dispute = Dispute {
            first,
            second: of,
            hash,
            agent,
            third: None,
        };
        if !audits.has_sample() {
            return match self.contradicts_itself(&dispute) {
                true => Settled::Nothing,
                false => Settled::Differs,
            };
        }
        let settled = match audits.dispute_report(index, dispute) {
            true => Settled::Disputed(dispute),
            false => Settled::Nothing,
        };
        self.update_sets(tournament);
        settled
    }

    /// The process of a worker; unknown if it has left.
    fn process_of(&self, worker: WorkerId) -> WorkerProcess {
        let worker = self.workers.get(&worker);
        worker.map(|worker| worker.process).unwrap_or_default()
    }

    /// True if both records of a dispute come from one process, or from one of several owners. They do not
    /// speak against an agent: it may have invented either.
    #[must_use]
    pub fn contradicts_itself(&self, dispute: &Dispute) -> bool {
        let one_owner = self.processes.have_one_owner(dispute.first, dispute.second);
        dispute.first == dispute.second || one_owner && self.processes.has_two_owners()
    }

    /// Gives up an audit whose record cannot be compared, until the next start.
    pub fn abandon_audit(&mut self, tournament: TournamentNo, index: u64, worker: WorkerId) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.audits.abandon(index, worker);
        }
        self.update_sets(tournament);
    }

    /// True if a process is in quarantine, or another one of its owner is while there are other owners: all of
    /// its games are audited.
    pub(super) fn is_suspect(&self, process: WorkerProcess) -> bool {
        let owner = || self.processes.owner(process);
        let is_of_suspect = || owner().is_some_and(|owner| self.suspects.contains(owner));
        self.quarantined.contains_key(&process)
            || !self.suspects.is_empty() && is_of_suspect() && self.processes.owners() > 1
    }

    /// Finds the owners of processes in quarantine.
    pub(super) fn find_suspects(&mut self) {
        let quarantined = self.quarantined.keys();
        let owners = quarantined.filter_map(|&process| self.processes.owner(process).cloned());
        self.suspects = owners.collect();
    }

    /// Puts a process into quarantine for the rest of this start. Its games of tournaments that are
    /// not cancelled are audited, and its leases are taken back. Returns none if the process is unknown,
    /// or in quarantine already.
    pub fn quarantine(
        &mut self,
        process: WorkerProcess,
        suspicion: Suspicion,
    ) -> Option<Vec<Ended>> {
        if process == WorkerProcess::Unknown {
            return None;
        }
        if let Some(known) = self.quarantined.get_mut(&process) {
            *known = suspicion.max(*known);
            return None;
        }
        self.quarantined.insert(process, suspicion);
        if self.quarantined.len() > QUARANTINED_MAX {
            self.quarantined.pop_first();
        }
        self.find_suspects();
        // No game waits for this process any more.
        self.processes.remove(process);
        let processes: Vec<_> = { self.tournaments.values() }
            .map(|it| it.queue.audits.games_where(|by| self.is_suspect(by)))
            .collect();
        let numbers: Vec<_> = self.tournaments.keys().copied().collect();
        for (number, games) in numbers.into_iter().zip(processes) {
            if let Some(entry) = self.tournaments.get_mut(&number) {
                entry.queue.agents.mark_left(process, self.now);
                games
                    .into_iter()
                    .for_each(|it| entry.queue.audits.doubt_again(it));
            }
            self.update_sets(number);
        }
        let workers = self.workers.values();
        let own = workers.filter(|worker| worker.process == process);
        let leases = own.flat_map(|worker| worker.leases.iter().copied());
        let leases = leases.collect();
        Some(self.end(leases, false))
    }

    /// Acquits the processes that were charged for an agent's games: they leave quarantine, unless
    /// they sent an impossible record, and the records of these games stand. Returns the games.
    pub fn acquit(&mut self, tournament: TournamentNo) -> Vec<Charge> {
        let entry = self.tournaments.get_mut(&tournament);
        let charges = entry.map(|entry| entry.queue.audits.take_acquitted());
        let charges = charges.unwrap_or_default();
        let acquitted: BTreeSet<_> = charges.iter().map(|charge| charge.process).collect();
        for process in acquitted {
            if self.quarantined.get(&process) == Some(&Suspicion::ThirdPlay) {
                self.quarantined.remove(&process);
                let own = self.workers.values().filter(|it| it.process == process);
                for _ in 0..own.count() {
                    self.processes.mark_joined(process, self.now);
                }
            }
        }
        self.find_suspects();
        self.update_sets(tournament);
        charges
    }

    /// Number of processes in quarantine.
    #[must_use]
    pub fn quarantined(&self) -> usize {
        self.quarantined.len()
    }

    /// True if a process is in quarantine.
    #[must_use]
    pub fn is_quarantined(&self, process: WorkerProcess) -> bool {
        self.quarantined.contains_key(&process)
    }

    /// True if the process of a connected worker is in quarantine.
    #[must_use]
    pub fn is_worker_quarantined(&self, worker: WorkerId) -> bool {
        let worker = self.workers.get(&worker);
        worker.is_some_and(|worker| self.is_quarantined(worker.process))
    }
}
