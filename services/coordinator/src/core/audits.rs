//! Audits that survive a restart: what came of each game that was played again
//! is stored, a bit each for having been audited and for having differed.

use std::collections::BTreeSet;

use arena_store::Change;
use arena_telemetry::AuditOutcome;
use arena_wire::v1;

use super::{
    Core,
    bits::{self, Documents},
    differences::Differing,
    entry::TournamentEntry,
};
use crate::{
    error::Error,
    ledger::{Audited, Bitmap, Continuation, RecordStatus, State},
    messages::{AuditStatus, Comparison, Reply},
};

/// Below it stands what was audited.
pub(super) const PREFIX: &str = "audits/";

impl AuditStatus {
    /// Of differences alone.
    pub(super) fn of(differing: &Differing) -> Self {
        Self {
            unlisted: differing.unlisted(),
            flagged: differing.named().clone(),
            ..Self::default()
        }
    }

    /// With what came of audits.
    fn and(self, audited: Audited) -> Self {
        Self {
            agreed: audited.agreed,
            differing: audited.differing,
            ..self
        }
    }
}

impl Core {
    /// Goes on with the audits of a tournament that is in the accounts. A game
    /// that the store has lost since its audit will have another record, which
    /// nobody has compared.
    pub(super) async fn restore_audits(
        &mut self,
        id: &str,
        before: &Documents,
    ) -> Result<(), Error> {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return Ok(());
        };
        let Some(number) = entry.number else {
            return Ok(());
        };
        let games = entry.info.games();
        let durable = |index| self.ledger.verdict(number, index) == RecordStatus::Done;
        let [audited, differing] = [0, 1].map(|set| bits::set_where(before, set, games, durable));
        let lost = bits::set(before, 0, games).count() - audited.count();
        let mut changes = Vec::new();
        if lost > 0 {
            let is_in = |index| [audited.contains(index), differing.contains(index)];
            let documents = before.keys();
            let key = &entry.info.key;
            changes.extend(documents.map(|&it| bits::store(PREFIX, key, it, is_in)));
        }
        self.ledger
            .restore_audits(number, key(id), audited, differing);
        let audited = self.ledger.audited(number).unwrap_or_default();
        entry.audit_status = AuditStatus::of(&entry.differing).and(audited);
        match changes.is_empty() {
            true => Ok(()),
            false => self.persist(changes).await,
        }
    }

    /// Takes a finished tournament into the accounts for what is left of its
    /// audits. Its results stay where they are until somebody asks.
    pub(super) async fn go_on_auditing(
        &mut self,
        id: &str,
        before: &Documents,
    ) -> Result<(), Error> {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return Ok(());
        };
        if entry.document.state() != v1::TournamentState::Finished || entry.number.is_some() {
            return Ok(());
        }
        // One that lacks games is not finished any more: see `start`.
        let (done, progress_timeouts) = (
            Bitmap::full(entry.info.games()),
            entry.info.progress_timeouts(),
        );
        let number = self
            .ledger
            .add(done, State::Finished, Continuation::Last, progress_timeouts);
        entry.number = Some(number);
        self.numbers.insert(number, id.to_owned());
        self.restore_audits(id, before).await
    }

    /// How far the audits of a tournament are; none where there are none.
    pub(super) fn audits(&self, entry: &TournamentEntry) -> Option<v1::Audits> {
        let known = self.ledger.audited(entry.number?)?;
        let status = Audited {
            agreed: entry.audit_status.agreed,
            differing: entry.audit_status.differing,
            ..known
        };
        (known != Audited::default()).then(|| v1::Audits {
            due: status.due,
            agreed: status.agreed,
            differing: status.differing,
            waiting: status.waiting(),
            given_up: status.given_up,
        })
    }

    /// Records were compared with the durable ones: what differs and what came
    /// of audits is stored, all at once. Answered when it is durable, and so is what
    /// was found before.
    pub(super) fn compared(&mut self, compared: &Comparison, reply: Reply<()>) {
        let differences = compared.differences.iter();
        let mut changes: Vec<_> = differences
            .filter_map(|difference| self.differs(difference))
            .collect();
        match self.audited(compared) {
            Ok(audited) => changes.extend(audited),
            Err(error) => {
                let _ = reply.send(Err(error));
                return;
            }
        }
        let id = &compared.info.id;
        let Some(entry) = self.tournaments.get(&**id) else {
            let _ = reply.send(Ok(()));
            return;
        };
        let audited = entry.number.and_then(|number| self.ledger.audited(number));
        let status = AuditStatus::of(&entry.differing).and(audited.unwrap_or_default());
        self.writer.put(changes, (id.to_string(), status), reply);
    }

    /// What came of comparisons is durable: it may be status.
    pub(super) fn compared_durably(&mut self, id: &str, status: AuditStatus) {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut entry.audit_status, status);
        let metrics = &self.metrics;
        let (agreed, differing) = (entry.audit_status.agreed, entry.audit_status.differing);
        metrics.audited(AuditOutcome::Agreed, agreed - before.agreed);
        metrics.audited(AuditOutcome::Differing, differing - before.differing);
        entry.touch();
    }

    /// Settles the audits among games that were compared: what is to be stored.
    fn audited(&mut self, compared: &Comparison) -> Result<Vec<Change>, Error> {
        let id = &*compared.info.id;
        // Of one that is gone, the audits wait again.
        let worker = self.find_worker(&compared.worker, compared.boot_epoch);
        let (Some(number), Some(worker)) = (self.entry(id)?.number, worker) else {
            return Ok(Vec::new());
        };
        for &index in &compared.unread {
            self.ledger.abandon_audit(number, index, worker);
        }
        let mut documents = BTreeSet::new();
        for &(index, differs) in &compared.games {
            if self.ledger.settle_audit(number, index, worker, differs) {
                documents.insert(bits::document_of(index));
            }
        }
        let came_of = |index| {
            let came_of = self.ledger.came_of_audit(number, index);
            [came_of.is_some(), came_of == Some(true)]
        };
        let changes = documents.into_iter();
        Ok(changes
            .map(|document| bits::store(PREFIX, &compared.info.key, document, came_of))
            .collect())
    }
}

/// What a tournament's audits are drawn from: FNV-1a of its id (Fowler, Noll,
/// Vo 1991).
pub(super) fn key(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
