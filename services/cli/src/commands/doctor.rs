//! `arena doctor`

mod checks;

use std::{path::PathBuf, time::Duration};

use arena_wire::v1::{self, coordinator_service_client::CoordinatorServiceClient};
use clap::Args;
use serde::Serialize;

use crate::{access::CredentialFlags, failure::Outcome, output};

/// Time for the coordinator to answer.
const ANSWER: Duration = Duration::from_secs(3);

/// Show what this machine can do for a worker, and how to improve it
#[derive(Debug, Args)]
#[command(after_help = "\
Checks the levels of the sandbox, tokens that agents can read, cores, clock, limits, disk,
coordinator, Python and Node, and the database of a coordinator with --store. Each problem has a
remedy. The exit code is 0 also if there are problems.

Examples:
  arena doctor
  arena doctor --coordinator http://10.0.0.1:7600 --disk /var/lib/arena
  arena doctor --json")]
pub(crate) struct DoctorArgs {
    /// URL of the coordinator to reach
    #[arg(
        long,
        env = "ARENA_COORDINATOR",
        value_name = "URL",
        default_value = "http://127.0.0.1:7600"
    )]
    coordinator: String,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// URL of a PostgreSQL database that is to be a store, as for `arena coordinator --store`
    #[arg(long, env = "ARENA_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,

    /// Folder of the disk to measure, such as the data folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    disk: PathBuf,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// As it should be.
    Good,
    /// It works, but worse than it could.
    Poor,
    /// It is missing.
    Missing,
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    /// What was found.
    found: String,
    /// What to do; empty if nothing.
    remedy: String,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Good,
            found: found.into(),
            remedy: String::new(),
        }
    }

    fn bad(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            name,
            state,
            found: found.into(),
            remedy: remedy.into(),
        }
    }
}

/// Asks a database whether it keeps what it acknowledges.
fn database(url: &str) -> Check {
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

impl DoctorArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut all = checks::of_machine(&self.disk)?;
        all.push(self.reach().await);
        if let Some(url) = self.store {
            let check = tokio::task::spawn_blocking(move || database(&url)).await;
            all.extend(check.ok());
        }
        if self.json {
            return output::json(&all);
        }
        let mut text = String::new();
        for check in &all {
            let state = match check.state {
                State::Good => "good",
                State::Poor => "poor",
                State::Missing => "missing",
            };
            text += &format!("{state:8} {:15} {}\n", check.name, check.found);
            if !check.remedy.is_empty() {
                text += &format!("{:24} remedy: {}\n", "", check.remedy);
            }
        }
        output::write(&text)
    }

    /// Asks the coordinator for its workers.
    async fn reach(&self) -> Check {
        let name = "coordinator";
        let url = &self.coordinator;
        let missing = |found: String| {
            let remedy = "start `arena coordinator`, name another one with --coordinator URL, or \
                          give a token with --token-file";
            Check::bad(name, State::Missing, found, remedy)
        };
        let credentials = match self.credentials.read() {
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
}
