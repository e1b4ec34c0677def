//! How many games of an agent are open at a time.

use std::cell::Cell;

/// The open games of one agent.
#[derive(Debug, Default)]
pub(super) struct OpenGames {
    pub(super) open: Cell<u32>,
    /// Number of games that began while another one was open.
    pub(super) overlaps: Cell<u64>,
    /// Bytes of output reported.
    pub(super) reported: Cell<usize>,
}
