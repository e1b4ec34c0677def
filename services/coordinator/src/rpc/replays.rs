//! Replays of reported records, before they count: here, and by other workers.

use std::{collections::BTreeMap, sync::Arc};

use arena_model::{GameRecord, engine::Termination};
use arena_wire::v1;

use super::worker::WorkerRpc;
use crate::{
    core::replays::Replayed,
    error::Error,
    info::Info,
    ledger::WorkerProcess,
    messages::{FailedGame, ReportedGame, done},
    stored_game,
};

/// Reported records, each with the rest of its report.
pub(super) type Finished = Vec<(v1::GameRecord, v1::GameReport)>;

impl WorkerRpc {
    /// Replays reported games on another thread: only what can have happened counts.
    pub(super) async fn replay(
        &self,
        info: Arc<Info>,
        finished: Finished,
        worker: String,
        replayed_by: Option<Arc<str>>,
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
                report.replayed_by = replayed_by.as_deref().unwrap_or_default().to_owned();
                games.push(reported(&info, &record, report, &worker));
                records.insert(record.index, record);
            }
            Ok((games, records))
        });
        replayed.await
    }

    /// Lets another worker replay games of a package. Returns those that can have happened, those
    /// on which workers disagree, and the worker that replayed them.
    pub(super) async fn replay_elsewhere(
        &self,
        info: &Arc<Info>,
        finished: Finished,
        process: WorkerProcess,
    ) -> Result<(Finished, Vec<FailedGame>, Option<Arc<str>>), Error> {
        let trusts = self.handle.trusts_records();
        let of = Arc::clone(info);
        let read = self.handle.with_store(move |_| {
            let schedule = of.schedule();
            let mut line = String::new();
            let mut records = Vec::with_capacity(finished.len());
            for (message, _) in &finished {
                let mut record = stored_game::checked(&of, &schedule, message)?;
                if record.termination == Termination::Void {
                    continue;
                }
                if !trusts {
                    of.replay(&mut record, !message.hash.is_empty(), &schedule, &mut line)?;
                }
                let to_replay = v1::RecordToReplay {
                    record: Some((&record).into()),
                    from_book: schedule.game(record.index).opening.is_some(),
                };
                records.push(((record.index, record.hash), to_replay));
            }
            Ok((finished, records))
        });
        let (mut finished, records) = read.await?;
        let of = Arc::clone(info);
        let replayed = self.handle.ask_later(move |core, reply| {
            core.replay_elsewhere(of, process, records, reply);
            done()
        });
        let Replayed {
            by,
            wrong,
            disputed,
        } = replayed.await?;
        if let Some((index, problem)) = wrong.into_iter().next() {
            return Err(Error::Unsound {
                game: format!("{}/{index}", info.id),
                problem: format!("cannot have happened, according to two other workers: {problem}"),
            });
        }
        finished.retain(|(record, _)| !disputed.contains_key(&record.index));
        let name = by.as_deref().unwrap_or_default();
        let failed = disputed.iter().map(|(&index, problem)| FailedGame {
            index,
            reason: format!(
                "worker {name} says that this record cannot have happened ({problem}), and no third \
                 worker is connected to settle it"
            ),
            unready: None,
            rules_failed: true,
        });
        Ok((finished, failed.collect(), by))
    }
}

/// A replayed game with the rest of its report.
fn reported(
    info: &Info,
    record: &GameRecord,
    mut report: v1::GameReport,
    worker: &str,
) -> ReportedGame {
    // A worker may write any name.
    let timing = report.timing.get_or_insert_default();
    worker.clone_into(&mut timing.worker);
    let answered = std::mem::take(&mut report.answered);
    let result = record.result();
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
