//! Sums of products over blocks, from which slopes and variances follow.

use crate::interval;

/// Relative rounding error of a sum of squares of floating-point numbers.
const ROUNDING: f64 = 1e-12;

/// A sum over the blocks of a group, and the factor that converts its parts to shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) sum: i128,
    pub(super) scale: f64,
}

/// Products of row and column quantities of blocks: over all blocks, and within groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Products<const ROWS: usize, const COLUMNS: usize> {
    pub(super) blocks: u64,
    groups: u64,
    /// Sums of the row quantities, and of the column quantities.
    pub(super) rows: [f64; ROWS],
    columns: [f64; COLUMNS],
    all: [[f64; COLUMNS]; ROWS],
    within: [[f64; COLUMNS]; ROWS],
}

impl<const ROWS: usize, const COLUMNS: usize> Default for Products<ROWS, COLUMNS> {
    fn default() -> Self {
        Self {
            blocks: 0,
            groups: 0,
            rows: [0.0; ROWS],
            columns: [0.0; COLUMNS],
            all: [[0.0; COLUMNS]; ROWS],
            within: [[0.0; COLUMNS]; ROWS],
        }
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Products<ROWS, COLUMNS> {
    /// Adds the blocks of one group: sums of the quantities and of their products.
    pub(super) fn add(
        &mut self,
        blocks: u64,
        rows: [Part; ROWS],
        columns: [Part; COLUMNS],
        products: [[i128; COLUMNS]; ROWS],
    ) {
        if blocks == 0 {
            return;
        }
        let n = i128::from(blocks);
        self.blocks += blocks;
        self.groups += 1;
        for (sum, part) in self.rows.iter_mut().zip(rows) {
            *sum += part.sum as f64 / part.scale;
        }
        for (sum, part) in self.columns.iter_mut().zip(columns) {
            *sum += part.sum as f64 / part.scale;
        }
        for (row, (one, products)) in rows.into_iter().zip(products).enumerate() {
            for (column, (other, product)) in columns.into_iter().zip(products).enumerate() {
                let scale = one.scale * other.scale;
                let spread = n * product - one.sum * other.sum;
                self.all[row][column] += product as f64 / scale;
                self.within[row][column] += spread as f64 / blocks as f64 / scale;
            }
        }
    }

    /// Sums of products of deviations from the mean: each group's own mean or, as in
    /// [`interval::Blocks`], the overall mean.
    pub(super) fn spread(&self) -> [[f64; COLUMNS]; ROWS] {
        if self.is_stratified() {
            return self.within;
        }
        let mut spread = self.all;
        for (row, one) in spread.iter_mut().zip(self.rows) {
            for (cell, other) in row.iter_mut().zip(self.columns) {
                *cell -= one * other / self.blocks as f64;
            }
        }
        spread
    }

    /// True if each group has a mean of its own.
    pub(super) fn is_stratified(&self) -> bool {
        self.blocks >= 2 * self.groups
    }

    /// The first cell of the spread; 0 if it is within rounding error.
    pub(super) fn first(&self) -> f64 {
        let first = self.spread()[0][0];
        if first > ROUNDING * self.all[0][0] {
            first
        } else {
            0.0
        }
    }

    /// Degrees of freedom of the spread.
    pub(super) fn df(&self) -> u64 {
        interval::df(self.blocks, self.groups)
    }
}

/// Scores and the luck of each half, of two agents or of one with itself.
pub(super) type ScoreLuck = Products<3, 3>;

/// The products of [`ScoreLuck`]: of scores, of one agent's luck with the other's score in
/// each half (the first one's luck, then the other's), and of both lucks. A block is in one
/// half, so that luck of one half is never multiplied with luck of the other.
pub(super) fn table(
    scores: i128,
    [first, second]: [[i128; 2]; 2],
    lucks: [i128; 2],
) -> [[i128; 3]; 3] {
    [
        [scores, second[0], second[1]],
        [first[0], lucks[0], 0],
        [first[1], 0, lucks[1]],
    ]
}

impl ScoreLuck {
    /// Sum of the first agent's scores, minus slope times luck of each half.
    pub(super) fn sum_left(&self, slopes: [f64; 2]) -> f64 {
        let weights = weights(slopes);
        let terms = self.rows.into_iter().zip(weights);
        terms.map(|(sum, weight)| sum * weight).sum()
    }

    /// Sum over blocks of the products of both residuals after subtracting luck with these
    /// slopes, centred at their means.
    pub(super) fn left(&self, slopes: [[f64; 2]; 2]) -> f64 {
        let [rows, columns] = slopes.map(weights);
        let cells = self.spread().into_iter().zip(rows);
        let row = |(cells, weight): ([f64; 3], f64)| {
            let cells = cells.into_iter().zip(columns);
            weight * cells.map(|(cell, weight)| cell * weight).sum::<f64>()
        };
        cells.map(row).sum()
    }
}

fn weights([even, odd]: [f64; 2]) -> [f64; 3] {
    [1.0, -even, -odd]
}
