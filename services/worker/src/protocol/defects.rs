//! Defects that can be put in on purpose.

/// What a worker would do wrong. The simulation proves with these that it
/// notices; what runs is [`Sound`], in which the compiler finds nothing of
/// them.
pub trait Defects {
    /// A report that failed once is forgotten.
    const RETRIES_NOTHING: bool = false;
    /// A report is forgotten that is refused for one of its games.
    const DROPS_REFUSED: bool = false;
    /// A request for games that failed is waited for all the same.
    const WAITS_FOR_EVER: bool = false;
    /// A game of an earlier stay is kept however long it hangs.
    const KEEPS_STALE: bool = false;
}

/// No defect.
#[derive(Clone, Copy, Debug)]
pub struct Sound;

impl Defects for Sound {}
