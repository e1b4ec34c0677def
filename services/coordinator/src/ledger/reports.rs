//! Reports on their way: which of their games are new, and what each has to
//! wait for before it is acknowledged.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use super::{
    AfterGame, Failed, LeaseId, Ledger, RecordStatus, TournamentNo, WorkerId, WorkerProcess,
};

/// Number of a report, in order of being taken.
pub type ReportId = u64;

/// A report, as the accounting sees it.
#[derive(Clone, Copy, Debug)]
pub struct ReportedGames<'a> {
    /// Whose games these are.
    pub tournament: TournamentNo,
    /// Who brings them; none where the worker is of another start, or gone.
    pub by: Option<WorkerId>,
    /// Who played them.
    pub process: WorkerProcess,
    /// Under which lease.
    pub lease: LeaseId,
    /// Games with the hashes of their records.
    pub games: &'a [(u64, [u8; 32])],
    /// Those of them that are void.
    pub voids: &'a [u64],
    /// Games that could not be played.
    pub failed: &'a [Failed],
    /// Agents that played in these games.
    pub agents: &'a [u16],
}

/// A report's games, distinguished. Nothing has changed yet.
#[derive(Debug)]
pub struct Sorted {
    /// The number that the report gets.
    pub id: ReportId,
    /// Places in the report of those to be made durable.
    pub fresh: Vec<usize>,
    /// On the way to the disk with another report.
    pending: BTreeSet<u64>,
    /// Had a record before.
    compare: Vec<u64>,
    /// Void, though nobody said that they are to be: attempts that failed.
    early: BTreeSet<u64>,
}

/// What became of a report that was taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// The games that had a record before: the answer, where the report is
    /// acknowledged at once; none where it waits for
    /// [`Reports::written`].
    pub answer: Option<Vec<u64>>,
    /// Games that could not be played, and how often that happened so far.
    pub failed: Vec<(u64, u32)>,
}

/// What follows from games that are durable now.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// Whose games these are.
    pub tournament: TournamentNo,
    /// Whether they were the last ones, which is to be made durable before it is
    /// reported, or the last of those that are known.
    pub came: AfterGame,
    /// Reports to be acknowledged, and which of their games had a record
    /// before.
    pub acknowledged: Vec<(ReportId, Vec<u64>)>,
}

#[derive(Debug)]
struct Waiting {
    /// Own batch, and games of other reports that are on the way.
    open: usize,
    compare: Vec<u64>,
}

#[derive(Debug)]
struct Batch {
    tournament: TournamentNo,
    by: WorkerProcess,
    games: Vec<u64>,
}

/// Reports that wait for the disk.
#[derive(Debug, Default)]
pub struct Reports {
    waiting: HashMap<ReportId, Waiting>,
    batches: HashMap<ReportId, Batch>,
    /// Reports that wait for a game of another report.
    awaited: BTreeMap<(TournamentNo, u64), Vec<ReportId>>,
    ever: ReportId,
}

impl Reports {
    /// Tells a report's games apart.
    #[must_use]
    pub fn sort(&self, ledger: &Ledger, report: &ReportedGames<'_>) -> Sorted {
        let mut sorted = Sorted {
            id: self.ever + 1,
            fresh: Vec::with_capacity(report.games.len()),
            pending: BTreeSet::new(),
            compare: Vec::new(),
            early: BTreeSet::new(),
        };
        let lease = ledger.own(report.by, report.lease);
        let mut seen = BTreeSet::new();
        for (place, &(index, _)) in report.games.iter().enumerate() {
            if report.voids.contains(&index)
                && !ledger.is_to_be_void(report.tournament, lease, index)
            {
                sorted.early.insert(index);
                continue;
            }
            match ledger.verdict(report.tournament, index) {
                RecordStatus::New if seen.insert(index) => sorted.fresh.push(place),
                RecordStatus::New | RecordStatus::Done => sorted.compare.push(index),
                RecordStatus::Pending(_) => {
                    sorted.pending.insert(index);
                    sorted.compare.push(index);
                }
                RecordStatus::Unwanted | RecordStatus::Outside => {}
            }
        }
        sorted
    }

    /// Takes a report whose fresh games the store has taken.
    pub fn take(
        &mut self,
        ledger: &mut Ledger,
        now: Duration,
        report: &ReportedGames<'_>,
        sorted: Sorted,
    ) -> Taken {
        let id = sorted.id;
        self.ever = id;
        let mut open = usize::from(!sorted.fresh.is_empty());
        if !sorted.fresh.is_empty() {
            let games = sorted.fresh.iter().map(|&place| report.games[place].0);
            let batch = Batch {
                tournament: report.tournament,
                by: report.process,
                games: games.collect(),
            };
            self.batches.insert(id, batch);
        }
        let lease = ledger.own(report.by, report.lease);
        let tournament = report.tournament;
        let early = sorted.early.iter().map(|&index| Failed {
            index,
            unready: None,
        });
        let failed = report.failed.iter().copied().chain(early);
        let failed = failed.filter_map(|failed| {
            let attempts = ledger.failed(now, tournament, lease, failed)?;
            Some((failed.index, attempts))
        });
        let failed = failed.collect();
        for &(index, hash) in report.games {
            if sorted.early.contains(&index) {
                continue;
            }
            let verdict = ledger.report(now, tournament, lease, index, hash);
            if verdict == RecordStatus::New && report.voids.contains(&index) {
                ledger.mark_void(tournament, index);
            }
        }
        if report.games.len() > report.voids.len() {
            ledger.played(tournament, report.process, report.agents);
        }
        if !is_injected(Defect::TrustsTheFirst) {
            open += sorted.pending.len();
            for index in sorted.pending {
                let awaited = self.awaited.entry((report.tournament, index));
                awaited.or_default().push(id);
            }
        }
        let compare = sorted.compare;
        let answer = if open == 0 || is_injected(Defect::AcknowledgesEarly) {
            Some(compare)
        } else {
            self.waiting.insert(id, Waiting { open, compare });
            None
        };
        Taken { answer, failed }
    }

    /// The fresh games of a report are durable.
    pub fn written(&mut self, ledger: &mut Ledger, id: ReportId) -> Option<Written> {
        let batch = self.batches.remove(&id)?;
        let mut written = Written {
            tournament: batch.tournament,
            came: AfterGame::Nothing,
            acknowledged: Vec::new(),
        };
        written.acknowledged.extend(self.served(id));
        for index in batch.games {
            match ledger.durable(batch.tournament, index, batch.by) {
                AfterGame::Nothing => {}
                came => written.came = came,
            }
            let awaited = self.awaited.remove(&(batch.tournament, index));
            for id in awaited.unwrap_or_default() {
                written.acknowledged.extend(self.served(id));
            }
        }
        Some(written)
    }

    /// One of the things that a report waits for is durable.
    fn served(&mut self, id: ReportId) -> Option<(ReportId, Vec<u64>)> {
        let waiting = self.waiting.get_mut(&id)?;
        waiting.open -= 1;
        if waiting.open > 0 {
            return None;
        }
        let waiting = self.waiting.remove(&id)?;
        Some((id, waiting.compare))
    }

    /// The games of a report that are on the way to the disk.
    #[must_use]
    pub fn games(&self, id: ReportId) -> Option<&[u64]> {
        self.batches.get(&id).map(|batch| &*batch.games)
    }

    /// Whether games of a tournament are on the way to the disk.
    #[must_use]
    pub fn writes(&self, tournament: TournamentNo) -> bool {
        let mut batches = self.batches.values();
        batches.any(|batch| batch.tournament == tournament)
    }
}
