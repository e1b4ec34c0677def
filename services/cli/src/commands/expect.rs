//! Checks and reports the expectations of a tournament.

use arena_model::expect::Expectation;
use arena_report::{
    Verdict,
    expectations::{self, settle},
};
use clap::Args;

use crate::{
    access::Client,
    failure::{Failure, Outcome},
    output::{self, Format, note},
};

/// The expectations to check.
#[derive(Debug, Args)]
pub(crate) struct ExpectArgs {
    /// Check the expectations of the tournament's spec; the exit code is 3 if one fails
    #[arg(long)]
    check: bool,

    /// Check this expectation as well, such as "mine beats base by 5 elo at 95 %"
    #[arg(long, value_name = "SENTENCE")]
    expect: Vec<String>,
}

impl ExpectArgs {
    /// The verdicts of the tournament's expectations; `None` without expectations.
    pub(crate) async fn of(&self, client: &mut Client, id: &str) -> Outcome<Vec<Expectation>> {
        if !self.check && self.expect.is_empty() {
            return Ok(Vec::new());
        }
        let tournament = arena_report::records::tournament(client, id).await?;
        let mut all = arena_report::expectations(&tournament, &self.expect)?;
        if self.check && all.is_empty() {
            return Err(Failure::usage(format!(
                "the spec of {id} has no expectations: add an `expect` key, or use --expect \
                 \"AGENT beats AGENT by 5 elo at 95 %\""
            )));
        }
        if !self.check {
            all.drain(..all.len() - self.expect.len());
        }
        Ok(all)
    }
}

/// Reports the verdicts of the expectations; fails if an expectation is not met.
pub(super) fn conclude(verdicts: &[Verdict], format: Format) -> Outcome {
    if verdicts.is_empty() {
        return Ok(());
    }
    let table = expectations::table(verdicts, output::width());
    match format {
        Format::Table => output::write(&format!("\n{}", table))?,
        // The JSON contains them.
        Format::Json => {}
        // Readers of these formats expect one row per agent.
        Format::Jsonl | Format::Csv => note(table.trim_end()),
    }
    Ok(settle(verdicts)?)
}
