//! Queries endpoints before a tournament starts.

use std::{collections::BTreeMap, time::Duration};

use arena_wire::v1::{self, agent_service_client::AgentServiceClient, agent_setup::Source};
use tokio::time;
use tonic::{Code, transport::Endpoint};

use crate::{agents::Agents, error::Error, plan::Plan};

/// Maximum time for an endpoint to connect and to describe itself.
const WAIT: Duration = Duration::from_secs(5);

/// Queries each endpoint of a planned tournament, and fails if its description is not the
/// registered one. Returns a note for each endpoint that cannot be reached from here; workers may
/// still reach it.
pub(super) async fn ask(plan: &Plan, agents: &Agents) -> Result<Vec<String>, Error> {
    let endpoints: BTreeMap<_, _> = { plan.setup.agents.iter() }
        .filter_map(|agent| match &agent.source {
            Some(Source::Endpoint(endpoint)) => Some((&endpoint.name, &endpoint.url)),
            _ => None,
        })
        .collect();
    let mut asking = Vec::new();
    for (name, url) in endpoints {
        let at = url.clone();
        let answer = tokio::spawn(async move { describe(&at).await });
        asking.push((name, url, answer));
    }
    let mut notes = Vec::new();
    for (name, url, answer) in asking {
        let registered = agents.get(name).and_then(|agent| agent.description);
        let now = answer.await.unwrap_or_else(|error| Err(error.to_string()));
        match (registered, now) {
            (Some(registered), Ok(now)) if registered != now => {
                return Err(Error::EndpointChanged {
                    agent: name.clone(),
                    url: url.clone(),
                    change: change(&registered, &now),
                });
            }
            (_, Ok(_)) => {}
            (_, Err(problem)) => notes.push(format!(
                "could not query endpoint {url} of agent \"{name}\" to compare it with its \
                 registration: {problem}"
            )),
        }
    }
    Ok(notes)
}

fn change(registered: &v1::DescribeResponse, now: &v1::DescribeResponse) -> String {
    let program = |it: &v1::DescribeResponse| format!("\"{} {}\"", it.name, it.version);
    let (before, after) = (program(registered), program(now));
    if before == after {
        format!("{after} offers other bots or options than at its registration")
    } else {
        format!("it is now {after}, but was {before} at its registration")
    }
}

async fn describe(url: &str) -> Result<v1::DescribeResponse, String> {
    let answer = async {
        let endpoint = Endpoint::from_shared(url.to_owned())?;
        let channel = endpoint.connect_timeout(WAIT).connect().await?;
        let mut client = AgentServiceClient::new(channel);
        Ok::<_, tonic::transport::Error>(client.describe(v1::DescribeRequest {}).await)
    };
    match time::timeout(WAIT, answer).await {
        Ok(Ok(Ok(answer))) => Ok(answer.into_inner()),
        // It has one bot, which plays every ruleset.
        Ok(Ok(Err(status))) if status.code() == Code::Unimplemented => {
            Ok(v1::DescribeResponse::default())
        }
        Ok(Ok(Err(status))) => Err(status.message().to_owned()),
        Ok(Err(error)) => Err(causes(&error)),
        Err(_) => Err(format!("no answer within {} s", WAIT.as_secs())),
    }
}

/// An error with its causes; the text of tonic is only "transport error".
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
