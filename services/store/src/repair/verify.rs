//! Checking a whole store, and keeping what can be read of a damaged one.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{
    Change, Collection, Options, StoreError, StoredGame,
    binary::Binaries,
    carve::Carved,
    commit_marker::CommitMarker,
    core::Core,
    damage_report::{DamageReport, Fault},
    database::{Database, corrupt},
    documents,
    folder::{Folder, LABEL_DAMAGED, LABEL_MISSING, LabelState},
    log, remedy,
    salvage::Salvage,
    scratch::{Scratch, size},
    walk::{Item, Walk, walk},
};

/// Games handed over at once when a store is copied.
const COPY_GAMES: usize = 1_024;
/// Documents handed over at once, by count and by bytes.
const COPY_DOCUMENTS: usize = 256;
const COPY_BYTES: usize = 4 << 20;
/// How long a tool waits for the folder.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The data folder.
    pub path: PathBuf,
    /// Games that are whole.
    pub games: u64,
    /// Values they are packed in.
    pub packs: u64,
    /// Documents that are whole.
    pub documents: u64,
    /// Agents' binaries that are whole.
    pub binaries: u64,
    /// Bytes of the database on disk.
    pub bytes_on_disk: u64,
    /// Whether there was no room for a copy to look at. sled may then have cut
    /// off a torn end of its log.
    pub in_place: bool,
    /// Everything that is not as it was acknowledged; empty for a sound store.
    pub damage_report: Vec<String>,
    /// The commands that repair it, if it is damaged.
    pub remedy: Option<String>,
}

impl Report {
    /// Whether all that was acknowledged is there, as it was written.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_report.is_empty()
    }
}

/// What looks at the content of a store that is being verified, see
/// [`verify_with`].
pub trait Examine {
    /// A whole document. All of them come before the games.
    fn document(&mut self, collection: Collection, key: &str, value: &[u8]);
    /// A whole game.
    fn game(&mut self, game: &StoredGame);
}

/// Checks everything in a data folder: every result, document and binary.
/// Damage is in the report, not an error. The database is checked on a copy,
/// unless there is no room for one.
///
/// # Errors
/// `Locked`, `NotFound`, `NewerVersion`, or an error of the disk.
pub fn verify(data: impl AsRef<Path>) -> Result<Report, StoreError> {
    check(&Folder::open(data.as_ref(), LOCK_WAIT, false)?, None)
}

/// As [`verify`], and shows every whole document and game.
///
/// # Errors
/// As there.
pub fn verify_with(
    data: impl AsRef<Path>,
    examine: &mut dyn Examine,
) -> Result<Report, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    check(&folder, Some(examine))
}

fn check(folder: &Folder, mut examine: Option<&mut dyn Examine>) -> Result<Report, StoreError> {
    let scratch = Scratch::of(folder)?;
    let mut report = Report {
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
        // Games mean something once the documents are known, which come last.
        let walked = read(folder, scratch.database(), |item| {
            let games = item.games().unwrap_or_default();
            games.iter().for_each(|game| examine.game(game));
        });
        match walked {
            // What is damaged was found before.
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

/// What [`repair`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// The data folder.
    pub path: PathBuf,
    /// Games that were kept.
    pub games: u64,
    /// Documents that were kept.
    pub documents: u64,
    /// Of the games, those that only the bare bytes of the files had any more.
    pub games_rescued: u64,
    /// Of the documents, those that the database had no more, or not their
    /// newest version.
    pub documents_rescued: u64,
    /// Acknowledged games that are lost.
    pub games_lost: u64,
    /// Documents that are lost, or whose last change is, at least.
    pub documents_lost: u64,
    /// What was damaged or is lost. Empty: there was nothing to repair, and
    /// nothing was done.
    pub damage_report: Vec<String>,
    /// Where the damaged database lies, untouched; it may be deleted.
    pub before: Option<PathBuf>,
}

impl Repaired {
    /// Whether something that was acknowledged is lost.
    #[must_use]
    pub fn lost(&self) -> bool {
        self.games_lost > 0 || self.documents_lost > 0
    }
}

/// Builds a new database from all that can be read of a damaged one, and
/// switches to it at one stroke. What the database itself cannot give any more
/// is taken from the bare bytes of its files. The damaged one stays, and so do
/// binaries. Games that are lost are played again when their tournament goes on.
///
/// # Errors
/// `Locked`, `NotFound`, `NewerVersion`, `Full` (a second copy of the database
/// must fit), or another error of the disk; the store is unchanged then.
pub fn repair(data: impl AsRef<Path>) -> Result<Repaired, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    // Before the database is opened, which changes it where there is no room for
    // a copy.
    let carved = Carved::of(&folder.database(folder.generation).join("sled"))?;
    let report = check(&folder, None)?;
    let mut repaired = Repaired {
        path: folder.path.clone(),
        games: report.games,
        documents: report.documents,
        games_rescued: 0,
        documents_rescued: 0,
        games_lost: 0,
        documents_lost: 0,
        damage_report: report.damage_report,
        before: None,
    };
    if repaired.damage_report.is_empty() {
        return Ok(repaired);
    }
    for (name, path) in Binaries::list(&folder.binaries())? {
        if digest(&path)? != name {
            fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, &e))?;
        }
    }
    let generation = folder.newest()?.unwrap_or(0) + 1;
    // Without a label the newest database is the one in use, so that one which
    // is being built must not have a name of theirs.
    let unfinished = folder.unfinished();
    remove(&unfinished)?;
    let built = build(&folder, &unfinished, &carved, &mut repaired).and_then(|()| {
        folder.finish(generation)?;
        folder.write_label(generation)
    });
    if let Err(error) = built {
        // It is in nobody's way, but takes space.
        let _ = fs::remove_dir_all(&unfinished);
        return Err(error);
    }
    repaired.before = Some(folder.database(folder.generation));
    Ok(repaired)
}

