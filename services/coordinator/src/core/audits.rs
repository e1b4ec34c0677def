//! Audits that survive a restart: what came of each game that was played again
//! is stored, 4,096 games to a document.

use std::{collections::BTreeMap, sync::Arc};

use arena_store::{Change, Collection, Store, StoreError};
use arena_telemetry::AuditOutcome;
use arena_wire::v1;

use super::{Core, tournaments::Entry};
use crate::{
    error::Error,
    ledger::{Audited, Bitmap, State},
    results::Info,
};

const PREFIX: &str = "audits/";
/// Games of a document: a bit each for having been audited, then a bit each for
/// having differed.
const GAMES: u64 = 4096;
const BYTES: usize = GAMES as usize / 8;

/// What earlier starts audited of one tournament, by the number of the document.
pub(super) type Before = BTreeMap<u64, Vec<u8>>;

/// All that was audited, by tournament.
pub(super) fn read(store: &dyn Store) -> Result<BTreeMap<String, Before>, StoreError> {
    let mut found: BTreeMap<String, Before> = BTreeMap::new();
    for (key, bytes) in store.list(Collection::Meta)? {
        let place = key
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.rsplit_once('/'));
        if let Some((tournament, number)) = place
            && let Ok(number) = number.parse()
        {
            let documents = found.entry(tournament.to_owned()).or_default();
            documents.insert(number, bytes);
        }
    }
    Ok(found)
}

impl Core {
    /// Goes on with the audits of a tournament that is in the accounts.
    pub(super) fn restore_audits(&mut self, id: &str, before: &Before) {
        let Some(entry) = self.tournaments.get(id) else {
            return;
        };
        let Some(number) = entry.number else { return };
        let games = entry.info.games();
        let [mut audited, mut differing] = [Bitmap::new(games), Bitmap::new(games)];
        for (document, bytes) in before {
            for place in 0..GAMES {
                let has = |from: usize| {
                    let byte = bytes.get(from + (place / 8) as usize);
                    byte.is_some_and(|byte| byte >> (place % 8) & 1 == 1)
                };
                if has(0) {
                    audited.insert(document * GAMES + place);
                }
                if has(BYTES) {
                    differing.insert(document * GAMES + place);
                }
            }
        }
        self.ledger
            .restore_audits(number, key(id), audited, differing);
    }

    /// Takes a finished tournament into the accounts for what is left of its
    /// audits. Its results stay where they are until somebody asks.
    pub(super) fn go_on_auditing(&mut self, id: &str, before: &Before) {
        let Some(entry) = self.tournaments.get_mut(id) else {
            return;
        };
        if entry.document.state() != v1::TournamentState::Finished || entry.number.is_some() {
            return;
        }
        let (done, patience) = (Bitmap::full(entry.info.games()), entry.info.patience());
        let number = self.ledger.add(done, State::Finished, patience);
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
    pub(super) async fn audited(
        &mut self,
        info: &Arc<Info>,
        compared: &[(u64, bool)],
    ) -> Result<(), Error> {
        let id = &*info.id;
        let Some(number) = self.entry(id)?.number else {
            return Ok(());
        };
        let mut documents = BTreeMap::new();
        for &(index, differs) in compared {
            if self.ledger.settle_audit(number, index, differs) {
                documents.insert(index / GAMES, ());
                self.metrics.audited(match differs {
                    true => AuditOutcome::Differing,
                    false => AuditOutcome::Agreed,
                });
            }
        }
        if documents.is_empty() {
            return Ok(());
        }
        let changes = documents
            .into_keys()
            .map(|document| Change {
                collection: Collection::Meta,
                key: format!("{PREFIX}{id}/{document:0>12}"),
                value: Some(self.document(number, document)),
            })
            .collect();
        self.entry(id)?.touch();
        self.persist(changes).await
    }

    fn document(&self, number: u32, document: u64) -> Vec<u8> {
        let mut bytes = vec![0; 2 * BYTES];
        for place in 0..GAMES {
            let (byte, bit) = ((place / 8) as usize, 1 << (place % 8));
            if let Some(differs) = self.ledger.came_of_audit(number, document * GAMES + place) {
                bytes[byte] |= bit;
                if differs {
                    bytes[BYTES + byte] |= bit;
                }
            }
        }
        bytes
    }
}

/// What a tournament's audits are drawn from: FNV-1a of its id (Fowler, Noll,
/// Vo 1991).
pub(super) fn key(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
