//! The worker processes, with their failures. A process whose games fail at once is always idle
//! and would get every game, so failures delay its next lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{Owner, WorkerProcess, agent_starts::AgentStarts, terms::Attempt};

/// First rest of a process after a failed lease. A resting process gets no games. Each further
/// failure in a row doubles the rest.
const REST: Duration = Duration::from_millis(500);
/// After this many failed leases in a row without an attempt to start an agent, the ledger no
/// longer waits for the process to try an agent.
const BROKEN: u32 = 3;
/// A process is in doubt until so many of its games were audited in a row without a difference.
const AGREED_MIN: u32 = 10;
/// Contradicted faults of a process in a row after which it goes into quarantine, and the number of
/// owners that have to contradict it.
const CONTRADICTED_MAX: u32 = 3;
const CONTRADICTING_MIN: usize = 2;
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(30);
/// Maximum number of owners that are remembered.
const OWNERS_MAX: usize = 1 << 16;

/// The state of a connected process.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    /// Number of open connections.
    here: u32,
    /// Time at which the process joined.
    since: Duration,
    /// Failed leases in a row.
    failed: u32,
    /// Failed leases since the process last tried to start an agent.
    broken: u32,
    /// End of the rest.
    until: Duration,
    /// Audits of its games in a row that agreed: those of other owners, and those of its own.
    agreed: [u32; 2],
}

/// What processes of one owner have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OwnerKey {
    Mark(u32),
    /// The number of this process shows no owner.
    Process(WorkerProcess),
}

impl OwnerKey {
    fn of(process: WorkerProcess) -> Self {
        process
            .owner_mark()
            .map_or(Self::Process(process), Self::Mark)
    }
}

/// Up to three owners, each of which may be unknown.
pub(super) type OwnersHere<'a> = [Option<Option<&'a Owner>>; 3];

/// All connected processes.
#[derive(Debug, Default)]
pub(super) struct WorkerProcesses {
    /// Time for lost workers to return.
    pub(super) grace_period: Duration,
    all: BTreeMap<WorkerProcess, ProcessState>,
    /// Processes without failures.
    sound: BTreeSet<WorkerProcess>,
    /// The owners of processes, also of those that left.
    owners: BTreeMap<OwnerKey, Owner>,
    /// Number of connected processes of each owner. Processes of unknown owners have none.
    here_of: BTreeMap<Option<Owner>, usize>,
    /// Faults of connected processes that audits did not have, and the owners of these audits.
    contradicted: BTreeMap<WorkerProcess, (u32, BTreeSet<Owner>)>,
}

impl WorkerProcesses {
    pub(super) fn new(grace_period: Duration) -> Self {
        Self {
            grace_period,
            ..Self::default()
        }
    }

    /// Records the owner of a process that joins. The first one counts: a process that shows
    /// another token is still run by the same owner. Returns true if the owner is new.
    pub(super) fn set_owner(&mut self, id: WorkerProcess, owner: Owner) -> bool {
        let key = OwnerKey::of(id);
        let is_new = !self.owners.contains_key(&key);
        if is_new && self.owners.len() >= OWNERS_MAX {
            let is_gone = |owner: &Owner| !self.here_of.contains_key(&Some(Arc::clone(owner)));
            let gone = self.owners.iter().find(|(_, owner)| is_gone(owner));
            if let Some(gone) = gone.map(|(&key, _)| key) {
                self.owners.remove(&gone);
            }
        }
        self.owners.entry(key).or_insert(owner);
        is_new
    }

    /// The owner of a process; none if it is unknown.
    pub(super) fn owner(&self, id: WorkerProcess) -> Option<&Owner> {
        self.owners.get(&OwnerKey::of(id))
    }

    /// True if both processes have the same owner, as far as it is known.
    pub(super) fn have_one_owner(&self, one: WorkerProcess, other: WorkerProcess) -> bool {
        let owner = self.owner(one);
        let mark = one.owner_mark();
        one == other
            || mark.is_some() && mark == other.owner_mark()
            || owner.is_some() && owner == self.owner(other)
    }

    /// True if both processes may have the same owner: also if one is unknown and all connected ones
    /// have the same.
    pub(super) fn may_have_one_owner(&self, one: WorkerProcess, other: WorkerProcess) -> bool {
        let is_unknown = [one, other].iter().any(|&id| self.owner(id).is_none());
        is_unknown && !self.has_two_owners() || self.have_one_owner(one, other)
    }

    /// True if the processes have different owners, as far as it is known.
    pub(super) fn have_two_owners(&self, one: WorkerProcess, other: WorkerProcess) -> bool {
        let is_known = |id: WorkerProcess| id.owner_mark().is_some() || self.owner(id).is_some();
        [one, other].into_iter().all(is_known) && !self.have_one_owner(one, other)
    }

