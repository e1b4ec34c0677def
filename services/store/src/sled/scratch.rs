//! A copy of a database for reading: sled changes what it opens, and cuts off a torn end of its
//! log.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{RESERVE_BYTES, StoreError, sled::folder::Folder};

const REMOVALS: u32 = 50;
const REMOVAL_WAIT: Duration = Duration::from_millis(10);

/// A copy of the current generation, removed when dropped. If the disk has no room for one, the
/// generation itself.
#[derive(Debug)]
pub(crate) struct Scratch {
    database: PathBuf,
    copied: bool,
}

impl Scratch {
    pub(crate) fn of(folder: &Folder) -> Result<Self, StoreError> {
        let original = folder.database(folder.generation);
        let copy = folder.path.join("database.looked-at");
        let error = |e: io::Error| StoreError::io("copy to look at it", &original, &e);
        remove(&copy);
        let free = fs4::available_space(&folder.path).map_err(error)?;
        if !original.is_dir() || size(&original).map_err(error)? + RESERVE_BYTES > free {
            return Ok(Self {
                database: original,
                copied: false,
            });
        }
        let scratch = Self {
            database: copy,
            copied: true,
        };
        duplicate(&original, &scratch.database).map_err(error)?;
        Ok(scratch)
    }

    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    /// Whether there was room for a copy.
    pub(crate) fn is_copy(&self) -> bool {
        self.copied
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.copied {
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
pub(crate) fn size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

fn duplicate(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.metadata()?.is_dir() {
            duplicate(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
