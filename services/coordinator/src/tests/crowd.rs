//! Limits on connections and messages.

use std::{
    io::{ErrorKind, Read as _},
    time::Duration,
};

use arena_access::{Bearer, Connection, Token};
use arena_wire::{
    reasons,
    v1::{
        self, Role, coordinator_service_client::CoordinatorServiceClient,
        worker_service_client::WorkerServiceClient,
    },
};
use tokio::{io::AsyncReadExt as _, net::TcpStream};
use tonic::Code;

use super::{
    door::Guarded,
    fixture::{Fixture, SPEC, memory, options, refused, won},
    limits::requests::metrics,
};
use crate::Options;

type User = CoordinatorServiceClient<Connection>;

fn address(arena: &Fixture) -> String {
    arena.url.trim_start_matches("http://").to_owned()
}

/// Whether the coordinator has closed a connection. Waits until it sends something or
/// closes it.
async fn closed(connection: TcpStream) -> bool {
    connection.readable().await.expect("a connection");
    let mut connection = connection.into_std().expect("a connection");
    match connection.read(&mut [0; 256]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[tokio::test]
async fn connection_limit_frees_places() {
    // The fixture has one connection.
    let mut arena = Fixture::with(Options {
        connections_max: 2,
        ..options(memory())
    })
    .await;
    arena.start(SPEC).await;
    let address = address(&arena);
    let taken = arena.join("one").await;
    let refused = TcpStream::connect(&address).await.expect("it listens");
    assert!(closed(refused).await);
    drop(taken);
    loop {
        let again = TcpStream::connect(&address).await.expect("it listens");
        // The coordinator may not have noticed yet that the other connection closed.
        if !closed(again).await {
            break;
        }
    }
    assert_eq!(arena.stop().await.tournaments_open, 1);
}

#[tokio::test]
async fn silent_connections_yield_to_new_ones() {
    let mut arena = Fixture::with(Options {
        connections_max: 3,
        ..options(memory())
    })
    .await;
    arena.start(SPEC).await;
    let address = address(&arena);
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(&address).await.expect("it listens"));
        let joined = arena.join("one").await;
        drop(joined);
    }
    // The oldest have gone; the one that is served has stayed.
    let mut answer = [0; 256];
    let oldest = &mut silent[0];
    while oldest.read(&mut answer).await.is_ok_and(|bytes| bytes > 0) {}
    arena
        .start(&SPEC.replace("name = \"", "name = \"second-"))
        .await;
}

#[tokio::test]
async fn connections_of_one_token_leave_room_for_others() {
    let options = Options {
        connections_max: 40,
        ..options(memory())
    };
    let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
    let [published, other] = [
        arena.create(Role::Viewer).await,
        arena.create(Role::Viewer).await,
    ];
    let list = async |token: &Token| {
        let channel = arena.arena.channel().await;
        let connection = Connection::new(channel, Bearer::of_token(token.clone()));
        let mut user = CoordinatorServiceClient::new(connection);
        let listed = user.list_agents(v1::ListAgentsRequest::default()).await;
        (user, listed.map(drop))
    };
    let mut open = Vec::new();
    let mut served = 0;
    for _ in 0..50 {
        let (user, listed) = list(&published).await;
        match listed {
            Ok(()) => served += 1,
            refusal => drop(refused(
                refusal,
                Code::ResourceExhausted,
                reasons::OVERLOADED,
            )),
        }
        open.push(user);
    }
    assert_eq!(served, 40 / 4);
    let page = metrics(&arena).await;
    assert!(
        page.contains("\narena_connections_refused_total 40\n"),
        "{page}"
    );
    assert_eq!(list(&other).await.1.map_err(|status| status.code()), Ok(()));
    // A connection that ends leaves its part to another one of its token.
    drop(open);
    while list(&published).await.1.is_err() {}
}

/// Number of connections.
async fn connections(arena: &Guarded) -> u64 {
    let page = metrics(arena).await;
    let value = page
        .lines()
        .find_map(|it| it.strip_prefix("arena_connections "));
    value.expect("a gauge").parse().expect("a number")
}

/// Opens this many connections with a token, each with a request.
async fn open(arena: &Guarded, token: &Token, number: usize) -> Vec<User> {
    let mut users = Vec::new();
    for _ in 0..number {
        let bearer = Bearer::of_token(token.clone());
        let connection = Connection::new(arena.arena.channel().await, bearer);
        let mut user = CoordinatorServiceClient::new(connection);
        let listed = user.list_agents(v1::ListAgentsRequest::default()).await;
        listed.expect("permitted");
        users.push(user);
    }
    users
}

async fn wait_for_closed(arena: &Guarded, left: u64) {
    for _ in 0..600 {
        if connections(arena).await <= left {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("connections stay");
}

#[tokio::test]
async fn connections_of_revoked_token_are_closed() {
    let arena = Guarded::new().await;
    let token = arena.create(Role::Viewer).await;
    let before = connections(&arena).await;
    let mut users = open(&arena, &token, 8).await;
    arena.revoke(&token).await;
    wait_for_closed(&arena, before).await;
    let again = users[0].list_agents(v1::ListAgentsRequest::default()).await;
    refused(again, Code::Unauthenticated, reasons::TOKEN_REVOKED);
}

#[tokio::test]
async fn idle_connections_are_closed_and_made_again() {
    let options = Options {
        idle_max: Duration::from_millis(100),
        ..options(memory())
    };
    let arena = Guarded::with(options, Token::draw().expect("random numbers")).await;
    let worker = arena.create(Role::Worker).await;
    let mut worker = WorkerServiceClient::new(arena.connection(&worker));
    let join = v1::JoinRequest {
        name: "one".to_owned(),
        capacity: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        record_version: arena_model::RECORD_VERSION,
        ..Default::default()
    };
    let _stays = worker.join(join).await.expect("it joins");
    let token = arena.create(Role::Viewer).await;
    let before = connections(&arena).await;
    let users = open(&arena, &token, 8).await;
    wait_for_closed(&arena, before).await;
    for mut user in users {
        let again = user.list_agents(v1::ListAgentsRequest::default()).await;
        again.expect("over a new connection");
    }
    let page = metrics(&arena).await;
    assert!(page.contains("\narena_workers 1\n"), "{page}");
}

#[tokio::test]
async fn huge_message_is_refused_connection_stays() {
    let mut arena = Fixture::new().await;
    arena.start(SPEC).await;
    let mut worker = arena.join("one").await;
    let lease = worker.lease().await;
    let mut huge = won(&lease.games[0], 0);
    huge.void_reason = "x".repeat(17 << 20);
    let answer = worker.report(&lease, vec![huge]).await;
    let reported = refused(answer, Code::OutOfRange, reasons::REQUEST_INVALID);
    assert!(reported.contains("16777216"), "{reported}");
    let many = vec![won(&lease.games[0], 0); 4_097];
    let answer = worker.report(&lease, many).await;
    let reported = refused(answer, Code::InvalidArgument, reasons::REQUEST_INVALID);
    assert!(reported.contains("4096"), "{reported}");
    worker.play(&lease).await;
}
