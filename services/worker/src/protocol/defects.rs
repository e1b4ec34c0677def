//! Defects that tests inject to show that the simulation notices them.

/// A defect of the protocol. Only builds with the feature `defects` can inject one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A report that failed once is dropped.
    RetriesNothing,
    /// A report that is refused because of one game is dropped.
    DropsRefused,
    /// A failed request for games is still awaited.
    WaitsForEver,
    /// A game of an earlier stay is kept, however long it hangs.
    KeepsStale,
}

#[cfg(feature = "defects")]
thread_local! {
    static INJECTED: std::cell::Cell<Option<Defect>> = const { std::cell::Cell::new(None) };
}

/// Injects a defect into the current thread, or none.
#[cfg(feature = "defects")]
pub fn inject(defect: Option<Defect>) {
    INJECTED.set(defect);
}

/// True if this defect was injected into the current thread.
#[cfg(feature = "defects")]
pub(crate) fn is_injected(defect: Defect) -> bool {
    INJECTED.get() == Some(defect)
}

/// False: only test builds have defects.
#[cfg(not(feature = "defects"))]
pub(crate) const fn is_injected(_: Defect) -> bool {
    false
}
