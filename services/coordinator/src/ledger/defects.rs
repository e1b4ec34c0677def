//! Defects that can be put in on purpose.

/// What the accounting would do wrong. The simulation proves with these that
/// it notices; what runs is [`Sound`], in which the compiler finds nothing of
/// them.
pub trait Defects {
    /// A report is acknowledged while its games are on the way to the disk.
    const ACKNOWLEDGES_EARLY: bool = false;
    /// A report of games that another report has on the way is acknowledged
    /// before those are durable.
    const TRUSTS_THE_FIRST: bool = false;
    /// A record that comes a second time is added instead of set.
    const ADDS: bool = false;
    /// Leases are never taken back.
    const NEVER_EXPIRES: bool = false;
    /// Calls count as progress.
    const BELIEVES_CALLS: bool = false;
    /// Records of a cancelled tournament are taken.
    const COUNTS_CANCELLED: bool = false;
    /// What a restart finds durable is leased and counted once more.
    const FORGETS_DURABLE: bool = false;
    /// A worker is taken for one that joined another start of the coordinator.
    const IGNORES_EPOCHS: bool = false;
    /// Games of a lease that was taken back are not leased again.
    const LOSES_RETURNED: bool = false;
    /// A worker audits games that it played itself.
    const AUDITS_ITSELF: bool = false;
    /// A tournament is over when a stage of it is, whatever would follow.
    const ENDS_WITH_A_STAGE: bool = false;
    /// With a new stage, the audits of the stages before are forgotten.
    const FORGETS_AUDITS_OF_STAGES: bool = false;
    /// An audit is not leased again whose worker left before its record was
    /// compared.
    const FORGETS_COMPARED: bool = false;
    /// Failed attempts count wherever they were, and games that failed are leased
    /// to whoever asks first.
    const FORGETS_WHO_FAILED: bool = false;
    /// An agent is charged where it does not start, wherever else it runs.
    const CHARGES_AT_ONCE: bool = false;
    /// An agent is charged that somebody who is here has not tried.
    const CHARGES_UNTRIED: bool = false;
    /// An agent is never charged, wherever it was tried.
    const NEVER_CHARGES: bool = false;
    /// An agent is charged before those can be back at which it ran.
    const AWAITS_NOBODY: bool = false;
    /// One host alone charges an agent that ran elsewhere.
    const CHARGES_ELSEWHERE: bool = false;
    /// A worker that leaves in order counts as lost.
    const COUNTS_LEAVING: bool = false;
    /// A void record is taken from whoever brings it.
    const TAKES_ANY_VOID: bool = false;
    /// A lease whose answer was lost is kept until it expires.
    const KEEPS_MISSING: bool = false;
}

/// No defect.
#[derive(Clone, Copy, Debug)]
pub struct Sound;

impl Defects for Sound {}
