//! Tables of squares and paths.

use strum::{IntoStaticStr, VariantArray};

/// Maximum number of squares of a board.
pub(super) const SQUARES_MAX: usize = 121;

/// Direction of the inner rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Inner {
    /// Each ring runs against the ring around it.
    Alternate,
    /// All inner rings clockwise.
    Spiral,
}

/// A square: row from the top, column from the left.
pub type Square = (u8, u8);

/// The path of the player who sits South: from the starting square around each ring to the centre.
/// None if the rings cannot be joined that way.
pub(super) fn south_path(size: u8, inner: Inner) -> Option<Vec<Square>> {
    let (last, middle) = (size - 1, (size - 1) / 2);
    let mut path = Vec::with_capacity(usize::from(size).pow(2));
    let mut square = (last, middle);
    for ring in 0..middle {
        let (low, high) = (ring, last - ring);
        let (row, column) = square;
        let on_ring = (row == low || row == high) && (low..=high).contains(&column)
            || (column == low || column == high) && (low..=high).contains(&row);
        if !on_ring {
            return None;
        }
        let clockwise = match inner {
            Inner::Alternate => ring % 2 == 1,
            Inner::Spiral => ring > 0,
        };
        for _ in 1..4 * (high - low) {
            path.push(square);
            square = next_on_ring(square, low, high, clockwise);
        }
        path.push(square);
        square.0 -= 1;
    }
    path.push((middle, middle));
    Some(path)
}

fn next_on_ring((row, column): Square, low: u8, high: u8, clockwise: bool) -> Square {
    if clockwise {
        match (row, column) {
            (row, column) if row == high && column > low => (row, column - 1),
            (row, column) if column == low && row > low => (row - 1, column),
            (row, column) if row == low && column < high => (row, column + 1),
            (row, column) => (row + 1, column),
        }
    } else {
        match (row, column) {
            (row, column) if row == high && column < high => (row, column + 1),
            (row, column) if column == high && row > low => (row - 1, column),
            (row, column) if row == low && column > low => (row, column - 1),
            (row, column) => (row + 1, column),
        }
    }
}

/// Turns a square by a quarter, anticlockwise.
fn quarter(size: u8, (row, column): Square) -> Square {
    (size - 1 - column, row)
}

/// The tables of one board with its seats.
#[derive(Debug)]
pub(super) struct Board {
    /// Squares along a side.
    pub(super) size: u8,
    /// Index of the centre on every path.
    pub(super) goal: u8,
    /// Length of the outer ring: lower indices are on it.
    pub(super) outer: u8,
    /// Bit i is set if index i is safe, the same for every seat.
    pub(super) safe: u128,
    /// For each seat, the square of each index.
    paths: Vec<Vec<Square>>,
    /// `cross[seat][other][index]`: the index on `other`'s path of the square with `index` on
    /// `seat`'s.
    cross: [[[u8; SQUARES_MAX]; 4]; 4],
}

impl Board {
    /// None if the inner rings cannot be joined that way.
    pub(super) fn new(size: u8, inner: Inner, safe_corners: bool, seats: usize) -> Option<Self> {
        let south = south_path(size, inner)?;
        let sides: &[usize] = match seats {
            2 => &[0, 2],
            3 => &[0, 1, 2],
            _ => &[0, 1, 2, 3],
        };
        let paths: Vec<Vec<Square>> = sides
            .iter()
            .map(|&quarters| {
                let turn = |square| (0..quarters).fold(square, |square, _| quarter(size, square));
                south.iter().copied().map(turn).collect()
            })
            .collect();
        let mut cross = [[[0; SQUARES_MAX]; 4]; 4];
        for (seat, path) in paths.iter().enumerate() {
            for (other, theirs) in paths.iter().enumerate() {
                for (index, square) in path.iter().enumerate() {
                    let there = theirs.iter().position(|their| their == square);
                    cross[seat][other][index] = there.expect("every path visits each square") as u8;
                }
            }
        }
        let goal = size * size - 1;
        let outer = 4 * (size - 1);
        let side = size - 1;
        // Starts are a side apart on the outer ring, and corners are half way between.
        let starts = (0..4).map(|corner| corner * side);
        let corners = (0..4).map(|corner| corner * side + side / 2);
        let mut safe = 1 << goal;
        for index in starts.chain(corners.filter(|_| safe_corners)) {
            safe |= 1u128 << index;
        }
        Some(Self {
            size,
            goal,
            outer,
            safe,
            paths,
            cross,
        })
    }

    /// The square of an index on a seat's path.
    pub(super) fn square(&self, seat: usize, index: u8) -> Square {
        self.paths[seat][usize::from(index)]
    }

    /// The index on `other`'s path of the square with `index` on `seat`'s.
    #[inline]
    pub(super) fn cross(&self, seat: usize, other: usize, index: u8) -> u8 {
        self.cross[seat][other][usize::from(index)]
    }

    /// [`Self::cross`] for each index.
    #[inline]
    pub(super) fn crossing(&self, seat: usize, other: usize) -> &[u8; SQUARES_MAX] {
        &self.cross[seat][other]
    }

    /// True if no piece can be hit there.
    #[inline]
    pub(super) fn is_safe(&self, index: u8) -> bool {
        self.safe >> index & 1 == 1
    }
}
