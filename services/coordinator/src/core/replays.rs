//! Records of rulesets that are packages. The coordinator starts no package, so another worker
//! replays each record before it counts.
//!
//! | The other worker says | What happens |
//! |---|---|
//! | the record can have happened | it counts |
//! | it cannot | a third worker replays it, of a third owner if the two have different ones |
//! | it cannot, and so says the third | the report is refused, its worker goes into quarantine |
//! | it cannot, but the third says that it can | it counts; the second worker replays no more |
//! | it cannot, and there is no third | the tournament pauses, and names both workers |
//! | nothing, or that it cannot replay | another worker replays it; this one replays nothing for a time |
//! | the rules contradict themselves | the same, and the rules failed on this worker |
//! | anything, while the tournament is paused because its rules failed | the record is left out, and no worker is charged |
//!
//! Without another worker, a record counts unverified, and standings say so. A worker that has just
//! joined is waited for, and so are the workers of a tournament that was there before this start.

pub(crate) mod drawings;
mod jobs;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use arena_wire::v1;
use prost::Message;

use super::{Core, holds::RULES_FAILED, levels, unix_us, workers::known};
use crate::{
    error::Error,
    ledger::{Owner, RecordStatus, Suspicion, WorkerId},
    messages::{Caller, Reply},
};
pub(super) use jobs::Replays;
use jobs::{Job, Next, Replayer, Waiting};
pub(crate) use jobs::{Replayed, Replaying};

/// Maximum time that a request for records waits.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Workers have this time to return after a restart.
const RETURN_MAX: Duration = Duration::from_secs(10);
/// Interval at which all waiting jobs are looked at, while no worker asks for one.
const LOOK: Duration = Duration::from_secs(1);
/// A worker that has a job for this time without an answer is silent.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// A report is answered after this time at the latest; its worker sends it again.
const REPLY_MAX: Duration = Duration::from_secs(8);
/// Suggested delay before the same report is sent again.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum jobs of a process and of all, and maximum bytes of all.
const JOBS_MAX: [usize; 2] = [64, 1024];
const BYTES_MAX: usize = 64 << 20;
/// Maximum bytes of a problem, and maximum problems of a verdict.
const PROBLEM_BYTES_MAX: usize = 400;

