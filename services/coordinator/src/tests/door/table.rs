//! Every method with every kind of token.

use std::{fmt::Write, time::Duration};

use arena_access::Token;
use arena_wire::{
    raw::Raw,
    v1::{self, Role, TokenInfo, upload_binary_request::Part},
};
use prost::Message;
use tonic::{
    Code, IntoStreamingRequest, Request, Status,
    codegen::{Bytes, http::uri::PathAndQuery},
};
use tonic_types::StatusExt;

use super::{
    super::{
        agents::sha256,
        fixture::{FakeWorker, won},
    },
    Guarded, of_role, owners,
};

fn bearer(token: &Token) -> String {
    format!("Bearer {}", token.text())
}

fn reason(status: &Status) -> String {
    let info = status.get_details_error_info();
    info.map_or_else(String::new, |info| info.reason)
}

/// Calls any method.
async fn call(
    arena: &Guarded,
    path: &str,
    authorization: Option<&str>,
    message: Vec<u8>,
) -> Result<(), Status> {
    let mut client = tonic::client::Grpc::new(arena.channel.clone());
    client.ready().await.expect("it listens");
    let messages = tokio_stream::once(Bytes::from(message));
    let mut request = Request::new(messages).into_streaming_request();
    if let Some(text) = authorization {
        let value = text.parse().expect("ASCII");
        request.metadata_mut().insert("authorization", value);
    }
    let path: PathAndQuery = path.parse().expect("a path");
    client.streaming(request, path, Raw).await.map(drop)
}

/// The paths of all methods, and of some that are not Arena's or do not exist.
fn paths() -> Vec<String> {
    let mut paths = crate::door::paths();
    paths.sort();
    let others = [
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        "/grpc.health.v1.Health/Check",
        "/grpc.health.v1.Health/Watch",
        "/arena.v1.CoordinatorService/Unknown",
    ];
    paths.extend(others.map(str::to_owned));
    paths
}

/// What belongs to others: a submitter has a tournament, an agent, a ruleset and binaries; a worker
/// has a session and a lease.
struct Others {
    tournament: String,
    /// A game of the tournament.
    played: String,
    victim: FakeWorker,
    lease: v1::Lease,
    /// The ticket of another worker, for another game.
    foreign_ticket: Vec<u8>,
}

/// A message with some fields.
fn message<T: Message + Default>(set: impl FnOnce(&mut T)) -> Vec<u8> {
    let mut message = T::default();
    set(&mut message);
    message.encode_to_vec()
}

