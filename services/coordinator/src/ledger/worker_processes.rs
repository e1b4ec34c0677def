//! The worker processes, and whether they can be trusted with games. A process that fails
//! at once is always idle, and would otherwise get every game.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerId, WorkerProcess, terms::Attempt};

/// First rest of a process after a failed lease; doubled each time.
const REST: Duration = Duration::from_millis(500);
/// After this many failed leases in a row without a start of an agent, a process is not
/// waited for.
const BROKEN: u32 = 3;
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(30);
/// Maximum number of remembered processes that left after failures.
const GONE_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    /// Number of its open connections.
    here: u32,
    /// Time at which it joined.
    since: Duration,
    /// Its newest worker id.
    worker: WorkerId,
    /// True if it has played a game since its last failure.
    proven: bool,
    /// Failed leases in a row.
    failed: u32,
    /// Failed leases since it last tried to start an agent.
    broken: u32,
    /// End of its rest.
    until: Duration,
    /// True if a lease of it made no progress, and no game of it arrived since.
    hangs: bool,
    /// Time of its newest game.
    played: Option<Duration>,
}

/// All connected processes, and those that left after failures.
#[derive(Debug, Default)]
pub(super) struct WorkerProcesses {
    /// Maximum duration of trouble on a host.
    pub(super) grace_period: Duration,
    all: BTreeMap<WorkerProcess, ProcessState>,
    /// Connected processes without failures.
    sound: BTreeSet<WorkerProcess>,
    gone: usize,
}

impl WorkerProcesses {
    pub(super) fn new(grace_period: Duration) -> Self {
        Self {
            grace_period,
            ..Self::default()
        }
    }

    pub(super) fn joined(&mut self, id: WorkerProcess, worker: WorkerId, now: Duration) {
        let process = self.all.entry(id).or_default();
        if process.here == 0 {
            process.since = now;
        }
        if process.here == 0 && process.failed > 0 {
            self.gone -= 1;
        }
        process.here += 1;
        process.worker = worker;
        process.hangs = false;
        if process.failed == 0 {
            self.sound.insert(id);
        }
    }

    /// A connection of a process ended. Returns true if it was the last one.
    pub(super) fn left(&mut self, id: WorkerProcess) -> bool {
        let Some(process) = self.all.get_mut(&id) else {
            return false;
        };
        process.here -= 1;
        if process.here > 0 {
            return false;
        }
        self.sound.remove(&id);
        if process.failed == 0 || self.gone >= GONE_MAX || !matches!(id, WorkerProcess::Process(_))
        {
            self.all.remove(&id);
        } else {
            self.gone += 1;
        }
        true
    }

    /// A lease failed.
    pub(super) fn failed(&mut self, id: WorkerProcess, now: Duration) {
        if let Some(process) = self.here_mut(id) {
            process.broken += 1;
            process.proven = false;
            let rest = REST * (1 << process.failed.min(6));
            process.until = now + rest.min(REST_MAX);
            process.failed += 1;
            self.sound.remove(&id);
        }
    }

    /// A lease made no progress.
    pub(super) fn hangs(&mut self, id: WorkerProcess, now: Duration) {
        self.failed(id, now);
        if let Some(process) = self.here_mut(id) {
            process.hangs = true;
        }
    }

    /// The process tried to start an agent.
    pub(super) fn tried(&mut self, id: WorkerProcess) {
        if let Some(process) = self.here_mut(id) {
            process.broken = 0;
            process.hangs = false;
        }
    }

    /// The process played a game.
    pub(super) fn played(&mut self, id: WorkerProcess, now: Duration) {
        if let Some(process) = self.here_mut(id) {
            process.proven = true;
            process.hangs = false;
            process.played = Some(now);
            process.failed = 0;
            process.broken = 0;
            self.sound.insert(id);
        }
    }

    /// Rest of a failed game if no other game is played.
    pub(super) fn rest(&self) -> Duration {
        self.grace_period / 10
    }

