//! Listing, showing and removing agents.

use arena_report::agents;
use arena_wire::{pages::Pages, v1};
use clap::Args;

use crate::{
    access::{AccessArgs, Client, request_id},
    failure::Outcome,
    output::{self, Format},
};

pub(super) use arena_report::agents::{chosen, describe};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    access: AccessArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Name of the agent
    name: String,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the agent
    name: String,

    #[command(flatten)]
    access: AccessArgs,
}

impl ListArgs {
    pub(crate) async fn run(self) -> Outcome {
        // The agents of the papers exist without a data folder.
        let mut access = self.access.open_or_memory().await?;
        let outcome = list(&mut access.client, self.output).await;
        outcome.and(access.close().await)
    }
}

async fn list(client: &mut Client, format: Format) -> Outcome {
    let mut all = Vec::new();
    let mut token = String::new();
    let mut read = Pages::default();
    loop {
        let request = v1::ListAgentsRequest {
            page_size: 200,
            page_token: token,
        };
        let page = client.list_agents(request).await?.into_inner();
        let goes_on = read.goes_on(&page, page.agents.len(), &page.next_page_token)?;
        all.extend(page.agents);
        token = page.next_page_token;
        if !goes_on {
            break;
        }
    }
    output::print(&agents::listing(&all), format)
}

impl ShowArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.list.access.open_or_memory().await?;
        let outcome = self.show(&mut access.client).await;
        outcome.and(access.close().await)
    }

    async fn show(&self, client: &mut Client) -> Outcome {
        let agent = get(client, self.name.clone()).await?;
        match self.list.output {
            Format::Csv => output::print(&agents::options(&agent), Format::Csv),
            other => print(&agent, other),
        }
    }
}

/// Requests an agent by its name.
pub(super) async fn get(client: &mut Client, name: String) -> Outcome<v1::Agent> {
    let answer = client.get_agent(v1::GetAgentRequest { name }).await?;
    Ok(answer.into_inner().agent.unwrap_or_default())
}

/// Prints one agent.
pub(super) fn print(agent: &v1::Agent, format: Format) -> Outcome {
    match format {
        Format::Json => return output::json(&describe(agent)),
        Format::Jsonl => return output::json_line(&describe(agent)),
        Format::Csv => return output::print(&agents::listing([agent]), format),
        Format::Table => {}
    }
    output::write(&agents::text(agent))
}

impl RemoveArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let request = v1::RemoveAgentRequest {
            request_id: request_id(),
            name: self.name.clone(),
        };
        let outcome = access.client.remove_agent(request).await;
        access.close().await?;
        outcome?;
        output::note(format!("removed {}", self.name));
        Ok(())
    }
}
