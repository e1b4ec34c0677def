//! The data folder: who holds it, which format it has, where its database is.
//!
//! ```text
//! store.json        format and generation
//! lock              held while open; the holder's process id
//! database-N/       sled's files and the receipt, of generation N
//! binaries/         agents' binaries, named by their SHA-256
//! ```
//!
//! A repair builds a new generation and switches to it by renaming
//! `store.json`; the one before is left as it was.

use std::{
    fs::{self, File, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{StoreError, binary::sync_parent, database::corrupt};

/// The format this release writes, and the latest it reads.
pub(crate) const FORMAT: u32 = 1;

const RETRY: Duration = Duration::from_millis(50);

/// A data folder held by this process.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) generation: u32,
    /// Held until dropped; the system lets go of it when the process dies.
    _lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Label {
    format: u32,
    generation: u32,
}

impl Folder {
    /// Locks a data folder and reads its label. `create` makes a new store where
    /// there is none.
    pub(crate) fn open(path: &Path, wait: Duration, create: bool) -> Result<Self, StoreError> {
        if !create && !path.join("store.json").is_file() {
            // A folder that lost its label is named as damaged below.
            if !path.join("lock").is_file() {
                return Err(StoreError::NotFound {
                    path: path.to_owned(),
                    expected: "a data folder of arena: nothing was stored there yet".to_owned(),
                });
            }
        }
        fs::create_dir_all(path).map_err(|e| StoreError::io("make the folder", path, &e))?;
        let lock = lock(path, wait)?;
        let mut folder = Self {
            path: path.to_owned(),
            generation: 1,
            _lock: lock,
        };
        match folder.label()? {
            Some(label) => folder.generation = label.generation,
            None if folder.has_database()? => {
                return Err(corrupt(path, "store.json is missing".to_owned()));
            }
            None if create => folder.write_label(1)?,
            None => {
                return Err(StoreError::NotFound {
                    path: path.to_owned(),
                    expected: "a data folder of arena: nothing was stored there yet".to_owned(),
                });
            }
        }
        Ok(folder)
    }

    /// Locks a folder for a repair: a lost or damaged label is worked out from
    /// the newest database there.
    pub(crate) fn open_damaged(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        if !path.join("lock").is_file() {
            return Self::open(path, wait, false);
        }
        let mut folder = Self {
            path: path.to_owned(),
            generation: 1,
            _lock: lock(path, wait)?,
        };
        folder.generation = match folder.label() {
            Ok(Some(label)) => label.generation,
            Ok(None) | Err(StoreError::Corrupt { .. }) => folder.newest()?.unwrap_or(1),
            Err(error) => return Err(error),
        };
        Ok(folder)
    }

    /// The folder of a generation.
    pub(crate) fn database(&self, generation: u32) -> PathBuf {
        self.path.join(format!("database-{generation}"))
    }

    pub(crate) fn binaries(&self) -> PathBuf {
        self.path.join("binaries")
    }

    /// Makes a generation the one in use, at one stroke.
    pub(crate) fn write_label(&self, generation: u32) -> Result<(), StoreError> {
        let (path, new) = (
            self.path.join("store.json"),
            self.path.join("store.json.new"),
        );
        let label = Label {
            format: FORMAT,
            generation,
        };
        let text = serde_json::to_string(&label)
            .map_err(|e| StoreError::io("write", &path, &std::io::Error::other(e)))?;
        File::create(&new)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.write_all(b"\n")?;
                file.sync_all()
            })
            .map_err(|e| StoreError::io("write", &new, &e))?;
        fs::rename(&new, &path).map_err(|e| StoreError::io("write", &path, &e))?;
        sync_parent(&path)
    }

    /// The highest generation that has a folder.
    pub(crate) fn newest(&self) -> Result<Option<u32>, StoreError> {
        let error = |e| StoreError::io("list", &self.path, &e);
        let mut newest = None;
        for entry in fs::read_dir(&self.path).map_err(error)? {
            let name = entry.map_err(error)?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix("database-")?.parse().ok());
            newest = newest.max(number);
        }
        Ok(newest)
    }

    fn has_database(&self) -> Result<bool, StoreError> {
        self.newest().map(|newest| newest.is_some())
    }

    fn label(&self) -> Result<Option<Label>, StoreError> {
        #[derive(Deserialize)]
        struct Any {
            format: u32,
        }
        let path = self.path.join("store.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(StoreError::io("read", &path, &e)),
        };
        let damaged = || corrupt(&self.path, "store.json is not as it was written".to_owned());
        let found = serde_json::from_slice::<Any>(&text)
            .map_err(|_| damaged())?
            .format;
        if found > FORMAT {
            return Err(StoreError::NewerVersion {
                path: self.path.clone(),
                found,
                known: FORMAT,
            });
        }
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|_| damaged())
    }
}

/// Takes the folder's lock, waiting a while for a holder that is ending.
fn lock(folder: &Path, wait: Duration) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| StoreError::io("open", &path, &e))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if started.elapsed() < wait => {
                std::thread::sleep(RETRY.min(wait));
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let holder = file
                    .read_to_string(&mut text)
                    .ok()
                    .and(text.trim().parse().ok());
                return Err(StoreError::Locked {
                    path: folder.to_owned(),
                    holder,
                    waited: wait,
                });
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", &path, &e)),
        }
    }
    file.set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| write!(file, "{}", std::process::id()))
        .map_err(|e| StoreError::io("write", &path, &e))?;
    Ok(file)
}
