//! Durable results per second, and the time to acknowledge them.

use anyhow::Context;
use arena_tests::{
    fleet::{Latencies, Measured as Seen},
    spec,
};

use super::fleet::{Load, REPORT_GAMES, SECONDS_MIN, latency, ms, once, run};
use crate::{
    Settings, note,
    report::{Figure, Measured},
};

/// Workers whose results become durable.
pub(super) const WORKERS: usize = 8;

/// Reports per second of a fleet with a pace: 63,000 results, which is above the bar because
/// reports of audits have no new result.
const PACED_REPORTS: f64 = 630.0;
/// Duration of a measurement with a pace: long enough that one stall of a second affects its p99.
const PACED_SECONDS: f64 = 10.0;

/// A few workers report real games of cowry, first as fast as they are answered, then at a pace.
pub(super) fn measure(settings: &Settings, measured: &mut Measured) {
    let what = |how: &str| {
        format!(
            "cowry results made durable, {REPORT_GAMES} a report, {WORKERS} workers over gRPC, \
             {how}"
        )
    };
    let durable = what("as fast as they are answered");
    measured.take(&durable, saturated(settings, &durable));
    let paced = what("63,000 a second due");
    measured.take(&paced, pace_kept(settings, &paced));
}

fn load(reports_per_second: Option<f64>, seconds: f64) -> Load {
    Load {
        workers: WORKERS,
        reports_in_flight: 2,
        reports_per_second,
        seconds,
        spec: cowry,
    }
}

/// A tournament of real games.
pub(super) fn cowry(blocks: u64) -> String {
    let players = "[[agent]]\nname = \"a\"\nbot = \"random\"\n\
                   [[agent]]\nname = \"b\"\nbot = \"random\"";
    spec("durable", "cowry", blocks, &["a", "b"], players)
}

fn saturated(settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    let load = load(None, settings.seconds().max(SECONDS_MIN));
    let (figure, seen) = run(settings, what, &load)?;
    Ok(vec![Figure {
        id: "store.durable".to_owned(),
        latency_ms: latency(&seen.report),
        note: Some("latency: from a report to its acknowledgement after fdatasync".to_owned()),
        ..figure
    }])
}

/// All runs together, because the median run would hide rare events.
fn pace_kept(settings: &Settings, what: &str) -> anyhow::Result<Vec<Figure>> {
    note(format!("  {what}"));
    let seconds = if settings.quick {
        SECONDS_MIN
    } else {
        PACED_SECONDS
    };
    let load = load(Some(PACED_REPORTS), seconds);
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        runs.push(once(what, &load)?);
    }
    let all = |times: fn(&Seen) -> &Latencies| {
        Latencies::together(runs.iter().map(|(_, seen)| times(seen)))
    };
    let (report, late) = (all(|seen| &seen.report), all(|seen| &seen.late));
    let sum = |of: &dyn Fn(&(Figure, Seen)) -> f64| runs.iter().map(of).sum::<f64>();
    let games = sum(&|(_, seen)| seen.games as f64);
    let (first, _) = runs.first().context("no run")?;
    let mut figure = Figure {
        id: "store.paced".to_owned(),
        per_second: games / sum(&|(_, seen)| seen.seconds),
        cpu_us: Some(
            sum(&|(figure, seen)| figure.cpu_us.unwrap_or(0.0) * seen.games as f64) / games,
        ),
        latency_ms: latency(&report),
        more: [
            ("longest ms", ms(report.max())),
            ("sent late p99 ms", ms(late.p99())),
            ("sent late longest ms", ms(late.max())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        note: Some(
            "latency: from when a report was due to its acknowledgement after fdatasync".to_owned(),
        ),
        ..first.clone()
    };
    for (other, _) in &runs[1..] {
        figure.profile.add(&other.profile);
        for (kind, mb) in &other.memory_mb {
            let most = figure.memory_mb.entry(*kind).or_default();
            *most = most.max(*mb);
        }
    }
    Ok(vec![figure])
}
