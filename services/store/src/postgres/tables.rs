//! The tables that people query.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio_postgres::{Client, Row, types::Type};

use super::database::{Database, Failure};
use crate::{
    StoreError,
    tables::{Replaced, Table, TableChange, TableState, Tables},
};

/// The tables of a database, for the owner with this epoch.
pub(crate) struct PostgresTables {
    database: Arc<Database>,
    epoch: i64,
    /// Connection for writing, which needs transactions.
    session: Arc<Mutex<Option<Client>>>,
}

impl PostgresTables {
    pub(crate) fn new(database: Arc<Database>, epoch: i64) -> Self {
        Self {
            database,
            epoch,
            session: Arc::default(),
        }
    }
}

/// Name of a table.
fn name(table: Table) -> &'static str {
    match table {
        Table::Tournaments => "arena.tournaments",
        Table::Standings => "arena.standings",
        Table::Agents => "arena.agents",
        Table::Games => "arena.games",
    }
}

/// The statement that inserts rows of JSON.
fn insertion(table: Table) -> String {
    let time = |column: &str| format!("to_timestamp({column} / 1e6)");
    let columns = match table {
        Table::Standings | Table::Games => {
            return format!(
                "INSERT INTO {0} SELECT * FROM json_populate_recordset(NULL::{0}, $1::text::json) \
                 ON CONFLICT DO NOTHING",
                name(table)
            );
        }
        Table::Tournaments => format!(
            "tournament, name, ruleset, format, state, owner, {}, {}, generation, games_total, \
             games_done, clock_timestamp() FROM json_to_recordset($1::text::json) AS rows \
             (tournament text, name text, ruleset text, format text, state text, owner text, \
             created_us bigint, finished_us bigint, generation integer, games_total bigint, \
             games_done bigint)",
            time("created_us"),
            time("finished_us")
        ),
        Table::Agents => format!(
            "agent, version, kind, bot, content, owner, {} \
             FROM json_to_recordset($1::text::json) AS rows (agent text, version text, kind text, \
             bot text, content text, owner text, registered_us bigint)",
            time("registered_us")
        ),
    };
    format!(
        "INSERT INTO {} SELECT {columns} ON CONFLICT DO NOTHING",
        name(table)
    )
}

/// Makes the changes in one transaction. Returns false if another process owns the store.
async fn write(client: &mut Client, epoch: i64, changes: &[TableChange]) -> Result<bool, Failure> {
    let transaction = client.transaction().await?;
    let fence = "SELECT epoch FROM arena.owner WHERE shard = 0 FOR SHARE";
    let owner: i64 = transaction.query_typed_one(fence, &[]).await?.get(0);
    if owner != epoch {
        return Ok(false);
    }
    for change in changes {
        let table = name(change.table);
        match &change.replaced {
            Replaced::None => {}
            Replaced::All => {
                let remove = format!("DELETE FROM {table}");
                transaction.execute_typed(&remove, &[]).await?;
            }
            Replaced::Tournament(id) => {
                let remove = format!("DELETE FROM {table} WHERE tournament = $1");
                transaction
                    .execute_typed(&remove, &[(id, Type::TEXT)])
                    .await?;
            }
        }
        transaction
            .execute_typed(&insertion(change.table), &[(&change.rows, Type::TEXT)])
            .await?;
    }
    // A copy that is lost with a power cut is written again.
    transaction
        .batch_execute("SET LOCAL synchronous_commit = off")
        .await?;
    transaction.commit().await?;
    Ok(true)
}

impl Tables for PostgresTables {
    fn tournaments(&self) -> Result<BTreeMap<String, TableState>, StoreError> {
        self.database
            .once("read the tables of", |client| async move {
                let states =
                    "SELECT tournament, state, generation, games_done FROM arena.tournaments";
                let rows = client.query_typed(states, &[]).await?;
                let state = |row: &Row| {
                    let state = TableState {
                        state: row.get(1),
                        generation: row.get::<_, i32>(2) as u32,
                        games: row.get::<_, i64>(3) as u64,
                    };
                    (row.get(0), state)
                };
                Ok(rows.iter().map(state).collect())
            })
    }

    fn games(&self, tournament: &str) -> Result<u64, StoreError> {
        let id = tournament.to_owned();
        self.database
            .once("read the tables of", |client| async move {
                let count = "SELECT count(*) FROM arena.games WHERE tournament = $1";
                let found = client.query_typed_one(count, &[(&id, Type::TEXT)]).await?;
                Ok(found.get::<_, i64>(0) as u64)
            })
    }

    fn write(&self, changes: Vec<TableChange>) -> Result<(), StoreError> {
        let (database, epoch) = (Arc::clone(&self.database), self.epoch);
        let session = Arc::clone(&self.session);
        self.database.wait(async move {
            let written = async {
                let open = session.lock().take();
                let mut client = match open.filter(|client| !client.is_closed()) {
                    Some(client) => client,
                    None => database.connect().await?,
                };
                let is_owner = write(&mut client, epoch, &changes).await?;
                *session.lock() = Some(client);
                match is_owner {
                    true => Ok(()),
                    false => Err(Failure::Store(StoreError::TakenOver {
                        place: database.place.clone(),
                    })),
                }
            };
            let written = written.await;
            written.map_err(|failure| failure.at("write the tables of", &database.place))
        })
    }
}
