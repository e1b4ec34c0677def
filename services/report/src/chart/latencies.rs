//! Chart of decision latencies on a logarithmic scale.

use std::time::Duration;

use arena_telemetry::LatencyHistogram;

use super::{anchor, escape};
use crate::{report::Report, units};

const HEIGHT: f64 = 34.0;
/// Number of bars over the whole scale.
const BARS: usize = 96;

/// Renders a row per agent: its distribution and three quantiles.
pub(crate) fn latencies(report: &Report) -> String {
    let measured = report.agents.iter();
    let measured = measured.filter(|agent| agent.latencies.count() > 0);
    let spans = measured.clone().filter_map(|agent| {
        let of = |q| agent.latencies.quantile(q).map(log);
        Some((of(0.0005)?, of(0.9995)?))
    });
    let Some((low, high)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
        return "<p>No latency was measured.</p>".to_owned();
    };
    let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
    let mut out = "<p class=\"note\">Thinking time of every decision that an agent was asked for, without the \
         time that the decision waited; each step of the axis is ten times the one before.</p>\
         <table class=\"dots\" role=\"table\"><colgroup><col class=\"who\"><col><col class=\"times\"></colgroup>\
         <thead><tr><th scope=\"col\">agent</th><th scope=\"col\"><span class=\"out\">drawn</span></th>\
         <th scope=\"col\" class=\"num\">p50, p90, p99</th></tr></thead><tbody>"
        .to_owned();
    for agent in measured {
        let quantile = |q| {
            agent
                .latencies
                .quantile(q)
                .map(|it| it.as_nanos() as f64 / 1e3)
        };
        let shown = [0.5, 0.9, 0.99].map(|q| units::latency(quantile(q)));
        out += &format!(
            "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}</th><td class=\"drawn\" role=\"cell\">",
            escape(&agent.standing.agent)
        );
        drawn(&mut out, &agent.latencies, low, high);
        out += &format!(
            "</td><td class=\"num\" role=\"cell\">{}</td></tr>",
            shown.join(", ")
        );
    }
    out += "</tbody><tfoot aria-hidden=\"true\"><tr><td></td><td class=\"drawn\">";
    out += "<svg width=\"100%\" height=\"22\">";
    let ticks = (high - low) as i32;
    let every = (ticks + 4) / 5;
    for tick in (0..=ticks).step_by(every.max(1) as usize) {
        let at = f64::from(tick) / f64::from(ticks) * 100.0;
        out += &format!(
            "<text x=\"{at:.2}%\" y=\"14\" text-anchor=\"{}\">{}</text>",
            anchor(at),
            decade(low as i32 + tick)
        );
    }
    out + "</svg></td><td></td></tr></tfoot></table>"
}

/// Decimal logarithm of nanoseconds.
fn log(latency: Duration) -> f64 {
    (latency.as_nanos().max(1) as f64).log10()
}

/// Formats a power of ten of nanoseconds.
fn decade(power: i32) -> String {
    let place = (power / 3).clamp(0, 3);
    let unit = ["ns", "µs", "ms", "s"][place as usize];
    format!("{} {unit}", 10i64.pow((power - 3 * place) as u32))
}

fn drawn(out: &mut String, latencies: &LatencyHistogram, low: f64, high: f64) {
    let mut counts = [0u64; BARS];
    for (bucket, count) in latencies.buckets() {
        // The quantile of a histogram with one bucket is the position of that bucket.
        let alone = LatencyHistogram::from_buckets([(bucket, 1)]).ok();
        if let Some(middle) = alone.and_then(|alone| alone.quantile(0.5)) {
            let bar = (log(middle) - low) / (high - low) * BARS as f64;
            counts[bar.clamp(0.0, BARS as f64 - 1.0) as usize] += count;
        }
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    *out += &format!("<svg width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    for decade in 0..=(high - low) as i32 {
        let at = f64::from(decade) / (high - low) * 100.0;
        *out += &format!(
            "<line class=\"grid\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"{HEIGHT}\"/>"
        );
    }
    for (bar, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (count as f64 / highest as f64 * (HEIGHT - 6.0)).max(1.5);
        *out += &format!(
            "<rect class=\"bar\" x=\"{:.3}%\" y=\"{:.1}\" width=\"{:.3}%\" height=\"{height:.1}\"/>",
            bar as f64 / BARS as f64 * 100.0,
            HEIGHT - 2.0 - height,
            100.0 / BARS as f64
        );
    }
    out.push_str("</svg>");
}
