//! What is known of the processes that play: whether their attempts come to
//! something. Who fails at once is always idle, and would take every game.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{WorkerId, WorkerProcess, terms::Attempt};

/// For how long a process gets nothing after attempts that came to nothing,
/// doubled each time.
const REST: Duration = Duration::from_millis(500);
/// After so many leases in a row that came to nothing, and not even to trying to
/// start an agent, it is not waited for to try one.
const BROKEN: u32 = 3;
/// The longest such rest.
const REST_MAX: Duration = Duration::from_secs(30);
/// Processes that left and are remembered, because their attempts failed.
const GONE_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    /// Its joins that are not over.
    here: u32,
    /// When it came.
    since: Duration,
    /// The newest of them.
    worker: WorkerId,
    /// It played a game since its attempts failed last.
    proven: bool,
    /// Leases in a row that came to nothing.
    failed: u32,
    /// Those of them since it tried to start an agent.
    broken: u32,
    /// Until when it rests.
    until: Duration,
    /// A lease of it made no progress, and nothing was heard of a game since.
    hangs: bool,
    /// When a game of it came last.
    played: Option<Duration>,
}

/// All that are here, and those that left in doubt.
#[derive(Debug, Default)]
pub(super) struct WorkerProcesses {
    /// How long trouble of a host may last.
    pub(super) grace_period: Duration,
    all: BTreeMap<WorkerProcess, ProcessState>,
    /// Those that are here and in no doubt.
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

    /// One of its joins is over; true where that was the last.
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

    /// A lease came to nothing.
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

    /// It came to trying to start an agent.
    pub(super) fn tried(&mut self, id: WorkerProcess) {
        if let Some(process) = self.here_mut(id) {
            process.broken = 0;
            process.hangs = false;
        }
    }

    /// A game was played.
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

    /// How long a game rests that failed where nothing else is played.
    pub(super) fn rest(&self) -> Duration {
        self.grace_period / 10
    }

    /// When a game of one that is here came last.
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

    /// Until when a process in doubt rests; none where it is in no doubt, or no
    /// other is that `suits`.
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

    /// Whether another that `suits` is likelier to play a game after these
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
        // Mostly one of those in no doubt is, and is found among the first.
        let sound = |(other, worker)| !has_tried(other, tried) && suits(worker);
        if mine.0 > 1 && self.sound().any(sound) {
            return true;
        }
        let better = |(other, process): (WorkerProcess, &ProcessState)| {
            rank(other, process, tried) < mine && suits(process.worker)
        };
        mine > (0, 0) && self.others(id).any(better)
    }

    /// Whether somebody that `suits` is here in no doubt who made none of these
    /// attempts.
    pub(super) fn has_sound_beside(
        &self,
        tried: &[Attempt],
        suits: impl Fn(WorkerProcess) -> bool,
    ) -> bool {
        let mut sound = self.sound().map(|(id, _)| id);
        sound.any(|id| !has_tried(id, tried) && suits(id))
    }

    /// How many are here.
    fn here(&self) -> usize {
        self.all.len() - self.gone
    }

    /// Whether somebody who came after this time, or is not `excused`, is here and
    /// plays; so many are excused.
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

/// How unlikely a process is to play a game after these attempts, and how many of
/// them were its own: who is as unlikely takes turns.
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
