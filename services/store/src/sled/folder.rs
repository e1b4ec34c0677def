//! The data folder: its lock, its format, and its current database.
//!
//! ```text
//! store.json        format and generation
//! lock              held while open; the holder's process id
//! store.url         the database that has the results instead, if a coordinator uses one
//! database-N/       sled's files and the commit marker, of generation N
//! database.unfinished/   a generation that a repair builds
//! arena-restore.unfinished   there while a backup is brought back into the folder
//! binaries/         agents' binaries, named by their SHA-256
//! ```
//!
//! A repair builds a new generation and switches to it by renaming `store.json`; the earlier
//! generation stays unchanged.

use std::{
    fs::{self, File, Permissions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    StoreError,
    error::At,
    files::{self, existing, sync_parent},
    mark::database_of,
};

/// The format that this release writes, and the newest it reads. 2: packs may be compressed. 3:
/// documents contain their keys.
pub(crate) const FORMAT: u32 = 3;

const LABEL: &str = "store.json";
const LOCK: &str = "lock";
/// While this file exists, the folder is no store, even if it is empty.
const RESTORING: &str = "arena-restore.unfinished";

/// A data folder held by this process.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) generation: u32,
    pub(crate) label: LabelState,
    /// True if it has an earlier format; this release reads all of them.
    pub(crate) outdated: bool,
    /// Locked until dropped; the system releases it when the process dies.
    lock: File,
    /// True if a disk has failed to keep something that was written.
    unsettled: AtomicBool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.unsettled.load(Ordering::Relaxed) {
            // If it stays, the next opening takes longer.
            let _ = self.lock.set_len(0);
        }
    }
}

/// State of `store.json`. It is written after the first database was created, so a store without
/// it is new, unless its database contains something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelState {
    Whole,
    Missing,
    Damaged,
}

