//! `arena report`

use std::path::PathBuf;

use clap::Args;

use crate::{
    access::AccessArgs,
    failure::{Failure, Outcome},
    output::{self, note},
    report,
};

/// Write what a tournament showed, for people
#[derive(Debug, Args)]
#[command(after_help = "\
A page is one file that needs nothing else: open it, mail it, or keep it.

Examples:
  arena report demo-3f9a0c1b22 --html demo.html")]
pub(crate) struct ReportArgs {
    /// Id of the tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Write one self-contained page; - for stdout
    #[arg(long, value_name = "FILE", required = true)]
    html: PathBuf,
}

impl ReportArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut access = self.access.open().await?;
        let gathered = report::gather(&mut access.client, &self.id).await;
        access.close().await?;
        let report = gathered?;
        let page = report::html(&report)?;
        if self.html.as_os_str() == "-" {
            return output::write(&page);
        }
        std::fs::write(&self.html, page).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", self.html.display()))
        })?;
        note(format!("wrote {}", self.html.display()));
        Ok(())
    }
}