impl Others {
    /// A request that names what belongs to others, with this session.
    fn request(&self, method: &str, session: &[u8]) -> Vec<u8> {
        let tournament_id = self.tournament.clone();
        macro_rules! of_tournament {
            ($request:ident) => {
                message::<v1::$request>(|it| it.tournament_id = tournament_id)
            };
        }
        macro_rules! of_worker {
            ($request:ident, $set:expr) => {
                message::<v1::$request>(|it| {
                    it.worker_id.clone_from(&self.victim.id);
                    it.boot_epoch = self.victim.boot_epoch;
                    it.session = session.to_vec();
                    let set: fn(&Self, &mut v1::$request) = $set;
                    set(self, it);
                })
            };
        }
        match method {
            "PauseTournament" => of_tournament!(PauseTournamentRequest),
            "ResumeTournament" => of_tournament!(ResumeTournamentRequest),
            "CancelTournament" => of_tournament!(CancelTournamentRequest),
            "RetryTournament" => of_tournament!(RetryTournamentRequest),
            "ChangeAgents" => of_tournament!(ChangeAgentsRequest),
            "RemoveTournament" => of_tournament!(RemoveTournamentRequest),
            "GetTournament" => of_tournament!(GetTournamentRequest),
            "WatchTournament" => of_tournament!(WatchTournamentRequest),
            "GetStandings" => of_tournament!(GetStandingsRequest),
            "ListGames" => of_tournament!(ListGamesRequest),
            "ListDifferences" => of_tournament!(ListDifferencesRequest),
            "GetGame" => v1::GetGameRequest {
                game_id: self.played.clone(),
                ..Default::default()
            }
            .encode_to_vec(),
            "PlanTournament" => v1::PlanTournamentRequest {
                spec_toml: owners::spec(),
                ..Default::default()
            }
            .encode_to_vec(),
            "StartTournament" => v1::StartTournamentRequest {
                spec_toml: owners::spec(),
                ..Default::default()
            }
            .encode_to_vec(),
            "RegisterAgent" => owners::agent(true).encode_to_vec(),
            "RemoveAgent" => v1::RemoveAgentRequest {
                name: "mine".to_owned(),
                ..Default::default()
            }
            .encode_to_vec(),
            "GetAgent" => v1::GetAgentRequest {
                name: "mine".to_owned(),
            }
            .encode_to_vec(),
            "RegisterRuleset" => owners::ruleset(true, &[]).encode_to_vec(),
            "RemoveRuleset" => v1::RemoveRulesetRequest {
                name: owners::RULESET.to_owned(),
                ..Default::default()
            }
            .encode_to_vec(),
            // Without the content: to know the SHA-256 of a binary is not to have it.
            "UploadBinary" => v1::UploadBinaryRequest {
                part: Some(Part::Header(v1::BinaryHeader {
                    sha256: sha256(owners::AGENT),
                    size_bytes: owners::AGENT.len() as u64,
                })),
            }
            .encode_to_vec(),
            "FetchBinary" => of_worker!(FetchBinaryRequest, |_, it| {
                it.sha256 = sha256(owners::AGENT);
            }),
            "Lease" => of_worker!(LeaseRequest, |_, it| it.games = 1),
            "Heartbeat" => of_worker!(HeartbeatRequest, |own, it| {
                it.leases.push(v1::LeaseProgress {
                    lease_id: own.lease.lease_id,
                    plies: 1_000,
                });
            }),
            "Replay" => of_worker!(ReplayRequest, |_, _| {}),
            "Leave" => of_worker!(LeaveRequest, |_, _| {}),
            "Report" => of_worker!(ReportRequest, |own, it| {
                it.tournament_id.clone_from(&own.tournament);
                it.lease_id = own.lease.lease_id;
                it.ticket.clone_from(&own.foreign_ticket);
                it.games.push(won(&own.lease.games[0], 0));
            }),
            "Join" => v1::JoinRequest {
                capacity: 1,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                record_version: arena_model::RECORD_VERSION,
                ..Default::default()
            }
            .encode_to_vec(),
            // Their requests name nothing of others.
            "ListAgents"
            | "ListRulesets"
            | "ListTournaments"
            | "ListWorkers"
            | "BackupStore"
            | "CreateToken"
            | "ListTokens"
            | "ListEvents"
            | "RevokeToken"
            | "IsActive"
            | "StreamIsActive"
            | "GetMetricSpec"
            | "StreamMetricSpec"
            | "GetMetrics"
            | "Describe"
            | "ChooseMove"
            | "ChooseMoves"
            | "DescribeRules"
            | "StartGame"
            | "Apply"
            | "Look"
            | "Draw"
            | "ServerReflectionInfo"
            | "Check"
            | "Watch"
            | "Unknown" => Vec::new(),
            other => panic!("{other} is new: name here what it needs of others"),
        }
    }
}

