//! Agents' binaries: files named by their SHA-256, verified on arrival.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sha2::Digest;
use tempfile::NamedTempFile;

use crate::{
    Sha256Digest, StoreError,
    error::At,
    files::{self, Hashed, existing, sync_parent},
};

const UPLOAD_SUFFIX: &str = ".upload";

/// A folder of binaries.
#[derive(Debug)]
pub(crate) struct Binaries {
    folder: PathBuf,
    /// Announced bytes of open uploads.
    announced: Arc<AtomicU64>,
}

/// The space of an open upload; dropping it ends the claim.
#[derive(Debug, Default)]
pub struct UploadSpace {
    announced: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for UploadSpace {
    fn drop(&mut self) {
        self.announced.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Binaries {
    /// Opens or creates the folder, and removes incomplete uploads.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir_all(&folder).at("make the folder", &folder)?;
        for path in files::entries(&folder)? {
            if path.to_string_lossy().ends_with(UPLOAD_SUFFIX) {
                fs::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(Self {
            folder,
            announced: Arc::default(),
        })
    }

    /// Claims space for an upload. With all open uploads, it must leave `keep` bytes free.
    pub(crate) fn reserve(&self, bytes: u64, keep: u64) -> Result<UploadSpace, StoreError> {
        let before = self.announced.fetch_add(bytes, Ordering::Relaxed);
        let space = UploadSpace {
            announced: Arc::clone(&self.announced),
            bytes,
        };
        let free =
            fs4::available_space(&self.folder).at("ask for the free space of", &self.folder)?;
        let needed = before.saturating_add(bytes).saturating_add(keep);
        if free >= needed {
            return Ok(space);
        }
        Err(StoreError::NoRoom {
            path: self.folder.clone(),
            bytes,
            needed,
            free,
        })
    }

    /// Names of binaries that were uploaded longer ago than `age`.
    pub(crate) fn old(&self, age: Duration) -> Result<Vec<String>, StoreError> {
        let mut old = Self::list(&self.folder)?;
        old.retain(|(_, path)| {
            let uploaded = fs::metadata(path).and_then(|it| it.modified());
            uploaded.is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed > age))
        });
        Ok(old.into_iter().map(|(name, _)| name).collect())
    }

    pub(crate) fn remove(&self, sha256: &str) -> Result<(), StoreError> {
        let path = self.folder.join(sha256);
        existing(fs::remove_file(&path))
            .at("remove", &path)
            .map(drop)
    }

    /// Names and paths of the binaries in a folder, in the order of their names.
    pub(crate) fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let named = |path: PathBuf| {
            let name = path.file_name()?.to_str()?.to_owned();
            (name.len() == 64 && path.is_file()).then_some((name, path))
        };
        let mut found: Vec<_> = files::entries(folder)?
            .into_iter()
            .filter_map(named)
            .collect();
        found.sort();
        Ok(found)
    }

    pub(crate) fn begin(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        let file = tempfile::Builder::new()
            .suffix(UPLOAD_SUFFIX)
            .tempfile_in(&self.folder)
            .at("create a file in", &self.folder)?;
        Ok(BinaryUpload {
            expected: sha256,
            file: Hashed::new(file),
            target: self.folder.join(hex::encode(sha256)),
            keep: None,
        })
    }

    pub(crate) fn path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        let path = self.folder.join(hex::encode(sha256));
        path.is_file().then_some(path)
    }
}

/// An upload of a binary. Write its bytes, then call [`BinaryUpload::commit`]; dropping it leaves
/// nothing behind.
pub struct BinaryUpload {
    expected: Sha256Digest,
    file: Hashed<NamedTempFile>,
    target: PathBuf,
    keep: Option<Keep>,
}

/// Stores the file of a complete upload elsewhere.
type Keep = Box<dyn FnOnce(&Path) -> Result<(), StoreError> + Send>;

impl BinaryUpload {
    /// Calls a function with the complete and checked file before it gets its name. If the function
    /// fails, so does the upload.
    #[cfg(feature = "postgres")]
    pub(crate) fn keep_first(
        self,
        keep: impl FnOnce(&Path) -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        Self {
            keep: Some(Box::new(keep)),
            ..self
        }
    }

    /// Checks the content and makes it durable under its name; the owner can execute the file.
    ///
    /// # Errors
    /// `WrongDigest` if the content is not the announced one, or an error of the disk; nothing is
    /// kept in that case.
    pub fn commit(self) -> Result<PathBuf, StoreError> {
        let found = Sha256Digest::from(self.file.hasher.finalize());
        if found != self.expected {
            return Err(StoreError::WrongDigest {
                expected: hex::encode(self.expected),
                found: hex::encode(found),
            });
        }
        let file = self.file.inner;
        runnable(file.as_file()).at("make runnable", file.path())?;
        file.as_file().sync_all().at("sync", file.path())?;
        if let Some(keep) = self.keep {
            keep(file.path())?;
        }
        file.persist(&self.target)
            .map_err(|unkept| unkept.error)
            .at("write", &self.target)?;
        sync_parent(&self.target)?;
        Ok(self.target)
    }
}

impl Write for BinaryUpload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(unix)]
fn runnable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn runnable(_file: &File) -> io::Result<()> {
    Ok(())
}
