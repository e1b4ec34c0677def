//! A store in a PostgreSQL database.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio_postgres::types::Type;

use super::{
    address::{Address, redacted},
    backend::PostgresBackend,
    binaries::{self, CachedBinaries},
    database::{Database, damaged},
    lease::Lease,
    reader::Reader,
    schema,
    tables::PostgresTables,
};
use crate::{
    BackupReport, BinaryUpload, Change, Collection, Done, Examine, OnLoss, Position, Positions,
    Sha256Digest, Stats, Store, StoreError, StoredGame, Tables, UploadSpace, VerifyReport, Watcher,
    core::Core,
    location::PostgresOptions,
    mark::set_database,
    ownership::Ownership,
    packing::index::visit_indices,
    repair::{
        verify::{LOCK_WAIT, check_entries},
        walk::{Item, Walk, walk},
    },
    sled::{
        backup::{SnapshotSource, write_snapshot},
        folder::Folder,
    },
};

/// A database that this process may own, once no other process does.
pub struct Standby {
    database: Arc<Database>,
    options: PostgresOptions,
    folder: Folder,
}

impl Standby {
    /// Connects to a database, checks its settings, and migrates it. The data folder notes the
    /// database ([`database_of`](crate::database_of)).
    ///
    /// # Errors
    /// `Unsuitable` for an invalid URL or a server that can lose results, `Locked` for a data
    /// folder in use, `NewerVersion`, or an error of the connection.
    pub fn connect(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let folder = Folder::create(&options.data, LOCK_WAIT)?;
        let database = Database::start(address)?;
        // A wrong address is reported at once.
        database.once("connect to", |_| async { Ok(()) })?;
        schema::migrate(&database)?;
        set_database(&folder.path, &database.address.database())?;
        Ok(Self {
            database,
            options,
            folder,
        })
    }

    /// Owns the store if no other process does, and checks all of it.
    ///
    /// # Errors
    /// `Corrupt`, or an error of the connection.
    pub fn own(self) -> Result<Ownership<Self>, StoreError> {
        let lease = match Lease::take(&self.database, &self.options.holder)? {
            Ok(lease) => lease,
            Err(holder) => return Ok(Ownership::Theirs(Box::new(self), holder)),
        };
        check_finished(&self.database)?;
        Ok(Ownership::Ours(Arc::new(self.open(lease)?)))
    }

    /// Owns a store that no other process owns.
    pub(crate) fn own_alone(self) -> Result<PostgresStore, StoreError> {
        let lease = self.lease()?;
        check_finished(&self.database)?;
        self.open(lease)
    }

    /// Takes the lease, or fails if another process has it.
    fn lease(&self) -> Result<Lease, StoreError> {
        Lease::take(&self.database, &self.options.holder)?.map_err(|holder| {
            StoreError::Unsuitable {
                place: self.database.place.clone(),
                problem: format!("{} owns it", holder.name),
                remedy: "stop that coordinator first".to_owned(),
            }
        })
    }

    /// Owns an empty database that a copy fills, until [`PostgresStore::complete`].
    pub(crate) fn own_empty(self) -> Result<PostgresStore, StoreError> {
        let place = PathBuf::from(&self.database.place);
        let lease = self.lease()?;
        if is_unfinished(&self.database)? {
            clear(&self.database)?;
        }
        let store = self.open(lease)?;
        if !store.core.empty || !binaries::list(&store.database)?.is_empty() {
            return Err(StoreError::NotEmpty { path: place });
        }
        set_unfinished(&store.database, true)?;
        Ok(store)
    }

    fn open(self, lease: Lease) -> Result<PostgresStore, StoreError> {
        let Self {
            database,
            options,
            folder,
        } = self;
        let walk = read(&Reader::new(Arc::clone(&database)), |_| {})?;
        check(&walk, &database.place)?;
        let cache = folder.path.join("cache").join("binaries");
        let binaries = CachedBinaries::open(&database, cache, lease.epoch)?;
        let tables = PostgresTables::new(Arc::clone(&database), lease.epoch);
        let backend = PostgresBackend::new(Arc::clone(&database), lease);
        let queue = [options.queue_games, options.queue_bytes];
        let core = Core::start(backend, &folder.path, walk, queue)?;
        Ok(PostgresStore {
            core,
            binaries,
            tables,
            database,
            folder,
        })
    }
}

