//! Which cells say again what cells before them said: of games without draws the
//! wins of one player tell those of the other, and percentages the counts that
//! they are of. Such a cell is compared, but it confirms nothing more.
//!
//! Published figures of the same games are linear in what those games counted,
//! so that a cell repeats others where its count is a combination of theirs and
//! the printed figures add up as well.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    fields::{Expect, Kind},
    quantity::{Measure, Quantity},
    tables::{Cell, Matchup, PublishedTable},
};

/// What was counted in the same games: by name how often it goes into a figure.
type Counted = BTreeMap<String, f64>;

/// Smaller is nothing but rounding of the arithmetic.
const NOTHING: f64 = 1e-9;

/// A published figure as an equation: what is counted comes to so much.
#[derive(Clone, Debug)]
struct Claim {
    counted: Counted,
    amount: f64,
}

impl Claim {
    /// Takes `times` another claim off.
    fn less(&mut self, other: &Self, times: f64) {
        for (name, coefficient) in &other.counted {
            *self.counted.entry(name.clone()).or_default() -= times * coefficient;
        }
        self.counted
            .retain(|_, coefficient| coefficient.abs() > NOTHING);
        self.amount -= times * other.amount;
    }
}

/// Claims about the same games, each reduced by those before it.
#[derive(Debug, Default)]
struct Known(Vec<Claim>);

impl Known {
    /// True where the claim follows from those known; else it is known from now
    /// on.
    fn implies(&mut self, mut claim: Claim, tolerance: f64) -> bool {
        for known in &self.0 {
            // Reduced claims are not empty.
            let Some((pivot, coefficient)) = known.counted.iter().next() else {
                continue;
            };
            if let Some(mine) = claim.counted.get(pivot) {
                claim.less(known, mine / coefficient);
            }
        }
        if claim.counted.is_empty() {
            return claim.amount.abs() <= tolerance;
        }
        self.0.push(claim);
        false
    }
}

/// Marks the cells of all tables, in their order, that repeat others.
pub(crate) fn mark(tables: &mut [PublishedTable]) {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for table in tables {
        let measures_draws: Vec<bool> = (0..table.plays.len())
            .map(|place| {
                table.cells.iter().any(|cell| {
                    let quantity = cell.measure.as_ref().map(|measure| measure.quantity);
                    cell.play == Some(place) && quantity == Some(Quantity::Draws)
                })
            })
            .collect();
        let PublishedTable { plays, cells, .. } = table;
        let mut printed = BTreeSet::new();
        for cell in cells {
            let play = cell.play.map(|place| &plays[place]);
            let draws = cell.play.is_some_and(|place| measures_draws[place]);
            // What is printed once is said once, however many of our settings
            // it is compared with.
            let compared = cell.expect != Expect::None;
            let first =
                { cell.printed.iter().filter(|_| compared) }.all(|row| printed.insert(row.clone()));
            cell.repeats = repeats(cell, play, draws, &mut known) || !first;
        }
    }
}

fn repeats(
    cell: &Cell,
    play: Option<&Matchup>,
    draws: bool,
    known: &mut BTreeMap<String, Known>,
) -> bool {
    let (Some(measure), Some(published)) = (&cell.measure, cell.published) else {
        return false;
    };
    if cell.expect == Expect::None {
        return false;
    }
    let agents = play.map_or(0, |play| play.spec.agents.len());
    let family = Family::of(measure, agents, draws);
    let games = play.map(|play| (&play.spec.ruleset, &play.options, &play.spec.play));
    let players = play.map(|play| (&play.spec.agents, &play.spec.variants));
    // Of the wins that somebody had, as many were counted as there were wins.
    let of = cell.of.filter(|_| family.name != "started");
    let key = format!("{} {of:?} {games:?} {players:?}", family.name);
    let first = !known.contains_key(&key);
    let known = known.entry(key).or_default();
    // All games are one, and its result is one thing to say.
    if play.is_some_and(|play| play.deterministic) && family.name == "result" && !first {
        return true;
    }
    let (amount, all) = match (cell.kind, cell.of) {
        (Kind::Count, of) => (published, of.unwrap_or(1) as f64),
        (Kind::Percent, Some(of)) => (published / 100.0 * of as f64, of as f64),
        (Kind::Percent, None) => (published / 100.0, 1.0),
        (Kind::Share, Some(of)) => (published * of as f64, of as f64),
        (Kind::Share | Kind::Mean | Kind::Value, _) => (published, 1.0),
    };
    // How far printed figures may be off by their own rounding.
    let tolerance = match (cell.kind, cell.of) {
        (Kind::Count, _) => 0.5,
        (Kind::Percent | Kind::Share, Some(_)) => 0.5 + 0.001 * all,
        (Kind::Percent | Kind::Share, None) => 0.001,
        (Kind::Mean | Kind::Value, _) => cell.within.unwrap_or(0.0),
    };
    if first && let Some(whole) = family.whole {
        known.0.push(Claim {
            counted: whole,
            amount: all,
        });
    }
    let times = cell.times.unwrap_or(1.0);
    let counted = family.counted.into_iter();
    let claim = Claim {
        counted: counted.map(|name| (name, times)).collect(),
        amount,
    };
    known.implies(claim, tolerance)
}

/// What a measure counts among things of one kind.
struct Family {
    name: String,
    counted: Vec<String>,
    /// What happens exactly once a game or throw.
    whole: Option<Counted>,
}

impl Family {
    fn of(measure: &Measure, agents: usize, draws: bool) -> Self {
        let once = |names: Vec<String>| names.into_iter().map(|name| (name, 1.0)).collect();
        let each = || (0..agents).map(|agent| agent.to_string());
        let of_agent = || match measure.agent {
            Some(agent) => vec![agent.to_string()],
            None => each().collect(),
        };
        let of_values = || measure.values.iter().map(u8::to_string).collect();
        let values = || arena_games::cowry::VALUES.iter().map(u8::to_string);
        match measure.quantity {
            Quantity::Wins | Quantity::Draws => Self {
                name: "result".to_owned(),
                counted: match measure.quantity {
                    Quantity::Draws => vec!["draw".to_owned()],
                    _ => of_agent(),
                },
                whole: Some(once(
                    each().chain(draws.then(|| "draw".to_owned())).collect(),
                )),
            },
            Quantity::Started => Self {
                name: "started".to_owned(),
                counted: of_agent(),
                whole: None,
            },
            Quantity::ThrowShare | Quantity::ThrowChance => Self {
                name: format!("{:?}", measure.quantity),
                counted: of_values(),
                whole: Some(once(values().collect())),
            },
            _ => Self {
                name: format!("{measure:?}"),
                counted: vec![String::new()],
                whole: None,
            },
        }
    }
}
