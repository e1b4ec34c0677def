//! The service for users.

mod games;

use arena_wire::v1::{self, TournamentState, coordinator_service_server::CoordinatorService};
use prost::Message;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::{Answer, audits, backup, binaries, endpoints, pages, principal, standings, watch};
use crate::{
    core::{Core, sealed::SEALED},
    error::Error,
    handle::Handle,
    principal::Principal,
    random, season,
};

/// The service.
pub(crate) struct CoordinatorRpc {
    pub(crate) handle: Handle,
}

#[tonic::async_trait]
impl CoordinatorService for CoordinatorRpc {
    async fn upload_binary(
        &self,
        request: Request<Streaming<v1::UploadBinaryRequest>>,
    ) -> Answer<v1::UploadBinaryResponse> {
        let by = principal(&request);
        let uploaded = binaries::upload(&self.handle, request.into_inner(), by).await?;
        Ok(Response::new(uploaded))
    }

    async fn register_agent(
        &self,
        request: Request<v1::RegisterAgentRequest>,
    ) -> Answer<v1::RegisterAgentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(request.agent.as_ref().map_or("", |agent| &agent.name));
        self.handle.check_room(request.encoded_len()).await?;
        let agent = self
            .handle
            .change(|core| Box::pin(async move { core.register(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RegisterAgentResponse {
            agent: Some(agent),
        }))
    }

    async fn get_agent(
        &self,
        request: Request<v1::GetAgentRequest>,
    ) -> Answer<v1::GetAgentResponse> {
        let agents = self.handle.ask(|core| Ok(core.agents())).await?;
        let name = &request.get_ref().name;
        let agent = agents.get(name).ok_or_else(|| agents.not_found(name))?;
        Ok(Response::new(v1::GetAgentResponse { agent: Some(agent) }))
    }

    async fn list_agents(
        &self,
        request: Request<v1::ListAgentsRequest>,
    ) -> Answer<v1::ListAgentsResponse> {
        let request = request.into_inner();
        let agents = self.handle.ask(|core| Ok(core.agents())).await?;
        let agents = agents.after(&request.page_token);
        let (agents, more) = pages::first(agents, request.page_size, v1::Agent::encoded_len);
        let next = agents.last().filter(|_| more);
        Ok(Response::new(v1::ListAgentsResponse {
            next_page_token: next.map_or_else(String::new, |agent| agent.name.clone()),
            agents,
        }))
    }

    async fn remove_agent(
        &self,
        request: Request<v1::RemoveAgentRequest>,
    ) -> Answer<v1::RemoveAgentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.name);
        self.handle
            .change(|core| Box::pin(async move { core.remove(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RemoveAgentResponse {}))
    }

    async fn register_ruleset(
        &self,
        request: Request<v1::RegisterRulesetRequest>,
    ) -> Answer<v1::RegisterRulesetResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(request.ruleset.as_ref().map_or("", |it| &it.name));
        self.handle.check_room(request.encoded_len()).await?;
        let ruleset = self
            .handle
            .change(|core| Box::pin(async move { core.register_ruleset(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RegisterRulesetResponse {
            ruleset: Some(ruleset),
        }))
    }

    async fn list_rulesets(
        &self,
        request: Request<v1::ListRulesetsRequest>,
    ) -> Answer<v1::ListRulesetsResponse> {
        let request = request.into_inner();
        let rulesets = self.handle.ask(|core| Ok(core.rulesets())).await?;
        let rulesets = rulesets.after(&request.page_token);
        let (rulesets, more) = pages::first(rulesets, request.page_size, v1::Ruleset::encoded_len);
        let next = rulesets.last().filter(|_| more);
        Ok(Response::new(v1::ListRulesetsResponse {
            next_page_token: next.map_or_else(String::new, |ruleset| ruleset.name.clone()),
            rulesets,
        }))
    }

    async fn remove_ruleset(
        &self,
        request: Request<v1::RemoveRulesetRequest>,
    ) -> Answer<v1::RemoveRulesetResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.name);
        self.handle
            .change(|core| Box::pin(async move { core.remove_ruleset(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RemoveRulesetResponse {}))
    }

    async fn plan_tournament(
        &self,
        request: Request<v1::PlanTournamentRequest>,
    ) -> Answer<v1::PlanTournamentResponse> {
        let by = principal(&request);
        let v1::PlanTournamentRequest { spec_toml, seed } = request.get_ref();
        // A plan is the same with any seed, and must not show a sealed one.
        let seed = match seed.strip_prefix(SEALED) {
            None => seed,
            Some(commitment) if commitment.len() == 64 => "",
            Some(_) => {
                return Err(Error::Request(format!(
                    "the seed does not have 64 hexadecimal digits behind `{SEALED}`"
                ))
                .into());
            }
        };
        let (plan, _) = self.handle.plan(spec_toml, seed, &by).await?;
        Ok(Response::new(plan.response()))
    }

    async fn start_tournament(
        &self,
        request: Request<v1::StartTournamentRequest>,
    ) -> Answer<v1::StartTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        let (spec, seed) = (&request.spec_toml, &request.seed);
        let (mut plan, agents) = self.handle.plan(spec, seed, &by).await?;
        plan.seal(random::bytes()?);
        by.on(&plan.tournament.name.to_string());
        self.handle.check_room(request.encoded_len()).await?;
        let notes = endpoints::ask(&plan, &agents).await?;
        let owner = by.clone();
        let started = self
            .handle
            .change(|core| Box::pin(async move { core.start(request, plan, &owner).await }))
            .await?;
        if let Some(tournament) = &started.tournament {
            let id = &tournament.tournament_id;
            by.did(&match started.created {
                true => format!("created {id}"),
                false => format!("found {id}"),
            });
        }
        Ok(Response::new(v1::StartTournamentResponse {
            notes,
            ..started
        }))
    }

    async fn get_tournament(
        &self,
        request: Request<v1::GetTournamentRequest>,
    ) -> Answer<v1::GetTournamentResponse> {
        let by = principal(&request);
        let id = request.into_inner().tournament_id;
        let shown = move |core: &mut Core| {
            let mut tournament = core.tournament(&id)?;
            if !core.sees_audits(&id, &by)? {
                audits::hide_open(&mut tournament.audits);
            }
            Ok(tournament)
        };
        let tournament = self.handle.ask(shown).await?;
        Ok(Response::new(v1::GetTournamentResponse {
            tournament: Some(tournament),
        }))
    }

    async fn list_tournaments(
        &self,
        request: Request<v1::ListTournamentsRequest>,
    ) -> Answer<v1::ListTournamentsResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        let after = match request.page_token.split_once('/') {
            Some((created, id)) => {
                let created: u64 = created.parse().map_err(|_| Error::PageToken)?;
                Some((created, id.to_owned()))
            }
            None if request.page_token.is_empty() => None,
            None => return Err(Error::PageToken.into()),
        };
        // One more than fits shows that more follow.
        let page_size = request.page_size;
        let most = pages::size(page_size) + 1;
        let list = move |core: &mut Core| {
            if request.removed {
                return Ok(core.list_removed(after.as_ref(), most));
            }
            let mut tournaments = core.list_tournaments(after.as_ref(), most);
            for tournament in &mut tournaments {
                if !core.sees_audits(&tournament.tournament_id, &by)? {
                    audits::hide_open(&mut tournament.audits);
                }
            }
            Ok(tournaments)
        };
        let tournaments = self.handle.ask(list).await?;
        let bytes = v1::Tournament::encoded_len;
        let (tournaments, more) = pages::first(tournaments, page_size, bytes);
        let next = tournaments.last().filter(|_| more);
        Ok(Response::new(v1::ListTournamentsResponse {
            next_page_token: next.map_or_else(String::new, |it| {
                format!("{}/{}", it.created_unix_us, it.tournament_id)
            }),
            tournaments,
        }))
    }

