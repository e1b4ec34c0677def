//! Compaction: a store without the games that a selection drops, so that their space is free again.

pub(crate) mod content;

use std::{
    fs::{self, File},
    path::Path,
};

pub use content::{CompactReport, Selection};
use content::{Content, DIFFERS, dropped};

use crate::{
    Collection, Location, Options, StoreError, documents,
    error::At,
    files::{self, existing, sync_parent},
    repair::{
        copy::StoreCopy,
        verify::{LOCK_WAIT, beware, read},
        walk::Item,
    },
    sled::{
        backend::SledBackend,
        folder::{self, Folder},
        scratch::size,
    },
};

/// Marks a database that a compaction replaces; the next compaction removes it if this one was killed.
const SUPERSEDED: &str = "superseded";

/// Drops games from a store that no process uses, and gives their space back. Without such games, the
/// store stays as it is. The new database replaces the old one at once, after it was read again and
/// compared; a compaction that was interrupted starts again.
///
/// # Errors
/// `Locked` or `Unsuitable` if a coordinator uses the store, `NotFound`, `NewerVersion`, `Corrupt`
/// for a damaged store, `Full`, or another error of the disk or the connection; the store is then
/// unchanged.
pub fn compact(
    location: &Location,
    selection: &mut dyn Selection,
) -> Result<CompactReport, StoreError> {
    match location {
        Location::Folder(path) => in_folder(path, selection),
        #[cfg(feature = "postgres")]
        Location::Database(url) => crate::postgres::compact(url, selection),
        #[cfg(not(feature = "postgres"))]
        Location::Database(_) => Err(crate::postgres::absent()),
    }
}

fn in_folder(path: &Path, selection: &mut dyn Selection) -> Result<CompactReport, StoreError> {
    let folder = Folder::open(path, LOCK_WAIT, false)?;
    folder.check_label()?;
    beware(&folder)?;
    clear(&folder)?;
    let database = folder.database(folder.generation);
    let bytes_before = size(&database)?;
    let (walk, _) = read(&folder, &database, |item| {
        if let Some((collection, key)) = document_of(&item) {
            selection.document(collection, key);
        }
    })?;
    walk.check(&folder.path)?;
    let games_removed = dropped(&walk.index, selection);
    let mut report = CompactReport {
        path: folder.path.clone(),
        games: walk.index.games() - games_removed,
        games_removed,
        bytes_before,
        bytes_after: bytes_before,
    };
    if games_removed == 0 {
        return Ok(report);
    }
    drop(walk);
    let built = build(&folder, &database, selection).and_then(|()| switch(&folder, &database));
    match built {
        Ok(generation) => {
            report.bytes_after = size(&folder.database(generation))?;
            clear(&folder)?;
            Ok(report)
        }
        Err(error) => {
            // It does no harm, but takes space.
            let _ = clear(&folder);
            Err(error)
        }
    }
}

/// Builds the new database and compares it with the old one.
fn build(folder: &Folder, database: &Path, selection: &dyn Selection) -> Result<(), StoreError> {
    let unfinished = folder.unfinished();
    let mut expected = Content::default();
    let core = SledBackend::open(&unfinished, &folder.path, &Options::default(), true)?;
    let mut copy = StoreCopy::new(&core);
    read(folder, database, |item| {
        let Some((collection, key)) = document_of(&item) else {
            let mut games = item.games().unwrap_or_default();
            games.retain(|game| selection.keeps_games_of(&game.tournament));
            games.iter().for_each(|game| expected.game(game));
            return copy.games(games);
        };
        if selection.keeps_document(collection, key) {
            expected.item(&item);
            copy.take(&item);
        }
    })?;
    copy.finish()?;
    core.close()?;
    drop(core);
    let mut found = Content::default();
    let (walk, _) = read(folder, &unfinished, |item| found.item(&item))?;
    walk.check(&unfinished)?;
    match found == expected {
        true => Ok(()),
        false => Err(StoreError::corrupt(&unfinished, DIFFERS)),
    }
}

/// Replaces the old database by the new one. Returns its generation.
fn switch(folder: &Folder, old: &Path) -> Result<u32, StoreError> {
    let mark = old.join(SUPERSEDED);
    File::create(&mark).at("write", &mark)?;
    sync_parent(&mark)?;
    let generation = folder.newest()?.unwrap_or(0) + 1;
    folder.finish(generation)?;
    folder.write_label(generation)?;
    Ok(generation)
}

/// Removes what an interrupted compaction has left: a new database that did not become the current one,
/// or the old one. An earlier database that a repair keeps has no mark.
fn clear(folder: &Folder) -> Result<(), StoreError> {
    let (unfinished, current) = (folder.unfinished(), folder.current()?);
    existing(fs::remove_dir_all(&unfinished)).at("remove", &unfinished)?;
    for path in files::entries(&folder.path)? {
        let mark = path.join(SUPERSEDED);
        let generation = folder::generation(&path);
        if generation == Some(current) {
            existing(fs::remove_file(&mark)).at("remove", &mark)?;
        } else if mark.exists() || generation.is_some_and(|it| it > current) {
            // The mark must not be gone before the rest.
            files::rename(&path, &unfinished)?;
            fs::remove_dir_all(&unfinished).at("remove", &unfinished)?;
        }
    }
    Ok(())
}

/// Collection and key of a document.
fn document_of<'a>(item: &Item<'a>) -> Option<(Collection, &'a str)> {
    match item {
        Item::Document(document) => documents::parse_key(document.key),
        Item::Pack { .. } => None,
    }
}
