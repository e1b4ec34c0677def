//! What pages read from the coordinator.

use std::{sync::Arc, time::Duration};

use arena_report::{Client, live, records};
use arena_telemetry::UnreadAnswers;
use arena_wire::v1::{self};
use axum::http::StatusCode;
use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking};

use crate::{
    answer::{Answer, Failure, Outcome},
    data::{Kept, Shared},
    snapshot::{Snapshot, is_over},
};

/// Minimum time between two looks at the same list.
const LIST_AGE: Duration = Duration::from_secs(2);
/// Minimum time between two looks at a tournament, for small standings.
const PACE: Duration = Duration::from_secs(1);
/// Bytes of standings for which the time is longer by a second: all readers get them.
const PACE_BYTES: u64 = 32 << 10;
/// Minimum time between two reports of a running tournament: each replays all games.
const REPORT_AGE: Duration = Duration::from_secs(60);
/// Time for which the report of a finished tournament is not looked at again.
const REPORT_CHECK: Duration = Duration::from_secs(2);
/// Maximum number of games of a tournament whose report is made here.
pub(crate) const REPORT_GAMES_MAX: u64 = 200_000;
/// Tournaments or workers per request of a list.
const LIST_PAGE: u32 = 1_024;

/// The coordinator, and what was read from it lately.
pub(crate) struct Site {
    client: Client,
    tournaments: Shared<Arc<Vec<v1::Tournament>>>,
    agents: Shared<Arc<Vec<v1::Agent>>>,
    workers: Shared<Arc<(Vec<v1::Worker>, u64)>>,
    kept: Kept<Tournament>,
    /// Reports that are made at the same time.
    reporting: Semaphore,
    /// Large answers that are not sent yet.
    pub(crate) unread: Arc<UnreadAnswers>,
}

/// What was computed for a tournament.
#[derive(Default)]
struct Tournament {
    snapshot: Shared<Arc<Snapshot>>,
    report: Shared<Arc<Report>>,
}

struct Report {
    of: v1::Tournament,
    page: Answer,
}

/// True if an id can be that of a tournament.
fn is_id(id: &str) -> bool {
    let is_valid = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    !id.is_empty() && id.len() <= 200 && id.bytes().all(is_valid)
}

impl Site {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            tournaments: Shared::default(),
            agents: Shared::default(),
            workers: Shared::default(),
            kept: Kept::default(),
            reporting: Semaphore::new(1),
            unread: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// All tournaments, oldest first.
    pub(crate) async fn tournaments(&self) -> Outcome<Arc<Vec<v1::Tournament>>> {
        let read = async |_| {
            let mut client = self.client();
            let mut all = Vec::new();
            let mut request = v1::ListTournamentsRequest {
                page_size: LIST_PAGE,
                ..v1::ListTournamentsRequest::default()
            };
            loop {
                let page = client.list_tournaments(request.clone()).await?.into_inner();
                all.extend(page.tournaments);
                request.page_token = page.next_page_token;
                if request.page_token.is_empty() {
                    return Ok((Arc::new(all), LIST_AGE));
                }
            }
        };
        self.tournaments.get(read).await
    }

    /// The registered agents, by name.
    pub(crate) async fn agents(&self) -> Outcome<Arc<Vec<v1::Agent>>> {
        let read = async |_| {
            let mut client = self.client();
            let mut all = Vec::new();
            let mut request = v1::ListAgentsRequest::default();
            loop {
                let page = client.list_agents(request.clone()).await?.into_inner();
                all.extend(page.agents);
                request.page_token = page.next_page_token;
                if request.page_token.is_empty() {
                    return Ok((Arc::new(all), LIST_AGE));
                }
            }
        };
        self.agents.get(read).await
    }

    /// The connected workers in the order in which they joined, and the number of games that none has.
    pub(crate) async fn workers(&self) -> Outcome<Arc<(Vec<v1::Worker>, u64)>> {
        let read = async |_| {
            let mut client = self.client();
            let mut all = Vec::new();
            let mut request = v1::ListWorkersRequest {
                page_size: LIST_PAGE,
                ..v1::ListWorkersRequest::default()
            };
            loop {
                let page = client.list_workers(request.clone()).await?.into_inner();
                all.extend(page.workers);
                request.page_token = page.next_page_token;
                if request.page_token.is_empty() {
                    return Ok((Arc::new((all, page.games_waiting)), LIST_AGE));
                }
            }
        };
        self.workers.get(read).await
    }

    /// A tournament, as the coordinator has it now.
    pub(crate) async fn tournament(&self, id: &str) -> Outcome<v1::Tournament> {
        if !is_id(id) {
            return Err(unknown());
        }
        Ok(records::tournament(&mut self.client(), id).await?)
    }

    /// The standings of a tournament, which all of its readers share. They are computed again if the
    /// tournament has changed, at most once in a time that grows with their size.
    pub(crate) async fn snapshot(&self, id: &str) -> Outcome<Arc<Snapshot>> {
        if !is_id(id) {
            return Err(unknown());
        }
        let read = async |before: Option<Arc<Snapshot>>| {
            let tournament = self.tournament(id).await?;
            let snapshot = match before.filter(|before| before.tournament == tournament) {
                Some(before) => before,
                None => {
                    let request = v1::GetStandingsRequest {
                        tournament_id: id.to_owned(),
                        ..v1::GetStandingsRequest::default()
                    };
                    let answer = self.client().get_standings(request).await?.into_inner();
                    Arc::new(Snapshot::new(tournament, answer.standings)?)
                }
            };
            let more = snapshot.live.len() as u64 / PACE_BYTES;
            Ok((snapshot, PACE + Duration::from_secs(more)))
        };
        let found = self.kept.of(id).snapshot.get(read).await;
        if found.is_err() {
            self.kept.forget(id);
        }
        found
    }

    /// The page of a tournament's report. That of a running tournament may be a minute old.
    pub(crate) async fn report(&self, id: &str) -> Outcome {
        // Nothing is kept for an id that does not exist.
        self.tournament(id).await?;
        let read = async |before: Option<Arc<Report>>| {
            let tournament = self.tournament(id).await?;
            let age = match is_over(tournament.state()) {
                true => REPORT_CHECK,
                false => REPORT_AGE,
            };
            if let Some(same) = before.filter(|it| it.of == tournament) {
                return Ok((same, age));
            }
            if tournament.games_done > REPORT_GAMES_MAX {
                return Err(Failure::new(
                    StatusCode::NOT_FOUND,
                    format!(
                        "the report of {} games is not made for this page; use arena report {id} \
                         --html report.html",
                        tournament.games_done
                    ),
                ));
            }
            let turn = self.reporting.acquire().await;
            let html = make_report(self.client(), id.to_owned()).await?;
            drop(turn);
            let of = tournament;
            let page = Answer::page_with(&html, &live::report_policy()).kept();
            Ok((Arc::new(Report { of, page }), age))
        };
        let report = self.kept.of(id).report.get(read).await?;
        Ok(report.page.clone())
    }
}

fn unknown() -> Failure {
    Failure::not_found("there is no tournament with this id")
}

/// Makes a report on a thread of its own, because it replays all games.
async fn make_report(mut client: Client, id: String) -> Outcome<String> {
    let runtime = Handle::current();
    let made = spawn_blocking(move || {
        let report = runtime.block_on(arena_report::gather(&mut client, &id, &[]))?;
        arena_report::html(&report)
    });
    let stopped = |_| {
        Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the coordinator is stopping",
        )
    };
    made.await.map_err(stopped)?.map_err(Failure::from)
}
