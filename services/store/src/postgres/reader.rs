//! Reads the entries of a database.

use std::sync::Arc;

use tokio_postgres::{Client, Row, types::Type};

use super::database::{Database, Failure};
use crate::{
    StoreError,
    backend::{Acknowledged, Entries, Found, Tree},
    documents::Summary,
    packing::pack::{self, Tip},
};

/// Entries that are read at once.
const PAGE: i64 = 128;

/// Reads the entries of a database.
pub(crate) struct Reader {
    pub(crate) database: Arc<Database>,
    /// A session in a transaction, all reads of which see one moment. None: the shared session.
    snapshot: Option<Arc<Client>>,
    /// The table of packs.
    packs: &'static str,
}

/// The table of packs.
const PACKS: &str = "arena.pack";

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

impl Reader {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self::with_packs(database, PACKS)
    }

    /// Reads the packs of another table.
    pub(crate) fn with_packs(database: Arc<Database>, packs: &'static str) -> Self {
        Self {
            database,
            snapshot: None,
            packs,
        }
    }

    /// Reads one moment of a database, while others write to it.
    pub(crate) fn snapshot(database: &Arc<Database>) -> Result<Self, StoreError> {
        let session = {
            let database = Arc::clone(database);
            async move {
                let client = database.connect().await?;
                let begin = "SET idle_in_transaction_session_timeout = 0; \
                             BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                client.batch_execute(begin).await?;
                Ok::<_, Failure>(client)
            }
        };
        let place = database.place.clone();
        let client = database.wait(async move {
            let session = session.await;
            session.map_err(|failure| failure.at("read", &place))
        })?;
        Ok(Self {
            database: Arc::clone(database),
            snapshot: Some(Arc::new(client)),
            packs: PACKS,
        })
    }

    /// Reads, again if the connection was lost.
    fn read<T, F>(
        &self,
        work: impl Fn(Arc<Client>) -> F + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let Some(client) = &self.snapshot else {
            return self.database.call("read", work);
        };
        let (work, place) = (work(Arc::clone(client)), self.database.place.clone());
        self.database
            .wait(async move { work.await.map_err(|failure| failure.at("read", &place)) })
    }

    /// A page of entries from a key on.
    fn page(&self, tree: Tree, from: &[u8]) -> Result<Vec<Entry>, StoreError> {
        match tree {
            Tree::Packs => {
                let from = from.try_into().map_or(0, u64::from_be_bytes) as i64;
                let packs = self.packs;
                self.read(move |client| async move {
                    let select = format!(
                        "SELECT seq, body FROM {packs} WHERE shard = 0 AND seq >= $1 \
                         ORDER BY seq LIMIT $2"
                    );
                    let rows = client
                        .query_typed(&select, &[(&from, Type::INT8), (&PAGE, Type::INT8)])
                        .await?;
                    let entry = |row: &Row| {
                        let sequence: i64 = row.get(0);
                        (pack::key(sequence as u64).to_vec(), row.get(1))
                    };
                    Ok(rows.iter().map(entry).collect())
                })
            }
            Tree::Documents => {
                let (collection, key) = split(from);
                self.read(move |client| {
                    let key = key.clone();
                    async move {
                        let rows = client
                            .query_typed(
                                "SELECT collection, key, value FROM arena.document \
                                 WHERE (collection, key) >= ($1, $2) \
                                 ORDER BY collection, key LIMIT $3",
                                &[
                                    (&collection, Type::INT2),
                                    (&key, Type::BYTEA),
                                    (&PAGE, Type::INT8),
                                ],
                            )
                            .await?;
                        Ok(rows.iter().map(document).collect())
                    }
                })
            }
        }
    }

    /// How far the store has acknowledged.
    pub(crate) fn acknowledged(&self) -> Result<Found, StoreError> {
        let found = self.read(|client| async move { Ok(client.query_typed(CHAIN, &[]).await?) })?;
        Ok(found.first().map_or(Found::Missing, |row| {
            chain(row).map_or(Found::Damaged, Found::Whole)
        }))
    }
}

/// The end of the chain.
pub(super) const CHAIN: &str = "SELECT packs, games, link, document_version, document_count, \
    document_digest FROM arena.chain WHERE shard = 0";

