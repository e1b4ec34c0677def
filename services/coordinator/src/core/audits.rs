//! Audits that survive a restart: what came of each game that was played again
//! is stored, a bit each for having been audited and for having differed.

use std::collections::BTreeSet;

use arena_telemetry::AuditOutcome;
use arena_wire::v1;

use super::{
    Core,
    bits::{self, Documents},
    tournaments::Entry,
};
use crate::{
    error::Error,
    handle::Compared,
    ledger::{Audited, Bitmap, Outlook, State},
};

/// Below it stands what was audited.
pub(super) const PREFIX: &str = "audits/";

impl Core {
    /// Goes on with the audits of a tournament that is in the accounts.
    pub(super) fn restore_audits(&mut self, id: &str, before: &Documents) {
        let Some(entry) = self.tournaments.get(id) else {
            return;
        };
        let Some(number) = entry.number else { return };
        let games = entry.info.games();
        let [audited, differing] = [0, 1].map(|set| bits::set(before, set, games));
        self.ledger
            .restore_audits(number, key(id), audited, differing);
    }

    /// Takes a finished tournament into the accounts for what is left of its
    /// audits. Its results stay where they are until somebody asks.
    pub(super) fn go_on_auditing(&mut self, id: &str, before: &Documents) {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return;
        };
        if entry.document.state() != v1::TournamentState::Finished || entry.number.is_some() {
            return;
        }
        let (done, patience) = (Bitmap::full(entry.info.games()), entry.info.patience());
        let number = self
            .ledger
            .add(done, State::Finished, Outlook::Last, patience);
        entry.number = Some(number);
        self.numbers.insert(number, id.to_owned());
        self.restore_audits(id, before);
    }

    /// How far the audits of a tournament are; none where there are none.
    pub(super) fn audits(&self, entry: &Entry) -> Option<v1::Audits> {
        let told = self.ledger.audited(entry.number?)?;
        (told != Audited::default()).then(|| v1::Audits {
            due: told.due,
            agreed: told.agreed,
            differing: told.differing,
            waiting: told.waiting(),
            given_up: told.given_up,
        })
    }

    /// Records were compared with the durable ones: those of audits are noted.
    pub(super) async fn audited(&mut self, compared: &Compared) -> Result<(), Error> {
        let id = &*compared.info.id;
        // Of one that is gone, the audits wait again.
        let worker = self.find_worker(&compared.worker, compared.boot_epoch);
        let (Some(number), Some(worker)) = (self.entry(id)?.number, worker) else {
            return Ok(());
        };
        let mut documents = BTreeSet::new();
        for &(index, differs) in &compared.games {
            if self.ledger.settle_audit(number, index, worker, differs) {
                documents.insert(bits::document_of(index));
                self.metrics.audited(match differs {
                    true => AuditOutcome::Differing,
                    false => AuditOutcome::Agreed,
                });
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        let came_of = |index| {
            let came_of = self.ledger.came_of_audit(number, index);
            [came_of.is_some(), came_of == Some(true)]
        };
        let changes = documents
            .into_iter()
            .map(|document| bits::store(PREFIX, id, document, came_of))
            .collect();
        self.entry(id)?.touch();
        self.persist(changes).await
    }
}

/// What a tournament's audits are drawn from: FNV-1a of its id (Fowler, Noll,
/// Vo 1991).
pub(super) fn key(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
