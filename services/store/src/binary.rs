//! Agents' binaries: files named by their SHA-256, verified on arrival.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use sha2::{Digest, Sha256};

use crate::{Sha256Digest, StoreError};

const UPLOAD_SUFFIX: &str = ".upload";

/// A folder of binaries.
#[derive(Debug)]
pub(crate) struct Binaries {
    folder: PathBuf,
    uploads: AtomicU64,
}

impl Binaries {
    /// Opens or creates the folder, and removes incomplete uploads.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir_all(&folder).map_err(|e| StoreError::io("make the folder", &folder, &e))?;
        for entry in fs::read_dir(&folder).map_err(|e| StoreError::io("list", &folder, &e))? {
            let path = entry
                .map_err(|e| StoreError::io("list", &folder, &e))?
                .path();
            if path.to_string_lossy().ends_with(UPLOAD_SUFFIX) {
                fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, &e))?;
            }
        }
        Ok(Self {
            folder,
            uploads: AtomicU64::new(0),
        })
    }

    /// Names and paths of the binaries in a folder, in the order of their names.
    pub(crate) fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(StoreError::io("list", folder, &e)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry
                .map_err(|e| StoreError::io("list", folder, &e))?
                .path();
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(name) = name.filter(|name| name.len() == 64 && path.is_file()) {
                found.push((name.to_owned(), path.clone()));
            }
        }
        found.sort();
        Ok(found)
    }

    pub(crate) fn begin(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        let target = self.folder.join(hex::encode(sha256));
        let number = self.uploads.fetch_add(1, Ordering::Relaxed);
        let path = self
            .folder
            .join(format!("{}-{number}{UPLOAD_SUFFIX}", hex::encode(sha256)));
        let file = File::create(&path).map_err(|e| StoreError::io("create", &path, &e))?;
        Ok(BinaryUpload {
            expected: sha256,
            hasher: Sha256::new(),
            file,
            path,
            target,
            kept: false,
        })
    }

    pub(crate) fn path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        let path = self.folder.join(hex::encode(sha256));
        path.is_file().then_some(path)
    }
}

/// An upload of a binary. Write its bytes, then call [`BinaryUpload::commit`]; dropping it leaves
/// nothing behind.
#[derive(Debug)]
pub struct BinaryUpload {
    expected: Sha256Digest,
    hasher: Sha256,
    file: File,
    path: PathBuf,
    target: PathBuf,
    kept: bool,
}

impl BinaryUpload {
    /// Checks the content and makes it durable under its name; the owner can execute the file.
    ///
    /// # Errors
    /// `WrongDigest` if the content is not the announced one, or an error of the disk; nothing is
    /// kept in that case.
    pub fn commit(mut self) -> Result<PathBuf, StoreError> {
        let found: Sha256Digest = self.hasher.clone().finalize().into();
        if found != self.expected {
            return Err(StoreError::WrongDigest {
                expected: hex::encode(self.expected),
                found: hex::encode(found),
            });
        }
        runnable(&self.file).map_err(|e| StoreError::io("make runnable", &self.path, &e))?;
        self.file
            .sync_all()
            .map_err(|e| StoreError::io("sync", &self.path, &e))?;
        fs::rename(&self.path, &self.target)
            .map_err(|e| StoreError::io("rename", &self.path, &e))?;
        self.kept = true;
        sync_parent(&self.target)?;
        Ok(self.target.clone())
    }
}

impl Write for BinaryUpload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for BinaryUpload {
    fn drop(&mut self) {
        if !self.kept {
            // If it were left behind, the next opening would remove it.
            let _ = fs::remove_file(&self.path);
        }
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

/// Makes a name in a folder durable, after a file was created or renamed there.
pub(crate) fn sync_parent(path: &Path) -> Result<(), StoreError> {
    let folder = folder_of(path);
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| StoreError::io("sync the folder", folder, &e))
}

/// The folder of a file. A bare name is in the working folder, which `Path` names by an empty path
/// that cannot be opened.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_bare_name_is_the_working_folder() {
        for (path, folder) in [
            ("b.arena", "."),
            ("./b.arena", "."),
            ("backups/b.arena", "backups"),
            ("/b.arena", "/"),
        ] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
        sync_parent(Path::new("b.arena")).expect("the working folder can be synced");
    }
}
