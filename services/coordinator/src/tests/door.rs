//! What each token may do.

mod certificates;
pub(super) mod owners;
mod table;

use std::time::Duration;

use arena_access::{Bearer, Connection, Token};
use arena_wire::{
    reasons,
    v1::{
        self, Role, TokenInfo, admin_service_client::AdminServiceClient,
        coordinator_service_client::CoordinatorServiceClient,
        worker_service_client::WorkerServiceClient,
    },
};
use tonic::{Code, Status, transport::Channel};

use super::{
    agents::sha256,
    fixture::{Fixture, SPEC, memory, options, refused},
};
use crate::{Access, Options};

/// A coordinator that asks for tokens.
pub(super) struct Guarded {
    pub(super) arena: Fixture,
    pub(super) channel: Channel,
    pub(super) admin: Token,
}

impl Guarded {
    pub(super) async fn new() -> Self {
        Self::with(options(memory()), Token::draw().expect("random numbers")).await
    }

    pub(super) async fn with(options: Options, admin: Token) -> Self {
        let arena = Fixture::with(Options {
            access: Access::Tokens {
                admin: admin.clone(),
            },
            ..options
        });
        let arena = arena.await;
        Self {
            channel: arena.channel().await,
            arena,
            admin,
        }
    }

    pub(super) fn connection(&self, token: &Token) -> Connection {
        Connection::new(self.channel.clone(), Bearer::of_token(token.clone()))
    }

    pub(super) fn admin(&self) -> AdminServiceClient<Connection> {
        AdminServiceClient::new(self.connection(&self.admin))
    }

    pub(super) fn user(&self, token: &Token) -> CoordinatorServiceClient<Connection> {
        CoordinatorServiceClient::new(self.connection(token))
    }

    pub(super) async fn try_create(
        &self,
        token: TokenInfo,
        ttl_seconds: u64,
    ) -> Result<Token, Status> {
        let token = Some(token);
        let request = v1::CreateTokenRequest { token, ttl_seconds };
        let created = self.admin().create_token(request).await?.into_inner();
        Ok(created.text.parse().expect("a token"))
    }

    pub(super) async fn create(&self, role: Role) -> Token {
        self.try_create(of_role(role), 0).await.expect("created")
    }

    pub(super) async fn revoke(&self, token: &Token) {
        let request = v1::RevokeTokenRequest { id: token.id() };
        self.admin().revoke_token(request).await.expect("revoked");
    }
}

pub(super) fn of_role(role: Role) -> TokenInfo {
    TokenInfo {
        role: role.into(),
        ..TokenInfo::default()
    }
}

