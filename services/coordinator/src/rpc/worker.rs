//! The service for workers.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use arena_model::{GameRecord, engine::Termination};
use arena_store::Store;
use arena_telemetry::{CoordinatorMetrics, ReportOutcome};
use arena_wire::v1::{self, Role, worker_service_server::WorkerService};
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{Request, Response, Status};

use super::{
    Answer, binaries, principal,
    reporting::{PlayedBy, ReplayedBy, Reporting},
    reports::Admitted,
};
use crate::{
    divergence::{Divergence, HostFaults, first_divergence, is_evidence},
    door::Tokens,
    error::Error,
    handle::Handle,
    info::Info,
    ledger::{AuditRecord, Suspicion, WorkerProcess},
    messages::{Caller, Comparison, FailedGame, GamesReport, OneSided, Presence, done},
    principal::Principal,
    stored_game,
};

/// Maximum games of a report.
const REPORT_GAMES_MAX: usize = 4096;

/// The service.
pub(crate) struct WorkerRpc {
    /// None if everyone may do everything.
    pub(crate) tokens: Option<Arc<Tokens>>,
    pub(crate) handle: Handle,
    pub(crate) metrics: Arc<CoordinatorMetrics>,
}

impl Stream for Presence {
    type Item = Result<v1::JoinResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.notices.poll_recv(context).map(|notice| notice.map(Ok))
    }
}

#[tonic::async_trait]
impl WorkerService for WorkerRpc {
    type JoinStream = Presence;

