//! Migrations: numbered, applied once and in order, never reversed.

use std::sync::Arc;

use tokio_postgres::types::Type;

use super::database::Database;
use crate::StoreError;

/// All migrations of this release. A migration that was released never changes.
const MIGRATIONS: [&str; 2] = [
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
];

/// Locks migrations; any number that no other program uses.
const LOCK: i64 = 0x0061_7265_6e61;

/// Applies the migrations that the database lacks.
pub(crate) fn migrate(database: &Arc<Database>) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i32;
    let found = database.retry("migrate", move |database| async move {
        let mut client = database.connect().await?;
        let transaction = client.transaction().await?;
        // Until the end of the transaction.
        let lock = "SELECT pg_advisory_xact_lock($1)";
        transaction
            .execute_typed(lock, &[(&LOCK, Type::INT8)])
            .await?;
        let exists = "SELECT to_regclass('arena.migration') IS NOT NULL";
        if !transaction
            .query_typed_one(exists, &[])
            .await?
            .get::<_, bool>(0)
        {
            transaction
                .batch_execute(
                    "CREATE SCHEMA IF NOT EXISTS arena; \
                     CREATE TABLE arena.migration (number integer PRIMARY KEY, \
                     applied timestamptz NOT NULL DEFAULT clock_timestamp())",
                )
                .await?;
        }
        let newest = "SELECT coalesce(max(number), 0) FROM arena.migration";
        let found: i32 = transaction.query_typed_one(newest, &[]).await?.get(0);
        for number in found + 1..=known {
            transaction
                .batch_execute(MIGRATIONS[number as usize - 1])
                .await?;
            let applied = "INSERT INTO arena.migration (number) VALUES ($1)";
            transaction
                .execute_typed(applied, &[(&number, Type::INT4)])
                .await?;
        }
        transaction.commit().await?;
        Ok(found)
    })?;
    if found > known {
        return Err(StoreError::NewerVersion {
            path: database.place.clone().into(),
            found: found as u32,
            known: known as u32,
        });
    }
    Ok(())
}

/// The number of the newest migration; none if the database has no store.
pub(crate) fn version(database: &Arc<Database>) -> Result<Option<i32>, StoreError> {
    database.call("read", |client| async move {
        let exists = "SELECT to_regclass('arena.migration') IS NOT NULL";
        if !client.query_typed_one(exists, &[]).await?.get::<_, bool>(0) {
            return Ok(None);
        }
        let newest = "SELECT max(number) FROM arena.migration";
        Ok(client.query_typed_one(newest, &[]).await?.get(0))
    })
}
