//! A copy of a database for reading: sled changes what it opens, and cuts off a torn end of its
//! log.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{RESERVE_BYTES, StoreError, error::At, files, sled::folder::Folder};

const REMOVALS: u32 = 50;
const REMOVAL_WAIT: Duration = Duration::from_millis(10);

/// A copy of the current generation, removed when dropped. If the disk has no room for one, the
/// generation itself.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) database: PathBuf,
    /// True if there was room for a copy.
    pub(crate) is_copy: bool,
}

impl Scratch {
    pub(crate) fn of(folder: &Folder) -> Result<Self, StoreError> {
        let original = folder.database(folder.generation);
        let copy = folder.path.join("database.looked-at");
        remove(&copy);
        let free = fs4::available_space(&folder.path).at("copy to look at it", &original)?;
        if !original.is_dir() || size(&original)? + RESERVE_BYTES > free {
            return Ok(Self {
                database: original,
                is_copy: false,
            });
        }
        let scratch = Self {
            database: copy,
            is_copy: true,
        };
        duplicate(&original, &scratch.database)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_copy {
            remove(&self.database);
        }
    }
}

/// sled may still write a file shortly after it was dropped. Remains are removed the next time.
fn remove(copy: &Path) {
    for _ in 0..REMOVALS {
        if fs::remove_dir_all(copy).is_ok() || !copy.exists() {
            return;
        }
        thread::sleep(REMOVAL_WAIT);
    }
}

/// Bytes of all files below a folder.
pub(crate) fn size(folder: &Path) -> Result<u64, StoreError> {
    files::entries(folder)?.iter().try_fold(0, |bytes, path| {
        let below = match path.is_dir() {
            true => size(path)?,
            false => path.metadata().at("read", path)?.len(),
        };
        Ok(bytes + below)
    })
}

fn duplicate(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(to).at("make the folder", to)?;
    for path in files::entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => duplicate(&path, &target)?,
            false => fs::copy(&path, target).map(drop).at("copy", &path)?,
        }
    }
    Ok(())
}
