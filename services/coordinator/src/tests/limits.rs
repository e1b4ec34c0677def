//! What a token may use.

mod demands;
pub(super) mod requests;
mod uploads;

pub(super) use requests::metrics;

use arena_access::{Connection, Token};
use arena_wire::{
    limits::{self, LIMITS, Limit},
    reasons,
    v1::{
        self, Role, TokenInfo, TokenLimits, agent::Source,
        coordinator_service_client::CoordinatorServiceClient,
        worker_service_client::WorkerServiceClient,
    },
};
use tokio::task::JoinSet;
use tonic::{Code, Status, Streaming};
use tonic_types::StatusExt;

use super::{
    agents::{parts, sha256},
    door::{Guarded, of_role},
    fixture::{SPEC, memory, options, refused},
};
use crate::{Options, RoleLimits};

type User = CoordinatorServiceClient<Connection>;

/// Games of [`SPEC`], and bytes of each binary.
const GAMES: u64 = 40;
const BYTES: usize = 5_000;

async fn guarded() -> Guarded {
    Guarded::with(options(memory()), Token::draw().expect("random numbers")).await
}

/// A token of a submitter with one limit and no others.
fn of_limit(limit: &Limit, value: u64) -> TokenInfo {
    let mut limits = TokenLimits::default();
    for other in LIMITS {
        other.set(&mut limits, Some(limits::UNLIMITED));
    }
    limit.set(&mut limits, Some(value));
    TokenInfo {
        limits: Some(limits),
        ..of_role(Role::Submitter)
    }
}

async fn limited(arena: &Guarded, limit: &Limit, value: u64) -> User {
    let token = arena.try_create(of_limit(limit, value), 0).await;
    arena.user(&token.expect("created"))
}

async fn register(user: &mut User, name: &str) -> Result<(), Status> {
    let request = v1::RegisterAgentRequest {
        agent: Some(v1::Agent {
            name: name.to_owned(),
            bot: "random".to_owned(),
            source: Some(Source::Native(v1::NativeSource {})),
            ..Default::default()
        }),
        ..Default::default()
    };
    user.register_agent(request).await.map(drop)
}

async fn start(user: &mut User, name: &str) -> Result<String, Status> {
    let request = v1::StartTournamentRequest {
        spec_toml: SPEC.replace("\"cup\"", &format!("\"{name}\"")),
        ..Default::default()
    };
    let started = user.start_tournament(request).await?.into_inner();
    Ok(started.tournament.expect("a tournament").tournament_id)
}

fn content(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(BYTES, 0);
    bytes
}

async fn upload(user: &mut User, name: &str) -> Result<(), Status> {
    let bytes = content(name);
    let parts = parts(&sha256(&bytes), &bytes);
    user.upload_binary(parts).await.map(drop)
}

async fn watch(
    user: &mut User,
    id: &str,
) -> Result<Streaming<v1::WatchTournamentResponse>, Status> {
    let request = v1::WatchTournamentRequest {
        tournament_id: id.to_owned(),
    };
    Ok(user.watch_tournament(request).await?.into_inner())
}

/// Uses some of what a limit counts. `watched` is a tournament of another token.
async fn use_some(
    user: &mut User,
    limit: &Limit,
    name: &str,
    watched: &str,
) -> Result<Option<Streaming<v1::WatchTournamentResponse>>, Status> {
    match limit.name {
        "agents" => register(user, name).await.map(|()| None),
        "tournaments" | "games" | "stored-tournaments" => start(user, name).await.map(|_| None),
        "upload-bytes" => upload(user, name).await.map(|()| None),
        "streams" => watch(user, watched).await.map(Some),
        other => panic!("no use of {other}"),
    }
}

/// What the coordinator has: agents, tournaments, and binaries of these names.
async fn kept(arena: &Guarded, names: &[&str]) -> (usize, usize, usize) {
    let mut admin = arena.user(&arena.admin);
    let agents = admin.list_agents(v1::ListAgentsRequest::default()).await;
    let agents = agents.expect("an admin").into_inner().agents;
    let tournaments = v1::ListTournamentsRequest::default();
    let tournaments = admin.list_tournaments(tournaments).await;
    let tournaments = tournaments.expect("an admin").into_inner().tournaments;
    let mut fetcher = WorkerServiceClient::new(arena.connection(&arena.admin));
    let mut binaries = 0;
    for name in names {
        let request = v1::FetchBinaryRequest {
            sha256: sha256(&content(name)),
            ..Default::default()
        };
        binaries += usize::from(fetcher.fetch_binary(request).await.is_ok());
    }
    (agents.len(), tournaments.len(), binaries)
}

