//! Queries endpoints before a tournament starts.

use std::{collections::BTreeMap, time::Duration};

use arena_model::printable_line;
use arena_wire::{
    networks::{AgentNetworks, causes, is_of_agent},
    v1::{self, agent_service_client::AgentServiceClient, agent_setup::Source},
};
use tokio::time;
use tonic::{Code, transport::Endpoint};

use crate::{agents::Agents, error::Error, plan::Plan};

/// Maximum time for an endpoint to connect and to describe itself.
const WAIT: Duration = Duration::from_secs(5);

/// Queries each endpoint of a planned tournament, and fails if its description is not the
/// registered one. Returns a note for each endpoint that cannot be reached from here; workers may
/// still reach it. The note does not say why: registrants could explore the operator's network. The
/// log does.
pub(super) async fn ask(plan: &Plan, agents: &Agents) -> Result<Vec<String>, Error> {
    let endpoints: BTreeMap<_, _> = { plan.setup.agents.iter() }
        .filter_map(|agent| match &agent.source {
            Some(Source::Endpoint(endpoint)) => Some((&endpoint.name, &endpoint.url)),
            _ => None,
        })
        .collect();
    let mut asking = Vec::new();
    for (name, url) in endpoints {
        let (at, networks) = (url.clone(), agents.networks.clone());
        let answer = tokio::spawn(async move { describe(&networks, &at).await });
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
            (_, Err(problem)) => {
                tracing::warn!(agent = name, url, problem, "an endpoint did not answer");
                notes.push(format!(
                    "could not query endpoint {url} of agent \"{name}\" to compare it with its \
                     registration: it did not answer Describe"
                ));
            }
        }
    }
    Ok(notes)
}

fn change(registered: &v1::DescribeResponse, now: &v1::DescribeResponse) -> String {
    let program = |it: &v1::DescribeResponse| {
        let [name, version] = [&it.name, &it.version].map(|it| printable_line(it));
        format!("\"{name} {version}\"")
    };
    let (before, after) = (program(registered), program(now));
    if before == after {
        format!("{after} offers other bots or options than at its registration")
    } else {
        format!("it is now {after}, but was {before} at its registration")
    }
}

async fn describe(networks: &AgentNetworks, url: &str) -> Result<v1::DescribeResponse, String> {
    let answer = async {
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| causes(&error))?;
        let channel = networks
            .connect(url, endpoint.connect_timeout(WAIT))
            .await?;
        let mut client = AgentServiceClient::new(channel);
        match client.describe(v1::DescribeRequest {}).await {
            Ok(answer) => Ok(answer.into_inner()),
            // It has one bot, which plays every ruleset.
            Err(status) if status.code() == Code::Unimplemented && is_of_agent(&status) => {
                Ok(v1::DescribeResponse::default())
            }
            Err(status) => Err(status.to_string()),
        }
    };
    let answer = time::timeout(WAIT, answer).await;
    answer.unwrap_or_else(|_| Err(format!("no answer within {} s", WAIT.as_secs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn other_servers_are_no_agents() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let pages = axum::Router::new().fallback(|| async { axum::http::StatusCode::NOT_FOUND });
        let serving = tonic::transport::Server::builder()
            .add_routes(pages.into())
            .serve_with_incoming(tokio_stream::wrappers::TcpListenerStream::new(listener));
        tokio::spawn(serving);
        let networks = AgentNetworks::default();
        let closed = "http://127.0.0.1:9".to_owned();
        for url in [url, closed] {
            let answer = describe(&networks, &url).await;
            assert!(answer.is_err(), "{url}: {answer:?}");
        }
    }

    #[tokio::test]
    async fn link_local_address_is_not_queried() {
        if !arena_test_isolation::leave_network("link_local_address_is_not_queried") {
            return;
        }
        // The resolver reads the number as 169.254.169.254.
        let answer = describe(&AgentNetworks::everywhere(), "http://2852039166:1").await;
        let refused = answer.is_err_and(|error| error.contains("is a link-local address"));
        assert!(refused);
    }
}
