//! Chart of the log-likelihood ratio of a sequential test at each look.

use super::Scale;
use crate::{sequential::SequentialTest, units};

/// Height of the chart.
const HEIGHT: f64 = 220.0;

/// Renders a line from the first block to the last look, between the two bounds. `None`
/// before the first look.
pub(crate) fn sequential_test(test: &SequentialTest) -> Option<String> {
    let &(blocks, last) = test.looks.last()?;
    let (low, high) = test.bounds;
    let values = test
        .looks
        .iter()
        .map(|&(_, llr)| llr)
        .chain([0.0, low, high]);
    let scale = Scale::around(values, (f64::MIN, f64::MAX), high - low);
    let y = |llr: f64| HEIGHT * (1.0 - scale.at(llr) / 100.0);
    let mut out = format!(
        "<figure class=\"course\"><svg width=\"100%\" height=\"{HEIGHT:.0}\" role=\"img\" \
         aria-label=\"Log-likelihood ratio by blocks: {last:.2} after {}, between {low:.2} and {high:.2}\">",
        units::plural(blocks, "block")
    );
    for (class, at, said) in [
        ("fair", high, format!("H1 accepted at {high:.2}")),
        ("grid", 0.0, "0".to_owned()),
        ("fair", low, format!("H0 accepted at {low:.2}")),
    ] {
        let line = y(at);
        let text = if line < 14.0 { line + 12.0 } else { line - 3.0 };
        out += &format!(
            "<line class=\"{class}\" x1=\"0\" x2=\"100%\" y1=\"{line:.1}\" y2=\"{line:.1}\"/>\
                 <text x=\"0\" y=\"{text:.1}\">{said}</text>"
        );
    }
    out += &format!(
        "<svg width=\"100%\" height=\"{HEIGHT}\" viewBox=\"0 0 {blocks} {HEIGHT}\" \
             preserveAspectRatio=\"none\"><path class=\"c0\" d=\"M0 {:.1}",
        y(0.0)
    );
    for &(blocks, llr) in &test.looks {
        out += &format!("L{blocks} {:.1}", y(llr));
    }
    out += &format!(
        "\"/></svg></svg><p class=\"ends\"><span>0 blocks</span><span>{}: LLR {last:.2}</span></p></figure>",
        units::plural(blocks, "block")
    );
    Some(out)
}
