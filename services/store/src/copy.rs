//! Copies of a whole store into another kind of store.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    BackupReport, BinaryUpload, Location, Options, Sha256Digest, StoreError,
    backend::Backend,
    binary::Binaries,
    core::Core,
    error::At,
    files::{self, existing},
    repair::{
        copy::StoreCopy,
        verify::{LOCK_WAIT, beware, read},
        walk::Item,
    },
    sled::{
        backend::SledBackend,
        folder::{Folder, is_occupied},
    },
};

/// Copies all games, documents and binaries of a store into an empty one, and between data folders
/// the audit trail. No process may be using the target, or a data folder that is the source. Until
/// the copy is complete, the target cannot be opened; an interrupted copy starts again.
///
/// # Errors
/// `NotEmpty` for the target, `Locked`, `NotFound`, `NewerVersion`, `Unsuitable`, `Corrupt` for a
/// damaged source, or an error of the disk or the connection.
pub fn copy(from: &Location, to: &Location) -> Result<BackupReport, StoreError> {
    let source = match from {
        Location::Folder(path) => Source::folder(path)?,
        Location::Database(url) => Source::database(url)?,
    };
    match to {
        Location::Folder(path) => into_folder(&source, path),
        Location::Database(url) => into_database(&source, url),
    }
}

enum Source {
    Folder(Folder),
    #[cfg(feature = "postgres")]
    Database(crate::postgres::PostgresSource),
}

impl Source {
    fn folder(path: &Path) -> Result<Self, StoreError> {
        let folder = Folder::open(path, LOCK_WAIT, false)?;
        folder.check_label()?;
        beware(&folder)?;
        Ok(Self::Folder(folder))
    }

    #[cfg(feature = "postgres")]
    fn database(url: &str) -> Result<Self, StoreError> {
        crate::postgres::PostgresSource::open(url).map(Self::Database)
    }

    #[cfg(not(feature = "postgres"))]
    fn database(_url: &str) -> Result<Self, StoreError> {
        Err(crate::postgres::absent())
    }

    fn read(&self, each: impl FnMut(Item<'_>)) -> Result<(), StoreError> {
        match self {
            Self::Folder(folder) => {
                let database = folder.database(folder.generation);
                let (walk, _) = read(folder, &database, each)?;
                walk.check(&folder.path)
            }
            #[cfg(feature = "postgres")]
            Self::Database(database) => database.read(each),
        }
    }

    /// Names and files of the binaries; those of a database are fetched into a folder.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "only databases")
    )]
    fn binaries(&self, cache: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
        match self {
            Self::Folder(folder) => Binaries::list(&folder.binaries()),
            #[cfg(feature = "postgres")]
            Self::Database(database) => database.binaries(cache),
        }
    }

    /// Copies the audit trail into a data folder. A database has none: it is in the data folder of its
    /// coordinator.
    fn copy_events(&self, to: &Path) -> Result<u64, StoreError> {
        match self {
            Self::Folder(folder) => files::copy_events(&folder.path, to),
            #[cfg(feature = "postgres")]
            Self::Database(_) => Ok(0),
        }
    }

    /// Copies everything into an empty store.
    fn fill<B: Backend>(
        &self,
        core: &Core<B>,
        begin: impl Fn(Sha256Digest) -> Result<BinaryUpload, StoreError>,
    ) -> Result<BackupReport, StoreError> {
        let mut report = BackupReport::default();
        let mut copy = StoreCopy::new(core);
        self.read(|item| copy.take(&item))?;
        (report.games, report.documents) = copy.finish()?;
        let cache = tempfile::tempdir().at("make a folder in", &std::env::temp_dir())?;
        for (name, path) in self.binaries(cache.path())? {
            let mut sha256: Sha256Digest = [0; 32];
            if hex::decode_to_slice(&name, &mut sha256).is_err() {
                continue;
            }
            // It may have been removed since the listing, because nothing refers to it.
            let Some(mut file) = existing(File::open(&path)).at("read", &path)? else {
                continue;
            };
            let mut upload = begin(sha256)?;
            io::copy(&mut file, &mut upload).at("copy", &path)?;
            upload.commit()?;
            report.binaries += 1;
        }
        report.bytes = core.shared.db.size();
        Ok(report)
    }
}

fn into_folder(source: &Source, to: &Path) -> Result<BackupReport, StoreError> {
    if is_occupied(to) || to.is_file() {
        return Err(StoreError::NotEmpty {
            path: to.to_owned(),
        });
    }
    let folder = Folder::restoring(to, LOCK_WAIT)?;
    let fill = || {
        let binaries = Binaries::open(folder.binaries())?;
        let database = folder.database(folder.generation);
        let core = SledBackend::open(&database, to, &Options::default(), true)?;
        let report = source.fill(&core, |sha256| binaries.begin(sha256))?;
        core.close()?;
        let events = source.copy_events(to)?;
        folder.restored()?;
        Ok(BackupReport {
            path: to.to_owned(),
            events,
            ..report
        })
    };
    let filled = fill();
    if filled.is_err() {
        // Half a store is worse than none.
        let _ = fs::remove_dir_all(to);
    }
    filled
}

#[cfg(not(feature = "postgres"))]
fn into_database(_source: &Source, _url: &str) -> Result<BackupReport, StoreError> {
    Err(crate::postgres::absent())
}

#[cfg(feature = "postgres")]
fn into_database(source: &Source, url: &str) -> Result<BackupReport, StoreError> {
    use crate::{
        Store,
        location::{Holder, PostgresOptions},
        postgres::Standby,
    };
    let local = tempfile::tempdir().at("make a folder in", &std::env::temp_dir())?;
    let defaults = Options::default();
    let options = PostgresOptions {
        data: local.path().to_owned(),
        holder: Holder {
            name: "arena store copy".to_owned(),
            address: None,
        },
        queue_games: defaults.queue_games,
        queue_bytes: defaults.queue_bytes,
    };
    let store = Standby::connect(url, options)?.own_empty()?;
    let report = source.fill(&store.core, |sha256| store.begin_binary(sha256))?;
    store.complete()?;
    store.close()?;
    Ok(BackupReport {
        path: store.place().into(),
        ..report
    })
}
