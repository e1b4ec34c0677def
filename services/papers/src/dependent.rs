//! Finds dependent cells: cells whose figures follow from those of earlier cells.
//!
//! In games without draws, the wins of one player determine the wins of the other, and a
//! count determines its percentage. A dependent cell is compared, but it confirms nothing
//! more.
//!
//! Published figures of the same games are linear in the counts of these games. So a cell is
//! dependent if its count is a linear combination of earlier cells' counts, and the printed
//! figures satisfy the same equation.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    fields::{FigureKind, Reproducibility},
    measure::Measure,
    quantity::Quantity,
    tables::{Matchup, PublishedTable, TableCell},
};

/// Coefficient of each count in a figure, by the count's name.
type Coefficients = BTreeMap<String, f64>;

/// A smaller coefficient is a rounding error of the arithmetic.
const ROUNDING_ERROR: f64 = 1e-9;

/// A published figure as a linear equation: the weighted sum of counts is `amount`.
#[derive(Clone, Debug)]
struct Claim {
    counted: Coefficients,
    amount: f64,
}

impl Claim {
    /// Subtracts another claim `times` times.
    fn subtract(&mut self, other: &Self, times: f64) {
        for (name, coefficient) in &other.counted {
            *self.counted.entry(name.clone()).or_default() -= times * coefficient;
        }
        self.counted
            .retain(|_, coefficient| coefficient.abs() > ROUNDING_ERROR);
        self.amount -= times * other.amount;
    }
}

/// Claims about the same games, each reduced by the earlier claims.
#[derive(Debug, Default)]
struct KnownClaims(Vec<Claim>);

impl KnownClaims {
    /// True if the claim follows from the known claims; otherwise adds it to them.
    fn implies(&mut self, mut claim: Claim, tolerance: f64) -> bool {
        for known in &self.0 {
            // Reduced claims are not empty.
            let Some((pivot, coefficient)) = known.counted.iter().next() else {
                continue;
            };
            if let Some(mine) = claim.counted.get(pivot) {
                claim.subtract(known, mine / coefficient);
            }
        }
        if claim.counted.is_empty() {
            return claim.amount.abs() <= tolerance;
        }
        self.0.push(claim);
        false
    }
}

/// Marks the dependent cells of all tables, in the order of the tables.
pub(crate) fn mark(tables: &mut [PublishedTable]) {
    let mut known: BTreeMap<String, KnownClaims> = BTreeMap::new();
    for table in tables {
        let PublishedTable { plays, cells, .. } = table;
        let is_draws = |cell: &&TableCell| {
            let measure = cell.measure.as_ref();
            measure.is_some_and(|measure| measure.quantity == Quantity::Draws)
        };
        let measures_draws = cells.iter().filter(is_draws).map(|cell| cell.play);
        let measures_draws: BTreeSet<Option<usize>> = measures_draws.collect();
        let mut printed = BTreeSet::new();
        for cell in cells {
            let play = cell.play.map(|place| &plays[place]);
            let draws = cell.play.is_some() && measures_draws.contains(&cell.play);
            // A printed figure counts once, even if it is compared with several settings.
            let compared = cell.fields.expect != Reproducibility::None;
            let first = { cell.fields.printed.iter().filter(|_| compared) }
                .all(|row| printed.insert(row.clone()));
            cell.dependent = is_dependent(cell, play, draws, &mut known) || !first;
        }
    }
}

fn is_dependent(
    cell: &TableCell,
    play: Option<&Matchup>,
    draws: bool,
    known: &mut BTreeMap<String, KnownClaims>,
) -> bool {
    let (Some(measure), Some(published)) = (&cell.measure, cell.fields.published) else {
        return false;
    };
    if cell.fields.expect == Reproducibility::None {
        return false;
    }
    let agents = play.map_or(0, |play| play.spec.agents.len());
    let family = ClaimFamily::of(measure, agents, draws);
    let games = play.map(|play| (&play.spec.ruleset, &play.options, &play.spec.play));
    let players = play.map(|play| (&play.spec.agents, &play.spec.variants));
    // The games behind the share of starts are the agent's wins, whose number varies.
    let of = cell.fields.of.filter(|_| family.name != "started");
    let key = format!("{} {of:?} {games:?} {players:?}", family.name);
    let first = !known.contains_key(&key);
    let known = known.entry(key).or_default();
    // All games are the same, so their result is one figure.
    if play.is_some_and(|play| play.deterministic) && family.name == "result" && !first {
        return true;
    }
    let of = cell.fields.of.map(|of| of as f64);
    let all = of.unwrap_or(1.0);
    // The count, the number of games, and the rounding error of the printed figures.
    let near = of.map_or(0.001, |of| 0.5 + 0.001 * of);
    let (amount, all, tolerance) = match cell.fields.kind {
        FigureKind::Count => (published, all, 0.5),
        FigureKind::Percent => (published / 100.0 * all, all, near),
        FigureKind::Share => (published * all, all, near),
        FigureKind::Mean | FigureKind::Value => (published, 1.0, cell.fields.within.unwrap_or(0.0)),
    };
    if first && let Some(whole) = family.whole {
        known.0.push(Claim {
            counted: whole,
            amount: all,
        });
    }
    let times = cell.fields.times.unwrap_or(1.0);
    let counted = family.counted.into_iter();
    let claim = Claim {
        counted: counted.map(|name| (name, times)).collect(),
        amount,
    };
    known.implies(claim, tolerance)
}

/// The counts of a measure, and the family of counts that they belong to.
struct ClaimFamily {
    name: String,
    counted: Vec<String>,
    /// Counts that add up to the number of games or throws.
    whole: Option<Coefficients>,
}

impl ClaimFamily {
    fn of(measure: &Measure, agents: usize, draws: bool) -> Self {
        let once = |names: &mut dyn Iterator<Item = String>| {
            names.map(|name| (name, 1.0)).collect::<Coefficients>()
        };
        let each = || (0..agents).map(|agent| agent.to_string());
        let of_agent = || match measure.agent {
            Some(agent) => vec![agent.to_string()],
            None => each().collect(),
        };
        let of_values = || measure.values.iter().map(u8::to_string).collect();
        let values = || arena_games::cowry::VALUES.iter().map(u8::to_string);
        let draw = || "draw".to_owned();
        let result = || Some(once(&mut each().chain(draws.then(draw))));
        let (name, counted, whole) = match measure.quantity {
            Quantity::Wins => ("result".to_owned(), of_agent(), result()),
            Quantity::Draws => ("result".to_owned(), vec![draw()], result()),
            Quantity::Started => ("started".to_owned(), of_agent(), None),
            Quantity::ThrowShare | Quantity::ThrowChance => {
                let name = format!("{:?}", measure.quantity);
                (name, of_values(), Some(once(&mut values())))
            }
            _ => (format!("{measure:?}"), vec![String::new()], None),
        };
        Self {
            name,
            counted,
            whole,
        }
    }
}
