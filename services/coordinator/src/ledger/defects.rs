//! Defects that tests inject, to show that the simulation finds each of them.

/// A defect of the ledger. Only builds with the feature `defects` can inject one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A report is acknowledged before its games are durable.
    AcknowledgesEarly,
    /// A report is acknowledged before the games that another report is writing are durable.
    TrustsTheFirst,
    /// A second record of a game is added instead of ignored.
    Adds,
    /// Leases are never taken back.
    NeverExpires,
    /// Heartbeats count as progress.
    BelievesCalls,
    /// Records of a cancelled tournament are taken.
    CountsCancelled,
    /// Games that are durable after a restart are leased and counted again.
    ForgetsDurable,
    /// A worker that joined an earlier start of the coordinator is accepted.
    IgnoresEpochs,
    /// Games of a lease that was taken back are not leased again.
    LosesReturned,
    /// A worker audits games that it played itself.
    AuditsItself,
    /// A tournament finishes with its first stage.
    EndsWithAStage,
    /// A new stage makes the ledger forget the audits of earlier ones.
    ForgetsAudits,
    /// An audit is not leased again if its worker left before the comparison.
    ForgetsCompared,
    /// Failed attempts count on every worker, and failed games are leased to any worker.
    ForgetsWhoFailed,
    /// An agent is charged on a worker on which it does not start, even if it runs on another.
    ChargesAtOnce,
    /// An agent is charged although a connected worker has not tried it.
    ChargesUntried,
    /// An agent is never charged.
    NeverCharges,
    /// An agent is charged before lost workers can return.
    AwaitsNoWorker,
    /// An agent that ran on other hosts is charged because it does not start on one host.
    ChargesElsewhere,
    /// A worker that leaves in order counts as lost.
    CountsLeaving,
    /// A void record is accepted although no lease asked for one.
    TakesAnyVoid,
    /// A lease whose answer was lost is kept until its deadline.
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
