//! A position as a drawing, for pages that work without scripts. The script of reports draws the
//! same boards.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::Value;

use super::Board;
use crate::{chart::escape, units};

/// Size of text in drawings without a size of its own, by `report.css`.
const TEXT: f32 = 12.0;
/// Maximum number of seeds that are drawn in a pit; its number is always shown.
const SEEDS_MAX: i64 = 60;

/// A position, the one before it, and the indexes at which they differ.
pub(crate) struct Position {
    pub(crate) now: Vec<Value>,
    pub(crate) before: Vec<Value>,
    pub(crate) changed: Vec<usize>,
}

impl Position {
    fn number(values: &[Value], place: usize) -> i64 {
        values
            .get(place)
            .and_then(Value::as_i64)
            .unwrap_or_default()
    }
}

/// Renders a position as HTML: an SVG with a description, or lines of text.
pub(crate) fn html(board: &Board, position: &Position, seats: &[String]) -> String {
    match board {
        Board::Pieces { .. } => pieces(board, position, seats),
        Board::Pits { .. } => pits(board, position),
        Board::Text => {
            let lines = position.now.iter().filter_map(Value::as_str);
            let lines: Vec<&str> = lines.collect();
            // It can be wider than a phone, and is then scrolled by keys, too.
            format!(
                "<pre tabindex=\"0\" role=\"region\" aria-label=\"Board\">{}</pre>",
                escape(&lines.join("\n"))
            )
        }
    }
}

fn open(width: u32, height: u32, art: &str, label: &str) -> String {
    let label = escape(label);
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\"><g>{art}</g>"
    )
}

fn pieces(board: &Board, position: &Position, seats: &[String]) -> String {
    let Board::Pieces {
        width,
        height,
        art,
        pieces,
        least,
        spots,
        spot: side,
        words,
    } = board
    else {
        return String::new();
    };
    let at = |index: usize, values: &[Value]| {
        let value = Position::number(values, index) - i64::from(*least);
        let spots = spots.get(index / pieces)?;
        spots.get(usize::try_from(value).ok()?).copied()
    };
    let place = |index: usize| {
        let value = Position::number(&position.now, index);
        let word = words.iter().find(|(known, _)| i64::from(*known) == value);
        word.map_or_else(|| value.to_string(), |(_, word)| (*word).to_owned())
    };
    let owned = seats.iter().enumerate().map(|(seat, name)| {
        let own = seat * pieces..(seat + 1) * pieces;
        let places: Vec<String> = own.map(place).collect();
        format!("{name}: pieces at {}", places.join(", "))
    });
    let label = owned.collect::<Vec<_>>().join("; ");
    let mut out = open(*width, *height, art, &label);
    for &index in &position.changed {
        if let Some((x, y)) = at(index, &position.before) {
            let r = side * 0.3;
            let _ = write!(
                out,
                "<circle class=\"was\" cx=\"{x}\" cy=\"{y}\" r=\"{r:.1}\"/>"
            );
        }
    }
    // Pieces on one spot share its room.
    let mut groups: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for index in 0..position.now.len() {
        if let Some(spot) = at(index, &position.now) {
            let key = ((spot.0 * 16.0) as i64, (spot.1 * 16.0) as i64);
            groups.entry(key).or_default().push(index);
        }
    }
    for on in groups.values() {
        if let Some(spot) = at(on[0], &position.now) {
            group(&mut out, spot, on, *side, *pieces, &position.changed);
        }
    }
    out + "</svg>"
}

/// Draws the pieces on one spot.
fn group(
    out: &mut String,
    spot: (f32, f32),
    on: &[usize],
    side: f32,
    pieces: usize,
    changed: &[usize],
) {
    let columns = (on.len() as f32).sqrt().ceil();
    let rows = (on.len() as f32 / columns).ceil();
    let room = side * if on.len() > 1 { 1.12 } else { 0.86 } / columns;
    for (place, &index) in on.iter().enumerate() {
        let place = place as f32;
        let x = spot.0 + (place % columns - (columns - 1.0) / 2.0) * room;
        let y = spot.1 + ((place / columns).floor() - (rows - 1.0) / 2.0) * room;
        let (seat, number) = (index / pieces, index % pieces);
        let r = (room * 0.46).max(side * 0.16);
        let (below, scale) = (y + r * 0.06, r * 1.25 / TEXT);
        let _ = write!(
            out,
            "<circle class=\"piece p{seat}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>\
             <text class=\"no\" transform=\"translate({x:.1} {below:.1}) scale({scale:.2})\">{number}</text>"
        );
        if changed.contains(&index) {
            let r = r + 2.5;
            let _ = write!(
                out,
                "<circle class=\"halo\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>"
            );
        }
    }
}

fn pits(board: &Board, position: &Position) -> String {
    let Board::Pits {
        width,
        height,
        art,
        pits,
        names,
        ..
    } = board
    else {
        return String::new();
    };
    let count = |pit: usize| Position::number(&position.now, pit);
    let named = names.iter().enumerate();
    let named = named.map(|(pit, name)| format!("{name}: {}", count(pit)));
    let label = named.collect::<Vec<_>>().join(", ");
    let mut out = open(*width, *height, art, &label);
    for (pit, &(x, y, rx, ry)) in pits.iter().enumerate() {
        let now = if position.changed.contains(&pit) {
            " now"
        } else {
            ""
        };
        let (left, top, wide, high) = (x - rx, y - ry, 2.0 * rx, 2.0 * ry);
        let round = rx.min(ry);
        let _ = write!(
            out,
            "<rect class=\"pit{now}\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" rx=\"{round}\"/>"
        );
        let seeds = count(pit);
        for seed in 0..seeds.min(SEEDS_MAX) {
            let turn = 2.2 + seed as f32 * 2.399_963;
            let out_of = ((seed as f32 + 0.5) / seeds.max(6) as f32).sqrt() * 0.78;
            let (x, y) = (x + turn.cos() * out_of * rx, y + turn.sin() * out_of * ry);
            let _ = write!(
                out,
                "<circle class=\"seed\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\"/>"
            );
        }
        let (x, y) = (x + rx * 0.62, y - ry + round * 0.34);
        let seeds = units::count(seeds.unsigned_abs());
        let _ = write!(
            out,
            "<text class=\"count\" x=\"{x:.1}\" y=\"{y:.1}\">{seeds}</text>"
        );
    }
    out + "</svg>"
}