impl Core {
    /// Lets another worker replay records of a package.
    pub(crate) fn replay_elsewhere(&mut self, replaying: Replaying, reply: Reply<Replayed>) {
        let Replaying {
            info,
            process: by,
            name,
            by: caller,
            owner,
            lease,
            mut records,
        } = replaying;
        let number = self.tournaments.get(&*info.id).and_then(|it| it.number);
        // What has a record is compared with it.
        records.retain(|&((index, _), _)| {
            let verdict = number.map(|number| self.ledger.verdict(number, index));
            verdict == Some(RecordStatus::New)
        });
        if self.have_rules_failed(&info.id) {
            return drop(reply.send(Ok(Replayed::left_out(records.iter().map(|(key, _)| key)))));
        }
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
        if let Some(id) = self.replays.find(by, &records) {
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
        let all = self.replays.jobs.len();
        if own >= JOBS_MAX[0] || all >= JOBS_MAX[1] || held > 0 && held + bytes > BYTES_MAX {
            return drop(reply.send(Err(Error::Overloaded { wait: AGAIN })));
        }
        self.replays.jobs_ever += 1;
        let id = self.replays.jobs_ever;
        let (keys, records) = records.into_iter().unzip();
        let job = Job {
            info,
            by,
            name,
            owners: [self.ledger.owner_of_process(by).cloned(), Some(owner)],
            lease: (self.find_worker(&caller), lease),
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
            known: known(request.known_tournaments),
            until: self.now() + wait,
            reply,
        };
        let now = self.now();
        let of = self.ledger.owner_of(worker).cloned();
        let reliability = self.replays.owners.entry(of).or_default();
        reliability.unasked = 0;
        let replayer = self.replays.replayers.entry(worker).or_default();
        replayer.seen = now;
        // It sends one request at a time: it has given up its earlier request.
        if let Some(earlier) = replayer.waiting.replace(waiting) {
            let _ = earlier.reply.send(Ok(v1::ReplayResponse::default()));
        }
        // A worker that asks without a verdict has given up its job.
        let job = replayer.job.take().map(|(job, _)| job);
        if let Some(id) = job {
            let verdict = request.verdict.filter(|verdict| verdict.job_id == id);
            match &verdict {
                Some(verdict) if verdict.failed.is_empty() => {
                    replayer.rests = (now, 0);
                    reliability.silent = 0;
                }
                _ => replayer.rest(now),
            }
            self.take_verdict(id, worker, verdict);
            self.pass_on(id);
        }
        self.pass_on_to_free();
        self.pass_on_drawings();
    }

    /// A worker has joined: it is waited for.
    pub(super) fn replayer_joined(&mut self, worker: WorkerId) {
        let replayer = Replayer {
            seen: self.now(),
            ..Replayer::default()
        };
        self.replays.replayers.insert(worker, replayer);
        let of = self.ledger.owner_of(worker).cloned();
        self.replays.owners.entry(of).or_default().unasked += 1;
    }

    fn take_verdict(&mut self, id: u64, worker: WorkerId, verdict: Option<v1::ReplayVerdict>) {
        let process = self.ledger.process(worker, self.boot_epoch);
        let name = self.replayer_name(worker);
        let Some(job) = self.replays.jobs.get_mut(&id) else {
            return self.take_board(id, verdict.and_then(|it| it.board));
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
                if verdict.rules_failed {
                    let owner = self.ledger.owner_of_process(process).cloned();
                    if let Some(entry) = self.tournaments.get_mut(tournament) {
                        entry.rules_failed_for.insert(owner);
                    }
                    let broken = self.broken.entry(tournament.to_owned());
                    broken.or_insert_with(|| (failed.clone(), name.to_string()));
                }
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
        let package = job.and_then(|(id, _)| match self.replays.jobs.get(&id) {
            Some(job) => job.info.package(),
            None => self.package_of_drawing(id),
        });
        package.is_some_and(|package| package.sha256 == sha256)
    }

    pub(super) fn replayer_left(&mut self, worker: WorkerId) {
        let replayer = self.replays.replayers.remove(&worker);
        if let Some((id, _)) = replayer.and_then(|it| it.job) {
            self.take_verdict(id, worker, None);
        }
        self.pass_on_each();
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
            let owner = self.ledger.owner_of(worker).cloned();
            tracing::warn!(
                worker,
                name = &*self.replayer_name(worker),
                owner = owner.as_deref(),
                "a worker does not answer what it was to replay"
            );
            self.replays.owners.entry(owner).or_default().silent += 1;
            let replayer = self.replays.replayers.get_mut(&worker);
            let job = replayer.and_then(|replayer| {
                replayer.rest(now);
                replayer.job.take()
            });
            if let Some((id, _)) = job {
                self.take_verdict(id, worker, None);
            }
        }
        let waiting = self.replays.jobs.values().filter(|job| job.reply.is_some());
        for job in waiting {
            let (worker, lease) = job.lease;
            self.ledger.extend_waiting(now, worker, lease);
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
        if now >= self.replays.looked + LOOK {
            self.replays.looked = now;
            self.pass_on_each();
        }
    }

    /// Passes the oldest jobs to the workers that wait for one.
    fn pass_on_to_free(&mut self) {
        let mut passed = 0;
        while self.replays.replayers.values().any(Replayer::is_free)
            && let Some(id) = self.replays.open_after(passed)
        {
            self.pass_on(id);
            passed = id;
        }
    }

    /// Passes on all jobs, or answers those that have nowhere to go.
    fn pass_on_each(&mut self) {
        let mut passed = 0;
        while let Some(id) = self.replays.open_after(passed) {
            self.pass_on(id);
            passed = id;
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
        let now = self.now();
        let owner = |process| self.ledger.owner_of_process(process);
        let accuser = job.asked.iter().find(|(.., found)| found.is_some());
        let accuser = accuser.map(|(process, ..)| owner(*process));
        let mut owners: Vec<Option<&Owner>> = job.owners.iter().map(Option::as_ref).collect();
        // If two owners disagree, two processes of one owner could outvote the other.
        let differ = accuser.is_some_and(|accuser| !owners.contains(&accuser));
        owners.extend(accuser);
        let able = |(&worker, replayer): (&WorkerId, &Replayer)| {
            let process = self.ledger.process(worker, self.boot_epoch);
            let present = self.workers.get(&worker)?;
            let entry = self.tournaments.get(&*job.info.id)?;
            let is_able = process != job.by
                && job.asked.iter().all(|(asked, ..)| *asked != process)
                && !self.replays.refuted.contains(&process)
                && !self.ledger.is_worker_quarantined(worker)
                && present.sandbox >= levels::least(entry, self.sandbox)
                && levels::plays_tournament(&present.request.rulesets, &entry.info);
            let reliability = self.replays.owners.get(&owner(process).cloned());
            let reliability = reliability.copied().unwrap_or_default();
            let is_able = is_able && replayer.is_present(now, reliability);
            let rank = replayer.is_free().then_some((reliability.silent, worker));
            is_able.then_some((worker, owner(process), rank))
        };
        let able: Vec<_> = self.replays.replayers.iter().filter_map(able).collect();
        let is_other = |it: Option<&Owner>| it.is_some() && !owners.contains(&it);
        let others = able.iter().filter(|(_, owner, _)| is_other(*owner));
        let others: Vec<_> = others.copied().collect();
        let chosen = match others.is_empty() && !differ {
            true => able,
            false => others,
        };
        // Those of an owner whose workers do not answer come last.
        let free = chosen.iter().filter_map(|(.., rank)| *rank).min();
        match (free, chosen.is_empty()) {
            (Some((_, worker)), _) => Next::To(worker),
            (None, false) => Next::Waits,
            // Workers may not be back yet.
            (None, true) if now < RETURN_MAX && self.was_here(&job.info.id) => Next::Waits,
            (None, true) => Next::Nowhere,
        }
    }

    /// True if a tournament is paused because its rules failed, or about to be: what they accept or refuse
    /// shows nothing.
    fn have_rules_failed(&self, id: &str) -> bool {
        self.tournaments.get(id).is_some_and(|entry| {
            let pause = entry.document.pause.as_ref();
            let kind = pause.map(|pause| &*pause.kind);
            kind == Some(RULES_FAILED) || self.fail_everywhere(entry)
        })
    }

    /// True if a tournament was there before this start.
    fn was_here(&self, id: &str) -> bool {
        let entry = self.tournaments.get(id);
        let uptime = self.now().as_micros() as u64;
        entry.is_some_and(|entry| entry.document.created_unix_us + uptime < unix_us())
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
            draw_after: None,
        };
        let response = v1::ReplayResponse { job: Some(message) };
        if waiting.reply.send(Ok(response)).is_err() {
            // The worker gave up its request: another one gets the job.
            return;
        }
        replayer.job = Some((id, now));
        job.at = Some(worker);
    }

    /// Answers a job with what the workers found.
    fn settle(&mut self, id: u64) {
        let Some(job) = self.replays.jobs.remove(&id) else {
            return;
        };
        if self.have_rules_failed(&job.info.id) {
            if let Some(reply) = job.reply {
                let _ = reply.send(Ok(Replayed::left_out(job.keys.iter())));
            }
            return;
        }
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
        if let Some((index, problem)) = replayed.wrong.iter().next() {
            let problem = format!(
                "the record of game {}/{index} cannot have happened, according to two other \
                 workers: {problem}",
                job.info.id
            );
            self.quarantine(job.by, Suspicion::Impossible, &job.name, &problem);
        }
        if let Some(problem) = replayed.disputed.values().next() {
            let named = replayed.by.as_deref().unwrap_or_default().to_owned();
            let disputed = (problem.clone(), [job.name.clone(), named]);
            self.disputed.insert(job.info.id.to_string(), disputed);
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
