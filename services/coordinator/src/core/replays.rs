//! Records of rulesets that are packages. The coordinator starts no package, so another worker
//! replays each record before it counts.
//!
//! | The other worker says | What happens |
//! |---|---|
//! | the record can have happened | it counts |
//! | it cannot | a third worker replays it, of a third owner if the two have different ones |
//! | it cannot, and so says the third | the report is refused, its worker goes into quarantine |
//! | it cannot, but the third says that it can | it counts; the second worker replays no more |
//! | it cannot, and there is no third | the game failed because of its rules, and is played again |
//! | nothing, or that it cannot replay | another worker replays it |
//!
//! Without another worker, a record counts unverified, and standings say so.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use arena_wire::v1;
use prost::Message;

use super::{Core, levels};
use crate::{
    error::Error,
    info::Info,
    ledger::{Owner, RecordStatus, WorkerId, WorkerProcess},
    messages::{Caller, Reply},
};

/// Maximum time that a request for records waits.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// A worker that has not answered for this time replays no more, until it asks again.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// A report is answered after this time at the latest; its worker sends it again.
const REPLY_MAX: Duration = Duration::from_secs(8);
/// Suggested delay before the same report is sent again.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum reports of a process that wait, and maximum bytes of all.
const JOBS_MAX: usize = 32;
const BYTES_MAX: usize = 64 << 20;
/// Maximum number of replayed records that are remembered until their report comes again.
const REMEMBERED_MAX: usize = 16_384;
/// Maximum bytes of a problem, and maximum problems of a verdict.
const PROBLEM_BYTES_MAX: usize = 400;

/// What other workers found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// Name of the worker that replayed the records; none if there is no other worker.
    pub(crate) by: Option<Arc<str>>,
    /// Records that cannot have happened according to two workers.
    pub(crate) wrong: BTreeMap<u64, String>,
    /// Records on which two workers disagree, and there is no third.
    pub(crate) disputed: BTreeMap<u64, String>,
}

/// Position and hash of a record.
type Key = (u64, [u8; 32]);

/// A record with its key.
pub(crate) type ToReplay = (Key, v1::RecordToReplay);

/// Records of one report.
struct Job {
    info: Arc<Info>,
    /// The process that played the games.
    by: WorkerProcess,
    keys: Vec<Key>,
    records: Vec<v1::RecordToReplay>,
    /// Their size.
    bytes: usize,
    /// The workers that were asked, with their names and the problems that they found; none if
    /// they could not replay the records.
    asked: Vec<(WorkerProcess, Arc<str>, Option<Problems>)>,
    /// The worker that replays them now.
    at: Option<WorkerId>,
    since: Duration,
    /// None after the report was answered.
    reply: Option<Reply<Replayed>>,
}

type Problems = BTreeMap<u64, String>;

/// A worker that replays records.
#[derive(Default)]
struct Replayer {
    waiting: Option<Waiting>,
    /// The job that it has, and since when.
    job: Option<(u64, Duration)>,
}

/// A request for records.
struct Waiting {
    known: Vec<String>,
    until: Duration,
    reply: Reply<v1::ReplayResponse>,
}

/// Where a job goes next.
enum Next {
    To(WorkerId),
    /// All workers that may replay it are busy.
    Waits,
    Nowhere,
}

/// The jobs, and the workers that take them.
#[derive(Default)]
pub(crate) struct Replays {
    jobs: BTreeMap<u64, Job>,
    jobs_ever: u64,
    replayers: BTreeMap<WorkerId, Replayer>,
    /// Processes that a third worker refuted.
    refuted: BTreeSet<WorkerProcess>,
    /// Records that can have happened, with the worker that replayed them.
    remembered: BTreeMap<Key, Arc<str>>,
    order: VecDeque<Key>,
}

impl Replays {
    /// True if callers wait for an answer.
    pub(super) fn owes(&self) -> bool {
        self.jobs.values().any(|job| job.reply.is_some())
    }

