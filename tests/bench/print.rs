//! Prints figures as a table, as JSON, or as Markdown.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, bail};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::{
    Format,
    report::{Figure, Report},
};

const HEADER: [&str; 9] = [
    "what",
    "unit",
    "per second",
    "CPU µs",
    "× first",
    "× floor",
    "p50 / p99 ms",
    "peak MB",
    "bars",
];

/// The marks around the results of a page.
const BEGIN: &str = "<!-- results -->";
const END: &str = "<!-- end of results -->";

/// A table with one rule below the header, so that rows work with grep.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

pub(crate) fn print(report: &Report, format: Format) -> anyhow::Result<()> {
    let text = match format {
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
        Format::Table => tables(report),
        Format::Markdown => markdown(report),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Returns the text of a page with new results between its marks.
pub(crate) fn replace(page: &Path, results: &str) -> anyhow::Result<String> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let Some((before, after)) = parts else {
        bail!("{} has no lines {BEGIN} and {END}", page.display());
    };
    Ok(format!("{before}{BEGIN}\n\n{results}\n{END}{after}"))
}

fn tables(report: &Report) -> String {
    let mut text = heading(report) + "\n";
    for section in &report.sections {
        text += &format!("\n{}\n", section.section);
        let mut table = Table::new();
        table
            .load_style(STYLE)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(HEADER);
        for figure in &section.figures {
            table.add_row(cells(figure));
        }
        for column in 2..6 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text += &format!("{table}\n");
        for line in below(section) {
            text += &format!("{line}\n");
        }
    }
    for bar in &report.bars_not_measured {
        text += &format!("\nnot measured in this run: {bar}");
    }
    text + "\n"
}

pub(crate) fn markdown(report: &Report) -> String {
    let mut text = heading(report) + "\n";
    for section in &report.sections {
        text += &format!("\n### {}\n\n| {} |\n", section.section, HEADER.join(" | "));
        text += "|---|---|--:|--:|--:|--:|---|---|---|\n";
        for figure in &section.figures {
            text += &format!("| {} |\n", cells(figure).join(" | "));
        }
        let lines = below(section);
        if !lines.is_empty() {
            text += "\n";
        }
        for line in lines {
            text += &format!("- {line}\n");
        }
    }
    if !report.bars_not_measured.is_empty() {
        text += "\nBars that this run did not measure:\n\n";
    }
    for bar in &report.bars_not_measured {
        text += &format!("- {bar}\n");
    }
    text
}

fn heading(report: &Report) -> String {
    let machine = &report.machine;
    let quick = if report.quick { ", quick" } else { "" };
    format!(
        "{}: {} cores of {}, {:.0} GB, Linux {}; {} build{quick}; load {:.1} before, {:.1} after",
        machine.date,
        machine.cores,
        machine.cpu,
        machine.memory_gb,
        machine.kernel,
        machine.build,
        machine.load_start,
        machine.load_end,
    )
}

fn cells(figure: &Figure) -> Vec<String> {
    let ratio = |value: Option<f64>| value.map_or_else(String::new, significant);
    let memory: Vec<String> = figure
        .memory_mb
        .iter()
        .map(|(name, mb)| format!("{name} {mb:.0}"))
        .collect();
    let latency: Vec<String> = ["p50", "p99"]
        .iter()
        .filter_map(|name| figure.latency_ms.get(name).copied().map(significant))
        .collect();
    let bars: Vec<String> = figure
        .bars
        .iter()
        .map(|bar| format!("{}: {}", bar.bar, if bar.met { "met" } else { "MISSED" }))
        .collect();
    vec![
        figure.what.clone(),
        figure.unit.to_owned(),
        if figure.per_second >= 100.0 {
            thousands(figure.per_second)
        } else {
            significant(figure.per_second)
        },
        ratio(figure.cpu_us),
        ratio(figure.ratio_first),
        ratio(figure.ratio_floor),
        latency.join(" / "),
        memory.join(", "),
        bars.join("; "),
    ]
}

/// Values without a column of their own.
fn below(section: &crate::report::Measured) -> Vec<String> {
    let mut lines = Vec::new();
    for figure in &section.figures {
        let mut text: Vec<String> = figure
            .more
            .iter()
            .map(|(name, value)| format!("{name} {}", significant(*value)))
            .collect();
        text.extend(figure.note.clone());
        if !text.is_empty() {
            lines.push(format!("{}: {}", figure.what, text.join("; ")));
        }
        if figure.bars.iter().any(|bar| !bar.met) && !figure.profile.is_empty() {
            let parts = figure.profile.lines().join("; ");
            lines.push(format!("{}, where the time went: {parts}", figure.what));
        }
    }
    for missing in &section.missing {
        let word = if missing.failed { "FAILED: " } else { "" };
        lines.push(format!("{}: {word}{}", missing.what, missing.reason));
    }
    lines
}

/// Three significant digits, or all digits before the point.
fn significant(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 => return thousands(value),
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

/// `12,345`
fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.max(0.0));
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