    async fn pause_tournament(
        &self,
        request: Request<v1::PauseTournamentRequest>,
    ) -> Answer<v1::PauseTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        let (after, id) = (TournamentState::Paused, request.request_id);
        let tournament = self.change(after, id, request.tournament_id, by).await?;
        Ok(Response::new(v1::PauseTournamentResponse { tournament }))
    }

    async fn resume_tournament(
        &self,
        request: Request<v1::ResumeTournamentRequest>,
    ) -> Answer<v1::ResumeTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        let (after, id) = (TournamentState::Running, request.request_id);
        let tournament = self.change(after, id, request.tournament_id, by).await?;
        Ok(Response::new(v1::ResumeTournamentResponse { tournament }))
    }

    async fn cancel_tournament(
        &self,
        request: Request<v1::CancelTournamentRequest>,
    ) -> Answer<v1::CancelTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        let (after, id) = (TournamentState::Cancelled, request.request_id);
        let tournament = self.change(after, id, request.tournament_id, by).await?;
        Ok(Response::new(v1::CancelTournamentResponse { tournament }))
    }

    async fn retry_tournament(
        &self,
        request: Request<v1::RetryTournamentRequest>,
    ) -> Answer<v1::RetryTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        let tournament = self
            .handle
            .change(|core| Box::pin(async move { core.retry(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RetryTournamentResponse {
            tournament: Some(tournament),
        }))
    }

    async fn change_agents(
        &self,
        request: Request<v1::ChangeAgentsRequest>,
    ) -> Answer<v1::ChangeAgentsResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        let (owner, what) = (by.clone(), season::kind_name(request.kind()));
        self.handle.check_room(request.encoded_len()).await?;
        let changed = self
            .handle
            .change(|core| Box::pin(async move { core.change_agents(request, &owner).await }))
            .await?;
        by.did(&format!(
            "{what} {} from block {}",
            changed.entry, changed.at_blocks
        ));
        Ok(Response::new(changed))
    }

    async fn remove_tournament(
        &self,
        request: Request<v1::RemoveTournamentRequest>,
    ) -> Answer<v1::RemoveTournamentResponse> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.tournament_id);
        if !request.archive_sha256.is_empty() {
            by.did(&format!("archived as {}", request.archive_sha256));
        }
        let removed = self
            .handle
            .change(|core| Box::pin(async move { core.remove_tournament(request, &by).await }))
            .await?;
        Ok(Response::new(v1::RemoveTournamentResponse {
            tournament: Some(removed),
        }))
    }

    type WatchTournamentStream = watch::Messages;

    async fn watch_tournament(
        &self,
        request: Request<v1::WatchTournamentRequest>,
    ) -> Answer<Self::WatchTournamentStream> {
        let by = principal(&request);
        let id = request.into_inner().tournament_id;
        // An unknown id is reported as the answer, not in the stream.
        let (watched, of) = (id.clone(), by.clone());
        let watch =
            move |core: &mut Core| Ok((core.watch(&watched)?, core.sees_audits(&watched, &of)?));
        let (versions, sees_audits) = self.handle.ask(watch).await?;
        let watched = watch::Watched {
            id,
            versions,
            sees_audits,
            by,
        };
        Ok(Response::new(watch::Messages::of(
            self.handle.clone(),
            watched,
        )))
    }

    async fn get_standings(
        &self,
        request: Request<v1::GetStandingsRequest>,
    ) -> Answer<v1::GetStandingsResponse> {
        // What waits has its agents in memory.
        let by = principal(&request);
        let _share = self.handle.standings.take(&by)?;
        let id = request.get_ref().tournament_id.clone();
        let mut standings = standings::get(&self.handle, request.into_inner(), &by).await?;
        let sees = move |core: &mut Core| core.sees_audits(&id, &by);
        if !self.handle.ask(sees).await? {
            audits::hide_open(&mut standings.audits);
        }
        Ok(Response::new(v1::GetStandingsResponse {
            standings: Some(standings),
        }))
    }

    async fn get_game(&self, request: Request<v1::GetGameRequest>) -> Answer<v1::GetGameResponse> {
        self.game(request).await
    }

    async fn list_games(
        &self,
        request: Request<v1::ListGamesRequest>,
    ) -> Answer<v1::ListGamesResponse> {
        self.games(request).await
    }

    async fn list_differences(
        &self,
        request: Request<v1::ListDifferencesRequest>,
    ) -> Answer<v1::ListDifferencesResponse> {
        self.differences(request).await
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Answer<v1::ListWorkersResponse> {
        let request = request.into_inner();
        let page_size = request.page_size;
        // One more than fits shows that more follow.
        let most = pages::size(page_size) + 1;
        let list = move |core: &mut Core| core.list_workers(&request.page_token, most);
        let found = self.handle.ask(list).await?;
        let (workers, more) = pages::first(found.workers, page_size, v1::Worker::encoded_len);
        let next = workers.last().filter(|_| more);
        Ok(Response::new(v1::ListWorkersResponse {
            next_page_token: next.map_or_else(String::new, |it| it.worker_id.clone()),
            workers,
            ..found
        }))
    }

    type BackupStoreStream = ReceiverStream<Result<v1::BackupStoreResponse, Status>>;

    async fn backup_store(
        &self,
        _: Request<v1::BackupStoreRequest>,
    ) -> Answer<Self::BackupStoreStream> {
        let chunks = backup::send(&self.handle)?;
        Ok(Response::new(ReceiverStream::new(chunks)))
    }
}

impl CoordinatorRpc {
    async fn change(
        &self,
        after: TournamentState,
        request_id: String,
        tournament: String,
        by: Principal,
    ) -> Result<Option<v1::Tournament>, Error> {
        let changed = self
            .handle
            .ask_later(move |core, reply| {
                Box::pin(core.change(after, request_id, tournament, by, reply))
            })
            .await?;
        Ok(Some(changed))
    }
}
