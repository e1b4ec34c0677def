//! Who sends the requests: callers without a token, and with one of each role.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use arena_access::{Bearer, Connection, Token};
use arena_wire::v1::{
    self, Role, TokenInfo, admin_service_client::AdminServiceClient,
    coordinator_service_client::CoordinatorServiceClient, join_response::Notice,
    worker_service_client::WorkerServiceClient,
};
use tokio::time::sleep;
use tonic::{Status, Streaming, transport::Channel};

use super::messages::{Known, Value};
use crate::{spec, stress::Broken};

/// The kinds of callers, in the order in which they take turns.
pub(super) const CALLERS: [&str; 6] = [
    "no token",
    "viewer",
    "submitter",
    "worker without session",
    "worker with session",
    "admin",
];
/// The version of workers that may join.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The places of callers in [`CALLERS`].
const SUBMITTER: usize = 2;
const IDLE_WORKER: usize = 3;
pub(super) const WORKER: usize = 4;
const ADMIN: usize = 5;

/// A coordinator with what its callers know.
pub(super) struct Arena {
    channels: Vec<Channel>,
    tokens: [Option<Token>; CALLERS.len()],
    /// A tournament of the administrator, whose games workers lease.
    shared: String,
    /// A tournament of the submitter. The administrator knows only this one: it could cancel the
    /// other one.
    own: String,
    processes: AtomicU64,
}

impl Arena {
    pub(super) async fn new(channels: Vec<Channel>, admin: Token) -> Result<Self, Broken> {
        let mut tokens = CALLERS.map(|_| None);
        let connection = Connection::new(channels[0].clone(), Bearer::of_token(admin.clone()));
        let mut client = AdminServiceClient::new(connection);
        for (place, role) in [
            (1, Role::Viewer),
            (SUBMITTER, Role::Submitter),
            (IDLE_WORKER, Role::Worker),
            (WORKER, Role::Worker),
        ] {
            let token = Some(TokenInfo {
                role: role.into(),
                ..TokenInfo::default()
            });
            let request = v1::CreateTokenRequest {
                token,
                ttl_seconds: 0,
            };
            let created = client.create_token(request).await.map_err(Broken::new)?;
            let text = created.into_inner().text;
            tokens[place] = Some(text.parse().map_err(Broken::new)?);
        }
        tokens[ADMIN] = Some(admin);
        let mut arena = Self {
            channels,
            tokens,
            shared: String::new(),
            own: String::new(),
            processes: AtomicU64::new(0),
        };
        arena.shared = arena.start(ADMIN, "shared", 100_000).await?;
        arena.own = arena.start(SUBMITTER, "own", 10).await?;
        Ok(arena)
    }

    async fn start(&self, caller: usize, name: &str, blocks: u64) -> Result<String, Broken> {
        let request = v1::StartTournamentRequest {
            spec_toml: spec(name, "kalah", blocks, &["random", "greedy"], ""),
            ..Default::default()
        };
        let mut client = CoordinatorServiceClient::new(self.connection(0, caller));
        let started = client.start_tournament(request).await;
        let started = started.map_err(Broken::new)?.into_inner();
        let tournament = started.tournament;
        tournament
            .map(|it| it.tournament_id)
            .ok_or_else(|| Broken::new("no tournament"))
    }

    /// A connection with the token of a caller; each number has one of the channels.
    pub(super) fn connection(&self, number: usize, caller: usize) -> Connection {
        let bearer = match &self.tokens[caller] {
            Some(token) => Bearer::of_token(token.clone()),
            None => Bearer::none(),
        };
        Connection::new(self.channels[number % self.channels.len()].clone(), bearer)
    }

    /// What a caller without a session knows.
    pub(super) fn known(&self, caller: usize) -> Known {
        let id = match caller {
            SUBMITTER | ADMIN => &self.own,
            _ => &self.shared,
        };
        Known::from([
            ("tournament_id", Value::Bytes(id.clone().into_bytes())),
            ("version", Value::Bytes(VERSION.into())),
            (
                "record_version",
                Value::Number(arena_model::RECORD_VERSION.into()),
            ),
        ])
    }

