//! Disputed games: an audit gave another record than the durable one. A third play settles who is
//! charged, and a fourth one if all three differ and a fourth owner is connected.
//!
//! | The newest record equals | Charged | Durable record |
//! |---|---|---|
//! | the durable one | the processes that sent others | stands |
//! | the audit's | the processes that sent others | is refuted |
//! | the third one | the two processes before | is refuted |
//! | none, and one owner made the first two | the process that played the game first | is refuted |
//! | none, else | the agent whose move differs first | stands |
//!
//! An agent that answers differently now and then makes such games on every process. So as soon as
//! a second process would be charged for the same agent, the agent is charged, for these and all
//! later games, and the first process is acquitted: it leaves quarantine, and its records stand.
//! Processes of one owner count as one if those that contradict them have other owners: an owner
//! who lies can start any number of them. With four owners and more, the agent is charged with the
//! third owner: two who lie cannot charge it.

use std::collections::{BTreeMap, BTreeSet};

use super::{AuditSample, Bitmap, Owner, WorkerProcess};

/// Maximum number of open disputes of a tournament. Further differences are not settled.
const OPEN_MAX: usize = 4096;

/// Two records of a game differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispute {
    /// The process that sent the durable record.
    pub first: WorkerProcess,
    /// The process that sent the other record.
    pub second: WorkerProcess,
    /// Hash of the other record.
    pub hash: [u8; 32],
    /// The agent whose move differs first, if it is known.
    pub agent: Option<u16>,
    /// The process that sent a third record, which equals neither, with its hash.
    pub third: Option<(WorkerProcess, [u8; 32])>,
}

impl Dispute {
    /// The processes that played the game.
    pub(super) fn processes(&self) -> impl Iterator<Item = WorkerProcess> {
        let third = self.third.map(|(process, _)| process);
        [self.first, self.second].into_iter().chain(third)
    }
}

/// The record that the third play confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// The durable one.
    Durable,
    /// The audit's: the durable one is refuted.
    Other,
    /// Neither of them.
    Neither,
}

/// Who is charged after a third play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charged {
    /// A worker process, which has to go into quarantine if it is known.
    Process(WorkerProcess),
    /// Two of them.
    Both([WorkerProcess; 2]),
    /// The agent whose move differs first. Processes that were charged for its games before are
    /// acquitted.
    Agent,
}

/// A settled dispute for which a process was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The game.
    pub index: u64,
    /// Its records.
    pub dispute: Dispute,
    /// The record that the last play confirmed.
    pub confirmed: Confirmed,
    /// The process that was charged.
    pub process: WorkerProcess,
}

/// Who is charged for the games of an agent.
#[derive(Debug)]
enum Culprit {
    /// One process, or several with these owners.
    Processes(BTreeSet<Option<Owner>>, Vec<Charge>),
    Agent,
}

/// A record of an audit, compared with the durable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditRecord {
    /// Both have the same hash.
    Same,
    /// The record is another one.
    Differs {
        /// Its hash.
        hash: [u8; 32],
        /// The agent whose move differs first, if it is known.
        agent: Option<u16>,
    },
    /// Agents of the game may answer differently each time: the record is a second sample.
    Sample,
    /// It lacks a fault of the durable one that depends on time or on the host.
    LacksFault,
}

/// Audits of an earlier start.
#[derive(Debug, Default)]
pub struct RestoredAudits {
    /// Which games are audited.
    pub sample: AuditSample,
    /// Games that were audited.
    pub audited: Bitmap,
    /// Those with another record.
    pub differing: Bitmap,
    /// Those that were played again as a second sample.
    pub sampled: Bitmap,
    /// Those whose durable record a third play refuted.
    pub refuted: Bitmap,
    /// Those whose audit ran on another process of the same owner.
    pub own: Bitmap,
    /// Those with a fault that an audit of another owner did not have.
    pub contradicted: Bitmap,
    /// Those with a fault of one owner that no other owner has audited.
    pub claimed: Bitmap,
    /// Those that are audited although the sample lacks them.
    pub doubted: Bitmap,
    /// Those that wait for a third play.
    pub disputes: Vec<(u64, Dispute)>,
}

/// Result of an audit or of a third play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The game was not leased to this worker as an audit, or the audit waits again.
    Nothing,
    /// Both records are the same.
    Agreed,
    /// The game was played again as a second sample.
    Sampled,
    /// Both records differ, and too many disputes are open.
    Differs,
    /// Both records differ: a third process plays the game.
    Disputed(Dispute),
    /// A third record came, which differs from both: a fourth owner plays the game.
    Third(Dispute),
    /// The last record came.
    Last(Dispute, Confirmed, Charged),
}

/// What a play of a disputed game showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Played {
    /// All three records differ: a fourth owner plays the game.
    Third(Dispute),
    /// Who is charged.
    Last(Dispute, Confirmed, Charged),
}

/// The open disputes of a tournament.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    /// Each with whether it still waits for its third play, which may be given up.
    open: BTreeMap<u64, (Dispute, bool)>,
    waiting: usize,
    /// Who is charged for each agent.
    charged: BTreeMap<Option<u16>, Culprit>,
    /// The games of the processes that were acquitted last.
    acquitted: Vec<Charge>,
}

impl Disputes {
    /// Adds a dispute, unless there are too many.
    pub(super) fn add(&mut self, index: u64, dispute: Dispute) -> bool {
        if self.open.len() >= OPEN_MAX {
            return false;
        }
        let before = self.open.insert(index, (dispute, true));
        self.waiting += usize::from(!before.is_some_and(|(_, waits)| waits));
        true
    }

