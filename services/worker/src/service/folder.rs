//! A worker's own folder, and cleaning up after killed workers.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use tempfile::TempDir;

const PREFIX: &str = "arena-worker-";

/// A folder that is locked while its worker lives. The lock is on the folder itself, so none
/// is without a lock: after a kill, the next worker removes the rest.
#[derive(Debug)]
pub(super) struct Folder {
    dir: TempDir,
    _lock: File,
}

impl Folder {
    /// Creates a folder in `temp`, and removes those of killed workers there.
    pub(super) fn new(temp: &Path) -> io::Result<Self> {
        sweep(temp);
        loop {
            let dir = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(temp)?;
            if let Some(lock) = lock(dir.path())? {
                return Ok(Self { dir, _lock: lock });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Locks a new folder; none if another worker has removed it before.
fn lock(dir: &Path) -> io::Result<Option<File>> {
    let lock = match File::open(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        lock => lock?,
    };
    lock.lock()?;
    Ok(dir.exists().then_some(lock))
}

fn sweep(temp: &Path) {
    let Ok(entries) = fs::read_dir(temp) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        if ours
            && let Ok(lock) = File::open(entry.path())
            && lock.try_lock().is_ok()
        {
            // What cannot be removed is left for the next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_folders_are_removed() {
        let temp = tempfile::tempdir().expect("a folder");
        let living = Folder::new(temp.path()).expect("a folder");
        let dead = temp.path().join("arena-worker-dead");
        fs::create_dir(&dead).expect("a folder");
        let other = temp.path().join("arena-other");
        fs::create_dir(&other).expect("a folder");
        let _next = Folder::new(temp.path()).expect("a folder");
        assert!(living.path().exists() && other.exists() && !dead.exists());
        let swept = temp.path().join("arena-worker-swept");
        assert!(lock(&swept).is_ok_and(|lock| lock.is_none()));
        let mode = fs::metadata(living.path())
            .expect("it")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
