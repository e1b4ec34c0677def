//! The store from the coordinator's view: results are durable when the store says so, and not
//! before. A crash keeps committed results, and perhaps a part of the current commit.

use std::collections::{BTreeMap, VecDeque};

use arena_coordinator::ledger::{ReportId, State};

use super::{
    counts::Happening,
    net::{Event, MILLI, Net, Played, SECOND, trace_event},
};

/// A job for the writer.
const JOBS_MAX: usize = 12;

#[derive(Clone, Debug)]
pub(super) enum Job {
    Games {
        report: ReportId,
        tournament: usize,
        games: Vec<Played>,
    },
    /// A tournament's state, and the answer to a request.
    Document {
        tournament: usize,
        state: Option<State>,
        request: Option<u32>,
    },
    /// Audited games, and whether they differed.
    Audits {
        tournament: usize,
        games: Vec<(u64, bool)>,
    },
}

impl Job {
    /// Whether the state waits for the job.
    pub(super) fn is_document(&self) -> bool {
        !matches!(self, Self::Games { .. })
    }
}

/// The durable data of a tournament.
#[derive(Clone, Default)]
pub(super) struct Kept {
    pub(super) state: Option<State>,
    /// Hashes by index; 0 means no record.
    pub(super) games: Vec<u64>,
    /// Results of audits by index: whether they differed.
    pub(super) audited: BTreeMap<u64, bool>,
    /// Games that may be void, or charged to an agent that starts on some hosts only, with their
    /// result: no connected worker could play them.
    pub(super) excused: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Full,
    Sync,
}

/// How a commit ended.
pub(super) type Commit = Result<Vec<Job>, Failure>;

pub(super) struct Disk {
    pub(super) kept: Vec<Kept>,
    /// Requests with a durable answer.
    pub(super) answered: Vec<u32>,
    queue: VecDeque<Job>,
    /// Jobs of the current commit.
    committing: usize,
    /// The fate of the next commit.
    pub(super) failure: Option<Failure>,
    pub(super) slow: bool,
    pub(super) crash_in_write: bool,
    /// A job that the store must not receive.
    pub(super) wrong: Option<String>,
}

impl Disk {
    pub(super) fn new(games: impl Iterator<Item = usize>) -> Self {
        let kept = games.map(|games| Kept {
            state: None,
            games: vec![0; games],
            audited: BTreeMap::new(),
            excused: BTreeMap::new(),
        });
        Self {
            kept: kept.collect(),
            answered: Vec::new(),
            queue: VecDeque::new(),
            committing: 0,
            failure: None,
            slow: false,
            crash_in_write: false,
            wrong: None,
        }
    }

    pub(super) fn is_full_up(&self) -> bool {
        self.queue.len() >= JOBS_MAX
    }

    pub(super) fn writes(&self) -> bool {
        self.committing > 0
    }

    /// Adds a job for the writer of a start of the coordinator.
    pub(super) fn append(&mut self, net: &mut Net, boot: u32, job: Job) {
        if let Job::Games {
            tournament, games, ..
        } = &job
        {
            self.check_new(*tournament, games);
        }
        self.queue.push_back(job);
        if self.committing == 0 {
            self.commit(net, boot);
        }
    }

    fn check_new(&mut self, tournament: usize, games: &[Played]) {
        let waits = |index: u64| {
            self.queue.iter().any(|job| match job {
                Job::Games {
                    tournament: other,
                    games,
                    ..
                } => *other == tournament && games.iter().any(|game| game.0 == index),
                Job::Document { .. } | Job::Audits { .. } => false,
            })
        };
        for &(index, _) in games {
            if self.kept[tournament].games[index as usize] != 0 || waits(index) {
                self.wrong = Some(format!(
                    "game {tournament}/{index} was given to the store twice"
                ));
            }
        }
    }

    fn commit(&mut self, net: &mut Net, boot: u32) {
        // A document ends its commit.
        let closing = self.queue.iter().position(Job::is_document);
        self.committing = closing.map_or(self.queue.len(), |place| place + 1);
        let took = if std::mem::take(&mut self.slow) {
            net.counts.add(Happening::SlowWrite);
            net.random.between(SECOND, 12 * SECOND)
        } else {
            net.random.between(MILLI / 10, 4 * MILLI)
        };
        if std::mem::take(&mut self.crash_in_write) {
            let until = net.random.below(took);
            net.after(until, Event::CrashCoordinator(boot));
        }
        net.after(took, Event::Committed(boot));
    }

    /// Ends the current commit.
    pub(super) fn committed(&mut self, net: &mut Net, boot: u32) -> Commit {
        match self.failure.take() {
            Some(Failure::Full) => {
                net.counts.add(Happening::DiskFull);
                trace_event!(net, "the disk is full");
                self.queue.clear();
                self.committing = 0;
                return Err(Failure::Full);
            }
            Some(Failure::Sync) => {
                net.counts.add(Happening::SyncFailed);
                trace_event!(net, "the fsync failed");
                self.tear(net);
                return Err(Failure::Sync);
            }
            None => {}
        }
        let jobs: Vec<Job> = self.queue.drain(..self.committing).collect();
        for job in &jobs {
            self.keep(job, usize::MAX);
        }
        self.committing = 0;
        if !self.queue.is_empty() {
            self.commit(net, boot);
        }
        Ok(jobs)
    }

    fn keep(&mut self, job: &Job, most: usize) {
        match job {
            Job::Games {
                tournament, games, ..
            } => {
                for &(index, hash) in games.iter().take(most) {
                    self.kept[*tournament].games[index as usize] = hash;
                }
            }
            Job::Document {
                tournament,
                state,
                request,
            } => {
                if state.is_some() {
                    self.kept[*tournament].state = *state;
                }
                self.answered.extend(request);
            }
            Job::Audits { tournament, games } => {
                self.kept[*tournament].audited.extend(games.iter().copied());
            }
        }
    }

    /// The writer has ended: a part of its commit may be durable.
    pub(super) fn tear(&mut self, net: &mut Net) {
        let whole = net.random.below(self.committing as u64 + 1) as usize;
        let jobs: Vec<Job> = self.queue.drain(..).take(self.committing).collect();
        for job in &jobs[..whole] {
            self.keep(job, usize::MAX);
        }
        if let Some(torn) = jobs.get(whole)
            && let Job::Games { games, .. } = torn
        {
            let most = net.random.below(games.len() as u64 + 1) as usize;
            self.keep(torn, most);
            if most > 0 || whole > 0 {
                net.counts.add(Happening::TornWrite);
            }
        }
        self.committing = 0;
    }
}