    /// True if a process may play a game too that these hold for too long: one of another owner, or any other
    /// if all of them have one owner. If no worker of another owner came, which `waited` says, a second one
    /// of the same owner may.
    pub(super) fn may_rescue(
        &self,
        id: WorkerProcess,
        mut holders: impl Iterator<Item = WorkerProcess> + Clone,
        waited: bool,
    ) -> bool {
        let own = holders.clone().filter(|&it| !self.have_two_owners(it, id));
        let enough = match self.has_two_owners() {
            true => 1 + usize::from(waited),
            false => usize::MAX,
        };
        own.count() < enough && !holders.any(|it| it == id)
    }

    /// True if several processes are connected.
    pub(super) fn has_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Number of owners of processes, also of those that left.
    pub(super) fn owners(&self) -> usize {
        self.owners.values().collect::<BTreeSet<_>>().len()
    }

    /// True if processes of several owners are connected.
    pub(super) fn has_two_owners(&self) -> bool {
        self.here_of.len() > 1
    }

    /// True if a process of another owner than that of this one is connected.
    pub(super) fn has_other_owner(&self, id: WorkerProcess) -> bool {
        let owner = self.owner(id);
        owner.is_some() && self.here_of.keys().any(|it| it.as_ref() != owner)
    }

    /// Records that an audit by another process did not have a fault that a process reported.
    /// Returns true if the process has to go into quarantine.
    pub(super) fn mark_contradicted(&mut self, id: WorkerProcess, by: WorkerProcess) -> bool {
        self.mark_differing(id);
        if !self.all.contains_key(&id) {
            return false;
        }
        let (count, owners) = self.contradicted.entry(id).or_default();
        *count += 1;
        if owners.len() < CONTRADICTING_MIN {
            owners.extend(self.owners.get(&OwnerKey::of(by)).cloned());
        }
        *count >= CONTRADICTED_MAX && owners.len() >= CONTRADICTING_MIN
    }

    /// Records that an audit confirmed a fault that a process reported.
    pub(super) fn mark_confirmed(&mut self, id: WorkerProcess) {
        self.contradicted.remove(&id);
    }

    /// True if a connected process of a further owner can play the tournament.
    pub(super) fn has_further_owner(
        &self,
        owners: &BTreeSet<Option<Owner>>,
        agents: &AgentStarts,
    ) -> bool {
        let mut able = self.all.iter().filter(|(_, it)| it.broken < BROKEN);
        able.any(|(&id, _)| agents.suits(id) && !owners.contains(&self.owner(id).cloned()))
    }

