//! Audits that survive a restart: for each game, one bit for being audited and one for differing.

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
    ledger::{AuditSample, Audited, Bitmap, Continuation, RecordStatus, State, ppm},
    messages::{AuditStatus, Comparison, Reply},
};

/// Prefix of the keys of audits.
pub(super) const PREFIX: &str = "audits/";
/// Document of the key that decides which games are audited.
pub(super) const KEY: &str = "audit_key";

impl AuditStatus {
    /// The state of differences only.
    pub(super) fn of(differing: &Differing) -> Self {
        Self {
            unlisted: differing.unlisted.count(),
            flagged: differing.named.clone(),
            ..Self::default()
        }
    }

    /// With the results of audits.
    fn and(self, audited: Audited) -> Self {
        Self {
            agreed: audited.agreed,
            differing: audited.differing,
            ..self
        }
    }
}

impl Core {
    /// Restores the audits of a tournament in the ledger. If the store has lost an audited game,
    /// the game gets another record, which no audit has compared.
    pub(super) async fn restore_audits(
        &mut self,
        id: &str,
        before: &Documents,
    ) -> Result<(), Error> {
        let entry = self.tournaments.get_mut(id);
        let Some((number, entry)) = entry.and_then(|it| Some((it.number?, it))) else {
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
        let share = entry.document.audit_share;
        let sample = AuditSample::new(&self.audit_key, id, share.map_or(self.audit_ppm, ppm));
        self.ledger
            .restore_audits(number, sample, audited, differing);
        let audited = self.ledger.audited(number).unwrap_or_default();
        entry.audit_status = AuditStatus::of(&entry.differing).and(audited);
        if changes.is_empty() {
            return Ok(());
        }
        self.persist(changes).await
    }

    /// Adds a finished tournament to the ledger for its remaining audits. Its results stay in the
    /// store until they are requested.
    pub(super) async fn go_on_auditing(
        &mut self,
        id: &str,
        before: &Documents,
    ) -> Result<(), Error> {
        let entry = self.entry(id)?;
        let is_audited = entry.document.audit_share.map_or(self.audit_ppm, ppm) > 0;
        if entry.document.state() != v1::TournamentState::Finished || !is_audited {
            return Ok(());
        }
        // A tournament that lacks games is not finished any more; see `start`.
        let done = Bitmap::full(entry.info.games());
        let timeouts = entry.info.progress_timeouts();
        let number = self
            .ledger
            .add(done, State::Finished, Continuation::Last, timeouts);
        self.entry_mut(id)?.number = Some(number);
        self.numbers.insert(number, id.to_owned());
        self.restore_audits(id, before).await
    }

    /// State of the audits of a tournament; none if there are none.
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

    /// Number of games of a tournament that differ and are not listed.
    pub(crate) fn unlisted(&self, id: &str) -> Result<u64, Error> {
        Ok(self.entry(id)?.audit_status.unlisted)
    }

    /// Stores differences and results of audits after comparisons, all at once. Answers when they
    /// and all earlier changes are durable.
    pub(crate) fn compared(&mut self, compared: &Comparison, reply: Reply<()>) {
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

    /// Results of comparisons are durable: they may be shown.
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

    /// Settles the audits among compared games. Returns the changes to store.
    fn audited(&mut self, compared: &Comparison) -> Result<Vec<Change>, Error> {
        let id = &*compared.info.id;
        // If the worker is gone, its audits wait again.
        let worker = self.find_worker(&compared.by);
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