    pub(super) fn contains(&self, index: u64) -> bool {
        self.open.contains_key(&index)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Number of disputes whose third play is not given up.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Gives up the third play of a game until the next start. Returns false if the game is not
    /// disputed.
    pub(super) fn give_up(&mut self, index: u64) -> bool {
        let Some((_, waits)) = self.open.get_mut(&index) else {
            return false;
        };
        self.waiting -= usize::from(std::mem::replace(waits, false));
        true
    }

    /// Settles a dispute by the record of another process, with its hash if it differs from the
    /// durable one. `owners` is the number of known owners, and `has_further` says if one is connected that is
    /// not among these. Returns none if the game is not disputed.
    pub(super) fn settle(
        &mut self,
        index: u64,
        differing: Option<[u8; 32]>,
        by: WorkerProcess,
        owner: impl Fn(WorkerProcess) -> Option<Owner>,
        (owners, has_further): (usize, impl Fn(&BTreeSet<Option<Owner>>) -> bool),
    ) -> Option<Played> {
        let (dispute, waits) = self.open.remove(&index)?;
        self.waiting -= usize::from(waits);
        let Dispute { first, second, .. } = dispute;
        let third = dispute.third.map(|(process, _)| process);
        let confirmed = match differing {
            None => Confirmed::Durable,
            Some(hash) if hash == dispute.hash => Confirmed::Other,
            Some(_) => Confirmed::Neither,
        };
        let by_third = third.filter(|_| dispute.third.map(|(_, hash)| hash) == differing);
        let agent = Played::Last(dispute, confirmed, Charged::Agent);
        let wrong: Vec<WorkerProcess> = match (confirmed, by_third) {
            (Confirmed::Durable, _) => [second].into_iter().chain(third).collect(),
            (Confirmed::Other, _) => [first].into_iter().chain(third).collect(),
            (Confirmed::Neither, Some(_)) => vec![first, second],
            (Confirmed::Neither, None) if is_of_one_owner(&dispute, by, &owner) => vec![first],
            (Confirmed::Neither, None) => {
                let all: BTreeSet<_> = dispute.processes().chain([by]).map(&owner).collect();
                let are_known = !all.contains(&None) && all.len() == 3;
                let goes_on = third.is_none() && are_known && has_further(&all);
                let Some(hash) = differing.filter(|_| goes_on) else {
                    return Some(agent);
                };
                let dispute = Dispute {
                    third: Some((by, hash)),
                    ..dispute
                };
                self.add(index, dispute);
                return Some(Played::Third(dispute));
            }
        };
        let right = match (confirmed, by_third) {
            (Confirmed::Durable, _) => Some(first),
            (Confirmed::Other, _) => Some(second),
            (Confirmed::Neither, third) => third,
        };
        let mut charged = Vec::new();
        for process in wrong {
            let charge = Charge {
                index,
                dispute,
                confirmed,
                process,
            };
            let witnesses = right.into_iter().chain([by]);
            match self.charge(charge, witnesses, &owner, owners) {
                true => charged.push(process),
                false => return Some(agent),
            }
        }
        Some(Played::Last(
            dispute,
            confirmed,
            match charged[..] {
                [one, other] => Charged::Both([one, other]),
                _ => Charged::Process(charged[0]),
            },
        ))
    }

    /// Charges a process. Returns false if the agent is charged instead.
    fn charge(
        &mut self,
        charge: Charge,
        mut witnesses: impl Iterator<Item = WorkerProcess>,
        owner: impl Fn(WorkerProcess) -> Option<Owner>,
        owners: usize,
    ) -> bool {
        let process = charge.process;
        if process == WorkerProcess::Unknown {
            return true;
        }
        let of = owner(process);
        let others_contradict = of.is_some()
            && witnesses.all(|it| {
                let witness = owner(it);
                witness.is_some() && witness != of
            });
        let culprit = self.charged.entry(charge.dispute.agent);
        let culprit = culprit.or_insert_with(|| Culprit::Processes(BTreeSet::new(), Vec::new()));
        match culprit {
            Culprit::Processes(known, charges) => {
                let is_first = charges.first().is_none_or(|it| it.process == process);
                let is_new = !known.contains(&of);
                let most = if owners > 3 { 2 } else { 1 };
                if is_first || others_contradict && (!is_new || known.len() < most) {
                    known.insert(of);
                    charges.push(charge);
                    return true;
                }
                self.acquitted = std::mem::take(charges);
                *culprit = Culprit::Agent;
                false
            }
            Culprit::Agent => false,
        }
    }

    /// The games of the processes that were acquitted last; empty afterwards.
    pub(super) fn take_acquitted(&mut self) -> Vec<Charge> {
        std::mem::take(&mut self.acquitted)
    }

    /// The open disputes, by game.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Dispute)> {
        self.open
            .iter()
            .map(|(&index, (dispute, _))| (index, dispute))
    }
}

/// True if both records come from one owner, and the third one from another; without owners, if both come
/// from one process.
fn is_of_one_owner(
    dispute: &Dispute,
    third: WorkerProcess,
    owner: impl Fn(WorkerProcess) -> Option<Owner>,
) -> bool {
    let [first, second, third] = [dispute.first, dispute.second, third].map(owner);
    match (&first, &third) {
        (Some(_), Some(_)) => first == second && first != third,
        _ => dispute.first == dispute.second && dispute.first != WorkerProcess::Unknown,
    }
}

#[cfg(test)]
mod tests;
