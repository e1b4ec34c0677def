//! `arena game rerun`: by id, or from a record only.

use std::path::PathBuf;

use arena_client::rerun::{Rerun, texts};
use clap::Args;

use crate::{access::AccessArgs, failure::Outcome, output::Format, workers::Builtin};

#[derive(Debug, Args)]
pub(crate) struct RerunArgs {
    /// Id of the game: TOURNAMENT/INDEX
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    game: Option<String>,

    /// File with records, one per line, as `arena export` writes them, with or without
    /// moves; - reads stdin
    #[arg(long, value_name = "RECORD")]
    file: Option<PathBuf>,

    /// With --file: the file of a registered agent, or the URL of an endpoint; may be
    /// repeated. Arena looks up other packages by SHA-256 in --data (./arena-data) or
    /// --coordinator, also those of rulesets
    #[arg(long = "agent", value_name = "NAME=PATH", requires = "file")]
    agents: Vec<String>,

    #[command(flatten)]
    access: AccessArgs,

    /// How to run built-in agents
    #[arg(long, value_enum, default_value_t)]
    builtin: Builtin,

    /// Output format; json prints the record of the rerun
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl RerunArgs {
    pub(super) async fn run(self) -> Outcome {
        let rerun = Rerun {
            agents: &self.agents,
            builtin: self.builtin,
            format: self.output,
        };
        let Some(file) = &self.file else {
            let id = self.game.as_deref().unwrap_or_default();
            let mut access = self.access.open().await?;
            let outcome = rerun.rerun_stored(&mut access, id).await;
            return outcome.and(access.close().await);
        };
        let texts = texts(file)?;
        if !rerun.needs_packages(&texts) || !self.access.leads_somewhere() {
            return rerun.rerun_texts(&texts, None).await;
        }
        let mut access = self.access.open().await?;
        let outcome = rerun.rerun_texts(&texts, Some(&mut access)).await;
        outcome.and(access.close().await)
    }
}
