//! Checks and reports the expectations of a tournament.

use arena_model::expect::Expectation;
use arena_report::Verdict;
use clap::Args;
use itertools::Itertools;

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
    match format {
        Format::Table => output::write(&format!("\n{}", results_table(verdicts)))?,
        // The JSON contains them.
        Format::Json => {}
        // Readers of these formats expect one row per agent.
        Format::Jsonl | Format::Csv => note(results_table(verdicts).trim_end()),
    }
    settle(verdicts)
}

/// A table of expectations and results.
fn results_table(verdicts: &[Verdict]) -> String {
    let row = |verdict: &Verdict| {
        let holds = match verdict.holds {
            true => "holds",
            false => "DOES NOT HOLD",
        };
        let expected = match verdict.name == verdict.expect {
            true => verdict.expect.clone(),
            false => format!("{}: {}", verdict.name, verdict.expect),
        };
        vec![holds.to_owned(), expected, verdict.says.clone()]
    };
    let rows = verdicts.iter().map(row).collect_vec();
    output::table(&["verdict", "expected", "result"], &rows)
}

/// Fails if an expectation is not met.
pub(crate) fn settle(verdicts: &[Verdict]) -> Outcome {
    let failed = verdicts.iter().filter(|verdict| !verdict.holds);
    let failed = failed.map(|verdict| verdict.name.as_str()).collect_vec();
    if failed.is_empty() {
        return Ok(());
    }
    let (count, all) = (failed.len(), verdicts.len());
    Err(Failure::differs(format!(
        "{count} of {all} expectations do not hold: {}",
        failed.join("; ")
    )))
}
