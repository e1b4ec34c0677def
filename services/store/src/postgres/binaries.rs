//! Agents' binaries in a database, in chunks, with a cache of files.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio_postgres::types::Type;

use super::database::{Database, Failure};
use crate::{BinaryUpload, Sha256Digest, StoreError, UploadSpace, binary::Binaries, error::At};

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// The binaries of a database. The files are a cache: they may be deleted.
pub(crate) struct CachedBinaries {
    database: Arc<Database>,
    cache: Binaries,
    folder: PathBuf,
    /// The binaries of the database, with their sizes.
    known: Arc<Mutex<HashMap<Sha256Digest, u64>>>,
    epoch: i64,
}

impl CachedBinaries {
    /// Reads the names of all binaries; `folder` is the cache, and `epoch` that of the lease.
    pub(crate) fn open(
        database: &Arc<Database>,
        folder: PathBuf,
        epoch: i64,
    ) -> Result<Self, StoreError> {
        let sizes = list(database)?;
        Ok(Self {
            database: Arc::clone(database),
            cache: Binaries::open(folder.clone())?,
            folder,
            known: Arc::new(Mutex::new(sizes.into_iter().collect())),
            epoch,
        })
    }

    pub(crate) fn reserve(&self, bytes: u64) -> Result<UploadSpace, StoreError> {
        self.cache.reserve(bytes, 0)
    }

    pub(crate) fn begin(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        let (database, epoch) = (Arc::clone(&self.database), self.epoch);
        let known = Arc::clone(&self.known);
        let upload = self.cache.begin(sha256)?;
        Ok(upload.keep_first(move |file| {
            let bytes = store(&database, sha256, file, epoch)?;
            known.lock().insert(sha256, bytes);
            Ok(())
        }))
    }

    pub(crate) fn size(&self, sha256: &Sha256Digest) -> Option<u64> {
        self.known.lock().get(sha256).copied()
    }

    /// The file of a binary, fetched if the cache does not have it.
    pub(crate) fn path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        self.size(sha256)?;
        if let Some(path) = self.cache.path(sha256) {
            return Some(path);
        }
        let fetched = self.fetch(sha256);
        if let Err(error) = &fetched {
            let sha256 = hex::encode(sha256);
            tracing::warn!(sha256, "cannot read a binary from the database: {error}");
        }
        fetched.ok()
    }

    fn fetch(&self, sha256: &Sha256Digest) -> Result<PathBuf, StoreError> {
        let mut upload = self.cache.begin(*sha256)?;
        visit_chunks(&self.database, sha256, &mut |chunk| {
            upload.write_all(chunk).at("write", &self.folder)
        })?;
        upload.commit()
    }

    /// Fetches all binaries, and returns the folder of their files.
    pub(crate) fn fetch_all(&self) -> Result<&Path, StoreError> {
        let all: Vec<Sha256Digest> = self.known.lock().keys().copied().collect();
        for sha256 in all {
            if self.cache.path(&sha256).is_none() {
                self.fetch(&sha256)?;
            }
        }
        Ok(&self.folder)
    }

    pub(crate) fn old(&self, age: Duration) -> Result<Vec<String>, StoreError> {
        let seconds = age.as_secs_f64();
        self.database.call("read", move |client| async move {
            let old = "SELECT encode(digest, 'hex') FROM arena.binary_chunk WHERE part = 0 \
                AND stored < clock_timestamp() - make_interval(secs => $1) ORDER BY digest";
            let rows = client.query_typed(old, &[(&seconds, Type::FLOAT8)]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })
    }

    pub(crate) fn remove(&self, sha256: &str) -> Result<(), StoreError> {
        let mut digest: Sha256Digest = [0; 32];
        if hex::decode_to_slice(sha256, &mut digest).is_err() {
            return Ok(());
        }
        self.known.lock().remove(&digest);
        let epoch = self.epoch;
        self.database.call("write", move |client| async move {
            let remove = "DELETE FROM arena.binary_chunk WHERE digest = $1 AND EXISTS \
                (SELECT 1 FROM arena.owner WHERE shard = 0 AND epoch = $2 FOR SHARE)";
            let digest = &digest[..];
            let parameters = [
                (
                    &digest as &(dyn tokio_postgres::types::ToSql + Sync),
                    Type::BYTEA,
                ),
                (&epoch, Type::INT8),
            ];
            Ok(client.execute_typed(remove, &parameters).await?)
        })?;
        self.cache.remove(sha256)
    }
}

