//! Reads everything in a database: the chain of packs from its first to its last, all documents,
//! and checks both against the commit marker. Used for opening, verifying, backing up and
//! repairing.

use std::path::Path;

use crate::{
    StoreError, StoredGame,
    backend::{Acknowledged, Entries, Found, Tree},
    documents::{self, Sealed, Summary},
    packing::{
        index::Index,
        pack::{self, Pack, Tip},
    },
    repair::damage_report::{DamageReport, Fault},
};

/// Failed reads in a row after which the rest is given up.
const FAILURES_MAX: u32 = 1_000;

/// Findings of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) tip: Tip,
    pub(crate) index: Index,
    pub(crate) documents: Summary,
    /// True if the documents are exactly the acknowledged ones.
    pub(crate) documents_whole: bool,
    pub(crate) damage_report: DamageReport,
}

/// A readable item, as it is in the database.
pub(crate) enum Item<'a> {
    Pack { bytes: &'a [u8], pack: &'a Pack },
    Document(Sealed<'a>),
}

impl Item<'_> {
    /// The games of a pack, none for a document; `None` for a pack that cannot be decoded although
    /// its checksum matches, which is a defect of Arena.
    pub(crate) fn games(&self) -> Option<Vec<StoredGame>> {
        match self {
            Self::Pack { bytes, pack } => pack.games(bytes),
            Self::Document(_) => Some(Vec::new()),
        }
    }
}

