//! Data that a repair takes from the raw bytes of a database's files, because the database does not
//! return it any more.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use crate::{
    Sha256Digest, StoreError,
    backend::{Backend, Found},
    documents::{self, Summary},
    packing::pack,
    packing::parity,
    repair::carve::{Carved, FoundPack, Place},
    repair::walk::{Item, Walk},
    repair::{copy::StoreCopy, report::RepairReport},
};

/// Maximum names of documents that are listed.
const NAMES_SHOWN: usize = 20;

/// A document of the repaired store.
struct Kept {
    version: u64,
    checksum: Sha256Digest,
}

/// Records what the database still returned.
pub(crate) struct Salvage<'a> {
    carved: &'a Carved,
    /// Links of the packs that it returned.
    packs: HashSet<Sha256Digest>,
    /// By key in the database.
    documents: BTreeMap<Vec<u8>, Kept>,
    documents_whole: bool,
    /// The expected summary of all documents, and the expected number of games.
    summary: Summary,
    games: u64,
    salvaged: Vec<Vec<u8>>,
}

impl<'a> Salvage<'a> {
    pub(crate) fn new(carved: &'a Carved) -> Self {
        Self {
            carved,
            packs: HashSet::new(),
            documents: BTreeMap::new(),
            documents_whole: false,
            summary: carved.summary.unwrap_or_default(),
            games: 0,
            salvaged: Vec::new(),
        }
    }

    /// The database returned this.
    pub(crate) fn saw(&mut self, item: &Item<'_>) {
        match item {
            Item::Pack { pack, .. } => {
                self.packs.insert(pack.link);
                let games = pack.games_before + pack.entries.len() as u64;
                self.games = self.games.max(games);
            }
            Item::Document(document) => {
                let kept = Kept {
                    version: document.version,
                    checksum: document.checksum,
                };
                self.documents.insert(document.key.to_vec(), kept);
            }
        }
    }

    /// The database could be read to its end.
    pub(crate) fn walked(&mut self, walk: &Walk) {
        self.documents_whole = walk.documents_whole;
        self.newer(walk.documents);
    }

    fn newer(&mut self, summary: Summary) {
        if summary.version >= self.summary.version {
            self.summary = summary;
        }
    }

    /// Returns what the database did not.
    pub(crate) fn bring(
        &mut self,
        commit_marker: Found,
        copy: &mut StoreCopy<'_, impl Backend>,
    ) -> Result<(), StoreError> {
        let known = commit_marker.acknowledged();
        let acknowledged = known.unwrap_or_default();
        self.newer(acknowledged.documents);
        self.games = known.map_or_else(
            || {
                let packs = self.carved.packs.values();
                let games = packs.map(|it| it.games_before + it.games);
                games.max().unwrap_or(0).max(self.games)
            },
            |known| known.tip.games,
        );
        for pack in self.packs_in_order(&acknowledged.tip.link) {
            if let Some((bytes, pack)) = read(self.carved, &pack.places, pack::open)? {
                copy.take(&Item::Pack {
                    bytes: &bytes,
                    pack: &pack,
                });
            }
        }
        if !self.documents_whole {
            self.bring_documents(copy)?;
        }
        Ok(())
    }

