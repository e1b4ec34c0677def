//! The records that wait for a replay, and the workers that replay them.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use arena_wire::v1;

use crate::{
    info::Info,
    ledger::{LeaseId, Owner, WorkerId, WorkerProcess},
    messages::{Caller, Reply},
};

/// A worker that has not asked for records for this time is silent: it is not waited for.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// So many workers of an owner may join without asking for records, and are waited for.
const UNASKED_MAX: u32 = 8;
/// A silent worker replays nothing for this time, which doubles each time.
const REST: Duration = Duration::from_secs(10);
const REST_MAX: Duration = Duration::from_secs(600);
/// Maximum number of replayed records that are remembered until their report comes again.
const REMEMBERED_MAX: usize = 16_384;

/// What other workers found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// Name of the worker that replayed the records; none if there is no other worker.
    pub(crate) by: Option<Arc<str>>,
    /// Records that cannot have happened according to two workers.
    pub(crate) wrong: BTreeMap<u64, String>,
    /// Records on which two workers disagree, and there is no third: the tournament pauses. Also records of
    /// rules that failed. They do not count.
    pub(crate) disputed: BTreeMap<u64, String>,
}

impl Replayed {
    /// Records of rules that failed.
    pub(super) fn left_out<'a>(keys: impl Iterator<Item = &'a Key>) -> Self {
        let disputed = keys.map(|(index, _)| (*index, "the rules failed".to_owned()));
        Self {
            disputed: disputed.collect(),
            ..Self::default()
        }
    }
}

/// Who asks for a replay, and of what.
pub(crate) struct Replaying {
    pub(crate) info: Arc<Info>,
    /// The process that played the games, and the name of its worker.
    pub(crate) process: WorkerProcess,
    pub(crate) name: String,
    /// The caller of the report, its owner and its lease.
    pub(crate) by: Caller,
    pub(crate) owner: Owner,
    pub(crate) lease: LeaseId,
    pub(crate) records: Vec<ToReplay>,
}

/// Position and hash of a record.
pub(super) type Key = (u64, [u8; 32]);

/// A record with its key.
pub(crate) type ToReplay = (Key, v1::RecordToReplay);

/// Records of one report.
pub(super) struct Job {
    pub(super) info: Arc<Info>,
    /// The process that played the games, and its name.
    pub(super) by: WorkerProcess,
    pub(super) name: String,
    /// The owner of the process, and that of the caller, which may differ after a restart.
    pub(super) owners: [Option<Owner>; 2],
    /// The worker of the report, and its lease.
    pub(super) lease: (Option<WorkerId>, LeaseId),
    pub(super) keys: Vec<Key>,
    pub(super) records: Vec<v1::RecordToReplay>,
    /// Their size.
    pub(super) bytes: usize,
    /// The workers that were asked, with their names and the problems that they found; none if
    /// they could not replay the records.
    pub(super) asked: Vec<(WorkerProcess, Arc<str>, Option<Problems>)>,
    /// The worker that replays them now.
    pub(super) at: Option<WorkerId>,
    pub(super) since: Duration,
    /// None after the report was answered.
    pub(super) reply: Option<Reply<Replayed>>,
}

pub(super) type Problems = BTreeMap<u64, String>;

/// A worker that replays records.
#[derive(Default)]
pub(super) struct Replayer {
    pub(super) waiting: Option<Waiting>,
    /// The job that it has, and since when.
    pub(super) job: Option<(u64, Duration)>,
    /// The time at which it last had a request or a job.
    pub(super) seen: Duration,
    /// End of its rest, and how often it was silent.
    pub(super) rests: (Duration, u32),
}

impl Replayer {
    /// Records that it did not answer.
    pub(super) fn rest(&mut self, now: Duration) {
        let (until, times) = &mut self.rests;
        *until = now + (REST * (1 << (*times).min(10))).min(REST_MAX);
        *times += 1;
    }

