//! `arena paper`: the tables of the five papers, played again and compared.

mod clock;
mod course;
mod data;
mod fields;
mod finding;
mod list;
mod play;
mod quantity;
mod repeats;
mod report;
mod rules;
mod run;
#[cfg(test)]
mod tests;

use clap::Subcommand;

use crate::failure::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum PaperCommand {
    /// List the published tables that Arena reproduces
    List(list::ListArgs),
    /// Play the protocol of a table and show our figures beside the published ones
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
