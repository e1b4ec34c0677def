//! Files and folders of a store.

use std::{
    fs::{self, File, Metadata, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{Sha256Digest, StoreError, error::At};

/// Name of the file of the audit trail that grows, in a data folder: a line for each event, only ever
/// appended. Earlier files have the number of their first event in their names.
pub const EVENTS_FILE: &str = "events.jsonl";
/// Bytes that are read at a time to find the end of a line.
const LINE_PIECE: u64 = 1 << 12;
/// Time between two attempts to lock a file.
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// Fails unless an open file is still at its path: otherwise, what is written to it is lost.
pub(crate) fn check_in_place(file: &File, path: &Path) -> Result<(), StoreError> {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let open = file.metadata().at("read", path)?;
    let found = existing(fs::metadata(path)).at("find", path)?;
    if found.map(identity) == Some(identity(open)) {
        return Ok(());
    }
    Err(StoreError::Io {
        action: "find".to_owned(),
        path: path.to_owned(),
        cause: "the file was deleted or replaced while the store was open; put it back and start \
                again, or restore a backup"
            .to_owned(),
    })
}

/// The paths in a folder; none if it does not exist.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = existing(fs::read_dir(folder)).at("list", folder)?;
    let paths = entries.into_iter().flatten();
    paths
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .at("list", folder)
}

/// The result for a file or folder, or `None` if it does not exist.
pub(crate) fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Creates a file that only this user can read and write.
///
/// # Errors
/// Those of the operating system.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path)?;
    // The mode of a file that exists stays as it was.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Replaces a file atomically and durably.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let new = PathBuf::from(format!("{}.new", path.display()));
    File::create(&new)
        .and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        })
        .at("write", &new)?;
    rename(&new, path)
}

/// Renames a file or folder durably.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).at("rename", from)?;
    sync_parent(to)
}

/// Makes a name in a folder durable, after a file was created or renamed there.
pub(crate) fn sync_parent(path: &Path) -> Result<(), StoreError> {
    let folder = folder_of(path);
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .at("sync the folder", folder)
}

/// The folder of a file. A bare name is in the working folder, which `Path` names by an empty path
/// that cannot be opened.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The name of a full file of the audit trail, by its first event. Names are in the order of numbers.
#[must_use]
pub fn full_events_file(first: u64) -> String {
    format!("events-{first:020}.jsonl")
}

/// The first event of a file of the audit trail, by the name of the file; `None` for other names.
#[must_use]
pub fn first_event(name: &str) -> Option<u64> {
    if name == EVENTS_FILE {
        return Some(1);
    }
    let first = name.strip_prefix("events-")?.strip_suffix(".jsonl")?;
    let first = first.parse().ok()?;
    (full_events_file(first) == name).then_some(first)
}

/// The files of the audit trail in a data folder with their names, the oldest first.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn events_files(data: &Path) -> Result<Vec<(String, File)>, StoreError> {
    let names = || {
        let paths = entries(data)?.into_iter();
        let names = paths.filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
        let mut names: Vec<String> = names.filter(|name| first_event(name).is_some()).collect();
        names.sort_by_key(|name| (name == EVENTS_FILE, name.clone()));
        Ok(names)
    };
    loop {
        let before = names()?;
        let mut files = Vec::new();
        for name in &before {
            let path = data.join(name);
            let file = existing(File::open(&path)).at("read", &path)?;
            files.extend(file.map(|file| (name.clone(), file)));
        }
        // A coordinator that begins a file has renamed the one before.
        if names()? == before {
            return Ok(files);
        }
    }
}

/// Copies the audit trail of a data folder into another one, durably. Returns the number of its events.
pub(crate) fn copy_events(from: &Path, to: &Path) -> Result<u64, StoreError> {
    let mut count = 0;
    for (name, mut events) in events_files(from)? {
        let length = whole_lines(&mut events).at("read", &from.join(&name))?;
        count += write_events(&mut events.take(length), &to.join(name))?;
    }
    Ok(count)
}

/// Writes a file of the audit trail, durably. Returns the number of its events.
pub(crate) fn write_events(events: &mut impl Read, path: &Path) -> Result<u64, StoreError> {
    let mut lines = Lines::new(create_private(path).at("write", path)?);
    io::copy(events, &mut lines)
        .and_then(|_| lines.inner.sync_all())
        .at("write", path)?;
    Ok(lines.count)
}

/// Locks an open file. Returns false if another holder still has it after this time.
pub(crate) fn lock(file: &File, path: &Path, wait: Duration) -> Result<bool, StoreError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if started.elapsed() >= wait => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY.min(wait)),
            Err(TryLockError::Error(error)) => return Err(error).at("lock", path),
        }
    }
}

/// Length of a file up to the end of its last line. Reading continues at its start.
pub(crate) fn whole_lines(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut piece = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(LINE_PIECE);
        file.seek(SeekFrom::Start(start))?;
        piece.clear();
        file.take(end - start).read_to_end(&mut piece)?;
        if let Some(last) = piece.iter().rposition(|&byte| byte == b'\n') {
            end = start + last as u64 + 1;
            break;
        }
        end = start;
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(end)
}

/// Counts the ends of lines that pass through.
#[derive(Debug)]
pub(crate) struct Lines<W> {
    pub(crate) inner: W,
    pub(crate) count: u64,
}

impl<W> Lines<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, count: 0 }
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        let ends = bytes[..written].iter().filter(|&&byte| byte == b'\n');
        self.count += ends.count() as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Counts and hashes the bytes that pass through.
#[derive(Debug)]
pub(crate) struct Hashed<W> {
    pub(crate) inner: W,
    pub(crate) hasher: Sha256,
    pub(crate) bytes: u64,
}

impl<W> Hashed<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            hasher: Sha256::new(),
            bytes: 0,
        }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// SHA-256 of a file.
pub(crate) fn digest(path: &Path) -> Result<Sha256Digest, StoreError> {
    let mut hashed = Hashed::new(io::sink());
    File::open(path)
        .and_then(|mut file| io::copy(&mut file, &mut hashed))
        .at("read", path)?;
    Ok(hashed.hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_name_is_in_working_folder() {
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
