//! PostgreSQL under a store.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    commit::{Parameters, WriterSession, commit},
    database::{Database, damaged},
    lease::Lease,
    reader::{Reader, size},
};
use crate::{
    Commit, StoreError,
    backend::{Backend, Batch, Entries, Tree},
};

/// Time between two measurements of the size on disk.
const SIZE_INTERVAL: Duration = Duration::from_secs(15);
/// A database that this process owns.
pub(crate) struct PostgresBackend {
    pub(crate) reader: Reader,
    pub(crate) lease: Lease,
    /// The session of the writer.
    writer: Arc<tokio::sync::Mutex<Option<WriterSession>>>,
    /// Bytes of the tables, from time to time.
    size: Arc<AtomicU64>,
}

impl PostgresBackend {
    pub(crate) fn new(database: Arc<Database>, lease: Lease) -> Self {
        let size = Arc::<AtomicU64>::default();
        drop(database.spawn(measure(Arc::downgrade(&database), Arc::clone(&size))));
        Self {
            reader: Reader::new(database),
            lease,
            writer: Arc::default(),
            size,
        }
    }
}

/// Measures the tables until the store is gone.
async fn measure(database: Weak<Database>, to: Arc<AtomicU64>) {
    while let Some(database) = database.upgrade() {
        let measured = async { size(&*database.session().await?).await };
        // Without a connection, the last value stays.
        if let Ok(bytes) = measured.await {
            to.store(bytes, Ordering::Relaxed);
        }
        drop(database);
        tokio::time::sleep(SIZE_INTERVAL).await;
    }
}

impl Entries for PostgresBackend {
    type Bytes = Vec<u8>;

    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.reader.get(tree, key)
    }

    fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        visit: impl FnMut(Vec<u8>, Vec<u8>) -> bool,
    ) -> Result<(), StoreError> {
        self.reader.visit(tree, from, visit)
    }

    fn get_documents(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.reader.get_documents(keys)
    }

    fn visit_packs(
        &self,
        places: &[u32],
        visit: impl FnMut(u32, Option<Vec<u8>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.reader.visit_packs(places, visit)
    }

    fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }
}

impl Backend for PostgresBackend {
    fn check_writable(&self) -> Result<(), StoreError> {
        self.lease.check()
    }

    fn commit(&self, batch: Batch, took: &mut Commit) -> Result<(), StoreError> {
        let database = Arc::clone(&self.reader.database);
        let writer = Arc::clone(&self.writer);
        let parameters = Parameters::new(batch, self.lease.epoch);
        let work = async move {
            let mut writer = writer.lock().await;
            commit(&database, &mut writer, &parameters).await
        };
        let parts = self.reader.database.wait(work)?;
        (took.applied, took.synced) = (parts.applied, parts.synced);
        Ok(())
    }

    fn finish(&self) -> Result<(), StoreError> {
        self.lease.release();
        Ok(())
    }

    fn corrupt(&self, damage: String) -> StoreError {
        damaged(&self.reader.database.place, damage)
    }
}
