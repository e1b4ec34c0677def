//! A coordinator on a free port, and a worker that makes records up.

use std::sync::Arc;

use arena_access::{Bearer, Connection};
use arena_model::rules::RULES_PROTOCOL;
use arena_model::{
    BlockSeed, GameRecord,
    engine::{Event, FaultKind, SeatFault, Termination},
};
use arena_store::{MemoryStore, Store};
use arena_wire::{
    networks::AgentNetworks,
    v1::{
        self, coordinator_service_client::CoordinatorServiceClient,
        worker_service_client::WorkerServiceClient,
    },
};
use tokio::{sync::oneshot, task::JoinHandle};
use tonic::{Code, Status, Streaming, transport::Channel};
use tonic_types::StatusExt;

use crate::{Options, RunError, RunSummary};

pub(super) const SPEC: &str = r#"
name = "cup"
ruleset = "kalah"
seed = "0x5eed"
blocks = 20
agents = ["random", "minimax"]
"#;

/// Two native bots, as the command line would describe them.
pub(crate) fn native() -> v1::DescribeResponse {
    let bot = |name: &str, rulesets: &[&str], options: Vec<v1::BotOption>| v1::Bot {
        name: name.to_owned(),
        summary: String::new(),
        rulesets: rulesets.iter().map(|&name| name.to_owned()).collect(),
        options,
        deterministic: true,
        uses_seed: v1::SeedUse::Yes.into(),
        ..v1::Bot::default()
    };
    let depth = v1::BotOption {
        name: "depth".to_owned(),
        summary: "plies looked ahead".to_owned(),
        r#type: v1::OptionType::Integer.into(),
        default_value: "4".to_owned(),
        min: "1".to_owned(),
        max: "20".to_owned(),
        choices: Vec::new(),
        length: 0,
        rulesets: Vec::new(),
        uses_seed: false,
    };
    v1::DescribeResponse {
        name: "arena".to_owned(),
        version: "0.1.0".to_owned(),
        author: String::new(),
        bots: vec![
            bot("random", &[], Vec::new()),
            bot("minimax", &["kalah"], vec![depth]),
            bot("aggressive", &["cowry"], Vec::new()),
            bot("mcts", &[], Vec::new()),
        ],
        batch_size: 256,
        omit_move_details: true,
        sticky: false,
        concurrent: false,
    }
}

/// A coordinator that runs.
pub(super) struct Fixture {
    pub(super) coordinator: CoordinatorServiceClient<Channel>,
    pub(super) url: String,
    pub(super) metrics: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<RunSummary, RunError>>,
}

pub(super) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new().expect("a memory store"))
}

pub(super) fn options(store: Arc<dyn Store>) -> Options {
    let anywhere = "127.0.0.1:0".parse().expect("an address");
    Options {
        metrics: Some(anywhere),
        audit_share: 0.0,
        agent_networks: AgentNetworks::of_user(),
        trusts_records: true,
        check_native: |bot, bot_options, ruleset, _, seats| {
            let depth = bot_options.get("depth").map(ToString::to_string);
            if depth.as_deref() != Some("13") {
                return Ok(());
            }
            Err(format!(
                "{bot} plays {ruleset} with {seats} seats, but not at depth 13"
            ))
        },
        ..Options::new(store, anywhere, native())
    }
}

impl Fixture {
    pub(super) async fn new() -> Self {
        Self::with(options(memory())).await
    }

    pub(super) async fn with(options: Options) -> Self {
        let service = options.build().await.expect("it starts");
        let url = format!("http://{}", service.listen.expect("asked for"));
        let metrics = service.metrics.expect("asked for");
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(service.run(async {
            let _ = stopped.await;
        }));
        Self {
            coordinator: CoordinatorServiceClient::connect(url.clone())
                .await
                .expect("it listens"),
            url,
            metrics,
            stop,
            running,
        }
    }