    /// True if nothing has to be looked after.
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.replayers.values().all(|it| it.waiting.is_none())
    }

    fn remember(&mut self, key: Key, by: &Arc<str>) {
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
    fn recall(&self, records: &[ToReplay]) -> Option<Arc<str>> {
        let mut by = None;
        for (key, _) in records {
            by = Some(self.remembered.get(key)?);
        }
        by.cloned()
    }

    /// The job of the same report, which was sent before.
    fn find(&self, records: &[ToReplay]) -> Option<u64> {
        let keys = || records.iter().map(|(key, _)| key);
        let mut jobs = self.jobs.iter();
        jobs.find_map(|(&id, job)| job.keys.iter().eq(keys()).then_some(id))
    }
}

impl Core {
    /// Lets another worker replay records of a package.
    pub(crate) fn replay_elsewhere(
        &mut self,
        info: Arc<Info>,
        by: WorkerProcess,
        records: Vec<ToReplay>,
        reply: Reply<Replayed>,
    ) {
        let number = self.tournaments.get(&*info.id).and_then(|it| it.number);
        let mut records = records;
        // What has a record is compared with it.
        records.retain(|&((index, _), _)| {
            let verdict = number.map(|number| self.ledger.verdict(number, index));
            verdict == Some(RecordStatus::New)
        });
        if let Some(by) = self.replays.recall(&records) {
            let replayed = Replayed {
                by: Some(by),
                ..Replayed::default()
            };
            return drop(reply.send(Ok(replayed)));
        }
        if records.is_empty() {
            return drop(reply.send(Ok(Replayed::default())));
        }
        let now = self.now();
        if let Some(id) = self.replays.find(&records) {
            if let Some(job) = self.replays.jobs.get_mut(&id) {
                job.reply = Some(reply);
                job.since = now;
            }
            return;
        }
        let jobs = self.replays.jobs.values();
        let own = jobs.clone().filter(|job| job.by == by).count();
        let bytes: usize = records.iter().map(|(_, it)| it.encoded_len()).sum();
        let held: usize = jobs.map(|job| job.bytes).sum();
        if own >= JOBS_MAX || held > 0 && held + bytes > BYTES_MAX {
            return drop(reply.send(Err(Error::Overloaded { wait: AGAIN })));
        }
        self.replays.jobs_ever += 1;
        let id = self.replays.jobs_ever;
        let (keys, records) = records.into_iter().unzip();
        let job = Job {
            info,
            by,
            keys,
            records,
            bytes,
            asked: Vec::new(),
            at: None,
            since: now,
            reply: Some(reply),
        };
        self.replays.jobs.insert(id, job);
        self.pass_on(id);
    }

    /// A worker asks for records, and says what the earlier ones showed.
    pub(crate) fn replay(&mut self, request: v1::ReplayRequest, reply: Reply<v1::ReplayResponse>) {
        let caller = Caller {
            worker_id: request.worker_id,
            boot_epoch: request.boot_epoch,
            session: request.session,
        };
        let worker = match self.known_worker(&caller) {
            Ok(worker) => worker,
            Err(error) => return drop(reply.send(Err(error))),
        };
        if self.ledger.is_worker_quarantined(worker) {
            return drop(reply.send(Err(Error::Quarantined)));
        }
        let wait = Duration::from_millis(request.wait_ms.into()).min(WAIT_MAX);
        let waiting = Waiting {
            known: request.known_tournaments,
            until: self.now() + wait,
            reply,
        };
        let replayer = self.replays.replayers.entry(worker).or_default();
        // It sends one request at a time: it has given up its earlier request.
        if let Some(earlier) = replayer.waiting.replace(waiting) {
            let _ = earlier.reply.send(Ok(v1::ReplayResponse::default()));
        }
        // A worker that asks without a verdict has given up its job.
        let job = replayer.job.take().map(|(job, _)| job);
        if let Some(id) = job {
            let verdict = request.verdict.filter(|verdict| verdict.job_id == id);
            self.take_verdict(id, worker, verdict);
        }
        self.pass_on_all();
    }