/// The binaries of a database with their sizes, in the order of their digests.
pub(crate) fn list(database: &Arc<Database>) -> Result<Vec<(Sha256Digest, u64)>, StoreError> {
    database.call("read", |client| async move {
        let sizes = "SELECT digest, sum(octet_length(body))::bigint FROM arena.binary_chunk \
            GROUP BY digest ORDER BY digest";
        let rows = client.query_typed(sizes, &[]).await?;
        let named = rows.iter().filter_map(|row| {
            let digest = row.get::<_, &[u8]>(0).try_into().ok()?;
            Some((digest, row.get::<_, i64>(1) as u64))
        });
        Ok(named.collect())
    })
}

/// True if a binary has the content that its name promises.
pub(crate) fn is_intact(
    database: &Arc<Database>,
    sha256: &Sha256Digest,
) -> Result<bool, StoreError> {
    let mut hasher = Sha256::new();
    visit_chunks(database, sha256, &mut |chunk| {
        hasher.update(chunk);
        Ok(())
    })?;
    Ok(Sha256Digest::from(hasher.finalize()) == *sha256)
}

/// Visits the chunks of a binary in their order.
fn visit_chunks(
    database: &Arc<Database>,
    sha256: &Sha256Digest,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let digest = sha256.to_vec();
    for part in 0_i32.. {
        let digest = digest.clone();
        let chunk = database.call("read", move |client| {
            let digest = digest.clone();
            async move {
                let chunk = "SELECT body FROM arena.binary_chunk WHERE digest = $1 AND part = $2";
                let parameters = [
                    (
                        &digest as &(dyn tokio_postgres::types::ToSql + Sync),
                        Type::BYTEA,
                    ),
                    (&part, Type::INT4),
                ];
                let row = client.query_typed_opt(chunk, &parameters).await?;
                Ok(row.map(|row| row.get::<_, Vec<u8>>(0)))
            }
        })?;
        let Some(chunk) = chunk else { break };
        visit(&chunk)?;
    }
    Ok(())
}

/// Stores a file in one transaction. Returns its size.
fn store(
    database: &Arc<Database>,
    sha256: Sha256Digest,
    file: &Path,
    epoch: i64,
) -> Result<u64, StoreError> {
    let file = file.to_owned();
    database.retry("write a binary to", move |database| {
        let file = file.clone();
        async move {
            let mut client = database.connect().await?;
            let transaction = client.transaction().await?;
            let digest = &sha256[..];
            let named = (
                &digest as &(dyn tokio_postgres::types::ToSql + Sync),
                Type::BYTEA,
            );
            let remove = "DELETE FROM arena.binary_chunk WHERE digest = $1";
            transaction.execute_typed(remove, &[named]).await?;
            let insert = transaction
                .prepare("INSERT INTO arena.binary_chunk VALUES ($1, $2, clock_timestamp(), $3)")
                .await?;
            let mut open = File::open(&file).at("read", &file)?;
            let mut bytes = 0;
            for part in 0_i32.. {
                let mut chunk = Vec::new();
                let limited = Read::by_ref(&mut open).take(CHUNK_BYTES as u64);
                { limited }.read_to_end(&mut chunk).at("read", &file)?;
                if chunk.is_empty() && part > 0 {
                    break;
                }
                bytes += chunk.len() as u64;
                transaction
                    .execute(&insert, &[&digest, &part, &chunk])
                    .await?;
            }
            // Last, so that no lock lasts as long as an upload.
            let fence = "SELECT epoch FROM arena.owner WHERE shard = 0 FOR SHARE";
            if transaction.query_one(fence, &[]).await?.get::<_, i64>(0) != epoch {
                return Err(Failure::Store(StoreError::TakenOver {
                    place: database.place.clone(),
                }));
            }
            transaction.commit().await?;
            Ok(bytes)
        }
    })
}

/// Names and files of binaries, fetched into a folder.
pub(crate) fn fetch_into(
    database: &Arc<Database>,
    folder: &Path,
) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let cached = CachedBinaries::open(database, folder.to_owned(), 0)?;
    Binaries::list(cached.fetch_all()?)
}
