//! `arena events …`

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arena_model::printable_json;
use arena_wire::v1::{self, admin_service_client::AdminServiceClient};
use clap::{Args, Subcommand};

use crate::{
    access::{self, AccessArgs},
    failure::{Failure, Outcome},
    output,
};

/// Show the audit trail: who did what, and what was refused
#[derive(Debug, Subcommand)]
pub(crate) enum EventsCommand {
    /// List events as JSON lines, oldest first
    #[command(after_help = "\
An event has the id of the token, its role and address, the method, what it was done to, and
the outcome: the status code in code, and the reason of a failure in reason. (outcome has the
reason of what was refused at the door, else the code.) That of a registration says what was
replaced. Refusals are counted by caller, method and reason: the first is written at once, the
number of further ones after a minute, and then ever more seldom. Callers that showed nothing
valid are counted by address; if there are many, the rest have the peer others. Each line has
the hash of the line before. The exit code is 3 if a line was changed or removed, also at the
end: the store has the last one, at most ten seconds late. Without a coordinator, the trail is
in the data folder: events.jsonl, and earlier files of 64 MiB each with the number of their
first event in their names.

Examples:
  arena events list --since 1h
  arena events list --since 7d --coordinator https://arena.example:7600 | jq .method")]
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Age of the oldest event to show, such as 1h or 7d [default: all]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    since: Option<Duration>,

    #[command(flatten)]
    access: AccessArgs,
}

impl EventsCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::List(args) => args.run().await,
        }
    }
}

impl ListArgs {
    async fn run(self) -> Outcome {
        let since = self
            .since
            .and_then(|age| SystemTime::now().checked_sub(age));
        let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let access = self.access.open().await?;
        let listed = list(&access, since.unwrap_or_default()).await;
        listed.and(access.close().await)
    }
}

async fn list(access: &access::Access, since: Duration) -> Outcome {
    let connection = access::connect(&access.url, &access.credentials).await?;
    let request = v1::ListEventsRequest {
        since_unix_us: since.as_micros() as u64,
    };
    let events = AdminServiceClient::new(connection)
        .list_events(request)
        .await?;
    let mut events = events.into_inner();
    loop {
        match events.message().await {
            Ok(Some(event)) => output::write(&format!("{}\n", printable_json(&event.line)))?,
            Ok(None) => return Ok(()),
            Err(status) if status.code() == tonic::Code::DataLoss => {
                return Err(Failure::differs(format!(
                    "the audit trail: {}",
                    status.message()
                )));
            }
            Err(status) => return Err(status.into()),
        }
    }
}