/// A column: its name, the header, and the session of a request that names what belongs to others.
/// Without it, the message is empty.
type Column = (&'static str, Option<String>, Option<Vec<u8>>);

/// Columns whose messages name what belongs to others.
async fn foreign(arena: &Guarded) -> (Others, FakeWorker, [Column; 3]) {
    let (_, tournament) = owners::owner(arena).await;
    let mut workers = Vec::new();
    for (name, process) in [("victim", 1), ("foreign", 2)] {
        let token = arena.create(Role::Worker).await;
        let connection = arena.connection(&token);
        let mut worker = FakeWorker::join_with(connection, name, process).await;
        let request = v1::LeaseRequest {
            worker_id: worker.id.clone(),
            boot_epoch: worker.boot_epoch,
            session: worker.session.clone(),
            games: 1,
            ..Default::default()
        };
        let lease = worker.client.lease(request).await.expect("answered");
        let lease = lease.into_inner().lease.expect("a game");
        workers.push((token, worker, lease));
    }
    let (_, mut stranger, own) = workers.pop().expect("two");
    let (token, victim, lease) = workers.pop().expect("two");
    assert_ne!(lease.games, own.games);
    stranger.play(&own).await;
    let others = Others {
        played: format!("{tournament}/{}", own.games[0].index),
        tournament,
        victim,
        lease,
        foreign_ticket: own.ticket,
    };
    // With the token of the victim, all that is missing is its session.
    let worker = bearer(&token);
    let submitter = bearer(&arena.create(Role::Submitter).await);
    let columns = [
        ("foreign owner", submitter, Vec::new()),
        ("foreign session", worker.clone(), stranger.session.clone()),
        ("invented session", worker, vec![7; 32]),
    ];
    let columns = columns.map(|(name, header, session)| (name, Some(header), Some(session)));
    (others, stranger, columns)
}

/// A cell is the code and reason of a refusal, or `Ok`. The columns of tokens send an empty message.
#[tokio::test]
async fn every_method_with_every_token() {
    let arena = Guarded::new().await;
    let expired = arena.try_create(of_role(Role::Admin), 1).await.expect("ok");
    let revoked = arena.create(Role::Admin).await;
    arena.revoke(&revoked).await;
    let elsewhere = TokenInfo {
        from: vec!["192.0.2.0/24".to_owned()],
        ..of_role(Role::Admin)
    };
    let elsewhere = arena.try_create(elsewhere, 0).await.expect("created");
    let unknown = Token::draw().expect("random numbers");
    let mut columns: Vec<Column> = vec![
        ("none", None, None),
        ("malformed", Some("Bearer arena-1-2".to_owned()), None),
        ("basic", Some(format!("Basic {}", arena.admin.text())), None),
    ];
    let mut add = |name, token: &Token| columns.push((name, Some(bearer(token)), None));
    add("unknown", &unknown);
    add("expired", &expired);
    add("revoked", &revoked);
    add("elsewhere", &elsewhere);
    for (name, role) in [
        ("viewer", Role::Viewer),
        ("submitter", Role::Submitter),
        ("worker", Role::Worker),
        ("admin", Role::Admin),
    ] {
        add(name, &arena.create(role).await);
    }
    let (mut others, _stranger, foreign) = foreign(&arena).await;
    columns.extend(foreign);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let (mut table, mut cells) = (String::new(), 0);
    let paths = paths();
    for path in &paths {
        writeln!(table, "{path}").expect("memory");
        let method = path.rsplit('/').next().expect("a name");
        for (name, authorization, known) in &columns {
            let message = known
                .as_ref()
                .map(|session| others.request(method, session));
            let message = message.unwrap_or_default();
            let answer = call(&arena, path, authorization.as_deref(), message).await;
            let found = answer.err().map(|status| (status.code(), reason(&status)));
            let cell = match found {
                Some((code, reason)) => format!("{code:?} {reason}"),
                None => format!("{:?}", Code::Ok),
            };
            writeln!(table, "    {name:<16} {cell}").expect("memory");
            cells += 1;
        }
    }
    // Every call left the lease as it was.
    let lease = others.lease.clone();
    assert!(others.victim.beat(&lease, 1).await.is_empty());
    others.victim.play(&lease).await;
    assert_eq!(cells, paths.len() * columns.len());
    writeln!(table, "{cells} cells").expect("memory");
    insta::assert_snapshot!(table);
}