    /// Owners of connected processes that can play the tournament: all of them, or three.
    pub(super) fn owners_here(&self, agents: &AgentStarts) -> OwnersHere<'_> {
        let mut found = OwnersHere::default();
        // Usually, all processes have one owner.
        let wanted = self.here_of.len().min(found.len());
        let able = self.all.iter().filter(|(_, it)| it.broken < BROKEN);
        let able = able.filter(|(id, _)| agents.suits(**id));
        let mut next = 0;
        for owner in able.map(|(&id, _)| self.owner(id)) {
            if next == wanted {
                break;
            }
            if !found[..next].contains(&Some(owner)) {
                found[next] = Some(owner);
                next += 1;
            }
        }
        found
    }

    /// Records a new connection of a process.
    pub(super) fn mark_joined(&mut self, id: WorkerProcess, now: Duration) {
        let owner = self.owners.get(&OwnerKey::of(id));
        let process = self.all.entry(id).or_insert_with(|| {
            self.sound.insert(id);
            *self.here_of.entry(owner.cloned()).or_default() += 1;
            ProcessState {
                since: now,
                ..ProcessState::default()
            }
        });
        process.here += 1;
    }

    /// Records that a connection of a process ended. Returns true if it was the last one.
    pub(super) fn mark_left(&mut self, id: WorkerProcess) -> bool {
        let Some(process) = self.all.get_mut(&id) else {
            return false;
        };
        process.here -= 1;
        if process.here > 0 {
            return false;
        }
        self.remove(id);
        true
    }

    /// Forgets a process.
    pub(super) fn remove(&mut self, id: WorkerProcess) {
        if self.all.remove(&id).is_none() {
            return;
        }
        self.sound.remove(&id);
        self.contradicted.remove(&id);
        let owner = self.owner(id).cloned();
        if let Some(here) = self.here_of.get_mut(&owner) {
            *here -= 1;
            if *here == 0 {
                self.here_of.remove(&owner);
            }
        }
    }

    /// Records that a lease of a process failed.
    pub(super) fn mark_failed(&mut self, id: WorkerProcess, now: Duration) {
        if let Some(process) = self.all.get_mut(&id) {
            let rest = REST * (1 << process.failed.min(6));
            process.until = now + rest.min(REST_MAX);
            process.broken += 1;
            process.failed += 1;
            self.sound.remove(&id);
        }
    }

    /// Records that an audit of a game that a process played gave the same record. `own` is true if
    /// the process that audited it has the same owner.
    pub(super) fn mark_agreed(&mut self, id: WorkerProcess, own: bool) {
        if let Some(process) = self.all.get_mut(&id) {
            let agreed = &mut process.agreed[usize::from(own)];
            *agreed = agreed.saturating_add(1);
        }
    }

    /// Records that an audit that a process took part in gave another record.
    pub(super) fn mark_differing(&mut self, id: WorkerProcess) {
        if let Some(process) = self.all.get_mut(&id) {
            process.agreed = [0; 2];
        }
    }

    /// True if more games of a process are audited, because few audits or the newest ones show
    /// that it plays as others do. Audits by its own owner count only while every connected process
    /// has that owner.
    pub(super) fn is_doubtful(&self, id: WorkerProcess) -> bool {
        let process = self.all.get(&id);
        process.is_none_or(|process| {
            let [others, own] = process.agreed;
            let own = if self.has_two_owners() { 0 } else { own };
            others.saturating_add(own) < AGREED_MIN
        })
    }

    /// Records that a process tried to start an agent.
    pub(super) fn mark_tried(&mut self, id: WorkerProcess) {
        if let Some(process) = self.all.get_mut(&id) {
            process.broken = 0;
        }
    }

    /// Records that a process played a game.
    pub(super) fn mark_played(&mut self, id: WorkerProcess) {
        if let Some(process) = self.all.get_mut(&id) {
            process.failed = 0;
            process.broken = 0;
            self.sound.insert(id);
        }
    }

    pub(super) fn is_here(&self, id: WorkerProcess) -> bool {
        self.all.contains_key(&id)
    }

    /// End of the rest of a process. None if the process has no failures, or if no process
    /// without failures can play the tournament.
    pub(super) fn rest_end(&self, id: WorkerProcess, agents: &AgentStarts) -> Option<Duration> {
        let process = self.all.get(&id).filter(|it| it.failed > 0)?;
        let mut sound = self.sound.iter();
        sound.any(|&it| agents.suits(it)).then_some(process.until)
    }

    /// True if another process is more likely to be able to play a game after these attempts. This
    /// is a process without failures that tried the game less often. If an agent did not start on
    /// the process `id`, it is any other process.
    pub(super) fn has_better_candidate(
        &self,
        id: WorkerProcess,
        tried: &[Attempt],
        agents: &AgentStarts,
    ) -> bool {
        let mine = rank(id, tried);
        let is_better = |other: &WorkerProcess| rank(*other, tried) < mine && agents.suits(*other);
        mine > 0 && self.sound.iter().any(is_better)
            || mine == LACKS_AGENT && self.all.keys().any(is_better)
    }

    /// True if a connected process without failures can play the tournament and made none
    /// of these attempts.
    pub(super) fn has_other_sound(&self, tried: &[Attempt], agents: &AgentStarts) -> bool {
        let mut sound = self.sound.iter();
        sound.any(|&id| rank(id, tried) == 0 && agents.suits(id))
    }

    /// True if there are attempts, and processes of the same owner as this one made all of them.
    pub(super) fn is_tried_by_own(&self, id: WorkerProcess, tried: &[Attempt]) -> bool {
        let mut owners = tried.iter().map(|attempt| self.owner(attempt.by));
        !tried.is_empty() && owners.all(|owner| owner.is_some() && owner == self.owner(id))
    }

    /// True if processes of one owner made all these attempts, and a connected process of another
    /// owner, without failures, can play the tournament.
    pub(super) fn has_other_owner_sound(&self, tried: &[Attempt], agents: &AgentStarts) -> bool {
        let mut owners = tried.iter().map(|attempt| self.owner(attempt.by));
        let Some(Some(first)) = owners.next() else {
            return false;
        };
        let mut sound = self.sound.iter();
        owners.all(|owner| owner == Some(first))
            && sound.any(|&id| self.owner(id).is_some_and(|it| it != first) && agents.suits(id))
    }

    /// True if there is a connected process that is not broken, whose time of joining satisfies
    /// `joined`, and that is not `excused`.
    pub(super) fn has_other(
        &self,
        excused: impl Fn(WorkerProcess) -> bool,
        joined: impl Fn(Duration) -> bool,
    ) -> bool {
        let mut all = self.all.iter();
        all.any(|(&id, it)| it.broken < BROKEN && joined(it.since) && !excused(id))
    }
}

/// Rank of a process on which an agent of the game did not start.
const LACKS_AGENT: usize = usize::MAX;

/// Rank of a process for a game: the number of these attempts that it made. A process with a
/// lower rank is more likely to be able to play the game.
fn rank(id: WorkerProcess, tried: &[Attempt]) -> usize {
    let own = || tried.iter().filter(|attempt| attempt.by == id);
    match own().any(|attempt| attempt.unready.is_some()) {
        true => LACKS_AGENT,
        false => own().count(),
    }
}