/// Walks everything that a reader sees.
fn read(reader: &Reader, each: impl FnMut(Item<'_>)) -> Result<Walk, StoreError> {
    let found = reader.acknowledged()?;
    Ok(walk(reader, found, false, each))
}

/// Fails if there is any damage.
fn check(walk: &Walk, place: &str) -> Result<(), StoreError> {
    match walk.damage_report.is_empty() {
        true => Ok(()),
        false => Err(damaged(place, walk.damage_report.to_string())),
    }
}

/// Fails if a copy into a database was interrupted.
fn check_finished(database: &Arc<Database>) -> Result<(), StoreError> {
    match is_unfinished(database)? {
        false => Ok(()),
        true => Err(StoreError::Corrupt {
            path: database.place.clone().into(),
            damage: "a copy into it was interrupted, so it contains only a part".to_owned(),
            remedy: "run `arena store copy` again, it starts anew".to_owned(),
        }),
    }
}

fn is_unfinished(database: &Arc<Database>) -> Result<bool, StoreError> {
    database.call("read", |client| async move {
        let unfinished = "SELECT unfinished FROM arena.owner WHERE shard = 0";
        Ok(client.query_typed_one(unfinished, &[]).await?.get(0))
    })
}

fn set_unfinished(database: &Arc<Database>, unfinished: bool) -> Result<(), StoreError> {
    database.call("write", move |client| async move {
        let set = "UPDATE arena.owner SET unfinished = $1 WHERE shard = 0";
        client
            .execute_typed(set, &[(&unfinished, Type::BOOL)])
            .await?;
        Ok(())
    })
}

/// Removes what an interrupted copy has written.
fn clear(database: &Arc<Database>) -> Result<(), StoreError> {
    database.call("clear", |client| async move {
        client
            .batch_execute(
                "BEGIN; TRUNCATE arena.pack, arena.document, arena.binary_chunk; \
                 UPDATE arena.chain SET packs = 0, games = 0, document_version = 0, \
                 document_count = 0, link = decode(repeat('00', 32), 'hex'), \
                 document_digest = decode(repeat('00', 32), 'hex'); COMMIT",
            )
            .await?;
        Ok(())
    })
}

/// A database to read from, at one moment, whether or not a coordinator owns it.
pub(crate) struct PostgresSource {
    database: Arc<Database>,
    reader: Reader,
}

impl PostgresSource {
    pub(crate) fn open(url: &str) -> Result<Self, StoreError> {
        let database = Database::start(Address::parse(url)?)?;
        database.once("connect to", |_| async { Ok(()) })?;
        if schema::version(&database)?.is_none() {
            return Err(StoreError::NotFound {
                path: redacted(url).into(),
                expected: "a database of arena: it contains no store".to_owned(),
            });
        }
        // Only known versions, whose tables can be read.
        schema::migrate(&database)?;
        let reader = Reader::snapshot(&database)?;
        Ok(Self { database, reader })
    }

    /// Passes on everything in the database.
    pub(crate) fn read(&self, each: impl FnMut(Item<'_>)) -> Result<(), StoreError> {
        check(&read(&self.reader, each)?, &self.database.place)
    }

    /// Names and files of the binaries, fetched into a folder.
    pub(crate) fn binaries(&self, folder: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
        binaries::fetch_into(&self.database, folder)
    }
}

/// As [`verify_with`](crate::verify_with), for the database of a URL. A coordinator may be using
/// it.
///
/// # Errors
/// `NotFound`, `NewerVersion`, `Unsuitable`, or an error of the connection.
pub fn verify_postgres(url: &str, examine: &mut dyn Examine) -> Result<VerifyReport, StoreError> {
    let source = PostgresSource::open(url)?;
    let mut report = VerifyReport {
        path: source.database.place.clone().into(),
        ..VerifyReport::default()
    };
    let size = crate::backend::Entries::size(&source.reader);
    check_entries(&mut report, Some(examine), &mut |each| {
        Ok((read(&source.reader, each)?, size))
    })?;
    for (digest, _) in binaries::list(&source.database)? {
        if binaries::is_intact(&source.database, &digest)? {
            report.binaries += 1;
        } else {
            let name = hex::encode(digest);
            report.damage_report.push(format!(
                "binary {name} has changed since it was written: register it again"
            ));
        }
    }
    if !report.is_sound() {
        let remedy =
            "restore the database from a backup, or promote a standby that has all results";
        report.remedy = Some(remedy.to_owned());
    }
    Ok(report)
}

/// A store in a database that this process owns; dropping it closes it.
pub(crate) struct PostgresStore {
    pub(crate) core: Core<PostgresBackend>,
    binaries: CachedBinaries,
    tables: PostgresTables,
    pub(super) database: Arc<Database>,
    // Dropped last: the folder is locked until the database is closed.
    folder: Folder,
}

impl PostgresStore {
    /// The URL without secrets.
    pub(crate) fn place(&self) -> &str {
        &self.database.place
    }

    /// Marks a copy as complete.
    pub(crate) fn complete(&self) -> Result<(), StoreError> {
        set_unfinished(&self.database, false)
    }
}

impl Store for PostgresStore {
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.core.put_many(changes)
    }

    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.core.get(collection, key)
    }

    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.core.list_with(collection, prefix)
    }

    fn reserve_upload(&self, bytes: u64) -> Result<UploadSpace, StoreError> {
        self.binaries.reserve(bytes)
    }

    fn old_binaries(&self, age: Duration) -> Result<Vec<String>, StoreError> {
        self.binaries.old(age)
    }

    fn remove_binary(&self, sha256: &str) -> Result<(), StoreError> {
        self.binaries.remove(sha256)
    }

    fn begin_binary(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        self.binaries.begin(sha256)
    }

    fn binary_path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        self.binaries.path(sha256)
    }

    fn binary_size(&self, sha256: &Sha256Digest) -> Option<u64> {
        self.binaries.size(sha256)
    }

    fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError> {
        self.core.append(batch, done)
    }

    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        self.core.games_from(tournament, from, limit)
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        self.core.scan(tournament, 0, visit)
    }

    fn positions(&self) -> Option<Positions> {
        Some(self.core.shared.positions.clone())
    }

    fn scan_from(
        &self,
        tournament: &str,
        position: &Position,
        visit: &mut dyn FnMut(StoredGame),
    ) -> Result<bool, StoreError> {
        self.core.scan_from(tournament, position, visit)
    }

    fn indices(&self, tournament: &str, visit: &mut dyn FnMut(u64)) -> Result<(), StoreError> {
        visit_indices(|| self.core.index(), tournament, visit);
        Ok(())
    }

    fn count(&self, tournament: &str) -> u64 {
        self.core.index().count(tournament)
    }

    fn backup(&self, out: &mut dyn Write) -> Result<Option<BackupReport>, StoreError> {
        let snapshot = self.core.snapshot()?;
        let from = SnapshotSource {
            place: Path::new(&self.database.place),
            folder: &self.folder.path,
            binaries: self.binaries.fetch_all()?,
        };
        write_snapshot(&self.core.shared.db, &from, &snapshot, out).map(Some)
    }

    fn tables(&self) -> Option<&dyn Tables> {
        Some(&self.tables)
    }

    fn stats(&self) -> Stats {
        self.core.stats()
    }

    fn watch(&self, watcher: Watcher) {
        self.core.watch(watcher);
    }

    fn on_loss(&self, call: OnLoss) {
        self.core.shared.db.lease.on_loss(call);
    }

    fn health(&self) -> Result<(), StoreError> {
        self.core.shared.db.lease.health()
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.core.put_many(Vec::new())
    }

    fn close(&self) -> Result<(), StoreError> {
        self.core.close()
    }
}
