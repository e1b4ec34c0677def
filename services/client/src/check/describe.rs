//! Queries an agent for its description.

use arena_wire::v1;
use arena_worker::AgentOptions;

use super::Found;

/// Queries an agent, started as a worker starts it; the error is a message for the user.
pub async fn describe(found: &Found) -> Result<v1::DescribeResponse, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let options = AgentOptions::of_executable(program).confined();
    let described = arena_worker::describe(found.setup_source(), found.provider(), options);
    described.await.map_err(|error| {
        let kind = error.kind.map(|kind| format!("{}: ", kind.name()));
        let mut text = kind.unwrap_or_default() + &error.message;
        for line in error.stderr_tail.lines() {
            text += &format!("\n    {line}");
        }
        text
    })
}
