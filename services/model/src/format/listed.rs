//! The agents of a spec by name.

use std::collections::HashMap;

use arena_engine::options::nearest;

use super::fail;
use crate::{name::AgentName, spec::SpecError};

/// The places of agents by their names.
pub(super) struct Listed<'a> {
    agents: &'a [AgentName],
    places: HashMap<&'a AgentName, usize>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(agents: &'a [AgentName]) -> Self {
        Self {
            agents,
            places: agents.iter().zip(0..).collect(),
        }
    }

    /// The place of an agent. Fails if a name is of no agent.
    pub(super) fn place(
        &self,
        at: impl Fn() -> String,
        name: &AgentName,
    ) -> Result<usize, SpecError> {
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        let names = self.agents.iter().map(AgentName::as_str);
        let hint = nearest(name.as_str(), names).map_or_else(
            || ": it is not listed in agents".to_owned(),
            |nearest| format!(", did you mean \"{nearest}\"?"),
        );
        fail(format!("{}: no agent \"{name}\"{hint}", at()))
    }
}
