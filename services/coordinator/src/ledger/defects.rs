//! Defects that tests inject to show that the simulation notices them.

/// A defect of the ledger. Only builds with the feature `defects` can inject one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A report is acknowledged while its games are on the way to the disk.
    AcknowledgesEarly,
    /// A report of games that another report has on the way is acknowledged
    /// before those are durable.
    TrustsTheFirst,
    /// A record that comes a second time is added instead of set.
    Adds,
    /// Leases are never taken back.
    NeverExpires,
    /// Calls count as progress.
    BelievesCalls,
    /// Records of a cancelled tournament are taken.
    CountsCancelled,
    /// What a restart finds durable is leased and counted once more.
    ForgetsDurable,
    /// A worker is taken for one that joined another start of the coordinator.
    IgnoresEpochs,
    /// Games of a lease that was taken back are not leased again.
    LosesReturned,
    /// A worker audits games that it played itself.
    AuditsItself,
    /// A tournament is over when a stage of it is, whatever would follow.
    EndsWithAStage,
    /// With a new stage, the audits of the stages before are forgotten.
    ForgetsAudits,
    /// An audit is not leased again whose worker left before its record was
    /// compared.
    ForgetsCompared,
    /// Failed attempts count wherever they were, and games that failed are leased
    /// to whoever asks first.
    ForgetsWhoFailed,
    /// An agent is charged where it does not start, wherever else it runs.
    ChargesAtOnce,
    /// An agent is charged that somebody who is here has not tried.
    ChargesUntried,
    /// An agent is never charged, wherever it was tried.
    NeverCharges,
    /// An agent is charged before those can be back at which it ran.
    AwaitsNobody,
    /// One host alone charges an agent that ran elsewhere.
    ChargesElsewhere,
    /// A worker that leaves in order counts as lost.
    CountsLeaving,
    /// A void record is taken from whoever brings it.
    TakesAnyVoid,
    /// A lease whose answer was lost is kept until it expires.
    KeepsMissing,
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