    /// Packs that the database did not return. Of two in the same place of the chain, the one that
    /// others build on was acknowledged, and comes first.
    fn packs_in_order(&self, tip: &Sha256Digest) -> Vec<&'a FoundPack> {
        let previous = self.carved.packs.values().map(|pack| pack.previous);
        let built_on: HashSet<Sha256Digest> = previous.chain([*tip]).collect();
        let found = self.carved.packs.iter();
        let mut packs: Vec<_> = found
            .filter(|(link, _)| !self.packs.contains(*link))
            .collect();
        packs.sort_by_key(|(link, pack)| (Reverse(built_on.contains(*link)), pack.sequence, *link));
        packs.into_iter().map(|(_, pack)| pack).collect()
    }

    fn bring_documents(
        &mut self,
        copy: &mut StoreCopy<'_, impl Backend>,
    ) -> Result<(), StoreError> {
        let carved = self.carved;
        // Documents whose keys the database does not have may have been removed.
        let mut doubtful = Vec::new();
        for (key, versions) in &carved.documents {
            let newest = versions.iter().max_by_key(|(_, it)| it.version);
            let (Some((&checksum, newest)), Some(_)) = (newest, documents::parse_key(key)) else {
                continue;
            };
            let seen = self.documents.get(key);
            if seen.is_some_and(|seen| seen.version >= newest.version) {
                continue;
            }
            if seen.is_none() {
                doubtful.push((key, checksum));
            }
            let version = newest.version;
            self.documents
                .insert(key.clone(), Kept { version, checksum });
            self.salvaged.push(key.clone());
        }
        for key in self.removed(&doubtful) {
            self.documents.remove(key);
            self.salvaged.retain(|salvaged| salvaged != key);
        }
        for key in &self.salvaged {
            let kept = self.documents.get(key).map(|kept| kept.checksum);
            let found = kept.and_then(|checksum| carved.documents.get(key)?.get(&checksum));
            let places = found.map_or(&[][..], |found| &found.places);
            let content = |bytes: &[u8]| Some(documents::open(key, bytes)?.content.to_vec());
            if let Some((_, content)) = read(carved, places, content)? {
                copy.document(key, &content);
            }
        }
        Ok(())
    }

    /// Which of these had been removed: exactly those without which the summary matches. None if
    /// that cannot be decided.
    fn removed<'k>(&self, doubtful: &[(&'k Vec<u8>, Sha256Digest)]) -> Vec<&'k Vec<u8>> {
        let mut over = self.sum();
        // By exclusive or: what remains is what is in excess.
        over.remove(&self.summary.digest);
        let checksums: Vec<_> = doubtful.iter().map(|(_, checksum)| *checksum).collect();
        let count = (self.documents.len() as u64).checked_sub(self.summary.count);
        let found = parity::subset(&checksums, &over.digest);
        let found = found.filter(|places| Some(places.len() as u64) == count);
        let places = found.unwrap_or_default().into_iter();
        places.map(|place| doubtful[place].0).collect()
    }

    /// Reports losses; `missing` names the games that the repaired store lacks.
    pub(crate) fn report(&self, repaired: &mut RepairReport, missing: &str) {
        let count = self.documents.len() as u64;
        repaired.documents = count;
        repaired.documents_rescued = self.salvaged.len() as u64;
        repaired.games_lost = self.games.saturating_sub(repaired.games);
        let adds_up = self.documents_add_up();
        if !adds_up {
            repaired.documents_lost = self.summary.count.saturating_sub(count).max(1);
        }
        let damage = &mut repaired.damage_report;
        if repaired.games_lost > 0 {
            damage.push(format!("{} games are lost{missing}", repaired.games_lost));
        }
        if repaired.documents_lost > 0 {
            damage.push(format!(
                "{} documents, or their last changes, are lost",
                repaired.documents_lost
            ));
        }
        if !adds_up && !self.salvaged.is_empty() {
            let mut names: Vec<_> = self.salvaged.iter().map(|key| name(key)).collect();
            let more = names.len().saturating_sub(NAMES_SHOWN);
            names.truncate(NAMES_SHOWN);
            if more > 0 {
                names.push(format!("and {more} more"));
            }
            damage.push(format!(
                "these documents may be older versions, or removed ones: {}",
                names.join(", ")
            ));
        }
    }

    /// True if the kept documents are exactly the expected ones.
    fn documents_add_up(&self) -> bool {
        if self.documents_whole {
            return true;
        }
        let sum = self.sum();
        (sum.count, sum.digest) == (self.summary.count, self.summary.digest)
    }

    /// The summary of the kept documents.
    fn sum(&self) -> Summary {
        let mut sum = Summary::default();
        for kept in self.documents.values() {
            sum.add(&kept.checksum);
        }
        sum
    }
}

/// The piece at one of these places, if it is still there: its bytes, and what `open` makes of
/// them.
fn read<T>(
    carved: &Carved,
    places: &[Place],
    open: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<(Vec<u8>, T)>, StoreError> {
    for place in places {
        let bytes = carved.read(place)?;
        if let Some(opened) = open(&bytes) {
            return Ok(Some((bytes, opened)));
        }
    }
    Ok(None)
}

/// A document's name for people.
fn name(key: &[u8]) -> String {
    match documents::parse_key(key) {
        Some((collection, name)) => format!("\"{name}\" of {collection}"),
        None => "a document without a name".to_owned(),
    }
}
