//! The service for users.

use std::{pin::Pin, sync::Arc};

use arena_model::GameId;
use arena_store::{Collection, StoredGame};
use arena_wire::v1::{self, coordinator_service_server::CoordinatorService};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, Streaming};

use super::generations::generation;
use super::{backup, binaries, endpoints, pages, standings};
use crate::{
    error::Error,
    handle::Handle,
    messages::{Command, StateChange},
    stored_game,
};

/// The service.
pub(crate) struct CoordinatorRpc {
    pub(crate) handle: Handle,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl CoordinatorService for CoordinatorRpc {
    async fn upload_binary(
        &self,
        request: Request<Streaming<v1::UploadBinaryRequest>>,
    ) -> Answer<v1::UploadBinaryResponse> {
        let uploaded = binaries::upload(&self.handle, request.into_inner()).await?;
        Ok(Response::new(uploaded))
    }

    async fn register_agent(
        &self,
        request: Request<v1::RegisterAgentRequest>,
    ) -> Answer<v1::RegisterAgentResponse> {
        let request = request.into_inner();
        let agent = self
            .handle
            .ask(|reply| Command::Register(Box::new(request), reply))
            .await?;
        Ok(Response::new(v1::RegisterAgentResponse {
            agent: Some(agent),
        }))
    }

    async fn get_agent(
        &self,
        request: Request<v1::GetAgentRequest>,
    ) -> Answer<v1::GetAgentResponse> {
        let name = request.into_inner().name;
        let agent = self.handle.ask(|reply| Command::Agent(name, reply)).await?;
        Ok(Response::new(v1::GetAgentResponse { agent: Some(agent) }))
    }

    async fn list_agents(
        &self,
        request: Request<v1::ListAgentsRequest>,
    ) -> Answer<v1::ListAgentsResponse> {
        let request = request.into_inner();
        let agents = self.handle.ask(Command::Agents).await?;
        let token = Some(request.page_token).filter(|token| !token.is_empty());
        let (agents, next_page_token) = pages::after(agents, token.as_ref(), request.page_size);
        Ok(Response::new(v1::ListAgentsResponse {
            agents,
            next_page_token,
        }))
    }

    async fn remove_agent(
        &self,
        request: Request<v1::RemoveAgentRequest>,
    ) -> Answer<v1::RemoveAgentResponse> {
        let request = request.into_inner();
        self.handle
            .ask(|reply| Command::Remove(request, reply))
            .await?;
        Ok(Response::new(v1::RemoveAgentResponse {}))
    }

    async fn plan_tournament(
        &self,
        request: Request<v1::PlanTournamentRequest>,
    ) -> Answer<v1::PlanTournamentResponse> {
        let request = request.into_inner();
        let planned = self
            .handle
            .ask(|reply| Command::Plan(request, reply))
            .await?;
        Ok(Response::new(planned))
    }

    async fn start_tournament(
        &self,
        request: Request<v1::StartTournamentRequest>,
    ) -> Answer<v1::StartTournamentResponse> {
        let request = request.into_inner();
        let notes = endpoints::ask(&self.handle, &request).await?;
        let started = self
            .handle
            .ask(|reply| Command::Start(request, reply))
            .await?;
        Ok(Response::new(v1::StartTournamentResponse {
            notes,
            ..started
        }))
    }

    async fn get_tournament(
        &self,
        request: Request<v1::GetTournamentRequest>,
    ) -> Answer<v1::GetTournamentResponse> {
        let id = request.into_inner().tournament_id;
        let tournament = self
            .handle
            .ask(|reply| Command::Tournament(id, reply))
            .await?;
        Ok(Response::new(v1::GetTournamentResponse {
            tournament: Some(tournament),
        }))
    }

    async fn list_tournaments(
        &self,
        request: Request<v1::ListTournamentsRequest>,
    ) -> Answer<v1::ListTournamentsResponse> {
        let request = request.into_inner();
        let all = self.handle.ask(Command::Tournaments).await?;
        let token = match request.page_token.split_once('/') {
            None if request.page_token.is_empty() => None,
            None => return Err(Error::PageToken.into()),
            Some((created, id)) => {
                let created = created.parse().map_err(|_| Error::PageToken)?;
                Some((created, id.to_owned()))
            }
        };
        let (tournaments, next_page_token) = pages::after(all, token.as_ref(), request.page_size);
        Ok(Response::new(v1::ListTournamentsResponse {
            tournaments,
            next_page_token,
        }))
    }

    async fn pause_tournament(
        &self,
        request: Request<v1::PauseTournamentRequest>,
    ) -> Answer<v1::PauseTournamentResponse> {
        let request = request.into_inner();
        let tournament = self
            .change(
                StateChange::Pause,
                request.request_id,
                request.tournament_id,
            )
            .await?;
        Ok(Response::new(v1::PauseTournamentResponse { tournament }))
    }

    async fn resume_tournament(
        &self,
        request: Request<v1::ResumeTournamentRequest>,
    ) -> Answer<v1::ResumeTournamentResponse> {
        let request = request.into_inner();
        let tournament = self
            .change(
                StateChange::Resume,
                request.request_id,
                request.tournament_id,
            )
            .await?;
        Ok(Response::new(v1::ResumeTournamentResponse { tournament }))
    }

    async fn cancel_tournament(
        &self,
        request: Request<v1::CancelTournamentRequest>,
    ) -> Answer<v1::CancelTournamentResponse> {
        let request = request.into_inner();
        let tournament = self
            .change(
                StateChange::Cancel,
                request.request_id,
                request.tournament_id,
            )
            .await?;
        Ok(Response::new(v1::CancelTournamentResponse { tournament }))
    }

    async fn retry_tournament(
        &self,
        request: Request<v1::RetryTournamentRequest>,
    ) -> Answer<v1::RetryTournamentResponse> {
        let request = request.into_inner();
        let tournament = self
            .handle
            .ask(|reply| Command::Retry(request, reply))
            .await?;
        Ok(Response::new(v1::RetryTournamentResponse {
            tournament: Some(tournament),
        }))
    }

    type WatchTournamentStream =
        Pin<Box<dyn Stream<Item = Result<v1::WatchTournamentResponse, Status>> + Send>>;

    async fn watch_tournament(
        &self,
        request: Request<v1::WatchTournamentRequest>,
    ) -> Answer<Self::WatchTournamentStream> {
        let id = request.into_inner().tournament_id;
        // An unknown id is reported as the answer, not in the stream.
        let watched = id.clone();
        let versions = self
            .handle
            .ask(|reply| Command::Watch(watched, reply))
            .await?;
        let (sender, receiver) = mpsc::channel(1);
        let handle = self.handle.clone();
        tokio::spawn(async move {
            match standings::watch(&handle, &id, versions, &sender).await {
                Ok(()) | Err(Error::Draining) => {}
                // A watcher that is gone needs no reason.
                Err(error) => drop(sender.send(Err(error.into())).await),
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn get_standings(
        &self,
        request: Request<v1::GetStandingsRequest>,
    ) -> Answer<v1::GetStandingsResponse> {
        let standings = standings::get(&self.handle, request.into_inner()).await?;
        Ok(Response::new(v1::GetStandingsResponse {
            standings: Some(standings),
        }))
    }

    async fn get_game(&self, request: Request<v1::GetGameRequest>) -> Answer<v1::GetGameResponse> {
        let id: GameId = request.get_ref().game_id.parse().map_err(Error::from)?;
        let info = self.handle.info(&id.tournament).await?;
        let info = generation(&info, request.get_ref().generation)?;
        let key = Arc::clone(&info.key);
        let game = self
            .handle
            .with_store(move |store| {
                store
                    .game(&key, id.index)?
                    .ok_or_else(|| Error::UnknownGame { id: id.to_string() })
            })
            .await?;
        let side = stored_game::read_side(&game);
        Ok(Response::new(v1::GetGameResponse {
            record: Some(stored_game::read_message(&game)?),
            setup: Some(info.setup.clone()),
            timing: side.timing,
            fault_details: side.fault_details,
            outputs: side.outputs,
        }))
    }

    async fn list_games(
        &self,
        request: Request<v1::ListGamesRequest>,
    ) -> Answer<v1::ListGamesResponse> {
        let request = request.into_inner();
        let id = request.tournament_id;
        let known = id.clone();
        let info = self.handle.ask(|reply| Command::Info(known, reply)).await?;
        let key = Arc::clone(&generation(&info, request.generation)?.key);
        let from = if request.page_token.is_empty() {
            request.from_index
        } else {
            pages::index(&request.page_token)?
        };
        let size = pages::size(request.page_size);
        let page = self
            .handle
            .with_store(move |store| {
                let games = store.games(&key, from, size)?;
                page_of_games(games, size, request.with_timing)
            })
            .await?;
        Ok(Response::new(page))
    }

    async fn list_differences(
        &self,
        request: Request<v1::ListDifferencesRequest>,
    ) -> Answer<v1::ListDifferencesResponse> {
        let request = request.into_inner();
        let id = request.tournament_id;
        let known = id.clone();
        let unlisted = self
            .handle
            .ask(|reply| Command::Unlisted(known, reply))
            .await?;
        let mut found = self
            .handle
            .with_store(move |store| Ok(store.list(Collection::Differences)?))
            .await?;
        let prefix = format!("{}/", self.handle.info(&id).await?.key);
        found.retain(|(key, _)| key.starts_with(&prefix));
        let token = Some(request.page_token).filter(|token| !token.is_empty());
        let (page, next_page_token) = pages::after(found, token.as_ref(), request.page_size);
        let differences = page
            .iter()
            .map(|(key, bytes)| {
                v1::Difference::decode(bytes.as_slice()).map_err(|error| Error::Damaged {
                    what: format!("difference {key}"),
                    problem: error.to_string(),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Response::new(v1::ListDifferencesResponse {
            differences,
            next_page_token,
            unlisted,
        }))
    }

    async fn list_workers(
        &self,
        _: Request<v1::ListWorkersRequest>,
    ) -> Answer<v1::ListWorkersResponse> {
        Ok(Response::new(self.handle.ask(Command::Workers).await?))
    }

    type BackupStoreStream = ReceiverStream<Result<v1::BackupStoreResponse, Status>>;

    async fn backup_store(
        &self,
        _: Request<v1::BackupStoreRequest>,
    ) -> Answer<Self::BackupStoreStream> {
        let chunks = backup::send(&self.handle);
        Ok(Response::new(ReceiverStream::new(chunks)))
    }
}

impl CoordinatorRpc {
    async fn change(
        &self,
        change: StateChange,
        request_id: String,
        tournament: String,
    ) -> Result<Option<v1::Tournament>, Error> {
        let changed = self
            .handle
            .ask(|reply| Command::Change {
                change,
                request_id,
                tournament,
                reply,
            })
            .await?;
        Ok(Some(changed))
    }
}

/// A page of games, cut if it becomes large.
fn page_of_games(
    mut games: Vec<StoredGame>,
    size: usize,
    with_timing: bool,
) -> Result<v1::ListGamesResponse, Error> {
    let found = games.len();
    games.truncate(pages::fitting(&games, |game| {
        game.record.len() + if with_timing { game.side.len() } else { 0 }
    }));
    let more = games.len() < found || found == size;
    let next = games.last().filter(|_| more).map(|game| game.index + 1);
    let mut page = v1::ListGamesResponse {
        games: Vec::with_capacity(games.len()),
        next_page_token: next.as_ref().map(ToString::to_string).unwrap_or_default(),
    };
    for game in games {
        let mut report = if with_timing {
            stored_game::read_side(&game)
        } else {
            v1::GameReport::default()
        };
        report.record = Some(stored_game::read_message(&game)?);
        page.games.push(report);
    }
    Ok(page)
}
