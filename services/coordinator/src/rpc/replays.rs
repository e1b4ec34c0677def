//! Replays of reported records, before they count: here, and by other workers.

use std::{collections::BTreeMap, sync::Arc};

use arena_model::{GameRecord, engine::Termination, rules::RulesDescription};
use arena_wire::v1;

use super::{
    coordinator::CoordinatorRpc,
    reporting::{Finished, PlayedBy, ReplayedBy, Reporting},
    worker::WorkerRpc,
};
use crate::{
    core::replays::{
        Replaying,
        drawings::{self, Drawing},
    },
    divergence::host_faults,
    error::Error,
    info::Info,
    ledger::WorkerProcess,
    messages::{ReportedGame, done},
    stored_game,
};

/// Maximum records of a job, so that a worker replays it in seconds.
const JOB_RECORDS: usize = 32;

impl WorkerRpc {
    /// Replays reported games on another thread: only what can have happened counts.
    pub(super) async fn replay(
        &self,
        info: Arc<Info>,
        finished: Finished,
        by: PlayedBy,
        replayed_by: ReplayedBy,
    ) -> Result<(Vec<ReportedGame>, BTreeMap<u64, GameRecord>), Error> {
        let trusts = self.handle.trusts_records();
        let replayed = self.handle.with_store(move |_| {
            let schedule = info.schedule();
            let mut games = Vec::with_capacity(finished.len());
            let mut records = BTreeMap::new();
            let mut line = String::new();
            for (message, mut report) in finished {
                let mut record = stored_game::checked(&info, &schedule, &message)?;
                if !trusts {
                    let has_hash = !message.hash.is_empty();
                    info.replay(&mut record, has_hash, &schedule, &mut line)?;
                }
                // A worker may write any name.
                let replayer = replayed_by.get(&record.index);
                report.replayed_by = replayer.map_or_else(String::new, |it| it.to_string());
                games.push(reported(&info, &record, report, &by));
                records.insert(record.index, record);
            }
            Ok((games, records))
        });
        replayed.await
    }

    /// Lets other workers replay games of a package. Returns those that can have happened, and the
    /// workers that replayed them. A record on which workers disagree is left out: its tournament
    /// pauses.
    pub(super) async fn replay_elsewhere(
        &self,
        reporting: Reporting<'_>,
        finished: Finished,
    ) -> Result<(Finished, ReplayedBy), Error> {
        let trusts = self.handle.trusts_records();
        let of = Arc::clone(reporting.info);
        let read = self.handle.with_store(move |_| {
            let schedule = of.schedule();
            let mut line = String::new();
            let mut records = BTreeMap::new();
            for (message, _) in &finished {
                let mut record = stored_game::checked(&of, &schedule, message)?;
                // Of several records of one game, the first one counts.
                let is_known = records.contains_key(&record.index);
                if record.termination == Termination::Void || is_known {
                    continue;
                }
                if !trusts {
                    of.replay(&mut record, !message.hash.is_empty(), &schedule, &mut line)?;
                }
                let to_replay = v1::RecordToReplay {
                    record: Some((&record).into()),
                    from_book: schedule.game(record.index).opening.is_some(),
                };
                records.insert(record.index, ((record.index, record.hash), to_replay));
            }
            Ok((finished, records))
        });
        let (mut finished, records) = read.await?;
        let mut replayed_by = ReplayedBy::new();
        let mut records = records.into_values().peekable();
        while records.peek().is_some() {
            let records: Vec<_> = records.by_ref().take(JOB_RECORDS).collect();
            let games: Vec<u64> = records.iter().map(|((index, _), _)| *index).collect();
            let replaying = Replaying {
                info: Arc::clone(reporting.info),
                process: reporting.leased.process,
                name: reporting.leased.worker.clone(),
                by: reporting.by.clone(),
                owner: Arc::clone(&reporting.owner),
                lease: reporting.lease,
                records,
            };
            let replayed = self.handle.ask_later(move |core, reply| {
                core.replay_elsewhere(replaying, reply);
                done()
            });
            let replayed = replayed.await?;
            if let Some((index, problem)) = replayed.wrong.into_iter().next() {
                return Err(Error::Unsound {
                    game: format!("{}/{index}", reporting.info.id),
                    problem: format!(
                        "cannot have happened, according to two other workers: {problem}"
                    ),
                });
            }
            finished.retain(|(record, _)| !replayed.disputed.contains_key(&record.index));
            if let Some(by) = replayed.by {
                replayed_by.extend(games.into_iter().map(|index| (index, Arc::clone(&by))));
            }
        }
        Ok((finished, replayed_by))
    }
}

/// A replayed game with the rest of its report.
fn reported(
    info: &Info,
    record: &GameRecord,
    mut report: v1::GameReport,
    PlayedBy {
        worker,
        process,
        owner,
    }: &PlayedBy,
) -> ReportedGame {
    // A worker may write any name.
    let timing = report.timing.get_or_insert_default();
    worker.clone_into(&mut timing.worker);
    let answered = std::mem::take(&mut report.answered);
    let result = record.result();
    let is_claim = !host_faults(&result.faults, &result.seats).is_empty();
    report.process = match *process {
        WorkerProcess::Process(process) => process,
        WorkerProcess::Unknown | WorkerProcess::Join(_) => 0,
    };
    report.owner = match report.process > 0 && (is_claim || info.compares_workers()) {
        true => owner.to_string(),
        false => String::new(),
    };
    report.unplayed = stored_game::unplayed(&result, &answered);
    report.unasked = stored_game::unasked(&result, &answered);
    // The first generation is not named.
    report.generation = Some(info.generation).filter(|&it| it > 1).unwrap_or(0);
    let stored = stored_game::stored(info, record, &mut report);
    ReportedGame {
        answered,
        result,
        decisions: record.decisions.iter().copied().map(u64::from).sum(),
        stored,
        side: report,
    }
}

impl CoordinatorRpc {
    /// The board of a game after a number of plies, which a worker draws, or why there is none; nothing
    /// if the rules are no package.
    pub(super) async fn board(
        &self,
        info: &Arc<Info>,
        record: &v1::GameRecord,
        after: u64,
    ) -> Option<v1::Board> {
        info.package()?;
        let rules = info.setup.rules.as_ref();
        let described = rules.map(|rules| RulesDescription::parse(&rules.description));
        if !matches!(described, Some(Ok(described)) if described.draws) {
            return Some(drawings::without("the rules draw no boards"));
        }
        let drawing = Drawing {
            info: Arc::clone(info),
            record: record.clone(),
            after,
        };
        let drawn = self.handle.ask_later(move |core, reply| {
            core.draw(drawing, reply);
            done()
        });
        let failed = |error: Error| drawings::without(&error.to_string());
        Some(drawn.await.unwrap_or_else(failed))
    }
}
