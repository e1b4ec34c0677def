//! A report for continuous integration: JUnit XML with one test case per expectation,
//! one for the end of the tournament, and one for its audits.

use arena_model::printable;

use crate::report::Report;
use crate::{
    state::{pause_line, state_name},
    units,
};

/// Renders a report as XML. The end of the tournament is a test case of its own.
pub fn junit(report: &Report) -> String {
    let failed = report.verdicts.iter().filter(|verdict| !verdict.holds);
    let unsound = report.unsound();
    let failures =
        failed.count() + usize::from(!report.is_whole()) + usize::from(unsound.is_some());
    let cases = report.verdicts.len() + 2;
    let id = escape(&report.id);
    let took_us = report
        .finished_unix_us
        .saturating_sub(report.created_unix_us);
    let seconds = took_us as f64 / 1e6;
    let counts = format!("tests=\"{cases}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"");
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"arena\" {counts}>\n  \
         <testsuite name=\"{id}\" {counts} time=\"{seconds:.3}\">\n    <properties>\n"
    );
    let properties = [
        ("ruleset", report.ruleset.clone()),
        ("seed", report.seed.clone()),
        ("games", report.games.to_string()),
        ("games_sha256", report.digest.clone()),
        ("arena", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    for (name, value) in properties {
        let value = escape(&value);
        out += &format!("      <property name=\"{name}\" value=\"{value}\"/>\n");
    }
    out += "    </properties>\n";
    let whole = (!report.is_whole()).then(|| {
        let why = report.pause.as_ref();
        let why = why.map_or_else(String::new, |pause| format!("; {}", pause_line(pause)));
        format!(
            "{}: {} of {} games{why}",
            state_name(report.state),
            units::count(report.games),
            units::count(report.games_total)
        )
    });
    case(&mut out, &id, "the tournament is finished", None, whole);
    let sound = "no record is disputed or refuted";
    case(&mut out, &id, sound, None, unsound);
    for verdict in &report.verdicts {
        let said = format!("{}: {}", verdict.expect, verdict.says);
        let failure = (!verdict.holds).then(|| said.clone());
        case(&mut out, &id, &verdict.name, Some(&said), failure);
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn case(out: &mut String, class: &str, name: &str, said: Option<&str>, failure: Option<String>) {
    *out += &format!(
        "    <testcase classname=\"{class}\" name=\"{}\" time=\"0\">\n",
        escape(name)
    );
    if let Some(failure) = failure {
        let text = escape(&failure);
        *out += &format!("      <failure message=\"{text}\">{text}</failure>\n");
    }
    if let Some(said) = said {
        *out += &format!("      <system-out>{}</system-out>\n", escape(said));
    }
    *out += "    </testcase>\n";
}

/// Escapes text for XML. Hidden characters, most of which XML does not allow, are shown.
fn escape(text: &str) -> String {
    super::chart::escape(&printable(text))
}
