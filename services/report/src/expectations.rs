//! The results of expectations.

use itertools::Itertools;

use crate::{
    Verdict,
    error::{ReportError, Result},
    listing::columns,
    text::fitted,
};

/// A table of expectations and results, of at most this width.
#[must_use]
pub fn table(verdicts: &[Verdict], width: Option<usize>) -> String {
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
    fitted(columns(&["verdict", "expected", "result"], &rows), width).0
}

/// Fails if an expectation is not met.
pub fn settle(verdicts: &[Verdict]) -> Result {
    let failed = verdicts.iter().filter(|verdict| !verdict.holds);
    let failed = failed.map(|verdict| verdict.name.as_str()).collect_vec();
    if failed.is_empty() {
        return Ok(());
    }
    let (count, all) = (failed.len(), verdicts.len());
    Err(ReportError::differs(format!(
        "{count} of {all} expectations do not hold: {}",
        failed.join("; ")
    )))
}