    fn take_verdict(&mut self, id: u64, worker: WorkerId, verdict: Option<v1::ReplayVerdict>) {
        let process = self.ledger.process(worker, self.boot_epoch);
        let name = self.replayer_name(worker);
        let Some(job) = self.replays.jobs.get_mut(&id) else {
            return;
        };
        job.at = None;
        let problems = match verdict {
            Some(verdict) if verdict.failed.is_empty() => {
                let games: BTreeSet<u64> = job.keys.iter().map(|(index, _)| *index).collect();
                let problems = verdict.problems.into_iter();
                let problems = problems.filter(|it| games.contains(&it.index));
                Some(problems.map(|it| (it.index, cut(it.problem))).collect())
            }
            Some(verdict) => {
                let failed = cut(verdict.failed);
                let tournament = &*job.info.id;
                tracing::warn!(
                    name = &*name,
                    tournament,
                    failed,
                    "a worker cannot replay records"
                );
                None
            }
            None => None,
        };
        job.asked.push((process, name, problems));
    }

    fn replayer_name(&self, worker: WorkerId) -> Arc<str> {
        let name = self.workers.get(&worker).map(|it| &*it.request.name);
        let name = name.filter(|name| !name.is_empty());
        name.map_or_else(|| format!("w{worker}").into(), Into::into)
    }

    /// True if a worker replays records with this package.
    pub(super) fn replays_need(&self, worker: WorkerId, sha256: &str) -> bool {
        let replayer = self.replays.replayers.get(&worker);
        let job = replayer.and_then(|replayer| replayer.job);
        let job = job.and_then(|(id, _)| self.replays.jobs.get(&id));
        let package = job.and_then(|job| job.info.package());
        package.is_some_and(|package| package.sha256 == sha256)
    }

    pub(super) fn replayer_left(&mut self, worker: WorkerId) {
        let replayer = self.replays.replayers.remove(&worker);
        if let Some((id, _)) = replayer.and_then(|it| it.job) {
            self.take_verdict(id, worker, None);
        }
        self.pass_on_all();
    }

    /// Answers requests that have waited long enough, and takes jobs from workers that do not
    /// answer.
    pub(super) fn look_after_replays(&mut self) {
        let now = self.now();
        let mut silent = Vec::new();
        for (&worker, replayer) in &mut self.replays.replayers {
            let waiting = replayer
                .waiting
                .take_if(|it| now >= it.until || it.reply.is_closed());
            if let Some(waiting) = waiting {
                // The worker asks again.
                let _ = waiting.reply.send(Ok(v1::ReplayResponse::default()));
            }
            if replayer
                .job
                .is_some_and(|(_, since)| now >= since + ANSWER_MAX)
            {
                silent.push(worker);
            }
        }
        for worker in silent {
            tracing::warn!(worker, "a worker does not answer what it was to replay");
            self.replayer_left(worker);
        }
        self.replays.jobs.retain(|_, job| {
            if now >= job.since + REPLY_MAX
                && let Some(reply) = job.reply.take()
            {
                let _ = reply.send(Err(Error::Overloaded { wait: AGAIN }));
            }
            // The report did not come again.
            now < job.since + ANSWER_MAX
        });
        self.pass_on_all();
    }

    fn pass_on_all(&mut self) {
        let open = self.replays.jobs.iter().filter(|(_, job)| job.at.is_none());
        let open: Vec<u64> = open.map(|(id, _)| *id).collect();
        for id in open {
            self.pass_on(id);
        }
    }

    /// Answers a job, or passes it to a worker that waits.
    fn pass_on(&mut self, id: u64) {
        let Some(job) = self.replays.jobs.get(&id) else {
            return;
        };
        let mut found = job.asked.iter().filter_map(|(_, _, found)| found.as_ref());
        let (first, second) = (found.next(), found.next());
        match (first, second) {
            (Some(first), _) if first.is_empty() => self.settle(id),
            (Some(_), Some(_)) => self.settle(id),
            _ => match self.next(job) {
                Next::To(worker) => self.send_job(id, worker),
                Next::Waits => {}
                Next::Nowhere => self.settle(id),
            },
        }
    }

