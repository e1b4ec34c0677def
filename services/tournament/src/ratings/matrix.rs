//! Symmetric matrices for ratings.
//!
//! A library would be faster with thousands of agents. But libraries choose instructions by
//! the machine, and standings must be byte-identical on any machine. Here every sum has one
//! fixed order.

use std::ops::Range;

/// Number of rows that are computed together, so that each row above is read from memory once for all
/// of them.
const ROWS_TOGETHER: usize = 16;

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    pub(crate) fn zero(size: usize) -> Self {
        Self {
            size,
            cells: vec![0.0; size * size],
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    /// Adds numbers, times a factor, to a row.
    pub(crate) fn add_to_row(&mut self, row: usize, factor: f64, numbers: &[f64]) {
        add_scaled(
            &mut self.cells[row * self.size..][..self.size],
            factor,
            numbers,
        );
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..][..self.size]
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    /// Number of parts of rows that [`Matrix::solve`] reads in each of its steps.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> usize {
        Parts::of(self).rows.iter().map(Vec::len).sum()
    }

    /// Solves `self · x = right` by conjugate gradients with the diagonal as
    /// preconditioner; `self` is positive definite.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let parts = Parts::of(self);
        let mut x = vec![0.0; self.size];
        let mut rest = right.to_vec();
        let scaled = |rest: &[f64]| -> Vec<f64> {
            let cells = rest.iter().enumerate();
            cells.map(|(i, value)| value / self.at(i, i)).collect()
        };
        let mut preconditioned = scaled(&rest);
        let mut direction = preconditioned.clone();
        let mut size = dot(&rest, &preconditioned);
        let enough = size * 1e-24;
        for _ in 0..10 * self.size + 10 {
            if size <= enough {
                break;
            }
            let image = parts.times(&direction);
            let step = size / dot(&direction, &image);
            add_scaled(&mut x, step, &direction);
            add_scaled(&mut rest, -step, &image);
            preconditioned = scaled(&rest);
            let next = dot(&rest, &preconditioned);
            let kept = next / size;
            size = next;
            for (d, p) in direction.iter_mut().zip(&preconditioned) {
                *d = p + kept * *d;
            }
        }
        x
    }

    /// The inverse of the lower triangle L with L·Lᵀ = self; `None` if self is not positive
    /// definite.
    pub(crate) fn inverse_root(&self) -> Option<Self> {
        let n = self.size;
        let mut root = Self::zero(n);
        for block in blocks(n) {
            for j in 0..block.end {
                for i in block.start.max(j)..block.end {
                    let known = dot(&root.row(i)[..j], &root.row(j)[..j]);
                    let value = self.at(i, j) - known;
                    let cell = if i == j {
                        if value <= 0.0 || !value.is_finite() {
                            return None;
                        }
                        value.sqrt()
                    } else {
                        value / root.at(j, j)
                    };
                    root.cells[i * n + j] = cell;
                }
            }
        }
        // Row i of the inverse is the unit vector minus the rows above it.
        let mut inverse = Self::zero(n);
        for block in blocks(n) {
            let (above, rows) = inverse.cells.split_at_mut(block.start * n);
            let own = &mut rows[..block.len() * n];
            for (i, own) in block.clone().zip(own.chunks_exact_mut(n)) {
                own[i] = 1.0;
            }
            for (j, above) in above.chunks_exact(n).enumerate() {
                for (i, own) in block.clone().zip(own.chunks_exact_mut(n)) {
                    add_scaled(&mut own[..=j], -root.at(i, j), &above[..=j]);
                }
            }
            for (place, i) in block.clone().enumerate() {
                let (before, own) = own.split_at_mut(place * n);
                let own = &mut own[..n];
                for (j, before) in block.clone().zip(before.chunks_exact(n)) {
                    add_scaled(&mut own[..=j], -root.at(i, j), &before[..=j]);
                }
                let pivot = root.at(i, i);
                own[..=i].iter_mut().for_each(|cell| *cell /= pivot);
            }
        }
        Some(inverse)
    }

    /// `selfᵀ · self`, symmetric, of a lower triangle.
    pub(crate) fn gram(&self) -> Self {
        let n = self.size;
        let mut product = Self::zero(n);
        for k in 0..n {
            let row = self.row(k);
            for i in 0..=k {
                let factor = row[i];
                add_scaled(&mut product.cells[i * n..][..=k], factor, &row[..=k]);
            }
        }
        product
    }

    /// `self · middle · self` for symmetric matrices.
    pub(crate) fn sandwich(&self, middle: &Self) -> Self {
        let n = self.size;
        let product = |left: &Self, right: &Self| {
            let mut product = Self::zero(n);
            for i in 0..n {
                for k in 0..n {
                    let factor = left.at(i, k);
                    add_scaled(&mut product.cells[i * n..][..n], factor, right.row(k));
                }
            }
            product
        };
        product(&product(self, middle), self)
    }
}

