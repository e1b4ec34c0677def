//! Defects that can be put in on purpose.

/// What a worker would do wrong. The simulation proves with these that it
/// notices; what runs is [`Sound`], in which the compiler finds nothing of
/// them.
pub trait Defects {
    /// A report that failed once is forgotten.
    const RETRIES_NOTHING: bool = false;
    /// Games that did not begin are played on under a lease of a stay that is
    /// over, and told to the next one as its own.
    const KEEPS_LEASES: bool = false;
}

/// No defect.
#[derive(Clone, Copy, Debug)]
pub struct Sound;

impl Defects for Sound {}