fn limit_reached<T: std::fmt::Debug>(answer: Result<T, Status>, limit: &Limit, maximum: u64) {
    let details = answer
        .as_ref()
        .err()
        .and_then(StatusExt::get_details_error_info);
    let message = refused(answer, Code::ResourceExhausted, reasons::LIMIT_REACHED);
    let expected = format!(
        "at most {maximum} {} ({})",
        limit.counted(maximum),
        limit.name
    );
    assert!(message.contains(&expected), "{message}");
    assert!(message.contains(limit.remedy), "{message}");
    let details = details.expect("details").metadata;
    assert_eq!(details["limit"], limit.name);
    assert_eq!(details["maximum"], maximum.to_string());
}

/// Limits with what one use takes of them.
fn countable() -> [(&'static Limit, u64); 6] {
    [
        (&limits::AGENTS, 1),
        (&limits::TOURNAMENTS, 1),
        (&limits::GAMES, GAMES),
        (&limits::STORED_TOURNAMENTS, 1),
        (&limits::UPLOAD_BYTES, BYTES as u64),
        (&limits::STREAMS, 1),
    ]
}

#[tokio::test]
async fn tournament_with_many_agents_counts_for_several() {
    let arena = guarded().await;
    let mut user = limited(&arena, &limits::STORED_TOURNAMENTS, 4).await;
    let names: Vec<String> = (0..40).map(|it| format!("a{it}")).collect();
    let variants: String = names
        .iter()
        .map(|name| format!("[[agent]]\nname = \"{name}\"\nbot = \"random\"\n"))
        .collect();
    let request = |seed: u32| {
        let spec_toml = format!(
            "name = \"many\"\nruleset = \"kalah\"\nseed = {seed}\nblocks = 1\nagents = {names:?}\n\
             format = \"swiss\"\n[swiss]\nrounds = 1\n{variants}"
        );
        v1::StartTournamentRequest {
            spec_toml,
            ..Default::default()
        }
    };
    // Forty agents count for three.
    user.start_tournament(request(1)).await.expect("started");
    let excess = user.start_tournament(request(2)).await;
    limit_reached(excess, &limits::STORED_TOURNAMENTS, 4);
}

#[tokio::test]
async fn limits_are_exact_and_refusals_keep_nothing() {
    let names = ["a", "b", "c"];
    for (limit, each) in countable() {
        let arena = guarded().await;
        let watched = start(&mut arena.user(&arena.admin), "watched").await;
        let watched = watched.expect("started");
        // With a rest that is too small for another one.
        let maximum = 3 * each - 1;
        let mut user = limited(&arena, limit, maximum).await;
        let mut other = limited(&arena, limit, 3 * each).await;
        let mut open = Vec::new();
        for name in &names[..2] {
            let used = use_some(&mut user, limit, name, &watched).await;
            open.push(used.unwrap_or_else(|error| panic!("{}: {error}", limit.name)));
        }
        let before = kept(&arena, &names).await;
        let excess = use_some(&mut user, limit, names[2], &watched).await;
        limit_reached(excess, limit, maximum);
        assert_eq!(kept(&arena, &names).await, before, "{}", limit.name);
        // Another token has limits of its own, and uses all of them.
        let own = ["other-a", "other-b", "other-c"];
        for name in own {
            let used = use_some(&mut other, limit, name, &watched).await;
            open.push(used.unwrap_or_else(|error| panic!("{}: {error}", limit.name)));
        }
        let before = kept(&arena, &names).await;
        let excess = use_some(&mut other, limit, "other-d", &watched).await;
        limit_reached(excess, limit, 3 * each);
        assert_eq!(kept(&arena, &names).await, before, "{}", limit.name);
    }
}

#[tokio::test]
async fn released_room_can_be_used() {
    let arena = guarded().await;
    let mut user = limited(&arena, &limits::AGENTS, 1).await;
    register(&mut user, "a").await.expect("room");
    // A known agent needs no room.
    register(&mut user, "a").await.expect("the same agent");
    limit_reached(register(&mut user, "b").await, &limits::AGENTS, 1);
    let remove = v1::RemoveAgentRequest {
        name: "a".to_owned(),
        ..Default::default()
    };
    user.remove_agent(remove).await.expect("its own");
    register(&mut user, "b").await.expect("room again");

    let id = start(&mut arena.user(&arena.admin), "watched").await;
    let id = id.expect("started");
    let mut user = limited(&arena, &limits::STREAMS, 1).await;
    let open = watch(&mut user, &id).await.expect("room");
    limit_reached(watch(&mut user, &id).await, &limits::STREAMS, 1);
    drop(open);
    // The coordinator has to hear of the end first.
    while watch(&mut user, &id).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn only_running_tournaments_count() {
    for (limit, maximum) in [(&limits::TOURNAMENTS, 1), (&limits::GAMES, GAMES)] {
        let arena = guarded().await;
        let mut user = limited(&arena, limit, maximum).await;
        let first = start(&mut user, "first").await.expect("room");
        macro_rules! change {
            ($user:expr, $method:ident, $request:ident, $id:expr) => {
                $user
                    .$method(v1::$request {
                        tournament_id: $id.clone(),
                        ..Default::default()
                    })
                    .await
                    .map(drop)
            };
        }
        // A start of a running tournament changes nothing.
        start(&mut user, "first").await.expect("it runs already");
        change!(user, pause_tournament, PauseTournamentRequest, first).expect("its own");
        let second = start(&mut user, "second").await.expect("room");
        let again = change!(user, resume_tournament, ResumeTournamentRequest, first);
        limit_reached(again, limit, maximum);
        limit_reached(start(&mut user, "first").await, limit, maximum);
        let mut admin = arena.user(&arena.admin);
        let get = v1::GetTournamentRequest {
            tournament_id: first.clone(),
        };
        let now = admin.get_tournament(get).await.expect("known").into_inner();
        let state = now.tournament.expect("a tournament").state();
        assert_eq!(state, v1::TournamentState::Paused);
        change!(user, cancel_tournament, CancelTournamentRequest, second).expect("its own");
        change!(user, resume_tournament, ResumeTournamentRequest, first).expect("room again");
        // An administrator is not bound by the limit of the owner.
        change!(user, pause_tournament, PauseTournamentRequest, first).expect("its own");
        start(&mut user, "third").await.expect("room");
        change!(admin, resume_tournament, ResumeTournamentRequest, first).expect("an admin");
    }
}

/// True if a call may succeed later.
fn is_overload(status: &Status) -> bool {
    let info = status.get_details_error_info();
    info.is_some_and(|info| info.reason == reasons::OVERLOADED)
}

#[tokio::test]
async fn concurrent_calls_do_not_exceed_limits() {
    const CALLS: usize = 50;
    const ROOM: usize = 10;
    for (limit, each) in countable() {
        let arena = guarded().await;
        let watched = start(&mut arena.user(&arena.admin), "watched").await;
        let watched = watched.expect("started");
        let user = limited(&arena, limit, ROOM as u64 * each).await;
        let mut calls = JoinSet::new();
        for call in 0..CALLS {
            let (mut user, watched) = (user.clone(), watched.clone());
            calls.spawn(async move {
                loop {
                    let answer = use_some(&mut user, limit, &format!("x{call}"), &watched).await;
                    // There are few places for uploads.
                    if !answer.as_ref().is_err_and(is_overload) {
                        return answer;
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
        let answers = calls.join_all().await;
        let (used, excess): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!(used.len(), ROOM, "{}", limit.name);
        for answer in excess {
            limit_reached(answer, limit, ROOM as u64 * each);
        }
    }
}

#[tokio::test]
async fn limits_hold_across_restart() {
    let (store, admin) = (memory(), Token::draw().expect("random numbers"));
    let guarded = async || Guarded::with(options(store.clone()), admin.clone()).await;
    let stored = &countable()[..5];
    let arena = guarded().await;
    let mut tokens = Vec::new();
    for (limit, each) in stored {
        let token = arena.try_create(of_limit(limit, *each), 0).await;
        let token = token.expect("created");
        let mut user = arena.user(&token);
        use_some(&mut user, limit, limit.name, "")
            .await
            .expect("room");
        tokens.push(token);
    }
    arena.arena.stop().await;
    let arena = guarded().await;
    for ((limit, each), token) in stored.iter().zip(tokens) {
        let mut user = arena.user(&token);
        let excess = use_some(&mut user, limit, "more", "").await;
        limit_reached(excess, limit, *each);
    }
}

#[tokio::test]
async fn administrators_have_no_limits() {
    let mut limits = RoleLimits::default();
    for limit in LIMITS {
        let text = format!("submitter.{}=1", limit.name);
        limits.set(&text).expect("a limit");
    }
    let options = Options {
        limits,
        ..options(memory())
    };
    let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
    let second = arena.create(Role::Admin).await;
    for (number, token) in [arena.admin.clone(), second].iter().enumerate() {
        let mut user = arena.user(token);
        let id = start(&mut user, &format!("watched{number}")).await;
        let id = id.expect("started");
        let mut open = Vec::new();
        for (limit, _) in countable() {
            for name in ["a", "b", "c"] {
                let name = format!("{name}{number}{}", limit.name);
                open.push(
                    use_some(&mut user, limit, &name, &id)
                        .await
                        .expect("no limit"),
                );
            }
        }
    }
    // The limits of the role hold for all others.
    let mut user = arena.user(&arena.create(Role::Submitter).await);
    let answer = start(&mut user, "mine").await;
    limit_reached(answer, &limits::GAMES, 1);
}

#[tokio::test]
async fn limits_are_listed_and_checked() {
    let arena = guarded().await;
    let own = |limit: &Limit, value| {
        let mut limits = TokenLimits::default();
        limit.set(&mut limits, Some(value));
        TokenInfo {
            limits: Some(limits),
            ..of_role(Role::Submitter)
        }
    };
    let token = own(&limits::AGENTS, 3);
    let created = arena.try_create(token, 0).await.expect("created");
    let listed = arena
        .admin()
        .list_tokens(v1::ListTokensRequest::default())
        .await;
    let listed = listed.expect("an admin").into_inner().tokens;
    let listed = listed.iter().find(|token| token.id == created.id());
    let limits = listed.and_then(|token| token.limits).expect("its own");
    assert_eq!(limits.to_string(), "agents=3");
    let others = "only the limits streams and";
    for (limit, value, role, expected) in [
        (&limits::AGENTS, 1, Role::Viewer, others),
        (&limits::GAMES, 1, Role::Worker, others),
        (&limits::REQUESTS, 1, Role::Admin, "admin has no limits"),
        (&limits::REQUESTS, 0, Role::Submitter, "cannot be 0"),
    ] {
        let token = TokenInfo {
            role: role.into(),
            ..own(limit, value)
        };
        let answer = arena.try_create(token, 0).await;
        let text = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
        assert!(text.contains(expected), "{text}");
    }
}

/// Tokens of earlier releases have the limits of their role.
#[tokio::test]
async fn token_without_limits_is_read() {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Earlier {
        #[prost(message, optional, tag = "1")]
        info: Option<TokenInfo>,
        #[prost(bytes = "vec", tag = "2")]
        hash: Vec<u8>,
    }
    let store = memory();
    let token = Token::draw().expect("random numbers");
    let earlier = Earlier {
        info: Some(TokenInfo {
            id: token.id(),
            ..of_role(Role::Submitter)
        }),
        hash: token.hash().to_vec(),
    };
    let key = format!("tokens/{}", token.id());
    let bytes = prost::Message::encode_to_vec(&earlier);
    let put = store.put(arena_store::Collection::Meta, &key, &bytes);
    put.expect("stored");
    let admin = Token::draw().expect("random numbers");
    let mut limits = RoleLimits::default();
    limits.set("submitter.agents=1").expect("a limit");
    let options = Options {
        limits,
        ..options(store)
    };
    let arena = Guarded::with(options, admin).await;
    let mut user = arena.user(&token);
    register(&mut user, "a").await.expect("room");
    limit_reached(register(&mut user, "b").await, &limits::AGENTS, 1);
}
