//! Higher moments of blocks' scores and luck, for the precision of the luck share.
//!
//! Let x be a block's score and e its luck-adjusted residual, each centred at its mean.
//! The ratio of their squares is ρ = Σe² / Σx², and by the delta method its variance is
//! Σ(e² − ρx²)² / (Σx²)². With fixed slopes, e² − ρx² is a polynomial of the second degree
//! in units and luck, so that sums of products up to the fourth degree determine it.

use serde::{Deserialize, Serialize};

use super::LuckSums;

/// Sums over blocks of units^i · luck^j with i + j from 2 to 4 that [`LuckSums`] does not
/// have. Invalid luck values make only these sums meaningless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShapeSums {
    units: [i128; 3],
    luck: [i128; 2],
    /// Units² · luck, units³ · luck, units · luck², units² · luck², units · luck³.
    both: [i128; 5],
}

impl ShapeSums {
    pub(super) fn add(&mut self, luck: i64, units: u64) {
        let (l, u) = (i128::from(luck), i128::from(units));
        let product = |factors: &[i128]| {
            let all = factors.iter();
            all.fold(1_i128, |product, factor| product.saturating_mul(*factor))
        };
        let add = |sums: &mut [i128], factors: &[&[i128]]| {
            for (sum, factors) in sums.iter_mut().zip(factors) {
                *sum = sum.saturating_add(product(factors));
            }
        };
        add(&mut self.units, &[&[u, u], &[u, u, u], &[u, u, u, u]]);
        add(&mut self.luck, &[&[l, l, l], &[l, l, l, l]]);
        add(
            &mut self.both,
            &[
                &[u, u, l],
                &[u, u, u, l],
                &[u, l, l],
                &[u, u, l, l],
                &[u, l, l, l],
            ],
        );
    }

    /// Σ units^i · luck^j.
    fn at(&self, of: &LuckSums, powers: (usize, usize)) -> f64 {
        (match powers {
            (0, 0) => i128::from(of.blocks),
            (1, 0) => i128::from(of.units),
            (0, 1) => of.luck,
            (1, 1) => of.products,
            (0, 2) => of.squares,
            (units, 0) => self.units[units - 2],
            (0, luck) => self.luck[luck - 3],
            (2, 1) => self.both[0],
            (3, 1) => self.both[1],
            (1, 2) => self.both[2],
            (2, 2) => self.both[3],
            _ => self.both[4],
        }) as f64
    }
}

/// Factors that convert units and luck to shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Score of a unit.
    pub(super) unit: f64,
    /// Residual score per unit of luck.
    pub(super) luck: f64,
}

/// Sum over some blocks of (e² − ρx²)², given the offsets of e and x.
pub(super) fn squares(
    (sums, shape): (&LuckSums, &ShapeSums),
    line: Line,
    ratio: f64,
    (left, score): (f64, f64),
) -> f64 {
    let Line { unit, luck } = line;
    // Coefficients of units^i · luck^j in e² − ρx².
    let terms = [
        ((2, 0), unit * unit * (1.0 - ratio)),
        ((1, 1), 2.0 * unit * luck),
        ((0, 2), luck * luck),
        ((1, 0), -2.0 * unit * (left - ratio * score)),
        ((0, 1), -2.0 * luck * left),
        ((0, 0), left * left - ratio * score * score),
    ];
    let mut sum = 0.0;
    for (one, factor) in terms {
        for (other, by) in terms {
            let powers = (one.0 + other.0, one.1 + other.1);
            sum += factor * by * shape.at(sums, powers);
        }
    }
    sum.max(0.0)
}
