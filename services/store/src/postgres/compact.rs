//! Compaction of a database: new packs are written into a table of their own, and replace
//! the old ones in one transaction.

use std::sync::Arc;

use tokio_postgres::{Client, types::Type};

use super::{
    database::{Database, Failure, damaged},
    reader::{Reader, size},
    store::{PostgresStore, Standby},
};
use crate::{
    Change, CompactReport, Options, PostgresOptions, Selection, Store, StoreError, StoredGame,
    backend::{Acknowledged, Entries, Found, Tree},
    compact::content::{Content, DIFFERS, dropped},
    documents,
    error::At,
    location::Holder,
    packing::{
        pack::{self, Tip},
        packer::Packer,
    },
    repair::walk::{Item, walk},
};

/// The table for the new packs.
const COMPACTED: &str = "arena.pack_compacted";
/// Games that are packed at once.
const GAMES: usize = 1024;
/// Documents that are removed at once.
const DOCUMENTS: usize = 256;

/// As [`compact`](crate::compact), for the database of a URL.
pub(crate) fn compact(
    url: &str,
    selection: &mut dyn Selection,
) -> Result<CompactReport, StoreError> {
    let local = tempfile::tempdir().at("make a folder in", &std::env::temp_dir())?;
    let defaults = Options::default();
    let options = PostgresOptions {
        data: local.path().to_owned(),
        holder: Holder {
            name: "arena store compact".to_owned(),
            address: None,
        },
        queue_games: defaults.queue_games,
        queue_bytes: defaults.queue_bytes,
    };
    let store = Standby::connect(url, options)?.own_alone()?;
    let compacted = compact_owned(&store, selection);
    // The lease ends, and nothing more is written.
    let closed = store.close();
    let report = compacted?;
    closed?;
    Ok(report)
}

fn compact_owned(
    store: &PostgresStore,
    selection: &mut dyn Selection,
) -> Result<CompactReport, StoreError> {
    let database = &store.database;
    let measure = || database.call("measure", |client| async move { size(&client).await });
    database.call("clear", |client| async move {
        let clear = format!("DROP TABLE IF EXISTS {COMPACTED}");
        Ok(client.batch_execute(&clear).await?)
    })?;
    let bytes_before = measure()?;
    let mut keys = Vec::new();
    store.core.shared.db.visit(Tree::Documents, &[], |key, _| {
        if let Some((collection, name)) = documents::parse_key(&key) {
            selection.document(collection, name);
            keys.push((collection, name.to_owned()));
        }
        true
    })?;
    let games_removed = dropped(&store.core.index(), selection);
    let mut report = CompactReport {
        path: store.place().into(),
        games: store.core.index().games() - games_removed,
        games_removed,
        bytes_before,
        bytes_after: bytes_before,
    };
    if games_removed == 0 {
        return Ok(report);
    }
    keys.retain(|(collection, key)| !selection.keeps_document(*collection, key));
    // They help only to start faster, so they may be gone before the packs are.
    for keys in keys.chunks(DOCUMENTS) {
        let change = |(collection, key): &(_, String)| Change {
            collection: *collection,
            key: key.clone(),
            value: None,
        };
        store.core.put_many(keys.iter().map(change).collect())?;
    }
    let before = store.core.shared.db.reader.acknowledged()?;
    let before = before.acknowledged().ok_or_else(|| {
        damaged(
            &database.place,
            "the end of the chain is missing".to_owned(),
        )
    })?;
    let epoch = store.core.shared.db.lease.epoch;
    let tip = build(database, &before, selection, epoch)?;
    store.core.shared.db.lease.check()?;
    switch(database, &before.tip, &tip, epoch)?;
    report.bytes_after = measure()?;
    Ok(report)
}

/// Writes the packs without the dropped games, reads them again, and compares them. Returns their end.
fn build(
    database: &Arc<Database>,
    before: &Acknowledged,
    selection: &dyn Selection,
    epoch: i64,
) -> Result<Tip, StoreError> {
    let mut expected = Content::default();
    let mut packs = NewPacks::create(database, epoch)?;
    let mut written = Ok(());
    let old = Reader::new(Arc::clone(database));
    let walked = walk(&old, Found::Whole(*before), false, |item| {
        let Item::Pack { .. } = item else {
            return expected.item(&item);
        };
        let mut games = item.games().unwrap_or_default();
        games.retain(|game| selection.keeps_games_of(&game.tournament));
        games.iter().for_each(|game| expected.game(game));
        packs.games.extend(games);
        if written.is_ok() && packs.games.len() >= GAMES {
            written = packs.write();
        }
    });
    written?;
    if !walked.damage_report.is_empty() {
        return Err(damaged(&database.place, walked.damage_report.to_string()));
    }
    packs.write()?;
    let after = Acknowledged {
        tip: packs.tip,
        documents: before.documents,
    };
    let new = Reader::with_packs(Arc::clone(database), COMPACTED);
    let mut found = Content::default();
    let walked = walk(&new, Found::Whole(after), false, |item| found.item(&item));
    if !walked.damage_report.is_empty() {
        return Err(damaged(COMPACTED, walked.damage_report.to_string()));
    }
    match found == expected {
        true => Ok(after.tip),
        false => Err(damaged(&database.place, DIFFERS.to_owned())),
    }
}

