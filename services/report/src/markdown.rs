//! A report for a pull request, in GitHub-flavored Markdown.

use std::fmt::Display;

use arena_model::printable;
use itertools::{Itertools, izip};

use crate::{
    page::date,
    report::Report,
    rounds::{self, RoundFormat, Rounds},
    standings::{
        columns::{self, Column, IN_MARKDOWN},
        table::swiss_tiebreaks,
    },
    units, words,
};

/// Maximum number of agents in a crosstable; wider tables are unreadable on GitHub.
const CROSSTABLE_MAX: usize = 12;
/// Maximum number of tables of rounds to show.
const TABLES_MAX: usize = 255;
/// Maximum number of fault groups to list.
const FAULTS_MAX: usize = 10;

/// Renders a report as Markdown.
pub fn markdown(report: &Report) -> String {
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
    let summary = words::summary(report);
    let (first, more) = summary.split_at(summary.len().min(words::SHOWN));
    let list = |said: &String| format!("- {}\n", escape(&units::unbroken(said)));
    out.extend(first.iter().map(list));
    out.push('\n');
    if !more.is_empty() {
        out += "<details><summary>More</summary>\n\n";
        out.extend(more.iter().map(list));
        out += "\n</details>\n\n";
    }
    if report.games > 0 {
        out += &standings(report);
        out += &rounds(report);
        out += &crosstable(report);
        out += &faults(report);
    }
    out += &again(report);
    printable(&out).into_owned()
}

fn expectations(report: &Report) -> String {
    if report.verdicts.is_empty() {
        return String::new();
    }
    let mut out = "| | expected | result |\n| --- | --- | --- |\n".to_owned();
    for verdict in &report.verdicts {
        let holds = match verdict.holds {
            true => "✅ holds",
            false => "❌ does not hold",
        };
        let says = escape(&units::unbroken(&verdict.says));
        out += &row([holds, &escape(&verdict.expect), &says]);
    }
    out + "\n"
}

fn standings(report: &Report) -> String {
    let mut agents = report.agents.iter().map(|agent| &agent.standing);
    let swiss = agents.any(|standing| standing.swiss_points.is_some());
    let deciding = columns::deciding(report.agents.iter().map(|agent| &agent.standing));
    let rating = report.ratings.as_ref().map(|_| &"rating");
    let keys = ["place", "agent"].iter().chain(deciding).chain(rating);
    let columns: Vec<&Column> = columns::named(keys.chain(IN_MARKDOWN)).collect();
    let heads = columns.iter().map(|it| it.report_head(report.adaptive));
    let rules = columns.iter().map(|column| match column.key {
        "agent" => "---",
        _ => "---:",
    });
    let mut out = row(heads) + &row(rules);
    for agent in &report.agents {
        let cell = |column: &&Column| match column.key {
            "agent" => escape(&agent.standing.agent),
            _ => column.report_text(&agent.standing, report.adaptive),
        };
        out += &row(columns.iter().map(cell));
    }
    for standing in report.agents.iter().map(|agent| &agent.standing) {
        if let Some(identity) = units::identity(standing) {
            out += &format!("\n{}: {}\n", escape(&standing.agent), escape(&identity));
        }
    }
    if swiss {
        out += &format!("\nPlaces are decided {}.\n", swiss_tiebreaks(report.seats));
    }
    if report.adaptive {
        out += "\nIntervals are anytime-valid because results decided what was played or when it ended.\n";
    }
    out + "\n"
}

/// Formats a table row.
fn row(cells: impl IntoIterator<Item: Display>) -> String {
    format!("| {} |\n", cells.into_iter().format(" | "))
}

/// The pairings of each round, if the format has rounds and the tournament is finished.
fn rounds(report: &Report) -> String {
    let Some(rounds) = report.verdict.as_ref().and_then(Rounds::of) else {
        return String::new();
    };
    if rounds.tables() > TABLES_MAX {
        let id = &report.id;
        return format!("Pairings of each round: `arena standings {id} --rounds`\n\n");
    }
    let mut out = "<details><summary>Round by round</summary>\n\n".to_owned();
    if rounds.kind == RoundFormat::Swiss {
        let agents = report.agents.iter();
        let agents: Vec<&str> = agents.map(|it| it.standing.agent.as_str()).collect();
        let cells = rounds::swiss_cells(&rounds, &agents, rounds::numbered);
        let heads = [String::new()].into_iter().chain(rounds.titles());
        out += &row(heads.clone());
        out += &row(heads.map(|_| "---"));
        for (number, agent, cells) in izip!(1.., agents, cells) {
            let first = format!("{number} {}", escape(agent));
            out += &row([first].into_iter().chain(cells));
        }
        out += "\nPoints in each round; opponents in brackets.\n";
    } else {
        for (title, lines) in rounds::lines(&rounds) {
            out += &format!("**{}**\n\n", escape(&title));
            for line in lines {
                out += &format!("- {}\n", escape(&line.split_whitespace().join(" ")));
            }
            out.push('\n');
        }
        out += "Points: one for each opponent beaten, a half for each tied. Agents that advance come first.\n";
    }
    out + "\n</details>\n\n"
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
        let (agent, kind) = (escape(&fault.agent), escape(fault.kind));
        out += &format!("- {agent}: {kind}, {}", fault.times());
        if let Some((game, ply)) = fault.games.first() {
            out += &format!(", first at ply {ply} of `{game}`");
        }
        if !fault.message.is_empty() {
            out += &format!(": {}", escape(&fault.message));
        }
        out.push('\n');
    }
    let unlisted = report.faults.iter().skip(FAULTS_MAX);
    let more = unlisted.map(|fault| fault.count).sum::<u64>() + report.faults_unlisted;
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
        format!("SHA-256 of the {games} games in this report: `{digest}`.")
    } else {
        format!(
            "SHA-256 of the {games} games so far: `{digest}`. The commands play all {} games, whose hash \
             differs.",
            units::count(report.games_total)
        )
    };
    let fence = fence(&format!("{}\n{commands}", report.spec_toml));
    let registrations = report.on_registrations();
    let registrations = registrations.map_or_else(String::new, |text| format!("{text}\n\n"));
    format!(
        "<details><summary>Reproduce</summary>\n\nSave this spec as `spec.toml`:\n\n\
         {fence}toml\n{}\n{fence}\n\n{registrations}\
         {fence}sh\n{commands}\n{fence}\n\n{hash}\n\n</details>\n",
        report.spec_toml.trim_end(),
    )
}

/// A code fence that the text does not contain.
fn fence(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

/// Escapes text to one line without markup, HTML or cell separators.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Prevents a mention, which would notify a GitHub user.
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