#[tokio::test]
async fn submitter_changes_only_its_own() {
    let arena = Guarded::new().await;
    let [owner, other] = [
        arena.create(Role::Submitter).await,
        arena.create(Role::Submitter).await,
    ];
    let (mut owner, mut other) = (arena.user(&owner), arena.user(&other));
    let start = || v1::StartTournamentRequest {
        request_id: "once".to_owned(),
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let started = owner.start_tournament(start()).await.expect("started");
    let tournament = started.into_inner().tournament.expect("a tournament");
    let id = tournament.tournament_id;
    let no = |answer: Result<(), Status>| {
        refused(answer, Code::PermissionDenied, reasons::NOT_OWNER);
    };
    let started = v1::StartTournamentRequest {
        request_id: String::new(),
        ..start()
    };
    let taken = other.start_tournament(started.clone()).await;
    let error = refused(taken, Code::PermissionDenied, reasons::NOT_OWNER);
    assert!(error.contains("--again"), "{error}");
    let again = v1::StartTournamentRequest {
        again: true,
        ..started.clone()
    };
    let own = other.start_tournament(again).await.expect("its own");
    let own = own.into_inner().tournament.expect("a tournament");
    assert_ne!(own.tournament_id, id);
    // From then on, each finds its own.
    for (user, id) in [(&mut other, &own.tournament_id), (&mut owner, &id)] {
        let found = user
            .start_tournament(started.clone())
            .await
            .expect("its own");
        let found = found.into_inner();
        assert!(!found.created);
        assert_eq!(found.tournament.expect("it").tournament_id, *id);
    }
    // The answer to another one's request is not shown either.
    let stolen = other.start_tournament(start()).await;
    refused(stolen, Code::InvalidArgument, reasons::REQUEST_ID_CONFLICT);
    macro_rules! change {
        ($client:expr, $method:ident, $request:ident) => {
            $client
                .$method(v1::$request {
                    tournament_id: id.clone(),
                    ..Default::default()
                })
                .await
                .map(drop)
        };
    }
    no(change!(other, pause_tournament, PauseTournamentRequest));
    no(change!(other, resume_tournament, ResumeTournamentRequest));
    no(change!(other, cancel_tournament, CancelTournamentRequest));
    no(change!(other, retry_tournament, RetryTournamentRequest));
    no(change!(other, change_agents, ChangeAgentsRequest));
    no(change!(other, remove_tournament, RemoveTournamentRequest));
    change!(owner, pause_tournament, PauseTournamentRequest).expect("its own");
    let mut admin = arena.user(&arena.admin);
    change!(admin, cancel_tournament, CancelTournamentRequest).expect("an admin");
    change!(owner, remove_tournament, RemoveTournamentRequest).expect("its own");

    let bytes = b"#!/bin/sh\n".to_vec();
    let sha256 = sha256(&bytes);
    let register = |replace, args: &[&str]| v1::RegisterAgentRequest {
        agent: Some(v1::Agent {
            name: "mine".to_owned(),
            source: Some(v1::agent::Source::Binary(v1::BinarySource {
                sha256: sha256.clone(),
                file_name: "mine".to_owned(),
                args: args.iter().map(|&arg| arg.to_owned()).collect(),
                ..Default::default()
            })),
            ..Default::default()
        }),
        replace,
        ..Default::default()
    };
    let upload = async |client: &mut CoordinatorServiceClient<Connection>| {
        let parts = super::agents::parts(&sha256, &bytes);
        let uploaded = client.upload_binary(parts).await.expect("uploaded");
        uploaded.into_inner().known
    };
    assert!(!upload(&mut owner).await);
    owner
        .register_agent(register(false, &[]))
        .await
        .expect("ok");
    // To know the hash of a binary is not to have it.
    let mut theirs = register(false, &[]);
    if let Some(agent) = &mut theirs.agent {
        agent.name = "theirs".to_owned();
    }
    let unowned = other.register_agent(theirs.clone()).await;
    refused(unowned, Code::InvalidArgument, reasons::BINARY_INVALID);
    assert!(!upload(&mut other).await, "another one has to send it, too");
    other.register_agent(theirs).await.expect("uploaded");
    no(other
        .register_agent(register(true, &["-x"]))
        .await
        .map(drop));
    let remove = v1::RemoveAgentRequest {
        name: "mine".to_owned(),
        ..Default::default()
    };
    no(other.remove_agent(remove.clone()).await.map(drop));
    owner.remove_agent(remove).await.expect("its own");
}

#[tokio::test]
async fn revoked_token_ends_open_streams() {
    let arena = Guarded::new().await;
    let token = arena.create(Role::Viewer).await;
    let mut admin = arena.user(&arena.admin);
    let request = v1::StartTournamentRequest {
        spec_toml: SPEC.to_owned(),
        ..Default::default()
    };
    let started = admin.start_tournament(request).await.expect("started");
    let tournament = started.into_inner().tournament.expect("a tournament");
    let watch = v1::WatchTournamentRequest {
        tournament_id: tournament.tournament_id,
    };
    let mut viewer = arena.user(&token);
    let watching = viewer.watch_tournament(watch).await.expect("a stream");
    let mut watching = watching.into_inner();
    watching.message().await.expect("a state");
    arena.revoke(&token).await;
    let end = async {
        loop {
            match watching.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ends without a reason"),
                Err(status) => break status,
            }
        }
    };
    let status = tokio::time::timeout(Duration::from_secs(1), end).await;
    let ended = Err::<(), _>(status.expect("within a second"));
    refused(ended, Code::Unauthenticated, reasons::TOKEN_REVOKED);
}

#[tokio::test]
async fn uses_are_counted() {
    let arena = Guarded::new().await;
    let twice = TokenInfo {
        uses: 2,
        ..of_role(Role::Viewer)
    };
    let token = arena.try_create(twice.clone(), 0).await.expect("created");
    let mut user = arena.user(&token);
    for _ in 0..2 {
        user.list_agents(v1::ListAgentsRequest::default())
            .await
            .expect("a use");
    }
    let third = user.list_agents(v1::ListAgentsRequest::default()).await;
    refused(third, Code::Unauthenticated, reasons::TOKEN_USED);

    let worker = TokenInfo {
        role: Role::Worker.into(),
        ..twice
    };
    let token = arena.try_create(worker, 0).await.expect("created");
    let join = async |process| {
        let mut client = WorkerServiceClient::new(arena.connection(&token));
        let request = v1::JoinRequest {
            name: "one".to_owned(),
            capacity: 1,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            record_version: arena_model::RECORD_VERSION,
            process,
            ..Default::default()
        };
        Ok::<_, Status>(client.join(request).await?.into_inner())
    };
    let mut earlier = join(1).await.expect("a use");
    for process in [2, 1, 2, 1] {
        drop(join(process).await.expect("a known process is no use"));
    }
    let third = join(3).await.map(drop);
    refused(third, Code::Unauthenticated, reasons::TOKEN_USED);
    // A process has one session: the use of a process is no use of several workers.
    let welcome = earlier.message().await.expect("open");
    assert!(welcome.is_some());
    assert_eq!(earlier.message().await.expect("ended"), None);
    let mut viewer = arena.user(&arena.admin);
    let here = viewer.list_workers(v1::ListWorkersRequest::default()).await;
    let here = here.expect("an admin").into_inner().workers;
    assert!(here.len() <= 2, "{here:?}");
}

