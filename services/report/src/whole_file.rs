//! Files that are written completely or not at all.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::TempPath;

use crate::error::{ReportError, Result};

/// A file that has a temporary name in its folder until it is finished. If it is dropped
/// before that, the temporary file is removed. A target that is not a regular file, such as
/// /dev/stdout or a pipe, is written directly.
pub struct WholeFile {
    path: PathBuf,
    file: BufWriter<File>,
    /// The temporary name; `None` if the target is written directly.
    temporary: Option<TempPath>,
}

impl WholeFile {
    /// Creates a file.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = check(path)?;
        let made = if path.metadata().is_ok_and(|known| !known.is_file()) {
            let opened = OpenOptions::new().write(true).open(path);
            opened.map(|file| (file, None))
        } else {
            let made = tempfile::Builder::new()
                .prefix(".arena-")
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
                .tempfile_in(folder);
            made.map(|made| {
                let (file, temporary) = made.into_parts();
                (file, Some(temporary))
            })
        };
        let (file, temporary) = made.map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
            temporary,
        })
    }

    /// Appends.
    pub fn write(&mut self, bytes: &[u8]) -> Result {
        let written = self.file.write_all(bytes);
        written.map_err(|error| self.failed(&error))
    }

    /// An error in writing this file.
    pub(crate) fn failed(&self, error: &io::Error) -> ReportError {
        failed(&self.path, error)
    }

    /// Syncs the file to disk, then renames it to its final name.
    pub fn finish(self) -> Result {
        let path = self.path;
        let file = self
            .file
            .into_inner()
            .map_err(|error| failed(&path, error.error()))?;
        let Some(temporary) = self.temporary else {
            return Ok(());
        };
        file.sync_all().map_err(|error| failed(&path, &error))?;
        temporary
            .persist(&path)
            .map_err(|error| failed(&path, &error.error))?;
        Ok(())
    }
}

/// The folder of a writable path, judged by names alone.
pub fn check(path: &Path) -> Result<&Path> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let problem = if !folder.is_dir() {
        format!("there is no folder {}", folder.display())
    } else if path.is_dir() {
        "it is a folder; choose a file in it".to_owned()
    } else {
        return Ok(folder);
    };
    Err(ReportError::usage(format!(
        "cannot write {}: {problem}",
        path.display()
    )))
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The number of bytes of a file, and their SHA-256 in hexadecimal digits.
///
/// # Errors
/// If it cannot be read.
pub fn sha256(path: &Path) -> io::Result<(u64, String)> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let (mut bytes, mut digest) = (0, Sha256::new());
    loop {
        let part = file.fill_buf()?;
        if part.is_empty() {
            return Ok((bytes, hex::encode(digest.finalize())));
        }
        digest.update(part);
        let count = part.len();
        bytes += count as u64;
        file.consume(count);
    }
}

/// The remedy for a full disk.
pub(crate) const DISK_FULL: &str =
    "; the disk is full: make room, or choose a file on another disk";

/// The error with a remedy, if one is known.
pub fn failed(path: &Path, error: &io::Error) -> ReportError {
    let what = match error.kind() {
        io::ErrorKind::StorageFull => DISK_FULL,
        io::ErrorKind::QuotaExceeded => "; your quota is used up",
        _ => "",
    };
    ReportError::failed(format!("cannot write {}: {error}{what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().display().to_string())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn unfinished_file_has_no_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        std::fs::write(&path, "old").expect("a file");
        let mut file = WholeFile::create(&path).expect("a file");
        WholeFile::write(&mut file, b"new").expect("room");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "old");
        file.finish().expect("room");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "new");
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn unfinished_file_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = WholeFile::create(&folder.path().join("page.html")).expect("a file");
        WholeFile::write(&mut file, b"half").expect("room");
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn special_files_are_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
        let mut file = WholeFile::create(&path).expect("it is there");
        WholeFile::write(&mut file, b"page").expect("kept back");
        let error = file.finish().expect_err("no room").to_string();
        assert!(error.contains("the disk is full"), "{error}");
        assert!(path.is_symlink());
        assert_eq!(names(folder.path()), ["full"]);
    }

    #[test]
    fn missing_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("nowhere/page.html");
        let error = WholeFile::create(&path).err().expect("refused");
        assert!(error.to_string().contains("there is no folder"), "{error}");
    }
}