    /// Joins as another worker process, and leases games.
    pub(super) async fn join(&self, number: usize) -> Result<Session, Status> {
        let connection = self.connection(number, WORKER);
        let mut client = WorkerServiceClient::new(connection);
        let rulesets = arena_games::rulesets().iter();
        let join = v1::JoinRequest {
            name: "hostile".to_owned(),
            capacity: 8,
            version: VERSION.to_owned(),
            rulesets: rulesets
                .map(|it| (it.name.to_owned(), it.version))
                .collect(),
            process: 1 + self.processes.fetch_add(1, Ordering::Relaxed),
            record_version: arena_model::RECORD_VERSION,
            ..v1::JoinRequest::default()
        };
        let mut notices = client.join(join).await?.into_inner();
        let notice = notices.message().await?.and_then(|it| it.notice);
        let Some(Notice::Welcome(welcome)) = notice else {
            return Err(Status::internal("no welcome"));
        };
        let ask = v1::LeaseRequest {
            worker_id: welcome.worker_id.clone(),
            boot_epoch: welcome.boot_epoch,
            session: welcome.session.clone(),
            games: 4,
            ..Default::default()
        };
        let lease = client.lease(ask).await?.into_inner().lease;
        let lease = lease.ok_or_else(|| Status::internal("no games"))?;
        let mut known = self.known(WORKER);
        known.extend([
            ("worker_id", Value::Bytes(welcome.worker_id.into_bytes())),
            ("boot_epoch", Value::Number(welcome.boot_epoch)),
            ("session", Value::Bytes(welcome.session)),
            ("lease_id", Value::Number(lease.lease_id)),
            ("ticket", Value::Bytes(lease.ticket)),
        ]);
        if let Some(game) = lease.games.first() {
            known.extend([
                ("index", Value::Number(game.index)),
                ("block", Value::Number(game.block)),
                ("seed", Value::Number(game.seed)),
            ]);
        }
        Ok(Session {
            known,
            _notices: notices,
        })
    }

    /// Waits until no worker is connected: the coordinator notices the end of a session after the
    /// client has ended it.
    pub(super) async fn workers_leave(&self, limit: Duration) -> Result<(), Broken> {
        let mut client = CoordinatorServiceClient::new(self.connection(0, ADMIN));
        let started = Instant::now();
        loop {
            let workers = client.list_workers(v1::ListWorkersRequest::default()).await;
            let workers = workers.map_err(Broken::new)?.into_inner().workers.len();
            match workers {
                0 => return Ok(()),
                _ if started.elapsed() > limit => {
                    return Err(Broken::new(format!(
                        "{workers} workers are connected {limit:?} after the last session"
                    )));
                }
                _ => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// Numbers of what the coordinator keeps, by kind.
    pub(super) async fn objects(&self) -> Result<[(&'static str, usize); 4], Status> {
        let connection = self.connection(0, ADMIN);
        let mut admin = AdminServiceClient::new(connection.clone());
        let mut client = CoordinatorServiceClient::new(connection);
        let rulesets = client.list_rulesets(v1::ListRulesetsRequest::default());
        let rulesets = rulesets.await?.into_inner().rulesets.len();
        let (mut agents, mut tournaments, mut tokens) = (0, 0, 0);
        let mut page = v1::ListTokensRequest::default();
        loop {
            let answer = admin.list_tokens(page.clone()).await?.into_inner();
            tokens += answer.tokens.len();
            if answer.next_page_token.is_empty() {
                break;
            }
            page.page_token = answer.next_page_token;
        }
        let mut page = v1::ListAgentsRequest::default();
        loop {
            let answer = client.list_agents(page.clone()).await?.into_inner();
            agents += answer.agents.len();
            if answer.next_page_token.is_empty() {
                break;
            }
            page.page_token = answer.next_page_token;
        }
        let mut page = v1::ListTournamentsRequest::default();
        loop {
            let answer = client.list_tournaments(page.clone()).await?.into_inner();
            tournaments += answer.tournaments.len();
            if answer.next_page_token.is_empty() {
                break;
            }
            page.page_token = answer.next_page_token;
        }
        Ok([
            ("agents", agents),
            ("rulesets", rulesets),
            ("tournaments", tournaments),
            ("tokens", tokens),
        ])
    }
}

/// A joined worker with a lease.
pub(super) struct Session {
    pub(super) known: Known,
    /// It is present until this is dropped.
    _notices: Streaming<v1::JoinResponse>,
}
