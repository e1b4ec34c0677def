//! `arena doctor`

use std::path::PathBuf;

use arena_client::doctor::{coordinator, database, of_machine, text};
use clap::Args;

use crate::{access::CredentialFlags, failure::Outcome, output};

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

impl DoctorArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut all = of_machine(&self.disk)?;
        all.push(coordinator(&self.coordinator, &self.credentials).await);
        if let Some(url) = self.store {
            let check = tokio::task::spawn_blocking(move || database(&url)).await;
            all.extend(check.ok());
        }
        if self.json {
            return output::json(&all);
        }
        output::write(&text(&all))
    }
}