impl LabelState {
    /// What is wrong with it, if anything is.
    pub(crate) fn damage(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Missing => Some("store.json is missing"),
            Self::Damaged => Some("store.json has changed since it was written"),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Label {
    format: u32,
    generation: u32,
    check: String,
}

impl Label {
    fn new(format: u32, generation: u32) -> Self {
        let content = format!("arena store {format} {generation}");
        let check = hex::encode(&Sha256::digest(content)[..8]);
        Self {
            format,
            generation,
            check,
        }
    }
}

impl Folder {
    /// Locks a data folder and reads its label. Without a valid one, the newest database is used.
    /// `create` creates the folder if it is missing.
    pub(crate) fn open(path: &Path, wait: Duration, create: bool) -> Result<Self, StoreError> {
        if !has_store(path) {
            if let Some(database) = database_of(path) {
                // A coordinator that uses the folder is reported first.
                let (lock, was_closed) = lock(path, wait)?;
                if was_closed {
                    // If it stays, the next opening takes longer.
                    let _ = lock.set_len(0);
                }
                return Err(StoreError::InDatabase {
                    path: absolute(path),
                    database,
                });
            }
            if !create {
                return Err(StoreError::NotFound {
                    path: absolute(path),
                    expected: "a data folder of arena: it contains no store; name another folder \
                               with --data"
                        .to_owned(),
                });
            }
        }
        match create {
            true => Self::create(path, wait),
            false => Self::lock(path, wait),
        }
    }

    /// Locks a data folder, whether or not its results are in a database. Creates it if it is missing.
    pub(crate) fn create(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        make_private(path).at("make the folder", path)?;
        Self::lock(path, wait)
    }

    fn lock(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        let (lock, was_closed) = lock(path, wait)?;
        if is_restoring(path) {
            return Err(StoreError::Corrupt {
                path: path.to_owned(),
                damage:
                    "a restore into it was interrupted, so it contains only a part of the backup"
                        .to_owned(),
                remedy: format!(
                    "run it again, it starts anew: `arena store restore BACKUP --data {}`",
                    path.display()
                ),
            });
        }
        let (generation, label, outdated) = match read_label(path)? {
            (Some(label), state) => (label.generation, state, label.format < FORMAT),
            (None, state) => (newest(path)?.unwrap_or(1), state, false),
        };
        let folder = Self {
            path: path.to_owned(),
            generation,
            label,
            outdated,
            lock,
            unsettled: AtomicBool::new(true),
        };
        if !was_closed {
            settle(&folder.database(generation))?;
        }
        folder.unsettled.store(false, Ordering::Relaxed);
        Ok(folder)
    }

    /// Fails if `store.json` is missing or damaged.
    pub(crate) fn check_label(&self) -> Result<(), StoreError> {
        let damage = self.label.damage();
        damage.map_or(Ok(()), |it| Err(StoreError::corrupt(&self.path, it)))
    }

    /// The disk has failed to keep something: the system's cache of the files may not be on the
    /// disk, and the next holder must not trust it.
    pub(crate) fn refused(&self) {
        self.unsettled.store(true, Ordering::Relaxed);
    }

    /// Locks a folder for a restore, marks it durably, and removes the rest of an interrupted
    /// restore. [`Folder::restored`] ends this.
    pub(crate) fn restoring(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        make_private(path).at("make the folder", path)?;
        let (lock, _) = lock(path, wait)?;
        // Only now: another restore may have ended meanwhile.
        if is_occupied(path) {
            return Err(StoreError::NotEmpty {
                path: path.to_owned(),
            });
        }
        let marker = path.join(RESTORING);
        File::create(&marker)
            .and_then(|marker| marker.sync_all())
            .at("write", &marker)?;
        sync_parent(&marker)?;
        sync_parent(path)?;
        for entry in files::entries(path)? {
            if entry.ends_with(RESTORING) || entry.ends_with(LOCK) {
                continue;
            }
            match entry.is_dir() && !entry.is_symlink() {
                true => fs::remove_dir_all(&entry).at("clear", path)?,
                false => fs::remove_file(&entry).at("clear", path)?,
            }
        }
        Ok(Self {
            path: path.to_owned(),
            generation: 1,
            label: LabelState::Missing,
            outdated: false,
            lock,
            unsettled: AtomicBool::new(false),
        })
    }

    /// Turns a restored folder into a store, durably.
    pub(crate) fn restored(&self) -> Result<(), StoreError> {
        self.write_label(self.generation)?;
        let marker = self.path.join(RESTORING);
        fs::remove_file(&marker).at("remove", &marker)?;
        sync_parent(&marker)
    }

    /// The folder of a generation.
    pub(crate) fn database(&self, generation: u32) -> PathBuf {
        self.path.join(format!("database-{generation}"))
    }

    /// Folder of a generation under construction, which must not be opened yet.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.path.join("database.unfinished")
    }

    /// Gives the new generation its name, durably.
    pub(crate) fn finish(&self, generation: u32) -> Result<(), StoreError> {
        files::rename(&self.unfinished(), &self.database(generation))
    }

    pub(crate) fn binaries(&self) -> PathBuf {
        self.path.join("binaries")
    }

    /// Makes a generation the current one, atomically.
    pub(crate) fn write_label(&self, generation: u32) -> Result<(), StoreError> {
        let path = self.path.join(LABEL);
        let label = serde_json::to_string(&Label::new(FORMAT, generation))
            .map_err(io::Error::other)
            .at("write", &path)?;
        files::replace(&path, format!("{label}\n").as_bytes())
    }

    /// The current generation, as the label says now.
    pub(crate) fn current(&self) -> Result<u32, StoreError> {
        let (label, _) = read_label(&self.path)?;
        Ok(label.map_or(self.generation, |label| label.generation))
    }

    /// The highest generation that has a folder.
    pub(crate) fn newest(&self) -> Result<Option<u32>, StoreError> {
        newest(&self.path)
    }
}

/// Creates a folder if it is missing, and closes it to other users: they must not read the token in
/// it.
fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// True if a folder contains anything but a lock and an unfinished restore.
pub(crate) fn is_occupied(path: &Path) -> bool {
    let others =
        |entry: io::Result<fs::DirEntry>| entry.map_or(true, |entry| entry.file_name() != LOCK);
    !is_restoring(path) && fs::read_dir(path).is_ok_and(|mut entries| entries.any(others))
}

/// True if a folder contains a store, whole or damaged, or a part of one that is being restored.
#[must_use]
pub fn has_store(path: &Path) -> bool {
    path.join(LABEL).is_file() || is_restoring(path) || newest(path).unwrap_or(None).is_some()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// True if a restore into this folder has not ended.
fn is_restoring(path: &Path) -> bool {
    path.join(RESTORING).exists()
}

fn newest(path: &Path) -> Result<Option<u32>, StoreError> {
    let entries = files::entries(path)?;
    Ok(entries.iter().filter_map(|path| generation(path)).max())
}

/// The generation whose folder this is.
pub(crate) fn generation(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("database-")?.parse().ok()
}

fn read_label(folder: &Path) -> Result<(Option<Label>, LabelState), StoreError> {
    #[derive(Deserialize)]
    struct Any {
        format: u32,
    }
    let path = folder.join(LABEL);
    let Some(text) = existing(fs::read(&path)).at("read", &path)? else {
        return Ok((None, LabelState::Missing));
    };
    if let Ok(Any { format: found }) = serde_json::from_slice(&text)
        && found > FORMAT
    {
        return Err(StoreError::NewerVersion {
            path: folder.to_owned(),
            found,
            known: FORMAT,
        });
    }
    let whole = serde_json::from_slice::<Label>(&text)
        .ok()
        .filter(|label| label.check == Label::new(label.format, label.generation).check);
    Ok(match whole {
        Some(label) => (Some(label), LabelState::Whole),
        None => (None, LabelState::Damaged),
    })
}

/// Locks the folder, and waits a while for a holder that is ending. Also returns true if the
/// previous holder closed everything, so that all data is on the disk; false if it died, or met an
/// error of the disk.
fn lock(folder: &Path, wait: Duration) -> Result<(File, bool), StoreError> {
    let path = folder.join(LOCK);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .at("open", &path)?;
    if !files::lock(&file, &path, wait)? {
        let mut text = String::new();
        let read = file.read_to_string(&mut text).ok();
        return Err(StoreError::Locked {
            path: folder.to_owned(),
            holder: read.and(text.trim().parse().ok()),
            waited: wait,
        });
    }
    let was_closed = file.metadata().at("write", &path)?.len() == 0;
    file.set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| write!(file, "{}", std::process::id()))
        .at("write", &path)?;
    Ok((file, was_closed))
}

/// Makes the system read the files below a folder from the disk again. A system that could not
/// write a page may drop it from those to be written and keep it for reading: such data is on no
/// disk, and later syncs do not report it.
fn settle(folder: &Path) -> Result<(), StoreError> {
    for path in files::entries(folder)? {
        if path.is_dir() {
            settle(&path)?;
        } else {
            File::open(&path)
                .and_then(|file| {
                    file.sync_all()?;
                    forget(&file)
                })
                .at("sync", &path)?;
        }
    }
    Ok(())
}

/// Removes a file from the system's cache; all of its pages must be written.
#[cfg(target_os = "linux")]
fn forget(file: &File) -> io::Result<()> {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    let advice = PosixFadviseAdvice::POSIX_FADV_DONTNEED;
    posix_fadvise(file, 0, 0, advice).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn forget(_file: &File) -> io::Result<()> {
    Ok(())
}
