//! Verification of a whole store.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    time::Duration,
};

use sha2::{Digest, Sha256};

use super::{
    damage_report::{DamageReport, Fault},
    report::VerifyReport,
    walk::{Item, Walk, walk},
};
use crate::{
    Collection, Options, StoreError, StoredGame,
    binary::Binaries,
    documents, remedy,
    sled::{
        commit_marker::CommitMarker,
        database::{Database, corrupt},
        folder::{Folder, LABEL_DAMAGED, LABEL_MISSING, LabelState},
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
///
/// # Errors
/// As there.
pub fn verify_with(
    data: impl AsRef<Path>,
    examine: &mut dyn Examine,
) -> Result<VerifyReport, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    check(&folder, Some(examine))
}

pub(super) fn check(
    folder: &Folder,
    mut examine: Option<&mut dyn Examine>,
) -> Result<VerifyReport, StoreError> {
    let scratch = Scratch::of(folder)?;
    let mut report = VerifyReport {
        path: folder.path.clone(),
        games: 0,
        packs: 0,
        documents: 0,
        binaries: 0,
        bytes_on_disk: 0,
        in_place: !scratch.is_copy(),
        damage_report: Vec::new(),
        remedy: None,
    };
    let mut locked = DamageReport::default();
    match read(folder, scratch.database(), |item| match item {
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
            match folder.label {
                LabelState::Whole => {}
                LabelState::Missing if walk.is_empty() => {}
                LabelState::Missing => report.damage_report.push(LABEL_MISSING.to_owned()),
                LabelState::Damaged => report.damage_report.push(LABEL_DAMAGED.to_owned()),
            }
            report.games = walk.index.games();
            report.bytes_on_disk = bytes;
            report.damage_report.extend(walk.damage_report.lines());
        }
        Err(StoreError::Corrupt { damage, .. }) => report.damage_report.push(damage),
        Err(error) => return Err(error),
    }
    if let Some(examine) = examine {
        // Games can be interpreted only with the documents, which come last.
        let walked = read(folder, scratch.database(), |item| {
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
    let mut damage_report = DamageReport::default();
    for (name, path) in Binaries::list(&folder.binaries())? {
        if digest(&path)? == name {
            report.binaries += 1;
        } else {
            damage_report.add(format!(
                "the binary {name} is not as it was written: register it again"
            ));
        }
    }
    report.damage_report.extend(damage_report.lines());
    report.remedy = (!report.is_sound()).then(|| remedy(&folder.path));
    Ok(report)
}

/// Checks a database before it is opened in place, when sled would cut off everything after the
/// first damage in its log. After a crash that is a torn, unacknowledged end; otherwise a repair
/// needs the data.
///
/// Without room for a copy, this check is skipped.
pub(crate) fn beware(folder: &Folder) -> Result<(), StoreError> {
    let sled = folder.database(folder.generation).join("sled");
    if log::is_whole(&sled).map_err(|e| StoreError::io("read", &sled, &e))? {
        return Ok(());
    }
    let bytes =
        size(&folder.database(folder.generation)).map_err(|e| StoreError::io("read", &sled, &e))?;
    tracing::info!(
        data = %folder.path.display(),
        bytes,
        "the end of the store's log is torn, as a crash leaves it: copying and checking the store \
         before it is opened"
    );
    let scratch = Scratch::of(folder)?;
    if !scratch.is_copy() {
        tracing::info!(
            bytes,
            "there is no room for a copy: opening without a check"
        );
        return Ok(());
    }
    let (walk, _) = read(folder, scratch.database(), |_| {})?;
    match walk.damage_report.is_empty() {
        true => Ok(()),
        false => Err(corrupt(&folder.path, walk.damage_report.to_string())),
    }
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

/// SHA-256 of a file in hex.
pub(super) fn digest(path: &Path) -> Result<String, StoreError> {
    let error = |e: io::Error| StoreError::io("read", path, &e);
    let mut file = File::open(path).map_err(error)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(error)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}
