//! `arena paper`: the published tables of the five papers, reproduced and compared.

mod list;
mod run;

use clap::Subcommand;

use crate::failure::Outcome;

/// Reproduce the published tables of the papers and compare the figures
#[derive(Debug, Subcommand)]
pub(crate) enum PaperCommand {
    List(list::ListArgs),
    Run(run::RunArgs),
}

impl PaperCommand {
    pub(crate) async fn run(self) -> Outcome {
        match self {
            Self::List(args) => args.run(),
            Self::Run(args) => args.run().await,
        }
    }
}