/// The rows in groups.
fn blocks(size: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..size).step_by(ROWS_TOGETHER);
    starts.map(move |start| start..size.min(start + ROWS_TOGETHER))
}

/// Number of interleaved sums.
const LANES: usize = 4;

/// The rows of a matrix without the parts that are 0: most pairs of many agents have not met.
struct Parts<'a> {
    matrix: &'a Matrix,
    /// By row, the numbers of its parts of [`LANES`] cells that are not all 0.
    rows: Vec<Vec<u32>>,
}

impl<'a> Parts<'a> {
    fn of(matrix: &'a Matrix) -> Self {
        let of_row = |row| {
            let (parts, _) = matrix.row(row).as_chunks::<LANES>();
            let parts = (0..).zip(parts).filter(|(_, part)| **part != [0.0; LANES]);
            parts.map(|(number, _)| number).collect()
        };
        Self {
            matrix,
            rows: (0..matrix.size).map(of_row).collect(),
        }
    }

    /// The product with a vector, to the bit as if no part was left out: see [`dot`].
    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let (vector, of_rest) = vector.as_chunks();
        let rows = self.rows.iter().enumerate().map(|(row, numbers)| {
            let (row, rest) = self.matrix.row(row).as_chunks();
            let parts = numbers.iter().map(|&number| number as usize);
            dot_of_parts(parts.map(|number| (&row[number], &vector[number])))
                + dot_of_rest(rest, of_rest)
        });
        rows.collect()
    }
}

/// Sum of products, in interleaved sums.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let ((ones, rest), (others, of_rest)) = (one.as_chunks(), other.as_chunks());
    dot_of_parts(ones.iter().zip(others)) + dot_of_rest(rest, of_rest)
}

fn dot_of_parts<'a>(parts: impl Iterator<Item = (&'a [f64; LANES], &'a [f64; LANES])>) -> f64 {
    let mut sums = [0.0; LANES];
    for (one, other) in parts {
        for (sum, (a, b)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

fn dot_of_rest(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

pub(crate) fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix with random-looking numbers.
    fn matrix(size: usize) -> Matrix {
        let mut draws = crate::tests::Draws(size as u64);
        let mut matrix = Matrix::zero(size);
        for i in 0..size {
            for j in 0..i {
                let value = draws.below(1000) as f64 / 1000.0 - 0.5;
                matrix.add(i, j, value);
                matrix.add(j, i, value);
            }
            matrix.add(i, i, size as f64);
        }
        matrix
    }

    /// The product with a vector, with all cells.
    fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
        let rows = (0..matrix.size).map(|row| dot(matrix.row(row), vector));
        rows.collect()
    }

    #[test]
    fn parts_of_zeros_change_no_bit() {
        for size in [1, 3, 4, 21, 64] {
            let mut sparse = matrix(size);
            let mut draws = crate::tests::Draws(7);
            for cell in &mut sparse.cells {
                if draws.below(4) > 0 {
                    *cell = 0.0;
                }
            }
            let vector: Vec<f64> = (0..size).map(|i| 1.0 / (i as f64 - 2.5)).collect();
            let bits =
                |product: Vec<f64>| product.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
            let product = Parts::of(&sparse).times(&vector);
            assert_eq!(bits(product), bits(times(&sparse, &vector)));
        }
    }

    #[test]
    fn solve_and_inverse_undo_the_matrix() {
        for size in [1, 2, 3, 7, 20, 2 * ROWS_TOGETHER, 2 * ROWS_TOGETHER + 5] {
            let matrix = matrix(size);
            let expected: Vec<f64> = (0..size).map(|i| i as f64 - 1.5).collect();
            let right = times(&matrix, &expected);
            let inverse = matrix.inverse_root().expect("positive definite").gram();
            for found in [matrix.solve(&right), times(&inverse, &right)] {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
                }
            }
            let same = inverse.sandwich(&matrix);
            for (a, b) in same.cells.iter().zip(&inverse.cells) {
                assert!((a - b).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn singular_matrix_is_reported() {
        let mut matrix = Matrix::zero(2);
        matrix.add(0, 0, 1.0);
        matrix.add(1, 1, -1.0);
        assert!(matrix.inverse_root().is_none());
    }
}
