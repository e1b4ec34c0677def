//! Chart of game lengths in plies.

use std::collections::BTreeMap;

use crate::units;

/// Maximum number of bars.
const BARS: u32 = 48;
const HEIGHT: f64 = 160.0;

/// Renders a histogram of plies with a line at the median.
pub(crate) fn lengths(lengths: &BTreeMap<u32, u64>) -> String {
    let (Some(&least), Some(&most)) = (lengths.keys().next(), lengths.keys().next_back()) else {
        return "<p>No game has a length yet.</p>".to_owned();
    };
    let of = |share: f64| quantile(lengths, share).unwrap_or_default();
    let middle = of(0.5);
    let width = ((most - least) / BARS + 1).max(1);
    let bars = (most - least) / width + 1;
    let mut counts = vec![0u64; bars as usize];
    for (plies, count) in lengths {
        counts[((plies - least) / width) as usize] += count;
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    let share = 100.0 / f64::from(bars);
    let mut out = format!(
        "<figure><svg width=\"100%\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"Games by their number of plies: \
         from {least} to {most}, half of them {middle} or fewer\">"
    );
    for (bar, &count) in counts.iter().enumerate() {
        let height = count as f64 / highest as f64 * (HEIGHT - 4.0);
        let from = least + bar as u32 * width;
        let to = (from + width - 1).min(most);
        let plies = match from == to {
            true => from.to_string(),
            false => format!("{from} to {to}"),
        };
        out += &format!(
            "<rect class=\"bar\" x=\"{:.3}%\" y=\"{:.1}\" width=\"{:.3}%\" height=\"{height:.1}\"><title>{plies} plies: {}</title></rect>",
            bar as f64 * share + share * 0.06,
            HEIGHT - height,
            share * 0.88,
            units::plural(count, "game"),
        );
    }
    let at = (f64::from(middle - least) + 0.5) / f64::from(width) * share;
    out += &format!(
        "<line class=\"middle\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"{HEIGHT}\"/>\
             </svg><p class=\"ends\"><span>{least} plies</span><span>{most} plies</span></p>\
             <p class=\"note\">Line: half of the games have {middle} plies or fewer; nine of ten have {} or fewer, \
             99 of 100 have {} or fewer.</p></figure>",
        of(0.9),
        of(0.99)
    );
    out
}

/// The smallest length such that at least this share of the games is no longer.
pub(crate) fn quantile(lengths: &BTreeMap<u32, u64>, share: f64) -> Option<u32> {
    let games: u64 = lengths.values().sum();
    let rank = ((games as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    lengths.iter().find_map(|(&plies, &count)| {
        seen += count;
        (seen >= rank).then_some(plies)
    })
}