/// Walks packs in the order of arrival, then documents. `each` gets everything that is intact.
///
/// A `new` store may lack a commit marker if it is empty.
pub(crate) fn walk(
    db: &impl Entries,
    commit_marker: Found,
    new: bool,
    mut each: impl FnMut(Item<'_>),
) -> Walk {
    let mut walk = Walk::default();
    walk.packs(db, commit_marker.acknowledged().as_ref(), &mut each);
    let stored = walk.documents(db, &mut each);
    walk.compare(commit_marker, stored, new);
    walk
}

impl Walk {
    fn packs(
        &mut self,
        db: &impl Entries,
        acknowledged: Option<&Acknowledged>,
        each: &mut impl FnMut(Item<'_>),
    ) {
        let known = acknowledged.map_or(0, |it| it.tip.packs);
        let mut next = 0;
        let mut failures = 0;
        loop {
            let read = db.visit(Tree::Packs, &pack::key(next), |key, bytes| {
                failures = 0;
                let Some(sequence) = (*key).try_into().ok().map(u64::from_be_bytes) else {
                    self.damage_report
                        .add("an entry that is not a results pack");
                    return true;
                };
                self.damage_report.packs(next..sequence, Fault::Missing);
                self.pack(sequence, &bytes, acknowledged, each);
                next = sequence + 1;
                true
            });
            let Err(error) = read else { break };
            failures += 1;
            self.damage_report.pack(next, unreadable(&error));
            next += 1;
            if next >= known || failures > FAILURES_MAX {
                break;
            }
        }
        self.damage_report.packs(next..known, Fault::Missing);
        self.tip.packs = next;
    }

    fn pack(
        &mut self,
        sequence: u64,
        bytes: &[u8],
        acknowledged: Option<&Acknowledged>,
        each: &mut impl FnMut(Item<'_>),
    ) {
        let (Some(place), Some(pack)) = (pack::place(sequence), pack::open(bytes)) else {
            self.damage_report.pack(sequence, Fault::Changed);
            return;
        };
        let follows = self.tip
            == Tip {
                packs: sequence,
                games: pack.games_before,
                link: pack.previous,
            };
        let after_damage = self.tip.packs != sequence;
        if pack.sequence != sequence || !(follows || after_damage) {
            self.damage_report.pack(sequence, Fault::Misplaced);
        }
        for entry in &pack.entries {
            self.index.insert(&entry.tournament, entry.index, place);
        }
        self.tip = Tip {
            packs: sequence + 1,
            games: pack.games_before + pack.entries.len() as u64,
            link: pack.link,
        };
        if acknowledged.is_some_and(|it| it.tip.packs == self.tip.packs && it.tip != self.tip) {
            self.damage_report.pack(sequence, Fault::NotAcknowledged);
        }
        each(Item::Pack { bytes, pack: &pack });
    }

    /// Returns the stored summary.
    fn documents(&mut self, db: &impl Entries, each: &mut impl FnMut(Item<'_>)) -> Option<Summary> {
        let mut stored = None;
        let mut from = Vec::new();
        loop {
            let mut last = 0;
            let read = db.visit(Tree::Documents, &from, |key, value| {
                last = key.first().copied().unwrap_or(0);
                if *key == documents::SUMMARY_KEY {
                    stored = Summary::open(&value);
                    return true;
                }
                let name = documents::parse_key(&key);
                match (name, documents::open(&key, &value)) {
                    (Some(_), Some(sealed)) => {
                        self.documents.add(&sealed.checksum);
                        each(Item::Document(sealed));
                    }
                    (Some((collection, name)), None) => self.damage_report.add(format!(
                        "the document \"{name}\" of {collection} has changed since it was written"
                    )),
                    (None, _) => self.damage_report.add("a document with an invalid key"),
                }
                true
            });
            let Err(error) = read else { break };
            self.damage_report
                .add(format!("documents cannot be read{}", because(&error)));
            let Some(next) = last.max(from.first().copied().unwrap_or(0)).checked_add(1) else {
                break;
            };
            from = vec![next];
        }
        stored
    }

    /// Fails if there is any damage; `data` is the data folder.
    pub(crate) fn check(&self, data: &Path) -> Result<(), StoreError> {
        match self.damage_report.is_empty() {
            true => Ok(()),
            false => Err(StoreError::corrupt(data, self.damage_report.to_string())),
        }
    }

    /// True if nothing was ever stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.tip == Tip::default() && self.documents == Summary::default()
    }

    /// Compares the findings with what was acknowledged.
    fn compare(&mut self, commit_marker: Found, stored: Option<Summary>, new: bool) {
        let found = self.documents;
        let stored = stored.unwrap_or_default();
        self.documents_whole = (found.count, found.digest) == (stored.count, stored.digest);
        if !self.documents_whole {
            self.damage_report.add(format!(
                "{} documents are intact, {} were stored",
                found.count, stored.count
            ));
        }
        self.documents = stored;
        let acknowledged = match commit_marker {
            Found::Whole(acknowledged) => acknowledged,
            Found::Missing if new && self.is_empty() => return,
            Found::Missing => {
                return self.doubt_documents("the commit marker is missing");
            }
            Found::Damaged => {
                return self.doubt_documents("the commit marker is damaged");
            }
        };
        let lost = acknowledged.tip.games.saturating_sub(self.index.games());
        if lost > 0 {
            self.damage_report.add(format!(
                "{lost} acknowledged games are missing{}",
                self.index.gaps_text()
            ));
        }
        let known = acknowledged.documents;
        if known.version > stored.version {
            self.doubt_documents(format!(
                "the last {} changes of documents are missing",
                known.version - stored.version
            ));
        } else if known.version == stored.version && known != stored {
            self.doubt_documents("the documents are not the acknowledged ones");
        }
    }

    /// Adds damage because of which the documents may not be the acknowledged ones.
    fn doubt_documents(&mut self, damage: impl Into<String>) {
        self.documents_whole = false;
        self.damage_report.add(damage);
    }
}

fn unreadable(error: &StoreError) -> Fault {
    Fault::Unreadable(because(error))
}

/// The error of the system; errors of the database itself do not help.
fn because(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { .. } => String::new(),
        error => format!(" ({error})"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::{
        Collection, Options, Store,
        packing::compress::PackCompressor,
        sled::{database::Database, store::SledStore},
        suite::contract::{game, games},
    };

    /// A change of the database that does not go through the store.
    type Change = (Tree, Vec<u8>, Option<Vec<u8>>);

    /// Makes a store of four packs and two documents, changes its database, and returns the
    /// error of the next open.
    fn after(inject: impl FnOnce(&Database) -> Vec<Change>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path(), &Options::default()).unwrap();
        for start in [0, 10, 20, 30] {
            store
                .append_and_wait(games("cup", start..start + 10))
                .unwrap();
        }
        store.put(Collection::Agents, "random", b"one").unwrap();
        store.put(Collection::Agents, "mixed", b"two").unwrap();
        drop(store);
        let db = Database::open(
            &folder.path().join("database-1/sled"),
            folder.path(),
            1 << 20,
        )
        .unwrap();
        for (tree, key, value) in inject(&db) {
            db.apply(tree, [(key, value)]).unwrap();
        }
        db.sync().unwrap();
        drop(db);
        SledStore::open(folder.path(), &Options::default())
            .err()
            .unwrap()
            .to_string()
    }

    fn pack(db: &Database, sequence: u64) -> Vec<u8> {
        db.get(Tree::Packs, &pack::key(sequence))
            .unwrap()
            .unwrap()
            .to_vec()
    }

    fn put(sequence: u64, value: Option<Vec<u8>>) -> Vec<Change> {
        vec![(Tree::Packs, pack::key(sequence).to_vec(), value)]
    }

    #[test]
    fn chain_damage_is_located() {
        let turned = after(|db| {
            let mut bytes = pack(db, 2);
            bytes[100] ^= 1;
            put(2, Some(bytes))
        });
        assert!(
            turned.contains("results pack 2 has changed since it was written"),
            "{turned}"
        );
        assert!(
            turned.contains("10 acknowledged games are missing"),
            "{turned}"
        );
        let lost = after(|_| put(1, None));
        assert!(lost.contains("results pack 1 is missing"), "{lost}");
        let last = after(|_| put(3, None));
        assert!(last.contains("results pack 3 is missing"), "{last}");
        let first = after(|_| [put(0, None), put(1, None)].concat());
        assert!(
            first.contains("results packs 0 to 1 are missing"),
            "{first}"
        );
        let copied = after(|db| put(3, Some(pack(db, 0))));
        assert!(
            copied.contains("results pack 3 does not follow"),
            "{copied}"
        );
        let forged = after(|_| {
            let tip = Tip {
                packs: 3,
                games: 30,
                link: [0; 32],
            };
            let mut compressor = PackCompressor::new().unwrap();
            let forged = pack::encode(&[game("cup", 30)], &tip, &mut compressor);
            put(3, Some(forged.bytes))
        });
        assert!(
            forged.contains("results pack 3 does not follow"),
            "{forged}"
        );
        assert!(
            forged.contains("results pack 3 is not the acknowledged one"),
            "{forged}"
        );
    }

    #[test]
    fn document_changes_are_named() {
        let key = |name| documents::key(Collection::Agents, name);
        let document = |name, value| vec![(Tree::Documents, key(name), value)];
        let turned = after(|db| {
            let mut bytes = db
                .get(Tree::Documents, &key("mixed"))
                .unwrap()
                .unwrap()
                .to_vec();
            bytes[33] ^= 1;
            document("mixed", Some(bytes))
        });
        assert!(
            turned.contains("the document \"mixed\" of agents has changed"),
            "{turned}"
        );
        let lost = after(|_| document("random", None));
        assert!(
            lost.contains("1 documents are intact, 2 were stored"),
            "{lost}"
        );
        let forged = after(|_| document("new", Some(documents::seal(&key("new"), 3, b"x").1)));
        assert!(
            forged.contains("3 documents are intact, 2 were stored"),
            "{forged}"
        );
        let summary = after(|_| {
            let forged = Summary {
                version: 2,
                count: 2,
                digest: [1; 32],
            };
            vec![(
                Tree::Documents,
                documents::SUMMARY_KEY.to_vec(),
                Some(forged.seal()),
            )]
        });
        assert!(
            summary.contains("the documents are not the acknowledged ones"),
            "{summary}"
        );
    }
}