    async fn join(&self, request: Request<v1::JoinRequest>) -> Answer<Presence> {
        let by = principal(&request);
        let request = request.into_inner();
        by.on(&request.name);
        let (owner, process) = (Arc::clone(&by.owner), request.process);
        let presence = self.handle.ask(|core| core.join(request, owner)).await?;
        // A join that fails is no use. Without a use, the worker leaves with its `presence`.
        if let (Some(tokens), Role::Worker) = (&self.tokens, by.role) {
            tokens.joined(&by.owner, process).await?;
        }
        Ok(Response::new(presence))
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Answer<v1::LeaseResponse> {
        principal(&request).on(&request.get_ref().worker_id);
        let request = request.into_inner();
        let lease = self
            .handle
            .ask_later(|core, reply| {
                core.lease(request, reply);
                done()
            })
            .await?;
        Ok(Response::new(lease))
    }

    async fn replay(&self, request: Request<v1::ReplayRequest>) -> Answer<v1::ReplayResponse> {
        principal(&request).on(&request.get_ref().worker_id);
        let request = request.into_inner();
        let answer = self
            .handle
            .ask_later(|core, reply| {
                core.replay(request, reply);
                done()
            })
            .await?;
        Ok(Response::new(answer))
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Answer<v1::ReportResponse> {
        let by = principal(&request);
        let admitted = request.extensions().get::<Arc<Admitted>>().cloned();
        let request = request.into_inner();
        let games = request.games.len() as u64;
        if let Some(admitted) = &admitted {
            admitted.has(games);
        }
        let answer = self.take_report(request, &by, admitted.as_deref()).await;
        if answer.is_err() {
            self.metrics.reported(ReportOutcome::Rejected, games);
        }
        Ok(Response::new(answer?))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Answer<v1::HeartbeatResponse> {
        principal(&request).on(&request.get_ref().worker_id);
        let request = request.into_inner();
        let ended_leases = self
            .handle
            .ask(move |core| core.heartbeat(&request))
            .await?;
        Ok(Response::new(v1::HeartbeatResponse { ended_leases }))
    }

    async fn leave(&self, request: Request<v1::LeaveRequest>) -> Answer<v1::LeaveResponse> {
        principal(&request).on(&request.get_ref().worker_id);
        let request = request.into_inner();
        self.handle.ask(move |core| core.leave(&request)).await?;
        Ok(Response::new(v1::LeaveResponse {}))
    }

    type FetchBinaryStream = ReceiverStream<Result<v1::FetchBinaryResponse, Status>>;

    async fn fetch_binary(
        &self,
        request: Request<v1::FetchBinaryRequest>,
    ) -> Answer<Self::FetchBinaryStream> {
        let by = principal(&request);
        let request = request.into_inner();
        let chunks = binaries::fetch(&self.handle, request, &by).await?;
        Ok(Response::new(ReceiverStream::new(chunks)))
    }
}

impl WorkerRpc {
    async fn take_report(
        &self,
        request: v1::ReportRequest,
        principal: &Principal,
        admitted: Option<&Admitted>,
    ) -> Result<v1::ReportResponse, Error> {
        if request.games.len() > REPORT_GAMES_MAX {
            return Err(Error::Request(format!(
                "{} games in one report: the limit is {REPORT_GAMES_MAX}",
                request.games.len()
            )));
        }
        let info = self.handle.info(&request.tournament_id).await?;
        // Tickets of an earlier generation prove nothing of this one.
        let leased = self.handle.tickets.read(&info.key, &request.ticket);
        let not_leased = || Error::NotLeased {
            tournament: info.id.to_string(),
        };
        // A ticket is of no use to another token: results may arrive long after the worker's stay, so a report
        // needs no session.
        let leased = leased.filter(|leased| leased.owner == principal.owner);
        // What a refused report says of itself is in the trail as well.
        principal.on(leased.as_ref().map_or(&request.worker_id, |it| &it.worker));
        let leased = leased.ok_or_else(not_leased)?;
        let by = Caller {
            worker_id: request.worker_id,
            boot_epoch: request.boot_epoch,
            session: request.session,
        };
        let mut failed = Vec::new();
        let mut finished = Vec::new();
        for mut report in request.games {
            stored_game::cut(&mut report);
            let record = report.record.take();
            let record = record.ok_or_else(|| Error::Request("a game has no record".to_owned()))?;
            if !leased.covers(record.index) {
                return Err(not_leased());
            }
            if report.void_reason.is_empty() {
                finished.push((record, report));
                continue;
            }
            let agents = info.agents.len() as u32;
            let is_package = info.package().is_some();
            let unready = match report.rules_unready && is_package {
                true => Some(v1::UnreadyAgent {
                    agent: info.rules_number().into(),
                    message: report.void_reason.clone(),
                    ..Default::default()
                }),
                false => report.unready.filter(|unready| unready.agent < agents),
            };
            failed.push(FailedGame {
                index: record.index,
                reason: report.void_reason,
                rules_failed: report.rules_failed && is_package,
                unready,
            });
        }
        let replayed = async {
            let (finished, replayed_by) = match info.package() {
                Some(_) => {
                    let reporting = Reporting {
                        info: &info,
                        leased: &leased,
                        by: &by,
                        owner: Arc::clone(&principal.owner),
                        lease: request.lease_id,
                    };
                    let aside = admitted.map(|it| it.set_aside(&reporting.owner));
                    let _aside = aside.transpose()?;
                    self.replay_elsewhere(reporting, finished).await?
                }
                None => (finished, ReplayedBy::new()),
            };
            let played_by = PlayedBy {
                worker: leased.worker.clone(),
                process: leased.process,
                owner: Arc::clone(&leased.owner),
            };
            let replayed = self.replay(Arc::clone(&info), finished, played_by, replayed_by);
            replayed.await
        };
        let replayed = replayed.await;
        if let Err(error @ Error::Unsound { .. }) = &replayed {
            let (process, problem) = (leased.process, error.to_string());
            let name = leased.worker.clone();
            let quarantine = self.handle.ask(move |core| {
                core.quarantine(process, Suspicion::Impossible, &name, &problem);
                Ok(())
            });
            quarantine.await?;
        }
        let (games, mut records) = replayed?;
        let report = GamesReport {
            by: by.clone(),
            process: leased.process,
            worker: leased.worker.clone(),
            owner: Arc::clone(&leased.owner),
            lease: request.lease_id,
            info: Arc::clone(&info),
            games,
            failed,
        };
        let compare = self.handle.report(report).await?;
        if compare.is_empty() {
            return Ok(v1::ReportResponse::default());
        }
        records.retain(|index, _| compare.contains(index));
        let compared = Comparison {
            info,
            by,
            process: leased.process,
            owner: Arc::clone(&leased.owner),
            players: BTreeMap::new(),
            games: Vec::new(),
            differences: Vec::new(),
            samples: Vec::new(),
            worker: leased.worker,
            unread: Vec::new(),
            contradicted: Vec::new(),
            again: Vec::new(),
            confirmed: Vec::new(),
        };
        let compared = self.compare(compared, records).await?;
        let differ = compared.games.iter();
        let differ = differ.filter(|(_, it)| matches!(it, AuditRecord::Differs { .. }));
        let differing: Vec<u64> = differ.map(|&(index, _)| index).collect();
        self.handle
            .ask_later(move |core, reply| {
                core.compared(&compared, reply);
                done()
            })
            .await?;
        self.metrics
            .reported(ReportOutcome::Differing, differing.len() as u64);
        self.metrics.reported(
            ReportOutcome::Duplicate,
            (compare.len() - differing.len()) as u64,
        );
        Ok(v1::ReportResponse { differing })
    }

    /// Compares games that had a record before. An unreadable record does not stop the rest, since
    /// the durable one is kept.
    async fn compare(
        &self,
        mut compared: Comparison,
        records: BTreeMap<u64, GameRecord>,
    ) -> Result<Comparison, Error> {
        self.handle
            .with_store(move |store| {
                for (index, record) in records {
                    // Otherwise the worker would send it again forever.
                    let (info, worker) = (&compared.info, &compared.worker);
                    let hold = AssertUnwindSafe(|| held_against(info, worker, store, &record));
                    let held = catch_unwind(hold).unwrap_or(Err(Error::Defect));
                    match held {
                        Ok(Held::Alike(faults)) => {
                            note_faults(&mut compared, &record, faults);
                            compared.games.push((index, AuditRecord::Same));
                        }
                        Ok(Held::Sample(faults)) => {
                            note_faults(&mut compared, &record, faults);
                            compared.games.push((index, AuditRecord::Sample));
                            compared.samples.push(record.result());
                        }
                        Ok(Held::Differs(difference, agent, player)) => {
                            let hash = record.hash;
                            compared.players.insert(index, player);
                            let differs = AuditRecord::Differs { hash, agent };
                            compared.games.push((index, differs));
                            compared.differences.push((index, difference));
                        }
                        Ok(Held::OneSided(faults)) => {
                            note_faults(&mut compared, &record, faults);
                            compared.games.push((index, AuditRecord::LacksFault));
                        }
                        Ok(Held::NoEvidence) => compared.unread.push(index),
                        Err(error) => {
                            let game = format_args!("{}/{index}", compared.info.id);
                            tracing::error!(%game, %error, "cannot compare records");
                            compared.unread.push(index);
                        }
                    }
                }
                Ok(compared)
            })
            .await
    }
}

/// Notes the faults of two records of a game that may be those of a host.
fn note_faults(compared: &mut Comparison, record: &GameRecord, faults: HostFaults) {
    let index = record.index;
    let mut one_sided = |agents, is_new| {
        let of_game = OneSided {
            index,
            agents,
            is_new,
        };
        compared.contradicted.push(of_game);
    };
    match faults {
        HostFaults::None => {
            if record.termination != Termination::Void {
                compared
                    .again
                    .push((index, record.seats.clone(), Vec::new()));
            }
        }
        HostFaults::Both(agents) => compared.confirmed.push((index, agents)),
        HostFaults::Durable(agents) => one_sided(agents, false),
        HostFaults::Other(agents) => {
            one_sided(agents.clone(), true);
            compared.again.push((index, record.seats.clone(), agents));
        }
    }
}

/// Result of comparing a record with the durable one.
enum Held {
    Alike(HostFaults),
    /// The agents may answer differently each time.
    Sample(HostFaults),
    /// With the agent whose move differs first, if it is known, and the process of the durable record.
    Differs(v1::Difference, Option<u16>, WorkerProcess),
    /// One of the records has faults that depend on time or on the host, and the other one does not.
    OneSided(HostFaults),
    /// A record is void.
    NoEvidence,
}

fn held_against(
    info: &Info,
    worker: &str,
    store: &dyn Store,
    record: &GameRecord,
) -> Result<Held, Error> {
    let is_void = |record: &GameRecord| record.termination == Termination::Void;
    let game = store.game(&info.key, record.index)?;
    let game = game.ok_or_else(|| Error::UnknownGame {
        id: format!("{}/{}", info.id, record.index),
    })?;
    if !info.replay_proves(record.seats.iter().copied()) {
        let durable = stored_game::read_record(&game)?;
        let faults = match is_void(record) || is_void(&durable) {
            true => HostFaults::None,
            false => HostFaults::of(&durable, record),
        };
        return Ok(Held::Sample(faults));
    }
    if game.hash == record.hash {
        return Ok(Held::Alike(HostFaults::of(record, record)));
    }
    let durable = stored_game::read_record(&game)?;
    if is_evidence(&durable, record) {
        let divergence = first_divergence(info, &durable, record);
        let agent = divergence.agent;
        let side = stored_game::read_side(&game);
        let timing = side.timing.unwrap_or_default();
        let mut difference = difference(info, worker, &durable, record, divergence);
        difference.durable_worker = timing.worker;
        let player = match side.process {
            0 => WorkerProcess::Unknown,
            number => WorkerProcess::Process(number),
        };
        return Ok(Held::Differs(difference, agent, player));
    }
    tracing::info!(
        game = %format_args!("{}/{}", info.id, durable.index),
        worker,
        "a replayed game ended differently, for a reason that is not an agent's answer"
    );
    if is_void(record) || is_void(&durable) {
        return Ok(Held::NoEvidence);
    }
    Ok(match HostFaults::of(&durable, record) {
        HostFaults::None | HostFaults::Both(_) => Held::NoEvidence,
        faults => Held::OneSided(faults),
    })
}

fn difference(
    info: &Info,
    worker: &str,
    durable: &GameRecord,
    other: &GameRecord,
    divergence: Divergence,
) -> v1::Difference {
    let agent = divergence
        .agent
        .and_then(|agent| info.agents.get(usize::from(agent)).cloned())
        .unwrap_or_default();
    let game = format!("{}/{}", info.id, durable.index);
    let dice = divergence.dice.unwrap_or_default();
    if divergence.chance || !dice.is_empty() {
        tracing::error!(
            game,
            event = divergence.event,
            dice,
            "BUG: a replay of the game drew other chance events; please report it"
        );
    } else {
        tracing::warn!(
            game,
            event = divergence.event,
            agent,
            "a replayed game differs"
        );
    }
    v1::Difference {
        game_id: game,
        durable_hash: hex::encode(durable.hash),
        other_hash: hex::encode(other.hash),
        worker: worker.to_owned(),
        event: divergence.event,
        agent,
        hash_only: info.hash_only(),
        dice,
        ..v1::Difference::default()
    }
}
