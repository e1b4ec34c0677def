//! What is known of the audits of a tournament.

use arena_wire::v1;

use super::differences::Differing;
use crate::{ledger::Audited, messages::AuditStatus};

impl AuditStatus {
    /// The numbers of finished audits, for a tournament without further audits.
    pub(super) fn done(&self) -> Audited {
        Audited {
            due: self.agreed + self.differing + self.sampled,
            agreed: self.agreed,
            differing: self.differing,
            sampled: self.sampled,
            disputed: self.disputed,
            refuted: self.refuted,
            own: self.own,
            contradicted: self.contradicted,
            ..Audited::default()
        }
    }

    /// The state of a tournament's differences, without audits.
    pub(super) fn of(differing: &Differing) -> Self {
        Self {
            unlisted: differing.unlisted.count(),
            flagged: differing.named(),
            ..Self::default()
        }
    }

    /// Adds the results of audits.
    pub(super) fn and(self, audited: Audited) -> Self {
        Self {
            agreed: audited.agreed,
            differing: audited.differing,
            sampled: audited.sampled,
            disputed: audited.disputed,
            refuted: audited.refuted,
            own: audited.own,
            contradicted: audited.contradicted,
            ..self
        }
    }

    /// What users see: results of audits count once they are durable. The ledger knows them earlier; until then,
    /// these audits are pending.
    pub(super) fn shown(&self, known: Audited, is_cancelled: bool) -> v1::Audits {
        let shown = Audited {
            due: known.due,
            given_up: known.given_up,
            unverified: known.unverified,
            claims: known.claims,
            awaited: known.awaited,
            ..self.done()
        };
        v1::Audits {
            due: shown.due,
            agreed: shown.agreed,
            differing: shown.differing,
            waiting: shown.waiting(),
            given_up: shown.given_up,
            unverified: shown.unverified,
            disputed: shown.disputed,
            refuted: shown.refuted,
            sampled: shown.sampled,
            same_owner: shown.own,
            contradicted: shown.contradicted,
            claims: shown.claims,
            // Audits of a cancelled tournament do not go on.
            pending: match shown.awaited && !is_cancelled {
                true => shown.waiting(),
                false => 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_are_pending_until_their_results_are_durable() {
        let known = Audited {
            due: 10,
            agreed: 7,
            differing: 2,
            disputed: 2,
            awaited: true,
            ..Audited::default()
        };
        let stored = AuditStatus {
            agreed: 4,
            ..AuditStatus::default()
        };
        let shown = stored.shown(known, false);
        assert_eq!((shown.agreed, shown.differing, shown.pending), (4, 0, 6));
        let all = stored.and(known).shown(known, false);
        assert_eq!((all.agreed, all.differing, all.pending), (7, 2, 1));
    }
}
