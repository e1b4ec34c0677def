//! Addresses of an agent.

use std::{fs, os::unix::net::UnixListener};

use arena_sdk::{Listen, ListenError, Listener};
use tonic_health::pb::health_check_response::ServingStatus;

use super::fixture::{Last, Served};

#[tokio::test]
async fn stale_socket_is_taken_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.sock");
    let listen = Listen::Unix(path.clone());
    // A closed listener leaves its socket file.
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());

    let listener = Listener::bind(&listen)
        .await
        .expect("the stale socket is removed");
    let second = Listener::bind(&listen).await.expect_err("it is in use");
    assert!(matches!(second, ListenError::Taken(_)), "{second}");
    let served = Served::start_on(Last::default(), listener).await;
    assert_eq!(served.health().await, ServingStatus::Serving);
    served.stop.send(()).expect("the server runs");
    served.server.await.expect("no panic").expect("a clean end");
    assert!(!path.exists(), "the socket's file is removed");

    fs::write(&path, "notes").expect("a file");
    let third = Listener::bind(&listen)
        .await
        .expect_err("a file is in the way");
    assert!(matches!(third, ListenError::File(_)), "{third}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "notes");
}

#[tokio::test]
async fn port_in_use_is_named() {
    let first = Listener::bind(&Listen::default()).await.expect("a port");
    let error = Listener::bind(first.address())
        .await
        .expect_err("it is in use");
    let expected = format!(
        "cannot listen on {}: the address is in use by another process",
        first.address()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn addresses_round_trip() {
    for text in [
        "127.0.0.1:0",
        "[::1]:7100",
        "localhost:80",
        "unix:/tmp/a b.sock",
    ] {
        let listen: Listen = text.parse().expect("an address");
        assert_eq!(listen.to_string(), text);
    }
    for text in [
        "",
        "unix:",
        "7100",
        ":7100",
        "127.0.0.1:",
        "127.0.0.1:70000",
        "host:x",
    ] {
        let error = text.parse::<Listen>().expect_err("no address");
        assert!(
            error.to_string().contains("unix:PATH or HOST:PORT"),
            "{error}"
        );
    }
}
