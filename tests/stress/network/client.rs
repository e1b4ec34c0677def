//! A user: starts a tournament, may pause it, watches it to its end, and exports it. Each request
//! is repeated until it is answered.

use std::time::Duration;

use arena_wire::v1::{self, TournamentState, coordinator_service_client::CoordinatorServiceClient};
use prost::Message;
use tokio::time;
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};

use super::{
    case::{Case, SPECS},
    hosts,
    wire::Sockets,
};

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The pause before a request is repeated.
const PAUSE: Duration = Duration::from_millis(150);
/// The keep-alive interval of a connection, as in the command line.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Games of a page.
const PAGE: u32 = 10;

/// The results of a tournament.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Export {
    pub(super) tournament: String,
    /// Encoded records by index.
    pub(super) games: Vec<(u64, Vec<u8>)>,
    pub(super) standings: v1::Standings,
}

/// A user's connection to the coordinator.
#[derive(Clone)]
struct User(CoordinatorServiceClient<Channel>);

/// Acts as a user. Returns the results of the tournament, or an error.
pub(super) async fn play(case: &Case, sockets: &Sockets) -> Result<Export, String> {
    let endpoint = Endpoint::from_shared(hosts::url()).map_err(|error| error.to_string())?;
    let endpoint = endpoint
        .connect_timeout(KEEP_ALIVE)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true);
    let user = User(CoordinatorServiceClient::new(sockets.connect(&endpoint)));
    let started = user.start(case).await?;
    let id = started.tournament_id;
    if let Some((after, lasting)) = case.paused {
        user.pause(&id, after, lasting).await?;
    }
    user.watch(&id).await?;
    user.export(&id).await
}

impl User {
    /// Repeats a request until it is answered.
    async fn ask<T>(
        &self,
        what: &str,
        call: impl AsyncFn(CoordinatorServiceClient<Channel>) -> Result<T, Status>,
    ) -> Result<T, String> {
        loop {
            match time::timeout(TIMEOUT, call(self.0.clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(status)) if refused(&status) => {
                    return Err(format!("{what} was refused: {}", status.message()));
                }
                Ok(Err(_)) | Err(_) => time::sleep(PAUSE).await,
            }
        }
    }

    async fn start(&self, case: &Case) -> Result<v1::Tournament, String> {
        let request = v1::StartTournamentRequest {
            request_id: "start".to_owned(),
            spec_toml: SPECS[case.spec].to_owned(),
            ..Default::default()
        };
        let start = async |mut client: CoordinatorServiceClient<Channel>| {
            client.start_tournament(request.clone()).await
        };
        // Repeating the start returns the same tournament.
        let first = self.ask("a start", start).await?.into_inner();
        let second = self.ask("a start", start).await?.into_inner();
        let (one, two) = (first.tournament, second.tournament);
        let (Some(one), Some(two)) = (one, two) else {
            return Err("a start was answered without a tournament".to_owned());
        };
        if !first.created || !second.created || one.tournament_id != two.tournament_id {
            return Err(format!(
                "one request for a start made {} and {}",
                one.tournament_id, two.tournament_id
            ));
        }
        Ok(one)
    }

    async fn pause(&self, id: &str, after: Duration, lasting: Duration) -> Result<(), String> {
        time::sleep(after).await;
        if self.tournament(id).await?.state() == TournamentState::Finished {
            return Ok(());
        }
        let request = v1::PauseTournamentRequest {
            request_id: "pause".to_owned(),
            tournament_id: id.to_owned(),
        };
        let paused = self
            .ask("a pause", async |mut client| {
                client.pause_tournament(request.clone()).await
            })
            .await;
        // It may have finished in the meantime.
        if paused.is_err() {
            return match self.tournament(id).await?.state() {
                TournamentState::Finished => Ok(()),
                state => Err(format!("a pause was refused while {state:?}")),
            };
        }
        let reported = self.tournament(id).await?.state();
        if !matches!(
            reported,
            TournamentState::Paused | TournamentState::Finished
        ) {
            return Err(format!(
                "a pause was acknowledged, but then the state was {reported:?}"
            ));
        }
        time::sleep(lasting).await;
        // The state shows whether it has finished in the meantime.
        let still = self.tournament(id).await?.state();
        if reported == TournamentState::Paused && still == TournamentState::Running {
            return Err(
                "a pause was acknowledged, but the tournament runs again without a request"
                    .to_owned(),
            );
        }
        let request = v1::ResumeTournamentRequest {
            request_id: "resume".to_owned(),
            tournament_id: id.to_owned(),
        };
        let resumed = self
            .ask("a resume", async |mut client| {
                client.resume_tournament(request.clone()).await
            })
            .await;
        match (resumed, reported) {
            (Err(problem), TournamentState::Paused) => match self.tournament(id).await?.state() {
                TournamentState::Finished => Ok(()),
                _ => Err(problem),
            },
            _ => Ok(()),
        }
    }

