//! What the worker does with answers to its reports.

use std::rc::Rc;

use arena_wire::v1;
use tonic::Status;

use super::{super::calls::refusal, Fleet};
use crate::{
    protocol::{RefusedReport, ReportNo},
    record::void_report,
};

impl Fleet {
    pub(super) fn hear_of_report(
        &mut self,
        report: ReportNo,
        answer: Result<v1::ReportResponse, Status>,
    ) {
        let Some(request) = self.reports.remove(&report) else {
            return;
        };
        let tournament = &request.tournament_id;
        match answer {
            Ok(v1::ReportResponse { differing }) => {
                if !differing.is_empty() {
                    tracing::warn!(
                        tournament,
                        ?differing,
                        "records differ from the durable ones"
                    );
                }
                tracing::debug!(tournament, games = ?indices(&request), "acknowledged");
                self.protocol.reported(report);
            }
            Err(status) => self.report_again(report, request, &status),
        }
    }

    /// A report was refused.
    fn report_again(&mut self, report: ReportNo, request: Rc<v1::ReportRequest>, status: &Status) {
        let now = self.now();
        let problem = status.message();
        match self.protocol.not_reported(now, report, refusal(status)) {
            RefusedReport::Again => {
                self.metrics.report_retries.inc();
                self.reports.insert(report, request);
            }
            RefusedReport::Split { first, halves } => {
                self.metrics.report_retries.inc();
                for (half, part) in halves.into_iter().zip(split(request, first)) {
                    self.reports.insert(half, Rc::new(part));
                }
            }
            RefusedReport::Replaced => {
                let mut request = Rc::unwrap_or_clone(request);
                let tournament = &request.tournament_id;
                for game in &mut request.games {
                    let index = index(game).unwrap_or_default();
                    tracing::error!(
                        game = %format_args!("{tournament}/{index}"),
                        "the result of a game was rejected; the game will be replayed: {problem}"
                    );
                    *game = void_report(index, format!("its result was rejected: {problem}"));
                }
                self.reports.insert(report, Rc::new(request));
            }
            RefusedReport::Dropped => tracing::error!(
                tournament = request.tournament_id,
                games = ?request.games.iter().filter_map(index).collect::<Vec<_>>(),
                "results were rejected for good: {problem}"
            ),
        }
    }
}

fn index(game: &v1::GameReport) -> Option<u64> {
    Some(game.record.as_ref()?.index)
}

/// The games of a report that have records.
fn indices(request: &v1::ReportRequest) -> Vec<u64> {
    let games = request.games.iter();
    let played = games.filter(|game| game.void_reason.is_empty());
    played.filter_map(index).collect()
}

/// A report in two halves.
fn split(request: Rc<v1::ReportRequest>, first: usize) -> [v1::ReportRequest; 2] {
    let mut one = Rc::unwrap_or_clone(request);
    let mut games = std::mem::take(&mut one.games);
    let mut other = one.clone();
    other.games = games.split_off(first);
    one.games = games;
    [one, other]
}