#[tokio::test]
async fn failed_join_is_no_use() {
    let arena = Guarded::new().await;
    let once = TokenInfo {
        uses: 1,
        ..of_role(Role::Worker)
    };
    let token = arena.try_create(once, 0).await.expect("created");
    let join = async |version: &str| {
        let mut client = WorkerServiceClient::new(arena.connection(&token));
        let request = v1::JoinRequest {
            capacity: 1,
            version: version.to_owned(),
            record_version: arena_model::RECORD_VERSION,
            process: 7,
            ..Default::default()
        };
        client.join(request).await.map(drop)
    };
    join("0.0.0").await.expect_err("of another release");
    let mut admin = arena.admin();
    let tokens = admin.list_tokens(v1::ListTokensRequest::default()).await;
    let tokens = tokens.expect("an admin").into_inner().tokens;
    let used = tokens
        .iter()
        .find(|it| it.id == token.id())
        .map(|it| it.used);
    assert_eq!(used, Some(0));
    join(env!("CARGO_PKG_VERSION")).await.expect("a use");
}

#[tokio::test]
async fn tokens_are_listed_in_pages() {
    let arena = Guarded::new().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(arena.create(Role::Viewer).await.id());
    }
    let mut listed = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListTokensRequest {
            page_size: 2,
            page_token,
        };
        let page = arena.admin().list_tokens(request).await.expect("an admin");
        let page = page.into_inner();
        assert!(page.tokens.len() <= 2);
        listed.extend(page.tokens.into_iter().map(|token| token.id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    // The first one is that of the data folder.
    assert_eq!(listed[1..], made);
}

#[tokio::test]
async fn tokens_survive_a_restart() {
    let store = memory();
    let admin = Token::draw().expect("random numbers");
    let guarded = async || Guarded::with(options(store.clone()), admin.clone()).await;
    let arena = guarded().await;
    let [kept, revoked] = [
        arena.create(Role::Viewer).await,
        arena.create(Role::Viewer).await,
    ];
    arena.revoke(&revoked).await;
    arena.arena.stop().await;
    let arena = guarded().await;
    let list = async |token: &Token| {
        let request = v1::ListAgentsRequest::default();
        arena.user(token).list_agents(request).await
    };
    list(&kept).await.expect("it is valid");
    let answer = list(&revoked).await;
    refused(answer, Code::Unauthenticated, reasons::TOKEN_REVOKED);
    let tokens = arena
        .admin()
        .list_tokens(v1::ListTokensRequest::default())
        .await;
    assert_eq!(tokens.expect("an admin").into_inner().tokens.len(), 3);
}

#[tokio::test]
async fn wrong_tokens_are_not_created() {
    let arena = Guarded::new().await;
    let viewer = || of_role(Role::Viewer);
    let wrong = [
        of_role(Role::Unspecified),
        TokenInfo {
            label: "\u{1b}[2J".to_owned(),
            ..viewer()
        },
        TokenInfo {
            label: "x".repeat(201),
            ..viewer()
        },
        TokenInfo {
            from: vec!["10.0.0.0/33".to_owned()],
            ..viewer()
        },
        TokenInfo {
            uses: 1 << 20,
            ..viewer()
        },
    ];
    for token in wrong {
        let answer = arena.try_create(token, 0).await;
        refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    }
    let request = v1::RevokeTokenRequest {
        id: "00000000".to_owned(),
    };
    let unknown = arena.admin().revoke_token(request).await;
    refused(unknown, Code::NotFound, reasons::UNKNOWN_TOKEN);
    let request = v1::RevokeTokenRequest {
        id: arena.admin.id(),
    };
    let own = arena.admin().revoke_token(request).await;
    refused(own, Code::InvalidArgument, reasons::REQUEST_INVALID);
}
