//! Disputed games: an audit gave another record than the durable one. A third play settles who is
//! charged.
//!
//! | The third record equals | Charged | Durable record |
//! |---|---|---|
//! | the durable one | the process that audited the game | stands |
//! | the audit's | the process that played the game first | is refuted |
//! | neither | the agent whose move differs first | stands |
//!
//! An agent that answers differently now and then makes such games on every process. So as soon as
//! a second process would be charged for the same agent, the agent is charged, for these and all
//! later games, and the first process is acquitted: it leaves quarantine, and its records stand.

use std::collections::BTreeMap;

use super::{AuditSample, Bitmap, WorkerProcess};

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
    /// The agent whose move differs first.
    Agent {
        /// The process that was charged for the games of this agent before.
        acquits: Option<WorkerProcess>,
    },
}

/// A settled dispute for which a process was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The game.
    pub index: u64,
    /// Its records.
    pub dispute: Dispute,
    /// The record that the third play confirmed.
    pub confirmed: Confirmed,
}

/// Who is charged for the games of an agent.
#[derive(Debug)]
enum Culprit {
    Process(WorkerProcess, Vec<Charge>),
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
    /// The third record came.
    Third(Dispute, Confirmed, Charged),
}

/// The open disputes of a tournament.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    /// Each with whether it still waits for its third play, which may be given up.
    open: BTreeMap<u64, (Dispute, bool)>,
    waiting: usize,
    /// Who is charged for each agent.
    charged: BTreeMap<Option<u16>, Culprit>,
    /// The games of the process that was acquitted last.
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

    /// Settles a dispute by a third record, with its hash if it differs from the durable one.
    /// Returns none if the game is not disputed.
    pub(super) fn settle(
        &mut self,
        index: u64,
        differing: Option<[u8; 32]>,
    ) -> Option<(Dispute, Confirmed, Charged)> {
        let (dispute, waits) = self.open.remove(&index)?;
        self.waiting -= usize::from(waits);
        let (confirmed, process) = match differing {
            None => (Confirmed::Durable, dispute.second),
            Some(hash) if hash == dispute.hash => (Confirmed::Other, dispute.first),
            Some(_) => {
                let charged = Charged::Agent { acquits: None };
                return Some((dispute, Confirmed::Neither, charged));
            }
        };
        let charge = Charge {
            index,
            dispute,
            confirmed,
        };
        Some((dispute, confirmed, self.charge(process, charge)))
    }

    fn charge(&mut self, process: WorkerProcess, charge: Charge) -> Charged {
        if process == WorkerProcess::Unknown {
            return Charged::Process(process);
        }
        let culprit = self.charged.entry(charge.dispute.agent);
        let culprit = culprit.or_insert_with(|| Culprit::Process(process, Vec::new()));
        match culprit {
            Culprit::Process(first, games) if *first == process => {
                games.push(charge);
                Charged::Process(process)
            }
            Culprit::Process(first, games) => {
                let acquits = Some(*first);
                self.acquitted = std::mem::take(games);
                *culprit = Culprit::Agent;
                Charged::Agent { acquits }
            }
            Culprit::Agent => Charged::Agent { acquits: None },
        }
    }

    /// The games of the process that was acquitted last; empty afterwards.
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

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: WorkerProcess = WorkerProcess::Process(1);
    const TWO: WorkerProcess = WorkerProcess::Process(2);

    fn dispute(first: WorkerProcess, second: WorkerProcess) -> Dispute {
        Dispute {
            first,
            second,
            hash: [2; 32],
            agent: Some(0),
        }
    }

    #[test]
    fn third_play_settles_who_is_charged() {
        let mut disputes = Disputes::default();
        let between = dispute(ONE, TWO);
        let cases = [
            (None, Confirmed::Durable, Charged::Process(TWO)),
            (Some([2; 32]), Confirmed::Other, Charged::Process(ONE)),
            (
                Some([3; 32]),
                Confirmed::Neither,
                Charged::Agent { acquits: None },
            ),
        ];
        for (hash, confirmed, charged) in cases {
            disputes.charged.clear();
            assert!(disputes.add(7, between));
            assert_eq!(
                disputes.settle(7, hash),
                Some((between, confirmed, charged))
            );
            assert_eq!(disputes.settle(7, hash), None, "settled already");
            assert_eq!((disputes.len(), disputes.waiting()), (0, 0));
        }
    }

    #[test]
    fn agent_is_charged_after_a_second_process() {
        let mut disputes = Disputes::default();
        let charged = |disputes: &mut Disputes, index, first, second| {
            disputes.add(index, dispute(first, second));
            disputes.settle(index, Some([2; 32])).expect("disputed").2
        };
        let unknown = WorkerProcess::Unknown;
        let mut charged = |index, first, second| charged(&mut disputes, index, first, second);
        assert_eq!(charged(6, unknown, TWO), Charged::Process(unknown));
        assert_eq!(charged(7, ONE, TWO), Charged::Process(ONE));
        assert_eq!(charged(8, ONE, TWO), Charged::Process(ONE));
        let acquits = Some(ONE);
        assert_eq!(charged(9, TWO, ONE), Charged::Agent { acquits });
        let acquits = None;
        assert_eq!(
            charged(10, ONE, TWO),
            Charged::Agent { acquits },
            "for good"
        );
        let games = |disputes: &mut Disputes| -> Vec<u64> {
            let charges = disputes.take_acquitted();
            charges.iter().map(|charge| charge.index).collect()
        };
        assert_eq!(games(&mut disputes), [7, 8]);
        assert_eq!(games(&mut disputes), [0; 0]);
    }

    #[test]
    fn open_disputes_are_bounded() {
        let mut disputes = Disputes::default();
        let added = (0..5_000).filter(|&index| disputes.add(index, dispute(ONE, TWO)));
        assert_eq!(added.count(), OPEN_MAX);
        assert!(disputes.give_up(3) && disputes.give_up(3));
        assert_eq!(
            (disputes.len(), disputes.waiting()),
            (OPEN_MAX, OPEN_MAX - 1)
        );
    }
}
