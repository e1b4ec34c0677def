//! The checks of a coordinator and of a database.

use std::time::Duration;

use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};

use super::check::{Check, State};
use crate::access::CredentialFlags;

/// Time for the coordinator to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// Asks a database whether it keeps what it acknowledges.
#[must_use]
pub fn database(url: &str) -> Check {
    let name = "database";
    let report = match arena_store::describe_postgres(url) {
        Ok(report) => report,
        Err(error) => {
            let remedy = "name the database as postgres://USER@HOST/DATABASE, and see \
                          deploy/README.md";
            return Check::bad(name, State::Missing, error.to_string(), remedy);
        }
    };
    let version = format!("PostgreSQL {}", report.version);
    let named = |state: &str| {
        let standbys = report.standbys.iter().filter(|(_, of)| of == state);
        let names: Vec<&str> = standbys.map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    };
    let (asynchronous, unknown) = (named("async"), named("unknown"));
    if !asynchronous.is_empty() {
        return Check::bad(
            name,
            State::Poor,
            format!(
                "{version}; the standby {asynchronous} is asynchronous: if it is promoted, it may \
                 lack acknowledged results"
            ),
            "name it in synchronous_standby_names, or never promote it",
        );
    }
    if !unknown.is_empty() {
        return Check::bad(
            name,
            State::Poor,
            format!("{version}; whether the standby {unknown} is synchronous is not shown"),
            "grant pg_monitor to the user of the URL",
        );
    }
    let standbys = match report.standbys.len() {
        0 => "no standbys".to_owned(),
        count => format!("{count} synchronous standbys"),
    };
    Check::good(name, format!("{version}; {standbys}"))
}

/// Asks the coordinator for its workers.
pub async fn coordinator(url: &str, credentials: &CredentialFlags) -> Check {
    let name = "coordinator";
    let missing = |found: String| {
        let remedy = "start `arena coordinator`, name another one with --coordinator URL, or \
                      give a token with --token-file";
        Check::bad(name, State::Missing, found, remedy)
    };
    let credentials = match credentials.read() {
        Ok(credentials) => credentials,
        Err(failure) => return missing(failure.to_string()),
    };
    let connection = match credentials.connect_lazy(url) {
        Ok(connection) => connection,
        Err(error) => return missing(error.to_string()),
    };
    let mut client = CoordinatorServiceClient::new(connection);
    let call = client.list_workers(v1::ListWorkersRequest::default());
    match tokio::time::timeout(ANSWER, call).await {
        Ok(Ok(answer)) => {
            let workers = answer.into_inner().workers_total;
            Check::good(name, format!("{url} answers; it has {workers} workers"))
        }
        Ok(Err(status)) => missing(format!("{url}: {}", status.message())),
        Err(_) => missing(format!("{url}: no answer within {ANSWER:?}")),
    }
}