/// Reads a row of [`CHAIN`].
pub(super) fn chain(row: &Row) -> Option<Acknowledged> {
    let number = |column: usize| row.get::<_, i64>(column) as u64;
    let digest = |column: usize| row.get::<_, &[u8]>(column).try_into().ok();
    Some(Acknowledged {
        tip: Tip {
            packs: number(0),
            games: number(1),
            link: digest(2)?,
        },
        documents: Summary {
            version: number(3),
            count: number(4),
            digest: digest(5)?,
        },
    })
}

/// The columns of a document's key in the database.
pub(super) fn split(key: &[u8]) -> (i16, Vec<u8>) {
    match key.split_first() {
        Some((&collection, key)) => (i16::from(collection), key.to_vec()),
        None => (0, Vec::new()),
    }
}

/// A document's key and value.
fn document(row: &Row) -> Entry {
    let collection: i16 = row.get(0);
    let mut key = vec![collection as u8];
    key.extend(row.get::<_, &[u8]>(1));
    (key, row.get(2))
}

impl Entries for Reader {
    type Bytes = Vec<u8>;

    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match tree {
            Tree::Packs => {
                let found = self.page(tree, key)?.into_iter().next();
                Ok(found
                    .filter(|(found, _)| found == key)
                    .map(|(_, pack)| pack))
            }
            Tree::Documents => Ok(self.get_documents(&[key])?.pop().flatten()),
        }
    }

    fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        mut visit: impl FnMut(Vec<u8>, Vec<u8>) -> bool,
    ) -> Result<(), StoreError> {
        let mut from = from.to_vec();
        loop {
            let page = self.page(tree, &from)?;
            let is_last = page.len() < PAGE as usize;
            for (key, value) in page {
                from.clone_from(&key);
                if !visit(key, value) {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
            // The smallest key after this one.
            match tree {
                Tree::Documents => from.push(0),
                Tree::Packs => {
                    let last = from.as_slice().try_into().map_or(0, u64::from_be_bytes);
                    from = pack::key(last + 1).to_vec();
                }
            }
        }
    }

    fn get_documents(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (collections, names): (Vec<i16>, Vec<Vec<u8>>) =
            keys.iter().map(|key| split(key)).unzip();
        let count = keys.len();
        self.read(move |client| {
            let (collections, names) = (collections.clone(), names.clone());
            async move {
                let rows = client
                    .query_typed(
                        "SELECT place, value FROM unnest($1, $2) WITH ORDINALITY \
                         AS wanted (collection, key, place) \
                         JOIN arena.document USING (collection, key)",
                        &[
                            (&collections, Type::INT2_ARRAY),
                            (&names, Type::BYTEA_ARRAY),
                        ],
                    )
                    .await?;
                let mut found = vec![None; count];
                for row in rows {
                    found[row.get::<_, i64>(0) as usize - 1] = Some(row.get(1));
                }
                Ok(found)
            }
        })
    }

    fn visit_packs(
        &self,
        places: &[u32],
        mut visit: impl FnMut(u32, Option<Vec<u8>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // A pack of one large game has a megabyte.
        for places in places.chunks(16) {
            let wanted: Vec<i64> = places.iter().map(|&place| i64::from(place)).collect();
            let mut found = self.read(move |client| {
                let wanted = wanted.clone();
                async move {
                    let rows = client
                        .query_typed(
                            "SELECT seq, body FROM arena.pack WHERE shard = 0 AND seq = ANY($1) \
                             ORDER BY seq DESC",
                            &[(&wanted, Type::INT8_ARRAY)],
                        )
                        .await?;
                    let pack = |row: &Row| (row.get::<_, i64>(0), row.get::<_, Vec<u8>>(1));
                    Ok(rows.iter().map(pack).collect::<Vec<_>>())
                }
            })?;
            for &place in places {
                let pack = found.pop_if(|(sequence, _)| *sequence == i64::from(place));
                visit(place, pack.map(|(_, bytes)| bytes))?;
            }
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.read(|client| async move { size(&client).await })
            .unwrap_or(0)
    }
}

/// Bytes of all tables but those of binaries and those for people.
pub(super) async fn size(client: &Client) -> Result<u64, Failure> {
    let sizes = "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint \
        FROM pg_class WHERE relnamespace = 'arena'::regnamespace AND relkind = 'r' \
        AND relname NOT IN ('binary_chunk', 'tournaments', 'standings', 'agents', 'games')";
    Ok(client.query_typed_one(sizes, &[]).await?.get::<_, i64>(0) as u64)
}