    /// Time of the newest game of any connected process.
    pub(super) fn played_last(&self, id: WorkerProcess) -> Option<Duration> {
        self.all.get(&id)?.played
    }

    fn here_mut(&mut self, id: WorkerProcess) -> Option<&mut ProcessState> {
        self.all.get_mut(&id).filter(|it| it.here > 0)
    }

    fn sound(&self) -> impl Iterator<Item = (WorkerProcess, WorkerId)> {
        let sound = self.sound.iter();
        sound.filter_map(|id| Some((*id, self.all.get(id)?.worker)))
    }

    fn others(&self, id: WorkerProcess) -> impl Iterator<Item = (WorkerProcess, &ProcessState)> {
        let all = self.all.iter().map(|(&other, process)| (other, process));
        all.filter(move |(other, process)| *other != id && process.here > 0)
    }

    pub(super) fn is_here(&self, id: WorkerProcess) -> bool {
        self.all.get(&id).is_some_and(|it| it.here > 0)
    }

    /// End of the rest of a process with failures; none if it has no failures, or if no
    /// other process `suits`.
    pub(super) fn rests(
        &self,
        id: WorkerProcess,
        suits: impl Fn(WorkerId) -> bool,
    ) -> Option<Duration> {
        let process = self.all.get(&id).filter(|it| it.failed > 0)?;
        let mut sound = self.sound();
        sound
            .any(|(_, worker)| suits(worker))
            .then_some(process.until)
    }

    /// True if another process that `suits` is more likely to play a game after these
    /// attempts.
    pub(super) fn has_better_candidate(
        &self,
        id: WorkerProcess,
        tried: &[Attempt],
        suits: impl Fn(WorkerId) -> bool,
    ) -> bool {
        let Some(process) = self.all.get(&id) else {
            return false;
        };
        let mine = rank(id, process, tried);
        // Usually a process without failures suits, and is found among the first.
        let sound = |(other, worker)| !has_tried(other, tried) && suits(worker);
        if mine.0 > 1 && self.sound().any(sound) {
            return true;
        }
        let better = |(other, process): (WorkerProcess, &ProcessState)| {
            rank(other, process, tried) < mine && suits(process.worker)
        };
        mine > (0, 0) && self.others(id).any(better)
    }

    /// True if a connected process without failures `suits` and made none of these
    /// attempts.
    pub(super) fn has_sound_beside(
        &self,
        tried: &[Attempt],
        suits: impl Fn(WorkerProcess) -> bool,
    ) -> bool {
        let mut sound = self.sound().map(|(id, _)| id);
        sound.any(|id| !has_tried(id, tried) && suits(id))
    }

    /// Number of connected processes.
    fn here(&self) -> usize {
        self.all.len() - self.gone
    }

    /// True if a connected process plays that joined after this time or is not `excused`;
    /// `count` processes are excused.
    pub(super) fn has_other(
        &self,
        (count, excused): (usize, impl Fn(WorkerProcess) -> bool),
        came_after: impl Fn(Duration) -> bool,
    ) -> bool {
        let able = |process: &ProcessState| {
            process.here > 0 && process.broken < BROKEN && came_after(process.since)
        };
        let mut all = self.all.iter();
        count < self.here() && all.any(|(&id, process)| able(process) && !excused(id))
    }
}

fn has_tried(id: WorkerProcess, tried: &[Attempt]) -> bool {
    tried.iter().any(|attempt| attempt.by == id)
}

/// How unlikely a process is to play a game after these attempts, and how many of them were
/// its own: equally unlikely processes take turns.
fn rank(id: WorkerProcess, process: &ProcessState, tried: &[Attempt]) -> (u8, usize) {
    let own = || tried.iter().filter(|attempt| attempt.by == id);
    let attempts = own().count();
    let useless = process.hangs || process.broken >= BROKEN;
    let rank = if useless || own().any(|attempt| attempt.unready.is_some()) {
        4
    } else if attempts > 0 {
        3
    } else if process.failed > 0 {
        2
    } else {
        u8::from(!process.proven)
    };
    (rank, attempts)
}
