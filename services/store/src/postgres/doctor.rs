//! What `arena doctor` asks a server.

use super::{address::Address, database::Database};
use crate::{StoreError, location::ServerReport};

/// Connects to a server, checks its settings, and lists its standbys.
///
/// # Errors
/// `Unsuitable` for an invalid URL or a server that can lose results, or an error of the
/// connection.
pub fn describe_postgres(url: &str) -> Result<ServerReport, StoreError> {
    let database = Database::start(Address::parse(url)?)?;
    database.once("ask", |client| async move {
        let version = "SELECT current_setting('server_version')";
        let version = client.query_typed_one(version, &[]).await?.get(0);
        let standbys = "SELECT coalesce(nullif(application_name, ''), client_addr::text, 'unnamed'), \
            coalesce(sync_state, 'unknown') FROM pg_stat_replication ORDER BY 1";
        let standbys = client.query_typed(standbys, &[]).await?;
        let standbys = standbys.iter().map(|row| (row.get(0), row.get(1)));
        Ok(ServerReport {
            version,
            standbys: standbys.collect(),
        })
    })
}