    pub(super) async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(self.url.clone()).expect("an address");
        endpoint.connect().await.expect("it listens")
    }

    /// Stops it as a signal would.
    pub(super) async fn stop(self) -> RunSummary {
        self.stop.send(()).expect("it runs");
        self.running.await.expect("no panic").expect("no error")
    }

    /// Waits until it ends by itself.
    pub(super) async fn ended(self) -> Result<RunSummary, RunError> {
        self.running.await.expect("no panic")
    }

    /// Ends it as a kill would: nothing is drained.
    pub(super) async fn kill(self) {
        self.running.abort();
        let _ = self.running.await;
    }

    pub(super) async fn start(&mut self, spec: &str) -> v1::Tournament {
        self.try_start(spec, false)
            .await
            .expect("it starts")
            .tournament
            .expect("a tournament")
    }

    pub(super) async fn try_start(
        &mut self,
        spec: &str,
        again: bool,
    ) -> Result<v1::StartTournamentResponse, Status> {
        let request = v1::StartTournamentRequest {
            spec_toml: spec.to_owned(),
            again,
            ..Default::default()
        };
        Ok(self
            .coordinator
            .start_tournament(request)
            .await?
            .into_inner())
    }

    pub(super) async fn pause(&mut self, id: &str) {
        let request = v1::PauseTournamentRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let paused = self.coordinator.pause_tournament(request).await;
        paused.expect("it runs");
    }

    pub(super) async fn resume(&mut self, id: &str) {
        let request = v1::ResumeTournamentRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let resumed = self.coordinator.resume_tournament(request).await;
        resumed.expect("it is paused");
    }

    pub(super) async fn tournament(&mut self, id: &str) -> v1::Tournament {
        let request = v1::GetTournamentRequest {
            tournament_id: id.to_owned(),
        };
        let answer = self
            .coordinator
            .get_tournament(request)
            .await
            .expect("known");
        answer.into_inner().tournament.expect("a tournament")
    }

    pub(super) async fn standings(&mut self, id: &str) -> v1::Standings {
        let request = v1::GetStandingsRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let answer = self
            .coordinator
            .get_standings(request)
            .await
            .expect("known");
        answer.into_inner().standings.expect("standings")
    }

    pub(super) async fn differences(&mut self, id: &str) -> Vec<v1::Difference> {
        let request = v1::ListDifferencesRequest {
            tournament_id: id.to_owned(),
            ..Default::default()
        };
        let answer = self.coordinator.list_differences(request).await;
        answer.expect("known").into_inner().differences
    }

    pub(super) async fn game(&mut self, id: &str) -> v1::GetGameResponse {
        let request = v1::GetGameRequest {
            game_id: id.to_owned(),
            ..Default::default()
        };
        let answer = self.coordinator.get_game(request).await.expect("known");
        answer.into_inner()
    }

    pub(super) async fn join(&self, name: &str) -> FakeWorker {
        self.join_as(name, 0).await
    }

    pub(super) async fn join_as(&self, name: &str, process: u64) -> FakeWorker {
        FakeWorker::join(&self.url, name, process).await
    }
}

/// A worker that makes records up.
pub(super) struct FakeWorker {
    pub(super) client: WorkerServiceClient<Connection>,
    pub(super) notices: Streaming<v1::JoinResponse>,
    pub(super) id: String,
    pub(super) boot_epoch: u64,
    pub(super) session: Vec<u8>,
    /// Maximum games that it asks for.
    pub(super) games: u32,
}

impl FakeWorker {
    pub(super) async fn join(url: &str, name: &str, process: u64) -> Self {
        let endpoint = Channel::from_shared(url.to_owned()).expect("an address");
        let channel = endpoint.connect().await.expect("it listens");
        Self::join_with(Connection::new(channel, Bearer::none()), name, process).await
    }

    /// Joins over a connection that may carry a token.
    pub(super) async fn join_with(connection: Connection, name: &str, process: u64) -> Self {
        let mut client = WorkerServiceClient::new(connection);
        let request = v1::JoinRequest {
            name: name.to_owned(),
            capacity: 64,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rulesets: arena_games::rulesets()
                .iter()
                .map(|info| (info.name.to_owned(), info.version))
                .chain([("@package".to_owned(), RULES_PROTOCOL)])
                .collect(),
            process,
            record_version: arena_model::RECORD_VERSION,
            ..v1::JoinRequest::default()
        };
        let mut notices = client.join(request).await.expect("it joins").into_inner();
        let first = notices.message().await.expect("open").expect("a welcome");
        let Some(v1::join_response::Notice::Welcome(welcome)) = first.notice else {
            panic!("no welcome: {first:?}");
        };
        Self {
            client,
            notices,
            id: welcome.worker_id,
            boot_epoch: welcome.boot_epoch,
            session: welcome.session,
            games: 512,
        }
    }

    pub(super) async fn try_lease(&mut self, wait_ms: u32) -> Result<Option<v1::Lease>, Status> {
        let request = v1::LeaseRequest {
            worker_id: self.id.clone(),
            boot_epoch: self.boot_epoch,
            games: self.games,
            wait_ms,
            known_tournaments: Vec::new(),
            known_agents: Vec::new(),
            call: 0,
            session: self.session.clone(),
            sated_tournaments: Vec::new(),
        };
        Ok(self.client.lease(request).await?.into_inner().lease)
    }

    pub(super) async fn lease(&mut self) -> v1::Lease {
        let lease = self.try_lease(10_000).await.expect("answered");
        lease.expect("there are games")
    }

    pub(super) async fn report(
        &mut self,
        lease: &v1::Lease,
        games: Vec<v1::GameReport>,
    ) -> Result<v1::ReportResponse, Status> {
        self.reporting(lease, games).await
    }

