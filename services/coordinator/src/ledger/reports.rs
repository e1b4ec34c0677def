//! Reports in progress: finds the new games of each report, and acknowledges the report when all
//! its games are durable.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use super::{
    AfterGame, Failed, LeaseId, Ledger, RecordStatus, TournamentNo, WorkerId, WorkerProcess,
};

/// Number of a report, in order of arrival.
pub type ReportId = u64;

/// A report, as the ledger sees it.
#[derive(Clone, Copy, Debug)]
pub struct ReportedGames<'a> {
    /// The tournament of its games.
    pub tournament: TournamentNo,
    /// The worker that sent the report; none if the worker left, or joined an earlier start of the
    /// coordinator.
    pub by: Option<WorkerId>,
    /// The process that played the games.
    pub process: WorkerProcess,
    /// The lease of the games.
    pub lease: LeaseId,
    /// Games with the hashes of their records.
    pub games: &'a [(u64, [u8; 32])],
    /// The indices of those games that are void.
    pub voids: &'a [u64],
    /// Games that could not be played.
    pub failed: &'a [Failed],
    /// Agents that played in these games.
    pub agents: &'a [u16],
}

/// The games of a report by their classification. Sorting changes nothing in the ledger.
#[derive(Debug)]
pub struct Sorted {
    /// Number of the report.
    pub id: ReportId,
    /// Positions in the report of the games to be made durable.
    pub fresh: Vec<usize>,
    /// Games that are being written for another report.
    pending: BTreeSet<u64>,
    /// Games that have an earlier record, which has to be compared.
    compare: Vec<u64>,
    /// Games that the worker reported as void although its lease did not ask for this. They count
    /// as failed attempts.
    early: BTreeSet<u64>,
}

/// Result of taking a report.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// If the report is acknowledged at once, its games that have an earlier record; none if the
    /// report waits for [`Reports::written`].
    pub answer: Option<Vec<u64>>,
    /// Games that could not be played, with their number of failed attempts.
    pub failed: Vec<(u64, u32)>,
}

/// Consequences of games that became durable.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// The tournament of the games.
    pub tournament: TournamentNo,
    /// State of the tournament. If the tournament finished, the caller has to make this durable
    /// before it announces the end.
    pub came: AfterGame,
    /// Reports to be acknowledged, each with its games that have an earlier record.
    pub acknowledged: Vec<(ReportId, Vec<u64>)>,
}

/// A report that is not acknowledged yet.
#[derive(Debug)]
struct Waiting {
    /// Number of writes that the report waits for: its own write, and games of other reports.
    open: usize,
    compare: Vec<u64>,
}

/// New games of one report, which are being written.
#[derive(Debug)]
struct Batch {
    tournament: TournamentNo,
    by: WorkerProcess,
    games: Vec<u64>,
}

/// Reports that wait for a write.
#[derive(Debug, Default)]
pub struct Reports {
    waiting: HashMap<ReportId, Waiting>,
    batches: HashMap<ReportId, Batch>,
    /// For each game that is being written, the other reports that wait for it.
    awaited: BTreeMap<(TournamentNo, u64), Vec<ReportId>>,
    ever: ReportId,
}

impl Reports {
    /// Sorts the games of a report.
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

    /// Applies a report to the ledger, after its fresh games were passed to the store.
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
        ledger.measure(now, tournament, lease, sorted.fresh.len());
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

    /// Marks the fresh games of a report as durable. Returns the consequences.
    pub fn written(&mut self, ledger: &mut Ledger, id: ReportId) -> Option<Written> {
        let batch = self.batches.remove(&id)?;
        let mut written = Written {
            tournament: batch.tournament,
            came: AfterGame::Nothing,
            acknowledged: Vec::new(),
        };
        written.acknowledged.extend(self.finish_write(id));
        for index in batch.games {
            match ledger.durable(batch.tournament, index, batch.by) {
                AfterGame::Nothing => {}
                came => written.came = came,
            }
            let awaited = self.awaited.remove(&(batch.tournament, index));
            for id in awaited.unwrap_or_default() {
                written.acknowledged.extend(self.finish_write(id));
            }
        }
        Some(written)
    }

    /// Counts a finished write for a report. Returns the report if it waits for no other write.
    fn finish_write(&mut self, id: ReportId) -> Option<(ReportId, Vec<u64>)> {
        let waiting = self.waiting.get_mut(&id)?;
        waiting.open -= 1;
        if waiting.open > 0 {
            return None;
        }
        let waiting = self.waiting.remove(&id)?;
        Some((id, waiting.compare))
    }

    /// Games of a report that are being written.
    #[must_use]
    pub fn games(&self, id: ReportId) -> Option<&[u64]> {
        self.batches.get(&id).map(|batch| &*batch.games)
    }

    /// True if games of a tournament are being written.
    #[must_use]
    pub fn writes(&self, tournament: TournamentNo) -> bool {
        let mut batches = self.batches.values();
        batches.any(|batch| batch.tournament == tournament)
    }
}
