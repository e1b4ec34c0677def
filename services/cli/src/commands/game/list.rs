//! `arena game list`

use arena_client::game::list::{FaultFilter, GameQuery, GameResult, Order, fault_kind};
use arena_report::game_list::listing;
use clap::Args;

use crate::{
    access::{AccessArgs, Client},
    failure::Outcome,
    output::{self, Format, note},
};

/// List the finished games of a tournament
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena game list demo-3f9a0c1b22
  arena game list @last --agent mine --result loss
  arena game list @last --agent mine --fault any
  arena game list @last --sort plies --limit 5
  arena game list demo-3f9a0c1b22 --from 1000 --limit 50 --output jsonl")]
pub(crate) struct ListArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// List only games of this agent; if repeated, only games in which all these agents
    /// played
    #[arg(long, value_name = "NAME")]
    agent: Vec<String>,

    /// List only games that the first --agent won, drew (shared first place) or lost;
    /// void: games that could not be played
    #[arg(long, value_enum, value_name = "RESULT")]
    result: Option<GameResult>,

    /// List only games with a fault of this kind, such as timeout, or `any`; with
    /// --agent, a fault of the first agent
    #[arg(long, value_name = "KIND", value_parser = fault_kind)]
    fault: Option<FaultFilter>,

    /// Sort by index, or by plies with the longest games first
    #[arg(long, value_enum, default_value_t)]
    sort: Order,

    /// Reverse the order
    #[arg(long)]
    reverse: bool,

    /// Index of the first game to show
    #[arg(long, default_value_t = 0, value_name = "INDEX")]
    from: u64,

    /// Number of games to show
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    limit: u32,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl ListArgs {
    pub(crate) async fn run(self) -> Outcome {
        let query = GameQuery {
            id: self.id,
            agents: self.agent,
            result: self.result,
            fault: self.fault,
            sort: self.sort,
            reverse: self.reverse,
            from: self.from,
            limit: self.limit,
        };
        let mut access = self.access.open().await?;
        let outcome = list(&mut access.client, &query, self.output).await;
        outcome.and(access.close().await)
    }
}

async fn list(client: &mut Client, query: &GameQuery, format: Format) -> Outcome {
    let found = query.find(client).await?;
    let empty = match query.has_filter() {
        true => "no finished game matches",
        false => "no finished games in that range",
    };
    output::print(&listing(&found.rules, &found.games, empty), format)?;
    if format == Format::Table {
        found.remark(query).into_iter().for_each(note);
    }
    Ok(())
}
