//! `arena demo`

use std::path::PathBuf;

use arena_model::spec::Spec;
use clap::Args;

use super::run::{self, Plan};
use crate::{
    embedded::DEFAULT_DATA,
    failure::{Failure, Outcome},
    output::{Format, note},
    workers::Builtin,
};

const SPEC: &str = include_str!("demo.toml");

/// Run a small example tournament with real agent processes
///
/// Starts a coordinator, two workers and four agents, each as a separate process.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arena demo
  arena demo --seed 0x2a --again")]
pub(crate) struct DemoArgs {
    /// Folder for results
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,

    /// Seed to use instead of the demo's seed
    #[arg(long, value_name = "0x…")]
    seed: Option<String>,

    /// Play the tournament again, under a new id, if it is already finished
    #[arg(long)]
    again: bool,
}

impl DemoArgs {
    pub(crate) async fn run(self) -> Outcome {
        note("Four strategies for cowry, a dice game, play a round robin with a coordinator,");
        note("two workers and one process for each agent.\n");
        let data = self.data.clone();
        let plan = Plan {
            spec: SPEC.to_owned(),
            parsed: Spec::parse(SPEC).map_err(Failure::failed)?,
            data: self.data,
            workers: 2,
            seed: self.seed,
            agent_output: None,
            builtin: Builtin::Process,
            again: self.again,
            expect: Vec::new(),
        };
        let id = run::play(plan, Format::Table).await?;
        let at = if data.as_os_str() == DEFAULT_DATA {
            String::new()
        } else {
            format!(" --data {}", data.display())
        };
        let arena = program();
        note("\nNext, try one of these:");
        note(format!("  {arena} game show {id}/0{at} --watch"));
        note(format!("  {arena} game rerun {id}/17{at}"));
        note(format!("  {arena} export {id}{at} | head -n 1"));
        Ok(())
    }
}

/// The command that started this program, so that printed commands can be typed.
fn program() -> String {
    match std::env::var_os("CARGO") {
        Some(_) => "cargo run --release --".to_owned(),
        None => std::env::args()
            .next()
            .unwrap_or_else(|| "arena".to_owned()),
    }
}