/// Copies what can be read of the folder's generation to a new one.
fn build(
    folder: &Folder,
    target: &Path,
    carved: &Carved,
    repaired: &mut Repaired,
) -> Result<(), StoreError> {
    let scratch = Scratch::of(folder)?;
    let core = Core::open(target, &folder.path, &Options::default(), true)?;
    let mut copy = Copy::new(&core);
    let mut salvage = Salvage::new(carved);
    match read(folder, scratch.database(), |item| {
        salvage.saw(&item);
        copy.take(&item);
    }) {
        Ok((walk, _)) => salvage.walked(&walk),
        Err(StoreError::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    copy.write()?;
    let before = core.games();
    let found = CommitMarker::read(&scratch.database().join("acknowledged"))?;
    salvage.bring(found, &mut copy)?;
    copy.finish()?;
    repaired.games = core.games();
    repaired.games_rescued = repaired.games - before;
    let missing = core.gaps_text();
    core.close()?;
    salvage.tell(repaired, &missing);
    Ok(())
}

/// Looks at a database before it is opened in place, where sled would cut off
/// what follows the first damage in its log. After a crash that is a torn end,
/// which nobody was promised; otherwise a repair is to find it as it is.
///
/// Without room for a copy there is no such look.
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

/// Walks a generation of a folder, or a copy of it. Returns what the walk found, and
/// the database's bytes on disk.
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

/// Takes over packs and documents into another store, in large commits.
pub(crate) struct Copy<'a> {
    core: &'a Core,
    games: Vec<StoredGame>,
    changes: Vec<Change>,
    bytes: usize,
    copied: (u64, u64),
    result: Result<(), StoreError>,
}

impl<'a> Copy<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self {
            core,
            games: Vec::new(),
            changes: Vec::new(),
            bytes: 0,
            copied: (0, 0),
            result: Ok(()),
        }
    }

    /// Takes an item; after an error nothing more, until [`Copy::finish`].
    pub(crate) fn take(&mut self, item: &Item<'_>) {
        if self.result.is_err() {
            return;
        }
        match item {
            Item::Pack { .. } => {
                // What does not come out is lost, as `verify` says.
                self.games.extend(item.games().unwrap_or_default());
                if self.games.len() >= COPY_GAMES {
                    self.result = self.write();
                }
            }
            Item::Document(document) => self.document(document.key, document.content),
        }
    }

    /// Takes a document by the database's key.
    pub(crate) fn document(&mut self, key: &[u8], content: &[u8]) {
        if self.result.is_err() {
            return;
        }
        if let Some((collection, name)) = documents::parse_key(key) {
            self.changes.push(Change {
                collection,
                key: name.to_owned(),
                value: Some(content.to_vec()),
            });
            self.bytes += content.len();
        }
        if self.changes.len() >= COPY_DOCUMENTS || self.bytes >= COPY_BYTES {
            self.result = self.write();
        }
    }

    /// Writes what is left. Returns the games and documents copied.
    pub(crate) fn finish(mut self) -> Result<(u64, u64), StoreError> {
        self.write()?;
        Ok(self.copied)
    }

    /// Writes what was taken so far.
    fn write(&mut self) -> Result<(), StoreError> {
        self.result.clone()?;
        self.copied.0 += self.games.len() as u64;
        self.copied.1 += self.changes.len() as u64;
        self.bytes = 0;
        self.core.append_and_wait(std::mem::take(&mut self.games))?;
        self.core.put_many(std::mem::take(&mut self.changes))
    }
}

/// Removes a folder, if there is one.
fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", folder, &e)),
        _ => Ok(()),
    }
}

/// SHA-256 of a file in hex.
fn digest(path: &Path) -> Result<String, StoreError> {
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
