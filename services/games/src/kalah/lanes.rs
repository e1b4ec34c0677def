//! Fast sowing on boards of up to 16 cells. The board is one number with one byte per cell: sowing
//! is an addition from a table, and a comparison with zero shows whether a row is empty.

use std::sync::Arc;

use super::CELLS_MAX;

/// Maximum number of cells.
const LANES: usize = 16;

/// Maximum number of stones with a table entry; more are sown one by one.
const STONES_MAX: usize = 15;

/// The number that a sowing adds to the board, and the cell of its last stone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    pub(super) cells: u128,
    pub(super) last: u8,
}

/// The sowings of a board, by pit and number of stones.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// `STONES_MAX + 1` entries for each cell.
    sowings: Arc<[Added]>,
    /// A mask of the pits of each seat.
    rows: [u128; 2],
}

impl Lanes {
    /// The table for boards with this many pits per side; none if the cells do not fit.
    pub(super) fn new(pits: usize) -> Option<Self> {
        let cells = 2 * pits + 2;
        if cells > LANES {
            return None;
        }
        let mut sowings = Vec::with_capacity(cells * (STONES_MAX + 1));
        for from in 0..cells {
            let their_store = if from <= pits { cells - 1 } else { pits };
            let mut added = Added {
                cells: 0,
                last: from as u8,
            };
            sowings.push(added);
            for _ in 0..STONES_MAX {
                let mut cell = (usize::from(added.last) + 1) % cells;
                if cell == their_store {
                    cell = (cell + 1) % cells;
                }
                added.cells += 1 << (8 * cell);
                added.last = cell as u8;
                sowings.push(added);
            }
        }
        let row = |seat: usize| {
            let pits = seat * (pits + 1)..seat * (pits + 1) + pits;
            pits.map(|cell| 0xff << (8 * cell)).sum()
        };
        Some(Self {
            sowings: sowings.into(),
            rows: [row(0), row(1)],
        })
    }

    /// The sowing of this many stones from a cell; none if there are too many stones for the table.
    #[inline]
    pub(super) fn sowing(&self, from: usize, stones: u8) -> Option<Added> {
        let stones = usize::from(stones);
        (stones <= STONES_MAX).then(|| self.sowings[from * (STONES_MAX + 1) + stones])
    }

    /// True if neither row is empty.
    #[inline]
    pub(super) fn both_rows_have_stones(&self, board: &[u8; CELLS_MAX]) -> bool {
        let cells = load(board);
        cells & self.rows[0] != 0 && cells & self.rows[1] != 0
    }
}

/// The first 16 cells as a number.
#[inline]
pub(super) fn load(board: &[u8; CELLS_MAX]) -> u128 {
    let mut bytes = [0; LANES];
    bytes.copy_from_slice(&board[..LANES]);
    u128::from_le_bytes(bytes)
}

/// Sets the first 16 cells.
#[inline]
pub(super) fn store(cells: u128, board: &mut [u8; CELLS_MAX]) {
    board[..LANES].copy_from_slice(&cells.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kalah::{PITS_MAX, sow_singly};

    #[test]
    fn sowing_table_equals_single_stones() {
        for pits in 1..=PITS_MAX {
            let cells = 2 * pits + 2;
            let Some(lanes) = Lanes::new(pits) else {
                assert!(cells > LANES, "{pits} pits fit");
                continue;
            };
            for from in (0..cells).filter(|&cell| cell != pits && cell != cells - 1) {
                let their_store = if from < pits { cells - 1 } else { pits };
                for stones in 0..=STONES_MAX as u8 {
                    let mut board = [3; CELLS_MAX];
                    board[cells..].fill(0);
                    board[from] = stones;
                    let mut singly = board;
                    let last = sow_singly(&mut singly, from, cells, their_store);
                    let added = lanes.sowing(from, stones).expect("few stones");
                    board[from] = 0;
                    store(load(&board) + added.cells, &mut board);
                    let reported = (pits, from, stones);
                    assert_eq!(
                        (board, usize::from(added.last)),
                        (singly, last),
                        "{reported:?}"
                    );
                }
            }
            assert!(lanes.sowing(0, STONES_MAX as u8 + 1).is_none());
        }
    }
}
