//! Commits: one transaction each, which fails if another process has taken over.

use tokio_postgres::{Client, Statement, types::ToSql};

use super::{
    database::{Database, Failure, Reconnect, damaged},
    reader::{CHAIN, chain, split},
};
use crate::{
    Commit, StoreError,
    backend::{Acknowledged, Batch},
    packing::pack,
    writer::Step,
};

/// A connection with prepared statements.
pub(super) struct WriterSession {
    client: Client,
    fence: Statement,
    chain: Statement,
    packs: Statement,
    put: Statement,
    remove: Statement,
}

impl WriterSession {
    async fn open(database: &Database) -> Result<Self, Failure> {
        let client = database.connect().await?;
        let (fence, chain, packs, put, remove) = tokio::try_join!(
            client.prepare("SELECT epoch FROM arena.owner WHERE shard = 0 FOR SHARE"),
            client.prepare(
                "UPDATE arena.chain SET packs = $1, games = $2, link = $3, document_version = $4, \
                 document_count = $5, document_digest = $6 WHERE shard = 0 AND packs = $7 \
                 AND link = $8 AND document_version = $9 AND document_digest = $10",
            ),
            client.prepare(
                "INSERT INTO arena.pack SELECT 0, seq, $1, link, body \
                 FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS new (seq, link, body)",
            ),
            client.prepare(
                "INSERT INTO arena.document \
                 SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bytea[]) \
                 ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value",
            ),
            client.prepare(
                "DELETE FROM arena.document USING unnest($1::smallint[], $2::bytea[]) \
                 AS gone (collection, key) \
                 WHERE document.collection = gone.collection AND document.key = gone.key",
            ),
        )?;
        Ok(Self {
            client,
            fence,
            chain,
            packs,
            put,
            remove,
        })
    }
}

/// The parameters of a commit.
pub(super) struct Parameters {
    epoch: i64,
    before: Acknowledged,
    after: Acknowledged,
    sequences: Vec<i64>,
    links: Vec<Vec<u8>>,
    bodies: Vec<Vec<u8>>,
    put: (Vec<i16>, Vec<Vec<u8>>, Vec<Vec<u8>>),
    removed: (Vec<i16>, Vec<Vec<u8>>),
}

impl Parameters {
    pub(super) fn new(batch: Batch, epoch: i64) -> Self {
        let mut it = Self {
            epoch,
            before: batch.before,
            after: batch.after,
            sequences: Vec::new(),
            links: Vec::new(),
            bodies: Vec::new(),
            put: Default::default(),
            removed: Default::default(),
        };
        for pack in batch.packs {
            it.sequences.push(pack.sequence as i64);
            it.links.push(pack::link(&pack.bytes).to_vec());
            it.bodies.push(pack.bytes);
        }
        for (key, value) in batch.documents {
            let (collection, key) = split(&key);
            match value {
                Some(value) => {
                    it.put.0.push(collection);
                    it.put.1.push(key);
                    it.put.2.push(value);
                }
                None => {
                    it.removed.0.push(collection);
                    it.removed.1.push(key);
                }
            }
        }
        it
    }
}

/// What a commit found in the database.
enum Written {
    Held,
    /// The epoch is another one.
    TakenOver,
    /// The chain does not end where it ended for this writer.
    Other,
}

/// Makes a batch durable, however often the connection is lost meanwhile.
pub(super) async fn commit(
    database: &Database,
    writer: &mut Option<WriterSession>,
    it: &Parameters,
) -> Result<Commit, StoreError> {
    let mut took = Commit::default();
    let mut reconnect = Reconnect::begin();
    let mut in_doubt = false;
    loop {
        let attempt = async {
            let session = match writer.take() {
                Some(session) if !session.client.is_closed() => session,
                _ => WriterSession::open(database).await?,
            };
            if in_doubt && holds(&session, it).await? {
                *writer = Some(session);
                return Ok(Written::Held);
            }
            in_doubt = true;
            let written = write(&session, it, &mut took).await?;
            *writer = Some(session);
            Ok(written)
        };
        match attempt.await {
            Ok(Written::Held) => return Ok(took),
            Ok(Written::TakenOver) => {
                return Err(StoreError::TakenOver {
                    place: database.place.clone(),
                });
            }
            Ok(Written::Other) => {
                return Err(damaged(
                    &database.place,
                    "it lacks acknowledged results, or another process wrote to it".to_owned(),
                ));
            }
            Err(failure) => reconnect.wait(failure, "write", &database.place).await?,
        }
    }
}

/// Writes a batch in one transaction. The first statement is the fence: it waits for a process
/// that takes over, and keeps others waiting until the commit.
async fn write(
    session: &WriterSession,
    it: &Parameters,
    took: &mut Commit,
) -> Result<Written, Failure> {
    let mut step = Step::begin();
    let client = &session.client;
    let number = |number: u64| number as i64;
    let (before, after) = (&it.before, &it.after);
    let (packs, games) = (number(after.tip.packs), number(after.tip.games));
    let (version, count) = (
        number(after.documents.version),
        number(after.documents.count),
    );
    let (old_packs, old_version) = (number(before.tip.packs), number(before.documents.version));
    let digests = [
        &after.tip.link[..],
        &after.documents.digest,
        &before.tip.link,
        &before.documents.digest,
    ];
    let chain: [&(dyn ToSql + Sync); 10] = [
        &packs,
        &games,
        &digests[0],
        &version,
        &count,
        &digests[1],
        &old_packs,
        &digests[2],
        &old_version,
        &digests[3],
    ];
    // All statements are sent at once.
    let (_, fence, chain, (), (), ()) = tokio::try_join!(
        client.batch_execute("BEGIN"),
        client.query_one(&session.fence, &[]),
        client.execute(&session.chain, &chain),
        async {
            if !it.sequences.is_empty() {
                let values: [&(dyn ToSql + Sync); 4] =
                    [&it.epoch, &it.sequences, &it.links, &it.bodies];
                client.execute(&session.packs, &values).await?;
            }
            Ok(())
        },
        async {
            if !it.put.0.is_empty() {
                let (collections, keys, values) = &it.put;
                client
                    .execute(&session.put, &[collections, keys, values])
                    .await?;
            }
            Ok(())
        },
        async {
            if !it.removed.0.is_empty() {
                let (collections, keys) = &it.removed;
                client
                    .execute(&session.remove, &[collections, keys])
                    .await?;
            }
            Ok(())
        },
    )?;
    let verdict = match (fence.get::<_, i64>(0) == it.epoch, chain) {
        (true, 1) => Written::Held,
        (false, _) => Written::TakenOver,
        (true, _) => Written::Other,
    };
    took.applied += step.next();
    let end = match verdict {
        Written::Held => "COMMIT",
        Written::TakenOver | Written::Other => "ROLLBACK",
    };
    client.batch_execute(end).await?;
    took.synced += step.next();
    Ok(verdict)
}

/// Whether a commit of which the answer was lost took place. The lock waits for a transaction that
/// has not ended.
async fn holds(session: &WriterSession, it: &Parameters) -> Result<bool, Failure> {
    let locked = format!("{CHAIN} FOR UPDATE");
    let found = session.client.query_one(&locked, &[]).await?;
    Ok(chain(&found) == Some(it.after))
}
