//! Registration and removal of agents.

use std::sync::Arc;

use arena_model::spec::REPLICAS_MAX;
use arena_store::Collection;
use arena_wire::{
    limits,
    v1::{self, agent::Source},
};
use prost::Message;

use super::{Core, change, unix_us};
use crate::{agents::Agents, binaries, demands, error::Error, principal::Principal};

impl Core {
    /// The agents of now.
    pub(crate) fn agents(&self) -> Arc<Agents> {
        Arc::clone(&self.agents)
    }

    pub(crate) async fn register(
        &mut self,
        request: v1::RegisterAgentRequest,
        by: &Principal,
    ) -> Result<v1::Agent, Error> {
        const METHOD: &str = "RegisterAgent";
        if let Some(answer) = self
            .answers
            .recall(&request.request_id, by, METHOD, &request)?
        {
            return Ok(answer);
        }
        let mut agent = request
            .agent
            .clone()
            .ok_or_else(|| Error::Request("the request has no agent".to_owned()))?;
        agent.owner = match self.agents.get(&agent.name) {
            Some(known) => {
                by.check_owner(&known.owner, &format!("agent \"{}\"", agent.name))?;
                known.owner
            }
            None => by.owner.to_string(),
        };
        let uploaded = |sha256: &[u8; 32]| binaries::may_use(&*self.store, sha256, by);
        let stored = self
            .agents
            .check(agent, request.replace, unix_us(), uploaded)?;
        if stored.replicas > REPLICAS_MAX {
            return Err(Error::Request(format!(
                "agent \"{}\": at most {REPLICAS_MAX} replicas, not {}",
                stored.name, stored.replicas
            )));
        }
        if let Some(Source::Binary(binary)) = &stored.source {
            demands::check("agent", &stored.name, binary, stored.cpus, by)?;
        }
        let known = self.agents.get(&stored.name);
        if known.is_none() {
            by.check_limit(&limits::AGENTS, self.agents.owned_by(&by.owner), 1)?;
        }
        let document = Some(stored.encode_to_vec());
        let mut changes = vec![change(Collection::Agents, &stored.name, document)];
        let agent = self.agents.completed(stored.clone());
        let id = &request.request_id;
        changes.extend(self.answers.remember(id, by, METHOD, &request, &agent));
        self.persist(changes).await?;
        by.did(&registered(known.as_ref().map(identity), &identity(&agent)));
        Arc::make_mut(&mut self.agents).insert(stored);
        tracing::info!(
            agent = agent.name,
            version = agent.version,
            content = agent.content,
            "agent registered"
        );
        Ok(agent)
    }

    pub(crate) async fn remove(
        &mut self,
        request: v1::RemoveAgentRequest,
        by: &Principal,
    ) -> Result<(), Error> {
        const METHOD: &str = "RemoveAgent";
        let id = &request.request_id;
        let answer: Option<v1::RemoveAgentResponse> =
            self.answers.recall(id, by, METHOD, &request)?;
        if answer.is_some() {
            return Ok(());
        }
        self.agents.check_remove(&request.name)?;
        if let Some(known) = self.agents.get(&request.name) {
            by.check_owner(&known.owner, &format!("agent \"{}\"", request.name))?;
        }
        let mut changes = vec![change(Collection::Agents, &request.name, None)];
        let answer = v1::RemoveAgentResponse {};
        changes.extend(self.answers.remember(id, by, METHOD, &request, &answer));
        self.persist(changes).await?;
        Arc::make_mut(&mut self.agents).remove(&request.name);
        tracing::info!(agent = request.name, "agent removed");
        Ok(())
    }
}

/// What identifies an agent under its name, for the audit trail.
fn identity(agent: &v1::Agent) -> String {
    let mut text = match &agent.source {
        Some(Source::Endpoint(endpoint)) => format!("{} ", endpoint.url),
        Some(Source::Binary(_)) => format!("content {} ", agent.content),
        Some(Source::Native(_)) | None => String::new(),
    };
    text += &format!("bot {}", agent.bot);
    for option in &agent.options {
        text += &format!(" {}={}", option.name, option.value);
    }
    for (name, number) in [("cpus", agent.cpus), ("replicas", agent.replicas)] {
        if number > 0 {
            text += &format!(" {name}={number}");
        }
    }
    text
}

/// What a registration did.
pub(super) fn registered(before: Option<String>, now: &str) -> String {
    match before {
        None => format!("registered {now}"),
        Some(before) if before == now => format!("registered {now} again"),
        Some(before) => format!("replaced {before} with {now}"),
    }
}
