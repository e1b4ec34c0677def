//! `arena report`

use arena_client::{game::boards::drawing_package, rerun::Programs};
use arena_report::{
    Report,
    expectations::settle,
    records,
    state::state_name,
    whole_file::{self, WholeFile},
};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use crate::{
    access::{Access, AccessArgs},
    failure::{Failure, Outcome},
    ids,
    output::{self, note},
};

/// Write a report (HTML, Markdown or JUnit)
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true).args(["html", "markdown", "junit"])))]
#[command(after_help = "\
The HTML page is self-contained. One command can write several formats; --markdown and
--junit write to stdout if no file is given. The exit code is 3 if an expectation of
the spec fails, if records are disputed or refuted (`arena audit list`) or, with --junit,
if the tournament is not finished. The files are written in any case.

Examples:
  arena report demo-3f9a0c1b22 --html demo.html
  arena report demo-3f9a0c1b22 --markdown >> \"$GITHUB_STEP_SUMMARY\"
  arena report demo-3f9a0c1b22 --html demo.html --junit demo.xml \\
    --expect \"mine beats base by 5 elo at 95 %\"")]
pub(crate) struct ReportArgs {
    /// Id of the tournament, or an unambiguous prefix; @last is the newest tournament
    id: String,

    #[command(flatten)]
    access: AccessArgs,

    /// Write a self-contained HTML page; - writes to stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write GitHub-flavoured Markdown
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    markdown: Option<PathBuf>,

    /// Write JUnit XML with one test case per expectation
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    junit: Option<PathBuf>,

    /// Check this expectation in addition to those in the spec
    #[arg(long, value_name = "SENTENCE")]
    expect: Vec<String>,
}

impl ReportArgs {
    pub(crate) async fn run(self) -> Outcome {
        // Report a missing folder before any work.
        let files = [&self.html, &self.markdown, &self.junit];
        for file in files.into_iter().flatten().filter(|file| !is_stdout(file)) {
            whole_file::check(file)?;
        }
        let mut access = self.access.open().await?;
        let gathered = self.gather(&mut access).await;
        access.close().await?;
        let report = gathered?;
        if let Some(file) = &self.html {
            write(file, &arena_report::html(&report)?)?;
        }
        if let Some(file) = &self.markdown {
            write(file, &arena_report::markdown(&report))?;
        }
        if let Some(file) = &self.junit {
            write(file, &arena_report::junit(&report))?;
        }
        if !report.is_whole() {
            note("the tournament is not finished: results so far");
        }
        settle(&report.verdicts)?;
        if let Some(problem) = report.unsound() {
            return Err(Failure::differs(problem));
        }
        if self.junit.is_some() && !report.is_whole() {
            // A test case in the file failed, so the exit code reports a failure, too.
            let (id, state) = (&report.id, state_name(report.state));
            return Err(Failure::differs(format!(
                "tournament {id} is {state}, not finished"
            )));
        }
        Ok(())
    }

    async fn gather(&self, access: &mut Access) -> Outcome<Report> {
        let id = ids::tournament(&mut access.client, &self.id).await?;
        // Only the page has boards.
        let package = match self.html.is_some() {
            true => {
                let tournament = records::tournament(&mut access.client, &id).await?;
                let programs = Programs::new(&[], Some(access))?;
                drawing_package(&tournament.setup.unwrap_or_default(), programs).await
            }
            false => None,
        };
        let package = package.as_ref().map(AsRef::as_ref);
        let client = &mut access.client;
        Ok(arena_report::gather_drawn(client, &id, &self.expect, package).await?)
    }
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn write(file: &Path, text: &str) -> Outcome {
    if is_stdout(file) {
        return output::write(text);
    }
    let mut whole = WholeFile::create(file)?;
    whole.write(text.as_bytes())?;
    whole.finish()?;
    note(format!("wrote {}", file.display()));
    Ok(())
}