    /// As [`Self::report`], with more at once.
    pub(super) fn reporting(
        &self,
        lease: &v1::Lease,
        games: Vec<v1::GameReport>,
    ) -> impl Future<Output = Result<v1::ReportResponse, Status>> + use<> {
        let mut client = self.client.clone();
        let request = v1::ReportRequest {
            worker_id: self.id.clone(),
            boot_epoch: self.boot_epoch,
            tournament_id: lease.tournament_id.clone(),
            lease_id: lease.lease_id,
            games,
            session: self.session.clone(),
            ticket: lease.ticket.clone(),
        };
        async move { Ok(client.report(request).await?.into_inner()) }
    }

    /// Reports a game twice, each time with another winner, and is reported so.
    pub(super) async fn differ(&mut self, lease: &v1::Lease, game: &v1::GameAssignment) {
        self.report(lease, vec![won(game, 0)]).await.expect("taken");
        let answer = self.report(lease, vec![won(game, 1)]).await;
        assert_eq!(answer.expect("taken").differing, [game.index]);
    }

    /// Reports all games of a lease, seat 0 having won.
    pub(super) async fn play(&mut self, lease: &v1::Lease) -> v1::ReportResponse {
        let games = lease.games.iter().map(|game| won(game, 0)).collect();
        self.report(lease, games).await.expect("taken")
    }

    /// Plays until there is nothing to play.
    pub(super) async fn play_all(&mut self) -> usize {
        let mut played = 0;
        while let Some(lease) = self.try_lease(0).await.expect("answered") {
            self.play(&lease).await;
            played += lease.games.len();
        }
        played
    }

    /// Reports progress; the leases that have ended.
    pub(super) async fn beat(&mut self, lease: &v1::Lease, plies: u64) -> Vec<u64> {
        let heartbeat = v1::HeartbeatRequest {
            worker_id: self.id.clone(),
            boot_epoch: self.boot_epoch,
            leases: vec![v1::LeaseProgress {
                lease_id: lease.lease_id,
                plies,
            }],
            settled_calls: 0,
            decisions: Vec::new(),
            session: self.session.clone(),
        };
        let answer = self.client.heartbeat(heartbeat).await;
        answer.expect("answered").into_inner().ended_leases
    }

    /// The next notice.
    pub(super) async fn notice(&mut self) -> Option<v1::join_response::Notice> {
        self.notices
            .message()
            .await
            .expect("open")
            .and_then(|response| response.notice)
    }
}

/// The report of a game that a seat won.
pub(super) fn won(game: &v1::GameAssignment, winner: usize) -> v1::GameReport {
    let record = record(game, winner);
    v1::GameReport {
        record: Some((&record).into()),
        ..Default::default()
    }
}

/// The report of a game of two that a seat lost by this fault, before it had answered.
pub(super) fn unplayed(game: &v1::GameAssignment, seat: u8, kind: FaultKind) -> v1::GameReport {
    let mut record = record(game, usize::from(1 - seat));
    record.termination = Termination::Forfeit;
    record.faults = vec![SeatFault { ply: 0, seat, kind }];
    v1::GameReport {
        record: Some((&record).into()),
        answered: vec![u32::from(1 - seat)],
        ..Default::default()
    }
}

/// The report of a game that could not be played since an agent did not start.
pub(super) fn unready(game: &v1::GameAssignment, agent: u32) -> v1::GameReport {
    v1::GameReport {
        record: Some(v1::GameRecord {
            index: game.index,
            ..Default::default()
        }),
        void_reason: "it does not start here".to_owned(),
        unready: Some(v1::UnreadyAgent {
            agent,
            kind: v1::FaultKind::NotReady.into(),
            message: "exit code 1".to_owned(),
            stderr_tail: "ModuleNotFoundError: no module named weights\n".to_owned(),
        }),
        ..Default::default()
    }
}

pub(super) fn record(game: &v1::GameAssignment, winner: usize) -> GameRecord {
    let seats = game.seats.len();
    let mut record = GameRecord {
        index: game.index,
        block: game.block,
        seed: BlockSeed(game.seed),
        seats: game.seats.iter().map(|&agent| agent as u16).collect(),
        // No two games alike.
        events: vec![Event::action((game.index % 30_000) as u16)],
        start: None,
        opening_plies: 0,
        placement: (0..seats)
            .map(|seat| 1 + u8::from(seat != winner))
            .collect(),
        scores: vec![0; seats],
        luck: Vec::new(),
        plies: 30,
        decisions: vec![15; seats],
        termination: Termination::Normal,
        faults: Vec::new(),
        adjudication: Vec::new(),
        hash: [0; 32],
        course: 0,
        beginning: arena_model::Beginning::default(),
        transcript: None,
    };
    record.hash = [winner as u8 + 1; 32];
    record
}

/// Asserts code and reason of an error, and gives its message.
pub(super) fn refused<T: std::fmt::Debug>(
    answer: Result<T, Status>,
    code: Code,
    reason: &str,
) -> String {
    let status = answer.expect_err("refused");
    assert_eq!(status.code(), code, "{status}");
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!(info.reason, reason, "{status}");
    assert_eq!(info.domain, "arena");
    status.message().to_owned()
}
