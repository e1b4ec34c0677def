//! `arena tournament agents …`

use arena_report::{
    standings::{season, sound::check_sound},
    units,
};
use arena_wire::v1::{self, AgentChangeKind};
use clap::{Args, Subcommand};
use serde_json::json;

use super::OneArgs;
use crate::{
    access::{AccessArgs, Client, request_id},
    failure::Outcome,
    ids,
    output::{self, Format, note},
};

/// Add, replace, bench and ban agents of an open ladder while it runs
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents of an open ladder with their ratings
    #[command(after_help = "\
A rating is estimated from the games of the agent and, if it replaced another one, from
that agent's rating. 0 is the mean of the active agents. The rating of an agent that was
replaced or banned is the one at that time.

Examples:
  arena tournament agents list season-3f9a0c1b22
  arena tournament agents list @last --output json")]
    List(OneArgs),
    /// Add an agent, or let a benched one play again
    #[command(after_help = "\
Examples:
  arena tournament agents add season-3f9a0c1b22 my-agent
  arena tournament agents add season-3f9a0c1b22 greedy --at-blocks 2000")]
    Add(ChangeArgs),
    /// Let a new version of an agent, or another agent, play instead of it
    #[command(after_help = "\
The new version is what is registered under the name of the agent now: first register it
with `arena agent register --replace`. It gets a name of its own, such as my-agent-v2, and
begins with the rating of the old one, which is less certain for it.

Examples:
  arena tournament agents replace season-3f9a0c1b22 my-agent
  arena tournament agents replace season-3f9a0c1b22 my-agent --with other-agent")]
    Replace(ReplaceArgs),
    /// Schedule no more games of an agent, until it is added again
    #[command(after_help = "\
Examples:
  arena tournament agents bench season-3f9a0c1b22 my-agent
  arena tournament agents add season-3f9a0c1b22 my-agent")]
    Bench(ChangeArgs),
    /// Schedule no more games of an agent, for good
    #[command(after_help = "\
The games that it has played count. Standings show the reason.

Examples:
  arena tournament agents ban season-3f9a0c1b22 my-agent --reason \"reads other processes\"")]
    Ban(BanArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    /// Name of the agent
    agent: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Number of scheduled blocks from which on the change applies [default: with the next stage]
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u64).range(1..))]
    at_blocks: Option<u64>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ReplaceArgs {
    #[command(flatten)]
    change: ChangeArgs,

    /// Registered agent or built-in bot that plays instead [default: the same agent, as it is
    /// registered now]
    #[arg(long, value_name = "AGENT")]
    with: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BanArgs {
    #[command(flatten)]
    change: ChangeArgs,

    /// Reason, which standings show
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl AgentsCommand {
    pub(crate) fn access(&self) -> &AccessArgs {
        match self {
            Self::List(args) => &args.access,
            Self::Add(change) | Self::Bench(change) => &change.access,
            Self::Replace(args) => &args.change.access,
            Self::Ban(args) => &args.change.access,
        }
    }

    pub(crate) async fn run(self, client: &mut Client) -> Outcome {
        let none = String::new;
        match self {
            Self::List(args) => args.list(client).await,
            Self::Add(args) => {
                args.change(client, AgentChangeKind::Add, none(), none())
                    .await
            }
            Self::Bench(args) => {
                let kind = AgentChangeKind::Bench;
                args.change(client, kind, none(), none()).await
            }
            Self::Replace(ReplaceArgs { change, with }) => {
                let (kind, with) = (AgentChangeKind::Replace, with.unwrap_or_default());
                change.change(client, kind, with, none()).await
            }
            Self::Ban(BanArgs { change, reason }) => {
                let kind = AgentChangeKind::Ban;
                change.change(client, kind, none(), reason).await
            }
        }
    }
}

impl ChangeArgs {
    async fn change(
        self,
        client: &mut Client,
        kind: AgentChangeKind,
        with: String,
        reason: String,
    ) -> Outcome {
        let id = ids::tournament(client, &self.id).await?;
        let request = v1::ChangeAgentsRequest {
            request_id: request_id(),
            tournament_id: id.clone(),
            kind: kind.into(),
            agent: self.agent,
            with,
            reason,
            at_blocks: self.at_blocks.unwrap_or_default(),
        };
        let changed = client.change_agents(request).await?.into_inner();
        let (agent, at_blocks) = (changed.entry, changed.at_blocks);
        match self.output {
            Format::Json | Format::Jsonl => output::json_line(&json!({
                "tournament_id": id,
                "agent": agent,
                "at_blocks": at_blocks,
            })),
            Format::Csv => output::write(&format!("agent,at_blocks\n{agent},{at_blocks}\n")),
            Format::Table => {
                output::write(&format!("{agent}\n"))?;
                let blocks = units::count(at_blocks);
                note(match kind {
                    AgentChangeKind::Bench | AgentChangeKind::Ban => {
                        format!("{agent} gets no games of blocks from {blocks} on")
                    }
                    _ => format!("{agent} gets games of blocks from {blocks} on"),
                });
                Ok(())
            }
        }
    }
}

impl OneArgs {
    async fn list(self, client: &mut Client) -> Outcome {
        let request = v1::GetStandingsRequest {
            tournament_id: ids::tournament(client, &self.id).await?,
            ..v1::GetStandingsRequest::default()
        };
        let standings = client.get_standings(request).await?.into_inner();
        let standings = standings.standings.unwrap_or_default();
        output::print(&season::listing(&standings), self.output)?;
        Ok(check_sound(&standings)?)
    }
}
