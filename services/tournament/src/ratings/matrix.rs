//! Symmetric matrices for ratings.
//!
//! A library would be faster with thousands of agents. But libraries choose instructions by
//! the machine, and standings must be byte-identical on any machine. Here every sum has one
//! fixed order.

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

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..][..self.size]
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = (0..self.size).map(|row| dot(self.row(row), vector));
        rows.collect()
    }

    /// Solves `self · x = right` by conjugate gradients with the diagonal as
    /// preconditioner; `self` is positive definite.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
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
            let image = self.times(&direction);
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
        for i in 0..n {
            for j in 0..=i {
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
        // Row i of the inverse is the unit vector minus the rows above it.
        let mut inverse = Self::zero(n);
        for i in 0..n {
            let (above, own) = inverse.cells.split_at_mut(i * n);
            let own = &mut own[..n];
            own[i] = 1.0;
            for j in 0..i {
                let factor = -root.at(i, j);
                add_scaled(&mut own[..=j], factor, &above[j * n..][..=j]);
            }
            let pivot = root.at(i, i);
            own[..=i].iter_mut().for_each(|cell| *cell /= pivot);
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

/// Sum of products, in four interleaved sums.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (ones, others) = (one.chunks_exact(4), other.chunks_exact(4));
    let rest: f64 = ones
        .remainder()
        .iter()
        .zip(others.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in ones.zip(others) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
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

    #[test]
    fn solve_and_inverse_undo_the_matrix() {
        for size in [1, 2, 3, 7, 20] {
            let matrix = matrix(size);
            let expected: Vec<f64> = (0..size).map(|i| i as f64 - 1.5).collect();
            let right = matrix.times(&expected);
            let inverse = matrix.inverse_root().expect("positive definite").gram();
            for found in [matrix.solve(&right), inverse.times(&right)] {
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
