//! Rounds of a Swiss tournament as a table, and of a knockout as a bracket.

use itertools::{Itertools, izip};

use crate::{
    rounds::{self, RoundFormat, RoundPart, Rounds, Tie},
    units,
};

/// Maximum number of tables in a bracket; a larger bracket shows only its last rounds.
const TABLES_MAX: usize = 255;
/// Maximum number of rounds that fit side by side on paper.
const ROUNDS_ON_PAPER: usize = 4;

/// A Swiss tournament, with one line per agent.
pub(super) struct SwissRounds {
    pub(super) titles: Vec<String>,
    /// Name, then the result and the opponents of each round.
    pub(super) rows: Vec<(String, Vec<(String, String)>)>,
}

/// A knockout, with one column per round.
pub(super) struct Bracket {
    /// CSS class of the column layout.
    pub(super) class: &'static str,
    pub(super) is_double: bool,
    pub(super) is_seeded: bool,
    pub(super) columns: Vec<Column>,
    /// Number of rounds omitted at the beginning.
    pub(super) left_out: usize,
}

pub(super) struct Column {
    pub(super) title: String,
    pub(super) parts: Vec<Part>,
}

pub(super) struct Part {
    pub(super) class: &'static str,
    pub(super) title: Option<&'static str>,
    pub(super) ties: Vec<Meeting>,
}

/// A table, or a bye.
pub(super) struct Meeting {
    pub(super) sides: Vec<Side>,
    pub(super) bye: bool,
    pub(super) by_seed: bool,
}

pub(super) struct Side {
    pub(super) seed: Option<usize>,
    pub(super) agent: String,
    pub(super) points: Option<String>,
    pub(super) goes_on: bool,
}

/// The lines of a Swiss tournament, for agents in the order of the standings.
pub(super) fn swiss(agents: &[&str], rounds: &Rounds) -> Option<SwissRounds> {
    if rounds.kind != RoundFormat::Swiss {
        return None;
    }
    let names = |places: &[usize]| places.iter().map(|&place| agents[place]).join(", ");
    let cells = rounds::swiss_cells(rounds, agents, names);
    let halves = |cell: &String| {
        let (got, met) = cell.split_once(' ').unwrap_or((cell, ""));
        (got.to_owned(), met.to_owned())
    };
    let cells = cells.iter().map(|row| row.iter().map(halves).collect());
    let names = agents.iter().map(|&name| name.to_owned());
    Some(SwissRounds {
        titles: rounds.titles(),
        rows: names.zip(cells).collect(),
    })
}

pub(super) fn bracket(rounds: &Rounds) -> Option<Bracket> {
    if rounds.kind != RoundFormat::Knockout {
        return None;
    }
    let mut left = rounds.tables();
    let mut left_out = 0;
    while left > TABLES_MAX {
        left -= rounds.all[left_out].tables.len();
        left_out += 1;
    }
    let tree = rounds::bracket(rounds, left_out);
    let is_tree = tree.is_some();
    let columns: Vec<Vec<Part>> = match tree {
        Some(tree) => {
            let columns = tree.iter();
            columns.map(|ties| vec![part(rounds, None, ties)]).collect()
        }
        None => {
            let of_part = |of: &RoundPart<'_>| {
                let tables = of.tables.iter().map(|&table| Tie::Match(table));
                let byes = of.byes.iter().map(|&agent| Tie::Bye(agent));
                part(rounds, of.side, &tables.chain(byes).collect_vec())
            };
            let rounds_left = rounds.parts().into_iter().skip(left_out);
            let columns = rounds_left.map(|parts| parts.iter().map(of_part).collect());
            columns.collect()
        }
    };
    let titles = rounds.titles().into_iter().skip(left_out);
    let long = columns.len() > ROUNDS_ON_PAPER;
    let is_double = rounds.is_double();
    Some(Bracket {
        class: match (is_tree, is_double, long) {
            (true, _, false) => "tree",
            (true, _, true) => "tree long",
            (false, true, _) => "sides long",
            (false, false, false) => "",
            (false, false, true) => "long",
        },
        is_double,
        is_seeded: !rounds.seeds.is_empty(),
        columns: titles
            .zip(columns)
            .map(|(title, parts)| Column { title, parts })
            .collect(),
        left_out,
    })
}

fn part(rounds: &Rounds, side: Option<rounds::BracketPart>, ties: &[Tie<'_>]) -> Part {
    Part {
        class: match side {
            None => "",
            Some(rounds::BracketPart::Winners) => "unbeaten",
            Some(rounds::BracketPart::Losers) => "beaten",
            Some(rounds::BracketPart::Final | rounds::BracketPart::Decider) => "last",
        },
        title: side.map(rounds::BracketPart::title),
        ties: ties.iter().map(|tie| meeting(rounds, tie)).collect(),
    }
}

fn meeting(rounds: &Rounds, tie: &Tie<'_>) -> Meeting {
    let side = |agent: &str, points: Option<f64>, goes_on: bool| Side {
        seed: rounds.seed(agent),
        agent: agent.to_owned(),
        points: points.map(units::points),
        goes_on,
    };
    match tie {
        Tie::Bye(agent) => Meeting {
            sides: vec![side(agent, None, true)],
            bye: true,
            by_seed: false,
        },
        Tie::Match(table) => Meeting {
            sides: izip!(0.., &table.agents, &table.points)
                .map(|(place, agent, &points)| side(agent, Some(points), place < table.go_on))
                .collect(),
            bye: false,
            by_seed: table.by_seed,
        },
    }
}
