//! A report for a pull request, in GitHub's Markdown.

use super::{Report, page::date, words};
use crate::units;

/// The most agents of a crosstable: wider ones cannot be read there.
const CROSSTABLE_MAX: usize = 12;
/// Faults that are listed.
const FAULTS_MAX: usize = 10;

/// The Markdown of a report.
pub(crate) fn markdown(report: &Report) -> String {
    let mut out = format!("## {}\n\n", escape(&words::headline(report)));
    out += &format!(
        "`{}`: {} of {} games, {}, {} seats, {}",
        report.id,
        units::count(report.games),
        units::count(report.games_total),
        report.ruleset,
        report.seats,
        report.format
    );
    if let Some(finished) = date(report.finished_unix_us) {
        out += &format!(", {} {finished}", report.ended());
    }
    out += "\n\n";
    out += &expectations(report);
    for said in words::summary(report) {
        out += &format!("- {}\n", escape(&said));
    }
    out.push('\n');
    if report.games > 0 {
        out += &standings(report);
        out += &crosstable(report);
        out += &faults(report);
    }
    out + &again(report)
}

fn expectations(report: &Report) -> String {
    if report.verdicts.is_empty() {
        return String::new();
    }
    let mut out = "| | expected | came |\n| --- | --- | --- |\n".to_owned();
    for verdict in &report.verdicts {
        out += &format!(
            "| {} | {} | {} |\n",
            if verdict.holds {
                "✅ holds"
            } else {
                "❌ does not hold"
            },
            escape(&verdict.expect),
            escape(&verdict.says)
        );
    }
    out + "\n"
}

fn standings(report: &Report) -> String {
    let rated = report.ratings.is_some();
    let elo = if rated { " rating [95%] |" } else { "" };
    let rule = if rated { " ---: |" } else { "" };
    let mut out = format!(
        "| # | agent |{elo} score [95%] | games | wins | draws | losses | faults |\n\
         | ---: | --- |{rule} ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for agent in &report.agents {
        let standing = &agent.standing;
        let rating = if rated {
            format!(" {} |", words::rating(standing))
        } else {
            String::new()
        };
        out += &format!(
            "| {} | {} |{rating} {} | {} | {} | {} | {} | {} |\n",
            units::place(standing.place),
            escape(&standing.agent),
            units::interval(standing.score, standing.score_low, standing.score_high),
            units::count(standing.games),
            units::count(standing.wins),
            units::count(standing.draws),
            units::count(standing.losses),
            units::count(standing.faults),
        );
    }
    if report.adaptive {
        out += "\nIntervals hold however often one looks: results decided what was played or when it \
                ended.\n";
    }
    out + "\n"
}

fn crosstable(report: &Report) -> String {
    if !(3..=CROSSTABLE_MAX).contains(&report.agents.len()) {
        return String::new();
    }
    let mut out = "<details><summary>Head to head, row against column, percent of the points</summary>\n\n| |".to_owned();
    for place in 0..report.agents.len() {
        out += &format!(" {} |", place + 1);
    }
    out += "\n| --- |";
    out += &" ---: |".repeat(report.agents.len());
    out.push('\n');
    for (place, (agent, pairs)) in report.agents.iter().zip(&report.pairs).enumerate() {
        out += &format!("| {} {} |", place + 1, escape(&agent.standing.agent));
        for pair in pairs {
            out += &match pair {
                Some(pair) => format!(" {} |", units::percent(pair.score.value, None)),
                None => " · |".to_owned(),
            };
        }
        out.push('\n');
    }
    out + "\n</details>\n\n"
}

fn faults(report: &Report) -> String {
    if report.faults.is_empty() {
        return String::new();
    }
    let mut out = "<details><summary>Faults</summary>\n\n".to_owned();
    for fault in report.faults.iter().take(FAULTS_MAX) {
        out += &format!(
            "- {}: {} at ply {} of `{}`",
            escape(&fault.agent),
            escape(fault.kind),
            fault.ply,
            fault.game
        );
        if !fault.message.is_empty() {
            out += &format!(": {}", escape(&fault.message));
        }
        out.push('\n');
    }
    let more = report.faults.len().saturating_sub(FAULTS_MAX) as u64 + report.faults_unlisted;
    if more > 0 {
        out += &format!("- and {} more\n", units::count(more));
    }
    out + "\n</details>\n\n"
}

fn again(report: &Report) -> String {
    let commands = report.commands();
    let games = units::count(report.games);
    let digest = &report.digest;
    let hash = if report.is_whole() {
        format!("The {games} games of this report come to `{digest}`.")
    } else {
        format!(
            "The {games} games so far come to `{digest}`; all {}, which the commands play, come to \
             another hash.",
            units::count(report.games_total)
        )
    };
    let fence = fence(&format!("{}\n{commands}", report.spec_toml));
    format!(
        "<details><summary>Play it again</summary>\n\n{fence}toml\n{}\n{fence}\n\n\
         {fence}sh\n{commands}\n{fence}\n\n{hash}\n\n</details>\n",
        report.spec_toml.trim_end(),
    )
}

/// A fence that the text does not close.
fn fence(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}

/// Text as it is, on one line: no markup, no HTML, no end of a table's cell.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // So that nobody is called by it.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