    async fn tournament(&self, id: &str) -> Result<v1::Tournament, String> {
        let request = v1::GetTournamentRequest {
            tournament_id: id.to_owned(),
        };
        let answer = self
            .ask("a started tournament", async |mut client| {
                client.get_tournament(request.clone()).await
            })
            .await?;
        answer
            .into_inner()
            .tournament
            .ok_or_else(|| "an answer has no tournament".to_owned())
    }

    /// Watches until the tournament ends, and starts again if the stream ends earlier.
    async fn watch(&self, id: &str) -> Result<(), String> {
        let request = v1::WatchTournamentRequest {
            tournament_id: id.to_owned(),
        };
        let mut most = 0;
        loop {
            let mut stream = self
                .ask("watching", async |mut client| {
                    client.watch_tournament(request.clone()).await
                })
                .await?
                .into_inner();
            while let Ok(Some(reported)) = stream.message().await {
                if reported.games_done < most {
                    let done = reported.games_done;
                    return Err(format!(
                        "the number of finished games fell from {most} to {done}"
                    ));
                }
                most = reported.games_done;
                match reported.state() {
                    TournamentState::Finished => return Ok(()),
                    TournamentState::Cancelled => return Err("it was cancelled".to_owned()),
                    _ => {}
                }
            }
            time::sleep(PAUSE).await;
        }
    }

    async fn export(&self, id: &str) -> Result<Export, String> {
        let mut export = Export {
            tournament: id.to_owned(),
            ..Export::default()
        };
        let mut token = String::new();
        loop {
            let request = v1::ListGamesRequest {
                tournament_id: id.to_owned(),
                page_size: PAGE,
                page_token: token,
                ..Default::default()
            };
            let page = self
                .ask("a page of games", async |mut client| {
                    client.list_games(request.clone()).await
                })
                .await?
                .into_inner();
            let records = page.games.into_iter().filter_map(|game| game.record);
            export
                .games
                .extend(records.map(|record| (record.index, record.encode_to_vec())));
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        let request = v1::ListDifferencesRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let differences = self
            .ask("differences", async |mut client| {
                client.list_differences(request.clone()).await
            })
            .await?
            .into_inner()
            .differences;
        if let Some(difference) = differences.first() {
            return Err(format!("two records differ: {difference:?}"));
        }
        let request = v1::GetStandingsRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let standings = self
            .ask("standings", async |mut client| {
                client.get_standings(request.clone()).await
            })
            .await?
            .into_inner()
            .standings;
        export.standings = standings.unwrap_or_default();
        // The number of audited games depends on time.
        if let Some(audits) = export.standings.audits.take()
            && audits.differing > 0
        {
            return Err(format!("audited games differ: {audits:?}"));
        }
        for agent in &mut export.standings.agents {
            // Measured times always differ.
            (agent.latency_us_p50, agent.latency_us_p99) = (None, None);
            (agent.waiting_us_p50, agent.waiting_us_p99) = (None, None);
        }
        Ok(export)
    }
}

/// Whether repeating the request is useless.
fn refused(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::NotFound
            | Code::InvalidArgument
            | Code::FailedPrecondition
            | Code::AlreadyExists
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::DataLoss
    )
}