    /// True if it is waited for.
    pub(super) fn is_present(&self, now: Duration, of: Reliability) -> bool {
        let asks = self.waiting.is_some() || self.job.is_some();
        let may_ask = now < self.seen + IDLE_MAX && of.unasked <= UNASKED_MAX;
        now >= self.rests.0 && (asks || may_ask)
    }

    pub(super) fn is_free(&self) -> bool {
        self.waiting.is_some() && self.job.is_none()
    }
}

/// Whether the workers of an owner do what they are to do.
#[derive(Clone, Copy, Default)]
pub(super) struct Reliability {
    /// How many of them joined since one asked for records.
    pub(super) unasked: u32,
    /// How often one did not answer since one did.
    pub(super) silent: u32,
}

/// A request for records.
pub(super) struct Waiting {
    pub(super) known: Vec<String>,
    pub(super) until: Duration,
    pub(super) reply: Reply<v1::ReplayResponse>,
}

/// Where a job goes next.
pub(super) enum Next {
    To(WorkerId),
    /// All workers that may replay it are busy.
    Waits,
    Nowhere,
}

/// The jobs, and the workers that take them.
#[derive(Default)]
pub(crate) struct Replays {
    pub(super) jobs: BTreeMap<u64, Job>,
    pub(super) jobs_ever: u64,
    /// The connected workers.
    pub(super) replayers: BTreeMap<WorkerId, Replayer>,
    pub(super) owners: BTreeMap<Option<Owner>, Reliability>,
    pub(super) looked: Duration,
    /// Processes that a third worker refuted.
    pub(super) refuted: BTreeSet<WorkerProcess>,
    /// Records that can have happened, with the worker that replayed them.
    pub(super) remembered: BTreeMap<Key, Arc<str>>,
    pub(super) order: VecDeque<Key>,
}

impl Replays {
    /// True if callers wait for an answer.
    pub(crate) fn owes(&self) -> bool {
        self.jobs.values().any(|job| job.reply.is_some())
    }

    /// True if there is nothing to wait for.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.replayers.values().all(|it| it.waiting.is_none())
    }

    /// The next job without a worker, if any.
    pub(super) fn open_after(&self, id: u64) -> Option<u64> {
        let mut later = self.jobs.range(id + 1..);
        later.find_map(|(&id, job)| job.at.is_none().then_some(id))
    }

    pub(super) fn remember(&mut self, key: Key, by: &Arc<str>) {
        if self.remembered.insert(key, Arc::clone(by)).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.remembered.remove(&oldest);
        }
    }

    /// The worker that replayed all these records, if it is still known.
    pub(super) fn recall(&self, records: &[ToReplay]) -> Option<Arc<str>> {
        let mut by = None;
        for (key, _) in records {
            by = Some(self.remembered.get(key)?);
        }
        by.cloned()
    }

    /// The job of the same report, which was sent before.
    pub(super) fn find(&self, by: WorkerProcess, records: &[ToReplay]) -> Option<u64> {
        let keys = || records.iter().map(|(key, _)| key);
        let mut jobs = self.jobs.iter().filter(|(_, job)| job.by == by);
        jobs.find_map(|(&id, job)| job.keys.iter().eq(keys()).then_some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_worker_is_not_waited_for() {
        let second = Duration::from_secs(1);
        let mut replayer = Replayer {
            seen: 5 * second,
            ..Replayer::default()
        };
        let known = Reliability::default();
        assert!(replayer.is_present(6 * second, known), "it has just joined");
        let many = Reliability {
            unasked: 9,
            ..known
        };
        assert!(!replayer.is_present(6 * second, many), "none of many asked");
        assert!(!replayer.is_present(5 * second + IDLE_MAX, known));
        replayer.job = Some((1, 20 * second));
        assert!(replayer.is_present(30 * second, many), "it has a job");
        let mut now = 30 * second;
        for rest in [10, 20, 40, 80, 160, 320, 600, 600] {
            replayer.rest(now);
            let end = now + rest * second;
            assert!(!replayer.is_present(end - second, known));
            assert!(replayer.is_present(end, known));
            now = end;
        }
    }
}
