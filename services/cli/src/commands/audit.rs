//! `arena audit …`

use arena_report::differences;
use arena_wire::{pages::Pages, v1};
use clap::{Args, Subcommand};

use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    ids,
    output::{self, Format},
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
        let (mut found, mut more) = (Vec::new(), Vec::new());
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
                found.extend(page.differences);
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
        let unlisted = match for_programs {
            true => &more[..],
            false => &[],
        };
        output::print(&differences::listing(&found, unlisted), self.output)?;
        for (id, unlisted) in more.into_iter().filter(|_| !for_programs) {
            output::note(format_args!(
                "{unlisted} more games of {id} differ; only 1,000 are stored"
            ));
        }
        Ok(())
    }
}