    /// The worker that replays a job next.
    fn next(&self, job: &Job) -> Next {
        let owner = |process| self.ledger.owner_of_process(process);
        let accused = job.asked.iter().find(|(.., found)| found.is_some());
        let owners: Vec<Option<&Owner>> = [Some(job.by), accused.map(|(process, ..)| *process)]
            .into_iter()
            .flatten()
            .map(owner)
            .collect();
        let able = |(&worker, replayer): (&WorkerId, &Replayer)| {
            let process = self.ledger.process(worker, self.boot_epoch);
            let present = self.workers.get(&worker)?;
            let entry = self.tournaments.get(&*job.info.id)?;
            let is_able = process != job.by
                && job.asked.iter().all(|(asked, ..)| *asked != process)
                && !self.replays.refuted.contains(&process)
                && !self.ledger.is_worker_quarantined(worker)
                && present.sandbox >= levels::least(entry, self.sandbox)
                && levels::plays_tournament(&present.request.rulesets, &entry.info.tournament);
            let free = replayer.waiting.is_some() && replayer.job.is_none();
            is_able.then_some((worker, owner(process), free))
        };
        let able: Vec<_> = self.replays.replayers.iter().filter_map(able).collect();
        let is_other = |it: Option<&Owner>| it.is_some() && !owners.contains(&it);
        let others = able.iter().filter(|(_, owner, _)| is_other(*owner));
        let others: Vec<_> = others.copied().collect();
        // If two owners disagree, two processes of one owner could outvote the other.
        let differ = owners.len() == 2 && owners[0] != owners[1];
        let chosen = match others.is_empty() && !differ {
            true => able,
            false => others,
        };
        let free = chosen.iter().find(|(.., free)| *free);
        match (free, chosen.is_empty()) {
            (Some((worker, ..)), _) => Next::To(*worker),
            (None, false) => Next::Waits,
            (None, true) => Next::Nowhere,
        }
    }

    fn send_job(&mut self, id: u64, worker: WorkerId) {
        let now = self.now();
        let Some(replayer) = self.replays.replayers.get_mut(&worker) else {
            return;
        };
        let (Some(job), Some(waiting)) = (self.replays.jobs.get_mut(&id), replayer.waiting.take())
        else {
            return;
        };
        let tournament_id = job.info.id.to_string();
        let message = v1::ReplayJob {
            job_id: id,
            setup: (!waiting.known.contains(&tournament_id)).then(|| job.info.setup.clone()),
            tournament_id,
            records: job.records.clone(),
        };
        let response = v1::ReplayResponse { job: Some(message) };
        // A worker that is gone leaves, or does not answer in time.
        let _ = waiting.reply.send(Ok(response));
        replayer.job = Some((id, now));
        job.at = Some(worker);
    }

    /// Answers a job with what the workers found.
    fn settle(&mut self, id: u64) {
        let Some(job) = self.replays.jobs.remove(&id) else {
            return;
        };
        let found = job.asked.iter();
        let mut found =
            found.filter_map(|(process, name, found)| Some((process, name, found.as_ref()?)));
        let (first, second) = (found.next(), found.next());
        let mut replayed = Replayed::default();
        match (first, second) {
            (None, _) => {}
            (Some((_, name, problems)), None) => {
                replayed.by = Some(Arc::clone(name));
                replayed.disputed = problems.clone();
            }
            (Some((accuser, named, problems)), Some((_, name, others))) => {
                replayed.by = Some(Arc::clone(name));
                let both = others
                    .iter()
                    .filter(|(index, _)| problems.contains_key(index));
                replayed.wrong = both.map(|(index, it)| (*index, it.clone())).collect();
                if replayed.wrong.is_empty() {
                    let tournament = &*job.info.id;
                    tracing::warn!(
                        name = &**named,
                        tournament,
                        problem = ?problems.values().next(),
                        "a worker refuted records that a third worker confirmed; it replays no more"
                    );
                    self.replays.refuted.insert(*accuser);
                }
            }
        }
        if let Some(by) = &replayed.by
            && replayed.wrong.is_empty()
            && replayed.disputed.is_empty()
        {
            for key in &job.keys {
                self.replays.remember(*key, by);
            }
        }
        if let Some(reply) = job.reply {
            // The report comes again if its caller is gone.
            let _ = reply.send(Ok(replayed));
        }
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(PROBLEM_BYTES_MAX));
    text
}
