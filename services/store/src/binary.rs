//! Agents' binaries: files named by their SHA-256, verified on arrival.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use sha2::Digest;
use tempfile::NamedTempFile;

use crate::{
    Sha256Digest, StoreError,
    error::At,
    files::{self, Hashed, sync_parent},
};

const UPLOAD_SUFFIX: &str = ".upload";

/// A folder of binaries.
#[derive(Debug)]
pub(crate) struct Binaries(PathBuf);

impl Binaries {
    /// Opens or creates the folder, and removes incomplete uploads.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir_all(&folder).at("make the folder", &folder)?;
        for path in files::entries(&folder)? {
            if path.to_string_lossy().ends_with(UPLOAD_SUFFIX) {
                fs::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(Self(folder))
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
            .tempfile_in(&self.0)
            .at("create a file in", &self.0)?;
        Ok(BinaryUpload {
            expected: sha256,
            file: Hashed::new(file),
            target: self.0.join(hex::encode(sha256)),
        })
    }

    pub(crate) fn path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        let path = self.0.join(hex::encode(sha256));
        path.is_file().then_some(path)
    }
}

/// An upload of a binary. Write its bytes, then call [`BinaryUpload::commit`]; dropping it leaves
/// nothing behind.
#[derive(Debug)]
pub struct BinaryUpload {
    expected: Sha256Digest,
    file: Hashed<NamedTempFile>,
    target: PathBuf,
}

impl BinaryUpload {
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
