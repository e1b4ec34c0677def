//! `arena audit …`

use arena_wire::{pages::Pages, v1};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    ids,
    output::{self, Format, Listing},
};

/// Audits per request.
const PAGE: u32 = 512;

/// List audited games whose two records differ
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List audited games whose two records differ, and the agent whose move differed first
    #[command(after_help = "\
The coordinator audits a share of all games: another worker plays these games again
(arena coordinator --audit-share). The first record is kept. If the records differ,
the list names the agent whose move differed first. With records = \"hash\", Arena
knows only that the records differ. A third worker then plays the game: the worker whose
record it refutes is charged, or the agent if all three records differ.
At most 1,000 games per tournament are listed. The number of further games is printed
below the table, and as {\"tournament_id\", \"unlisted\"} at the end of JSON.

Examples:
  arena audit list
  arena audit list demo-3f9a0c1b22 --output jsonl")]
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Id of a tournament [default: all tournaments]
    id: Option<String>,

    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl AuditCommand {
    pub(crate) async fn run(self) -> Outcome {
        let Self::List(args) = self;
        let mut access = args.access.open().await?;
        let outcome = args.list(&mut access.client).await;
        outcome.and(access.close().await)
    }
}

impl ListArgs {
    async fn list(&self, client: &mut Client) -> Outcome {
        let tournaments = match &self.id {
            Some(id) => vec![ids::tournament(client, id).await?],
            None => {
                let all = ids::all(client).await?;
                all.into_iter().map(|it| it.tournament_id).collect()
            }
        };
        let (mut rows, mut more) = (Vec::new(), Vec::new());
        for id in tournaments {
            let mut request = v1::ListDifferencesRequest {
                tournament_id: id.clone(),
                page_size: PAGE,
                page_token: String::new(),
            };
            let mut read = Pages::default();
            let unlisted = loop {
                let page = client.list_differences(request.clone()).await?.into_inner();
                let goes_on = read.goes_on(&page, page.differences.len(), &page.next_page_token)?;
                rows.extend(page.differences.iter().map(row));
                request.page_token = page.next_page_token;
                if !goes_on {
                    break page.unlisted;
                }
            };
            if unlisted > 0 {
                more.push((id, unlisted));
            }
        }
        let for_programs = matches!(self.output, Format::Json | Format::Jsonl);
        for (id, unlisted) in more.iter().filter(|_| for_programs) {
            let value = json!({ "tournament_id": id, "unlisted": unlisted });
            rows.push((Vec::new(), value));
        }
        let listing = Listing {
            header: vec![
                "game", "event", "agent", "worker", "charged", "durable", "other",
            ],
            rows,
            empty: "no game differed",
        };
        listing.print(self.output)?;
        for (id, unlisted) in more.into_iter().filter(|_| !for_programs) {
            output::note(format_args!(
                "{unlisted} more games of {id} differ; only 1,000 are stored"
            ));
        }
        Ok(())
    }
}

/// The record that a third play confirmed; none if there was no such play.
fn third_play(difference: &v1::Difference) -> Option<&'static str> {
    match difference.third_play() {
        v1::ThirdPlay::Unspecified => None,
        v1::ThirdPlay::Durable => Some("durable"),
        v1::ThirdPlay::Other => Some("other"),
        v1::ThirdPlay::Neither => Some("neither"),
    }
}

/// Who is charged, for people.
fn charged(difference: &v1::Difference) -> String {
    let worker = match third_play(difference) {
        None => return "not settled".to_owned(),
        _ if difference.charges_agent => return format!("agent {}", difference.agent),
        Some("durable") => &difference.worker,
        Some(_) => &difference.durable_worker,
    };
    match &**worker {
        "" => "a worker".to_owned(),
        name => format!("worker {name}"),
    }
}

fn row(difference: &v1::Difference) -> (Vec<String>, serde_json::Value) {
    let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    // Hashes do not show where two games differ.
    let event = (!difference.hash_only).then_some(difference.event);
    let agent = known(&difference.agent);
    let shown = match (&agent, difference.hash_only) {
        (Some(agent), _) => agent.clone(),
        (None, _) if !difference.dice.is_empty() => format!("none: {}", difference.dice),
        (None, true) => "unknown: only hashes are stored".to_owned(),
        (None, false) => String::new(),
    };
    let cells = vec![
        difference.game_id.clone(),
        event.map_or_else(String::new, |event| event.to_string()),
        shown,
        difference.worker.clone(),
        charged(difference),
        difference.durable_hash.clone(),
        difference.other_hash.clone(),
    ];
    let value = json!({
        "game_id": difference.game_id,
        "event": event,
        "agent": agent,
        "dice": known(&difference.dice),
        "worker": difference.worker,
        "durable_worker": known(&difference.durable_worker),
        "third_play": third_play(difference),
        "charges_agent": difference.charges_agent,
        "durable_hash": difference.durable_hash,
        "other_hash": difference.other_hash,
    });
    (cells, value)
}
