//! `arena store compact`

use arena_client::store::failure::failure;
use arena_coordinator::WithoutRemoved;
use arena_report::units;
use arena_store::Location;
use clap::Args;

use super::DataArgs;
use crate::{
    failure::Outcome,
    output::{self, Format, note},
};

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    data: DataArgs,

    /// PostgreSQL database to compact instead of the data folder
    #[arg(long, env = "ARENA_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl CompactArgs {
    pub(super) fn run(&self) -> Outcome {
        let location = match &self.store {
            Some(url) => Location::Database(url.clone()),
            None => Location::Folder(self.data.data.clone()),
        };
        let mut selection = WithoutRemoved::default();
        let report = arena_store::compact(&location, &mut selection).map_err(failure)?;
        let (before, after) = (report.bytes_before, report.bytes_after);
        match self.output {
            Format::Json => output::json(&report)?,
            Format::Jsonl => output::json_line(&report)?,
            Format::Csv => output::write(&format!(
                "games,games_removed,bytes_before,bytes_after\n{},{},{before},{after}\n",
                report.games, report.games_removed
            ))?,
            Format::Table => output::write(&format!(
                "{}: removed {} games, kept {}; {} bytes before, {} after\n",
                report.path.display(),
                units::count(report.games_removed),
                units::count(report.games),
                units::count(before),
                units::count(after),
            ))?,
        }
        if report.games_removed == 0 {
            note("the store has no games of removed tournaments, and stays as it is");
        }
        Ok(())
    }
}
