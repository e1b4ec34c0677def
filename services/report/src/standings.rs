//! Standings as tables, JSON and CSV.

pub mod audits;
pub mod csv;
pub mod rounds;
pub mod table;
pub mod verdict;
pub mod view;

use arena_wire::v1;

/// An agent as `--output json` prints it.
#[must_use]
pub fn agent_json(agent: &v1::AgentStanding) -> serde_json::Value {
    serde_json::to_value(view::agent(agent)).unwrap_or_default()
}
