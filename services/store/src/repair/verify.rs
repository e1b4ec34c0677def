//! Verification of a whole store.

use std::{path::Path, time::Duration};

use super::{
    damage_report::{DamageReport, Fault},
    report::VerifyReport,
    walk::{Item, Walk, walk},
};
use crate::{
    Collection, Options, StoreError, StoredGame,
    backend::Entries,
    binary::Binaries,
    documents,
    error::{At, remedy},
    files::digest,
    sled::{
        commit_marker::CommitMarker,
        database::Database,
        folder::{Folder, LabelState},
        log,
        scratch::{Scratch, size},
    },
};

/// Time that a tool waits for the folder.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Receives the content of a store under verification, see [`verify_with`].
pub trait Examine {
    /// An intact document. All of them come before the games.
    fn document(&mut self, collection: Collection, key: &str, value: &[u8]);
    /// An intact game.
    fn game(&mut self, game: &StoredGame);
}

/// Checks everything in a data folder: every result, document and binary. Damage is in the report,
/// not an error. The check runs on a copy of the database, unless there is no room for one.
///
/// # Errors
/// `Locked`, `NotFound`, `NewerVersion`, or an error of the disk.
pub fn verify(data: impl AsRef<Path>) -> Result<VerifyReport, StoreError> {
    check(&Folder::open(data.as_ref(), LOCK_WAIT, false)?, None)
}

/// As [`verify`], and passes on every intact document and game.
pub fn verify_with(
    data: impl AsRef<Path>,
    examine: &mut dyn Examine,
) -> Result<VerifyReport, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    check(&folder, Some(examine))
}

pub(super) fn check(
    folder: &Folder,
    examine: Option<&mut dyn Examine>,
) -> Result<VerifyReport, StoreError> {
    let scratch = Scratch::of(folder)?;
    let mut report = VerifyReport {
        path: folder.path.clone(),
        in_place: !scratch.is_copy,
        ..VerifyReport::default()
    };
    let mut is_empty = false;
    check_entries(&mut report, examine, &mut |item| {
        let read = read(folder, &scratch.database, item);
        is_empty = read.as_ref().is_ok_and(|(walk, _)| walk.is_empty());
        read
    })?;
    let is_new = folder.label == LabelState::Missing && is_empty;
    if let Some(damage) = folder.label.damage().filter(|_| !is_new) {
        report.damage_report.insert(0, damage.to_owned());
    }
    let mut damage_report = DamageReport::default();
    for (name, path) in Binaries::list(&folder.binaries())? {
        if hex::encode(digest(&path)?) == name {
            report.binaries += 1;
        } else {
            damage_report.add(format!(
                "binary {name} has changed since it was written: register it again"
            ));
        }
    }
    report.damage_report.extend(damage_report.lines());
    report.remedy = (!report.is_sound()).then(|| remedy(&folder.path));
    Ok(report)
}

/// Reads everything in a database. Returns the findings, and its size on disk.
type Read<'a> = &'a mut dyn FnMut(&mut dyn FnMut(Item<'_>)) -> Result<(Walk, u64), StoreError>;

/// Checks the packs and documents of a database, and passes them on.
pub(crate) fn check_entries(
    report: &mut VerifyReport,
    mut examine: Option<&mut dyn Examine>,
    read: Read<'_>,
) -> Result<(), StoreError> {
    let mut locked = DamageReport::default();
    match read(&mut |item| match item {
        Item::Pack { pack, .. } => {
            report.packs += 1;
            if item.games().is_none() {
                locked.pack(pack.sequence, Fault::LockedUp);
            }
        }
        Item::Document(document) => {
            report.documents += 1;
            if let Some(examine) = &mut examine
                && let Some((collection, name)) = documents::parse_key(document.key)
            {
                examine.document(collection, name, document.content);
            }
        }
    }) {
        Ok((walk, bytes)) => {
            report.games = walk.index.games();
            report.bytes_on_disk = bytes;
            report.damage_report.extend(walk.damage_report.lines());
        }
        Err(StoreError::Corrupt { damage, .. }) => report.damage_report.push(damage),
        Err(error) => return Err(error),
    }
    if let Some(examine) = examine {
        // Games can be interpreted only with the documents, which come last.
        let walked = read(&mut |item| {
            let games = item.games().unwrap_or_default();
            games.iter().for_each(|game| examine.game(game));
        });
        match walked {
            // Damage was found before.
            Ok(_) | Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    report.damage_report.extend(locked.lines());
    Ok(())
}

/// Checks a database before it is opened in place, when sled would cut off everything after the
/// first damage in its log. After a crash that is a torn, unacknowledged end; otherwise a repair
/// needs the data.
///
/// Without room for a copy, this check is skipped.
pub(crate) fn beware(folder: &Folder) -> Result<(), StoreError> {
    let sled = folder.database(folder.generation).join("sled");
    if log::is_whole(&sled).at("read", &sled)? {
        return Ok(());
    }
    let bytes = size(&folder.database(folder.generation))?;
    tracing::info!(
        data = %folder.path.display(),
        bytes,
        "the end of the store's log is torn, as after a crash: checking a copy of the store \
         before opening it"
    );
    let scratch = Scratch::of(folder)?;
    if !scratch.is_copy {
        tracing::info!(
            bytes,
            "no space for a copy: opening the store without a check"
        );
        return Ok(());
    }
    let (walk, _) = read(folder, &scratch.database, |_| {})?;
    walk.check(&folder.path)
}

/// Walks a generation of a folder, or a copy of it. Returns the findings, and the size of the
/// database on disk.
pub(crate) fn read(
    folder: &Folder,
    database: &Path,
    each: impl FnMut(Item<'_>),
) -> Result<(Walk, u64), StoreError> {
    let db = Database::open(
        &database.join("sled"),
        &folder.path,
        Options::default().cache_bytes,
    )?;
    let found = CommitMarker::read(&database.join("acknowledged"))?;
    let walk = walk(&db, found, folder.label == LabelState::Missing, each);
    Ok((walk, db.size()))
}