/// The new packs, as they are written.
struct NewPacks {
    database: Arc<Database>,
    session: Arc<Client>,
    epoch: i64,
    packer: Packer,
    tip: Tip,
    games: Vec<StoredGame>,
}

impl NewPacks {
    fn create(database: &Arc<Database>, epoch: i64) -> Result<Self, StoreError> {
        let (connecting, place) = (Arc::clone(database), database.place.clone());
        let session = database.wait(async move {
            let created = async {
                let client = connecting.connect().await?;
                let create = format!("CREATE TABLE {COMPACTED} (LIKE arena.pack INCLUDING ALL)");
                client.batch_execute(&create).await?;
                Ok::<_, Failure>(client)
            };
            created
                .await
                .map_err(|failure| failure.at("create a table in", &place))
        })?;
        Ok(Self {
            packer: Packer::new().at("make a packer for", database.place.as_ref())?,
            database: Arc::clone(database),
            session: Arc::new(session),
            epoch,
            tip: Tip::default(),
            games: Vec::new(),
        })
    }

    /// Packs and writes the games so far.
    fn write(&mut self) -> Result<(), StoreError> {
        let games = std::mem::take(&mut self.games);
        let (mut numbers, mut links, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        let mut left = &games[..];
        while !left.is_empty() {
            let (count, encoded) = self.packer.pack(left, &self.tip);
            numbers.push(self.tip.packs as i64);
            links.push(pack::link(&encoded.bytes).to_vec());
            bodies.push(encoded.bytes);
            (left, self.tip) = (&left[count..], encoded.tip);
        }
        let (session, epoch, place) = (
            Arc::clone(&self.session),
            self.epoch,
            self.database.place.clone(),
        );
        self.database.wait(async move {
            let insert = format!(
                "INSERT INTO {COMPACTED} SELECT 0, seq, $1, link, body \
                 FROM unnest($2, $3, $4) AS new (seq, link, body)"
            );
            let written = session
                .execute_typed(
                    &insert,
                    &[
                        (&epoch, Type::INT8),
                        (&numbers, Type::INT8_ARRAY),
                        (&links, Type::BYTEA_ARRAY),
                        (&bodies, Type::BYTEA_ARRAY),
                    ],
                )
                .await;
            let written = written.map_err(Failure::from);
            written
                .map_err(|failure| failure.at("write", &place))
                .map(drop)
        })
    }
}

/// Replaces the packs in one transaction, unless another process has taken over. The table itself
/// stays, with its permissions.
fn switch(
    database: &Arc<Database>,
    before: &Tip,
    after: &Tip,
    epoch: i64,
) -> Result<(), StoreError> {
    let place = database.place.clone();
    let connecting = Arc::clone(database);
    let number = |number: u64| number as i64;
    let [packs, games, old] = [after.packs, after.games, before.packs].map(number);
    let [link, old_link] = [after.link.to_vec(), before.link.to_vec()];
    let switched = database.wait(async move {
        let switching = async {
            let client = connecting.connect().await?;
            client
                .batch_execute("BEGIN; LOCK TABLE arena.pack IN ACCESS EXCLUSIVE MODE")
                .await?;
            let fence = "SELECT epoch FROM arena.owner WHERE shard = 0 FOR SHARE";
            let fence = client.query_typed_one(fence, &[]).await?;
            let chain = client
                .execute_typed(
                    "UPDATE arena.chain SET packs = $1, games = $2, link = $3 \
                     WHERE shard = 0 AND packs = $4 AND link = $5",
                    &[
                        (&packs, Type::INT8),
                        (&games, Type::INT8),
                        (&link, Type::BYTEA),
                        (&old, Type::INT8),
                        (&old_link, Type::BYTEA),
                    ],
                )
                .await?;
            let is_ours = fence.get::<_, i64>(0) == epoch && chain == 1;
            let end = match is_ours {
                true => format!(
                    "TRUNCATE arena.pack; INSERT INTO arena.pack SELECT * FROM {COMPACTED}; \
                     DROP TABLE {COMPACTED}; COMMIT"
                ),
                false => "ROLLBACK".to_owned(),
            };
            client.batch_execute(&end).await?;
            Ok::<_, Failure>(is_ours)
        };
        switching
            .await
            .map_err(|failure| failure.at("write", &place))
    })?;
    match switched {
        true => Ok(()),
        false => Err(StoreError::TakenOver {
            place: database.place.clone(),
        }),
    }
}
