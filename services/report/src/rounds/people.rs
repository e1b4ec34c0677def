//! Rounds as lines of text.

use itertools::{Itertools, izip};

use super::{RoundFormat, RoundMatch, Rounds};
use crate::units;

/// Every round of a knockout with a heading, its tables, byes, eliminations and the reasons
/// for advancing. The agents that advance come first.
pub fn lines(rounds: &Rounds) -> Vec<(String, Vec<String>)> {
    let titles = rounds.titles();
    let mut all = Vec::new();
    for ((round, parts), title) in rounds.all.iter().zip(rounds.parts()).zip(titles) {
        for part in parts {
            let side = part.side.map(|side| format!(", {}", side.title()));
            let heading = format!("{title}{}", side.unwrap_or_default());
            let mut lines = tables(rounds, &part.tables);
            if !part.byes.is_empty() {
                let byes = part.byes.iter().map(|agent| label(rounds, agent));
                lines.push(format!("bye: {}", byes.format(", ")));
            }
            all.push((heading, lines));
        }
        // In a single elimination, every agent that does not advance is out.
        if let Some((_, lines)) = all.last_mut()
            && rounds.is_double()
            && !round.out.is_empty()
        {
            lines.push(format!("out: {}", round.out.join(", ")));
        }
    }
    all
}

/// An agent with its seed, if the seed is known.
fn label(rounds: &Rounds, agent: &str) -> String {
    match rounds.seed(agent) {
        Some(seed) => format!("{agent} ({seed})"),
        None => agent.to_owned(),
    }
}

/// Formats tables, one per line; pairs in columns.
fn tables(rounds: &Rounds, tables: &[&RoundMatch]) -> Vec<String> {
    let labels = |table: &&RoundMatch| {
        let agents = table.agents.iter();
        agents.map(|agent| label(rounds, agent)).collect_vec()
    };
    let all = tables.iter().map(labels).collect_vec();
    let scores = tables.iter().map(|table| score(table)).collect_vec();
    let longest = |texts: &mut dyn Iterator<Item = &String>| {
        let lengths = texts.map(|text| text.chars().count());
        lengths.max().unwrap_or_default()
    };
    let width = longest(&mut all.iter().filter_map(|names| names.first()));
    let score_width = longest(&mut scores.iter());
    let line = |(table, names, score): (&&RoundMatch, &Vec<String>, &String)| {
        let mut line = match &names[..] {
            [one, other] => format!("{one:width$}  {score:^score_width$}  {other}"),
            _ => many(table, names),
        };
        if table.by_seed {
            line += BY_SEED;
        }
        line
    };
    izip!(tables, &all, &scores).map(line).collect()
}

/// The reason why an agent advanced without more points than another.
const BY_SEED: &str = "; tied, the better seed advances";

/// `12 – 8`
fn score(table: &RoundMatch) -> String {
    table.points.iter().copied().map(units::points).join(" – ")
}

/// Formats a table of more than two agents.
fn many(table: &RoundMatch, names: &[String]) -> String {
    let agents = names.iter().zip(&table.points);
    let text = agents.map(|(name, &points)| format!("{name} {}", units::points(points)));
    let text = text.collect_vec();
    let (on, out) = text.split_at(table.go_on.min(text.len()));
    format!("advance: {}; out: {}", on.join(", "), out.join(", "))
}

/// Formats agents by their numbers in a list: `(2, 5)`.
pub fn numbered(places: &[usize]) -> String {
    let numbers = places.iter().map(|place| place + 1);
    format!("({})", numbers.format(", "))
}

/// Cells of a Swiss tournament by agent and round: the points and the opponents, by their
/// numbers in the list as formatted by `called`; or a bye.
pub fn swiss_cells(
    rounds: &Rounds,
    agents: &[&str],
    called: impl Fn(&[usize]) -> String,
) -> Vec<Vec<String>> {
    debug_assert_eq!(rounds.kind, RoundFormat::Swiss);
    let place = |name: &str| agents.iter().position(|known| *known == name);
    let mut cells = vec![vec!["–".to_owned(); rounds.all.len()]; agents.len()];
    for (number, round) in rounds.all.iter().enumerate() {
        for bye in round.byes.iter().filter_map(|name| place(name)) {
            cells[bye][number] = "bye".to_owned();
        }
        for table in &round.tables {
            for (own, name) in table.agents.iter().enumerate() {
                let Some(agent) = place(name) else { continue };
                let others = (0..table.agents.len()).filter(|&other| other != own);
                let others = others.collect_vec();
                let met = others
                    .iter()
                    .filter_map(|&other| place(&table.agents[other]));
                let met = called(&met.collect_vec());
                let got = |at: usize| units::points(table.points.get(at).copied().unwrap_or(0.0));
                let mut score = got(own);
                if let [other] = others[..] {
                    score += &format!("–{}", got(other));
                }
                cells[agent][number] = format!("{score} {met}");
            }
        }
    }
    cells
}
