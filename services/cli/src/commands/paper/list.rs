//! `arena paper list`

use arena_client::paper_report;
use clap::Args;

use crate::{
    failure::Outcome,
    output::{self, Format},
};

/// List the published tables that Arena reproduces
#[derive(Debug, Args)]
#[command(after_help = "\
The number of games is the number in the paper; `arena paper run --games` changes it.

Examples:
  arena paper list
  arena paper list --output json      papers, protocols and numbers of cells")]
pub(crate) struct ListArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl ListArgs {
    pub(super) fn run(self) -> Outcome {
        output::print(&paper_report::listing(self.output)?, self.output)
    }
}
